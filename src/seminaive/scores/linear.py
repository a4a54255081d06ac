"""Additive scores that are linear in every number, as coefficients and an intercept."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from seminaive.arrays import Floats
    from seminaive.scores.additive_scores import AdditiveScores


def linear_coefficients(scores: AdditiveScores, n_numbers: int) -> tuple[Floats, Floats] | None:
    """Return one coefficient per class and number and one intercept per class, None where there are curves.

    ``scores = intercept + coefficients @ numbers``, for rows without a missing number and up to a constant
    per row. Both have mean zero over the classes. A number that no term looks at has the coefficient 0.

    Examples
    --------
    >>> from seminaive import NaiveBayes
    >>> model = NaiveBayes().fit([[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 1])
    >>> coefficients, intercept = linear_coefficients(model.scores_, 1)
    >>> bool(np.isclose(intercept[1] + 2.5 * coefficients[1, 0], 0))  # the boundary lies in the middle
    True
    """
    polynomials = scores.numeric.with_unit_scales().centred()
    _, constant, linear, quadratic = polynomials.coefficients.swapaxes(0, 1)
    clipped = np.isfinite(polynomials.low) | np.isfinite(polynomials.high)
    if scores.terms.features or scores.curves.n_terms or clipped.any() or quadratic.any():
        return None
    coefficients = np.zeros((n_numbers, scores.n_classes))
    np.add.at(coefficients, list(polynomials.features), linear)
    prior = scores.prior - scores.prior.mean()
    intercept = prior + (constant - polynomials.centres[:, None] * linear).sum(axis=0)
    return coefficients.T, intercept
