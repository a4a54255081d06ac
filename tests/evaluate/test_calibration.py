import numpy as np
import pytest
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression

from seminaive.evaluate.calibration import calibration_line, smooth_frequency


@pytest.fixture(scope="module")
def said():
    rng = np.random.default_rng(0)
    scores = 2 * rng.normal(size=400)
    truth = (rng.random(400) < expit(0.4 + 0.6 * scores)).astype(int)
    p = expit(scores)
    return truth, np.column_stack([1 - p, p]), rng.uniform(0.5, 2, 400)


def test_the_line_is_a_weighted_logistic_regression_on_log_odds(said):
    truth, probabilities, weight = said
    found = calibration_line(truth, probabilities, weight)
    model = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000)
    model.fit(logit(probabilities[:, 1:]), truth, sample_weight=weight)
    assert found.slope == pytest.approx(model.coef_[0, 0], abs=1e-4)
    assert found.intercepts[1] == pytest.approx(model.intercept_[0], abs=1e-4)


def test_a_fixed_slope_gives_the_shift_at_which_expected_and_seen_shares_agree(said):
    truth, probabilities, weight = said
    shift = calibration_line(truth, probabilities, weight, slope=1.0).intercepts[1]
    expected = np.average(expit(logit(probabilities[:, 1]) + shift), weights=weight)
    assert expected == pytest.approx(np.average(truth, weights=weight), abs=1e-5)


def test_probabilities_that_are_too_sure_in_all_classes_have_the_slope_that_mends_them():
    rng = np.random.default_rng(1)
    scores = rng.normal(size=(20_000, 3))
    p = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    truth = (rng.random(20_000)[:, None] > p.cumsum(axis=1)).sum(axis=1)
    sure = p**2 / (p**2).sum(axis=1, keepdims=True)
    assert calibration_line(truth, sure, np.ones(20_000)).slope == pytest.approx(0.5, abs=0.02)


def test_certain_answers_that_are_sometimes_wrong_have_a_slope():
    truth = np.tile([0, 1], 200)
    said = np.where(np.arange(400) % 20 < 2, 1 - truth, truth)
    found = calibration_line(truth, np.eye(2)[said], np.ones(400))
    # Log odds of nine right to one wrong, spread over those of certainty.
    assert found.slope == pytest.approx(np.log(9) / np.log(1 / np.finfo(float).eps), rel=0.01)


@pytest.mark.parametrize("odds", [np.tile([-1.0, 1.0], 20), np.zeros(40)])
def test_separated_classes_and_constant_answers_have_no_slope(odds):
    truth = np.tile([0, 1], 20)
    p = expit(odds)
    assert np.isnan(calibration_line(truth, np.column_stack([1 - p, p]), np.ones(40)).slope)


def test_weights_of_a_smooth_curve_are_repeated_rows():
    rng = np.random.default_rng(2)
    said, weight = rng.random(60), rng.integers(1, 4, 60)
    seen = (rng.random(60) < said).astype(float)
    at = np.linspace(0.1, 0.9, 9)
    repeated = smooth_frequency(np.repeat(said, weight), np.repeat(seen, weight), np.ones(weight.sum()), at)
    assert np.abs(smooth_frequency(said, seen, weight.astype(float), at) - repeated).max() < 1e-9


def test_a_line_is_smoothed_to_itself_and_many_rows_are_grouped_without_harm():
    said = np.linspace(0, 1, 5000)
    at = np.array([0.2, 0.5, 0.8, 1.5])
    found = smooth_frequency(said, 0.1 + 0.8 * said, np.ones(5000), at)
    assert found[:3] == pytest.approx(0.1 + 0.8 * at[:3], abs=1e-6)
    assert np.isnan(found[3])
