"""Whether `SemiNaive` fits coefficients or rows is a matter of time and not of the answer."""

import numpy as np
import pytest
from seven_tables import seven_tables

from seminaive import SemiNaive
from seminaive.models import semi_naive
from seminaive.selection.fold_solvers import coefficient_solver, row_space_solver


def probabilities(monkeypatch, solver, X, y):
    monkeypatch.setattr(semi_naive, "row_space_solver", solver)
    monkeypatch.setattr(semi_naive, "coefficient_solver", lambda columns, rows, _: solver(columns, rows))
    return SemiNaive().fit(X, y).predict_proba(X)


@pytest.mark.parametrize(
    "table",
    ["wine", "iris", "bc60", "bc200", "mixed", "cats", pytest.param("digits", marks=pytest.mark.slow)],
)
def test_a_default_fit_has_the_same_probabilities_in_either_space(table, monkeypatch):
    X, y = seven_tables()[table]
    by_rows, by_coefficients = (
        probabilities(monkeypatch, solver, X, y) for solver in (row_space_solver, coefficient_solver)
    )
    # Fits of folds end a millionth of their loss above the minimum, which moves held-out losses by 2e-4 of
    # them.
    np.testing.assert_allclose(by_rows, by_coefficients, rtol=0, atol=1e-3)
