"""Recalibration of an earlier score is unpenalised: one intercept per class, one slope for all."""

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.optimize import minimize
from scipy.special import softmax

from seminaive.selection.baselines import Baseline
from seminaive.selection.recalibration import class_shares, recalibrate, shifted


def rows(n_classes, n_rows=150, seed=0):
    rng = np.random.default_rng(seed)
    earlier = rng.normal(size=(n_rows, 1 if n_classes == 2 else n_classes)) * 2 + 30
    labels = rng.integers(0, n_classes, n_rows)
    if n_classes > 2:
        earlier[np.arange(n_rows), labels] += 1
    return earlier, labels, rng.integers(1, 4, n_rows).astype(float)


def test_two_classes_are_recalibrated_as_by_a_generalised_linear_model():
    earlier, labels, weight = rows(2)
    oracle = sm.GLM(labels, sm.add_constant(earlier), family=sm.families.Binomial(), freq_weights=weight).fit(
        tol=1e-14
    )
    found = recalibrate(earlier, labels, weight, 2)
    np.testing.assert_allclose([*found.intercept, found.slope], oracle.params, rtol=1e-9)


def test_a_shift_is_a_generalised_linear_model_around_the_earlier_score():
    earlier, labels, weight = rows(2)
    oracle = sm.GLM(
        labels,
        np.ones(len(labels)),
        family=sm.families.Binomial(),
        freq_weights=weight,
        offset=earlier[:, 0],
    ).fit(tol=1e-14)
    found = shifted(earlier, labels, weight, 2)
    assert found.slope == 1.0
    np.testing.assert_allclose(found.intercept, oracle.params, rtol=1e-9)


def test_four_classes_share_one_slope():
    earlier, labels, weight = rows(4)

    def loss(parameters):
        posterior = softmax([*parameters[:3], 0] + parameters[3] * earlier, axis=1)
        return -weight @ np.log(posterior[np.arange(len(labels)), labels])

    best = minimize(loss, np.zeros(4), method="BFGS", options={"gtol": 1e-9}).x
    found = recalibrate(earlier, labels, weight, 4)
    np.testing.assert_allclose(found.slope, best[3], rtol=1e-5)
    expected = softmax([*best[:3], 0] + best[3] * earlier, axis=1)
    np.testing.assert_allclose(softmax(found.scores(earlier), axis=1), expected, atol=1e-6)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_no_score_of_a_recalibration_changes_the_likelihood_to_first_order(n_classes):
    earlier, labels, weight = rows(n_classes)
    scores = recalibrate(earlier, labels, weight, n_classes).scores(earlier)
    scores = np.hstack([np.zeros_like(scores), scores]) if n_classes == 2 else scores
    residuals = weight[:, None] * (np.eye(n_classes)[labels] - softmax(scores, axis=1))
    np.testing.assert_allclose(residuals.sum(axis=0), 0.0, atol=1e-8)
    away = earlier - earlier.mean(axis=0)
    np.testing.assert_allclose(np.vdot(residuals[:, -away.shape[1] :], away), 0.0, atol=1e-8)


def test_an_earlier_score_that_is_constant_keeps_its_slope():
    _, labels, weight = rows(2)
    found = recalibrate(np.full((len(labels), 1), 3.0), labels, weight, 2)
    assert found.slope == 1.0
    shares = class_shares(labels, weight, 2)
    np.testing.assert_allclose(found.intercept + 3.0, shares.intercept, rtol=1e-9)


def test_rows_that_the_earlier_score_separates_give_finite_numbers():
    earlier = np.array([[-1.0], [-2.0], [1.0], [2.0]])
    found = recalibrate(earlier, np.array([0, 0, 1, 1]), np.ones(4), 2)
    assert found.slope > 10
    assert np.isfinite(found.scores(earlier)).all()


def test_a_fold_is_recalibrated_on_its_training_rows_alone():
    earlier, labels, weight = rows(3)
    halves = np.arange(75), np.arange(75, 150)
    splits = [halves, halves[::-1]]
    baseline = Baseline.of(recalibrate, earlier, labels, weight, 3, splits)
    for part, (train, _) in zip(baseline.parts, splits, strict=False):
        of_fold = recalibrate(earlier[train], labels[train], weight[train], 3)
        assert part.slope == of_fold.slope
    assert len(baseline.offsets) == 3
