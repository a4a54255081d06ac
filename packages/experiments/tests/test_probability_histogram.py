"""Calibration and ROC curves from counts in bins."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from seminaive.evaluate.metrics import Predictions, area_under_curve, calibration_curve
from seminaive_experiments.probability_histogram import ProbabilityHistogram


@pytest.fixture
def predictions():
    rng = np.random.default_rng(0)
    said = rng.random(2000)
    truth = (rng.random(2000) < said**2).astype(np.int64)
    return Predictions(truth, (said > 0.5).astype(np.int64), np.column_stack([1 - said, said]))


def test_the_curve_is_the_calibration_curve_up_to_half_a_bin(predictions):
    said, seen = ProbabilityHistogram.of(predictions).calibration()
    exact = calibration_curve(predictions.truth, predictions.probabilities)
    np.testing.assert_allclose(said, exact.probability, atol=0.005)
    np.testing.assert_allclose(seen, exact.frequency, atol=0.01)  # points on the border of two bins


def test_the_area_under_the_curve_is_the_auc_up_to_the_bins(predictions):
    false, true = ProbabilityHistogram.of(predictions).roc()
    area = np.trapezoid(true, false)
    assert area == pytest.approx(area_under_curve(predictions.truth, predictions.probabilities), abs=1e-3)


def test_rows_of_several_classes_give_one_point_per_class():
    said = np.array([[0.7, 0.2, 0.1], [0.2, 0.2, 0.6], [0.1, 0.8, 0.1]])
    histogram = ProbabilityHistogram.of(Predictions(np.array([0, 1, 2]), said.argmax(axis=1), said))
    assert histogram.points.sum() == 9
    assert histogram.hits.sum() == 3
    false, true = histogram.roc()
    expected = roc_auc_score(np.eye(3).ravel(), said.ravel())
    assert np.trapezoid(true, false) == pytest.approx(expected, abs=1e-12)


def test_counts_of_folds_add_up_and_survive_being_written(predictions):
    half = [
        Predictions(predictions.truth[part], predictions.predicted[part], predictions.probabilities[part])
        for part in (slice(900), slice(900, None))
    ]
    joined = ProbabilityHistogram.of(half[0]) + ProbabilityHistogram.of(half[1])
    whole = ProbabilityHistogram.unpacked(ProbabilityHistogram.of(predictions).packed())
    np.testing.assert_array_equal(joined.points, whole.points)
    np.testing.assert_array_equal(joined.hits, whole.hits)


def test_one_class_only_has_no_roc_curve():
    said = np.array([[0.4, 0.6], [0.3, 0.7]])
    assert ProbabilityHistogram.of(Predictions(np.array([1, 1]), np.array([1, 1]), said)).roc() == ([], [])
