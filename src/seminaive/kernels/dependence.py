"""Joint log scores of averaged dependence estimators.

Legend: i row, s parent (a tuple of columns), j child column, c class, x parent cell; n rows, S parents, k
columns, C classes.
"""

import numpy as np
from numba import njit


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
    start,
    stop,
    scores,
):
    """Fill each row's log of the mean, over parents frequent enough, of their joint probabilities.

    codes (n, k) unsigned; parents (S, order) int64; cardinalities (k,) int64; parent_offsets (S,) int64 rows
    of parent_weight (parent cells,) and parent_log (parent cells, C); child_offsets (S, k) int64 rows of
    child_log (child cells, C), the row of child j being child_offsets + parent cell * cardinality + code.
    scores (n, C) is filled between start and stop; a row without any parent is filled with NaN.
    """
    n_classes = scores.shape[1]
    k = codes.shape[1]
    joint = np.empty(n_classes)
    highest = np.empty(n_classes)
    for i in range(start, stop):
        found = 0
        for s in range(parents.shape[0]):
            x = np.int64(0)
            known = True
            for p in range(parents.shape[1]):
                j = parents[s, p]
                code = np.int64(codes[i, j])
                x = x * cardinalities[j] + code
                known &= code < cardinalities[j]
            if not known or parent_weight[parent_offsets[s] + x] < least:
                continue
            for c in range(n_classes):
                joint[c] = parent_log[parent_offsets[s] + x, c]
            for j in range(k):
                first = child_offsets[s, j]
                code = np.int64(codes[i, j])
                if first < 0 or code >= cardinalities[j]:
                    continue
                cell = first + x * cardinalities[j] + code
                for c in range(n_classes):
                    joint[c] += child_log[cell, c]
            # log of a running sum of exponentials, class by class
            for c in range(n_classes):
                if found == 0:
                    highest[c] = joint[c]
                    scores[i, c] = 1.0
                elif joint[c] <= highest[c]:
                    scores[i, c] += np.exp(joint[c] - highest[c])
                else:
                    scores[i, c] = scores[i, c] * np.exp(highest[c] - joint[c]) + 1.0
                    highest[c] = joint[c]
            found += 1
        for c in range(n_classes):
            scores[i, c] = highest[c] + np.log(scores[i, c] / found) if found else np.nan
