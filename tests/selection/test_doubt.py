"""The gain over the class shares, in standard errors, and the loss of the shares."""

import numpy as np
import pytest

from seminaive.selection.doubt import loss_of_shares, standard_errors_of_gain


def test_rows_of_a_class_that_their_fold_lacks_are_left_out():
    rng = np.random.default_rng(0)
    log_posterior, of_shares = -rng.exponential(size=50), -rng.exponential(size=50)
    weight = rng.random(50) / 25
    gain, loss = standard_errors_of_gain(log_posterior, of_shares, weight), loss_of_shares(of_shares, weight)
    mean = weight @ (log_posterior - of_shares) / weight.sum()
    spread = weight * (log_posterior - of_shares - mean) / weight.sum()
    assert gain == pytest.approx(mean / np.sqrt(spread @ spread), rel=1e-12)
    assert loss == pytest.approx(-weight @ of_shares / weight.sum(), rel=1e-12)
    for own in (-30.0, -0.01):
        more = np.append(log_posterior, own), np.append(of_shares, -np.inf), np.append(weight, 0.1)
        assert standard_errors_of_gain(*more) == pytest.approx(gain, rel=1e-12)
        assert loss_of_shares(*more[1:]) == pytest.approx(loss, rel=1e-12)


def test_where_no_class_is_known_there_is_nothing_to_doubt():
    nothing = np.full(3, -np.inf)
    assert standard_errors_of_gain(np.zeros(3), nothing, np.ones(3) / 3) == np.inf
    assert loss_of_shares(nothing, np.ones(3) / 3) == np.inf
