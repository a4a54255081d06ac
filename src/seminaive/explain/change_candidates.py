"""What a row's cells may be changed to, what each change costs and what it gains."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.encode import CategoricalColumn, EmptyColumn, EncodedTable, NumericColumn
from seminaive.encode.nodes import Axis, at_codes, axis_of, interpolate, read_axis
from seminaive.errors import InputError
from seminaive.explain.portable import Portable
from seminaive.explain.reading import as_outputs
from seminaive.scores import unknown_cells

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from seminaive.arrays import Floats
    from seminaive.encode import Schema
    from seminaive.statistics.number_sketch import NumberSketch


Costs = Mapping[str, float | Callable[[Any, Any], float]]
Rules = Iterable[str] | Mapping[str, Any]


@dataclass(frozen=True)
class ColumnChanges:
    """What one column's cell may be changed to, the cheapest first.

    Parameters
    ----------
    position : int
        In the schema.
    old : category, float or None
        The cell now; None where it is missing, or was never seen in training.
    values : list
        Categories or numbers.
    axis : Axis
        Where the values stand on the axis of the column in tables of tuples; zeros where it is not coded.
    costs : ndarray of shape (n_values,)
    gains : ndarray of shape (n_values, n_others)
        By how much the log odds of the wanted class against each other class rise where only this column
        changes.
    """

    name: str
    position: int
    old: Any
    values: list[Any]
    axis: Axis
    costs: Floats
    gains: Floats

    def kept(self, index: NDArray[np.intp]) -> ColumnChanges:
        """Return some of the changes, in this order."""
        return replace(
            self,
            values=[self.values[k] for k in index.tolist()],
            axis=Axis(self.axis.codes[index], self.axis.along[index]),
            costs=self.costs[index],
            gains=self.gains[index],
        )

    def undominated(self, *, by_coordinate: bool) -> ColumnChanges:
        """Leave out what costs as much as another change, or more, and gains no more against any class.

        Parameters
        ----------
        by_coordinate : bool
            Whether changes to different coordinates are kept apart, because a pair looks at them.
        """
        order = np.lexsort((-self.gains[:, 0], self.costs))
        kept: list[int] = []
        best: dict[tuple[int, float], Floats] = {}
        for k in order.tolist():
            group = (int(self.axis.codes[k]), float(self.axis.along[k])) if by_coordinate else (0, 0.0)
            ahead = best.get(group)
            if ahead is not None and (ahead >= self.gains[k]).all(axis=1).any():
                continue
            gain = self.gains[k : k + 1]
            # With two classes the last one kept has the largest gain; else all are compared.
            best[group] = gain if ahead is None or self.gains.shape[1] == 1 else np.vstack([ahead, gain])
            kept.append(k)
        return self.kept(np.array(kept, dtype=np.intp))


class RowChanges:
    """All changes of one row that are allowed, and how two of them act together.

    Parameters
    ----------
    model : a fitted additive model
    table : EncodedTable
        Of one row.
    towards : int
        The position of the wanted class.
    """

    def __init__(self, model: Any, table: EncodedTable, towards: int) -> None:
        self.portable = Portable.of(model)
        self.schema: Schema = model.schema_
        self.summary = model.summary_
        self.towards = towards
        self.codes = dict(zip(self.schema.coded, table.codes[0].astype(int).tolist(), strict=True))
        coordinates = table.coordinates
        self.now = {position: coordinates.axis(j) for j, position in enumerate(self.schema.coded)}
        self.numbers = dict(zip(self.schema.numeric, table.numbers[0].tolist(), strict=True))
        self.unknown, self.factor, self.lacking = self._unknown(model, table)

    def _unknown(self, model: Any, table: EncodedTable) -> tuple[set[int], float, Floats]:
        """Return the columns that are unknown, by what they multiply scores, and what they add to outputs."""
        attenuation, nothing = model.scores_.attenuation, np.zeros((1, self.portable.n_outputs))
        if attenuation is None:
            return set(), 1.0, nothing
        silent = unknown_cells(table)
        factors, shares = attenuation.factors_and_shares(silent)
        positions = {self.schema.features[k] for k in np.flatnonzero(silent[0])}
        return positions, float(factors[0]), shares[0] * as_outputs(attenuation.lack)[None]

    def log_odds(self, model: Any, table: EncodedTable) -> Floats:
        """Return the log odds of the row for the wanted class against each other one."""
        sums = self.advantage(as_outputs(model.scores_.sums(table)))
        odds: Floats = (sums + self._against(self.lacking))[0]
        return odds

    def advantage(self, values: Floats) -> Floats:
        """Return contributions to outputs, on the last axis, as log odds of the wanted class.

        They are log odds against each other class, in a row whose unknown cells stay unknown.
        """
        return self.factor * self._against(values)

    def _against(self, values: Floats) -> Floats:
        if values.shape[-1] == 1:
            return values if self.towards == 1 else -values
        odds: Floats = values[..., self.towards, None] - np.delete(values, self.towards, axis=-1)
        return odds

    @cached_property
    def tuples(self) -> list[tuple[tuple[int, ...], Floats]]:
        """Return positions and dense tables of advantages, one axis per column and the others last."""
        shape = self.portable.shape
        return [
            (positions, self.advantage(dense).reshape(*shape(positions), -1))
            for positions, dense in self.portable.dense_tuples
        ]

    @cached_property
    def looked_at(self) -> list[int]:
        """Return the columns that some term looks at."""
        return sorted({*self.portable.coded, *self.portable.curves})

    def of_column(self, position: int, rule: Any, cost: Any) -> ColumnChanges:
        """Return what one column may be changed to, with gains of single columns only.

        Parameters
        ----------
        rule : True, "up", "down" or collection
            Which of the values that training had are allowed.
        cost : float or callable
        """
        column = self.schema.columns[position]
        if isinstance(column, CategoricalColumn):
            changes = self._categories(column, position)
        else:
            changes = self._numbers(column, position)
        allowed = [
            k for k, value in enumerate(changes.values) if _allows(rule, changes.old, value, column.name)
        ]
        changes = changes.kept(np.array(allowed, dtype=np.intp))
        costs = _priced(changes, cost)
        possible = np.flatnonzero(np.isfinite(costs))
        return replace(changes, costs=costs).kept(possible)

    def _categories(self, column: CategoricalColumn, position: int) -> ColumnChanges:
        now = self.codes[position]
        seen = self.summary.cell_weights(self.schema.coded_index[position]).sum(axis=1) > 0
        codes = np.array([k for k in range(column.n_present) if seen[k] and k != now], dtype=np.int64)
        table = self.portable.tables.get(position)
        gains = self._no_gains(len(codes)) if table is None else self.advantage(table[codes] - table[now])
        old = column.categories[now] if now < column.n_present else None
        values = [column.categories[k] for k in codes.tolist()]
        axis = at_codes(codes)
        return ColumnChanges(column.name, position, old, values, axis, np.ones(len(codes)), gains)

    def _numbers(self, column: Any, position: int) -> ColumnChanges:
        now = self.numbers[position]
        sketch = self.summary.numbers[self.schema.numeric_index[position]]
        curve = self.portable.curves.get(position)
        edges = column.cuts if column.nodes is None else column.nodes
        numbers = numbers_seen(sketch, () if curve is None else curve.edges, edges or ())
        numbers = numbers[numbers != now]
        gains = self._no_gains(len(numbers))
        if curve is not None:
            gains = self.advantage(curve.at(numbers) - curve.at(np.array([now])))
        axis = axis_of(column, numbers)
        if np.isnan(now):
            costs, old = np.ones(len(numbers)), None
        else:
            ranks = _ranks(sketch, np.append(numbers, now))
            costs, old = np.abs(ranks[:-1] - ranks[-1]), now
        return ColumnChanges(column.name, position, old, numbers.tolist(), axis, costs, gains)

    def _no_gains(self, n_values: int) -> Floats:
        return np.zeros((n_values, max(1, len(self.portable.classes) - 1)))

    def with_fixed_columns(self, changes: list[ColumnChanges]) -> list[ColumnChanges]:
        """Add to gains what tuples say where the other columns keep their cells."""
        by_position = {change.position: change.gains.copy() for change in changes}
        axes = {change.position: change.axis for change in changes}
        for positions, table in self.tuples:
            now = interpolate(table, [self.now[position] for position in positions])
            for position in positions:
                if position in by_position:
                    n_values = len(axes[position].codes)
                    mixed = [axes[k] if k == position else self.now[k].repeated(n_values) for k in positions]
                    by_position[position] += interpolate(table, mixed) - now
        return [replace(change, gains=by_position[change.position]) for change in changes]

    def interactions(self, changes: list[ColumnChanges]) -> dict[tuple[int, int], Floats]:
        """Return what two changed columns gain together beyond what each gains alone, at their codes.

        Keys are coordinates in ``changes``, in increasing order; values have the shape (n_codes, n_codes,
        n_others).
        """
        index = {change.position: k for k, change in enumerate(changes)}
        found: dict[tuple[int, int], Floats] = {}
        for positions, table in self.tuples:
            free = [axis for axis, position in enumerate(positions) if position in index]
            if len(free) < 2:
                continue
            if len(free) > 2:
                names = ", ".join(repr(changes[index[positions[axis]]].name) for axis in free)
                raise InputError(
                    f"the model has an effect of {names} together, and changes of three such columns at once "
                    "are not searched: leave one of them out of may_change"
                )
            now = [self.now[position] for position in positions]
            block = table
            for axis in range(len(positions) - 1, -1, -1):
                if axis not in free:
                    block = read_at(block, axis, now[axis])
            first_now, second_now = (now[axis] for axis in free)
            without_first = read_at(block, 0, first_now)[None]
            without_second = read_at(block, 1, second_now)[:, None]
            pure = block - without_first - without_second + read_at(without_first, 1, second_now)[:, None]
            first, second = (index[positions[axis]] for axis in free)
            if first > second:
                first, second, pure = second, first, pure.swapaxes(0, 1)
            found[first, second] = found[first, second] + pure if (first, second) in found else pure
        return found

    def changed(self, cells: Mapping[int, Any]) -> EncodedTable:
        """Return the row with some cells changed, by their positions."""
        codes, numbers = dict(self.codes), dict(self.numbers)
        for position, value in cells.items():
            column = self.schema.columns[position]
            if isinstance(column, CategoricalColumn):
                codes[position] = column.code_of[column.key(value)]
            elif isinstance(column, NumericColumn):
                numbers[position] = value
                if column.cuts is not None:
                    codes[position] = bisect_left(column.cuts, value)
        return EncodedTable(
            np.array([list(codes.values())], dtype=self.schema.code_type),
            np.array([list(numbers.values())], dtype=np.float64),
            self.schema,
        )


def read_at(table: Floats, axis: int, coordinate: Axis) -> Floats:
    """Return a table without one of its axes, read at the coordinate of one row."""
    return read_axis(table, axis, coordinate).squeeze(axis)


def numbers_seen(sketch: NumberSketch, *edges: Any) -> Floats:
    """Return the numbers that a cell may be changed to.

    They are the different numbers of training, where there are up to 1,024; else the middles of as many bins,
    and the edges and knots between them.
    """
    seen = sketch.middles()
    if sketch.is_exact:
        return seen
    every = np.concatenate([seen, *(np.asarray(knots, dtype=np.float64) for knots in edges)])
    numbers: Floats = np.unique(every[(every >= seen[0]) & (every <= seen[-1])])
    return numbers


def _ranks(sketch: NumberSketch, numbers: Floats) -> Floats:
    """Return the share of the training numbers below each number, those equal to it counting half."""
    weights = sketch.weights
    ranks = (np.cumsum(weights) - weights / 2) / weights.sum()
    shares: Floats = np.interp(numbers, sketch.middles(), ranks, left=0.0, right=1.0)
    return shares


def _allows(rule: Any, old: Any, new: Any, name: str) -> bool:
    """Tell whether a rule lets a cell change to a value."""
    if rule is True:
        return True
    if isinstance(rule, str):
        if rule not in ("up", "down") or isinstance(new, str):
            raise InputError(
                f"may_change of {name!r} is True, 'up' or 'down' for numbers, or a list of values, got "
                f"{rule!r}"
            )
        return old is None or (new > old if rule == "up" else new < old)
    if isinstance(rule, Collection):
        return new in rule
    raise InputError(f"may_change of {name!r} is True, 'up', 'down' or a list of values, got {rule!r}")


def _priced(changes: ColumnChanges, cost: Any) -> Floats:
    """Return costs of changes: given by a function, or the usual ones times a number."""
    if callable(cost):
        costs = np.array([float(cost(changes.old, value)) for value in changes.values])
    else:
        costs = changes.costs * float(cost)
    if len(costs) and (np.isnan(costs).any() or costs.min() < 0):
        raise InputError(f"the cost of changing {changes.name!r} is negative or no number: give 0 or more")
    return costs


def changeable(schema: Schema, looked_at: list[int], may_change: Rules | None) -> dict[int, Any]:
    """Return the rule of each column that may change, by its position; refuse names of no column."""
    if may_change is None:
        return dict.fromkeys(looked_at, True)
    if isinstance(may_change, str):
        may_change = [may_change]
    rules = dict(may_change) if isinstance(may_change, Mapping) else dict.fromkeys(may_change, True)
    names = {column.name: k for k, column in enumerate(schema.columns) if not isinstance(column, EmptyColumn)}
    for name in rules:
        if name not in names:
            raise InputError(f"may_change names {name!r}, which is not a column: {list(names)}")
    return {
        names[name]: rule for name, rule in rules.items() if names[name] in looked_at and rule is not False
    }
