"""Prior variances by evidence: the same from both solvers, and large where the rows say so."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from seminaive.design.smooth_columns import SmoothColumns
from seminaive.encode import TableEncoder
from seminaive.selection import evidence_fit
from seminaive.selection.coefficient_solver import CoefficientSolver
from seminaive.selection.evidence_fit import fit_by_evidence
from seminaive.selection.relevance_trials import PLAN
from seminaive.selection.row_space_solver import RowSpaceSolver
from seminaive.selection.split_rows import SplitRows


def parts_of(n_rows=300, slope=3.0):
    """Return the parts of a solver: a number that matters, one that does not, and a category."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "real": rng.normal(size=n_rows),
            "noise": rng.normal(size=n_rows),
            "level": rng.choice(["a", "b"], n_rows),
        }
    )
    labels = (rng.random(n_rows) < expit(slope * X["real"].to_numpy())).astype(np.int64)
    _, table = TableEncoder.learn(X)
    weights = np.ones(n_rows)
    rows = np.arange(n_rows)
    splits = [(rows[rows % 3 != f], rows[rows % 3 == f]) for f in range(3)]
    return SmoothColumns.of(table, weights), SplitRows(table, labels, weights, 2, splits)


def test_both_solvers_give_the_same_fit():
    parts = parts_of()
    kept = np.ones(parts[0].n_terms, dtype=bool)
    first, second = (fit_by_evidence(e(*parts), kept, 1000) for e in (RowSpaceSolver, CoefficientSolver))
    # Fits end at 1e-4 of the loss; degrees of freedom of the row space are those less the free intercept.
    np.testing.assert_allclose(first.prior_variance, second.prior_variance, rtol=0.05)
    np.testing.assert_allclose(first.coefficients, second.coefficients, atol=0.05)


def test_evidence_raises_the_prior_variance_of_what_matters_and_lowers_that_of_noise():
    parts = parts_of()
    kept = np.ones(parts[0].n_terms, dtype=bool)
    found = fit_by_evidence(CoefficientSolver(*parts), kept, 1000).prior_variance
    real, noise = found[:2] * PLAN.starts[0]
    assert real > 1.0 > noise


def test_a_term_that_is_not_there_stays_out():
    parts = parts_of()
    kept = np.arange(parts[0].n_terms) != 1
    found = fit_by_evidence(RowSpaceSolver(*parts), kept, 1000)
    assert found.prior_variance[1] == 0.0
    np.testing.assert_array_equal(found.coefficients[2], 0.0)


@pytest.mark.parametrize("solver", [RowSpaceSolver, CoefficientSolver])
def test_updates_end_where_the_evidence_of_a_term_is_largest(solver, monkeypatch):
    """There the penalty of a term, twice, equals its effective degrees of freedom."""
    monkeypatch.setattr(evidence_fit, "PRECISION", 0.0)
    monkeypatch.setattr(evidence_fit, "MOST_UPDATES", 60)
    parts = parts_of()
    made, kept = solver(*parts), np.ones(parts[0].n_terms, dtype=bool)
    found = fit_by_evidence(made, kept, 1000)
    relevances = found.prior_variance * np.asarray(PLAN.starts)[parts[0].groups]
    prepared = made.prepare(np.tile(relevances, (4, 1)))
    fit = made.fit_all(prepared, PLAN.starts, None, 1e-8, 1000)
    (penalties,), (degrees,) = made.evidence(prepared, [3], PLAN.starts, [fit])
    assert abs(penalties[0] / degrees[0] - 1) < 0.02
