"""Vector updates of conjugate gradients for several functions side by side, each in one pass.

Legend: i row, f function, k column; vectors have the shape (rows, functions, columns), a step has one number
per function.
"""

from seminaive.kernels.compilation import njit


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
def update_solution(step, direction, product, solution, residual):
    """Conjugate-gradient update: solution += step * direction, residual -= step * product."""
    for i in range(direction.shape[0]):
        for f in range(direction.shape[1]):
            s = step[f]
            for k in range(direction.shape[2]):
                solution[i, f, k] += s * direction[i, f, k]
                residual[i, f, k] -= s * product[i, f, k]


@njit(cache=True, nogil=True)
def update_direction(factor, preconditioned, direction):
    """Conjugate-gradient update: direction = preconditioned residual + factor * direction."""
    for i in range(direction.shape[0]):
        for f in range(direction.shape[1]):
            for k in range(direction.shape[2]):
                direction[i, f, k] = preconditioned[i, f, k] + factor[f] * direction[i, f, k]
