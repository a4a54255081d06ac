"""A few directions of coefficients that move the scores of many rows at once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse

if TYPE_CHECKING:
    from collections.abc import Callable

    from seminaive.arrays import Floats, Integers


@dataclass(frozen=True)
class CoarseSpace:
    """First-order coefficients, and combinations of higher-order ones with the same effect on the scores.

    Each value of a column has a coefficient; adding one number to the coefficients of all pairs that
    contain this value has the same effect on the scores. So coefficients of different orders are strongly
    correlated along these directions, and nearly uncorrelated along all others.

    Parameters
    ----------
    first_order : ndarray of shape (s,)
        The first-order coefficients, the intercept included.
    lift : sparse or dense array of shape (n_coefficients, t)
        The combinations of higher-order coefficients, in columns; zero in ``first_order``.
    products : callable
        Given row weights w, the Gram matrix V'X' diag(w) X V of the scores along the directions V,
        (s + t, s + t): those of ``first_order``, then those of ``lift``.
    """

    first_order: Integers
    lift: Any
    products: Callable[[Floats], Floats]

    @cached_property
    def restriction(self) -> Any:
        """Return the transpose of ``lift``."""
        return self.lift.T

    @cached_property
    def overlap(self) -> Floats:
        """Return ``lift' lift``."""
        products: Any = self.restriction @ self.lift
        return np.asarray(products.toarray() if issparse(products) else products, dtype=np.float64)
