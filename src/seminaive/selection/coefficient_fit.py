"""What fits of smooth columns in their coefficients take and give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seminaive.arrays import Floats
    from seminaive.solvers.result import SolverResult


@dataclass(frozen=True)
class PreparedRelevances:
    """Relevances of one training set; here nothing is prepared."""

    relevances: Floats


@dataclass(frozen=True)
class Curvature:
    """The Hessian of the loss as preconditioners need it.

    Parameters
    ----------
    grams : list of ndarray of shape (n_leading, n_leading)
        That of the leading coefficients for each weighting of the rows, the mean over the classes.
    diagonal : ndarray of shape (n_coefficients - n_leading, n_columns)
        The diagonal of the others.
    """

    grams: list[Floats]
    diagonal: Floats


@dataclass(frozen=True)
class CoefficientFit:
    """A fit of some training rows.

    Parameters
    ----------
    coefficients : ndarray of shape (n_coefficients, n_columns)
    scores : ndarray of shape (n_rows, n_columns)
        Of all rows.
    """

    coefficients: Floats
    scores: Floats
    fit: SolverResult

    @property
    def warm_start(self) -> Floats:
        """Return what another fit can start from: the coefficients."""
        return self.coefficients
