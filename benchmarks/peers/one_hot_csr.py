"""scipy's CSR matrix of indicators of tuples: the usual way to logistic regression with interactions."""

from itertools import combinations

import numpy as np
from scipy import sparse
from sklearn._loss import HalfBinomialLoss, HalfMultinomialLoss


def indicators(codes, cardinalities, order):
    """Return one row of ones per table row, one column per combination of values of ``order`` columns."""
    cells, offset = [], 0
    for columns in combinations(range(codes.shape[1]), order):
        cell = np.zeros(len(codes), dtype=np.int64)
        for j in columns:
            cell = cell * cardinalities[j] + codes[:, j]
        cells.append(cell + offset)
        offset += int(np.prod([int(cardinalities[j]) for j in columns]))
    positions = np.stack(cells, axis=1).astype(np.int32)
    starts = np.arange(0, positions.size + 1, positions.shape[1], dtype=np.int32)
    return sparse.csr_matrix((np.ones(positions.size), positions.ravel(), starts), shape=(len(codes), offset))


def loss_and_gradient(X, y, coefficients):
    """Make one pass: two sparse products, and scikit-learn's compiled loss between them."""
    scores = X @ coefficients
    truth = y.astype(np.float64)
    if coefficients.shape[1] == 1:
        loss, residuals = HalfBinomialLoss().loss_gradient(truth, scores[:, 0])
        return loss.sum(), X.T @ residuals[:, None]
    loss, residuals = HalfMultinomialLoss(n_classes=coefficients.shape[1]).loss_gradient(truth, scores)
    return loss.sum(), X.T @ residuals
