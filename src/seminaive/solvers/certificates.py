"""What a solver promises about where it stopped, each on one scale whatever the rows weigh.

There are three: a duality gap (`elastic_net_path`, `group_lasso_path`); the residual of the optimality
conditions, which without inequalities is the gradient (`relative_residual`); and half the Newton decrement,
by which a function exceeds the minimum of its quadratic model (`relative_decrement`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from seminaive.arrays import Floats


def relative_residual(residual: float | Floats, reference: float | Floats) -> float:
    """Return the largest ratio of residuals to what they are measured by; 0 where that is 0, too.

    Parameters
    ----------
    residual : float or ndarray of shape (n_problems,)
        Norm of the gradient, or of its projection where there are inequalities.
    reference : float or ndarray of shape (n_problems,)
        The same where the search starts, or another measure of the loss.

    Examples
    --------
    >>> relative_residual(np.array([1e-6, 3e-6]), 2.0)
    1.5e-06
    """
    scale = np.where(np.asarray(reference) > 0, reference, np.inf)
    return float(np.max(np.asarray(residual) / scale, initial=0.0))


def relative_decrement(excess: Floats, tol: float) -> float:
    """Return the root of the largest share of a value by which its minimum is exceeded.

    Parameters
    ----------
    excess : ndarray of shape (n_problems,)
        Half the Newton decrement, over ``tol**2`` of the value: 1 is as much as is allowed.
    """
    return float(tol * np.sqrt(np.max(excess, initial=0.0)))
