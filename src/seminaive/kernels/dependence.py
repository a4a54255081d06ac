"""Joint log scores of averaged dependence estimators.

Legend: i row, s parent (a tuple of columns), j child column, c class, x parent cell; n rows, S parents, k
columns, C classes.
"""

import numpy as np
from numba import njit

from seminaive.kernels.elementary import exponential


@njit(cache=True, nogil=True)
def average_parents(
    codes,
    parents,
    cardinalities,
    parent_offsets,
    parent_weight,
    parent_log,
    child_offsets,
    child_log,
    least,
    scores,
):
    """Fill each row's log of the mean, over parents frequent enough, of their joint probabilities.

    codes (n, k) unsigned; parents (S, order) int64; cardinalities (k,) int64; parent_offsets (S,) int64 rows
    of parent_weight (parent cells,) and parent_log (parent cells, C); child_offsets (S, k) int64 rows of
    child_log (child cells, C), the row of child j being child_offsets + parent cell * cardinality + code.
    scores (n, C) is filled; a row without any parent is filled with NaN. Parent after parent over all rows,
    so that one parent's tables stay in the cache.
    """
    n, n_classes = scores.shape
    k = codes.shape[1]
    joint = np.empty(n_classes)
    highest = np.full((n, n_classes), -np.inf)
    found = np.zeros(n)
    children = np.empty(k, np.int64)
    firsts = np.empty(k, np.int64)
    widths = np.empty(k, np.int64)
    scores[:] = 0.0
    for s in range(parents.shape[0]):
        n_children = 0
        for j in range(k):
            # A child of one value is certain.
            if child_offsets[s, j] >= 0 and cardinalities[j] > 1:
                children[n_children] = j
                firsts[n_children] = child_offsets[s, j]
                widths[n_children] = cardinalities[j]
                n_children += 1
        for i in range(n):
            x = np.int64(0)
            known = True
            for p in range(parents.shape[1]):
                j = parents[s, p]
                code = np.int64(codes[i, j])
                x = x * cardinalities[j] + code
                known &= code < cardinalities[j]
            if not known or parent_weight[parent_offsets[s] + x] < least:
                continue
            found[i] += 1
            for c in range(n_classes):
                joint[c] = parent_log[parent_offsets[s] + x, c]
            if n_classes == 2:
                # Two sums in registers.
                first, second = joint[0], joint[1]
                for h in range(n_children):
                    code = np.int64(codes[i, children[h]])
                    if code < widths[h]:
                        cell = firsts[h] + x * widths[h] + code
                        first += child_log[cell, 0]
                        second += child_log[cell, 1]
                joint[0], joint[1] = first, second
            else:
                for h in range(n_children):
                    code = np.int64(codes[i, children[h]])
                    if code < widths[h]:
                        cell = firsts[h] + x * widths[h] + code
                        for c in range(n_classes):
                            joint[c] += child_log[cell, c]
            # log of a running sum of exponentials, class by class
            for c in range(n_classes):
                above = joint[c] - highest[i, c]
                if above <= 0.0:
                    scores[i, c] += exponential(above)
                else:
                    scores[i, c] = scores[i, c] * exponential(-above) + 1.0
                    highest[i, c] = joint[c]
    for i in range(n):
        for c in range(n_classes):
            scores[i, c] = highest[i, c] + np.log(scores[i, c] / found[i]) if found[i] > 0 else np.nan
