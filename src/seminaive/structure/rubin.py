"""Rubin's rules: one estimate, and its variance, from estimates on several completions of a table.

The mean of the estimates is the answer. Its variance has a part within completions, the mean of their
variances, and a part between them, which is what the missing cells left unknown.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from seminaive.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from seminaive.arrays import Floats


@dataclass(frozen=True)
class PooledEstimate:
    """Estimates pooled over D completions.

    Parameters
    ----------
    mean : ndarray
        Of the estimates.
    between : ndarray
        Variance of the estimates over the completions, with divisor D - 1; 0 for a single completion.
    within : ndarray or None
        Mean of the variances of the estimates; None where they have none.
    n_imputations : int
        D.
    """

    mean: Floats
    between: Floats
    within: Floats | None
    n_imputations: int

    @property
    def total(self) -> Floats | None:
        """Return the variance of the mean, ``within + (1 + 1 / D) between``; None without ``within``."""
        return None if self.within is None else self.within + self._between_share

    @property
    def _between_share(self) -> Floats:
        return (1 + 1 / self.n_imputations) * self.between

    @property
    def missing_information(self) -> Floats | None:
        """Return the share of the variance that is between completions, ``(1 + 1 / D) between / total``."""
        total = self.total
        if total is None:
            return None
        return np.divide(self._between_share, total, out=np.zeros_like(total), where=total > 0)

    @property
    def degrees_of_freedom(self) -> Floats | None:
        """Return Rubin's degrees of freedom of a t distribution, ``(D - 1) / missing_information**2``.

        Infinite where the completions agree.
        """
        share = self.missing_information
        if share is None:
            return None
        infinite = np.full_like(share, np.inf)
        return np.divide(self.n_imputations - 1, share**2, out=infinite, where=share > 0)


def pool_estimates(estimates: ArrayLike, variances: ArrayLike | None = None) -> PooledEstimate:
    """Pool the same estimates made on several completions.

    Parameters
    ----------
    estimates : array-like of shape (n_imputations, ...)
    variances : array-like of shape (n_imputations, ...) or None
        Squared standard errors of the estimates, where they have some.

    Examples
    --------
    >>> pooled = pool_estimates([1.0, 2.0, 3.0], [0.5, 0.5, 0.8])
    >>> pooled.mean, pooled.between, pooled.within.round(2), pooled.total.round(3)
    (np.float64(2.0), np.float64(1.0), np.float64(0.6), np.float64(1.933))
    """
    found = np.asarray(estimates, dtype=np.float64)
    if found.ndim == 0 or not len(found):
        raise InputError(f"estimates come one per completion, at least one; got shape {found.shape}")
    # Differences from the first: where all are equal, the mean is that number and the variance 0, exactly.
    apart = found - found[0]
    between = apart.var(axis=0, ddof=1) if len(found) > 1 else np.zeros(found.shape[1:])
    within = None
    if variances is not None:
        squared_errors = np.asarray(variances, dtype=np.float64)
        if squared_errors.shape != found.shape:
            raise InputError(
                f"variances of shape {squared_errors.shape} do not belong to estimates of {found.shape}"
            )
        within = squared_errors.mean(axis=0)
    return PooledEstimate(found[0] + apart.mean(axis=0), between, within, len(found))
