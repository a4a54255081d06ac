"""What the last steps of a search showed of the curvature."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scipy.linalg.blas import daxpy

if TYPE_CHECKING:
    from collections.abc import Callable

    from seminaive.arrays import Floats


class CurvaturePairs:
    """The last steps of a search, each with the change of the gradient along it.

    Parameters
    ----------
    memory : int
        Steps that are remembered.
    """

    def __init__(self, memory: int) -> None:
        self._memory = memory
        self.forget()

    def __len__(self) -> int:
        return len(self._steps)

    def forget(self) -> None:
        """Remember nothing."""
        self._steps: list[Floats] = []
        self._changes: list[Floats] = []
        self._products: list[float] = []

    def add(self, step: Floats, change: Floats) -> None:
        """Remember a step along which the slope rose, and forget the oldest beyond the memory."""
        product = float(step @ change)
        if product > 0:
            self._steps.append(step)
            self._changes.append(change)
            self._products.append(product)
            if len(self._steps) > self._memory:
                del self._steps[0], self._changes[0], self._products[0]

    def direction(self, gradient: Floats, solve: Callable[[Floats], Floats] | None = None) -> Floats:
        """Return minus the approximate inverse Hessian times the gradient (Nocedal's two loops).

        ``solve`` applies the inverse of a first approximation, by default the last step's mean curvature.
        """
        q = -gradient
        shares = []
        remembered = list(zip(self._steps, self._changes, self._products, strict=True))
        for step, change, product in reversed(remembered):
            share = float(step @ q) / product
            q = daxpy(change, q, a=-share)  # in place: vectors may be large
            shares.append(share)
        if solve is not None:
            q = solve(q)
        elif remembered:
            q *= self._products[-1] / float(self._changes[-1] @ self._changes[-1])
        for (step, change, product), share in zip(remembered, reversed(shares), strict=True):
            q = daxpy(step, q, a=share - float(change @ q) / product)
        return q
