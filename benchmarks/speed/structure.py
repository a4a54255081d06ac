"""Race the search for structure: information of pairs, Markov blankets, tree-augmented naive Bayes."""

import sys
import warnings
from importlib.util import find_spec
from itertools import combinations
from pathlib import Path
from time import process_time

import numpy as np
from sklearn.metrics import mutual_info_score

from seminaive import MarkovBlanketSelector, TreeAugmentedNaiveBayes
from seminaive.errors import UntestableWarning
from seminaive.statistics import PairwiseInformation
from seminaive.structure import CodedTests, iamb
from seminaive_experiments import load_dataset

sys.path.insert(0, str(Path(__file__).parent.parent))
from race import Ratio, best_time, race, report

# Of the hybrid paper's Table 1; needs SEMINAIVE_DATA.
PAPER = (
    "pima-diabetes",
    "adult",
    "credit-approval",
    "glass",
    "hypothyroid-uci",
    "vehicle",
    "wine",
    "bank-marketing-additional",
    "banknote",
    "car",
    "chronic-kidney-disease",
    "blogger",
    "breast-tissue",
    "congressional-voting",
    "sonar",
    "default-credit-card",
    "ecoli",
    "mushroom",
    "nursery",
    "qualitative-bankruptcy",
    "eeg-eye-state",
)


def codes(n_rows, n_columns, n_values, seed=0):
    """Return codes of which every fifth column depends on the class, and its neighbour on it."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, n_rows)
    table = rng.integers(0, n_values, (n_rows, n_columns), dtype=np.uint8)
    for j in range(0, n_columns - 1, 5):
        table[:, j] = np.where(rng.random(n_rows) < 0.1, labels, table[:, j])
        table[:, j + 1] = np.where(rng.random(n_rows) < 0.5, table[:, j], table[:, j + 1])
    return table, labels


def information():
    table, labels = codes(100_000, 100, 6)

    def theirs(pairs):
        for c in (0, 1):
            of_class = table[labels == c]
            for i, j in pairs:
                mutual_info_score(of_class[:, i], of_class[:, j])

    def ours():
        return PairwiseInformation.of(table, labels, (6,) * 100, 2).normalized

    ours()
    pairs = list(combinations(range(100), 2))
    sample = pairs[::50]
    # All 4,950 pairs take minutes; every fiftieth pair, times fifty.
    share = len(pairs) / len(sample)
    times = [(best_time(ours, 3), best_time(lambda: theirs(sample), 1) * share) for _ in range(2)]
    yield Ratio(
        "normalised information of all pairs, 100,000 x 100",
        "mutual_info_score per class and pair (every 50th pair, times 50)",
        min(t for t, _ in times),
        min(t for _, t in times),
        20,
    )


def blankets():
    table, labels = codes(50_000, 100, 4)
    columns = np.ascontiguousarray(np.vstack([table.T, labels.astype(np.uint8)]))

    def ours():
        return iamb(CodedTests(columns, (*(4,) * 100, 2)), 100, range(100))

    ours()
    yield Ratio("IAMB, 50,000 x 100 codes", "one second", best_time(ours, 3), 1.0, 10, smaller=True)
    slowest, which = 0.0, ""
    for name in PAPER:
        data = load_dataset(name)
        selector = MarkovBlanketSelector(one_row_per_cell=False)
        start = process_time()
        selector.fit(data.X, data.y)
        taken = process_time() - start
        kept = int(selector.get_support().sum())
        print(f"{name}: {data.X.shape[0]} x {data.X.shape[1]}, blanket of {kept}, {taken:.2f} s", flush=True)
        if taken > slowest:
            slowest, which = taken, name
    question = f"union over all algorithms and tests, slowest of the paper's tables ({which})"
    yield Ratio(question, "one second", slowest, 1.0, 30, smaller=True)


def trees():
    ours = TreeAugmentedNaiveBayes(categorical_features="all")
    # pyAgrum takes minutes for a million rows; its time grows with them.
    for peer, name, n_rows in ((pgmpy, "pgmpy", 1_000_000), (pyagrum, "pyAgrum", 50_000)):
        try:
            theirs = peer()
        except ImportError as reason:
            print(f"left out: {reason}")
            continue
        table, labels = codes(n_rows, 20, 8)
        yield race(
            f"TAN fit, {n_rows:,} x 20 codes",
            name,
            lambda table=table, labels=labels: ours.fit(table, labels),
            lambda theirs=theirs, table=table, labels=labels: theirs.fit(table, labels),
            bar=10,
            rounds=1,
        )


def pgmpy():
    from peers.pgmpy_tan import PgmpyTAN

    return PgmpyTAN()


def pyagrum():
    from peers.pyagrum_tan import PyAgrumTAN

    return PyAgrumTAN()


if __name__ == "__main__":
    warnings.simplefilter("ignore", UntestableWarning)
    questions = [row for part in (information, blankets, trees) for row in part()]
    peers = [name for name in ("pgmpy", "pyagrum") if find_spec(name)]
    report("structure", questions, ["scikit-learn", "scipy", *peers])
