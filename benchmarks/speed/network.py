"""Sparse Bayesian networks: chapter 3's size, one node's path against adelie, a million rows to predict.

The records are those of ``seminaive_experiments.papers.veterans``. adelie is run by the interpreter
ADELIE_PYTHON, and is left out without one.
"""

import resource
import sys
from itertools import pairwise
from pathlib import Path
from time import process_time

import numpy as np

from seminaive import SparseBayesianNetwork
from seminaive.encode import TableEncoder
from seminaive.structure.group_lasso_path import GroupLassoProblem, LabelCounts
from seminaive.structure.network_search import NetworkTable
from seminaive_experiments.papers.veterans import LABEL, LAYERS, veterans

sys.path.insert(0, str(Path(__file__).parent.parent))
from peers import adelie_group_lasso
from race import Ratio, best_time, report

CHAPTER_ROWS, HELD_OUT = 913_676, 100_000
LAYER_NAMES = [["class" if name == LABEL else name for name in names] for names in LAYERS]


def chapter():
    """Fit the chapter's size: five completions, twenty strengths, one layer of orderings searched."""
    data = veterans(CHAPTER_ROWS + HELD_OUT, random_state=0)
    share = HELD_OUT / (CHAPTER_ROWS + HELD_OUT)
    model = SparseBayesianNetwork(layers=LAYER_NAMES, searched_layers=[1], cv=share, verbose=True)
    small = veterans(2000, random_state=1)
    model.fit(small.X, small.y)  # compiles
    start = process_time()
    model.fit(data.X, data.y)
    taken = process_time() - start
    print(model.path_.to_string())
    print(f"strength {model.strength_:.4g}, boundary {model.markov_boundary_}")
    question = f"fit, {CHAPTER_ROWS:,} rows and {HELD_OUT:,} held out, 5 completions, 20 strengths"
    yield Ratio(question, "one second of one core", taken, 1.0, 600, smaller=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    yield Ratio("its memory, the records included", "1 GB", peak, 1.0, 2, unit="GB", smaller=True)
    rows = data.X.sample(1_000_000, replace=True, random_state=0)
    hidden = np.random.default_rng(0).random(rows.shape) < 0.3
    rows = rows.mask(hidden)
    yield Ratio(
        f"predicting 1,000,000 rows, {rows.isna().to_numpy().mean():.0%} of the cells missing",
        "one second",
        best_time(lambda: model.predict_proba(rows), 1),
        1.0,
        60,
        smaller=True,
    )


def dense_records():
    """Predict complete records of which 30 % of the cells are hidden, by the densest network of the path."""
    rng = np.random.default_rng(0)
    data = veterans(200_000, random_state=2)
    model = SparseBayesianNetwork(layers=LAYER_NAMES, strengths=[1e-4], n_imputations=2).fit(data.X, data.y)
    X, _ = model.sample(1_000_000, random_state=0)
    X = X.mask(rng.random(X.shape) < 0.3)
    yield Ratio(
        f"predicting 1,000,000 rows by a network of {len(model.edges_)} edges, 30 % of the cells missing",
        "one second",
        best_time(lambda: model.predict_proba(X), 1),
        1.0,
        60,
        smaller=True,
    )


def one_node():
    """Fit the disorder on all other variables, 100,000 records as the model completes them, 20 strengths."""
    data = veterans(100_000, random_state=0)
    table = TableEncoder.learn(data.X, missing="neutral")[1]
    labels = (np.asarray(data.y) == "Y").astype(np.int64)
    records = NetworkTable(
        np.column_stack([table.codes, labels]).astype(np.uint8), (*table.cardinalities, 2), None, (0,) * 15
    )
    codes = records.completed(1, np.random.default_rng(0))[0][:, :-1].astype(np.int64)
    cardinalities = np.array(table.cardinalities)

    def problem_of():
        return GroupLassoProblem([LabelCounts.of(codes, labels, cardinalities, 2)], cardinalities)

    strengths = problem_of().largest_strength * np.geomspace(1, 1e-3, 20)
    found = problem_of().path(strengths, tol=1e-8)
    # Symmetric coding of two labels: the norm of a block is that of its log odds over the root of two.
    penalties = np.sqrt((cardinalities - 1) / 2)
    answers = [
        adelie_group_lasso.solve(codes, cardinalities, labels, penalties, strengths, 1e-9) for _ in range(2)
    ]
    theirs, coefficients, intercepts = min(answers, key=lambda answer: answer[0])
    starts = np.concatenate([[0], np.cumsum(cardinalities)])
    worse = 0.0
    for strength, found_at, beta, intercept in zip(strengths, found, coefficients, intercepts, strict=True):
        odds = intercept + beta[starts[:-1] + codes].sum(axis=1)
        norms = [np.linalg.norm(beta[low:high]) for low, high in pairwise(starts)]
        loss = np.mean(np.logaddexp(0.0, np.where(labels == 1, -odds, odds)))
        objective = loss + strength * penalties @ norms
        worse = max(worse, objective - found_at.objective)
        print(f"strength {strength:.3g}: ours {found_at.objective:.10f}, theirs {objective:.10f}")
    print(f"adelie's objective is above ours by at most {worse:.2g}")
    ours = best_time(lambda: problem_of().path(strengths, tol=1e-8), 3)
    yield Ratio("path of one node, 100,000 rows, aggregation included", "adelie on dummies", ours, theirs, 5)


if __name__ == "__main__":
    questions = []
    for part in (one_node, chapter, dense_records):
        try:
            questions += list(part())
        except ImportError as reason:
            print(f"left out: {reason}")
    report("network", questions, ["scikit-learn", "pandas"])
