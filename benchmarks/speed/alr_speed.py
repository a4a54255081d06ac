"""Race higher-order models: one pass and whole fits against sparse indicators, counting, AnDE.

    SEMINAIVE_DATA=... python benchmarks/speed/alr_speed.py [passes] [counting] [dependence] [fits]

Passes are over 100,000 rows of Covertype (numbers in 10 bins), adult and 100,000 poker hands at order 2. Fits
run until the objective is within 1e-4 of what scikit-learn's lbfgs ends with, at ridge 1, one-hot matrix and
codes being given. Times are processor time on one thread.
"""

import sys
import warnings
from pathlib import Path
from time import process_time

import numpy as np
from skbn import AnDE
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from seminaive import AveragedDependenceEstimators
from seminaive.design.table_design import TableDesign
from seminaive.encode import TableEncoder
from seminaive.objective.empirical_loss import EmpiricalLoss
from seminaive.objective.penalised_loss import PenalisedLoss
from seminaive.objective.ridge import Ridge
from seminaive.solvers.quasi_newton import minimize
from seminaive.solvers.search_coordinates import search_coordinates
from seminaive.statistics import Terms, TupleCounts

sys.path.insert(0, str(Path(__file__).parent.parent))
from peers.coded_tables import coded_table
from peers.one_hot_csr import indicators, loss_and_gradient
from race import Ratio, best_time, report


def race(question, peer, ours, theirs, *, bar, repeats=3, rounds=2):
    """Time both in turns, after a first call of ours that may compile."""
    ours()
    times = [(best_time(ours, repeats), best_time(theirs, 1)) for _ in range(rounds)]
    return Ratio(question, peer, min(t for t, _ in times), min(t for _, t in times), bar)


TABLES = {"covertype": 8, "adult": 4, "poker": 3}


def passes():
    """Value and gradient of the log loss at random coefficients, checked to be equal."""
    for name, bar in TABLES.items():
        codes, cardinalities, y, n_classes = coded_table(name, 100_000)
        _, table = TableEncoder.learn(codes, categorical_features="all")
        design = TableDesign.of(table, np.ones(len(y)), n_classes, order=2, hierarchical=False)
        loss = EmpiricalLoss(design, y, np.ones(len(y)), n_classes)
        coefficients = np.random.default_rng(0).normal(scale=0.1, size=loss.shape)
        coefficients[0] = 0.0
        X = indicators(codes, cardinalities, 2)
        fused, terms = design.fused, design.coefficients.terms
        dense = np.zeros((X.shape[1], loss.n_columns))
        # Ours has cells of no evidence as well; the peer's columns are the known combinations in order.
        dense[(np.cumsum(terms.known) - 1)[fused.observed]] = coefficients[1:]
        assert np.isclose(loss(coefficients)[0], loss_and_gradient(X, y, dense)[0], rtol=1e-10)
        question = f"one pass, {name}, order 2, {len(fused.groups)} groups for {fused_terms(fused)} terms"
        yield race(
            question,
            "scipy CSR + scikit-learn loss",
            lambda loss=loss, b=coefficients: loss(b),
            lambda X=X, y=y, dense=dense: loss_and_gradient(X, y, dense),
            bar=bar,
            repeats=5,
            rounds=3,
        )


def fused_terms(fused):
    return sum(len(terms) for terms in fused.group_terms)


def fits():
    for name, order, solver, bar, rounds in (
        ("adult", 1, "newton", 10, 5),
        ("poker", 2, "lbfgs", 4, 2),
        ("covertype", 2, "lbfgs", 8, 1),
    ):
        codes, cardinalities, y, n_classes = coded_table(name, 100_000)
        X = indicators(codes, cardinalities, order)
        model = LogisticRegression(C=1.0, max_iter=1000 if name != "covertype" else 40)
        theirs = [fit_time(model, X, y)]
        scores = X @ model.coef_.T + model.intercept_
        padded = np.hstack([np.zeros_like(scores), scores]) if n_classes == 2 else scores
        reached = (np.logaddexp.reduce(padded, axis=1) - padded[np.arange(len(y)), y]).sum()
        reached += 0.5 * (model.coef_**2).sum()
        # The first fit may compile; the others are timed in turns with the peer's.
        ours = [fit_until(codes, y, n_classes, order, solver, reached * (1 + 1e-4))]
        for turn in range(rounds):
            ours.append(fit_until(codes, y, n_classes, order, solver, reached * (1 + 1e-4)))
            if turn:
                theirs.append(fit_time(model, X, y))
        yield Ratio(
            f"fit {name}, order {order}, {solver}, to 1e-4 of the peer's objective",
            f"LogisticRegression(lbfgs), {int(model.n_iter_[0])} iterations",
            min(ours),
            min(theirs),
            bar,
        )


def fit_time(model, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return best_time(lambda: model.fit(X, y), 1)


class Reached(Exception):  # noqa: N818 - it ends a search, nothing went wrong
    """The objective is low enough."""


def fit_until(codes, y, n_classes, order, solver, target):
    """Time planning, fusing and solving until the objective is below the target."""
    _, table = TableEncoder.learn(codes, categorical_features="all")
    weights = np.ones(len(y))
    start = process_time()
    design = TableDesign.of(table, weights, n_classes, order=order, hierarchical=False)
    ridge = Ridge(design.coefficients.strengths(np.ones(order)))

    class Watched(PenalisedLoss):
        def __call__(self, coefficients):
            values, gradient = super().__call__(coefficients)
            if values[0] <= target:
                raise Reached
            return values, gradient

    objective = Watched(EmpiricalLoss(design, y, weights, n_classes), ridge)
    estimate = design.generative_estimate(y, weights)
    coordinates, first_step = search_coordinates(
        "curvature", objective, design, estimate, whiten=solver != "newton"
    )
    zero = np.zeros(objective.loss.shape)
    try:
        minimize(objective, coordinates, zero, solver=solver, tol=1e-12, max_iter=5000, first_step=first_step)
    except Reached:
        return process_time() - start
    raise AssertionError(f"never below {target}")


def counting():
    for name in TABLES:
        codes, cardinalities, y, n_classes = coded_table(name, 100_000)
        terms = Terms.of_order(cardinalities, 2)
        TupleCounts.of(codes, y, terms, n_classes)
        seconds = best_time(
            lambda codes=codes, y=y, terms=terms, c=n_classes: TupleCounts.of(codes, y, terms, c), 7
        )
        nanoseconds = seconds / len(y) / len(terms.features) * 1e9
        yield Ratio(
            f"count pairs, {name}, per row and pair", "1 ns", nanoseconds, 1.0, 1.5, unit="ns", smaller=True
        )


def dependence():
    codes, _, y, _ = coded_table("adult", 20_000)
    columns = list(range(codes.shape[1]))
    X = codes.astype(np.int64)
    for order, rows, bars in ((1, 20_000, (10, 10)), (2, 2_000, (None, 50))):
        ours = AveragedDependenceEstimators(order, estimates="laplace", categorical_features="all")
        theirs = AnDE(n_dependence=order, categorical_features=columns)
        fit = race(
            f"A{order}DE fit, adult, 20,000 rows",
            "scikit-bayes",
            lambda ours=ours: ours.fit(X, y),
            lambda theirs=theirs: theirs.fit(X, y),
            bar=bars[0] or 1,
            rounds=1,
        )
        yield fit
        ours.fit(X, y)
        theirs.fit(X, y)
        yield race(
            f"A{order}DE predict {rows:,} rows, adult",
            "scikit-bayes",
            lambda ours=ours, rows=rows: ours.predict_proba(X[:rows]),
            lambda theirs=theirs, rows=rows: theirs.predict_proba(X[:rows]),
            bar=bars[1],
            rounds=1,
        )


SECTIONS = {"passes": passes, "counting": counting, "dependence": dependence, "fits": fits}


if __name__ == "__main__":
    for section in sys.argv[1:] or SECTIONS:
        rows = list(SECTIONS[section]())
        packages = ["scikit-learn", "scipy", "scikit-bayes"]
        report(f"alr_{section}", rows, packages, arguments=section)
