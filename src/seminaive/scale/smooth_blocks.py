"""Blocks of rows under the smooth columns of `SemiNaive`, and the loss summed over them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.design.classes import n_columns_of
from seminaive.design.projected import ProjectedDesign
from seminaive.design.smooth_columns import SmoothColumns
from seminaive.encode import CategoricalColumn, EncodedTable, NumericColumn
from seminaive.encode.column_codes import bins_of
from seminaive.objective.empirical_loss import EmpiricalLoss
from seminaive.objective.summed_loss import SummedLoss
from seminaive.scale.scratch import keep_blocks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from seminaive.arrays import Floats, Integers
    from seminaive.encode import Schema
    from seminaive.scale.coding import Coding
    from seminaive.scale.local_runner import Runner
    from seminaive.scale.partitions import TablePartition
    from seminaive.scale.scratch import BlocksOnDisk
    from seminaive.scale.survey import Survey

    Sums = tuple[Floats, ...]


def smooth_columns(survey: Survey, coding: Coding) -> SmoothColumns:
    """Learn the functions of each column from the counts of its values in all rows."""
    return SmoothColumns.of_margins(coding.schema, lambda position: margin_of(survey, coding, position))


def margin_of(survey: Survey, coding: Coding, position: int) -> tuple[EncodedTable, Floats]:
    """Return one row for each value of a column, with its weight; other columns of it mean nothing."""
    schema, column = coding.schema, coding.schema.columns[position]
    if isinstance(column, CategoricalColumn):
        weights = survey.category_weights(position, schema, coding.class_factors)
        table = _blank(schema, len(weights))
        table.codes[:, schema.coded_index[position]] = np.arange(len(weights))
        return table, weights
    values, weights = survey.number_weights(position, coding.class_factors)
    table = _blank(schema, len(values))
    table.numbers[:, schema.numeric_index[position]] = values
    if isinstance(column, NumericColumn) and position in schema.coded:
        table.codes[:, schema.coded_index[position]] = bins_of(column, values)
    return table, weights


def _blank(schema: Schema, n_rows: int) -> EncodedTable:
    codes = np.zeros((n_rows, len(schema.coded)), dtype=schema.code_type)
    return EncodedTable(codes, np.zeros((n_rows, len(schema.numeric))), schema)


@dataclass(frozen=True)
class SmoothBlock:
    """Some rows under smooth columns.

    Parameters
    ----------
    labels, weights : ndarray of shape (n_rows,)
    """

    design: ProjectedDesign
    labels: Integers
    weights: Floats
    n_classes: int

    @cached_property
    def loss(self) -> EmpiricalLoss:
        """Return the log loss of the rows; it remembers the scores at the coefficients of a Newton step."""
        return EmpiricalLoss(self.design, self.labels, self.weights, self.n_classes, keep_scores=True)

    def __getstate__(self) -> dict[str, Any]:
        """Return the rows alone: scores are found again wherever a block is sent."""
        return {name: value for name, value in vars(self).items() if name != "loss"}


def smooth_blocks(
    numbered: tuple[int, TablePartition], coding: Coding, columns: SmoothColumns, folder: str | None
) -> list[SmoothBlock] | BlocksOnDisk:
    """Lay out the rows of a partition, a piece at a time."""
    number, partition = numbered
    made = (
        SmoothBlock(
            ProjectedDesign(columns, rows.table, rows.n_classes), rows.labels, rows.weights, rows.n_classes
        )
        for rows in coding.training_sets(partition)
    )
    return keep_blocks(made, folder, number)


def block_losses(blocks: Iterable[SmoothBlock], coefficients: Floats) -> Sums | None:
    """Return the loss and the gradient of some blocks; None where there is none."""
    losses = [block.loss(coefficients) for block in blocks]
    return _added(losses) if losses else None


def block_products(blocks: Iterable[SmoothBlock], coefficients: Floats, direction: Floats) -> Sums | None:
    """Return the product of the Hessian of some blocks with a direction; None where there is none."""
    products = [(block.loss.hessian_product(coefficients)(direction),) for block in blocks]
    return _added(products) if products else None


def block_grams(blocks: Iterable[SmoothBlock], columns: Integers) -> Sums | None:
    """Return the Gram matrix of some columns over the rows of some blocks; None where there is none."""
    grams = [(block.loss.gram(columns),) for block in blocks]
    return _added(grams) if grams else None


def block_squares(blocks: Iterable[SmoothBlock]) -> Sums | None:
    """Return the sums of squares of all columns over the rows of some blocks; None where there is none."""
    squares = [(block.loss.squared_columns(),) for block in blocks]
    return _added(squares) if squares else None


def _added(found: Sequence[Sums]) -> Sums:
    return tuple(sum(summands[1:], summands[0]) for summands in zip(*found, strict=True))


class SmoothBlockedLoss(SummedLoss):
    """The log loss of all rows as a function of the coefficients of smooth columns.

    Parameters
    ----------
    held : list
        What the runner holds: the blocks of each partition.
    """

    def __init__(self, runner: Runner, held: list[Any], columns: SmoothColumns, n_classes: int) -> None:
        self.shape = (1 + int(columns.sizes.sum()), n_columns_of(n_classes))
        self.n_classes = n_classes
        self._runner = runner
        self._held = held

    def __call__(self, coefficients: Floats) -> tuple[Floats, Floats]:
        """Return the loss and the gradient, added in the order of the partitions."""
        value, gradient = self._sum(block_losses, coefficients)
        return value, gradient

    def gram(self, columns: Integers) -> Floats:
        """Return the weighted Gram matrix of some columns of X."""
        found: Floats = self._sum(block_grams, columns)[0]
        return found

    def squared_columns(self) -> Floats:
        """Return the weighted sum of the squares of each column of X, (n_coefficients, 1)."""
        found: Floats = self._sum(block_squares)[0]
        return found

    def hessian_product(self, coefficients: Floats) -> Callable[[Floats], Floats]:
        """Return the function that multiplies a direction by the Hessian at some coefficients."""

        def product(direction: Floats) -> Floats:
            return self._sum(block_products, coefficients, direction)[0]

        return product

    def _sum(self, work: Callable[..., Sums | None], *arguments: NDArray[Any]) -> Sums:
        parts = self._runner.each(work, self._held, *arguments)
        return _added([part for part in parts if part is not None])
