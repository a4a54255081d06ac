"""The loss of one table whose rows come in blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from seminaive.objective.empirical_loss import EmpiricalLoss

    Floats = NDArray[np.float64]


class BlockLoss:
    """The loss of one table whose rows come in blocks: in memory, on disk, or elsewhere.

    Parameters
    ----------
    blocks : sequence of EmpiricalLoss
        Of the same coefficients. They are visited one after the other, and may be made when they are asked
        for: working memory is that of one block.
    """

    def __init__(self, blocks: Sequence[EmpiricalLoss]) -> None:
        self.blocks = blocks

    def __call__(self, coefficients: Floats) -> tuple[Floats, Floats]:
        """Return the sum of the losses of all blocks, of each weighting, and of the gradients, in order."""
        total, gradient = np.zeros(0), np.zeros(0)
        for number, block in enumerate(self.blocks):
            value, own = block(coefficients)
            total, gradient = (value, own) if number == 0 else (total + value, gradient + own)
        return total, gradient
