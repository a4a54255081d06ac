"""A column as smooth functions: eigenfunctions of its kernel.

A number has a random-walk kernel over its bins, so that neighbouring bins have similar values, and so have
ordered levels; a category has the identity. A kernel G over the levels of a column, centred by the training
rows, is G = U U', where the columns of U are its eigenfunctions in the metric of the training rows. A ridge
on coefficients b of U is then the prior of G on the curve U b. Main terms interpolate U linearly between
knots, the medians of the bins; pair terms are products of the first eigenfunctions of two columns, averaged
over the codes of each column.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.design.centred_levels import CentredLevels
from seminaive.design.rounding import ROUNDING
from seminaive.encode import CategoricalColumn

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from seminaive.arrays import Floats, Indices
    from seminaive.design.shaped_columns import Shape
    from seminaive.encode import EncodedTable


# Bins of a number. They round its values to 64 quantiles; on few rows the functions are far fewer. A category
# of more levels has no matrix of eigenfunctions, whose products take the square of the levels: its main term
# has a function per level, which is the same prior, and its pairs have those of the 64 most frequent levels,
# of which the leading eigenfunctions of all levels are made.
N_BINS = 64
# Functions of a number in pairs, at most. Most eigenvalues equal to the largest of a category that has
# functions in pairs: one with more is an identifier.
PAIR_FUNCTIONS, MOST_TIED = 4, 32


def knots_of(values: Floats, weights: Floats, n_bins: int) -> Floats:
    """Return the weighted medians of about equally frequent bins.

    A value that holds a bin's share of the rows fills a bin alone, an atom; all others share the bins that
    are left.
    """
    distinct, position = np.unique(values, return_inverse=True)
    mass = np.bincount(position, weights)
    if len(distinct) <= n_bins:
        return distinct
    atoms = mass >= mass.sum() / n_bins
    rest = np.where(atoms, 0.0, mass)
    n_rest = max(n_bins - int(atoms.sum()), 1)
    total = float(rest.sum())
    share = (np.cumsum(rest) - rest / 2) / (total if total > 0 else 1.0)
    bins = np.minimum((share * n_rest).astype(np.int64), n_rest - 1)
    # An atom separates the bins on its two sides.
    starts = np.flatnonzero(np.r_[True, (np.diff(bins) != 0) | atoms[1:] | atoms[:-1]])
    below = np.concatenate([np.zeros(1), np.cumsum(mass)])
    stops = np.append(starts[1:], len(distinct))
    halves = (below[starts] + below[stops]) / 2
    medians = np.searchsorted(below[1:], halves * (1 - ROUNDING)).clip(starts, stops - 1)
    return np.asarray(distinct[medians], dtype=np.float64)


def random_walk_kernel(n_levels: int) -> Floats:
    """Return ``1 - |i - i'| / n_levels``."""
    index = np.arange(n_levels)
    return np.asarray(1.0 - np.abs(index[:, None] - index) / n_levels, dtype=np.float64)


def cyclic_kernel(positions: Indices, n_positions: int) -> Floats:
    """Return ``1 - d (1 - d)``, where d is the distance around a cycle as a share of it.

    It is to a cycle what `random_walk_kernel` is to a line: the distance is the variance of the difference of
    two levels when neighbours differ by independent steps and the steps around the cycle sum to zero.
    """
    apart = np.abs(positions[:, None] - positions) / n_positions
    return np.asarray(1.0 - apart * (1.0 - apart), dtype=np.float64)


def eigenfunctions(kernel: Floats, shares: Floats, least: float) -> tuple[Floats, Floats]:
    """Return U with ``U U'`` the centred kernel, and the eigenvalues, decreasing.

    ``shares`` are those of the training rows in each level; they define the mean that is taken off and the
    metric in which the columns of U are orthogonal. Eigenvalues of at most ``least`` are left out, and so are
    those that are rounding.
    """
    centred = kernel - shares @ kernel
    centred -= (centred @ shares)[:, None]
    root = np.sqrt(shares)
    values, vectors = np.linalg.eigh(root[:, None] * centred * root)
    order = np.argsort(-values, kind="stable")
    order = order[values[order] > max(least, rounding_of(values))]
    functions = centred @ (root[:, None] * vectors[:, order]) / np.sqrt(values[order])
    return np.ascontiguousarray(functions), values[order]


def rounding_of(values: Floats) -> float:
    """Return the size up to which eigenvalues of a matrix, or sums of its rows, may be rounding."""
    return float(len(values) * np.finfo(np.float64).eps * np.abs(values).max(initial=0.0))


@dataclass(frozen=True)
class SmoothColumn:
    """The functions of one column.

    Parameters
    ----------
    number : int or None
        The position among the numeric columns, where it is one.
    coded : int or None
        The position among the coded columns, where it has codes.
    knots : ndarray of shape (n_knots,)
        Of a number; empty for a category.
    main : ndarray of shape (n_levels, n_functions), or CentredLevels
        The functions at each knot and, last, at a missing number; or at each code, that of no evidence last.
    pair : ndarray of shape (cardinality + 1, n_pair_functions)
        The functions of pairs at each code, 0 at that of no evidence.
    eigenvalues : ndarray of shape (n_functions,)
        Of the functions, decreasing.
    shape : Shape or None
        What the score must look like along the column.
    free : SmoothColumn or None
        Where there is a shape: the column without it.
    smoothness : float
        What the ridge of the main term is multiplied by, its functions being divided by the root of it.
    """

    number: int | None
    coded: int | None
    knots: Floats
    main: Floats | CentredLevels
    pair: Floats
    eigenvalues: Floats
    shape: Shape | None = None
    free: SmoothColumn | None = None
    smoothness: float = 1.0

    def with_fewer(self, of_number: int, of_category: int) -> SmoothColumn:
        """Return the column with no more than these numbers of functions of pairs."""
        wanted = of_category if self.number is None else of_number
        return replace(self, pair=self.pair[:, : _first(self.eigenvalues, wanted)])

    def positions(self, table: EncodedTable) -> tuple[Indices, Floats]:
        """Return the level of each row and how far it lies on the way to the next one, from 0 to 1."""
        if self.number is None:
            return table.codes[:, self.coded].astype(np.int64), np.zeros(len(table))
        return knot_positions(self.knots, table.numbers[:, self.number])

    @property
    def curve(self) -> Floats:
        """Return the functions of a number at each knot and, last, at a missing number."""
        return np.asarray(self.main, dtype=np.float64)

    def main_features(self, table: EncodedTable) -> Floats:
        """Return the functions of the main term for each row."""
        level, along = self.positions(table)
        if isinstance(self.main, CentredLevels):
            return self.main.features(level)
        features = self.main[level]
        if self.number is not None:
            following = self.main[np.minimum(level + 1, len(self.knots))]
            features += along[:, None] * (following - features)
        return np.asarray(features, dtype=np.float64)

    def main_blocks(self, table: EncodedTable) -> Iterator[Floats]:
        """Yield the functions of the main term for each row, those of many levels a few at a time."""
        if not isinstance(self.main, CentredLevels):
            yield self.main_features(table)
            return
        level, _ = self.positions(table)
        for first in range(0, self.main.shape[1], N_BINS):
            stop = min(first + N_BINS, self.main.shape[1])
            yield self.main.features(level, np.arange(first, stop))

    def pair_features(self, table: EncodedTable) -> Floats:
        """Return the functions of pair terms for each row."""
        return np.asarray(self.pair[table.codes[:, self.coded]], dtype=np.float64)


def knot_positions(knots: Floats, values: Floats) -> tuple[Indices, Floats]:
    """Return the last knot that is not above each value, and how far the value is on the way to the next.

    Values beyond the ends stand at the ends; a missing one stands at a level after the last knot.
    """
    missing = np.isnan(values)
    clipped = np.clip(np.where(missing, knots[0], values), knots[0], knots[-1])
    level = np.searchsorted(knots, clipped, side="right") - 1
    gaps = np.append(np.diff(knots), 1.0)
    along = (clipped - knots[level]) / gaps[level]
    level[missing] = len(knots)
    along[missing] = 0.0
    return level, along


def mass_at_knots(level: Indices, along: Floats, row_weight: Floats, n_knots: int) -> Floats:
    """Return the weight of rows at each knot, rows between two being shared, and at missing numbers."""
    mass = np.bincount(level, row_weight * (1 - along), minlength=n_knots + 1)
    following = np.minimum(level + 1, n_knots)
    mass[:n_knots] += np.bincount(following, row_weight * along, minlength=n_knots + 1)[:n_knots]
    return np.asarray(mass)


def smooth_column(
    table: EncodedTable, row_weight: Floats, number: int | None, coded: int | None
) -> SmoothColumn:
    """Return the functions of a number or, where there is none, of a category."""
    schema = table.schema
    n_codes = 0 if coded is None else table.cardinalities[coded]
    if number is None and coded is not None:
        category = schema.columns[schema.coded[coded]]
        if isinstance(category, CategoricalColumn) and category.order is not None:
            return _ordered_column(table, row_weight, coded, category)
        weight = np.bincount(table.codes[:, coded], row_weight, minlength=n_codes + 1)[:n_codes]
        if n_codes > N_BINS:
            levels = CentredLevels(_shares(weight))
            return SmoothColumn(None, coded, np.empty(0), levels, *_functions_of_frequent(weight))
        functions, values = eigenfunctions(np.eye(n_codes), _shares(weight), 0.0)
        with_none = np.vstack([functions, np.zeros((1, functions.shape[1]))])
        return SmoothColumn(None, coded, np.empty(0), with_none, with_none, values)
    column = schema.columns[schema.numeric[number or 0]]
    numbers = table.numbers[:, number or 0]
    present = ~np.isnan(numbers)
    knots = knots_of(numbers[present], row_weight[present], N_BINS)
    level, along = knot_positions(knots, numbers)
    n = len(knots)
    mass = mass_at_knots(level, along, row_weight, n)
    counts_missing = column.missing_seen and schema.missing == "value"
    main, values = _functions_of_walk(random_walk_kernel(n), mass, counts_missing=counts_missing)
    pair = np.zeros((n_codes + 1, 0))
    if coded is not None:
        following = np.minimum(level + 1, n)
        codes = table.codes[:, coded]
        weight = np.bincount(codes, row_weight, minlength=n_codes + 1)
        pair = np.zeros((n_codes + 1, min(PAIR_FUNCTIONS, main.shape[1])))
        for k, function in enumerate(main.T[:PAIR_FUNCTIONS]):
            feature = function[level] + along * (function[following] - function[level])
            total = np.bincount(codes, row_weight * feature, minlength=n_codes + 1)
            pair[:, k] = np.divide(total, weight, out=np.zeros_like(total), where=weight > 0)
        pair[n_codes] = 0.0
        if pair.shape[1] and not np.abs(pair).max() > rounding_of(main[:, 0]):
            pair = pair[:, :0]
    return SmoothColumn(number, coded, knots, main, pair, values)


def _ordered_column(
    table: EncodedTable, row_weight: Floats, coded: int, column: CategoricalColumn
) -> SmoothColumn:
    """Return the functions of ordered levels: those of a number, the rank of each level, as a table."""
    n_codes, n_levels = table.cardinalities[coded], column.n_present
    weight = np.bincount(table.codes[:, coded], row_weight, minlength=n_codes + 1)
    ranks = np.arange(n_levels, dtype=np.float64)
    if column.is_cyclic:
        order = column.order or ()
        knots = ranks
        kernel = cyclic_kernel(np.array([order.index(level) for level in column.categories]), len(order))
    else:
        knots = knots_of(ranks, weight[:n_levels].astype(np.float64), N_BINS)
        kernel = random_walk_kernel(len(knots))
    level, along = knot_positions(knots, ranks)
    n = len(knots)
    following = np.minimum(level + 1, n - 1)
    mass = np.bincount(level, weight[:n_levels] * (1 - along), minlength=n + 1)
    mass += np.bincount(following, weight[:n_levels] * along, minlength=n + 1)
    mass[n] = weight[n_levels] if n_codes > n_levels else 0.0
    main, values = _functions_of_walk(kernel, mass, counts_missing=n_codes > n_levels)
    functions = np.zeros((n_codes + 1, main.shape[1]))
    functions[:n_levels] = main[level] + along[:, None] * (main[following] - main[level])
    functions[n_levels:n_codes] = main[n]
    return SmoothColumn(None, coded, np.empty(0), functions, functions[:, :PAIR_FUNCTIONS], values)


def _functions_of_walk(kernel: Floats, mass: NDArray[Any], *, counts_missing: bool) -> tuple[Floats, Floats]:
    """Return the eigenfunctions of a kernel over levels, a missing cell being apart, and the eigenvalues.

    ``mass`` is the weight of each level and, last, of missing cells, which have a function where they count.
    """
    n = len(kernel)
    with_missing = np.zeros((n + 1, n + 1))
    with_missing[:n, :n] = kernel
    with_missing[n, n] = 1.0
    known = n + 1 if counts_missing else n
    kernel, shares = with_missing[:known, :known], _shares(mass[:known])
    centred = kernel - shares @ kernel
    centred -= (centred @ shares)[:, None]
    scale = float(shares @ np.diagonal(centred))
    # Under a ridge of 1, rows of total weight w determine a function by a share of less than w times its
    # eigenvalue: below 1, its coefficient is mostly the prior.
    least = 1.0 / max(float(mass[:known].sum()), 1.0)
    functions, values = eigenfunctions(kernel / (scale if scale > 0 else 1.0), shares, least)
    main = np.zeros((n + 1, functions.shape[1]))
    main[:known] = functions
    return main, values


def _functions_of_frequent(weight: NDArray[Any]) -> tuple[Floats, Floats]:
    """Return eigenfunctions over the most frequent levels, 0 at all others, and the eigenvalues."""
    frequent = np.sort(np.argsort(-weight, kind="stable")[:N_BINS])
    functions, values = eigenfunctions(np.eye(len(frequent)), _shares(weight[frequent]), 0.0)
    pair = np.zeros((len(weight) + 1, functions.shape[1]))
    pair[frequent] = functions
    return pair, values


def _shares(mass: NDArray[Any]) -> Floats:
    total = mass.sum()
    return np.asarray(mass / total if total > 0 else np.full(len(mass), 1.0 / max(len(mass), 1)))


def _first(values: Floats, most: int) -> int:
    """Return how many eigenfunctions to take: ``most``, but equal eigenvalues stay together.

    None where too many are equal to the first.
    """
    if len(values) <= most:
        return len(values)
    tied = np.flatnonzero(np.abs(values - values[most]) <= rounding_of(values))
    first, last = int(tied[0]), int(tied[-1]) + 1
    if first >= most:
        return most
    if first == 0:
        return last if last <= MOST_TIED else 0
    return last if last <= 2 * most else first
