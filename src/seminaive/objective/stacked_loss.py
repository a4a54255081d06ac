"""Losses of several tables whose coefficients stand below each other, to be coupled by a penalty."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from seminaive.objective.empirical_loss import EmpiricalLoss

    Floats = NDArray[np.float64]


class StackedLoss:
    """The sum of the losses of several tables, each with rows, codes and coefficients of its own.

    Nothing but a penalty couples the tables: imputed copies of one table, or folds with cut points of their
    own. All have the same number of score columns.

    Parameters
    ----------
    parts : sequence of EmpiricalLoss
    """

    def __init__(self, parts: Sequence[EmpiricalLoss]) -> None:
        self.parts = tuple(parts)
        ends = np.cumsum([part.shape[0] for part in self.parts])
        self.blocks = [
            slice(int(end) - part.shape[0], int(end)) for end, part in zip(ends, self.parts, strict=True)
        ]
        self.shape = (int(ends[-1]), self.parts[0].shape[1])

    def __call__(self, coefficients: Floats) -> tuple[Floats, Floats]:
        """Return the sum of the losses, of each weighting, and the gradient."""
        found = [part(coefficients[own]) for part, own in zip(self.parts, self.blocks, strict=True)]
        values = np.sum([value for value, _ in found], axis=0)
        return values, np.concatenate([gradient for _, gradient in found])
