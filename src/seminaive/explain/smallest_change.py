"""The cheapest change of a row that moves it past a probability, found and proved by branch and bound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.encode import DateFormat
from seminaive.errors import InputError
from seminaive.explain.change_candidates import RowChanges, changeable
from seminaive.explain.change_search import ChangeSearch
from seminaive.explain.reading import check_summary_kept, class_position
from seminaive.explain.tables import one_row
from seminaive.explain.wording import number_texts
from seminaive.scores import log_posterior

if TYPE_CHECKING:
    from seminaive.encode import EncodedTable
    from seminaive.encode.column_types import Column
    from seminaive.explain.change_candidates import ColumnChanges, Costs, Rules


@dataclass(frozen=True)
class CellChange:
    """One cell's change.

    Parameters
    ----------
    column : str
    old : category, float or None
        None where the cell is missing, or was never seen in training.
    new : category or float
    cost : float
    """

    column: str
    old: Any
    new: Any
    cost: float

    def __str__(self) -> str:
        old, new = (
            "not known"
            if value is None
            else number_texts(np.array([value]))[0]
            if isinstance(value, float)
            else str(value)
            for value in (self.old, self.new)
        )
        return f"{self.column} from {old} to {new}"


@dataclass(frozen=True)
class SmallestChange:
    """The cheapest change of at most some columns that reaches a probability.

    Parameters
    ----------
    towards : label
        The wanted class.
    probability : float
        What was to be reached.
    before, after : float
        The probability of the wanted class before and after the change.
    changes : tuple of CellChange
        None where the row is there already, and where nothing reaches the probability.
    cost : float
        Of all changes; 0 where the row is there already, infinite where nothing reaches the probability.
    bound : float
        No change costs less than this. It equals ``cost`` where the search was not cut short, which proves
        that the change is the cheapest, or that there is none.
    nodes : int
        How many sets of changes were looked into.
    """

    towards: Any
    probability: float
    before: float
    after: float
    changes: tuple[CellChange, ...]
    cost: float
    bound: float
    nodes: int

    @property
    def is_proved(self) -> bool:
        """Tell whether no change is cheaper."""
        return self.bound >= self.cost

    @property
    def cells(self) -> dict[str, Any]:
        """Return the new cells by column."""
        return {change.column: change.new for change in self.changes}

    def __str__(self) -> str:
        if np.isinf(self.cost):
            return f"no allowed change gives {self.towards} a probability of {self.probability:g}"
        if not self.changes:
            return f"{self.towards} has the probability {self.before:.3g} already"
        shown = "; ".join(map(str, self.changes))
        return f"{shown}: the probability of {self.towards} rises from {self.before:.3g} to {self.after:.3g}"


def smallest_change(
    model: Any,
    row: Any,
    towards: Any,
    *,
    probability: float = 0.5,
    may_change: Rules | None = None,
    cost: Costs | None = None,
    max_columns: int = 3,
    max_nodes: int = 200_000,
) -> SmallestChange:
    """Return the cheapest change of at most ``max_columns`` cells that gives a class a probability.

    Cells change to values that training had: categories, and numbers (each one where training had up to
    1,024 different ones, else the middles of 1,024 bins, and the model's cut points and knots). The search
    is exact: branches are cut off by bounds on what any further change can gain.

    Parameters
    ----------
    model : a fitted additive model
        Effects of three or more columns are allowed as long as at most two of them may change. In models that
        learn the class given the row, an unknown cell stays unknown.
    row : mapping of column to cell, list of cells, or table of one row
    towards : label
        The wanted class.
    probability : float, default=0.5
        What the wanted class must reach, above 0 and below 1.
    may_change : list of columns, or mapping of column to rule, default=None
        A rule is True, "up" or "down" for numbers, or a list of the values that are allowed. None: every
        column may change.
    cost : mapping of column to number or function, default=None
        A function of the old and the new cell gives the cost, infinite where a change is impossible. A number
        multiplies the usual cost: of a category 1; of a number the share of the training rows between the old
        and the new one. Missing and unseen cells are None for the function, and cost 1.
    max_columns : int, default=3
        How many cells may change.
    max_nodes : int, default=200,000
        Sets of changes to look into before the search is cut short; then ``bound`` is below ``cost``.

    Returns
    -------
    SmallestChange

    Examples
    --------
    >>> from seminaive import NaiveBayes
    >>> X = [["wet", "bald"], ["wet", "new"], ["dry", "new"], ["dry", "bald"]] * 25
    >>> model = NaiveBayes().fit(X, ["slip", "hold", "hold", "slip"] * 25)
    >>> print(smallest_change(model, ["wet", "bald"], "hold", probability=0.9))
    x1 from bald to new: the probability of hold rises from 0.0192 to 0.981
    """
    check_summary_kept(model)
    if not 0 < probability < 1:
        raise InputError(f"probability is above 0 and below 1, got {probability!r}")
    for name, value in (("max_columns", max_columns), ("max_nodes", max_nodes)):
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
            raise InputError(f"{name} is a whole number of 1 or more, got {value!r}")
    position = class_position(model, towards)
    table = one_row(model, row)
    before = _probability(model, table, position)
    changes = RowChanges(model, table, position)
    columns = _columns(changes, may_change, cost or {}, max_columns)
    search = ChangeSearch(columns, changes.interactions(columns), int(max_columns), int(max_nodes))
    search.run(changes.log_odds(model, table), float(np.log(probability) - np.log1p(-probability)))
    made = tuple(
        CellChange(
            columns[k].name,
            _as_cell(model.schema_.columns[columns[k].position], columns[k].old),
            _as_cell(model.schema_.columns[columns[k].position], columns[k].values[v]),
            float(columns[k].costs[v]),
        )
        for k, v in search.best
    )
    changed = changes.changed({columns[k].position: columns[k].values[v] for k, v in search.best})
    return SmallestChange(
        model.classes_.tolist()[position],
        probability,
        before,
        _probability(model, changed, position),
        made,
        search.cost,
        search.bound,
        search.nodes,
    )


def _as_cell(column: Column, value: Any) -> Any:
    """Return a value as a cell of its column: days as a date."""
    dates = getattr(column, "written", None)
    return dates.write(value) if isinstance(dates, DateFormat) and value is not None else value


def _probability(model: Any, table: EncodedTable, position: int) -> float:
    return float(np.exp(log_posterior(model.scores_.joint_log_scores(table))[0, position]))


def _columns(
    changes: RowChanges, may_change: Rules | None, cost: Costs, max_columns: int
) -> list[ColumnChanges]:
    """Return the changes of each column worth a look; columns with many of them last.

    The last change of a set is found by one pass over arrays, so that long columns are cheapest there.
    """
    rules = changeable(changes.schema, changes.looked_at, may_change)
    unknown = [changes.schema.columns[position].name for position in rules if position in changes.unknown]
    if unknown and may_change is not None:
        raise InputError(
            f"{unknown[0]!r} is unknown in this row, and cannot change: leave it out of may_change"
        )
    rules = {position: rule for position, rule in rules.items() if position not in changes.unknown}
    foreign = [name for name in cost if name not in changes.schema.names]
    if foreign:
        raise InputError(f"cost names {foreign[0]!r}, which is not a column: {list(changes.schema.names)}")
    columns = [
        changes.of_column(position, rule, cost.get(changes.schema.columns[position].name, 1.0))
        for position, rule in rules.items()
    ]
    columns = changes.with_fixed_columns([column for column in columns if column.values])
    free = {column.position for column in columns}
    paired = {
        position
        for positions, _ in changes.tuples
        if len(free.intersection(positions)) > 1
        for position in positions
    }
    reduced = [
        column.undominated(by_coordinate=max_columns > 1 and column.position in paired) for column in columns
    ]
    return sorted(reduced, key=lambda column: len(column.values))
