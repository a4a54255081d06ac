"""The solutions of a path of strengths."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.encode.shapes import check_shapes
from seminaive.errors import ConvergenceWarning, warn_caller

if TYPE_CHECKING:
    from seminaive.arrays import Booleans, Floats, Integers

# What a path has for each strength.
ALONG = ("strengths", "coefficients", "deviance", "gap", "residual", "passes", "converged")


@dataclass(frozen=True)
class ShrinkagePath:
    """The solutions along a path of decreasing strengths, each with its certificate.

    Parameters
    ----------
    strengths : ndarray of shape (n_strengths,)
    coefficients : ndarray of shape (n_strengths, n_coefficients, n_scores)
        One score column for the logistic model, one per class for the softmax.
    target : ndarray of shape (n_coefficients, n_scores)
    deviance : ndarray of shape (n_strengths,)
        Twice the weighted negative log-likelihood.
    gap : ndarray of shape (n_strengths,)
        Duality gap, relative to the objective, which is at most this much too high.
    residual : ndarray of shape (n_strengths,)
        Largest violation of the optimality conditions, relative to the largest derivative of the loss at
        the target, which for a pure L1 penalty is ``strength_max``.
    passes : ndarray of shape (n_strengths,)
        Passes over the rows.
    converged : ndarray of shape (n_strengths,)
        Whether gap and residual fell below their tolerances, or the objective is zero up to rounding.
    strength_max : float
        The strength from which on every penalised coefficient equals its target.
    null_deviance : float
        The deviance of the class shares alone.
    """

    strengths: Floats
    coefficients: Floats
    target: Floats
    deviance: Floats
    gap: Floats
    residual: Floats
    passes: Integers
    converged: Booleans
    strength_max: float
    null_deviance: float

    def __len__(self) -> int:
        return len(self.strengths)

    def check_consistent(self) -> None:
        """Refuse a path, read from a file, whose parts do not belong together."""
        n_strengths, *shape = self.coefficients.shape
        along = (self.strengths, self.deviance, self.gap, self.residual, self.passes, self.converged)
        check_shapes("the path", [(self.target, tuple(shape)), *((part, (n_strengths,)) for part in along)])

    def then(self, further: ShrinkagePath) -> ShrinkagePath:
        """Return this path continued by smaller strengths of the same problem."""
        paths = (self, further)
        both: dict[str, Any] = {
            name: np.concatenate([getattr(path, name) for path in paths]) for name in ALONG
        }
        return replace(self, **both)

    def first(self, n_strengths: int) -> ShrinkagePath:
        """Return the path of the largest strengths alone."""
        return replace(self, **{name: getattr(self, name)[:n_strengths] for name in ALONG})

    def warn_unless_converged(self) -> None:
        """Raise a `ConvergenceWarning` with numbers if some strengths stopped short of their certificate."""
        if self.converged.all():
            return
        worst = int(np.argmax(np.where(self.converged, -np.inf, self.residual)))
        warn_caller(
            f"{(~self.converged).sum()} of {len(self)} strengths stopped short; the worst, strength "
            f"{self.strengths[worst]:.4g}, at a duality gap of {self.gap[worst]:.1e} of the penalised "
            f"loss and an optimality residual of {self.residual[worst]:.1e} of the steepest derivative "
            f"after {self.passes[worst]} passes. Use larger strengths, rescale the columns, or raise the "
            "tolerances or max_steps",
            ConvergenceWarning,
        )
