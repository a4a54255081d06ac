"""Encoded rows of partitions as blocks of fused cells, under one numbering of the cells for all."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from seminaive.design.coefficients import Coefficients
from seminaive.design.fusion import (
    CELL_BUDGET,
    PLANNING_ROWS,
    FusedTerms,
    joint_cells,
    plan_groups,
    spread_rows,
)
from seminaive.design.table_design import TableDesign, refuse_too_large, terms_of_order
from seminaive.objective.blocked_loss import BlockedLoss, TableBlock, class_sums
from seminaive.scale.partitions import ROWS_AT_ONCE
from seminaive.scale.scratch import ArrayOnDisk
from seminaive.solvers.quasi_newton import MOST_VECTORS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from seminaive.arrays import Codes, Floats, Indices
    from seminaive.design.coefficients import GenerativeEstimate
    from seminaive.design.fusion import Group
    from seminaive.models.fit_progress import Steps
    from seminaive.objective.summed_loss import LossName
    from seminaive.scale.coding import Coding
    from seminaive.scale.local_runner import Runner
    from seminaive.scale.partitions import TablePartition
    from seminaive.statistics import Terms


Result = TypeVar("Result")

# Joint values that a signed integer of 64 bits can number; of 3 values each, 39 columns have as many.
MOST_KEYS = 2**63 - 1
# Partitions of which some rows are looked at to plan the fusion of terms.
PLANNING_PARTITIONS = 8


@dataclass(frozen=True)
class Plan:
    """What blocks are made of.

    Parameters
    ----------
    groups : list of Group
        Terms that share a joint table.
    centres, spreads : ndarray of shape (n_numbers,)
        A number x enters as ``(x - centre) / spread``; none where numbers enter as bins only.
    """

    coding: Coding
    terms: Terms
    groups: list[Group]
    centres: Floats
    spreads: Floats

    @classmethod
    def of(
        cls,
        coding: Coding,
        partitions: Sequence[TablePartition],
        runner: Runner,
        *,
        n_rows: int,
        order: int,
        standardisation: tuple[Floats, Floats] | None,
    ) -> Plan:
        """Plan the fusion of terms on some rows; refuse what memory cannot hold.

        ``standardisation`` are centres and spreads of hierarchical models, which also have all lower orders.
        """
        terms = terms_of_order(coding.schema.cardinalities, order, hierarchical=standardisation is not None)
        chosen = [partitions[k] for k in spread_rows(len(partitions), PLANNING_PARTITIONS)]
        codes = np.concatenate(list(runner.each(sample_codes, chosen, coding)))
        # Few rows show few joint values: a budget of cells is then reached in proportion earlier.
        budget = CELL_BUDGET * min(len(codes), PLANNING_ROWS) // min(n_rows, PLANNING_ROWS)
        groups = plan_groups(codes, terms, budget, n_rows=n_rows)
        refuse_too_large(terms, groups, n_rows, len(coding.classes), MOST_VECTORS, ROWS_AT_ONCE)
        centres, spreads = standardisation or (np.empty(0), np.empty(0))
        return cls(coding, terms, groups, centres, spreads)

    @property
    def bytes_per_row(self) -> int:
        """Return the size of a row in a block: fused cells, numbers, label and weight."""
        return 4 * len(self.groups) + 8 * len(self.centres) + 16

    def design(self, examples: Sequence[Codes]) -> TableDesign:
        """Return the design of all rows, without any row, given the joint values of each group."""
        n_columns = len(self.terms.cardinalities)
        rows = []
        for group, values in zip(self.groups, examples, strict=True):
            codes = np.zeros((len(values), n_columns), dtype=values.dtype)
            codes[:, list(group.columns)] = values
            rows.append(codes)
        no_cells = np.empty((len(self.groups), 0), dtype=np.uint32)
        fused = FusedTerms.of_examples(no_cells, rows, self.terms, self.groups)
        n_classes = len(self.coding.classes)
        coefficients = Coefficients(self.terms, fused.observed, self.centres, self.spreads, n_classes)
        return TableDesign(coefficients, fused, np.empty((0, len(self.centres))))


@dataclass(frozen=True)
class CodedRows:
    """Some rows as joint values of each group of columns, numbered within these rows.

    Parameters
    ----------
    cells : ndarray of shape (n_groups, n_rows), uint32
        The number of each row's joint value in each group.
    examples : tuple of ndarray of shape (n_values, n_columns of the group)
        The joint values of each group, by number.
    numbers, labels, weights : ndarray
        As in `TableBlock`.
    """

    cells: NDArray[np.uint32]
    examples: tuple[Codes, ...]
    numbers: Floats
    labels: Indices
    weights: Floats

    def numbered(self, every: Sequence[Codes], offsets: Indices) -> TableBlock:
        """Return the rows with cells numbered among the joint values of all rows, which are sorted."""
        return self._numbered(every, offsets, np.empty_like(self.cells))

    def numbered_in_place(self, every: Sequence[Codes], offsets: Indices) -> TableBlock:
        """Return the same in the memory of the old cells; these rows cannot be numbered again."""
        return self._numbered(every, offsets, self.cells)

    def _numbered(self, every: Sequence[Codes], offsets: Indices, cells: NDArray[np.uint32]) -> TableBlock:
        number_cells(self.cells, self.examples, every, offsets, cells)
        return TableBlock(cells, offsets, self.numbers, self.labels, self.weights)


@dataclass(frozen=True)
class StoredRows:
    """The same as `CodedRows`, with its arrays over rows on a disk."""

    cells: ArrayOnDisk
    examples: tuple[Codes, ...]
    numbers: ArrayOnDisk
    labels: ArrayOnDisk
    weights: ArrayOnDisk

    @classmethod
    def of(cls, rows: CodedRows, stem: Path) -> StoredRows:
        """Write rows to files whose names begin with a stem."""
        names = ("cells", "numbers", "labels", "weights")
        arrays = {name: ArrayOnDisk.of(Path(f"{stem}-{name}"), getattr(rows, name)) for name in names}
        return cls(examples=rows.examples, **arrays)

    def numbered_in_place(self, every: Sequence[Codes], offsets: Indices) -> StoredBlock:
        """Give the cells, on the disk, their numbers among the joint values of all rows."""
        cells = self.cells.open(writable=True)
        number_cells(cells, self.examples, every, offsets, cells)
        return StoredBlock(self.cells, offsets, self.numbers, self.labels, self.weights)


@dataclass(frozen=True)
class StoredBlock:
    """The same as `TableBlock`, with its arrays over rows on a disk."""

    cells: ArrayOnDisk
    offsets: Indices
    numbers: ArrayOnDisk
    labels: ArrayOnDisk
    weights: ArrayOnDisk

    def open(self) -> TableBlock:
        """Return the block, mapped into memory."""
        return TableBlock(
            self.cells.open(), self.offsets, self.numbers.open(), self.labels.open(), self.weights.open()
        )


@dataclass(frozen=True)
class StoredBlocks:
    """Blocks on a disk that are mapped into memory one after the other, whenever they are gone through."""

    blocks: tuple[StoredBlock, ...]

    def __iter__(self) -> Iterator[TableBlock]:
        return (block.open() for block in self.blocks)


class Blocks:
    """The rows of a source as blocks of fused cells, held by a runner.

    Parameters
    ----------
    folder : str or None
        Where a local runner writes them; None keeps them in memory.
    """

    def __init__(
        self,
        plan: Plan,
        partitions: Sequence[TablePartition],
        runner: Runner,
        folder: str | None,
        step: Steps,
    ) -> None:
        self._runner = runner
        numbered = list(enumerate(partitions))
        coded = runner.hold(code_partition, numbered, plan, folder)
        every: list[Codes] | None = None
        filled = []
        for item, occurring in zip(coded, runner.each(joint_values, coded), strict=True):
            step()
            if occurring is None:
                continue
            filled.append(item)
            if every is None:
                every = occurring
            else:
                every = [distinct_rows(np.concatenate(pair)) for pair in zip(every, occurring, strict=True)]
        assert every is not None  # noqa: S101 - the survey found rows
        self.design = plan.design(every)
        # A cluster may number the same rows again after a worker is lost; here they are numbered once.
        number = number_blocks_in_place if runner.keeps_blocks_here else number_blocks
        self._held = runner.hold(number, filled, every, self.design.fused.offsets)
        self._coded = coded

    def over(self, work: Callable[..., Result], *arguments: Any) -> Iterator[Result]:
        """Yield what work gives for the blocks of each partition, in order."""
        return self._runner.each(work, self._held, *arguments)

    def generative_estimate(self) -> tuple[GenerativeEstimate, Floats]:
        """Return the generative estimate of all rows, and the weighted squares of the columns of X."""
        n_classes = self.design.coefficients.n_classes
        total: list[Floats] = []
        for sums in self.over(class_sums, n_classes):
            total = [a + b for a, b in zip(total, sums, strict=True)] if total else list(sums)
        tables, class_weight, squares = total
        estimate = self.design.estimate_of(tables, class_weight)
        n_numbers = self.design.n_numbers
        visits = estimate.visits[: len(estimate.visits) - n_numbers]
        return estimate, np.concatenate([visits, squares])[:, None]

    def loss(self, squared_columns: Floats, objective: LossName) -> BlockedLoss:
        """Return the loss of all rows."""
        n_classes = self.design.coefficients.n_classes
        return BlockedLoss(self.design, self.over, squared_columns, n_classes, objective)

    def release(self) -> None:
        """Let go of the blocks."""
        self._runner.release(self._held)
        self._runner.release(self._coded)


def sample_codes(partition: TablePartition, coding: Coding) -> Codes:
    """Return the codes of rows spread over the beginning of a partition."""
    for rows in coding.training_sets(partition):
        return rows.table.codes[spread_rows(len(rows.labels), PLANNING_ROWS)]
    return np.empty((0, len(coding.schema.coded)), dtype=coding.schema.code_type)


def code_partition(
    numbered: tuple[int, TablePartition], plan: Plan, folder: str | None
) -> tuple[CodedRows | StoredRows, ...]:
    """Encode a partition, and number the joint values of each group of columns."""
    number, partition = numbered
    n_codes = np.array(plan.terms.cardinalities, dtype=np.int64) + 1
    pieces: list[CodedRows | StoredRows] = []
    for k, rows in enumerate(plan.coding.training_sets(partition)):
        codes = rows.table.codes
        by_column = np.ascontiguousarray(codes.T)
        cells = np.empty((len(plan.groups), len(codes)), dtype=np.uint32)
        examples = []
        for g, group in enumerate(plan.groups):
            cells[g], first = joint_cells(by_column, n_codes, group.columns)
            examples.append(np.ascontiguousarray(codes[first][:, list(group.columns)]))
        numbers = np.empty((len(codes), 0))
        if len(plan.centres):
            numbers = np.nan_to_num((rows.table.numbers - plan.centres) / plan.spreads)
        coded = CodedRows(cells, tuple(examples), numbers, rows.labels, rows.weights)
        pieces.append(
            coded if folder is None else StoredRows.of(coded, Path(folder) / f"{number:06d}-{k:04d}")
        )
    return tuple(pieces)


def joint_values(pieces: Sequence[CodedRows | StoredRows]) -> list[Codes] | None:
    """Return the joint values of each group that occur in some rows, sorted; None where there is no row."""
    if not pieces:
        return None
    by_group = zip(*(piece.examples for piece in pieces), strict=True)
    return [distinct_rows(np.concatenate(examples)) for examples in by_group]


def number_blocks(pieces: Sequence[CodedRows], every: Sequence[Codes], offsets: Indices) -> list[TableBlock]:
    """Return blocks of some rows whose cells have their numbers among those of all rows."""
    return [piece.numbered(every, offsets) for piece in pieces]


def number_blocks_in_place(
    pieces: Sequence[CodedRows | StoredRows], every: Sequence[Codes], offsets: Indices
) -> list[TableBlock] | StoredBlocks:
    """Return the same in the memory, or in the files, of the rows."""
    blocks = [piece.numbered_in_place(every, offsets) for piece in pieces]
    stored = [block for block in blocks if isinstance(block, StoredBlock)]
    return (
        StoredBlocks(tuple(stored))
        if stored
        else [block for block in blocks if isinstance(block, TableBlock)]
    )


def number_cells(
    cells: NDArray[np.uint32],
    examples: Sequence[Codes],
    every: Sequence[Codes],
    offsets: Indices,
    numbered: NDArray[np.uint32],
) -> None:
    """Fill in the number of each cell among the joint values of all rows, which are sorted.

    ``numbered`` may be the array of cells itself.
    """
    from seminaive.kernels.fused_passes import renumber

    for g, (values, known) in enumerate(zip(examples, every, strict=True)):
        positions = positions_among(values, known) + offsets[g]
        renumber(cells[g], positions.astype(np.uint32), numbered[g])


def distinct_rows(rows: Codes) -> Codes:
    """Return the distinct rows of codes, sorted; by one key each where that holds all of them."""
    keys = _keys(rows, rows)
    if keys is None:
        return np.unique(rows, axis=0)
    return rows[np.unique(keys, return_index=True)[1]]


def positions_among(rows: Codes, known: Codes) -> Indices:
    """Return the position of each row among distinct sorted ones that hold it."""
    row_keys, keys = _keys(rows, known), _keys(known, known)
    if row_keys is None or keys is None:
        found = np.unique(np.concatenate([known, rows]), axis=0, return_inverse=True)[1]
        return found.ravel()[len(known) :].astype(np.int64)
    return np.searchsorted(keys, row_keys)


def _keys(rows: Codes, among: Codes) -> Indices | None:
    """Return whole numbers in the order of the rows; None where the joint values exceed `MOST_KEYS`."""
    sizes = [1 + int(largest) for largest in among.max(axis=0)]
    if math.prod(sizes) > MOST_KEYS:
        return None
    keys = np.zeros(len(rows), dtype=np.int64)
    for column, size in zip(rows.T, sizes, strict=True):
        keys = keys * size + column
    return keys
