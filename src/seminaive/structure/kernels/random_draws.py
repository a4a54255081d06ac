"""Random values from tables of probabilities.

Legend: i row, k value, n rows, K values.
"""

from seminaive.kernels.compilation import njit


@njit(cache=True, nogil=True)
def draw_from_cells(cells, cumulative, uniform, drawn):
    """Draw one value per row by inversion of the distribution in the row's cell.

    cells (n,) int64, cumulative (n_cells, K) sums of probabilities along the values, uniform (n,) in [0, 1);
    drawn (n,) int64 is overwritten by the first value whose sum exceeds ``uniform`` times the last sum.
    """
    last = cumulative.shape[1] - 1
    for i in range(cells.shape[0]):
        sums = cumulative[cells[i]]
        threshold = uniform[i] * sums[last]
        k = 0
        while k < last and sums[k] <= threshold:
            k += 1
        drawn[i] = k
