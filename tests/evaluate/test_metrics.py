import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.calibration import calibration_curve as sklearn_calibration_curve

from seminaive.errors import InputError
from seminaive.evaluate.metrics import (
    METRICS,
    Predictions,
    accuracy,
    area_under_curve,
    calibration_curve,
    calibration_error,
    coefficient_error,
    log_loss,
    macro_f1,
    root_mean_squared_error,
    root_squared_probability_error,
    squared_error,
    zero_one_loss,
)

TRUTH = np.array([0, 1, 2])
PROBABILITIES = np.array([[0.7, 0.2, 0.1], [0.5, 0.3, 0.2], [0.0, 0.0, 1.0]])
# Squared distances from the truth, by hand: 0.09+0.04+0.01, 0.25+0.49+0.04, 0.
SQUARED_DISTANCES = 0.14 + 0.78
EXACT = 1e-12  # a handful of additions of numbers below one


def test_metrics_equal_hand_computed_values():
    assert zero_one_loss(TRUTH, PROBABILITIES.argmax(axis=1)) == pytest.approx(1 / 3, abs=EXACT)
    assert squared_error(TRUTH, PROBABILITIES) == pytest.approx(SQUARED_DISTANCES / 6, abs=EXACT)
    assert root_squared_probability_error(TRUTH, PROBABILITIES) == pytest.approx(
        np.sqrt(SQUARED_DISTANCES / 6), abs=EXACT
    )
    assert root_mean_squared_error(TRUTH, PROBABILITIES) == pytest.approx(
        np.sqrt(SQUARED_DISTANCES / 9), abs=EXACT
    )
    assert log_loss(TRUTH, PROBABILITIES) == pytest.approx(-(np.log(0.7) + np.log(0.3)) / 3, abs=EXACT)


def test_calibration_error_equals_hand_computed_value():
    # Two bins: probabilities 0.2, 0.4 with one event of two, and 0.9 with one of one.
    probabilities = np.array([[0.8, 0.2], [0.6, 0.4], [0.1, 0.9]])
    expected = (2 * abs(0.3 - 0.5) + abs(0.9 - 1.0)) / 3
    assert calibration_error([0, 1, 1], probabilities, n_bins=2) == pytest.approx(expected, abs=EXACT)


def test_calibration_curve_equals_that_of_scikit_learn():
    rng = np.random.default_rng(0)
    said = rng.uniform(size=500)
    truth = (rng.uniform(size=500) < said**2).astype(int)
    ours = calibration_curve(truth, np.column_stack([1 - said, said]), n_bins=10)
    frequency, probability = sklearn_calibration_curve(truth, said, n_bins=10)
    np.testing.assert_allclose(ours.frequency, frequency, atol=EXACT)
    np.testing.assert_allclose(ours.probability, probability, atol=EXACT)
    assert ours.count.sum() == 500


@given(st.integers(0, 2**32 - 1), st.integers(2, 6), st.integers(1, 40))
def test_losses_of_probabilities_keep_their_known_relations(seed, n_classes, n_rows):
    rng = np.random.default_rng(seed)
    probabilities = rng.dirichlet(np.ones(n_classes), size=n_rows)
    truth = rng.integers(n_classes, size=n_rows)
    rspe = root_squared_probability_error(truth, probabilities)
    rmse = root_mean_squared_error(truth, probabilities)
    assert 0 <= rspe <= 1
    assert rspe**2 == pytest.approx(squared_error(truth, probabilities), abs=EXACT)
    assert rmse == pytest.approx(rspe * np.sqrt(2 / n_classes), abs=EXACT)
    assert log_loss(truth, probabilities) >= 0


def test_perfect_answers_have_no_loss_and_a_score_of_one_whatever_the_metric():
    perfect = Predictions(TRUTH, TRUTH, np.eye(3))
    for metric in METRICS.values():
        assert metric(perfect) == pytest.approx(float(metric.greater_is_better), abs=1e-15)


def test_a_model_without_probabilities_has_measures_of_its_choices_only():
    answers = Predictions(TRUTH, np.array([0, 1, 1]), None)
    values = {name: metric(answers) for name, metric in METRICS.items()}
    assert values.pop("zero_one") == pytest.approx(1 / 3, abs=EXACT)
    assert values.pop("accuracy") == pytest.approx(2 / 3, abs=EXACT)
    assert values.pop("f1") == pytest.approx((1 + 2 / 3 + 0) / 3, abs=EXACT)
    assert np.isnan(list(values.values())).all()


@given(st.integers(0, 2**32 - 1))
def test_squared_error_of_coefficients_is_bias_plus_variance(seed):
    rng = np.random.default_rng(seed)
    estimates, truth = rng.normal(size=(7, 3)), rng.normal(size=3)
    error = coefficient_error(estimates, truth)
    assert error.mean_squared_error == pytest.approx(error.squared_bias + error.variance * 6 / 7, abs=EXACT)


@pytest.mark.parametrize(
    ("truth", "probabilities", "message"),
    [
        ([0, 1], [[0.5, 0.5]], "same rows"),
        (np.empty(0, int), np.empty((0, 2)), "no rows"),
        ([0.0], [[1.0, 0.0]], "class positions"),
        ([2], [[1.0, 0.0]], r"0 \.\.\. 1"),
        ([0], [[0.5, 0.4]], "sum to 0.9"),
        ([0], [[np.nan, 0.4]], "sum to nan"),
    ],
)
def test_bad_probabilities_are_refused_with_a_reason(truth, probabilities, message):
    with pytest.raises(InputError, match=message):
        log_loss(np.array(truth), probabilities)


def test_coefficients_of_unequal_number_or_one_repetition_are_refused():
    with pytest.raises(InputError, match="as many true coefficients"):
        coefficient_error(np.zeros((3, 2)), np.zeros(3))
    with pytest.raises(InputError, match="two repetitions"):
        coefficient_error(np.zeros((1, 2)), np.zeros(2))


def test_area_under_the_curve_is_the_chance_of_the_right_order():
    rng = np.random.default_rng(0)
    truth, said = rng.integers(0, 2, 40), rng.random(40).round(1)
    pairs = [(a > b) + (a == b) / 2 for a in said[truth == 1] for b in said[truth == 0]]
    both = np.column_stack([1 - said, said])
    assert area_under_curve(truth, both) == pytest.approx(np.mean(pairs), abs=EXACT)


def test_area_under_the_curve_leaves_out_classes_that_are_absent():
    probabilities = np.array([[0.7, 0.2, 0.1], [0.3, 0.6, 0.1]])
    assert area_under_curve([0, 1], probabilities) == 1.0
    assert np.isnan(area_under_curve([0, 0], probabilities))


def test_macro_f1_counts_every_class_the_same():
    truth, predicted = [0, 0, 0, 1, 2], [0, 0, 1, 1, 0]
    f1 = [2 * 2 / (3 + 3), 2 * 1 / (1 + 2), 0.0]
    assert macro_f1(truth, predicted) == pytest.approx(np.mean(f1), abs=EXACT)


def test_accuracy_is_what_the_error_leaves():
    assert accuracy([0, 1, 1], [0, 1, 0]) == pytest.approx(1 - zero_one_loss([0, 1, 1], [0, 1, 0]), abs=EXACT)
