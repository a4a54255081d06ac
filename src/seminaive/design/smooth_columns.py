"""All columns of a table as smooth functions, and the terms of a model of them: slopes, curves and pairs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from seminaive.design.smooth_column import PAIR_FUNCTIONS, SmoothColumn, smooth_column
from seminaive.statistics.spread import root_mean_squares

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from seminaive.arrays import Booleans, Floats, Indices
    from seminaive.encode import EncodedTable, Schema


# Features of all pairs, and these times the classes, at most: where they would be more, columns have fewer
# functions in pairs, of which a category, whose functions are less smooth, has up to twice as many as a
# number. Numbers farther from the mean than this, in standard deviations, count in slopes as if there.
MOST_PAIR_FEATURES, MOST_PAIR_SCORES, MOST_DEVIATIONS = 4000, 16000, 4.0


def most_pair_features(n_classes: int) -> int:
    """Return how many features all pairs may have."""
    return min(MOST_PAIR_FEATURES, MOST_PAIR_SCORES // n_classes)


@dataclass(frozen=True)
class SmoothColumns:
    """All columns of a table, and the terms of a model of them.

    Terms are listed by group: the slopes of numbers, the main terms of columns, the pairs of columns.

    Parameters
    ----------
    slopes : tuple of int
        The numeric columns that have a slope.
    mains : tuple of int
        The columns, as positions in ``columns``, that have a main term.
    pairs : tuple of (int, int)
        The columns of each pair term.
    centres, spreads, low, high : ndarray of shape (n_numbers,)
        Mean and deviation of each number, and the range to which its slope is clipped.
    """

    columns: tuple[SmoothColumn, ...]
    slopes: tuple[int, ...]
    mains: tuple[int, ...]
    pairs: tuple[tuple[int, int], ...]
    centres: Floats
    spreads: Floats
    low: Floats
    high: Floats

    @classmethod
    def of(cls, table: EncodedTable, row_weight: Floats) -> SmoothColumns:
        """Learn the functions of each column; there are no terms of pairs yet."""
        return cls.of_margins(table.schema, lambda _: (table, row_weight))

    @classmethod
    def of_margins(
        cls, schema: Schema, margin: Callable[[int], tuple[EncodedTable, Floats]]
    ) -> SmoothColumns:
        """Learn the functions of each column from that column alone.

        Parameters
        ----------
        margin : callable
            Returns, for the position of a column, a table in which that column is right, and row weights:
            the training rows, or one row for each value that occurs, weighted by how often.
        """
        number_of, code_of = schema.numeric_index, schema.coded_index
        positions = sorted({*number_of, *code_of})
        columns = tuple(smooth_column(*margin(p), number_of.get(p), code_of.get(p)) for p in positions)
        scales = [np.empty((4, 0))]
        for k, position in enumerate(schema.numeric):
            table, row_weight = margin(position)
            scales.append(np.stack(_scales(table.numbers[:, k : k + 1], row_weight)))
        centres, spreads, low, high = np.hstack(scales)
        return cls(
            columns,
            tuple(np.flatnonzero(spreads > 0).tolist()),
            tuple(k for k, column in enumerate(columns) if column.main.shape[1]),
            (),
            centres,
            np.where(spreads > 0, spreads, 1.0),
            low,
            high,
        )

    def pairs_at(self, positions: Sequence[tuple[int, int]], schema: Schema) -> list[tuple[int, int]]:
        """Return pairs of columns, given their positions in a table."""
        number_of = {position: k for k, position in enumerate(sorted({*schema.numeric, *schema.coded}))}
        found = {(min(number_of[a], number_of[b]), max(number_of[a], number_of[b])) for a, b in positions}
        return sorted(found)

    @property
    def all_pairs(self) -> list[tuple[int, int]]:
        """Return all pairs of columns that have functions of pairs."""
        return list(combinations((j for j in self.mains if self.columns[j].pair.shape[1]), 2))

    def with_all_pairs(self, n_classes: int) -> SmoothColumns:
        """Return the same columns with terms of all pairs."""
        return self.crossed(self.all_pairs, n_classes)

    def can_cross_all(self, n_classes: int) -> bool:
        """Tell whether all pairs, each with as few functions as can be, have few enough features."""
        widths = np.array([self.columns[j].with_fewer(1, 1).pair.shape[1] for j in self.mains])
        return bool((widths.sum() ** 2 - (widths**2).sum()) // 2 <= most_pair_features(n_classes))

    def crossed(self, pairs: Sequence[tuple[int, int]], n_classes: int) -> SmoothColumns:
        """Return the same columns with terms of some pairs.

        The more pairs, the fewer functions each column has in them, so that the features stay within their
        limit; without pairs, columns keep the number of functions that is used at most.
        """
        columns = _with_fewer_functions(self.columns, pairs, most_pair_features(n_classes))
        kept = tuple((j, k) for j, k in pairs if columns[j].pair.shape[1] and columns[k].pair.shape[1])
        return replace(self, columns=columns, pairs=kept)

    def among(self, kept: set[int]) -> SmoothColumns:
        """Return the same columns with the slopes and main terms of some of them."""
        numbers = {self.columns[j].number for j in kept}
        return replace(
            self,
            slopes=tuple(number for number in self.slopes if number in numbers),
            mains=tuple(j for j in self.mains if j in kept),
            pairs=(),
        )

    def only(self, kept: Booleans) -> SmoothColumns:
        """Return the same columns with some of their terms."""
        terms = iter(kept.tolist())
        slopes = tuple(number for number in self.slopes if next(terms))
        mains = tuple(j for j in self.mains if next(terms))
        return replace(self, slopes=slopes, mains=mains, pairs=tuple(p for p in self.pairs if next(terms)))

    @property
    def n_terms(self) -> int:
        """Return the number of terms."""
        return len(self.slopes) + len(self.mains) + len(self.pairs)

    @cached_property
    def groups(self) -> Indices:
        """Return the group of each term: 0 slopes, 1 main terms, 2 pairs."""
        return np.repeat(np.arange(3), [len(self.slopes), len(self.mains), len(self.pairs)])

    @cached_property
    def sizes(self) -> Indices:
        """Return the number of features of each term."""
        pair = [column.pair.shape[1] for column in self.columns]
        return np.array(
            [1] * len(self.slopes)
            + [self.columns[j].main.shape[1] for j in self.mains]
            + [pair[j] * pair[k] for j, k in self.pairs],
            dtype=np.int64,
        )

    def with_curve(self, position: int) -> SmoothColumns:
        """Return the same columns, one of them with the curve that it has without a shape, but no pair."""
        columns = list(self.columns)
        free = columns[position].free or columns[position]
        columns[position] = replace(free, pair=columns[position].pair)
        mains = sorted({*self.mains, position}) if free.main.shape[1] else self.mains
        return replace(self, columns=tuple(columns), mains=tuple(mains))

    @cached_property
    def smoothness(self) -> Floats:
        """Return what the ridge of each term is multiplied by."""
        found = np.ones(self.n_terms)
        n_slopes = len(self.slopes)
        found[n_slopes : n_slopes + len(self.mains)] = [self.columns[j].smoothness for j in self.mains]
        return found

    def slope_features(self, numbers: Floats) -> Floats:
        """Return the standardised numbers, clipped, 0 where missing."""
        kept = list(self.slopes)
        clipped = np.minimum(np.maximum(numbers[:, kept], self.low[kept]), self.high[kept])
        features = (clipped - self.centres[kept]) / self.spreads[kept]
        return np.where(np.isnan(features), 0.0, features)

    def pair_features(self, table: EncodedTable) -> list[Floats]:
        """Return the features of each pair for the rows of a table: products of functions of its columns."""
        single = {j: self.columns[j].pair_features(table) for pair in self.pairs for j in pair}
        return [
            (single[j][:, :, None] * single[k][:, None, :]).reshape(len(table), -1) for j, k in self.pairs
        ]

    def features(self, table: EncodedTable) -> list[Floats]:
        """Return all features for the rows of a table, in the order of coefficients, the intercept first."""
        mains = [self.columns[j].main_features(table) for j in self.mains]
        ones = np.ones((len(table), 1))
        return [ones, self.slope_features(table.numbers), *mains, *self.pair_features(table)]

    def names(self, schema: Schema) -> list[str]:
        """Return the name of each term: a column, or two joined by a cross."""
        positions = sorted({*schema.numeric, *schema.coded})
        names = [schema.columns[position].name for position in positions]
        numbers = schema.numeric_names
        return [
            *(f"{numbers[j]} (slope)" for j in self.slopes),
            *(names[j] for j in self.mains),
            *(f"{names[j]} × {names[k]}" for j, k in self.pairs),
        ]


def _with_fewer_functions(
    columns: tuple[SmoothColumn, ...], pairs: Sequence[tuple[int, int]], most: int
) -> tuple[SmoothColumn, ...]:
    """Cut the functions of pairs until the features of all pairs are no more than ``most``."""
    cut = columns
    numbers = range(PAIR_FUNCTIONS, 0, -1)
    for of_number, of_category in ((n, times * n) for n in numbers for times in (2, 1)):
        cut = tuple(column.with_fewer(of_number, of_category) for column in columns)
        widths = [column.pair.shape[1] for column in cut]
        if sum(widths[j] * widths[k] for j, k in pairs) <= most:
            break
    return cut


def _scales(numbers: Floats, row_weight: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Return mean, deviation and clipping range of each number."""
    present = ~np.isnan(numbers)
    total = row_weight @ present
    total = np.where(total > 0, total, 1.0)
    centres = row_weight @ np.where(present, numbers, 0.0) / total
    spreads = root_mean_squares(np.where(present, numbers - centres, 0.0), row_weight, total)
    lowest = np.where(present, numbers, np.inf).min(axis=0, initial=np.inf)
    highest = np.where(present, numbers, -np.inf).max(axis=0, initial=-np.inf)
    spreads = np.where(highest > lowest, spreads, 0.0)
    low = np.maximum(lowest, centres - MOST_DEVIATIONS * spreads)
    high = np.minimum(highest, centres + MOST_DEVIATIONS * spreads)
    return centres, spreads, low, high
