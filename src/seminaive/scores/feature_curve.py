"""All that a model says about one number, as one curve: polynomial, knots and bins together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from seminaive.encode.saved_by_fields import SavedByFields
from seminaive.scores.curve_terms import CurveTerms

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from seminaive.arrays import Floats
    from seminaive.encode import NumericColumn
    from seminaive.scores.additive_scores import AdditiveScores
    from seminaive.scores.numeric_terms import NumericTerms


def curve_of_number(
    scores: AdditiveScores, column: NumericColumn, number: int, table: Floats | None
) -> FeatureCurve | None:
    """Return the sum of all terms of one number, None where no term looks at it alone.

    Parameters
    ----------
    number : int
        Its position among the numbers.
    table : ndarray of shape (n_codes, n_classes) or None
        What its codes say: a step for each bin, or values at nodes, between which they are interpolated.
    """
    polynomials = scores.numeric.restricted(_terms_of(scores.numeric.features, number))
    curves = scores.curves.restricted(_terms_of(scores.curves.features, number))
    if table is not None and column.nodes is not None:
        at_nodes, missing = table[: column.n_present], table[column.n_present]
        curves, table = curves.joined(CurveTerms.of([(number, column.nodes, at_nodes, missing)])), None
    if table is None and not polynomials.n_terms and not curves.n_terms:
        return None
    return FeatureCurve.merged(polynomials, curves, column.cuts, table)


def _terms_of(features: tuple[int, ...], number: int) -> list[int]:
    return [term for term, feature in enumerate(features) if feature == number]


@dataclass(frozen=True)
class FeatureCurve(SavedByFields):
    """A piecewise-quadratic curve of one number, with jumps allowed, one value per class.

    Piece i holds for ``edges[i - 1] < x <= edges[i]``, the first piece for all smaller and the last one for
    all larger numbers. There ``z = (x - anchors[i]) * scale`` and the value is
    ``coefficients[i, 0] + coefficients[i, 1] z + coefficients[i, 2] z**2``.

    Parameters
    ----------
    edges : ndarray of shape (n_pieces - 1,)
        Increasing.
    anchors : ndarray of shape (n_pieces,)
    scale : float
        A power of two, other than 1 for numbers so small that their squares would vanish.
    coefficients : ndarray of shape (n_pieces, 3, n_classes)
    missing : ndarray of shape (n_classes,)
        The value where the number is missing.

    Examples
    --------
    Two bins, cut at 2, and a slope of 1 in class 1:

    >>> import numpy as np
    >>> from seminaive.scores import CurveTerms, NumericTerms
    >>> slope = NumericTerms((0,), np.zeros(1), np.array([[[0, 9.0], [0, 0], [0, 1], [0, 0]]]))
    >>> bins = np.array([[0, 0], [0, 10.0], [0, 0]])
    >>> FeatureCurve.merged(slope, CurveTerms.none(2), (2.0,), bins).at(np.array([1, 2, 3, np.nan]))[:, 1]
    array([ 1.,  2., 13.,  9.])
    """

    edges: Floats
    anchors: Floats
    scale: float
    coefficients: Floats
    missing: Floats

    @classmethod
    def merged(
        cls, polynomials: NumericTerms, curves: CurveTerms, cuts: Sequence[float] | None, bins: Floats | None
    ) -> FeatureCurve:
        """Return the sum of all terms of one number.

        Parameters
        ----------
        polynomials, curves : NumericTerms, CurveTerms
            Terms of this number only.
        cuts : sequence of float or None
            Cut points of the bins.
        bins : ndarray of shape (n_bins + 1 or more, n_classes) or None
            The contribution of each bin, then that of a missing number.
        """
        limits = [limit[np.isfinite(limit)] for limit in (polynomials.low, polynomials.high)]
        own_cuts = np.asarray(() if bins is None or cuts is None else cuts, dtype=np.float64)
        edges = np.unique(np.concatenate([own_cuts, *limits, curves.knots]))
        lower, upper = np.append(-np.inf, edges), np.append(edges, np.inf)
        if polynomials.n_terms:  # expanded close to the data, however far away a piece ends
            anchors = np.minimum(np.maximum(polynomials.centres[0], lower), upper)
        else:
            anchors = edges[np.maximum(np.arange(len(edges) + 1) - 1, 0)] if len(edges) else np.zeros(1)
        scale = float(polynomials.scales.max(initial=1.0))
        n_classes = polynomials.coefficients.shape[2]
        curve = cls(edges, anchors, scale, np.zeros((len(anchors), 3, n_classes)), np.zeros(n_classes))
        if bins is not None:
            curve.coefficients[:, 0] += bins[np.searchsorted(own_cuts, upper, side="left")]
            curve.missing[:] += bins[len(own_cuts) + 1]
        for term in range(polynomials.n_terms):
            curve._add_polynomial(polynomials, term, lower, upper)
        for term in range(curves.n_terms):
            curve._add_knots(curves, term, lower, upper)
        return curve

    def _add_polynomial(self, terms: NumericTerms, term: int, lower: Floats, upper: Floats) -> None:
        """Add one polynomial, expanded about the anchors; constant outside of its range."""
        low, high, centre, scale = (
            getattr(terms, name)[term] for name in ("low", "high", "centres", "scales")
        )
        missing, constant, linear, quadratic = terms.coefficients[term]
        self.missing[:] += missing
        inside = (upper > low) & (lower < high)
        at = np.where(upper <= low, low, np.where(lower >= high, high, self.anchors))
        shift = ((at - centre) * scale)[:, None]
        ratio = scale / self.scale
        self.coefficients[:, 0] += constant + shift * (linear + shift * quadratic)
        self.coefficients[:, 1] += inside[:, None] * (linear + 2 * shift * quadratic) * ratio
        self.coefficients[:, 2] += inside[:, None] * quadratic * ratio**2

    def _add_knots(self, terms: CurveTerms, term: int, lower: Floats, upper: Floats) -> None:
        """Add one piecewise-linear curve; every knot is an edge."""
        block = slice(terms.starts[term], terms.starts[term + 1])
        knots, values = terms.knots[block], terms.values[block]
        self.missing[:] += terms.missing[term]
        inside = (lower >= knots[0]) & (upper <= knots[-1])
        at = np.clip(self.anchors, knots[0], knots[-1])
        first = np.clip(np.searchsorted(knots, lower, side="right") - 1, 0, max(len(knots) - 2, 0))
        self.coefficients[:, 0] += np.stack([np.interp(at, knots, column) for column in values.T], axis=1)
        if len(knots) > 1:
            slopes = np.diff(values, axis=0) / np.diff(knots)[:, None]
            self.coefficients[:, 1] += inside[:, None] * slopes[first] / self.scale

    @property
    def n_pieces(self) -> int:
        """Return the number of pieces."""
        return len(self.anchors)

    def at(self, numbers: Floats) -> Floats:
        """Return the values at some numbers, (n_numbers, n_classes)."""
        absent = np.isnan(numbers)
        piece = np.searchsorted(self.edges, np.where(absent, 0.0, numbers), side="left")
        z = ((numbers - self.anchors[piece]) * self.scale)[:, None]
        constant, linear, quadratic = (self.coefficients[piece, power] for power in range(3))
        values: Floats = constant + z * (linear + z * quadratic)
        return np.where(absent[:, None], self.missing, values)

    def plus(self, constant: Floats) -> FeatureCurve:
        """Return the curve, and its value for missing, moved by a constant per class."""
        coefficients = self.coefficients.copy()
        coefficients[:, 0] += constant
        return replace(self, coefficients=coefficients, missing=self.missing + constant)

    def map_values(self, change: Callable[[Floats], Floats]) -> FeatureCurve:
        """Return the curve whose values per class, on the last axis, are a linear function of this one's."""
        return replace(self, coefficients=change(self.coefficients), missing=change(self.missing))

    def grid(self, low: float, high: float, n_points: int = 200) -> Floats:
        """Return increasing numbers that show the whole curve: evenly spaced, and both sides of each edge."""
        inner = self.edges[(self.edges >= low) & (self.edges < high)]
        above = np.nextafter(inner, np.inf)
        even = np.linspace(low, high, n_points if self.coefficients[:, 1:].any() else 2)
        grid: Floats = np.unique(np.concatenate([even, inner, above]))
        return grid
