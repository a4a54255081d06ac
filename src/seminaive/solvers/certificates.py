"""What a solver promises about where it stopped, each on one scale whatever the rows weigh.

There are three: a duality gap, as a share of the loss that the path starts from (`elastic_net_path`,
`group_lasso_path`); the residual of the optimality conditions, which without inequalities is the gradient
(`relative_residual`); and the Newton decrement (`relative_decrement`).
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


def relative_decrement(decrement: float, at_equal: float) -> float:
    """Return the root of the Newton decrement over the loss of equal odds.

    Half the squared length of a Newton step in the metric of the Hessian is about the distance of the value
    from its minimum; its root compares with the norm of a gradient.
    """
    return float(np.sqrt(max(decrement, 0.0) / at_equal))
