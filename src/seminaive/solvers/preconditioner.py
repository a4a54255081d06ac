"""Approximate inverses of Hessians that can be built again at another point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from seminaive.arrays import Floats


@dataclass(frozen=True)
class BuiltPreconditioner:
    """An approximate inverse of the Hessians at some point.

    Parameters
    ----------
    inverse : callable
        Multiplies gradients by it.
    cost : float
        What another one costs, in Hessian products, by counting operations.
    build : callable
        From another point, and the Hessian products that were taken with this one, to the preconditioner there.
    """

    inverse: Any
    cost: float
    build: Callable[[Floats, int], BuiltPreconditioner]

    def __call__(self, gradient: Floats) -> Floats:
        """Return gradients times the inverse."""
        return np.asarray(self.inverse(gradient))

    def at(self, z: Floats, paid: int) -> BuiltPreconditioner:
        """Return the preconditioner at another point."""
        return self.build(z, paid)
