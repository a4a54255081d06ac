"""What does it cost to screen pairs of columns, and what does it find? One line per trial, resumable.

    python benchmarks/screening.py run all-pairs,screened [--minutes 30] [--limit 60] [--results DIR]
    python benchmarks/screening.py report [--results DIR]
    python benchmarks/screening.py planted [--seeds 0:10]
    python benchmarks/screening.py noise [--seeds 0:100]
    python benchmarks/screening.py sampled [--seeds 0:5]

`run` fits real tables of up to 2,000 rows that can have all pairs, once with all of them, once with those
that screening keeps, which otherwise happens beyond 4,000 features only; `report` compares the log losses.
`planted` tells whether the product of two among 500 numbers comes first; `noise` how many pairs of numbers
without any meaning are kept, and how many a score test of about the same rule keeps; `sampled` which of some
planted products are kept by the rows that a search sees, and by ten times as many.
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
from seminaive.design.smooth_columns import SmoothColumns, most_pair_features
from seminaive.encode import EqualFrequencyCuts, TableEncoder
from seminaive.encode.nodes import table_with_nodes
from seminaive.models.paired import MANY_PAIR_BINS
from seminaive.models.smooth_rows import MOST_SEARCHED
from seminaive.selection import screening
from seminaive.selection.relevance_trials import PAIRS
from seminaive.selection.split_rows import SplitRows
from seminaive.selection.term_evidence import Residuals, evidence_for_pairs

RESULTS = Path(__file__).parent.parent / "results" / "screening"
ROWS, COLUMNS = (100, 2000), (4, 40)
PLANTED_ROWS, PLANTED_COLUMNS = 2000, 500
NOISE_ROWS, NOISE_COLUMNS = 300, 12
SAMPLED_COLUMNS, TIMES_AS_MANY = 100, 10
# Planted coefficients of products of two standard normal numbers, ten pairs each.
SIZES = (0.02, 0.03, 0.05, 0.1, 0.2)


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


def kept_of_all_pairs(X, y):
    """Return the pairs of numbers that screening keeps, beside the class shares, as a set."""
    rule = EqualFrequencyCuts(MANY_PAIR_BINS)
    encoded = TableEncoder.learn(pd.DataFrame(X).add_prefix("x"), cut_rule=rule)[1]
    weight = np.ones(len(y))
    table = table_with_nodes(encoded, weight)
    columns = SmoothColumns.of(table, weight).crossed([], 2)
    pairs = columns.all_pairs
    variances = screening.variances_of(PAIRS)
    evidence = evidence_for_pairs(columns, table, Residuals(SplitRows(table, y, weight, 2)), pairs, variances)
    widths = [column.pair.shape[1] for column in columns.columns]
    sizes = [widths[j] * widths[k] for j, k in pairs]
    best = screening.best_pairs(evidence, sizes, most_pair_features(2))[0]
    return {pairs[number] for number in np.flatnonzero(best)}


def report_sampled(seeds):
    """Print how many planted pairs of each size are kept, and what those that are left out would gain.

    A product of size b explains about b^2 / 8 of log loss: half its variance times the curvature 1 / 4.
    """
    n_each = 10
    found = []
    for seed in seeds:
        rng = np.random.default_rng((seed, SAMPLED_COLUMNS))
        X = rng.normal(size=(TIMES_AS_MANY * MOST_SEARCHED, SAMPLED_COLUMNS))
        # No column is in two planted pairs.
        chosen = rng.permutation(SAMPLED_COLUMNS).reshape(-1, 2)
        planted = [tuple(sorted(pair)) for pair in chosen.tolist()]
        sizes = np.repeat(SIZES, n_each)
        odds = sum(size * X[:, j] * X[:, k] for size, (j, k) in zip(sizes, planted, strict=True))
        y = (rng.random(len(X)) < 1 / (1 + np.exp(-odds))).astype(np.int64)
        for n_rows in (MOST_SEARCHED, len(X)):
            kept = kept_of_all_pairs(X[:n_rows], y[:n_rows])
            holds = np.array([pair in kept for pair in planted])
            lost = float((sizes[~holds] ** 2).sum() / 8)
            found.append({"rows": n_rows, "pairs": len(kept), "lost": lost})
            found[-1] |= {str(size): int(holds[sizes == size].sum()) for size in SIZES}
            print(f"seed {seed}: {found[-1]}", flush=True)
    print(pd.DataFrame(found).groupby("rows").mean().to_string())


if __name__ == "__main__":
    simulations = {
        "planted": (report_planted, range(10)),
        "noise": (report_noise, range(100)),
        "sampled": (report_sampled, range(5)),
    }
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
