"""Penalties on the coefficients of a linear model: value, proximal step and share of the duality gap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from seminaive.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]


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
    >>> lasso = ElasticNet(penalize_intercept=False).at(2.0, (3, 1))
    >>> lasso.value(np.array([[9.0], [1.0], [-1.0]]))
    4.0
    >>> lasso.proximal_step(np.array([[9.0], [1.0], [-1.0]]), 0.25).ravel()
    array([ 9. ,  0.5, -0.5])
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

    def at(self, strength: float, shape: tuple[int, int], deviations: Floats | None = None) -> PenaltyAt:
        """Return the penalty at one strength.

        Parameters
        ----------
        strength : float
        shape : tuple of int
            (n_coefficients, n_scores).
        deviations : ndarray of shape (n_coefficients,), default=None
            The columns' standard deviations, which a standardised penalty needs; 1 for the intercept. Columns
            must be centred for it, too.
        """
        if self.standardize and deviations is None:
            raise InputError("a standardised penalty needs the columns' standard deviations")
        unit = np.ones(shape[0]) if deviations is None or not self.standardize else deviations
        l1, l2 = scaled_factors(self.factors_of(shape), unit)
        share = strength * self.l1_share
        return PenaltyAt(share * l1, (strength - share) * l2, self.target_of(shape))


@dataclass(frozen=True)
class PenaltyAt:
    """An elastic net at one strength: ``sum_j l1_j |B_j - T_j| + l2_j (B_j - T_j)^2 / 2``.

    Parameters
    ----------
    l1, l2, target : ndarray of shape (n_coefficients, n_scores)
    """

    l1: Floats
    l2: Floats
    target: Floats

    def value(self, coefficients: Floats) -> float:
        """Return the penalty of coefficients."""
        away = coefficients - self.target
        return float(np.sum(self.l1 * np.abs(away) + 0.5 * self.l2 * np.square(away)))

    def proximal_step(self, coefficients: Floats, length: float) -> Floats:
        """Return the B that minimises ``|B - coefficients|^2 / (2 length) + value(B)``."""
        away = coefficients - self.target
        shrunk = np.sign(away) * np.maximum(np.abs(away) - length * self.l1, 0.0)
        return np.asarray(self.target + shrunk / (1.0 + length * self.l2))

    def gap(self, coefficients: Floats, derivatives: Floats) -> float:
        """Return ``value(B) + conjugate(g) - <B - T, g>``, the penalty's share of the duality gap.

        g are minus the derivatives of the loss. The share is 0 where B is the minimum, infinite where g is
        outside the domain of the conjugate: beyond l1 where there is no L2 part.
        """
        excess = np.maximum(np.abs(derivatives) - self.l1, 0.0)
        if (excess[self.l2 == 0.0] > 0.0).any():
            return np.inf
        squared = np.divide(np.square(excess), 2.0 * self.l2, out=np.zeros_like(excess), where=self.l2 > 0)
        away = coefficients - self.target
        return self.value(coefficients) + float(np.sum(squared - away * derivatives))


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
