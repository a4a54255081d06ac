"""What does it cost to screen pairs of columns, and what does it find? One line per trial, resumable.

    python benchmarks/screening.py run all-pairs,screened [--minutes 30] [--limit 60] [--results DIR]
    python benchmarks/screening.py report [--results DIR]
    python benchmarks/screening.py planted [--seeds 0:10]
    python benchmarks/screening.py noise [--seeds 0:100]

`run` fits real tables of up to 2,000 rows that can have all pairs, once with all of them, once with those
that screening keeps, which otherwise happens beyond 4,000 features only; `report` compares the log losses.
`planted` tells whether the product of two among 500 numbers comes first; `noise` how many pairs of numbers
without any meaning are kept, and how many a score test of about the same rule keeps.
"""

import argparse
import sys
import time
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pandas as pd
from all_tables import ALL_TABLES
from board_tables import DATA, REPEATED
from scipy.stats import chi2
from study import numbered, read_results
from study_commands import commands, perform

from seminaive import SemiNaive
from seminaive.design.smooth_columns import SmoothColumns
from seminaive.selection import screening

RESULTS = Path(__file__).parent.parent / "results" / "screening"
ROWS, COLUMNS = (100, 2000), (4, 40)
PLANTED_ROWS, PLANTED_COLUMNS = 2000, 500
NOISE_ROWS, NOISE_COLUMNS = 300, 12


class Screened(SemiNaive):
    """A model that screens pairs where it need not."""

    def fit(self, X, y, sample_weight=None, groups=None):
        """Fit with the pairs that screening keeps."""
        with patch.object(SmoothColumns, "can_cross_all", lambda *_: False):
            return super().fit(X, y, sample_weight, groups)


def plan():
    """Return the tables, the smallest first."""
    manifest = pd.read_csv(DATA / "MANIFEST.tsv", sep="\t")
    wanted = manifest.rows.between(*ROWS) & manifest.features.between(*COLUMNS)
    manifest = manifest[wanted & ~manifest.name.isin(REPEATED)]
    size = manifest.rows * manifest.features * manifest.classes
    return [(name,) for name in manifest.name[size.sort_values(kind="stable").index]]


def report(given):
    """Print how much is lost by screening, and where."""
    found = {
        name: read_results(given.results / f"{name}.csv").set_index("table")
        for name in ("all-pairs", "screened")
    }
    both = found["all-pairs"].join(found["screened"], rsuffix="_screened", how="inner")
    both = both[(both.status == "ok") & (both.status_screened == "ok")]
    worse = (both.log_loss_screened - both.log_loss).sort_values()
    times = np.exp(np.log(both.cpu_s_screened / both.cpu_s).mean())
    print(f"{len(both)} tables, screened pairs lose {worse.mean():+.4f} in the mean, {times:.2f} of the time")
    print(pd.concat([worse.head(5), worse.tail(8)]).round(4).to_string())


def report_planted(seeds):
    """Print the first pair of each draw, and how many pairs have a term."""
    first = []
    for seed in seeds:
        rng = np.random.default_rng((seed, PLANTED_COLUMNS))
        X = rng.normal(size=(PLANTED_ROWS, PLANTED_COLUMNS))
        y = rng.random(PLANTED_ROWS) < 1 / (1 + np.exp(-2 * X[:, 3] * X[:, 7]))
        start = time.process_time()
        found = SemiNaive().fit(X, y).interactions_
        pair = found.iloc[0][["first", "second"]].tolist() if len(found) else None
        first.append(pair == ["x3", "x7"])
        seconds = time.process_time() - start
        print(f"seed {seed}: {pair} of {len(found)} pairs, {seconds:.0f} s", flush=True)
    print(f"the planted pair comes first in {sum(first)} of {len(first)}")


class ScreenedError(Exception):
    """The evidence for each pair, in the place of the search that would follow."""


def evidence_on_noise(seed):
    """Return the evidence for each pair of numbers without meaning, and how many functions the pair has."""

    def stop(evidence, sizes, _):
        raise ScreenedError(evidence[-1], np.array(sizes))

    rng = np.random.default_rng((seed, NOISE_COLUMNS))
    X, y = rng.normal(size=(NOISE_ROWS, NOISE_COLUMNS)), np.arange(NOISE_ROWS) % 2
    with patch.object(screening, "best_pairs", stop):
        try:
            Screened().fit(X, y)
        except ScreenedError as found:
            return found.args
    raise RuntimeError("the pairs were not screened")


def report_noise(seeds):
    """Print which share of pairs is kept on noise.

    The evidence of a small prior variance is positive where the score statistic exceeds its degrees of
    freedom.
    """
    found = [evidence_on_noise(seed) for seed in seeds]
    kept = np.concatenate([evidence > 0 for evidence, _ in found])
    n_functions = np.concatenate([sizes for _, sizes in found])
    print(
        f"{kept.sum()} of {len(kept)} pairs of noise are kept, {kept.mean():.3f}; a score statistic above "
        f"its degrees of freedom has a probability of {chi2.sf(n_functions, n_functions).mean():.3f}"
    )


if __name__ == "__main__":
    simulations = {"planted": (report_planted, range(10)), "noise": (report_noise, range(100))}
    if sys.argv[1:2] and sys.argv[1] in simulations:
        simulate, seeds = simulations[sys.argv[1]]
        simulated = argparse.ArgumentParser(description=__doc__)
        simulated.add_argument("command")
        simulated.add_argument("--seeds", type=numbered, default=seeds)
        simulate(simulated.parse_args().seeds)
    else:
        parser, _, _ = commands(__doc__, RESULTS)
        makers = {"all-pairs": SemiNaive, "screened": Screened}
        perform(parser, ALL_TABLES, makers, lambda _: plan(), report)
