"""One gather and one scatter per group of terms instead of one per term, and the planning of groups.

Terms that share columns are fused: a group of columns has one cell for every combination of values that
occurs in the rows, and its table is the sum of the tables of the terms inside it.

Legend: i row, g group, f fused cell, t term, j column, p parameter cell, c score column (one per class,
padded; a single one, the log-odds, for two classes); n rows, P score columns.
"""

import numpy as np

from seminaive.kernels.compilation import njit
from seminaive.kernels.vectors import LANES, add_row, set_row, sum_rows

# Rows whose scores stay in the nearest caches while the groups pass over them.
ROW_BLOCK = 2048


@njit(cache=True, nogil=True)
def join_column(cells, n_cells, column, n_codes, joint):
    """Give each pair (cell, code) that occurs a number, by appearance, and return the first row of each.

    cells (n,) int64 below n_cells, column (n,) unsigned below n_codes; joint (n,) int64 is filled.
    """
    slots = np.full(n_cells * n_codes, -1, dtype=np.int64)
    first = np.empty(min(n_cells * n_codes, cells.shape[0]), dtype=np.int64)
    found = 0
    for i in range(cells.shape[0]):
        key = cells[i] * n_codes + np.int64(column[i])
        slot = slots[key]
        if slot < 0:
            slot = found
            slots[key] = slot
            first[found] = i
            found += 1
        joint[i] = slot
    return first[:found].copy()


@njit(cache=True, nogil=True)
def number_terms(codes, columns, starts, strides, offsets, slots, cells):
    """Give each combination of values that occurs in a term a number, by appearance, through all terms.

    codes (n, k) unsigned; columns and strides (entries,), starts and offsets (terms + 1,) int64, as in
    `Terms`; slots (largest term,) int64 holds -1 everywhere, and is left so; cells (terms, n) uint32 is
    filled with each row's number in each term. Returns where each term's numbers begin, (terms + 1,) int64,
    and the cell of the term behind each number, int64.
    """
    n_terms, n = cells.shape
    begins = np.zeros(n_terms + 1, dtype=np.int64)
    keys = np.empty(n, dtype=np.int64)
    for t in range(n_terms):
        found = begins[t]
        for i in range(n):
            keys[i] = _cell_of_term(codes, i, columns, strides, starts[t], starts[t + 1])
            if slots[keys[i]] < 0:
                slots[keys[i]] = found
                found += 1
            cells[t, i] = slots[keys[i]]
        begins[t + 1] = found
        for i in range(n):
            slots[keys[i]] = -1
    term_cells = np.empty(begins[n_terms], dtype=np.int64)
    for t in range(n_terms):
        found = begins[t]
        for i in range(n):
            if cells[t, i] == found:
                term_cells[found] = offsets[t] + _cell_of_term(
                    codes, i, columns, strides, starts[t], starts[t + 1]
                )
                found += 1
    return begins, term_cells


@njit(cache=True, nogil=True, inline="always")
def _cell_of_term(codes, i, columns, strides, start, stop):
    """Return the cell of row i in the term whose columns lie between start and stop, from 0 on."""
    cell = 0
    for entry in range(start, stop):
        cell += np.int64(codes[i, columns[entry]]) * strides[entry]
    return cell


@njit(cache=True, nogil=True)
def renumber(cells, numbers, numbered):
    """Fill numbered (n,) with the number (uint32) of each of cells (n,) uint32; it may be cells itself."""
    for i in range(cells.shape[0]):
        numbered[i] = numbers[cells[i]]


@njit(cache=True, nogil=True)
def joint_sizes(cells, n_cells, codes, n_codes, candidates, limit, sizes):
    """Count the pairs (cell, code) that occur for each candidate column, up to just above the limit.

    cells (n,) int64 below n_cells, codes (n, k) unsigned with codes below n_codes (k,) int64, candidates
    (k,) bool; sizes (k,) int64 is filled for the candidates.
    """
    for j in range(codes.shape[1]):
        if not candidates[j]:
            continue
        seen = np.zeros(n_cells * n_codes[j], dtype=np.bool_)
        found = 0
        for i in range(cells.shape[0]):
            key = cells[i] * n_codes[j] + np.int64(codes[i, j])
            if not seen[key]:
                seen[key] = True
                found += 1
                if found > limit:
                    break
        sizes[j] = found


@njit(cache=True, nogil=True)
def covering_gains(columns, uncovered, inside, gains):
    """Count, for each column outside, the uncovered terms that it would complete.

    columns (terms, order) int64 padded by -1, uncovered (terms,) bool, inside (k,) bool; gains (k,) int64
    is filled. Returns the number of uncovered terms that are complete already.
    """
    gains[:] = 0
    complete = 0
    for t in range(columns.shape[0]):
        if not uncovered[t]:
            continue
        missing = -1
        n_missing = 0
        for s in range(columns.shape[1]):
            j = columns[t, s]
            if j >= 0 and not inside[j]:
                missing = j
                n_missing += 1
        if n_missing == 0:
            complete += 1
        elif n_missing == 1:
            gains[missing] += 1
    return complete


@njit(cache=True, nogil=True)
def expand(members, parameters, first, fused):
    """Fill one group's table with the sums of its terms' parameters.

    members (fused cells of the group, terms) int32, parameters (cells, P); fused (fused cells, P) is
    overwritten from row first on.
    """
    n_columns = parameters.shape[1]
    for f in range(members.shape[0]):
        fused[first + f] = 0.0
        for t in range(members.shape[1]):
            p = np.int64(members[f, t])
            if n_columns == 1:
                fused[first + f, 0] += parameters[p, 0]
            else:
                for c in range(0, n_columns, LANES):
                    add_row(fused, first + f, parameters, p, c)


@njit(cache=True, nogil=True)
def marginalise(members, fused, first, gradient):
    """Add one group's fused gradient to the parameters of its terms: the transpose of `expand`.

    members (fused cells of the group, terms) int32, fused (fused cells, P) from row first on; gradient
    (cells, P) is added to.
    """
    n_columns = gradient.shape[1]
    for f in range(members.shape[0]):
        for t in range(members.shape[1]):
            p = np.int64(members[f, t])
            if n_columns == 1:
                gradient[p, 0] += fused[first + f, 0]
            else:
                for c in range(0, n_columns, LANES):
                    add_row(gradient, p, fused, first + f, c)


@njit(cache=True, nogil=True)
def gather(cells, tables, base, start, stop, scores):
    """Set each row's scores to its base plus its cell of every group.

    cells (groups, n) uint32 rows of tables (fused cells, P), P being 1 or a multiple of 4; base (n, P), which
    may be scores, or (1, P) for all rows; scores (n, P) is set between the rows start and stop, if there are
    groups.
    """
    n_groups = cells.shape[0]
    n_columns = tables.shape[1]
    whole = n_groups - n_groups % 4
    base_step = 1 if base.shape[0] == scores.shape[0] else 0
    for low in range(start, stop, ROW_BLOCK):
        high = min(low + ROW_BLOCK, stop)
        for g in range(0, whole, 4):
            before, step = (base, base_step) if g == 0 else (scores, 1)
            for i in range(low, high):
                q = np.int64(cells[g, i])
                r = np.int64(cells[g + 1, i])
                s = np.int64(cells[g + 2, i])
                t = np.int64(cells[g + 3, i])
                if n_columns == 1:
                    pairs = (tables[q, 0] + tables[r, 0]) + (tables[s, 0] + tables[t, 0])
                    scores[i, 0] = before[step * i, 0] + pairs
                else:
                    for c in range(0, n_columns, LANES):
                        sum_rows(scores, i, before, step * i, tables, q, r, s, t, c)
        for g in range(whole, n_groups):
            before, step = (base, base_step) if g == 0 else (scores, 1)
            for i in range(low, high):
                q = np.int64(cells[g, i])
                if n_columns == 1:
                    scores[i, 0] = before[step * i, 0] + tables[q, 0]
                else:
                    for c in range(0, n_columns, LANES):
                        set_row(scores, i, before, step * i, tables, q, c)


@njit(cache=True, nogil=True)
def scatter(cells, residuals, first, last, tables):
    """Add every row's residuals to its cell of each group from first up to last.

    cells (groups, n) uint32 rows of tables (fused cells, P), P being 1 or a multiple of 4, which is added
    to; residuals (n, P). Four groups at a time, whose cells never coincide, so that one addition need not
    wait for the one before.
    """
    n = cells.shape[1]
    n_columns = tables.shape[1]
    whole = last - (last - first) % 4
    for low in range(0, n, ROW_BLOCK):
        high = min(low + ROW_BLOCK, n)
        for g in range(first, whole, 4):
            for i in range(low, high):
                q = np.int64(cells[g, i])
                r = np.int64(cells[g + 1, i])
                s = np.int64(cells[g + 2, i])
                t = np.int64(cells[g + 3, i])
                if n_columns == 1:
                    residual = residuals[i, 0]
                    tables[q, 0] += residual
                    tables[r, 0] += residual
                    tables[s, 0] += residual
                    tables[t, 0] += residual
                else:
                    for c in range(0, n_columns, LANES):
                        add_row(tables, q, residuals, i, c)
                        add_row(tables, r, residuals, i, c)
                        add_row(tables, s, residuals, i, c)
                        add_row(tables, t, residuals, i, c)
        for g in range(whole, last):
            for i in range(low, high):
                q = np.int64(cells[g, i])
                if n_columns == 1:
                    tables[q, 0] += residuals[i, 0]
                else:
                    for c in range(0, n_columns, LANES):
                        add_row(tables, q, residuals, i, c)


@njit(cache=True, nogil=True)
def scatter_classes(cells, labels, weights, tables):
    """Add every row's weight to its cell of each group, in the column of its class.

    cells (groups, n) uint32 rows of tables (fused cells, at least as many columns as classes) float64, which
    is added to; labels (n,) int64, weights (n,) float64.
    """
    for g in range(cells.shape[0]):
        for i in range(cells.shape[1]):
            tables[cells[g, i], labels[i]] += weights[i]
