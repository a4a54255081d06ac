"""The smoothed logarithm of counts: its formula, its limits, and its compiled twin."""

import numpy as np
import pytest

from seminaive.kernels.parent_averages import log_share
from seminaive.statistics import VETO, log_shares


def test_it_is_its_formula_over_any_axes():
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 9, (4, 3, 2)).astype(float)
    totals = counts.sum(axis=1, keepdims=True)
    expected = np.log((counts + 0.5) / (totals + 0.5 * 3))
    np.testing.assert_allclose(log_shares(counts, totals, 3, 0.5), expected, rtol=1e-15)
    added = rng.random((4, 1, 1))
    expected = np.log((counts + added) / (totals + added * 3))
    np.testing.assert_allclose(log_shares(counts, totals, 3, added), expected, rtol=1e-14)


def test_shares_of_all_values_add_up_to_one():
    counts = np.random.default_rng(1).random((5, 4))
    for added in (0.0, 1e-3, 7.0):
        shares = np.exp(log_shares(counts, counts.sum(axis=0), 5, added))
        np.testing.assert_allclose(shares.sum(axis=0), 1.0, rtol=1e-13)


def test_what_has_no_row_is_uniform_and_what_never_occurred_is_vetoed():
    logs = log_shares([[3.0, 0.0], [0.0, 0.0]], [3.0, 0.0], 2, 0.0)
    np.testing.assert_allclose(logs, [[0.0, np.log(0.5)], [VETO, np.log(0.5)]])


@pytest.mark.parametrize("added", [0.0, 0.25])
def test_the_compiled_formula_is_the_same(added):
    counts = np.array([[3.0, 0.0, 0.0], [1.0, 4.0, 0.0]])
    totals = counts.sum(axis=0)
    compiled = [
        [log_share(count, total, 2, added, VETO) for count, total in zip(row, totals, strict=True)]
        for row in counts
    ]
    np.testing.assert_allclose(compiled, log_shares(counts, totals, 2, added), rtol=1e-15)
