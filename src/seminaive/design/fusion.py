"""Terms merged into few joint tables, so that a pass over the rows gathers once per group of terms.

The cost of a pass is rows times gathers. Six binary columns have at most 64 joint values and hold 15
pairs: one gather instead of 15. Columns that exclude each other, such as the 40 soil types of Covertype,
have almost no joint values that occur, so hundreds of their pairs fit into one group. Before a pass each
fused table is filled with the sums of its terms' tables; after it the fused gradient is added back to the
terms. Both are exact.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from seminaive.statistics.distinct import distinct_numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from numpy.typing import NDArray

    from seminaive.arrays import Codes, Floats, Indices
    from seminaive.statistics.terms import Terms


# The plan of the groups, which decides the time of a pass and not its sums. A group's table should stay in
# the second-level cache: 2,048 cells of eight classes are 128 KB. Beyond MANY_SCORES columns of scores it
# has at most FEW_CELLS: a pass of pendigits (30 columns) takes 22 ms for 26, one of letter (78) 50 for 65.
# Filling it may cost at most a share of the gathers it saves rows from. Sizes are those among PLANNING_ROWS;
# below FEW_ROWS planning costs more than it saves. Joint values are numbered by a table of at most
# MOST_SLOTS; beyond, they are sorted.
CELL_BUDGET, EXPANSION_SHARE, PLANNING_ROWS, FEW_ROWS, MOST_SLOTS = 2048, 0.5, 8192, 1000, 1 << 22
MANY_SCORES, FEW_CELLS = 16, 512


def cell_budget(n_scores: int) -> int:
    """Return how many cells a group of terms may have, given the columns of scores of a pass."""
    return FEW_CELLS if n_scores > MANY_SCORES else CELL_BUDGET


@dataclass(frozen=True)
class FusedTerms:
    """The rows of a table as cells of groups of terms.

    Parameters
    ----------
    observed : ndarray of shape (n_parameters,)
        The cells of the packed term array that occur in the rows, increasing; only they have parameters.
    cells : ndarray of shape (n_groups, n_rows), uint32
        The fused cell of each row in each group, counted through all groups.
    offsets : ndarray of shape (n_groups + 1,)
        The first fused cell of each group and, last, the number of all.
    members : tuple of ndarray of shape (fused cells of the group, terms of the group), int32
        For each fused cell of a group, the parameters that add up to it, as positions in ``observed``.
    groups : tuple of tuples of int
        The columns of each group.
    group_terms : tuple of tuples of int
        The terms of each group, by number, in the order of its members.

    Examples
    --------
    Three binary columns: their three pairs are one group, whose cells are the triples that occur.

    >>> import numpy as np
    >>> from seminaive.statistics import Terms
    >>> codes = np.array([[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 0, 1]] * 500, dtype=np.uint8)
    >>> fused = FusedTerms.of(codes, Terms.of_order([2, 2, 2], 2))
    >>> fused.groups, fused.cells[:, :4].tolist()
    (((0, 1, 2),), [[0, 1, 2, 2]])
    """

    observed: Indices
    cells: NDArray[np.uint32]
    offsets: Indices
    members: tuple[NDArray[np.int32], ...]
    groups: tuple[tuple[int, ...], ...]
    group_terms: tuple[tuple[int, ...], ...]

    @classmethod
    def of(
        cls,
        codes: Codes,
        terms: Terms,
        *,
        cell_budget: int = CELL_BUDGET,
        expansion_share: float = EXPANSION_SHARE,
    ) -> FusedTerms:
        """Plan groups on a sample of the rows, then number the joint values of each in all rows.

        ``cell_budget`` bounds the cells of a group, ``expansion_share`` the work of filling it, in rows.
        """
        return cls.of_groups(codes, terms, plan_groups(codes, terms, cell_budget, expansion_share))

    @classmethod
    def of_groups(cls, codes: Codes, terms: Terms, groups: list[Group]) -> FusedTerms:
        """Give each joint value of every planned group a number."""
        unfused = [group.columns for group in groups] == list(terms.features)
        if unfused and 0 < terms.sizes.max(initial=0) <= MOST_SLOTS:
            return cls._of_terms(codes, terms)
        by_column = np.ascontiguousarray(codes.T)
        n_codes = np.array(terms.cardinalities, dtype=np.int64) + 1
        cells = np.empty((len(groups), len(codes)), dtype=np.uint32)
        examples: list[Codes] = []
        n_cells = 0
        for g, group in enumerate(groups):
            joint, first = joint_cells(by_column, n_codes, group.columns)
            cells[g] = joint + n_cells
            n_cells += len(first)
            examples.append(codes[first])
        return cls.of_examples(cells, examples, terms, groups)

    @classmethod
    def _of_terms(cls, codes: Codes, terms: Terms) -> FusedTerms:
        """Make every term a group, by one kernel: a call for each takes longer than counting a few rows."""
        from seminaive.kernels.fused_passes import number_terms

        cells = np.empty((len(terms.features), len(codes)), dtype=np.uint32)
        slots = np.full(terms.sizes.max(), -1, dtype=np.int64)
        offsets, packed = number_terms(
            codes, terms.columns, terms.starts, terms.strides, terms.offsets, slots, cells
        )
        observed, (positions,) = _compact([packed[:, None]], terms.n_cells)
        members = tuple(np.split(positions, offsets[1:-1]))
        return cls(
            observed, cells, offsets, members, terms.features, tuple((t,) for t in range(len(members)))
        )

    @classmethod
    def of_examples(
        cls, cells: NDArray[np.uint32], examples: Sequence[Codes], terms: Terms, groups: Sequence[Group]
    ) -> FusedTerms:
        """Lay out rows whose fused cells are known, given a row of codes for each cell of each group.

        ``examples`` has one array (fused cells of the group, n_columns) for each group; only the columns of
        the group are read.
        """
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum([len(rows) for rows in examples])]).astype(
            np.int64
        )
        packed = [
            np.stack([terms.cells_of(term, rows) for term in group.terms], axis=1)
            for rows, group in zip(examples, groups, strict=True)
        ]
        observed, positions = _compact(packed, terms.n_cells)
        columns = tuple(group.columns for group in groups)
        return cls(observed, cells, offsets, positions, columns, tuple(group.terms for group in groups))

    def with_cells(self, cells: NDArray[np.uint32]) -> FusedTerms:
        """Return the same groups for other rows."""
        return replace(self, cells=cells)

    @property
    def n_parameters(self) -> int:
        """Return the number of term cells that occur."""
        return len(self.observed)

    @property
    def n_fused_cells(self) -> int:
        """Return the number of cells of all groups."""
        return int(self.offsets[-1])

    def positions_of(self, terms: Collection[int]) -> NDArray[np.int32]:
        """Return the parameter of each row in each of some terms, (n_rows, n_terms), increasing."""
        found = [np.empty((self.cells.shape[1], 0), np.int32)]
        for g, group_terms in enumerate(self.group_terms):
            wanted = [position for position, term in enumerate(group_terms) if term in terms]
            if wanted:
                found.append(self.members[g][:, wanted][self.cells[g] - self.offsets[g]])
        return np.sort(np.concatenate(found, axis=1), axis=1)

    def expand(self, parameters: Floats, fused: Floats) -> None:
        """Fill the fused tables, (fused cells, columns), with the sums of the parameters."""
        from seminaive.kernels.fused_passes import expand

        for member, first in self._runs:
            expand(member, parameters, first, fused)

    def marginalise(self, fused: Floats, gradient: Floats) -> None:
        """Add the fused gradient to that of the parameters, (parameters, columns)."""
        from seminaive.kernels.fused_passes import marginalise

        for member, first in self._runs:
            marginalise(member, fused, first, gradient)

    @cached_property
    def _runs(self) -> list[tuple[NDArray[np.int32], int]]:
        """The members of neighbouring groups with equally many terms, joined, and their first fused cell."""
        runs: list[tuple[list[NDArray[np.int32]], int]] = []
        for member, first in zip(self.members, self.offsets.tolist(), strict=False):
            if runs and runs[-1][0][0].shape[1] == member.shape[1]:
                runs[-1][0].append(member)
            else:
                runs.append(([member], first))
        return [(np.concatenate(members), first) for members, first in runs]


@dataclass(frozen=True)
class Group:
    """Columns that share one joint table, and the terms (by number) that it stands for."""

    columns: tuple[int, ...]
    terms: tuple[int, ...]


def plan_groups(
    codes: Codes,
    terms: Terms,
    cell_budget: int = CELL_BUDGET,
    expansion_share: float = EXPANSION_SHARE,
    n_rows: int | None = None,
    report: Callable[..., None] | None = None,
) -> list[Group]:
    """Cover the terms by groups of columns with few joint values, greedily.

    A group starts from the smallest term not yet covered and takes in, one by one, the column that
    completes the most further terms per doubling of the cells, as long as cells stay within the budget
    and cells times terms within ``expansion_share`` of the rows. Sizes are those seen in a sample of
    rows: a wrong guess costs time, never exactness. ``n_rows`` is the size of the whole table, where the
    codes are a sample of it. ``report(n=...)`` is called with the number of terms that each group covers.
    """
    n_columns = codes.shape[1]
    n_rows = len(codes) if n_rows is None else n_rows
    if n_rows < FEW_ROWS:
        return [Group(columns, (term,)) for term, columns in enumerate(terms.features)]
    from seminaive.kernels.fused_passes import covering_gains, joint_sizes

    sample = np.ascontiguousarray(codes[spread_rows(len(codes), PLANNING_ROWS)])
    by_column = np.ascontiguousarray(sample.T)
    n_codes = np.array(terms.cardinalities, dtype=np.int64) + 1
    columns = _padded(terms.features)
    uncovered = np.ones(len(columns), dtype=bool)
    gains = np.zeros(n_columns, dtype=np.int64)
    sizes = np.zeros(n_columns, dtype=np.int64)
    groups = []
    for seed in np.argsort(terms.n_combinations, kind="stable"):
        if not uncovered[seed]:
            continue
        chosen = list(terms.features[seed])
        cells, first = joint_cells(by_column, n_codes, chosen)
        n_cells = len(first)
        while True:
            inside = np.zeros(n_columns, dtype=bool)
            inside[chosen] = True
            covered = covering_gains(columns, uncovered, inside, gains)
            fits = (gains > 0) & (n_cells * n_codes <= MOST_SLOTS)
            joint_sizes(cells, n_cells, sample, n_codes, fits, cell_budget, sizes)
            fits &= sizes <= cell_budget
            fits &= sizes * (covered + gains) <= expansion_share * n_rows
            if not fits.any():
                break
            # A column that adds no cells at all adds at least a part of one.
            growth = np.log(np.maximum(sizes, n_cells + 0.5) / n_cells)
            column = int(np.argmax(np.where(fits, gains / growth, -1.0)))
            chosen.append(column)
            cells, first = joint_cells(by_column, n_codes, [column], cells, n_cells)
            n_cells = len(first)
        newly_covered = uncovered & np.where(columns >= 0, inside[columns], True).all(axis=1)
        uncovered &= ~newly_covered
        groups.append(Group(tuple(sorted(chosen)), tuple(np.flatnonzero(newly_covered).tolist())))
        if report is not None:
            report(n=len(groups[-1].terms))
    return groups


def joint_cells(
    by_column: Codes,
    n_codes: Indices,
    columns: tuple[int, ...] | list[int],
    cells: Indices | None = None,
    n_cells: int = 1,
) -> tuple[Indices, Indices]:
    """Give each joint value of columns a number; return each row's, and the first row of each.

    ``by_column`` holds one row per column. ``cells``, below ``n_cells``, are joint values to refine.
    """
    from seminaive.kernels.fused_passes import join_column

    if cells is None:
        cells = np.zeros(by_column.shape[1], dtype=np.int64)
    first = np.zeros(min(1, len(cells)), dtype=np.int64)
    for j in columns:
        if n_cells * n_codes[j] <= MOST_SLOTS:
            joint = np.empty_like(cells)
            first = join_column(cells, n_cells, by_column[j], n_codes[j], joint)
            cells = joint
        else:
            keys = cells * n_codes[j] + by_column[j].astype(np.int64)
            _, first, cells = np.unique(keys, return_index=True, return_inverse=True)
        n_cells = len(first)
    return cells, first


def _compact(packed: list[Indices], n_cells: int) -> tuple[Indices, tuple[NDArray[np.int32], ...]]:
    """Return which of the packed cells occur, and each group's members as positions among these."""
    if n_cells <= max(MOST_SLOTS, sum(group_cells.size for group_cells in packed)):
        occurs = np.zeros(n_cells, dtype=bool)
        for group_cells in packed:
            occurs[group_cells] = True
        position = np.cumsum(occurs, dtype=np.int32) - np.int32(1)
        return np.flatnonzero(occurs), tuple(position[group_cells] for group_cells in packed)
    observed = distinct_numbers(
        np.concatenate([np.empty(0, np.int64), *(group_cells.ravel() for group_cells in packed)])
    )
    members = tuple(np.searchsorted(observed, group_cells).astype(np.int32) for group_cells in packed)
    return observed, members


def _padded(features: tuple[tuple[int, ...], ...]) -> Indices:
    """Return the columns of each term, one row per term, filled up by -1."""
    order = max((len(term) for term in features), default=1)
    columns = np.full((len(features), order), -1, dtype=np.int64)
    for term, term_columns in enumerate(features):
        columns[term, : len(term_columns)] = term_columns
    return columns


def spread_rows(n_rows: int, most: int) -> Indices:
    """Return at most ``most`` rows spread evenly over the table."""
    return np.linspace(0, n_rows - 1, min(n_rows, most)).astype(np.int64)
