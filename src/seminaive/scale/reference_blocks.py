"""Blocks of rows under a reference-coded design, and the derivatives of their loss along a path."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from seminaive.design.classes import log_odds
from seminaive.design.reference import AnchoredDesign, compiled_layout
from seminaive.kernels.path_problem import (
    LOSS,
    MARGIN,
    ODDS,
    WIDTH,
    PathDesign,
    Problem,
    new_model,
    new_point,
    new_softmax,
    new_work,
)
from seminaive.scale.scratch import keep_blocks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from seminaive.arrays import Floats, Indices
    from seminaive.design.reference import ReferenceDesign
    from seminaive.models.training_set import TrainingSet
    from seminaive.scale.coding import Coding
    from seminaive.scale.local_runner import Runner
    from seminaive.scale.partitions import TablePartition
    from seminaive.scale.scratch import BlocksOnDisk
    from seminaive.scores import AdditiveScores
    from seminaive.solvers.path_columns import Columns


Result = TypeVar("Result")


@dataclass(frozen=True)
class Layout:
    """How rows are laid out in blocks.

    Parameters
    ----------
    references : tuple of int
        The category of each coded column that has no coefficient.
    target : ndarray of shape (n_coefficients, n_scores)
        One score, the log odds, for two classes.
    """

    references: tuple[int, ...]
    anchor: AdditiveScores
    target: Floats

    def block(self, rows: TrainingSet) -> ReferenceBlock:
        """Lay out some rows."""
        linear = AnchoredDesign.of(rows.table, self.references, self.anchor)
        design = linear.design
        fixed = log_odds(linear.offset) + design.scores(self.target)
        return ReferenceBlock(
            design.numbers, design.places, design.first_place, fixed.T.ravel(), rows.labels, rows.weights
        )


@dataclass(frozen=True)
class ReferenceBlock:
    """Some rows of a reference-coded design.

    Parameters
    ----------
    numbers, places, first_place : ndarray
        As in `ReferenceDesign`.
    fixed : ndarray of shape (n_scores * n_rows,)
        The scores at the target, offsets included, one score after the other.
    labels, weights : ndarray of shape (n_rows,)
    """

    numbers: Floats
    places: NDArray[Any]
    first_place: Indices
    fixed: Floats
    labels: Indices
    weights: Floats

    def opened(self, columns: Columns) -> tuple[PathDesign, Problem]:
        """Return the rows as the kernels take them; penalties are not looked at."""
        centre = columns.on_the_fly
        numbers = compiled_layout(columns.numbers_of(_plain(self.numbers)), np.float64)
        design = PathDesign(numbers, _plain(self.places), self.first_place, centre)
        none = np.empty(0)
        rows = (_plain(self.fixed), _plain(self.labels), _plain(self.weights))
        return design, Problem(*rows, none, none, 1.0)

    @property
    def n_scores(self) -> int:
        """Return the number of scores: 1 for two classes."""
        return len(self.fixed) // len(self.labels)


def _plain(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array, mapped into memory or not, as an ordinary one."""
    return np.asarray(array).view(np.ndarray)


def reference_blocks(
    numbered: tuple[int, TablePartition], coding: Coding, layout: Layout, folder: str | None
) -> list[ReferenceBlock] | BlocksOnDisk:
    """Lay out the rows of a partition, a piece at a time."""
    number, partition = numbered
    return keep_blocks(map(layout.block, coding.training_sets(partition)), folder, number)


def path_derivatives(
    blocks: Iterable[ReferenceBlock], columns: Columns, x: Floats
) -> tuple[Floats, Floats] | None:
    """Return minus the derivatives of some blocks, and loss, odds and margin; None where there is none."""
    from seminaive.kernels.path_blocks import block_derivatives

    found = []
    for block in blocks:
        design, problem = block.opened(columns)
        point = new_point(len(x))
        point.x[:] = x
        work = new_work(len(block.labels), block.n_scores)
        block_derivatives(design, problem, work, new_softmax(block.n_scores), point)
        found.append((point.g, point.facts[:3]))
    return _joined(found)


def path_curvature(
    blocks: Iterable[ReferenceBlock], columns: Columns, x: Floats, slot: Indices, width: int
) -> Floats | None:
    """Return the second derivatives of some blocks over a working set; None where there is no block."""
    from seminaive.kernels.path_blocks import block_curvature

    model = None
    for block in blocks:
        design, problem = block.opened(columns)
        n_scores = block.n_scores
        if model is None:
            model = new_model(design, n_scores, width * n_scores)
            model.slot[:] = slot
            model.state[WIDTH] = width
            model.gram[:] = 0.0
        point = new_point(len(x))
        point.x[:] = x
        work = new_work(len(block.labels), n_scores)
        block_curvature(design, problem, work, new_softmax(n_scores), model, point)
    return None if model is None else model.gram


def _joined(found: Sequence[tuple[Floats, Floats]]) -> tuple[Floats, Floats] | None:
    """Add up derivatives, loss and odds in order; the margin is the least."""
    if not found:
        return None
    total, facts = found[0][0].copy(), found[0][1].copy()
    for g, more_facts in found[1:]:
        total += g
        facts[[LOSS, ODDS]] += more_facts[[LOSS, ODDS]]
        facts[MARGIN] = min(facts[MARGIN], more_facts[MARGIN])
    return total, facts


class ReferenceRows:
    """The rows of a source as blocks of a reference-coded design: what `blocked_path` goes through.

    Parameters
    ----------
    held : list
        What the runner holds: the blocks of each partition.
    design : ReferenceDesign
        Without any row.
    moments : tuple of two ndarrays
        Mean and standard deviation of every column.
    class_weight : ndarray of shape (n_classes,)
    """

    def __init__(
        self,
        runner: Runner,
        held: list[Any],
        design: ReferenceDesign,
        moments: tuple[Floats, Floats],
        class_weight: Floats,
        n_rows: int,
    ) -> None:
        self.design = design
        self.moments = moments
        self.class_weight = class_weight
        self.n_rows = n_rows
        self._runner = runner
        self._held = held

    def derivatives(self, columns: Columns, x: Floats) -> tuple[Floats, Floats]:
        """Return minus the derivatives, and loss, odds and margin, added in the order of the partitions."""
        found = _joined(list(self._over(path_derivatives, columns, x)))
        assert found is not None  # noqa: S101 - the survey found rows
        return found

    def curvature(self, columns: Columns, x: Floats, slot: Indices, width: int) -> Floats:
        """Return the second derivatives, added in the order of the partitions."""
        total: Floats | None = None
        for second in self._over(path_curvature, columns, x, slot, width):
            total = second.copy() if total is None else total + second
        assert total is not None  # noqa: S101 - the survey found rows
        return total

    def _over(self, work: Callable[..., Result | None], *arguments: Any) -> Iterator[Result]:
        # Arguments are copied: the solver goes on changing its arrays while tasks may be done again.
        given = [value.copy() if isinstance(value, np.ndarray) else value for value in arguments]
        return (value for value in self._runner.each(work, self._held, *given) if value is not None)
