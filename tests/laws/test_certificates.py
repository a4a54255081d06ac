"""A fit exceeds its minimum by at most ``tol**2`` of its objective, whichever model asks for it.

Every fit that a model makes, of folds and of all rows, is caught and then carried on from where it ended, a
thousand times as closely: the value may not fall by more than was promised.
"""

import sys
import warnings
from functools import cache

import numpy as np
import pytest
from seven_tables import seven_tables

import seminaive
from seminaive.errors import ConvergenceWarning
from seminaive.solvers.minimize import minimize

TABLES = ("wine", "iris", "bc60", "bc200", "mixed", "cats", "digits")
MODELS = {
    "SemiNaive": {},
    "SemiNaive, shapes": {"shapes": "increasing"},
    "HigherOrderLogisticRegressionCV": {},
    "HigherOrderLogisticRegression": {},
    "HigherOrderLogisticRegression, newton": {"order": 1, "hierarchical": True, "solver": "newton"},
    "AcceleratedLogisticRegression": {},
    "AttributeWeightedNaiveBayes": {},
    "AttributeWeightedNaiveBayes, whole": {"fit_share": 1.0},
    "HybridLogisticNaiveBayes": {},
}
# Hundreds of fits of ten classes, each audited.
SLOW = {("HybridLogisticNaiveBayes", "digits")}


@cache
def tables():
    return seven_tables()


@pytest.fixture
def fits(monkeypatch):
    """Catch what every fit minimises, from where, and how it ended."""
    caught = []

    def catching(objective, start, preconditioner, *, tol, max_iter, step_from=None):
        result = minimize(objective, start, preconditioner, tol=tol, max_iter=max_iter, step_from=step_from)
        caught.append((objective, preconditioner, step_from, tol, result))
        return result

    for name in MODELS:
        getattr(seminaive, name.split(",")[0])
    for name, module in list(sys.modules.items()):
        if name.startswith("seminaive.") and name != minimize.__module__:
            for attribute, value in list(vars(module).items()):
                if value is minimize:
                    monkeypatch.setattr(module, attribute, catching)
    return caught


def model_of(name, X):
    options = dict(MODELS[name])
    if "shapes" in options:
        options["shapes"] = {X.select_dtypes("number").columns[0]: options["shapes"]}
    return getattr(seminaive, name.split(",")[0])(**options)


CASES = [
    pytest.param(name, table, marks=pytest.mark.slow) if (name, table) in SLOW else (name, table)
    for name in MODELS
    for table in TABLES
    # A shape is one of the log odds of two classes along a number.
    if "shapes" not in name or table in ("bc60", "bc200", "mixed")
]


@pytest.mark.parametrize(("name", "table"), CASES)
def test_no_fit_exceeds_its_minimum_by_more_than_it_promises(name, table, fits):
    X, y = tables()[table]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", ConvergenceWarning)
        model_of(name, X).fit(X, y)
    assert fits
    for objective, preconditioner, step_from, tol, result in fits:
        assert result.converged
        values, _ = objective(result.solution)
        closer = minimize(
            objective, result.solution, preconditioner, tol=1e-3 * tol, max_iter=300, step_from=step_from
        )
        further, _ = objective(closer.solution)
        rounding = 1e-12 * np.abs(objective.at_equal)
        assert (values - further <= tol**2 * np.abs(values) + rounding).all()


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("penalty", ["l1", "l2"])
def test_paths_end_within_their_duality_gap(table, penalty):
    X, y = tables()[table]
    model = seminaive.NaiveBayesLogisticRegression(penalty=penalty).fit(X, y)
    assert model.path_.converged.all()
    assert (model.path_.gap <= model.tol**2).all()


@pytest.mark.parametrize("table", ["bc60", "mixed", "cats"])
def test_nodes_of_a_network_end_within_their_duality_gap(table):
    X, y = tables()[table]
    model = seminaive.SparseBayesianNetwork().fit(X, y)
    assert model.dual_gap_ <= model.tol**2
