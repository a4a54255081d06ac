"""The elastic net toward a target: its parameters, checked and laid out over the coefficients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from seminaive.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from seminaive.arrays import Floats


@dataclass(frozen=True)
class ElasticNet:
    """``strength * sum_j factor_j (l1_share |B_j - T_j| + (1 - l1_share) (B_j - T_j)^2 / 2)``.

    Parameters
    ----------
    target : array-like of shape (n_coefficients,) or (n_coefficients, n_scores), default=None
        T, what the coefficients are shrunk toward; None is zero.
    l1_share : float, default=1.0
        Part of the penalty that is L1; the rest is L2. 1 lets coefficients stay exactly at the target.
    factors : array-like of shape (n_coefficients,) or (n_coefficients, n_scores), default=None
        Multiplies the strength, coefficient by coefficient; 0 leaves one free. None is 1 throughout.
    penalize_intercept : bool, default=True
        Whether the intercept is shrunk as well; if not, it is fitted freely at every strength.
    standardize : bool, default=False
        Whether to penalise as if every column had mean 0 and variance 1: a coefficient then counts in units
        of its column's standard deviation, and the intercept is that of centred columns.

    Examples
    --------
    >>> ElasticNet(penalize_intercept=False).factors_of((3, 1)).ravel()
    array([0., 1., 1.])
    """

    target: ArrayLike | None = None
    l1_share: float = 1.0
    factors: ArrayLike | None = None
    penalize_intercept: bool = True
    standardize: bool = False

    def __post_init__(self) -> None:
        """Refuse what is out of range."""
        if not 0.0 <= self.l1_share <= 1.0:
            raise InputError(f"l1_share is a share, from 0 (L2 only) to 1 (L1 only), got {self.l1_share!r}")

    def target_of(self, shape: tuple[int, int]) -> Floats:
        """Return the target of (n_coefficients, n_scores) coefficients, a new array."""
        return filled(self.target, shape, 0.0, "target")

    def factors_of(self, shape: tuple[int, int]) -> Floats:
        """Return the factor of every coefficient, a new array; 0 for an intercept that is not penalised."""
        factors = filled(self.factors, shape, 1.0, "factors")
        if (factors < 0).any():
            raise InputError("factors multiply the strength and cannot be negative")
        if not self.penalize_intercept:
            factors[0] = 0.0
        return factors


def scaled_factors(factors: Floats, unit: Floats) -> tuple[Floats, Floats]:
    """Return the factors of the L1 and of the L2 part for coefficients of columns divided by a unit each.

    On a column divided by s a coefficient is s times as large, its penalty s times in L1, s^2 times in L2.
    """
    return factors * unit[:, None], factors * unit[:, None] ** 2


def filled(values: ArrayLike | None, shape: tuple[int, int], default: float, name: str) -> Floats:
    """Return values as a new array of the shape; what is the same for every score may come as a vector."""
    if values is None:
        return np.full(shape, default)
    array = np.array(values, dtype=np.float64)
    if array.shape == shape[:1]:
        array = np.repeat(array[:, None], shape[1], axis=1)
    if array.shape != shape or not np.isfinite(array).all():
        raise InputError(f"{name} must be finite and of shape {shape}, got shape {array.shape}")
    return np.ascontiguousarray(array)
