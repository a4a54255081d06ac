"""The Gram matrix X'WX of a design over cells and numbers, from fused tables."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    from seminaive.arrays import Floats, Indices
    from seminaive.design.fusion import FusedTerms


# Costs in additions along a row of a table: of an addition at a random place, and of calling a kernel.
AT_RANDOM, CALLING = 3.0, 100_000.0


@dataclass(frozen=True)
class _Group:
    """The chosen terms of a group: each row's cell, and the parameters of each cell, counted from 0."""

    cells: NDArray[np.uint32]
    members: NDArray[np.uint32]
    parameters: Indices

    @property
    def parameters_of_rows(self) -> NDArray[np.uint32]:
        return self.members[self.cells]


class CellGram:
    """``X' W X`` for the intercept, the cells of some terms and the numbers, whatever the weights of rows.

    A row lies in one cell of each term, so that products of indicators are weights of pairs of cells. A group
    of fused terms is crossed as a whole: each row is added to a table of its fused cells by the other group's
    parameters, and the fused cells are spread to the parameters of their terms afterwards. Where that does
    not pay, rows are added to all their pairs.

    Parameters
    ----------
    numbers : ndarray of shape (n_rows, n_numbers)
    terms : collection of int
        The terms whose cells take part, by number.

    Attributes
    ----------
    coefficients : ndarray of shape (n_columns,)
        The coefficients that take part, increasing: 0 is the intercept, the numbers come last.
    """

    def __init__(self, fused: FusedTerms, numbers: Floats, terms: Collection[int]) -> None:
        self._numbers = numbers
        self._groups: list[_Group] = []
        position_of = np.zeros(fused.n_parameters, dtype=np.uint32)
        for g, group_terms in enumerate(fused.group_terms):
            wanted = [position for position, term in enumerate(group_terms) if term in terms]
            if wanted:
                members = fused.members[g][:, wanted]
                taken = np.zeros(fused.n_parameters, dtype=bool)
                taken[members] = True
                parameters = np.flatnonzero(taken)
                position_of[parameters] = np.arange(len(parameters))
                cells = fused.cells[g] - np.uint32(fused.offsets[g])
                self._groups.append(_Group(cells, position_of[members], parameters))
        parameters = np.concatenate([np.empty(0, np.int64), *(group.parameters for group in self._groups)])
        self._order = np.argsort(parameters)
        first_number = 1 + fused.n_parameters
        self.coefficients = np.concatenate(
            [[0], 1 + parameters[self._order], first_number + np.arange(numbers.shape[1])]
        )
        self._positions = self._pairs_of_rows() if self._rows_are_cheaper() else None

    def __call__(self, row_weight: Floats) -> Floats:
        """Return the products, one row and one column for each of ``coefficients``."""
        cells = self._of_cells(row_weight)[np.ix_(self._order, self._order)]
        m, n_numbers = len(cells), self._numbers.shape[1]
        gram = np.empty((1 + m + n_numbers, 1 + m + n_numbers))
        gram[0, 0] = row_weight.sum()
        gram[0, 1 : 1 + m] = np.diagonal(cells)
        gram[1 : 1 + m, 1 : 1 + m] = cells
        if n_numbers:
            weighted = self._numbers * row_weight[:, None]
            gram[0, 1 + m :] = weighted.sum(axis=0)
            gram[1 : 1 + m, 1 + m :] = self._sums(weighted)[self._order]
            gram[1 + m :, 1 + m :] = self._numbers.T @ weighted
            gram[1 + m :, 1 : 1 + m] = gram[1 : 1 + m, 1 + m :].T
        gram[1:, 0] = gram[0, 1:]
        return gram

    def _of_cells(self, row_weight: Floats) -> Floats:
        """Return the products of indicators, parameters in the order of the groups."""
        from seminaive.kernels.hessian import count_pairs, pair_members, weigh_cells

        starts = self._starts()
        gram = np.zeros((starts[-1], starts[-1]))
        if self._positions is not None:
            count_pairs(self._positions, row_weight, gram)
            lower: Floats = np.tril(gram)
            return lower + np.tril(gram, -1).T
        blocks = [slice(first, last) for first, last in pairwise(starts)]
        for group, block in zip(self._groups, blocks, strict=True):
            totals = np.zeros(len(group.members))
            weigh_cells(group.cells, row_weight, totals)
            within_group = np.zeros((len(group.parameters), len(group.parameters)))
            pair_members(group.members, totals, within_group)
            gram[block, block] = within_group
        for (one, block), (other, other_block) in combinations(zip(self._groups, blocks, strict=True), 2):
            crossed = _crossed(one, other, row_weight)
            gram[block, other_block] = crossed
            gram[other_block, block] = crossed.T
        return gram

    def _sums(self, rows: Floats) -> Floats:
        """Return the sums of rows in each cell, parameters in the order of the groups."""
        from seminaive.kernels.hessian import spread_members

        sums = [np.empty((0, rows.shape[1]))]
        for group in self._groups:
            table = np.stack(
                [np.bincount(group.cells, column, minlength=len(group.members)) for column in rows.T], axis=1
            )
            group_sums = np.zeros((len(group.parameters), rows.shape[1]))
            spread_members(group.members, table, group_sums)
            sums.append(group_sums)
        return np.concatenate(sums)

    def _starts(self) -> list[int]:
        return [0, *np.cumsum([len(group.parameters) for group in self._groups]).tolist()]

    def _rows_are_cheaper(self) -> bool:
        """Tell whether adding each row to all its pairs costs less than crossing groups."""
        n_terms = sum(group.members.shape[1] for group in self._groups)
        by_rows = AT_RANDOM * len(self._numbers) * n_terms * (n_terms + 1) / 2
        within_groups = sum(
            len(group.cells) + group.members.size * group.members.shape[1] for group in self._groups
        )
        crossing = sum(CALLING + _cheapest(one, other)[0] for one, other in combinations(self._groups, 2))
        return bool(by_rows <= AT_RANDOM * within_groups + crossing)

    def _pairs_of_rows(self) -> NDArray[np.uint32]:
        """Return each row's parameters, in the order of the groups."""
        starts = self._starts()
        positions = [
            np.sort(group.parameters_of_rows, axis=1) + np.uint32(start)
            for group, start in zip(self._groups, starts[:-1], strict=True)
        ]
        return np.concatenate([np.empty((len(self._numbers), 0), np.uint32), *positions], axis=1)


def _cheapest(one: _Group, other: _Group) -> tuple[float, int]:
    """Return the cost of crossing two groups, and whose fused cells to cross: 0 neither's, else 1 or 2."""
    n, (f, t), (e, u) = len(one.cells), one.members.shape, other.members.shape
    p, q = len(one.parameters), len(other.parameters)
    return min(
        (AT_RANDOM * n * t * u, 0),
        (AT_RANDOM * n * u + f * q * (t + 2), 1),
        (AT_RANDOM * n * t + e * p * (u + 2), 2),
    )


def _crossed(one: _Group, other: _Group, row_weight: Floats) -> Floats:
    """Return the products of two groups' indicators, (parameters of one, parameters of the other)."""
    from seminaive.kernels.hessian import cross_members

    _, whose = _cheapest(one, other)
    if whose == 2:
        return _crossed_cells(other, one, row_weight).T
    if whose == 1:
        return _crossed_cells(one, other, row_weight)
    block = np.zeros((len(one.parameters), len(other.parameters)))
    cross_members(one.cells, one.members, other.cells, other.members, row_weight, block)
    return block


def _crossed_cells(one: _Group, other: _Group, row_weight: Floats) -> Floats:
    """Cross the fused cells of one group with the parameters of the other, then spread them."""
    from seminaive.kernels.hessian import cross_cells, spread_members

    table = np.zeros((len(one.members), len(other.parameters)))
    cross_cells(one.cells, other.cells, other.members, row_weight, table)
    block = np.zeros((len(one.parameters), len(other.parameters)))
    spread_members(one.members, table, block)
    return block
