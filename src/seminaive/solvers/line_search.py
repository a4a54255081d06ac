"""Steps along a direction: to the strong Wolfe conditions, or halved until a function falls enough."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from seminaive.design.rounding import ROUNDING

if TYPE_CHECKING:
    from collections.abc import Callable

    from seminaive.arrays import Floats

    Objective = Callable[[Floats], tuple[float, Floats]]

Reached = TypeVar("Reached")

# Line searches of all solvers (Nocedal and Wright, 2006, chapter 3). They decide how fast a minimum is found,
# not which: share of the decrease along the slope that a step must reach, shares of the first slope that may
# be left after a quasi-Newton step and after one of conjugate gradients, and the least share of an interval
# that a trial leaves on either side.
SUFFICIENT_DECREASE, QUASI_NEWTON_SLOPE, CONJUGATE_SLOPE, LEAST_SHARE = 1e-4, 0.9, 0.1, 0.1
# Conjugate gradients solve for a Newton step until the residual falls to this share of the gradient.
FORCING = 0.15
# A step that was halved as often as a float has digits does not move.
MOST_HALVINGS = np.finfo(float).nmant


@dataclass(frozen=True)
class Point:
    """A place on the line: how far along, and the objective with its gradient and slope there."""

    step: float
    value: float
    gradient: Floats
    slope: float


def backtrack(
    attempt: Callable[[Any], tuple[Any, Any, Reached]], values: Any, allowed: Any, step: Any = 1.0
) -> tuple[Reached | None, int, Any]:
    """Halve the steps of the functions that do not fall enough.

    Enough is `SUFFICIENT_DECREASE` of what is expected; a value that is not a number never is.

    Parameters
    ----------
    attempt : callable
        Given the lengths of steps, a float or one per function, it returns the values there, the decrease
        that is expected of such steps to first order, and the point that is reached.
    values : float or ndarray of shape (n_functions,)
        Where the steps begin.
    allowed : float or ndarray of shape (n_functions,)
        By how much rounding may raise a value.
    step : float or ndarray of shape (n_functions,), default=1.0

    Returns
    -------
    reached : what ``attempt`` returned third, or None where no step falls enough
    n_trials : int
    step : float or ndarray of shape (n_functions,)
    """
    for trial in range(1, MOST_HALVINGS + 1):
        new_values, expected, reached = attempt(step)
        good = new_values <= values - SUFFICIENT_DECREASE * expected + allowed
        if np.all(good):
            return reached, trial, step
        step = np.where(good, step, 0.5 * step)
    return None, MOST_HALVINGS, step


def search_wolfe(
    objective: Objective, origin: Floats, start: Point, direction: Floats, step: float, curvature: float
) -> Point | None:
    """Find a step with sufficient decrease whose slope is at most ``curvature`` times the first one.

    ``start`` is the point at step 0, whose slope must be negative. Returns None where no trial step
    decreases the objective by more than rounding.
    """
    low, high = start, None
    allowed = ROUNDING * abs(start.value)
    for _ in range(MOST_HALVINGS):
        value, gradient = objective(origin + step * direction)
        point = Point(step, value, gradient, float(gradient @ direction))
        if not value <= start.value + SUFFICIENT_DECREASE * step * start.slope + allowed:
            high = point
        elif abs(point.slope) <= -curvature * start.slope:
            return point
        elif point.slope > 0:
            high = point
        else:
            low = point
        step = _next_step(low, high)
    return low if low.step > 0 else None


def _next_step(low: Point, high: Point | None) -> float:
    """Interpolate between the two ends, well inside; or go on where there is no far end yet."""
    if high is None:
        return 2 * low.step
    width = high.step - low.step
    if not np.isfinite(high.value):
        return low.step + LEAST_SHARE * width
    # The minimum of the cubic through both values and slopes.
    d = low.slope + high.slope - 3 * (high.value - low.value) / width
    root = np.sqrt(max(d * d - low.slope * high.slope, 0.0))
    share = 1.0 - (high.slope + root - d) / (high.slope - low.slope + 2 * root or 1.0)
    if not np.isfinite(share):
        return low.step + 0.5 * width
    return float(low.step + min(max(share, LEAST_SHARE), 1.0 - LEAST_SHARE) * width)
