"""The loss of each row: what the compiled losses sum, its derivative, soft labels, and extreme scores."""

import numpy as np
import pytest

from seminaive.kernels import compiled_log_loss as compiled
from seminaive.objective.log_loss import (
    POINTWISE,
    expected_log_losses,
    expected_residuals,
    log_losses,
    squared_losses,
    zero_one_losses,
)

EXTREMES = np.array([-1e300, -1e5, -745.0, -30.0, 0.0, 1e-300, 2.0, 40.0, 750.0, 1e200])
COLUMNS = [1, 3, 5]


def rows_of_scores(n_columns, n_rows=300, seed=0):
    rng = np.random.default_rng(seed)
    scores = rng.normal(scale=4.0, size=(n_rows, n_columns))
    return scores, rng.integers(0, max(2, n_columns), n_rows)


def soft_labels(n_columns, n_rows=300, seed=1):
    """Return probabilities of all classes, and the columns of them that losses take."""
    by_class = np.random.default_rng(seed).dirichlet(np.ones(max(2, n_columns)), n_rows)
    return by_class, by_class[:, 1:] if n_columns == 1 else by_class


def compiled_losses(name, scores, labels):
    """Return the loss of each row by the compiled losses, one row at a time."""
    n_columns = scores.shape[1]
    padded = np.zeros((len(scores), -(-n_columns // 4) * 4))
    padded[:, :n_columns] = scores
    found = []
    for row, padded_row, label in zip(scores, padded, labels, strict=True):
        one = np.array([label]), np.ones(1)
        if n_columns == 1:
            found.append(getattr(compiled, f"binary_{name}_residuals")(row.copy(), *one))
        else:
            found.append(getattr(compiled, f"{name}_residuals")(padded_row[None].copy(), *one, n_columns))
    return np.array(found)


@pytest.mark.parametrize("n_columns", COLUMNS)
@pytest.mark.parametrize(("name", "losses"), [("log_loss", log_losses), ("squared_error", squared_losses)])
def test_losses_are_those_that_the_compiled_pass_sums(n_columns, name, losses):
    scores, labels = rows_of_scores(n_columns)
    expected = compiled_losses(name, scores, labels)
    # The compiled losses take log(1 + e) and 1 - p, which round to 1e-16.
    np.testing.assert_allclose(losses(scores, labels), expected, rtol=1e-11, atol=1e-15)


@pytest.mark.parametrize("n_columns", COLUMNS)
def test_the_zero_one_loss_counts_the_rows_that_another_class_wins(n_columns):
    scores, labels = rows_of_scores(n_columns)
    by_class = np.hstack([-scores, scores]) if n_columns == 1 else scores
    np.testing.assert_array_equal(zero_one_losses(scores, labels), by_class.argmax(axis=1) != labels)
    # Of equal scores the first class counts.
    tied = np.zeros((2, n_columns))
    assert zero_one_losses(tied, np.array([0, 1])).tolist() == [0.0, 1.0]


@pytest.mark.parametrize("losses", POINTWISE.values(), ids=POINTWISE)
def test_two_classes_lose_the_same_by_log_odds_and_by_scores_of_both(losses):
    scores, labels = rows_of_scores(1)
    both = np.hstack([-scores / 3, 2 * scores / 3])
    np.testing.assert_allclose(losses(both, labels), losses(scores, labels), rtol=1e-11, atol=1e-15)


@pytest.mark.parametrize("n_columns", COLUMNS)
def test_a_soft_label_loses_the_mixture_of_what_the_classes_lose(n_columns):
    scores, _ = rows_of_scores(n_columns)
    by_class, columns = soft_labels(n_columns)
    mixture = sum(
        by_class[:, c] * log_losses(scores, np.full(len(scores), c)) for c in range(by_class.shape[1])
    )
    np.testing.assert_allclose(expected_log_losses(scores, columns), mixture, rtol=1e-12)


@pytest.mark.parametrize("n_columns", COLUMNS)
def test_a_certain_label_loses_its_log_loss(n_columns):
    scores, labels = rows_of_scores(n_columns)
    certain = np.eye(max(2, n_columns))[labels]
    certain = certain[:, 1:] if n_columns == 1 else certain
    found = expected_log_losses(scores, certain)
    # The score of the label is taken off the log of the sum: digits of the score's size.
    np.testing.assert_allclose(found, log_losses(scores, labels), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("n_columns", COLUMNS)
def test_residuals_are_finite_differences(n_columns):
    scores, _ = rows_of_scores(n_columns)
    _, probabilities = soft_labels(n_columns)
    residuals, step = expected_residuals(scores, probabilities), 1e-5
    for c in range(n_columns):
        up, down = scores.copy(), scores.copy()
        up[:, c] += step
        down[:, c] -= step
        slope = expected_log_losses(up, probabilities) - expected_log_losses(down, probabilities)
        # Third derivatives, below 1, times 1e-10, and rounding of 1e-15 over the step.
        np.testing.assert_allclose(residuals[:, c], slope / (2 * step), atol=1e-9)


@pytest.mark.parametrize("n_columns", COLUMNS)
def test_probabilities_lose_least_under_themselves(n_columns):
    by_class, probabilities = soft_labels(n_columns)
    logs = np.log(by_class)
    scores = logs[:, 1:] - logs[:, :1] if n_columns == 1 else logs
    np.testing.assert_allclose(expected_residuals(scores, probabilities), 0.0, atol=1e-14)
    entropy = -(by_class * logs).sum(axis=1)
    np.testing.assert_allclose(expected_log_losses(scores, probabilities), entropy, rtol=1e-12)


@pytest.mark.parametrize("n_columns", COLUMNS)
def test_axes_between_rows_and_columns_are_kept(n_columns):
    scores, labels = rows_of_scores(n_columns)
    _, probabilities = soft_labels(n_columns)
    trials = np.stack([scores, 0.5 * scores, -scores], axis=1)
    for function, second in (
        *((losses, labels) for losses in POINTWISE.values()),
        (expected_log_losses, probabilities),
        (expected_residuals, probabilities),
    ):
        one_by_one = [function(trials[:, k], second) for k in range(3)]
        np.testing.assert_array_equal(function(trials, second), np.stack(one_by_one, axis=1))


@pytest.mark.parametrize("n_columns", COLUMNS)
def test_extreme_scores_have_finite_losses_and_residuals(n_columns):
    rng = np.random.default_rng(0)
    scores = EXTREMES[:, None] if n_columns == 1 else rng.choice(EXTREMES, (60, n_columns))
    n_classes = max(2, n_columns)
    labels = np.tile(np.arange(n_classes), len(scores))
    scores = np.repeat(scores, n_classes, axis=0)
    _, probabilities = soft_labels(n_columns, len(scores))
    for losses in POINTWISE.values():
        found = losses(scores, labels)
        assert np.isfinite(found).all()
        assert (found >= 0).all()
    assert np.isfinite(expected_log_losses(scores, probabilities)).all()
    residuals = expected_residuals(scores, probabilities)
    assert (np.abs(residuals) <= 1).all()
    # The log loss of a class is what its score is behind the largest, once that is far ahead.
    np.testing.assert_allclose(
        log_losses(scores, labels), compiled_losses("log_loss", scores, labels), rtol=1e-13, atol=1e-15
    )


@pytest.mark.parametrize("n_columns", [3, 5])
def test_equal_large_scores_are_equal_chances(n_columns):
    labels = np.arange(n_columns)
    for size in (1e5, 1e20, 1e300):
        scores = np.full((n_columns, n_columns), size)
        np.testing.assert_allclose(log_losses(scores, labels), np.log(n_columns), rtol=1e-13)
        found = expected_log_losses(scores, np.eye(n_columns))
        np.testing.assert_allclose(found, np.log(n_columns), rtol=1e-13)
