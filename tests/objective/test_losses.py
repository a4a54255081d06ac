"""Pointwise losses: finite differences, the compiled versions, and scores beyond all bounds.

The classes here are the plain NumPy version of kernels/compiled_log_loss.py: value, residual and curvature.
One column of scores is the log odds of label 1; more columns are one per class.
"""

import numpy as np
import pytest

from seminaive.kernels import compiled_log_loss as compiled

EXTREMES = np.array([-1e308, -1e300, -1e5, -709.0, -30.0, -1.0, 0.0, 1e-300, 2.0, 40.0, 750.0, 1e200, 1e308])
NOT_FINITE = np.array([np.nan, np.inf, -np.inf])


def probabilities(scores):
    """Return the probability of label 1, (n, 1), for one column of log odds; else of each class, (n, K)."""
    with np.errstate(over="ignore", invalid="ignore"):
        if scores.shape[1] == 1:
            small = np.exp(-np.abs(scores))
            return np.asarray(np.where(scores >= 0, 1.0, small) / (1.0 + small))
        odds = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(odds / odds.sum(axis=1, keepdims=True))


def _errors(scores, labels):
    """Return p - y, without loss of digits where p is near 1 for its own label."""
    if scores.shape[1] == 1:
        sign = 2.0 * labels[:, None] - 1.0
        return -sign * probabilities(-sign * scores)
    errors = probabilities(scores)
    rows = np.arange(len(labels))
    errors[rows, labels] = 0.0
    errors[rows, labels] = -errors.sum(axis=1)
    return errors


def _not_a_number_unless_finite(values, scores):
    return np.where(np.isfinite(scores).all(axis=1), values, np.nan)


class LogLoss:
    """``-log p_y``: the logistic loss for one column of scores, the softmax cross-entropy for more."""

    def value(self, scores, labels):
        """Return the loss of each row, (n,)."""
        with np.errstate(over="ignore", invalid="ignore"):
            if scores.shape[1] == 1:
                margin = (2.0 * labels - 1.0) * scores[:, 0]
                loss = np.maximum(0.0, -margin) + np.log1p(np.exp(-np.abs(margin)))
            else:
                highest = scores.max(axis=1)
                odds = np.exp(scores - highest[:, None])
                loss = np.log(odds.sum(axis=1)) + (highest - scores[np.arange(len(labels)), labels])
        return _not_a_number_unless_finite(loss, scores)

    def residual(self, scores, labels):
        """Return the derivative by the scores, p - y, (n, K)."""
        return _errors(scores, labels)

    def curvature(self, scores, labels):
        """Return the second derivatives by the scores, diag(p) - p p', (n, K, K)."""
        del labels
        return _covariance(scores)


class SquaredError:
    """``|p - y|^2 / 2`` over all classes: for one column of log odds both classes count."""

    def value(self, scores, labels):
        """Return the loss of each row, (n,)."""
        both = 2.0 if scores.shape[1] == 1 else 1.0
        loss = 0.5 * both * np.square(_errors(scores, labels)).sum(axis=1)
        return _not_a_number_unless_finite(loss, scores)

    def residual(self, scores, labels):
        """Return the derivative by the scores, (n, K)."""
        both = 2.0 if scores.shape[1] == 1 else 1.0
        errors = _errors(scores, labels)
        return both * np.asarray(np.einsum("nab,nb->na", _covariance(scores), errors))

    def curvature(self, scores, labels):
        """Return the second derivatives by the scores, (n, K, K); they need not be positive."""
        p, errors, covariance = probabilities(scores), _errors(scores, labels), _covariance(scores)
        if scores.shape[1] == 1:
            variance = covariance[:, 0, 0]
            second = 2.0 * (variance**2 + errors[:, 0] * variance * (1.0 - 2.0 * p[:, 0]))
            return np.asarray(second[:, None, None])
        away = np.eye(p.shape[1]) - p[:, None, :]  # of p_k by the scores, divided by p_k
        second = np.einsum("nk,nka,nkb->nab", errors * p, away, away)
        second -= (errors * p).sum(axis=1)[:, None, None] * covariance
        return np.asarray(second + covariance @ covariance)


def _covariance(scores):
    """Return diag(p) - p p', (n, K, K); p (1 - p) for one column."""
    p = probabilities(scores)
    if scores.shape[1] == 1:
        return np.asarray((p * probabilities(-scores))[:, :, None])
    return np.asarray(p[:, :, None] * (np.eye(p.shape[1]) - p[:, None, :]))


def compiled_pass(loss, scores, labels, weights):
    """Return the sum of the losses and the residuals that a compiled pass gives."""
    n_columns = scores.shape[1]
    if n_columns == 1:
        found = scores[:, 0].copy()
        kernel = (
            compiled.binary_log_loss_residuals
            if isinstance(loss, LogLoss)
            else compiled.binary_squared_error_residuals
        )
        return kernel(found, labels, weights), found[:, None]
    found = np.zeros((len(scores), -(-n_columns // 4) * 4))
    found[:, :n_columns] = scores
    kernel = compiled.log_loss_residuals if isinstance(loss, LogLoss) else compiled.squared_error_residuals
    return kernel(found, labels, weights, n_columns), found[:, :n_columns]


def rows_of_extremes(n_columns, seed=0):
    """Return rows of extreme scores, every one with every label."""
    rng = np.random.default_rng(seed)
    scores = (
        EXTREMES[:, None] if n_columns == 1 else EXTREMES[rng.integers(0, len(EXTREMES), (60, n_columns))]
    )
    n_classes = max(2, n_columns)
    return np.repeat(scores, n_classes, axis=0), np.tile(np.arange(n_classes), len(scores))


@pytest.mark.parametrize("loss", [LogLoss(), SquaredError()])
@pytest.mark.parametrize("n_columns", [1, 3, 5])
class TestLosses:
    def test_residual_and_curvature_are_finite_differences(self, loss, n_columns):
        rng = np.random.default_rng(1)
        scores = rng.normal(scale=2.0, size=(50, n_columns))
        labels = rng.integers(0, max(2, n_columns), 50)
        step = 1e-5
        residual, curvature = loss.residual(scores, labels), loss.curvature(scores, labels)
        for c in range(n_columns):
            up, down = scores.copy(), scores.copy()
            up[:, c] += step
            down[:, c] -= step
            slope = (loss.value(up, labels) - loss.value(down, labels)) / (2 * step)
            bend = (loss.residual(up, labels) - loss.residual(down, labels)) / (2 * step)
            # Third derivatives, below 1, times 1e-10, and rounding of 1e-16 over the step.
            np.testing.assert_allclose(residual[:, c], slope, atol=1e-9)
            np.testing.assert_allclose(curvature[:, :, c], bend, atol=1e-9)

    def test_the_compiled_pass_is_the_numpy_version(self, loss, n_columns):
        rng = np.random.default_rng(2)
        scores = rng.normal(scale=4.0, size=(700, n_columns))
        labels = rng.integers(0, max(2, n_columns), 700)
        weights = rng.random(700) * 3
        total, residual = compiled_pass(loss, scores, labels, weights)
        assert total == pytest.approx(weights @ loss.value(scores, labels), rel=1e-13)
        expected = weights[:, None] * loss.residual(scores, labels)
        np.testing.assert_allclose(residual, expected, rtol=1e-11, atol=1e-15)

    def test_extreme_scores_have_the_loss_of_the_numpy_version(self, loss, n_columns):
        scores, labels = rows_of_extremes(n_columns)
        for row, label in zip(scores, labels, strict=True):
            one = row[None], np.array([label])
            total, residual = compiled_pass(loss, *one, np.ones(1))
            with np.errstate(over="ignore"):
                expected = loss.value(*one)[0]
            # The compiled version takes log(1 + e), not log1p(e), and p - 1: both round to 1e-16.
            assert total == pytest.approx(expected, rel=1e-13, abs=1e-15), (row, label)
            assert expected >= 0.0
            np.testing.assert_allclose(residual, loss.residual(*one), rtol=1e-11, atol=1e-15)

    @pytest.mark.parametrize("bad", NOT_FINITE)
    def test_scores_that_are_not_finite_never_have_a_small_loss(self, loss, n_columns, bad):
        n_classes = max(2, n_columns)
        for place in range(n_columns):
            for label in range(n_classes):
                scores = np.linspace(-1.0, 1.0, n_columns)[None] * np.ones((9, 1))
                labels = np.full(9, label)
                scores[4, place] = bad
                with np.errstate(invalid="ignore", over="ignore"):
                    total, _ = compiled_pass(loss, scores, labels, np.ones(9))
                assert not total < np.inf
                assert np.array_equal(np.isnan(loss.value(scores, labels)), np.arange(9) == 4)
