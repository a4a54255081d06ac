"""From scores to a loss and its derivative: what a pass over the rows does between gather and scatter.

Legend: i row, c class, s score, p posterior, y label, e error p - y, w weight; P score columns: one per
class, padded to a multiple of four. Two classes have a single score, the log-odds of class 1.

A score that is not finite makes the loss NaN or infinite, so that a line search never takes overflow for a
good fit; residuals are then arbitrary. Products and sums may be contracted into one instruction, which is
faster and more exact. tests/objective/test_losses.py has the same in NumPy.
"""

import math

import numpy as np

from seminaive.kernels.compilation import njit
from seminaive.kernels.elementary import exponential, logarithm, take_logarithms

# Rows that are worked on while they are in the first-level cache.
BLOCK = 256
# Odds of more than e**LARGEST are worked out with care; a sum that has them is above HELD.
LARGEST = 690.0
HELD = 1e299


@njit(inline="always")
def against(margin, small):
    """Return the probability that the logistic model gives to the other class than that of the margin.

    The margin is the log odds of a class, small is exp(-|margin|). No digits are lost where it is near 0.
    """
    return (small if margin >= 0.0 else 1.0) * (1.0 / (1.0 + small))


@njit(inline="always")
def shortfall(margin):
    """Return max(0, -margin), and NaN for an infinite margin, so that overflow never counts as a good fit.

    Together with log(1 + exp(-|margin|)) it is the log loss.
    """
    return (0.0 if margin >= 0.0 else -margin) + 0.0 * margin


@njit(inline="always")
def softmax_loss(lead, others, total):
    """Return the log loss of a row, of whose scores the largest was taken off before exp.

    lead: the score of its class less the largest other one; others: the sum of the other classes'
    exponentials; total: that of all. No digits are lost where the loss is near 0.
    """
    return math.log1p(others) if lead >= 0.0 else math.log(total) - lead


@njit(inline="always")
def largest(scores):
    """Return the largest of the scores (C,) of one row."""
    highest = scores[0]
    for c in range(1, scores.shape[0]):
        highest = scores[c] if scores[c] > highest else highest
    return highest


@njit(inline="always")
def exponentiate(scores, highest):
    """Replace the scores (C,) of one row by e**(s - highest), and return their sum."""
    total = 0.0
    for c in range(scores.shape[0]):
        scores[c] = exponential(scores[c] - highest)
        total += scores[c]
    return total


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def binary_log_loss_residuals(scores, labels, weights):
    """Replace log-odds by w (p - y), and return the sum of -w log p_y.

    scores (n,) float64, labels (n,) int64, 0 or 1, weights (n,) float64.
    """
    loss = 0.0
    small = np.empty(BLOCK)
    losses = np.empty(BLOCK)
    for low in range(0, scores.shape[0], BLOCK):
        score = scores[low : low + BLOCK]
        label = labels[low : low + BLOCK]
        weight = weights[low : low + BLOCK]
        m = score.shape[0]
        # One function per loop: so each is vectorised.
        for i in range(m):
            small[i] = exponential(-abs(score[i]))
        for i in range(m):
            losses[i] = logarithm(1.0 + small[i])
        for i in range(m):
            sign = 2.0 * np.float64(label[i]) - 1.0
            losses[i] = weight[i] * (losses[i] + shortfall(sign * score[i]))
        for i in range(m):
            sign = 2.0 * np.float64(label[i]) - 1.0
            score[i] = -sign * weight[i] * against(sign * score[i], small[i])
        loss += losses[:m].sum()
    return loss


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def binary_squared_error_residuals(scores, labels, weights):
    """Replace log-odds by the derivative of w/2 |p - y|^2 over both classes, and return its sum.

    scores (n,) float64, labels (n,) int64, weights (n,) float64.
    """
    n = scores.shape[0]
    losses = np.empty(n)
    for i in range(n):
        s = scores[i]
        sign = 2.0 * np.float64(labels[i]) - 1.0
        small = exponential(-abs(s))
        e = against(sign * s, small)
        # Both classes err by the same amount, hence twice the half.
        losses[i] = weights[i] * (e * e + 0.0 * s)
        scores[i] = -2.0 * sign * weights[i] * e * against(-s, small) * against(s, small)
    return losses.sum()


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def _exponentials(scores, by_class, totals):
    """Fill by_class (C, m) with e**(s - highest), totals (m,) with its sums; return highest (m,).

    Class by class, so that every loop runs along the rows and is vectorised.
    """
    n_classes, m = by_class.shape
    for i in range(m):
        for c in range(n_classes):
            by_class[c, i] = scores[i, c]
    highest = by_class[0].copy()
    for c in range(1, n_classes):
        of_class = by_class[c]
        for i in range(m):
            above = of_class[i] > highest[i]  # a plain choice: max would look for NaN
            highest[i] = of_class[i] if above else highest[i]
    totals[:] = 0.0
    for c in range(n_classes):
        of_class = by_class[c]
        for i in range(m):
            of_class[i] = exponential(of_class[i] - highest[i]) + 0.0 * of_class[i]
        for i in range(m):
            totals[i] += of_class[i]
    return highest


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def log_loss_residuals(scores, labels, weights, n_classes):
    """Replace scores by w (p - y), and return the sum of -w log p_y.

    scores (n, P) float64, of which the first n_classes columns count, labels (n,) int64, weights (n,)
    float64.
    """
    loss = 0.0
    width = scores.shape[1]
    flat = scores.reshape(scores.size)
    odds = np.empty(BLOCK * width)
    totals = np.empty(BLOCK)
    losses = np.empty(BLOCK)
    for low in range(0, scores.shape[0], BLOCK):
        m = min(BLOCK, scores.shape[0] - low)
        block = flat[low * width : (low + m) * width]
        label = labels[low : low + m]
        weight = weights[low : low + m]
        # Against the true class: its own odds are 1, so that totals are at least 1.
        for i in range(m):
            true = block[i * width + label[i]]
            for c in range(width):
                odds[i * width + c] = block[i * width + c] - true
        for t in range(m * width):
            above = odds[t] > LARGEST  # a plain choice: min would look for NaN
            odds[t] = exponential(LARGEST if above else odds[t]) + 0.0 * block[t]
        for i in range(m):
            total = 0.0
            for c in range(n_classes):
                total += odds[i * width + c]
            totals[i] = total
        extreme = False
        for i in range(m):
            losses[i] = 0.0 * totals[i]  # NaN stays NaN; the logarithm below would not keep it
            extreme = extreme or totals[i] > HELD
        if extreme:
            _work_out_extremes(block, label, n_classes, odds, totals, losses)
        for i in range(m):
            share = weight[i] / totals[i]
            for c in range(width):
                block[i * width + c] = odds[i * width + c] * share
            block[i * width + label[i]] -= weight[i]
        take_logarithms(totals[:m])
        for i in range(m):
            losses[i] = weight[i] * (losses[i] + totals[i])
        loss += losses[:m].sum()
    return loss


@njit(cache=True, nogil=True, error_model="numpy")
def _work_out_extremes(scores, labels, n_classes, odds, totals, losses):
    """Redo rows whose totals are held back: odds against the likeliest class, the rest into losses.

    scores, odds (m P,), labels (m,), totals, losses (m,); the last three float64 are changed.
    """
    width = scores.shape[0] // labels.shape[0]
    for i in range(labels.shape[0]):
        if totals[i] > HELD:
            highest = scores[i * width : i * width + n_classes].max()
            totals[i] = 0.0
            for c in range(i * width, i * width + n_classes):
                odds[c] = exponential(scores[c] - highest)
                totals[i] += odds[c]
            losses[i] = highest - scores[i * width + labels[i]]


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def squared_error_residuals(scores, labels, weights, n_classes):
    """Replace scores by the derivative of w/2 |e|^2, w p_c (e_c - sum_k p_k e_k), and return its sum.

    scores (n, P) float64, of which the first n_classes columns count, labels (n,) int64, weights (n,)
    float64.
    """
    loss = 0.0
    buffer = np.empty(n_classes * BLOCK)
    for low in range(0, scores.shape[0], BLOCK):
        block = scores[low : low + BLOCK]
        m = block.shape[0]
        by_class = buffer[: n_classes * m].reshape((n_classes, m))
        totals = np.empty(m)
        _exponentials(block, by_class, totals)
        for i in range(m):
            y = labels[low + i]
            squares = 0.0
            mean = 0.0
            for c in range(n_classes):
                p = by_class[c, i] / totals[i]
                e = p - 1.0 if c == y else p
                block[i, c] = p
                squares += e * e
                mean += p * e
            loss += 0.5 * weights[low + i] * squares
            for c in range(n_classes):
                p = block[i, c]
                e = p - 1.0 if c == y else p
                block[i, c] = weights[low + i] * p * (e - mean)
    return loss


@njit(cache=True, nogil=True)
def softmax_curvature(posterior, weights, scores):
    """Replace the scores s of each weighting f by its second derivatives times s: w p (s - sum p s).

    posterior (n, F, C), weights (n, P) the products w p, columns of all weightings side by side, scores
    (n, P); all float64. Padding becomes 0.
    """
    n_weightings, n_classes = posterior.shape[1], posterior.shape[2]
    for i in range(scores.shape[0]):
        for f in range(n_weightings):
            first = f * n_classes
            mean = 0.0
            for c in range(n_classes):
                mean += posterior[i, f, c] * scores[i, first + c]
            for c in range(n_classes):
                scores[i, first + c] = weights[i, first + c] * (scores[i, first + c] - mean)
        for c in range(n_weightings * n_classes, scores.shape[1]):
            scores[i, c] = 0.0
