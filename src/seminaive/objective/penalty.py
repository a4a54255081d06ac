"""What solvers ask of a penalty."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from seminaive.arrays import Floats


class SmoothPenalty(Protocol):
    """A penalty with two derivatives, as Newton's and quasi-Newton methods need it."""

    @property
    def acts(self) -> bool:
        """Whether it penalises anything: without that, a pass need not touch the coefficients."""

    @property
    def strength(self) -> Floats:
        """Return its second derivative along each coefficient."""

    def value_and_gradient(self, coefficients: Floats) -> tuple[Floats, Floats]:
        """Return the penalty of each column of coefficients, and the derivative by each coefficient."""
