"""The loss of a table whose rows are in blocks, each of which adds to the fused tables of a pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.design.classes import n_columns_of
from seminaive.design.table_design import TableDesign
from seminaive.design.table_workspace import padded
from seminaive.objective.empirical_loss import EmpiricalLoss, replace_by_residuals
from seminaive.objective.summed_loss import SummedLoss
from seminaive.statistics import class_weights

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from seminaive.arrays import Floats, Indices
    from seminaive.design.fused_sums import FusedSums
    from seminaive.objective.summed_loss import LossName

    OverBlocks = Callable[..., Iterator[Any]]


@dataclass(frozen=True)
class TableBlock:
    """Some rows of a table as fused cells and standardised numbers.

    Parameters
    ----------
    cells : ndarray of shape (n_groups, n_rows), uint32
        Fused cells, counted through all groups.
    offsets : ndarray of shape (n_groups + 1,)
        The first fused cell of each group and, last, the number of all.
    numbers : ndarray of shape (n_rows, n_numbers)
    labels : ndarray of shape (n_rows,)
    weights : ndarray of shape (n_rows,)
    """

    cells: NDArray[np.uint32]
    offsets: Indices
    numbers: Floats
    labels: Indices
    weights: Floats

    def loss_and_sums(self, expanded: FusedSums, n_classes: int, loss: LossName) -> tuple[float, FusedSums]:
        """Return the loss of the rows, and their residuals' sums over fused cells."""
        design = TableDesign.of_fused_rows(self.cells, self.offsets, self.numbers)
        n_columns = n_columns_of(n_classes)
        space = design.workspace(n_columns)
        space.receive(expanded)

        def residuals(rows: slice, scores: Floats) -> float:
            found = replace_by_residuals(scores, self.labels[rows], self.weights[rows], n_classes, loss)
            scores[:, n_columns:] = 0.0
            return found

        # Added up as the loss of a table in one block is.
        values = np.sum(np.array(space.score_expanded(residuals)), axis=0)
        return float(values), space.fused_sums(self.numbers)

    def class_sums(self, n_classes: int) -> tuple[Floats, Floats, Floats]:
        """Return the weights of fused cells by class, of classes, and the sums of squares of numbers."""
        from seminaive.kernels.fused_passes import scatter_classes

        tables = np.zeros((int(self.offsets[-1]), padded(n_classes)))
        scatter_classes(self.cells, self.labels, self.weights, tables)
        class_weight = class_weights(self.labels, n_classes, self.weights)
        return tables, class_weight, self.weights @ self.numbers**2

    def empirical_loss(self, design: TableDesign, n_classes: int) -> EmpiricalLoss:
        """Return the log loss of the rows under a design of all of them."""
        of_block = TableDesign(design.coefficients, design.fused.with_cells(self.cells), self.numbers)
        return EmpiricalLoss(of_block, self.labels, self.weights, n_classes)


class BlockedLoss(SummedLoss):
    """The loss of one weighting of a table in blocks, which are visited wherever they lie.

    Coefficients are expanded to fused tables once per pass, blocks return sums over fused cells, and these
    are added in the order of the blocks and marginalised once.

    Parameters
    ----------
    design : TableDesign
        Of all rows, without any row.
    over_blocks : callable
        ``over_blocks(work, *arguments)`` yields ``work(blocks, *arguments)`` of all blocks that lie
        together, in order.
    squared_columns : ndarray of shape (n_coefficients, 1)
        The weighted sum of squares of each column of X.
    loss : {"log-likelihood", "squared-error"}
    """

    def __init__(
        self,
        design: TableDesign,
        over_blocks: OverBlocks,
        squared_columns: Floats,
        n_classes: int,
        loss: LossName = "log-likelihood",
    ) -> None:
        self.design = design
        self.n_classes = n_classes
        self.loss = loss
        n_columns = n_columns_of(n_classes)
        self.shape = (design.n_coefficients, n_columns)
        self._over_blocks = over_blocks
        self._squared_columns = squared_columns
        self._space = design.workspace(n_columns)

    def __call__(self, coefficients: Floats) -> tuple[Floats, Floats]:
        """Return the loss and the gradient, shaped like the coefficients."""
        expanded = self._space.expanded(coefficients)
        value, total = 0.0, None
        for of_blocks, sums in self._over_blocks(loss_and_sums, expanded, self.n_classes, self.loss):
            value += of_blocks
            if total is None:
                total = sums.copy()
            else:
                total += sums
        if total is None:
            raise ValueError("there is no block")
        return np.array([value]), self._space.marginalised(total)

    def squared_columns(self) -> Floats:
        """Return the weighted sum of the squares of each column of X, (n_coefficients, 1)."""
        return self._squared_columns

    def gram(self, columns: Indices) -> Floats:
        """Return the weighted Gram matrix of some columns of X."""
        return self._sum(block_gram, columns)

    def hessian_product(self, coefficients: Floats) -> Callable[[Floats], Floats]:
        """Return the function that multiplies a direction by the Hessian of the log loss."""

        def product(direction: Floats) -> Floats:
            return self._sum(block_product, (coefficients, direction))

        return product

    def hessian(self, coefficients: Floats) -> Floats:
        """Return the Hessian of the log loss, its coefficients flattened by rows."""
        return self._sum(block_hessian, coefficients)

    def _sum(self, work: Callable[..., Floats], argument: Any) -> Floats:
        total: Floats = np.zeros(0)
        for number, of_blocks in enumerate(self._over_blocks(work, argument, self.design, self.n_classes)):
            total = of_blocks if number == 0 else total + of_blocks
        return total


def loss_and_sums(
    blocks: Iterable[TableBlock], expanded: FusedSums, n_classes: int, loss: LossName
) -> tuple[float, FusedSums]:
    """Return the loss of some blocks, at least one, and their residuals' sums over fused cells."""
    visited = iter(blocks)
    value, total = next(visited).loss_and_sums(expanded, n_classes, loss)
    for block in visited:
        of_block, sums = block.loss_and_sums(expanded, n_classes, loss)
        value += of_block
        total += sums
    return value, total


def class_sums(blocks: Iterable[TableBlock], n_classes: int) -> tuple[Floats, Floats, Floats]:
    """Return the weights of fused cells by class, of classes, and the sums of squares of numbers."""
    visited = iter(blocks)
    tables, class_weight, squares = next(visited).class_sums(n_classes)
    for block in visited:
        of_block = block.class_sums(n_classes)
        tables, class_weight, squares = (
            tables + of_block[0],
            class_weight + of_block[1],
            squares + of_block[2],
        )
    return tables, class_weight, squares


def block_gram(blocks: Iterable[TableBlock], columns: Indices, design: TableDesign, n_classes: int) -> Floats:
    """Return the weighted Gram matrix of some columns of X over the rows of some blocks."""
    grams = [block.empirical_loss(design, n_classes).gram(columns) for block in blocks]
    total: Floats = np.sum(grams, axis=0)
    return total


def block_product(
    blocks: Iterable[TableBlock], points: tuple[Floats, Floats], design: TableDesign, n_classes: int
) -> Floats:
    """Return the Hessian of some blocks at coefficients times a direction, the two points."""
    coefficients, direction = points
    products = [
        block.empirical_loss(design, n_classes).hessian_product(coefficients)(direction) for block in blocks
    ]
    total: Floats = np.sum(products, axis=0)
    return total


def block_hessian(
    blocks: Iterable[TableBlock], coefficients: Floats, design: TableDesign, n_classes: int
) -> Floats:
    """Return the Hessian of some blocks."""
    hessians = [block.empirical_loss(design, n_classes).hessian(coefficients) for block in blocks]
    total: Floats = np.sum(hessians, axis=0)
    return total
