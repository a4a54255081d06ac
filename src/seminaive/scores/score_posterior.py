"""How uncertain additive scores are: the covariance of what their terms contribute."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import helmert

from seminaive.encode.saved_by_fields import SavedByFields
from seminaive.scores.curve_terms import CurveTerms
from seminaive.scores.probability_intervals import Spread

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from seminaive.arrays import Floats
    from seminaive.encode import EncodedTable
    from seminaive.scores.additive_scores import AdditiveScores

    Singles = NDArray[np.float32] | NDArray[np.float16]

# Entries of all cells of a posterior, at most: a file could ask for more memory than there is.
MOST_ENTRIES = 1 << 27
# Entries of a table (rows, times entries per row) that are read at once.
AT_ONCE = 1 << 22


@dataclass(frozen=True)
class ScorePosterior(SavedByFields):
    """The posterior covariance of additive scores, of low rank plus diagonal.

    A contribution has a variance that is independent of the others, and a place in each of some directions,
    which all contributions share. The covariance of two sums of contributions is the variance of those that
    they have in common, plus or minus the product of their places in each direction: minus where rows have
    told something about it. One more direction leads from the scores to the middle of the posterior, where
    they differ. For two classes these are the log odds, for more
    the contrasts between classes that Helmert's matrix gives. Tables of pairs are kept as coefficients of
    products of functions, which are far fewer than cells.

    Parameters
    ----------
    signs : ndarray of shape (n_directions,)
        1 or -1; 0 for the direction to the middle of the posterior.
    intercept : ndarray of shape (1 + n_directions, n_columns)
        The variance, then the place in each direction.
    tables : ndarray of shape (n_cells, 1 + n_directions, n_columns)
        The same for each cell of the tables of one column.
    curves : ndarray of shape (n_knots + n_curves, 1 + n_directions, n_columns)
        The same at each knot of the curves, then for missing numbers.
    lines : ndarray of shape (n_lines, 1 + n_directions, n_columns)
        The same for the slope of each number that enters as a line.
    pairs : ndarray of shape (n_products, 1 + n_directions, n_columns)
        The same for the coefficient of each product of functions, pair after pair; in half precision where
        that is enough.
    functions : tuple of ndarray of shape (n_codes, n_functions)
        Of each coded column, 0 at the code of no evidence; without any where a column has no pairs.
    """

    signs: Floats
    intercept: Floats
    tables: Singles
    curves: Singles
    lines: Floats
    pairs: Singles
    functions: tuple[Singles, ...]

    @property
    def n_columns(self) -> int:
        """Return the number of columns, one fewer than classes: log odds, or contrasts between classes."""
        return int(self.intercept.shape[1])

    @cached_property
    def _contrasts(self) -> Floats:
        """The columns as contrasts of the classes' centred scores, (n_columns, n_classes); of log odds 1."""
        return np.ones((1, 1)) if self.n_columns == 1 else np.asarray(helmert(self.n_columns + 1))

    def fits(self, scores: AdditiveScores) -> bool:
        """Tell whether it belongs to scores of this layout, and is finite."""
        n_entries, n_columns = 1 + len(self.signs), scores.n_classes - 1
        entries = (n_entries, n_columns)
        singles, pairs = _split(scores)
        n_knots = scores.curves.starts[-1] + scores.curves.n_terms
        cardinalities = scores.terms.cardinalities
        rooms: list[tuple[NDArray[Any], tuple[int, ...]]] = [
            (self.signs, (n_entries - 1,)),
            (self.intercept, entries),
            (self.tables, (singles, *entries)),
            (self.curves, (n_knots, *entries)),
            (self.lines, (scores.numeric.n_terms, *entries)),
        ]
        if len(self.functions) != len(cardinalities) or any(table.ndim != 2 for table in self.functions):
            return False
        rooms += [
            (table, (size + 1, table.shape[1]))
            for table, size in zip(self.functions, cardinalities, strict=True)
        ]
        widths = [table.shape[1] for table in self.functions]
        rooms.append((self.pairs, (sum(widths[j] * widths[k] for j, k in pairs), *entries)))
        return (
            n_entries * n_columns * scores.terms.n_cells <= MOST_ENTRIES
            and all(array.shape == shape and bool(np.isfinite(array).all()) for array, shape in rooms)
            and bool(np.isin(self.signs, (-1, 0, 1)).all())
        )

    def products(self, pairs: list[tuple[int, int]]) -> list[tuple[Floats, Floats]]:
        """Return for each pair its products of functions, (codes, codes, products), and their entries."""
        found, start = [], 0
        for j, k in pairs:
            left, right = (self.functions[column].astype(np.float64) for column in (j, k))
            cells = (left[:, None, :, None] * right[None, :, None, :]).reshape(len(left), len(right), -1)
            stop = start + cells.shape[2]
            found.append((cells, self.pairs[start:stop].astype(np.float64)))
            start = stop
        return found

    def as_scores(self, scores: AdditiveScores) -> AdditiveScores:
        """Return variances and places as scores of the same layout, entry after entry side by side."""
        n_single, pairs = _split(scores)
        width = self.intercept.size
        tables = np.empty((scores.terms.n_cells, width))
        tables[:n_single] = self.tables.reshape(n_single, width)
        start = n_single
        for cells, entries in self.products(pairs):
            stop = start + cells.shape[0] * cells.shape[1]
            tables[start:stop] = through(cells, entries).reshape(-1, width)
            start = stop
        curves = scores.curves
        values = self.curves.astype(np.float64).reshape(len(self.curves), width)
        n_knots = curves.starts[-1]
        at_knots = CurveTerms(
            curves.features, curves.starts, curves.knots, values[:n_knots], values[n_knots:]
        )
        numeric = scores.numeric
        # Places are linear in a number, variances quadratic; a missing number has neither.
        polynomials = np.zeros((numeric.n_terms, 4, width))
        polynomials[:, 2, self.n_columns :] = self.lines[:, 1:].reshape(
            numeric.n_terms, width - self.n_columns
        )
        polynomials[:, 3, : self.n_columns] = self.lines[:, 0]
        lines = replace(numeric, coefficients=polynomials).saturating()
        return type(scores)(self.intercept.ravel(), scores.terms, tables, lines, at_knots)

    def of_rows(self, cells: AdditiveScores, table: EncodedTable) -> tuple[Floats, Floats]:
        """Return how far the middle of the posterior is from the scores of each row, and their covariance.

        Of the log odds, (n_rows, 1) and (n_rows, 1, 1), or of the centred scores of all classes. ``cells``
        are the posterior `as_scores`.
        """
        contrasts, apart = self._contrasts, self.signs == 0
        n_scores = contrasts.shape[1]
        distances, found = np.zeros((len(table), n_scores)), np.empty((len(table), n_scores, n_scores))
        products = (contrasts[:, :, None] * contrasts[:, None, :]).reshape(len(contrasts), -1)
        at_once = max(1, AT_ONCE // self.intercept.size)
        for start in range(0, len(table), at_once):
            rows = slice(start, start + at_once)
            part = table if len(table) <= at_once else table.rows(rows)
            entries = cells.sums(part).reshape(len(part), *self.intercept.shape)
            places = entries[:, 1:] @ contrasts
            distances[rows] = places[:, apart].sum(axis=1)
            found[rows] = (places * self.signs[:, None]).transpose(0, 2, 1) @ places
            found[rows] += (entries[:, 0] @ products).reshape(found[rows].shape)
        return distances, found

    def spread(self, entries: Floats) -> Spread:
        """Return how sure sums of contributions are, given their entries on the last two axes.

        Those of the log odds of two classes on a last axis of 1, else of each class's centred score.
        """
        apart, places = entries[..., 0, :] @ np.square(self._contrasts), entries[..., 1:, :] @ self._contrasts
        variance = apart + (self.signs[:, None] * np.square(places)).sum(axis=-2)
        distance = places[..., self.signs == 0, :].sum(axis=-2)
        return Spread(distance, np.sqrt(np.maximum(variance, 0.0)))


def through(products: Floats, entries: Floats) -> Floats:
    """Return the entries of sums of products of functions, given those of the coefficients.

    A sum has the variances of its coefficients times the squares of its products, and their places times the
    products.
    """
    flat = products.reshape(-1, products.shape[-1])
    found = np.empty((len(flat), *entries.shape[1:]))
    found[:, 0] = np.square(flat) @ entries[:, 0]
    found[:, 1:] = np.tensordot(flat, entries[:, 1:], axes=1)
    return found.reshape(*products.shape[:-1], *entries.shape[1:])


def _split(scores: AdditiveScores) -> tuple[int, list[tuple[int, int]]]:
    """Return how many cells the tables of one column have, which come first, and the columns of the pairs."""
    features = scores.terms.features
    n_single = sum(len(columns) == 1 for columns in features)
    pairs = [(columns[0], columns[-1]) for columns in features[n_single:]]
    ends = [int(end) for end in scores.terms.offsets]
    return ends[n_single], pairs
