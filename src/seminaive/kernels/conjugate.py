"""Steps of conjugate gradients for several functions side by side, one pass over the vectors each.

Legend: i row, f function, k column; vectors have the shape (rows, functions, columns), a share has one number
per function.
"""

from numba import njit


@njit(cache=True, nogil=True)
def dot_each(a, b, products):
    """Fill products (functions,) with the scalar products of each function's vectors."""
    products[:] = 0.0
    for i in range(a.shape[0]):
        for f in range(a.shape[1]):
            total = 0.0
            for k in range(a.shape[2]):
                total += a[i, f, k] * b[i, f, k]
            products[f] += total


@njit(cache=True, nogil=True)
def move_each(share, way, curved, direction, residual):
    """Go along a way: add share * way to direction, take share * curved off residual."""
    for i in range(way.shape[0]):
        for f in range(way.shape[1]):
            s = share[f]
            for k in range(way.shape[2]):
                direction[i, f, k] += s * way[i, f, k]
                residual[i, f, k] -= s * curved[i, f, k]


@njit(cache=True, nogil=True)
def turn_each(share, ahead, way):
    """Replace way by ahead + share * way."""
    for i in range(way.shape[0]):
        for f in range(way.shape[1]):
            for k in range(way.shape[2]):
                way[i, f, k] = ahead[i, f, k] + share[f] * way[i, f, k]
