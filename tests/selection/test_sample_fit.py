"""The fit of a sample of the rows leads to that of all, whatever the sample lacks."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from seminaive.design.projected import ProjectedDesign
from seminaive.design.smooth_columns import SmoothColumns
from seminaive.encode import EqualFrequencyCuts, TableEncoder
from seminaive.objective.empirical_loss import EmpiricalLoss
from seminaive.selection.coefficient_solver import CoefficientSolver
from seminaive.selection.sample_fit import SampleFit, residual_sample
from seminaive.selection.split_rows import SplitRows

TOL, STRENGTHS = 1e-7, (0.5, 0.3, 5.0)


def test_a_sample_by_residuals_gives_unbiased_sums_of_bounded_weights():
    rng = np.random.default_rng(0)
    residuals, weight, n_drawn = rng.uniform(size=300) ** 8, rng.uniform(0.5, 2.0, 300), 60
    residuals[:3] = 20.0
    sums, sizes = np.zeros(300), []
    for _ in range(4000):
        rows, drawn_weight = residual_sample(residuals, weight, n_drawn, rng)
        assert (drawn_weight <= 2 * weight.sum() / n_drawn * (1 + 1e-12)).all()
        sums[rows] += drawn_weight
        sizes.append(len(rows))
    # A row of probability .1 is drawn 400 times, within 5 standard errors of 20 times.
    np.testing.assert_allclose(sums / 4000, weight, rtol=0.25)
    assert abs(np.mean(sizes) - n_drawn) < 0.5
    np.testing.assert_allclose(sums[:3], 4000 * weight[:3])


def test_all_rows_are_drawn_where_there_are_no_more():
    residuals, weight = np.array([0.9, 0.0, 0.1]), np.array([1.0, 5000.0, 2.0])
    for n_drawn in (3, 20):
        rows, drawn_weight = residual_sample(residuals, weight, n_drawn, np.random.default_rng(0))
        np.testing.assert_array_equal(rows, [0, 1, 2])
        np.testing.assert_array_equal(drawn_weight, weight)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("with_offset", [False, True])
def test_a_sample_that_lacks_what_all_rows_lose_is_drawn_again_for_the_same_optimum(n_classes, with_offset):
    rng = np.random.default_rng(n_classes)
    x = rng.normal(size=(2000, 2))
    right = (x[:, 0] > 0).astype(int) + ((x[:, 1] > 0).astype(int) if n_classes == 3 else 0)
    labels = np.where(np.arange(2000) % 40 == 1, (right + 1) % n_classes, right)
    _, table = TableEncoder.learn(pd.DataFrame(x), cut_rule=EqualFrequencyCuts(4))
    columns = SmoothColumns.of(table, np.ones(2000)).with_all_pairs(n_classes)
    offset = 0.1 * rng.normal(size=(2000, 1 if n_classes == 2 else n_classes)) if with_offset else None
    design = ProjectedDesign(columns, table, n_classes, 1, 1 if n_classes == 2 else n_classes)
    loss = EmpiricalLoss(design, labels, np.ones(2000), n_classes, offset=offset, keep_scores=True)
    relevances = np.ones(columns.n_terms)
    answer = SimpleNamespace(relevances=relevances, best=SimpleNamespace(strengths=STRENGTHS), fits=[None])

    def fit_of(sample):
        weight = np.full(len(sample), 2000 / len(sample))
        rows = SplitRows(table.rows(sample), labels[sample], weight, n_classes, sample_of=2000)
        return SampleFit.of(
            columns, rows, answer, TOL, 500, offset=None if offset is None else offset[sample]
        )

    like, unlike = fit_of(np.arange(1, 2000, 5)), fit_of(np.arange(0, 2000, 5))
    assert like.closer_to(loss, table) is like
    again = unlike.closer_to(loss, table)
    assert again is not unlike
    whole = CoefficientSolver(columns, SplitRows(table, labels, np.ones(2000), n_classes))
    if offset is not None:
        whole = whole.around([offset])
    expected = whole.fit_all(whole.prepare(relevances[None]), STRENGTHS, None, TOL**2, 500)
    for fit in (like, unlike, again):
        found = fit.extended_to(loss)
        assert found.objective == pytest.approx(expected.fit.objective, rel=1e-9)
        np.testing.assert_allclose(found.solution, expected.coefficients, atol=1e-4)
