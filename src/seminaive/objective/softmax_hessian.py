"""The Hessian of a softmax over all classes, made of Gram matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from seminaive.arrays import Floats


def softmax_hessian(gram: Callable[[Floats], Floats], posterior: Floats, row_weight: Floats) -> Floats:
    """Return the Hessian of the log loss over the coefficients of all columns, flattened by rows.

    Between classes c and d it is the Gram matrix in which a row weighs ``w p_c (1[c = d] - p_d)``.

    Parameters
    ----------
    gram : callable
        Returns X'WX, given the weights of the rows.
    posterior : ndarray of shape (n_rows, n_columns)
    row_weight : ndarray of shape (n_rows,)
    """
    k = posterior.shape[1]
    blocks = {
        (c, d): gram(posterior[:, c] * ((c == d) - posterior[:, d]) * row_weight)
        for c in range(k)
        for d in range(c + 1)
    }
    p = len(blocks[0, 0])
    hessian = np.empty((p, k, p, k))
    for (c, d), block in blocks.items():
        hessian[:, c, :, d] = hessian[:, d, :, c] = block
    return hessian.reshape(p * k, p * k)
