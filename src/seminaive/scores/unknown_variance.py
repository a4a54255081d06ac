"""How much scores vary with the cells of some columns: what is unknown of a score where the cells are."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from seminaive.statistics import ObservedTerms, Terms

if TYPE_CHECKING:
    from seminaive.arrays import Floats, Indices
    from seminaive.encode import EncodedTable, Schema
    from seminaive.encode.nodes import RowCoordinates
    from seminaive.scores.additive_scores import AdditiveScores

    Pair = tuple[int, int]

# Rows from which variances are taken: at most the first number, fewer where reading the terms of all would
# take long, but never below the second. A variance from n rows has a relative standard error of about
# sqrt(2 / n), 1 % and 4 % here, and the factor by which a score is multiplied at most half of it.
MOST_ROWS, FEWEST_ROWS, MOST_READ = 20_000, 1_000, 1 << 25
# Scores of immense numbers may be immense; their squares, and sums of these, stay finite up to here.
LARGEST_SCORE = 1e140
# Values that are read at once: they stay in the cache.
AT_ONCE = 1 << 18


def score_covariance(scores: AdditiveScores, table: EncodedTable, row_weight: Floats | None = None) -> Floats:
    """Return a matrix Q whose sum over some columns is the variance that a score has where they are unknown.

    Let v(U) be the variance, over training rows, of a score less that of the same row without the cells of
    the columns U. Q has a row and a column for each of the schema's `features`: ``Q[j, j]`` is v of column j,
    and ``Q[j, k] + Q[k, j]`` what v of both has beyond those of each. Its sum over U is v(U) for one column,
    for two, and for any number where no term has more than one. With two classes v is that of the log odds;
    with more, the mean over all pairs of classes of that of their log odds.

    Parameters
    ----------
    scores : AdditiveScores
        Its cells of no evidence hold what is contributed where a column is unknown.
    table : EncodedTable
        The training rows, or some of them.
    row_weight : ndarray of shape (n_rows,) or None
    """
    moments = _moments(scores, table, row_weight)
    # Of centred scores, the sum over the K classes is (K - 1) / 2 times the mean over the pairs of classes.
    return moments.covariance() * (2.0 / (scores.n_classes - 1))


def with_means(
    scores: AdditiveScores, table: EncodedTable, row_weight: Floats | None = None
) -> AdditiveScores:
    """Return scores in which an unknown cell contributes what its column contributes in the mean.

    Of generative terms an unknown cell contributes nothing, which is not their mean over the rows. The
    difference goes to the cells of no evidence of one term per column.
    """
    schema = table.schema
    means, _ = _moments(scores, table, row_weight).means()
    numbers = {schema.numeric[number]: term for term, number in enumerate(scores.numeric.features)}
    tables, coefficients = scores.tables.copy(), scores.numeric.coefficients.copy()
    for position, mean in zip(schema.features, means.T, strict=True):
        if not schema.can_be_unknown(position):
            continue
        if position in numbers:
            coefficients[numbers[position], 0] += mean
        elif position in schema.coded:
            _add_where_unknown(scores.terms, tables, schema.coded_index[position], mean)
    return replace(scores, tables=tables, numeric=replace(scores.numeric, coefficients=coefficients))


def _add_where_unknown(terms: Terms, tables: Floats, column: int, values: Floats) -> None:
    """Add values to the cells of the first term of a column in which the column is unknown, in place."""
    for term, columns in enumerate(terms.features):
        if column in columns:
            cells = tables[terms.block(term)].reshape(*terms.shape(term), -1)
            cells[(slice(None),) * columns.index(column) + (-1,)] += values
            return


def _moments(scores: AdditiveScores, table: EncodedTable, row_weight: Floats | None) -> _Moments:
    """Return the moments over training rows of what columns take from centred scores."""
    reader = _Reader(scores.centre(), table.schema)
    n_rows = int(np.clip(MOST_READ // max(reader.n_read, 1), FEWEST_ROWS, MOST_ROWS))
    index = np.arange(0, len(table), max(1, -(-len(table) // n_rows)))
    weight = np.ones(len(index)) if row_weight is None else row_weight[index]
    moments = _Moments(scores.n_classes, len(table.schema.features), reader.pairs)
    at_once = max(1, AT_ONCE // max(reader.n_read, 1))
    for start in range(0, len(index), at_once):
        rows = slice(start, start + at_once)
        moments.add(*reader.differences(table.rows(index[rows])), weight[rows])
    return moments


class _Reader:
    """Reads what scores lose where one column of a row, or two, are unknown."""

    def __init__(self, scores: AdditiveScores, schema: Schema) -> None:
        self.scores = scores
        terms = scores.terms
        self.dense = Terms(terms.features, terms.cardinalities)
        self.n_axes = int(terms.orders.max(initial=0))
        features = schema.features
        self.of_number = np.array([features.index(position) for position in schema.numeric], dtype=np.int64)
        self.n_features = len(features)
        every = {pair for columns in terms.features for pair in combinations(columns, 2)}
        self.pairs = sorted(every)
        self.slots = {pair: slot for slot, pair in enumerate(self.pairs)}
        patterns = 1 + self.n_axes + self.n_axes * (self.n_axes - 1) // 2
        corners = 1 << (self.n_axes if schema.nodes is not None else 0)
        self.n_read = scores.n_classes * (terms.columns.size and len(terms.features) * patterns * corners)
        self.n_read += scores.n_classes * (scores.numeric.n_terms + scores.curves.n_terms)

    def differences(self, table: EncodedTable) -> tuple[Floats, Floats]:
        """Return what each column takes from the scores, (n_rows, n_classes, n_features), and each pair.

        The first is the score less that without the column; the second, (n_rows, n_classes, n_pairs), by how
        much less both columns take together than the sum of what each takes.
        """
        n_rows, n_classes = len(table), self.scores.n_classes
        lost = np.zeros((n_rows, n_classes, self.n_features))
        shared = np.zeros((n_rows, n_classes, len(self.pairs)))
        for kind in (self.scores.numeric, self.scores.curves):
            if kind.n_terms:
                absent = kind.at(np.full((1, table.numbers.shape[1]), np.nan))
                values = (kind.contributions(table) - absent).transpose(0, 2, 1)
                _add_at(lost, self.of_number[list(kind.features)], values)
        if self.n_axes:
            self._read_tables(table, lost, shared)
        return np.clip(lost, -LARGEST_SCORE, LARGEST_SCORE), np.clip(shared, -LARGEST_SCORE, LARGEST_SCORE)

    def _read_tables(self, table: EncodedTable, lost: Floats, shared: Floats) -> None:
        coordinates = table.coordinates
        whole = self._values(coordinates, ())
        without = [self._values(coordinates, (axis,)) for axis in range(self.n_axes)]
        for axis, (columns, strides) in enumerate(self.dense.by_axis):
            has = np.flatnonzero(strides > 0)
            _add_at(lost, columns[has], (whole - without[axis])[:, :, has])
        for a, b in combinations(range(self.n_axes), 2):
            (first, _), (second, strides) = self.dense.by_axis[a], self.dense.by_axis[b]
            has = np.flatnonzero(strides > 0)
            slots = np.array([self.slots[pair] for pair in zip(first[has], second[has], strict=True)])
            values = whole - without[a] - without[b] + self._values(coordinates, (a, b))
            _add_at(shared, slots, values[:, :, has])

    def _values(self, coordinates: RowCoordinates, unknown: tuple[int, ...]) -> Floats:
        """Return what each table contributes where some of its axes are unknown, (rows, classes, terms)."""
        cells = np.tile(self.dense.offsets[:-1], (1, len(coordinates.codes), 1))
        shares = np.ones((1, 1, 1))
        cardinalities = np.array(self.dense.cardinalities, dtype=np.int64)
        for axis, (columns, strides) in enumerate(self.dense.by_axis):
            if axis in unknown:
                cells = cells + cardinalities[columns] * strides
                continue
            cells = cells + coordinates.codes.take(columns, axis=1) * strides
            along = coordinates.along.take(columns, axis=1) * (strides > 0)
            if along.any():
                cells = np.concatenate([cells, cells + (along > 0) * strides])
                shares = np.concatenate([shares * (1.0 - along), shares * along])
        terms = self.scores.terms
        found = terms.cells_from_dense(cells) if isinstance(terms, ObservedTerms) else cells
        values = np.add.reduce(self.scores.tables.take(found, axis=0) * shares[..., None], axis=0)
        transposed: Floats = values.transpose(0, 2, 1)
        return transposed


def _add_at(totals: Floats, columns: Indices, values: Floats) -> None:
    """Add values to the columns, on the last axis, of totals; a column may occur several times."""
    order = np.argsort(columns, kind="stable")
    starts = np.flatnonzero(np.diff(columns[order], prepend=-1))
    totals[:, :, columns[order][starts]] += np.add.reduceat(values[:, :, order], starts, axis=2)


class _Moments:
    """Weighted sums over rows from which means and covariances follow."""

    def __init__(self, n_classes: int, n_features: int, pairs: list[Pair]) -> None:
        self.total = 0.0
        self.left, self.right = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        self.lost, self.shared = np.zeros((n_classes, n_features)), np.zeros((n_classes, len(pairs)))
        self.product = np.zeros((n_features, n_features))
        self.with_left, self.with_right, self.squares = np.zeros((3, len(pairs)))

    def add(self, lost: Floats, shared: Floats, weight: Floats) -> None:
        """Add some rows, as `_Reader.differences` returns them."""
        self.total += float(weight.sum())
        self.lost += np.tensordot(weight, lost, axes=1)
        self.shared += np.tensordot(weight, shared, axes=1)
        weighted, flat = lost * weight[:, None, None], lost.reshape(-1, lost.shape[2])
        self.product += weighted.reshape(flat.shape).T @ flat
        self.with_left += np.einsum("rcp,rcp->p", weighted[:, :, self.left], shared)
        self.with_right += np.einsum("rcp,rcp->p", weighted[:, :, self.right], shared)
        self.squares += np.einsum("rcp,rcp,r->p", shared, shared, weight)

    def means(self) -> tuple[Floats, Floats]:
        """Return the means by class of what each column takes, and of what the columns of pairs share."""
        return self.lost / self.total, self.shared / self.total

    def covariance(self) -> Floats:
        """Return the matrix of `score_covariance`, summed over the classes."""
        lost, shared = self.means()
        found: Floats = self.product / self.total - lost.T @ lost
        squares = self.squares / self.total - np.square(shared).sum(axis=0)
        with_left = self.with_left / self.total - (lost[:, self.left] * shared).sum(axis=0)
        with_right = self.with_right / self.total - (lost[:, self.right] * shared).sum(axis=0)
        # Both columns take what each takes, D and E, less what they share, I. Half of the variance of
        # D + E - I beyond those of D and of E is Cov(D, E) - Cov(D, I) - Cov(E, I) plus half of that of I.
        beyond = 0.5 * squares - with_left - with_right
        found[self.left, self.right] += beyond
        found[self.right, self.left] += beyond
        return found
