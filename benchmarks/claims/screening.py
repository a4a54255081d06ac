"""What does it cost to screen pairs of columns, and what does it find? One line per trial, resumable.

    python benchmarks/claims/screening.py run all-pairs,screened [--minutes 30] [--limit 60] [--results DIR]
    python benchmarks/claims/screening.py report [--results DIR]
    python benchmarks/claims/screening.py beside-noise [--seeds 1:5]
    python benchmarks/claims/screening.py wide [--seeds 400:402]
    python benchmarks/claims/screening.py planted [--seeds 0:10]
    python benchmarks/claims/screening.py noise [--seeds 0:100]
    python benchmarks/claims/screening.py sampled [--seeds 0:5]

`run` fits real tables of up to 2,000 rows that can have all pairs, once with all of them, once with those
that screening keeps, which otherwise happens beyond 4,000 features only; `report` compares the log losses.
`beside-noise` compares the pairs that are kept with none at all, on real tables with so many columns of noise
that their pairs cannot all be had; `wide` does so on real tables that have as many columns of themselves.
`planted` tells whether the product of two among 500 numbers comes first; `noise` how many pairs of numbers
without any meaning are kept; `sampled` which of some planted products are kept by the rows that a search
sees, and by ten times as many.
"""

import argparse
import sys
import time
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pandas as pd
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

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

sys.path.insert(0, str(Path(__file__).parent.parent))
from accuracy.all_tables import ALL_TABLES, TESTED, whole_table
from board_tables import DATA, MOST_TEST_ROWS, REPEATED
from study import numbered, read_results
from study_commands import commands, perform

RESULTS = Path(__file__).parent.parent / "results" / "screening"
ROWS, COLUMNS = (100, 2000), (4, 40)
PLANTED_ROWS, PLANTED_COLUMNS = 2000, 500
NOISE_ROWS, NOISE_COLUMNS = 300, 12
SAMPLED_COLUMNS, TIMES_AS_MANY = 100, 10
# Columns of noise beside a table's, and training rows of it, None being four fifths of all.
BESIDE_NOISE = {
    "sonar": (60, None),
    "ionosphere": (80, None),
    "heart-statlog": (100, None),
    "german-credit": (100, 300),
    "hepatitis": (100, None),
    "credit-approval": (90, 300),
    "pima-diabetes": (100, 300),
    "wine": (100, None),
    "horse-colic": (90, None),
    "magic": (100, 300),
    "spambase": (60, 300),
    "chess-kr-vs-kp": (80, 300),
    "splice": (60, 200),
    "banknote": (100, 200),
}
# Real tables of so many columns that their pairs cannot all be had, and training rows of them.
WIDE = (
    ("musk1", 100),
    ("musk1", 200),
    ("musk1", None),
    ("musk2", 300),
    ("optdigits", 300),
    ("musk2", 1000),
    ("optdigits", 1000),
    ("optdigits", None),
    ("musk2", None),
)
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
    found, screened = (
        read_results(given.results / f"{name}.csv").set_index("table") for name in ("all-pairs", "screened")
    )
    both = found.merge(screened, on="table", suffixes=("", "_screened"))
    both = both[(both.status == "ok") & (both.status_screened == "ok")]
    worse = (both.log_loss_screened - both.log_loss).sort_values()
    times = np.exp(np.log(both.cpu_s_screened / both.cpu_s).mean())
    print(f"{len(both)} tables, screened pairs lose {worse.mean():+.4f} in the mean, {times:.2f} of the time")
    print(pd.concat([worse.head(5), worse.tail(8)]).round(4).to_string())


def report_beside_noise(seeds):
    """Print what pairs that are kept beside columns of noise are worth."""
    compare_with_none(
        (f"{name} with {n_noise} of noise", *with_noise(name, n_noise, seed), n_rows, seed)
        for name, (n_noise, n_rows) in BESIDE_NOISE.items()
        for seed in seeds
    )


def with_noise(name, n_noise, seed):
    """Return a table with columns of noise, and its classes."""
    X, y = whole_table(name)
    noise = np.random.default_rng((seed, n_noise)).normal(size=(len(X), n_noise))
    return pd.concat([X, pd.DataFrame(noise, index=X.index).add_prefix("noise")], axis=1), y


def report_wide(seeds):
    """Print what pairs that are kept on tables of many columns are worth."""
    compare_with_none(
        (f"{name}, {n_rows or 'all'} rows", *whole_table(name), n_rows, seed)
        for name, n_rows in WIDE
        for seed in seeds
    )


def compare_with_none(samples):
    """Print by how much the log loss is lower with the pairs that are kept than with none, and the times.

    A fifth of the rows, at most 5,000, judges.
    """
    found = []
    for name, X, y, n_rows, seed in samples:
        train, rest = train_test_split(np.arange(len(y)), test_size=TESTED, stratify=y, random_state=seed)
        if n_rows is not None:
            train = train_test_split(train, train_size=n_rows, stratify=y[train], random_state=seed)[0]
        losses, seconds, pairs = np.transpose(
            [
                judged(model, X, y, train, rest[:MOST_TEST_ROWS])
                for model in (SemiNaive(), SemiNaive(interactions=0))
            ]
        ).tolist()
        line = {"table": name, "none": losses[1], "kept": losses[0], "pairs": pairs[0]}
        found.append(line | {"seconds": seconds[0], "times": seconds[0] / seconds[1]})
        print(f"seed {seed}: {found[-1]}", flush=True)
    every = pd.DataFrame(found)
    print(every.groupby("table", sort=False).mean().round(4).to_string())
    worse = every.kept - every.none
    times = np.exp(np.log(every.times).mean())
    print(f"log loss {worse.mean():+.4f} (se {worse.sem():.4f}), {times:.1f} times the time")


def judged(model, X, y, train, test):
    """Return the log loss of test rows, processor seconds of the fit, and the number of pairs."""
    start = time.process_time()
    model.fit(X.iloc[train].reset_index(drop=True), y[train])
    seconds = time.process_time() - start
    loss = log_loss(y[test], model.predict_proba(X.iloc[test]), labels=model.classes_)
    return loss, seconds, len(model.interactions_)


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
    """The pairs that are kept, in the place of the search that would follow."""


def kept_on_noise(seed):
    """Return which pairs of numbers without meaning are kept."""

    def stop(evidence, *_):
        raise ScreenedError(np.isfinite(evidence[-1]))

    rng = np.random.default_rng((seed, NOISE_COLUMNS))
    X, y = rng.normal(size=(NOISE_ROWS, NOISE_COLUMNS)), np.arange(NOISE_ROWS) % 2
    with patch.object(screening, "best_pairs", stop):
        try:
            Screened().fit(X, y)
        except ScreenedError as found:
            return found.args[0]
    raise RuntimeError("the pairs were not screened")


def report_noise(seeds):
    """Print how many pairs are kept on noise, and on how many tables any is."""
    kept = np.array([kept_on_noise(seed) for seed in seeds])
    print(
        f"{kept.sum()} of {kept.size} pairs of noise are kept, {kept.mean():.3f}; none on "
        f"{np.mean(~kept.any(axis=1)):.2f} of {len(kept)} tables"
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
    says = screening.says_something(evidence[0], np.ones(len(pairs), dtype=bool))
    best = screening.best_pairs(np.where(says, evidence, -np.inf), sizes, most_pair_features(2))[0]
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
        "beside-noise": (report_beside_noise, range(1, 5)),
        "wide": (report_wide, range(400, 402)),
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
