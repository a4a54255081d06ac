"""An objective that counts its passes and remembers its lowest value."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from seminaive.arrays import Floats
    from seminaive.solvers.line_search import Objective


class Trace:
    """An objective that counts its passes and remembers the lowest value after each."""

    def __init__(self, objective: Objective) -> None:
        self.objective = objective
        self._lowest: list[float] = []

    def __call__(self, point: Floats) -> tuple[float, Floats]:
        """Return value and gradient."""
        value, gradient = self.objective(point)
        self._lowest.append(min(value, self._lowest[-1]) if self._lowest else value)
        return value, gradient

    @property
    def passes(self) -> int:
        """Return the number of evaluations so far."""
        return len(self._lowest)

    @property
    def history(self) -> Floats:
        """Return the lowest value after each pass."""
        return np.array(self._lowest)


def reported(objective: Objective, report: Callable[[str], None] | None) -> Objective:
    """Return an objective that tells its value after each pass."""
    if report is None:
        return objective

    def reporting(point: Floats) -> tuple[float, Floats]:
        value, gradient = objective(point)
        report(f"objective {value:.8g}")
        return value, gradient

    return reporting
