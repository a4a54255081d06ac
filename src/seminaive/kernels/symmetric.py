"""Symmetric matrices kept as their lower triangles, row after row, in one dimension.

Legend: a and b rows of the matrix, e entry of the triangle: a (a + 1) / 2 + b for b <= a.
"""

from seminaive.kernels.compilation import njit


@njit(cache=True, nogil=True)
def entry(a, b):
    """Return the kept entry of a row and a column."""
    return a * (a + 1) // 2 + b if a >= b else b * (b + 1) // 2 + a


@njit(cache=True, nogil=True)
def pack(matrix, triangle):
    """Fill a triangle (n (n + 1) / 2,) with the lower entries of a matrix (n, n), both float64."""
    e = 0
    for a in range(matrix.shape[0]):
        for b in range(a + 1):
            triangle[e] = matrix[a, b]
            e += 1


@njit(cache=True, nogil=True)
def pack_products(lower, scale, rows, triangle):
    """Fill a triangle with the weights of kept entries in tr(S M), S = diag(scale) lower diag(scale).

    An entry off the diagonal stands for two, so that it counts twice. lower (n, n) float64 in Fortran order,
    of which the lower triangle is read, scale (n,), rows (n,) int64 where it stands in the whole matrix. The
    triangle (any,) float32 is 0 elsewhere.
    """
    triangle[:] = 0.0
    for b in range(lower.shape[0]):
        triangle[entry(rows[b], rows[b])] = scale[b] * scale[b] * lower[b, b]
        twice = 2.0 * scale[b]
        for a in range(b + 1, lower.shape[0]):
            triangle[entry(rows[a], rows[b])] = twice * scale[a] * lower[a, b]


@njit(cache=True, nogil=True)
def weighted_sum(triangles, weights, constant, rows, found):
    """Fill found (n, m) with a constant plus the weighted sum of three matrices, at rows and the first m.

    triangles (3, n (n + 1) / 2), weights (3,), rows (n,) int64: a permutation; all others float64.
    """
    first, second, third = triangles[0], triangles[1], triangles[2]
    n_columns = found.shape[1]
    for i in range(found.shape[0]):
        a = rows[i]
        for j in range(min(i + 1, n_columns)):
            e = entry(a, rows[j])
            value = constant + weights[0] * first[e] + weights[1] * second[e] + weights[2] * third[e]
            found[i, j] = value
            if i < n_columns:
                found[j, i] = value


@njit(cache=True, nogil=True)
def add_scaled(lower, scale, rows, total):
    """Replace a lower triangle by diag(scale) lower diag(scale), and add it to some rows of a matrix.

    lower (n, n) and total (any, any) float64 in Fortran order, of which lower triangles are meant; scale
    (n,) float64, rows (n,) int64 increasing.
    """
    for b in range(lower.shape[0]):
        for a in range(b, lower.shape[0]):
            lower[a, b] *= scale[a] * scale[b]
            total[rows[a], rows[b]] += lower[a, b]
