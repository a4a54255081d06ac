"""What every solver hands back: the solution and how far from optimal it stopped."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from seminaive.errors import ConvergenceWarning, warn_caller

if TYPE_CHECKING:
    from seminaive.arrays import Floats


# Where a fit ends unless its caller says otherwise: the root of the share of its objective by which it may
# exceed its minimum, and its iterations.
TOL, MAX_ITER = 1e-3, 1000


@dataclass(frozen=True)
class SolverResult:
    """A solution with its certificate.

    Parameters
    ----------
    solution : ndarray
        The coefficients found.
    objective : float
        The penalised loss there.
    n_iter : int
        Iterations made.
    optimality : float
        The certificate, on the scale of a tolerance: the root of the share of the objective by which it may
        exceed its minimum. Stochastic descent, and losses that are not convex, have the norm of the gradient
        relative to that at the start instead. 0 is optimal.
    converged : bool
        Whether the certificate fell below the tolerance.
    passes : int
        Evaluations of the objective over all rows.
    history : ndarray
        The lowest objective after each pass.
    stalled : bool
        Whether the search ended above the tolerance because no step lowers the objective any further.
    """

    solution: Floats
    objective: float
    n_iter: int
    optimality: float
    converged: bool
    passes: int = 0
    history: Floats = field(default_factory=lambda: np.empty(0))
    stalled: bool = False

    def after_passes(self, passes: int) -> SolverResult:
        """Return the result of a search that other passes came before."""
        history = np.concatenate([self.history[:passes], self.history])
        return replace(self, passes=self.passes + passes, history=history)

    def warn_unless_converged(self, tol: float, advice: str) -> None:
        """Raise a `ConvergenceWarning` with numbers if the search stopped short."""
        if not self.converged:
            warn_caller(
                f"stopped after {self.n_iter} iterations at an optimality of {self.optimality:.2e}, above "
                f"tol={tol:.0e}: {advice}",
                ConvergenceWarning,
            )
