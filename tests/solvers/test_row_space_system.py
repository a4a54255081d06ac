"""Fits in the row space: systems of small blocks, and factors of matrices that rounding made indefinite."""

import numpy as np
import pytest

from seminaive.objective.row_loss import RowLoss
from seminaive.objective.row_space_objective import RowSpaceObjective
from seminaive.solvers import row_space_system
from seminaive.solvers.row_space_system import RowSpaceSystem, minimize_kernel


def separated(n_rows=200, n_classes=4, seed=0):
    """Return a kernel and the loss of classes that lie apart."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, n_classes, n_rows)
    features = rng.normal(size=(n_rows, 6))
    features[np.arange(n_rows), labels] += 4.0
    loss = RowLoss(labels, rng.uniform(0.5, 2.0, n_rows), n_classes)
    return features @ features.T, loss


def test_small_blocks_of_classes_have_the_minimum_of_whole_ones(monkeypatch):
    kernel, loss = separated()
    start = np.zeros((len(kernel), loss.n_columns))
    small = minimize_kernel(kernel, loss, start, tol=1e-10, max_iter=100)
    system = RowSpaceSystem(RowSpaceObjective(kernel, loss), loss.evaluate(small.scores)[1])
    assert max(len(rows) for _, rows, _ in system.blocks) < len(kernel)
    monkeypatch.setattr(row_space_system, "MANY_ROWS", len(kernel) + 1)
    whole = minimize_kernel(kernel, loss, start, tol=1e-10, max_iter=100)
    # Excesses of 1e-20 of the objective, or rounding.
    assert small.objective == pytest.approx(whole.objective, rel=1e-8)
    np.testing.assert_allclose(small.scores, whole.scores, atol=1e-3)


@pytest.mark.parametrize("spread", [1e-12, 1.0, 1e6])
def test_every_row_is_in_the_block_of_its_most_probable_class(spread):
    kernel, loss = separated()
    kernel = spread * kernel
    posterior = np.random.default_rng(1).dirichlet(np.full(4, 0.1), len(kernel))
    system = RowSpaceSystem(RowSpaceObjective(kernel, loss), posterior)
    held = np.zeros(posterior.shape, dtype=bool)
    for c, rows, _ in system.blocks:
        held[rows, c] = True
    assert held[np.arange(len(kernel)), posterior.argmax(axis=1)].all()
