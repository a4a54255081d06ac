"""What each column says in a row, pairs and larger tuples shared out among their columns."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import factorial
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.encode.nodes import interpolate
from seminaive.explain.reading import as_outputs, effects_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from seminaive.arrays import Floats
    from seminaive.encode import EncodedTable, Schema
    from seminaive.encode.nodes import Axis, RowCoordinates
    from seminaive.scores import Effects, FeatureCurve, TupleEffect


@dataclass(frozen=True)
class _Single:
    """The effect of one column.

    Parameters
    ----------
    column_index : int
        Among the columns that the model looks at.
    column : int
        Among the coded columns of the schema where there is a table, else among its numbers.
    table : ndarray of shape (n_codes, n_outputs) or None
    """

    column_index: int
    column: int
    table: Floats | None
    curve: FeatureCurve | None

    def at(self, table: EncodedTable) -> Floats:
        """Return the effect in each row, (n_rows, n_outputs)."""
        if self.curve is not None:
            return self.curve.at(table.numbers[:, self.column])
        assert self.table is not None  # noqa: S101 - narrows the type
        return self.table.take(table.codes[:, self.column], axis=0)


@dataclass(frozen=True)
class _Several:
    """The effect of several columns together.

    Parameters
    ----------
    column_indices : tuple of int
        Among the columns that the model looks at.
    columns : tuple of int
        Among the coded columns of the schema.
    effect : ndarray of shape (n_codes, ..., n_outputs)
        One axis per column.
    """

    column_indices: tuple[int, ...]
    columns: tuple[int, ...]
    effect: Floats

    def at(self, axes: list[Axis]) -> Floats:
        """Return the effect at coordinates on the axis of each column, (n_rows, n_outputs)."""
        return interpolate(self.effect, axes)

    def axes(self, coordinates: RowCoordinates) -> list[Axis]:
        """Return where rows stand on the axis of each column."""
        return [coordinates.axis(column) for column in self.columns]


@dataclass(frozen=True)
class ColumnShares:
    """The score of a row as a base and one share per column.

    Scores have one number per class, or, with two classes, the log odds of the second one alone. An effect of
    several columns is shared out by Shapley values: equally against the mean of training, where effects of
    tuples are pure; against a reference row, a column that has the reference's value gets nothing.

    Parameters
    ----------
    positions : tuple of int
        The columns of the schema that the model looks at.
    intercept : ndarray of shape (n_outputs,)
        The mean score over the training rows.
    """

    positions: tuple[int, ...]
    schema: Schema
    intercept: Floats
    singles: tuple[_Single, ...]
    tuples: tuple[_Several, ...]

    @classmethod
    def of(cls, model: Any) -> ColumnShares:
        """Read the effects of a fitted additive model."""
        effects = effects_of(model)
        schema = effects.schema
        looked_at = {effect.position for effect in effects.features}
        looked_at |= {schema.coded[j] for effect in effects.tuples for j in effect.columns}
        positions = tuple(sorted(looked_at))
        index = {position: k for k, position in enumerate(positions)}
        return cls(
            positions,
            schema,
            as_outputs(effects.intercept),
            tuple(_singles(effects, index)),
            tuple(_several(effect, schema, index) for effect in effects.tuples),
        )

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the columns that the model looks at."""
        return tuple(self.schema.columns[position].name for position in self.positions)

    @property
    def n_outputs(self) -> int:
        """Return how many numbers a score has."""
        return len(self.intercept)

    def from_mean(self, table: EncodedTable) -> Floats:
        """Return each column's share beyond the mean of training, (n_columns, n_rows, n_outputs)."""
        shares = np.zeros((len(self.positions), len(table), self.n_outputs))
        for single in self.singles:
            shares[single.column_index] += single.at(table)
        coordinates = table.coordinates
        for several in self.tuples:
            equal = several.at(several.axes(coordinates)) / len(several.column_indices)
            for index in several.column_indices:
                shares[index] += equal
        return shares

    def from_row(self, table: EncodedTable, reference: EncodedTable) -> Floats:
        """Return each column's share beyond a reference row, (n_columns, n_rows, n_outputs)."""
        shares = np.zeros((len(self.positions), len(table), self.n_outputs))
        for single in self.singles:
            shares[single.column_index] += single.at(table) - single.at(reference)
        here, there = table.coordinates, reference.coordinates
        for several in self.tuples:
            for index, share in zip(several.column_indices, _shapley(several, here, there), strict=True):
                shares[index] += share
        return shares

    def score(self, table: EncodedTable) -> Floats:
        """Return the score of each row, (n_rows, n_outputs)."""
        score: Floats = self.intercept + self.from_mean(table).sum(axis=0)
        return score


def _singles(effects: Effects, index: dict[int, int]) -> Iterator[_Single]:
    schema = effects.schema
    for effect in effects.features:
        if effect.curve is not None:
            column, curve = schema.numeric_index[effect.position], effect.curve.map_values(as_outputs)
            yield _Single(index[effect.position], column, None, curve)
        elif effect.table is not None:
            column = schema.coded_index[effect.position]
            yield _Single(index[effect.position], column, as_outputs(effect.table), None)


def _several(effect: TupleEffect, schema: Schema, index: dict[int, int]) -> _Several:
    positions = tuple(index[schema.coded[j]] for j in effect.columns)
    return _Several(positions, effect.columns, np.ascontiguousarray(as_outputs(effect.table)))


def _shapley(several: _Several, rows: RowCoordinates, reference: RowCoordinates) -> list[Floats]:
    """Return the Shapley value of each column of a tuple, the reference standing in for what is left out."""
    order = len(several.columns)
    here = several.axes(rows)
    there = [axis.repeated(len(rows.codes)) for axis in several.axes(reference)]

    def at(taken: tuple[int, ...]) -> Floats:
        return several.at([here[k] if k in taken else there[k] for k in range(order)])

    values = {taken: at(taken) for size in range(order + 1) for taken in combinations(range(order), size)}
    shares = []
    for column in range(order):
        share = np.zeros_like(values[()])
        for taken, value in values.items():
            if column not in taken:
                joined = tuple(sorted((*taken, column)))
                weight = factorial(len(taken)) * factorial(order - len(taken) - 1) / factorial(order)
                share += weight * (values[joined] - value)
        shares.append(share)
    return shares
