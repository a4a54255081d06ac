"""Branch and bound over sets of changed cells: the cheapest that reaches some log odds, and a lower bound."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.encode.nodes import Axis, interpolate
from seminaive.explain.change_candidates import read_at

if TYPE_CHECKING:
    from seminaive.arrays import Booleans, Floats, Integers
    from seminaive.explain.change_candidates import ColumnChanges

# A bound closer to the best cost than this share of it does not promise anything better.
TIE = 1e-12
# Log odds that rounding may have moved.
SLACK = 1e-9


@dataclass
class ChangeSearch:
    """Branch and bound over sets of changes, at most one per column, in the order of the columns.

    With r columns still to change, a candidate's optimistic gain is its gain plus half of its r - 1 largest
    positive interactions; summed over a set these are at least what the set gains. A branch is cut off where
    the convex (fractional) relaxation of the cheapest completion costs as much as the best set found.

    Parameters
    ----------
    interactions : dict of (place, place) to ndarray
    most : int
        How many columns may change.
    """

    columns: list[ColumnChanges]
    interactions: dict[tuple[int, int], Floats]
    most: int
    max_nodes: int
    best: tuple[tuple[int, int], ...] = ()
    cost: float = np.inf
    bound: float = np.inf
    nodes: int = 0
    _beside: dict[tuple[int, int, float], Floats] = field(default_factory=dict)

    def run(self, odds: Floats, least: float) -> None:
        """Search.

        Parameters
        ----------
        odds : ndarray of shape (n_others,)
            The log odds of the wanted class against each other one.
        least : float
            The log odds, against all others together, to be reached.
        """
        self.least = least
        if _together(odds) >= least:
            self.cost = self.bound = 0.0
            return
        if not self.columns:
            return
        self.most = min(self.most, len(self.columns))
        self.starts = np.cumsum([0, *(len(column.values) for column in self.columns)])
        self.column_of = np.repeat(np.arange(len(self.columns)), np.diff(self.starts))
        self.costs = np.concatenate([column.costs for column in self.columns])
        gains = np.concatenate([column.gains for column in self.columns])
        hopes, self.partner_hopes = self._hopes(gains.shape)
        self.optimistic = gains + hopes
        self.envelopes = self._suffix_envelopes()
        open_bound = self._look(odds, gains, -1, 0.0, odds, ())
        self.bound = min(self.cost, open_bound)

    def _look(
        self,
        odds: Floats,
        gains: Floats,
        last: int,
        spent: float,
        hoped: Floats,
        chosen: tuple[tuple[int, int], ...],
    ) -> float:
        """Try every further change after the last column; return the lowest bound of what is left open.

        Parameters
        ----------
        odds : ndarray of shape (n_others,)
            With the changes chosen so far.
        gains : ndarray of shape (n_candidates, n_others)
            Of one further change, given those.
        hoped : ndarray of shape (n_others,)
            The first odds plus the optimistic gains of the changes chosen.
        """
        self.nodes += 1
        first = int(self.starts[last + 1])
        self._finish(odds, gains, first, spent, chosen)
        if len(chosen) + 1 >= self.most or last + 2 >= len(self.columns):
            return np.inf
        lower = self._lower_bounds(first, spent, hoped)
        if len(chosen) + 2 == self.most:
            lower[self._cannot_reach(odds, gains, first, spent)] = np.inf
        candidates = first + np.argsort(lower, kind="stable")
        left_open = np.inf
        for candidate in candidates.tolist():
            bound = float(lower[candidate - first])
            if bound >= self.cost * (1 - TIE):
                break
            if self.nodes >= self.max_nodes:
                return min(left_open, bound)
            column = int(self.column_of[candidate])
            step = (column, candidate - int(self.starts[column]))
            left_open = min(
                left_open,
                self._look(
                    odds + gains[candidate],
                    gains + self._interaction(*step),
                    column,
                    spent + float(self.costs[candidate]),
                    hoped + self.optimistic[candidate],
                    (*chosen, step),
                ),
            )
        return left_open

    def _finish(
        self, odds: Floats, gains: Floats, first: int, spent: float, chosen: tuple[tuple[int, int], ...]
    ) -> None:
        """Keep the cheapest single further change that reaches the odds, if it is the best so far."""
        affordable = first + np.flatnonzero(self.costs[first:] < self.cost - spent)
        reaches = affordable[_together(odds + gains[affordable]) >= self.least]
        if len(reaches):
            candidate = int(reaches[self.costs[reaches].argmin()])
            column = int(self.column_of[candidate])
            self.cost = spent + float(self.costs[candidate])
            self.best = (*chosen, (column, candidate - int(self.starts[column])))

    def _lower_bounds(self, first: int, spent: float, hoped: Floats) -> Floats:
        """Return what each candidate as the next change, and the cheapest completion, cost at least."""
        lower = spent + self.costs[first:]
        missing = self.least - hoped - self.optimistic[first:]
        for column in range(int(self.column_of[first]), len(self.columns)):
            of_column = slice(int(self.starts[column]) - first, int(self.starts[column + 1]) - first)
            for other, (reach, price) in enumerate(self.envelopes[column + 1]):
                need = missing[of_column, other]
                further = np.interp(need, reach, price)
                lower[of_column] = np.maximum(
                    lower[of_column],
                    spent + self.costs[first:][of_column] + np.where(need > reach[-1], np.inf, further),
                )
        return lower

    def _cannot_reach(self, odds: Floats, gains: Floats, first: int, spent: float) -> Booleans:
        """Tell which candidates, as the last change but one, leave too much for any affordable last one."""
        cheapest = float(self.costs[first:].min())
        affordable = self.costs[first:, None] < self.cost - spent - cheapest
        reach = np.where(affordable, gains[first:] + self.partner_hopes[first:], -np.inf)
        columns = self.column_of[first:] - self.column_of[first]
        begins = self.starts[self.column_of[first] : -1] - first
        best = np.maximum.reduceat(reach, begins, axis=0)
        later = np.maximum.accumulate(best[::-1], axis=0)[::-1]
        later = np.vstack([later[1:], np.full((1, later.shape[1]), -np.inf)])
        too_low: Booleans = (odds + gains[first:] + later[columns] < self.least - SLACK).any(axis=1)
        return too_low

    def _interaction(self, column: int, value: int) -> Floats:
        """Return what every candidate gains more, or less, once a column has changed to a value."""
        axis = self.columns[column].axis
        coordinate = Axis(axis.codes[value : value + 1], axis.along[value : value + 1])
        key = (column, int(coordinate.codes[0]), float(coordinate.along[0]))
        if key not in self._beside:
            beside = np.zeros((len(self.costs), self.optimistic.shape[1]))
            for other, candidates in enumerate(self.columns):
                rows = slice(self.starts[other], self.starts[other + 1])
                if (column, other) in self.interactions:
                    line = read_at(self.interactions[column, other], 0, coordinate)
                elif (other, column) in self.interactions:
                    line = read_at(self.interactions[other, column], 1, coordinate)
                else:
                    continue
                beside[rows] = interpolate(line, [candidates.axis])
            self._beside[key] = beside
        return self._beside[key]

    def _hopes(self, shape: tuple[int, ...]) -> tuple[Floats, Floats]:
        """Return half of the largest positive interactions of each candidate, and the largest one.

        The first is summed over as many other columns as may change besides. Between two codes of the other
        column an interaction is at most that at one of them.
        """
        hopes, largest_one = np.zeros(shape), np.zeros(shape)
        if self.most < 2:
            return hopes, largest_one
        for column, candidates in enumerate(self.columns):
            largest = []
            for (first, second), table in self.interactions.items():
                if column == first:
                    lines = table[:, _codes_met(self.columns[second].axis)]
                elif column == second:
                    lines = table[_codes_met(self.columns[first].axis)].swapaxes(0, 1)
                else:
                    continue
                at_candidates = interpolate(lines.reshape(len(lines), -1), [candidates.axis])
                largest.append(at_candidates.reshape(len(at_candidates), *lines.shape[1:]).max(axis=1))
            if largest:
                rows = slice(self.starts[column], self.starts[column + 1])
                positive = np.sort(np.maximum(largest, 0.0), axis=0)
                hopes[rows] = positive[-(self.most - 1) :].sum(axis=0) / 2
                largest_one[rows] = positive[-1]
        return hopes, largest_one

    def _suffix_envelopes(self) -> list[list[tuple[Floats, Floats]]]:
        """Return, for the columns from each one on, the least cost of each optimistic gain, by class."""
        n_others = self.optimistic.shape[1]
        nothing = (np.zeros(1), np.zeros(1))
        envelopes = [[nothing] * n_others]
        segments: list[list[tuple[float, float]]] = [[] for _ in range(n_others)]
        for column in range(len(self.columns) - 1, -1, -1):
            of_column = slice(self.starts[column], self.starts[column + 1])
            for other in range(n_others):
                segments[other] += _hull(self.optimistic[of_column, other], self.costs[of_column])
            envelopes.append([_least_cost(parts) for parts in segments])
        return envelopes[::-1]


def _codes_met(axis: Axis) -> Integers:
    """Return the codes between which candidates stand."""
    met: Integers = np.unique(np.concatenate([codes for codes, _ in axis.corners()]))
    return met


def _together(odds: Floats) -> Any:
    """Return the log odds against all other classes together, from those against each, on the last axis."""
    if odds.shape[-1] == 1:
        return odds[..., 0]
    lowest = odds.min(axis=-1, keepdims=True)
    return lowest[..., 0] - np.log(np.exp(lowest - odds).sum(axis=-1))


def _hull(gains: Floats, costs: Floats) -> list[tuple[float, float]]:
    """Return the segments (gain, cost) of the lower convex hull of a column's changes and of no change."""
    points = [(0.0, 0.0)]
    lowest = np.inf
    for gain, cost in sorted(
        zip(gains.tolist(), costs.tolist(), strict=True), key=lambda change: (-change[0], change[1])
    ):
        if gain > 0 and cost < lowest:
            lowest = cost
            points.append((gain, cost))
    points.sort()
    hull: list[tuple[float, float]] = []
    for gain, cost in points:
        while len(hull) > 1 and (hull[-1][1] - hull[-2][1]) * (gain - hull[-2][0]) >= (cost - hull[-2][1]) * (
            hull[-1][0] - hull[-2][0]
        ):
            hull.pop()
        hull.append((gain, cost))
    return [(b[0] - a[0], b[1] - a[1]) for a, b in pairwise(hull)]


def _least_cost(segments: list[tuple[float, float]]) -> tuple[Floats, Floats]:
    """Return increasing gains and their least costs where segments may be taken in parts."""
    ordered = sorted(segments, key=lambda segment: segment[1] / segment[0])
    steps = np.array([(0.0, 0.0), *ordered])
    reach, price = np.cumsum(steps, axis=0).T
    return reach, price
