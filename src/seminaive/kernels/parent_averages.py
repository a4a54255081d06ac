"""Log probabilities of averaged dependence estimators, and the joint log scores of rows.

Legend: i row, b row of a block, s parents (a tuple of columns), x their cell, j child column, v its value, c
class; n rows, S tuples of parents, P cells of all parents, k columns, V cells of children given each cell of
the parents, C classes.

Given one cell x of parents s, the children lie side by side, each with a last cell of no evidence, the
columns of the parents left out: child j begins ``offsets[j]`` cells after the first child of x, less the
cells of those parents that come before j.
"""

import numpy as np

from seminaive.kernels.compilation import njit
from seminaive.kernels.elementary import exponential

# Rows whose sums stay in the second-level cache while the parents pass over them.
BLOCK = 1024
# Below any joint log score.
NEVER = -1e300


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def log_share(count, total, n_values, added, lowest):
    """Return log((count + added) / (total + added n_values)), at least lowest: `statistics.log_shares`."""
    total = total + added * n_values
    share = (count + added) / total if total > 0 else 1.0 / n_values
    return max(np.log(share), lowest) if share > 0 else lowest


@njit(cache=True, nogil=True, error_model="numpy")
def fill_children(
    counts,
    family_offsets,
    parents,
    cardinalities,
    parent_offsets,
    offsets,
    child_offsets,
    added,
    lowest,
    child_log,
):
    """Fill in log P(x_j | c, x_s) for every cell of the parents.

    counts (cells, C) float64, in which the family of parents s and child j begins at family_offsets (S, k)
    int64, -1 for the parents themselves, its columns increasing and the last varying fastest, each with one
    code more than it has values, that of no evidence; parents (S, order) int64 increasing; cardinalities (k,)
    int64; parent_offsets (S + 1,) int64; offsets (k + 1,) int64 cells of single columns; child_offsets (S +
    1,) int64, where the children given each s begin; added (k,) float64 rows for each value of a child.
    child_log (V, C) float64 is filled where it is not 0, at least with lowest.
    """
    n_parents, order = parents.shape
    n_classes = counts.shape[1]
    strides = np.empty(order, np.int64)
    given = np.empty(n_classes)
    for s in range(n_parents):
        n_given = parent_offsets[s + 1] - parent_offsets[s]
        # With n_given 0 there is no cell to fill.
        width = (child_offsets[s + 1] - child_offsets[s]) // max(n_given, 1)
        for j in range(cardinalities.shape[0]):
            # A child of one value is certain.
            if family_offsets[s, j] < 0 or cardinalities[j] == 1:
                continue
            first_child = child_offsets[s] + offsets[j]
            for p in range(order):
                if parents[s, p] < j:
                    first_child -= cardinalities[parents[s, p]] + 1
            stride_of_child = 1
            for p in range(order):
                if parents[s, p] > j:
                    stride_of_child *= cardinalities[parents[s, p]] + 1
            stride = 1
            for p in range(order - 1, -1, -1):
                strides[p] = stride if parents[s, p] > j else stride * (cardinalities[j] + 1)
                stride *= cardinalities[parents[s, p]] + 1
            for x in range(n_given):
                first = family_offsets[s, j]
                rest = x
                for p in range(order - 1, -1, -1):
                    n_values = cardinalities[parents[s, p]]
                    first += rest % n_values * strides[p]
                    rest //= n_values
                given[:] = 0.0
                for v in range(cardinalities[j]):
                    for c in range(n_classes):
                        given[c] += counts[first + v * stride_of_child, c]
                for v in range(cardinalities[j]):
                    for c in range(n_classes):
                        child_log[first_child + x * width + v, c] = log_share(
                            counts[first + v * stride_of_child, c],
                            given[c],
                            cardinalities[j],
                            added[j],
                            lowest,
                        )


@njit(cache=True, nogil=True, error_model="numpy")
def average_parents(
    codes,
    parents,
    cardinalities,
    parent_offsets,
    parent_weight,
    parent_log,
    offsets,
    child_offsets,
    child_log,
    least,
    scores,
):
    """Fill each row's log of the mean, over parents frequent enough, of their joint probabilities.

    codes (n, k) unsigned; parents (S, order) int64; cardinalities (k,) int64; parent_offsets (S + 1,) int64
    rows of parent_weight (P,) and parent_log (P, C); offsets (k + 1,) int64 cells of single columns;
    child_offsets (S + 1,) int64 rows of child_log (V, C). scores (n, C) is filled; a row without any parent
    is filled with NaN. Parent after parent over a block of rows, so that one parent's tables stay in the
    cache.
    """
    n, n_classes = scores.shape
    order = parents.shape[1]
    columns = np.flatnonzero(cardinalities > 1)
    n_children = columns.shape[0]
    parent_flat, child_flat = parent_log.ravel(), child_log.ravel()
    cells = np.empty(BLOCK * n_children, np.uint32)
    joint = np.empty(BLOCK * n_classes)
    highest = np.empty(BLOCK * n_classes)
    totals = np.empty(BLOCK * n_classes)
    found = np.empty(BLOCK)
    # The children between two parents: from which to which, and how far left of their offset they lie.
    bounds = np.empty((order + 1, 2), np.uint64)
    shifts = np.empty(order + 1, np.uint64)
    for start in range(0, n, BLOCK):
        m = min(BLOCK, n - start)
        for b in range(m):
            for h in range(n_children):
                cell = offsets[columns[h]] + np.int64(codes[start + b, columns[h]])
                cells[b * n_children + h] = n_classes * cell
        highest[:] = NEVER
        totals[:] = 0.0
        found[:] = 0.0
        for s in range(parents.shape[0]):
            _leave_parents_out(parents[s], cardinalities, columns, n_classes, bounds, shifts)
            n_given = parent_offsets[s + 1] - parent_offsets[s]
            width = (child_offsets[s + 1] - child_offsets[s]) // max(n_given, 1)
            for b in range(m):
                x = np.int64(0)
                known = True
                for p in range(order):
                    j = parents[s, p]
                    code = np.int64(codes[start + b, j])
                    x = x * cardinalities[j] + code
                    known &= code < cardinalities[j]
                parent_cell = parent_offsets[s] + x
                if known and parent_weight[parent_cell] >= least:
                    found[b] += 1.0
                    first = np.uint64(n_classes * (child_offsets[s] + x * width))
                    begin = np.uint64(b * n_children)
                    if n_classes == 2:
                        _add_two_classes(
                            parent_flat,
                            child_flat,
                            parent_cell,
                            first,
                            cells,
                            begin,
                            bounds,
                            shifts,
                            joint,
                            b,
                        )
                    else:
                        _add_classes(
                            parent_flat,
                            child_flat,
                            parent_cell,
                            first,
                            cells,
                            begin,
                            bounds,
                            shifts,
                            joint,
                            b,
                            n_classes,
                        )
                else:
                    joint[b * n_classes : (b + 1) * n_classes] = NEVER
            _add_exponentials(joint[: m * n_classes], highest, totals)
        for b in range(m):
            for c in range(n_classes):
                t = b * n_classes + c
                scores[start + b, c] = highest[t] + np.log(totals[t] / found[b]) if found[b] > 0 else np.nan


@njit(cache=True, nogil=True, error_model="numpy")
def _leave_parents_out(parents, cardinalities, columns, n_classes, bounds, shifts):
    """Fill in which columns lie before, between and after the parents, and how far left they have moved."""
    order = parents.shape[0]
    shifts[0] = 0
    for g in range(order + 1):
        after = parents[g - 1] if g else -1
        before = parents[g] if g < order else cardinalities.shape[0]
        bounds[g, 0] = np.searchsorted(columns, after + 1)
        bounds[g, 1] = np.searchsorted(columns, before)
        if g:
            shifts[g] = shifts[g - 1] + np.uint64(n_classes * (cardinalities[after] + 1))


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _add_two_classes(parents, children, x, first, cells, begin, bounds, shifts, joint, b):
    """Do as `_add_classes` for two classes: sums in registers, two for each, so that additions overlap."""
    one, two = np.uint64(1), np.uint64(2)
    parent = np.uint64(x) * two
    low, high = parents[parent], parents[parent + one]
    more_low = more_high = 0.0
    for g in range(np.uint64(shifts.shape[0])):
        h, end = begin + bounds[g, 0], begin + bounds[g, 1]
        if (end - h) & one:
            p = first + cells[h] - shifts[g]
            more_low += children[p]
            more_high += children[p + one]
            h += one
        while h < end:
            p, q = first + cells[h] - shifts[g], first + cells[h + one] - shifts[g]
            low += children[p]
            high += children[p + one]
            more_low += children[q]
            more_high += children[q + one]
            h += two
    row = np.uint64(b) * two
    joint[row], joint[row + one] = low + more_low, high + more_high


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _add_classes(parents, children, x, first, cells, begin, bounds, shifts, joint, b, n_classes):
    """Fill row b of joint with the log of parent cell x and those of its children.

    parents (P C,), children (V C,), joint (rows C,) float64; the children of x begin at first; the row's
    cells (uint32) from begin on are read within bounds (order + 1, 2), each shifted. Indices are unsigned, so
    that the compiled loop need not test for negative ones, which would count from the end.
    """
    row, parent = np.uint64(b) * np.uint64(n_classes), np.uint64(x) * np.uint64(n_classes)
    for c in range(np.uint64(n_classes)):
        joint[row + c] = parents[parent + c]
    for g in range(np.uint64(shifts.shape[0])):
        for h in range(begin + bounds[g, 0], begin + bounds[g, 1]):
            p = first + cells[h] - shifts[g]
            for c in range(np.uint64(n_classes)):
                joint[row + c] += children[p + c]


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def _add_exponentials(joint, highest, totals):
    """Add e**joint to totals e**highest, exponents apart; joint (m,), the others no shorter."""
    for t in range(joint.shape[0]):
        above = joint[t] > highest[t]
        lower = exponential(-abs(joint[t] - highest[t]))
        totals[t] = totals[t] * lower + 1.0 if above else totals[t] + lower
        highest[t] = joint[t] if above else highest[t]
