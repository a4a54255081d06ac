"""Around an earlier score, new terms held back without end leave its recalibration; without it, the fit."""

import numpy as np
import pytest
from scipy.special import softmax

from seminaive.design.smooth_columns import SmoothColumns
from seminaive.encode import EqualFrequencyCuts, TableEncoder
from seminaive.selection.baselines import baselines_of, completed
from seminaive.selection.decision import SEARCH
from seminaive.selection.folds import split_rows
from seminaive.selection.kernel_engine import KernelEngine
from seminaive.selection.projected_engine import ProjectedEngine
from seminaive.selection.recalibration import Recalibration, recalibrate
from seminaive.selection.relevance_search import RelevanceSearch
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
    params=[(kind, n) for kind in (KernelEngine, ProjectedEngine) for n in (2, 4)],
    ids=lambda own: f"{own[0].__name__}, {own[1]} classes",
)
def engine(request):
    kind, n_classes = request.param
    X, labels, earlier = draw(n_classes)
    weight = np.ones(len(labels))
    _, table = TableEncoder.learn(X, cut_rule=EqualFrequencyCuts(4), labels=labels)
    columns = SmoothColumns.of(table, weight).with_all_pairs(n_classes)
    splits = split_rows(3, labels, labels, None, 0)
    return kind(columns, table, labels, weight, n_classes, splits), earlier


def probabilities(scores):
    return softmax(np.hstack([np.zeros_like(scores), scores]) if scores.shape[1] == 1 else scores, axis=1)


def test_at_infinite_strengths_the_fit_is_the_unpenalised_recalibration(engine):
    engine, earlier = engine
    baselines = baselines_of(earlier, engine.labels, engine.row_weight, engine.n_classes, engine.splits)
    around = engine.around(baselines["recalibrated"].offsets)
    prepared = around.prepare(np.ones((len(engine.splits) + 1, engine.columns.n_terms)))
    fit = around.fit_all(prepared, (1e14, 1e14, 1e14), None, 1e-20, 100)
    expected = recalibrate(earlier, engine.labels, engine.row_weight, engine.n_classes).scores(earlier)
    np.testing.assert_allclose(probabilities(fit.scores), probabilities(expected), atol=1e-8)
    for fold, own in enumerate(around.fit_folds(prepared, (1e14, 1e14, 1e14), None, 1e-20, 100)):
        expected = baselines["recalibrated"].offsets[fold]
        np.testing.assert_allclose(probabilities(own.scores), probabilities(expected), atol=1e-8)


def test_around_nothing_every_fit_is_that_without_an_earlier_score(engine):
    engine, earlier = engine
    baselines = baselines_of(earlier, engine.labels, engine.row_weight, engine.n_classes, engine.splits)
    around = engine.around(baselines["nothing"].offsets)
    relevances = np.ones((len(engine.splits) + 1, engine.columns.n_terms))
    for own in (0.3, 30.0):
        fits = [
            one.fit_all(one.prepare(relevances), (own, own, 5 * own), None, 1e-20, 100)
            for one in (engine, around)
        ]
        np.testing.assert_allclose(*(probabilities(fit.scores) for fit in fits), atol=1e-8)


def test_a_fit_around_an_offset_is_stationary(engine):
    """Residuals around the offset balance the ridge: X'(y - p) = strength times coefficients."""
    engine, earlier = engine
    n_parts = len(engine.splits) + 1
    around = engine.around([earlier] * n_parts)
    prepared = around.prepare(np.ones((n_parts, engine.columns.n_terms)))
    fit = around.fit_all(prepared, (1.0, 1.0, 5.0), None, 1e-20, 200)
    coefficients = around.coefficients([(1.0, prepared, (1.0, 1.0, 5.0), fit)])
    residuals = np.eye(engine.n_classes)[engine.labels] - probabilities(fit.scores)
    residuals = residuals[:, 1:] if engine.n_classes == 2 else residuals
    features = np.hstack([np.ones((len(residuals), 1)), slopes_of(engine)])
    found = features.T @ residuals
    n_slopes = len(engine.columns.slopes)
    np.testing.assert_allclose(found[0], 0.0, atol=1e-6)
    np.testing.assert_allclose(found[1:], coefficients[1 : 1 + n_slopes], atol=1e-6)


def slopes_of(engine):
    X, _, _ = draw(engine.n_classes)
    return engine.columns.slope_features(X)


def searched(engine, earlier):
    def search_of(own):
        weight = np.bincount(own.labels, minlength=own.n_classes).astype(float)
        return RelevanceSearch(own, weight, 1, 1e-3, 100, np.random.default_rng(0))

    return search_of(engine), StartedSearch(engine, earlier, search_of)


def test_the_trials_hold_the_fresh_search_and_each_baseline_alone(engine):
    engine, earlier = engine
    fresh, started = searched(engine, earlier)
    fresh.explore()
    answer = started.run()
    around_nothing = started.searches["nothing"].trials
    assert [own.strengths for own in around_nothing] == [own.strengths for own in fresh.trials]
    for one, other in zip(around_nothing, fresh.trials, strict=True):
        np.testing.assert_allclose(one.scores, other.scores, atol=1e-8)
    alone = [own for own in started.trials if not own.fits]
    assert [own.strengths for own in alone] == [(np.inf,) * 3] * 4
    assert len(started.slopes) == len(started.trials)
    least = min(started.trials, key=lambda own: own.loss).loss
    # The answer is priced by rows not drawn; it is not far from the best of its trials.
    assert answer.decision.log_loss < least + 0.05
    kept = [weight for weight, _ in answer.parts]
    assert min(kept) >= SEARCH.negligible * max(kept) - 1e-12


def test_the_rest_of_an_answer_is_another_baseline():
    coefficients = np.array([[1.0], [2.0]])
    base, rest = Recalibration(np.array([3.0]), 1.0), Recalibration(np.array([5.0]), 0.5)
    found, slope = completed(coefficients, base, rest, 0.25)
    np.testing.assert_allclose(found[:, 0], [0.25 * (1 + 3) + 0.75 * 5, 0.5])
    assert slope == pytest.approx(0.25 + 0.75 * 0.5)
