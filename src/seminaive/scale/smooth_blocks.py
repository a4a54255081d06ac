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
from seminaive.encode.table import bins_of
from seminaive.objective.empirical_loss import EmpiricalLoss
from seminaive.scale.scratch import keep_blocks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from seminaive.encode import Schema
    from seminaive.scale.coding import Coding
    from seminaive.scale.local_runner import Runner
    from seminaive.scale.partitions import Partition
    from seminaive.scale.scratch import BlocksOnDisk
    from seminaive.scale.survey import Survey

    Floats = NDArray[np.float64]


def smooth_columns(survey: Survey, coding: Coding) -> SmoothColumns:
    """Learn the functions of each column from the counts of its values in all rows."""
    return SmoothColumns.of_margins(coding.schema, lambda position: margin_of(survey, coding, position))


def margin_of(survey: Survey, coding: Coding, position: int) -> tuple[EncodedTable, Floats]:
    """Return one row for each value of a column, with its weight; other columns of it mean nothing."""
    schema, column = coding.schema, coding.schema.columns[position]
    if isinstance(column, CategoricalColumn):
        weights = survey.category_weights(position, schema, coding.class_factors)
        table = _blank(schema, len(weights))
        table.codes[:, schema.coded.index(position)] = np.arange(len(weights))
        return table, weights
    values, weights = survey.number_weights(position, coding.class_factors)
    table = _blank(schema, len(values))
    table.numbers[:, schema.numeric.index(position)] = values
    if isinstance(column, NumericColumn) and position in schema.coded:
        table.codes[:, schema.coded.index(position)] = bins_of(column, values)
    return table, weights


def _blank(schema: Schema, n_rows: int) -> EncodedTable:
    codes = np.zeros((n_rows, len(schema.coded)), dtype=schema.code_type)
    return EncodedTable(codes, np.zeros((n_rows, len(schema.numeric))), schema)


@dataclass(frozen=True)
class SmoothBlock:
    """Some rows under smooth columns.

    Parameters
    ----------
    design : ProjectedDesign
    labels, weights : ndarray of shape (n_rows,)
    n_classes : int
    """

    design: ProjectedDesign
    labels: NDArray[np.int64]
    weights: Floats
    n_classes: int

    @property
    def loss(self) -> EmpiricalLoss:
        """Return the log loss of the rows."""
        return EmpiricalLoss(self.design, self.labels, self.weights, self.n_classes)


def smooth_blocks(
    numbered: tuple[int, Partition], coding: Coding, columns: SmoothColumns, folder: str | None
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


def block_losses(blocks: Iterable[SmoothBlock], coefficients: Floats) -> tuple[Floats, Floats] | None:
    """Return the loss and the gradient of some blocks; None where there is none."""
    return _added([block.loss(coefficients) for block in blocks])


def block_products(
    blocks: Iterable[SmoothBlock], coefficients: Floats, direction: Floats
) -> tuple[Floats] | None:
    """Return the product of the Hessian of some blocks with a direction; None where there is none."""
    return _added([(block.loss.hessian_product(coefficients)(direction),) for block in blocks])


def _added(found: Sequence[tuple[Any, ...]]) -> Any:
    return tuple(sum(own[1:], own[0]) for own in zip(*found, strict=True)) if found else None


class SmoothBlockedLoss:
    """The log loss of all rows as a function of the coefficients of smooth columns.

    Parameters
    ----------
    runner : Runner
    held : list
        What the runner holds: the blocks of each partition.
    columns : SmoothColumns
    n_classes : int
    """

    n_weightings = 1

    def __init__(self, runner: Runner, held: list[Any], columns: SmoothColumns, n_classes: int) -> None:
        self.shape = (1 + int(columns.sizes.sum()), n_columns_of(n_classes))
        self._runner = runner
        self._held = held

    def __call__(self, coefficients: Floats) -> tuple[Floats, Floats]:
        """Return the loss and the gradient, added in the order of the partitions."""
        value, gradient = self._sum(block_losses, coefficients)
        return value, gradient

    @cached_property
    def gradient_at_zero(self) -> Floats:
        """Return the gradient where all coefficients are 0."""
        return self(np.zeros(self.shape))[1]

    def hessian_product(self, coefficients: Floats) -> Callable[[Floats], Floats]:
        """Return the function that multiplies a direction by the Hessian at some coefficients."""

        def product(direction: Floats) -> Floats:
            found: Floats = self._sum(block_products, coefficients, direction)[0]
            return found

        return product

    def _sum(self, work: Any, *arguments: Any) -> tuple[Any, ...]:
        found = [own for own in self._runner.each(work, self._held, *arguments) if own is not None]
        return _added(found)
