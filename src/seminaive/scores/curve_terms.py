"""Piecewise-linear curves of single numbers."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.encode.saved_by_fields import SavedByFields
from seminaive.scores.kind import NumberTermKind, is_block

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from seminaive.arrays import Floats, Indices
    from seminaive.encode import EncodedTable

# Up to this number of cells, arithmetic of Python's is faster than a dozen calls of numpy's.
FEW_NUMBERS = 100
# Cells of the grid in which compiled searches of knots begin: most hold no knot of the usual 64, and the grid
# of a term stays in the first-level cache.
GRID_CELLS = 1024


@dataclass(frozen=True)
class CurveTerms(SavedByFields, NumberTermKind):
    """One piecewise-linear curve per term and class, over the knots of the term; constant beyond the ends.

    Parameters
    ----------
    features : tuple of int
        The numeric columns that have a curve.
    starts : tuple of int
        Where each term's knots begin in ``knots`` and, last, the number of all knots.
    knots : ndarray of shape (n_knots,)
        Strictly increasing within a term; at least one.
    values : ndarray of shape (n_knots, n_classes)
        The contribution at each knot.
    missing : ndarray of shape (n_terms, n_classes)
        What a missing number contributes.

    Examples
    --------
    >>> import numpy as np
    >>> ramp = CurveTerms.of([(0, [1.0, 3.0], [[0.0, 4.0], [2.0, 0.0]], [9.0, 9.0])])
    >>> ramp.at(np.array([[0.0], [2.0], [7.0], [np.nan]]))[:, 0]
    array([[0., 4.],
           [1., 2.],
           [2., 0.],
           [9., 9.]])
    """

    features: tuple[int, ...]
    starts: tuple[int, ...]
    knots: Floats
    values: Floats
    missing: Floats

    @classmethod
    def none(cls, n_classes: int) -> CurveTerms:
        """Return no curves at all."""
        return cls((), (0,), np.empty(0), np.empty((0, n_classes)), np.empty((0, n_classes)))

    @classmethod
    def of(cls, curves: Sequence[tuple[int, ArrayLike, ArrayLike, ArrayLike]]) -> CurveTerms:
        """Lay out curves, each given by its feature, its knots, the values there, and that of missing."""
        features, *parts = zip(*curves, strict=True)
        knots, values, missing = (
            [np.asarray(of_curve, dtype=np.float64) for of_curve in part] for part in parts
        )
        starts = np.cumsum([0, *(len(of_curve) for of_curve in knots)])
        return cls(
            tuple(features),
            tuple(starts.tolist()),
            np.concatenate(knots),
            np.concatenate(values),
            np.array(missing),
        )

    def at(self, numbers: Floats) -> Floats:
        """Return the value of each curve at each row of numbers, (n_rows, n_terms, n_classes)."""
        x = numbers.take(self._columns, axis=1)
        if x.size <= FEW_NUMBERS:
            return self._at_few(x)
        lowest, highest = self._range
        clipped = np.minimum(np.maximum(x, lowest), highest)
        absent = np.isnan(clipped)
        some_absent = bool(absent.any())
        if some_absent:
            clipped = np.where(absent, lowest, clipped)
        knot = self._knot_below(clipped)
        along = ((clipped - self.knots[knot]) / self._gaps[knot])[:, :, None]
        curves: Floats = self.values[knot] + along * self._rises[knot]
        return np.where(absent[:, :, None], self.missing, curves) if some_absent else curves

    def _at_few(self, x: Floats) -> Floats:
        """Return the value of each curve at each row, (n_rows, n_terms), number by number."""
        knots, gaps, values, rises, missing = self._lists
        found = []
        for row in x.tolist():
            for term, number in enumerate(row):
                if number != number:
                    found.append(missing[term])
                    continue
                start, stop = self.starts[term : term + 2]
                clipped = min(max(number, knots[start]), knots[stop - 1])
                knot = bisect_right(knots, clipped, start, stop) - 1
                along = (clipped - knots[knot]) / gaps[knot]
                found.append([v + along * r for v, r in zip(values[knot], rises[knot], strict=True)])
        return np.array(found).reshape(*x.shape, -1)

    def _knot_below(self, clipped: Floats) -> Indices:
        """Return the last knot that is not above each number; clipped, a number is never below the first."""
        below = np.empty(clipped.shape, dtype=np.int64)
        for term, (start, stop) in enumerate(pairwise(self.starts)):
            numbers = np.ascontiguousarray(clipped[:, term])
            below[:, term] = start - 1 + self.knots[start:stop].searchsorted(numbers, side="right")
        return below

    @cached_property
    def _columns(self) -> Indices:
        """Return the numeric column of each curve."""
        return np.array(self.features, dtype=np.int64)

    @cached_property
    def _ends(self) -> tuple[Indices, Indices]:
        """Return the first and the last knot of each curve."""
        starts = np.array(self.starts, dtype=np.int64)
        return starts[:-1], starts[1:] - 1

    @cached_property
    def _range(self) -> tuple[Floats, Floats]:
        """Return the numbers at the first and at the last knot of each curve."""
        first, last = self._ends
        return self.knots[first], self.knots[last]

    @cached_property
    def _lists(self) -> tuple[list[Any], ...]:
        """Return knots, gaps, values, rises and what missing numbers contribute, as lists."""
        arrays = (self.knots, self._gaps, self.values, self._rises, self.missing)
        return tuple(array.tolist() for array in arrays)

    @cached_property
    def _term_of_knot(self) -> Indices:
        """Return the curve that each knot belongs to."""
        return np.repeat(np.arange(self.n_terms), np.diff(self.starts))

    @cached_property
    def _grid(self) -> tuple[Floats, Indices]:
        """Return the cells per unit of each curve, and the number of knots in the cells before each.

        A number is in cell ``floor((x - first knot) * cells per unit)``. This does not fall as x rises, also
        when rounded; so knots in earlier cells are below x, and those in later ones are above. A range too
        small for a grid has one cell.
        """
        lowest, highest = self._range
        with np.errstate(divide="ignore", over="ignore"):
            densities = GRID_CELLS / (highest - lowest)
        densities[~np.isfinite(densities)] = 0.0
        term = self._term_of_knot
        cells = ((self.knots - lowest[term]) * densities[term]).astype(np.int64)
        below = np.zeros((self.n_terms, GRID_CELLS + 1), dtype=np.int64)
        np.add.at(below, (term, np.minimum(cells, GRID_CELLS - 1) + 1), 1)
        return densities, np.cumsum(below, axis=1)

    @cached_property
    def _gaps(self) -> Floats:
        """Return the distance from each knot to the next; 1 after the last one of a term."""
        gaps = np.ones(len(self.knots))
        gaps[:-1] = np.diff(self.knots)
        gaps[self._ends[1]] = 1.0
        return gaps

    @cached_property
    def _rises(self) -> Floats:
        """Return by how much each curve rises from each knot to the next; 0 after the last one of a term."""
        rises = np.zeros_like(self.values)
        rises[:-1] = np.diff(self.values, axis=0)
        rises[self._ends[1]] = 0.0
        return rises

    def add_compiled(self, table: EncodedTable, scores: Floats) -> None:
        """Evaluate and add by a compiled pass."""
        from seminaive.kernels.scoring import add_curve_scores

        add_curve_scores(
            table.numbers,
            self._columns,
            np.array(self.starts, dtype=np.int64),
            self.knots,
            self._gaps,
            self.values,
            self._rises,
            self.missing,
            *self._grid,
            scores,
        )

    def scaled(self, weights: Floats) -> CurveTerms:
        """Multiply each curve by its weight."""
        per_knot = np.repeat(weights, np.diff(self.starts))
        return replace(self, values=self.values * per_knot[:, None], missing=self.missing * weights[:, None])

    def restricted(self, kept: Sequence[int]) -> CurveTerms:
        """Keep some of the curves."""
        if not kept:
            return CurveTerms.none(self.values.shape[1])
        slices = [slice(self.starts[term], self.starts[term + 1]) for term in kept]
        curves = [
            (self.features[term], self.knots[knots], self.values[knots], self.missing[term])
            for term, knots in zip(kept, slices, strict=True)
        ]
        return CurveTerms.of(curves)

    def centred(self) -> CurveTerms:
        """Take the mean over the classes off each value."""
        return replace(
            self,
            values=self.values - self.values.mean(axis=1, keepdims=True),
            missing=self.missing - self.missing.mean(axis=1, keepdims=True),
        )

    def joined(self, other: CurveTerms) -> CurveTerms:
        """Return these curves, then the others."""
        return CurveTerms(
            self.features + other.features,
            self.starts + tuple(self.starts[-1] + start for start in other.starts[1:]),
            np.concatenate([self.knots, other.knots]),
            np.concatenate([self.values, other.values]),
            np.concatenate([self.missing, other.missing]),
        )

    def fits(self, cardinalities: Sequence[int], n_numbers: int, n_classes: int) -> bool:
        """Tell whether the numbers exist in such a table, knots increase, and all values are finite."""
        del cardinalities
        n, starts = self.n_terms, self.starts
        return (
            all(0 <= j < n_numbers for j in self.features)
            and len(starts) == n + 1
            and starts[0] == 0
            and all(a < b for a, b in pairwise(starts))
            and is_block(self.knots, (starts[-1],))
            and all((np.diff(self.knots[a:b]) > 0).all() for a, b in pairwise(starts))
            and is_block(self.values, (starts[-1], n_classes))
            and is_block(self.missing, (n, n_classes))
        )
