"""Around an earlier score, new terms held back without end leave its recalibration; without it, the fit."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import softmax

from seminaive.design.smooth_columns import SmoothColumns
from seminaive.encode import EqualFrequencyCuts, TableEncoder
from seminaive.selection.baselines import NOTHING, Baseline, Combination, baselines_of
from seminaive.selection.coefficient_solver import CoefficientSolver
from seminaive.selection.decision import Decision
from seminaive.selection.folds import split_rows
from seminaive.selection.held_out import HeldOut
from seminaive.selection.recalibration import recalibrate
from seminaive.selection.relevance_search import RelevanceSearch
from seminaive.selection.row_space_solver import RowSpaceSolver
from seminaive.selection.split_rows import SplitRows
from seminaive.selection.started_search import StartedSearch


def draw(n_classes, n_rows=120):
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(n_rows, 3))
    labels = np.argmax(X[:, :1] * np.arange(n_classes) + rng.gumbel(size=(n_rows, n_classes)), axis=1)
    earlier = 0.5 * X[:, :1] * np.arange(n_classes) + rng.normal(size=(n_rows, n_classes)) / 4
    earlier = earlier[:, 1:] - earlier[:, :1] if n_classes == 2 else earlier
    return X, labels, earlier


@pytest.fixture(
    scope="module",
    params=[(kind, n) for kind in (RowSpaceSolver, CoefficientSolver) for n in (2, 4)],
    ids=lambda pair: f"{pair[0].__name__}, {pair[1]} classes",
)
def solver(request):
    kind, n_classes = request.param
    X, labels, earlier = draw(n_classes)
    weight = np.ones(len(labels))
    _, table = TableEncoder.learn(X, cut_rule=EqualFrequencyCuts(4), labels=labels)
    columns = SmoothColumns.of(table, weight).with_all_pairs(n_classes)
    splits = split_rows(3, labels, labels, None, 0)
    return kind(columns, SplitRows(table, labels, weight, n_classes, splits)), earlier


def probabilities(scores):
    return softmax(np.hstack([np.zeros_like(scores), scores]) if scores.shape[1] == 1 else scores, axis=1)


def test_at_infinite_strengths_the_fit_is_the_unpenalised_recalibration(solver):
    solver, earlier = solver
    rows = solver.rows
    baselines = baselines_of(earlier, rows.labels, rows.row_weight, rows.n_classes, rows.splits)
    around = solver.around(baselines["recalibrated"].offsets)
    prepared = around.prepare(np.ones((solver.rows.n_sets, solver.columns.n_terms)))
    fit = around.fit_all(prepared, (1e14, 1e14, 1e14), None, 1e-20, 100)
    expected = recalibrate(earlier, rows.labels, rows.row_weight, rows.n_classes).scores(earlier)
    np.testing.assert_allclose(probabilities(fit.scores), probabilities(expected), atol=1e-8)
    for fold, fold_fit in enumerate(around.fit_folds(prepared, (1e14, 1e14, 1e14), None, 1e-20, 100)):
        expected = baselines["recalibrated"].offsets[fold]
        np.testing.assert_allclose(probabilities(fold_fit.scores), probabilities(expected), atol=1e-8)


def test_around_nothing_every_fit_is_that_without_an_earlier_score(solver):
    solver, earlier = solver
    nothing = Baseline.constant(earlier, 0.0, solver.rows.n_sets)
    around = solver.around(nothing.offsets)
    relevances = np.ones((solver.rows.n_sets, solver.columns.n_terms))
    for strength in (0.3, 30.0):
        fits = [
            one.fit_all(one.prepare(relevances), (strength, strength, 5 * strength), None, 1e-20, 100)
            for one in (solver, around)
        ]
        np.testing.assert_allclose(*(probabilities(fit.scores) for fit in fits), atol=1e-8)


def test_a_fit_around_an_offset_is_stationary(solver):
    """Residuals around the offset balance the ridge: X'(y - p) = strength times coefficients."""
    solver, earlier = solver
    n_parts = solver.rows.n_sets
    around = solver.around([earlier] * n_parts)
    prepared = around.prepare(np.ones((n_parts, solver.columns.n_terms)))
    fit = around.fit_all(prepared, (1.0, 1.0, 5.0), None, 1e-20, 200)
    coefficients = around.coefficients([(1.0, prepared, (1.0, 1.0, 5.0), fit)])
    residuals = np.eye(solver.rows.n_classes)[solver.rows.labels] - probabilities(fit.scores)
    residuals = residuals[:, 1:] if solver.rows.n_classes == 2 else residuals
    features = np.hstack([np.ones((len(residuals), 1)), slopes_of(solver)])
    found = features.T @ residuals
    n_slopes = len(solver.columns.slopes)
    np.testing.assert_allclose(found[0], 0.0, atol=1e-6)
    np.testing.assert_allclose(found[1:], coefficients[1 : 1 + n_slopes], atol=1e-6)


def slopes_of(solver):
    X, _, _ = draw(solver.rows.n_classes)
    return solver.columns.slope_features(X)


def searched(solver, earlier):
    def search_of(solver, baseline=None):
        weight = np.bincount(solver.rows.labels, minlength=solver.rows.n_classes).astype(float)
        generator = np.random.default_rng(0)
        return RelevanceSearch(solver, weight, 1, 1e-3, 100, generator, baseline=baseline)

    return search_of(solver), StartedSearch(solver, earlier, search_of)


@pytest.fixture(scope="module")
def answers(solver):
    fresh, started = searched(*solver)
    return fresh, fresh.run(), started, started.run()


def test_the_search_around_nothing_is_that_without_an_earlier_score(answers):
    fresh, _, started, _ = answers
    around_nothing = started.searches[NOTHING].trials
    assert [trial.strengths for trial in around_nothing] == [trial.strengths for trial in fresh.trials]
    for one, other in zip(around_nothing, fresh.trials, strict=True):
        np.testing.assert_allclose(one.scores, other.scores, atol=1e-8)


def test_the_trials_hold_each_baseline_alone(answers):
    _, _, started, _ = answers
    alone = [trial for trial in started.trials if not trial.fits]
    assert [trial.strengths for trial in alone] == [(np.inf,) * 3] * 3
    assert len(started.slopes) == len(started.trials)
    assert started.slopes[-2:] == [1.0, 1.0]
    assert 0.0 in started.slopes


def test_the_answer_loses_little_more_than_the_best_of_its_parts(answers):
    """Weights are exp(-n L / 2), so that an average of 6 parts exceeds the least loss by 2 log(6) / n."""
    _, _, started, answer = answers
    n_rows = started.searches[NOTHING].solver.rows.n_rows
    least = min(
        [trial.loss for trial in started.trials if not trial.fits]
        + [started.searches[NOTHING].run().decision.log_loss]
    )
    assert answer.decision.log_loss <= least + 2 * np.log(6) / n_rows + 0.01


def decision(loss, share):
    return Decision(np.ones(1), share, loss, (loss / 2, 2 * loss))


def combined(losses, n_rows=400):
    """Return the combination of answers with given losses, and with shares of a half."""
    rng = np.random.default_rng(0)
    labels = np.arange(n_rows) % 2
    earlier = rng.normal(size=(n_rows, 1)) + labels[:, None]
    splits = split_rows(2, labels, labels, None, 0)
    baselines = baselines_of(earlier, labels, np.ones(n_rows), 2, splits)
    held_out = HeldOut.of(labels, np.ones(n_rows), 2, splits)
    kinds = (NOTHING, "recalibrated", "shifted")
    decisions = {kind: decision(loss, 0.5) for kind, loss in zip(kinds, losses, strict=True)}
    return Combination.of(baselines, held_out, decisions, rng)


def test_an_answer_that_loses_far_less_than_all_others_is_the_answer():
    fresh = combined([0.1, 0.6, 0.6])
    assert fresh.best == NOTHING
    assert fresh.recalibration.slope == 0.0
    coefficients = {NOTHING: np.array([[1.0], [2.0]]), "recalibrated": np.full((2, 1), 9.0)}
    np.testing.assert_array_equal(fresh.coefficients(coefficients), [[1.0], [2.0]])
    assert fresh.decision.log_loss == pytest.approx(0.1)
    recalibrated = combined([0.6, 0.1, 0.6])
    baseline = recalibrated.baselines["recalibrated"].of_all
    assert recalibrated.recalibration.slope == pytest.approx(baseline.slope)
    np.testing.assert_allclose(recalibrated.coefficients(coefficients), [9.0 + baseline.intercept, [9.0]])


def test_equal_losses_give_equal_weights_and_mean_shares():
    alike = combined([0.6, 0.6, 0.6])
    equal = {kind: decision(0.6, 0.0) for kind in alike.alone}
    alike = replace(alike, alone=equal)
    np.testing.assert_allclose(alike.decision.weights, np.full(6, 1 / 6))
    assert alike.decision.fit_share == pytest.approx(0.25)
    assert alike.decision.log_loss == pytest.approx(0.6)
    slopes = [alike.baselines[kind].of_all.slope for kind in ("recalibrated", "shifted", "unchanged")]
    assert alike.recalibration.slope == pytest.approx((2 * slopes[0] + 2 * slopes[1] + slopes[2]) / 6)
