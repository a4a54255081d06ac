"""Kernels of Bayesian networks against sums over all configurations."""

from itertools import product

import numpy as np
import pytest

from seminaive.structure import Network
from seminaive.structure.kernels.network_draws import draw_missing, gibbs_log_scores
from seminaive.structure.kernels.network_sums import joint_log_scores, log_conditional, scratch_of

CARDINALITIES = (2, 3, 2)


def network():
    """Return 0 -> 1, and 0 and 1 together -> 2."""
    rng = np.random.default_rng(0)
    tables = rng.normal(size=2 + 3 + 6 + 2 + 12)
    return Network(CARDINALITIES, (0, 1, 2), (0, 1, 1, 2, 2), ((), (), (0,), (), (0, 1)), tables)


def joint(net):
    """Return the probability of every configuration."""
    shares = np.ones(CARDINALITIES)
    for x in product(*map(range, CARDINALITIES)):
        for node in range(3):
            logs = np.empty(3)
            log_conditional(net._arrays, node, np.array(x), logs)
            shares[x] *= np.exp(logs[x[node]])
    return shares


def test_conditionals_are_softmaxes_of_sums_of_tables():
    net = network()
    logs = np.empty(3)
    log_conditional(net._arrays, 2, np.array([1, 2, 0]), logs)
    scores = net.table_of(3) + net.table_of(4)[1, 2]
    np.testing.assert_allclose(logs[:2], scores - np.log(np.exp(scores).sum()))
    assert joint(net).sum() == pytest.approx(1)


@pytest.mark.parametrize("most", [100, 1])
def test_missing_cells_are_summed_out(most):
    net = network()
    shares = joint(net)
    codes = np.array([[2, 1, 0], [0, 3, 1], [2, 3, 1], [1, 3, 2], [0, 0, 0]])
    uniforms = np.random.default_rng(0).random((2001 if most == 1 else 2, 3))
    found = np.empty((5, 2))
    beyond = np.empty(5, bool)
    joint_log_scores(net._arrays, codes, 0, most, scratch_of(net._arrays), found, beyond)
    assert beyond.tolist() == [most == 1] * 5
    if most == 1:
        gibbs_log_scores(net._arrays, codes, 0, uniforms, scratch_of(net._arrays), found)
    found = np.exp(found - np.logaddexp.reduce(found, axis=1)[:, None])
    for row, drawn in zip(codes, found, strict=True):
        index = tuple(slice(None) if code >= k else code for code, k in zip(row, CARDINALITIES, strict=True))
        index = (slice(None), *index[1:])
        left = shares[index].reshape(2, -1).sum(axis=1)
        # Means of 1,800 Gibbs draws where sums are not allowed.
        np.testing.assert_allclose(drawn, left / left.sum(), atol=1e-12 if most > 1 else 0.03)


@pytest.mark.parametrize("most", [100, 1])
def test_draws_keep_what_is_observed_and_fill_the_rest(most):
    net = network()
    shares = joint(net)
    codes = np.tile([2, 1, 3], (400, 1))
    codes[:, 2] = 0
    drawn = np.empty((2, 400, 3), np.int64)
    scratch = (scratch_of(net._arrays), np.empty(2), np.empty((2, 3), np.int64))
    draw_missing(net._arrays, codes, most, 2, np.random.default_rng(0), *scratch, drawn)
    assert (drawn[:, :, 1:] == [1, 0]).all()
    expected = shares[1, 1, 0] / shares[:, 1, 0].sum()
    # Four standard errors of a share of 800 draws.
    assert abs(drawn[:, :, 0].mean() - expected) < 4 * np.sqrt(0.25 / 800)
    few = np.empty((2, 5, 3), np.int64)
    draw_missing(net._arrays, np.full((5, 3), 9), most, 2, np.random.default_rng(0), *scratch, few)
    assert (few < CARDINALITIES).all()
