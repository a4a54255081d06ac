"""What a picture of a path of models needs: numbers and names, no drawing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seminaive.arrays import Booleans, Floats


@dataclass(frozen=True)
class PathCurves:
    """Named curves over the steps of a path.

    Parameters
    ----------
    x : ndarray of shape (n_steps,)
        Steps, or strengths.
    curves : ndarray of shape (n_steps, n_curves)
    names : tuple of str
        One per curve.
    chosen : float or None
        Where on the x axis the model that predicts stands.
    logarithmic : bool
        Whether the x axis is logarithmic and runs from large to small.
    error : ndarray of shape (n_steps,) or None
        Standard error of the first curve.
    """

    x: Floats
    curves: Floats
    names: tuple[str, ...]
    x_label: str
    y_label: str
    chosen: float | None = None
    logarithmic: bool = False
    error: Floats | None = None

    def without(self, steps: Booleans) -> PathCurves:
        """Return the curves without some steps."""
        error = None if self.error is None else self.error[~steps]
        return replace(self, x=self.x[~steps], curves=self.curves[~steps], error=error)
