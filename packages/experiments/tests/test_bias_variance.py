import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.dummy import DummyClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from seminaive.errors import InputError
from seminaive_experiments.bias_variance import bias_variance, bias_variance_by_cross_validation

EXACT = 1e-12  # means of at most a few hundred numbers below one


@given(st.integers(0, 2**32 - 1), st.integers(2, 5), st.integers(1, 9))
def test_bias_plus_variance_is_the_loss(seed, n_classes, n_repetitions):
    rng = np.random.default_rng(seed)
    truth = rng.integers(n_classes, size=20)
    predicted = rng.integers(n_classes, size=(20, n_repetitions))
    split = bias_variance(truth, predicted)
    assert split.bias + split.variance == pytest.approx(np.mean(predicted != truth[:, None]), abs=EXACT)
    assert split.loss == split.bias + split.variance
    assert split.bias >= 0
    assert split.variance >= 0


@given(st.integers(0, 2**32 - 1))
def test_decomposition_equals_the_definition_written_as_loops(seed):
    rng = np.random.default_rng(seed)
    truth, predicted = rng.integers(3, size=6), rng.integers(3, size=(6, 4))
    bias = variance = 0.0
    for row in range(6):
        shares = [np.mean(predicted[row] == c) for c in range(3)]
        bias += 0.5 * sum(((truth[row] == c) - shares[c]) ** 2 for c in range(3)) / 6
        variance += 0.5 * (1 - sum(share**2 for share in shares)) / 6
    split = bias_variance(truth, predicted)
    assert split.bias == pytest.approx(bias, abs=EXACT)
    assert split.variance == pytest.approx(variance, abs=EXACT)


def test_a_constant_answer_has_no_variance_and_a_tree_has_more_than_naive_bayes():
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.normal(size=(300, 4)))
    y = np.where(X[0] + rng.normal(size=300) > 0, "yes", "no")
    constant = bias_variance_by_cross_validation(DummyClassifier(strategy="most_frequent"), X, y)
    tree = bias_variance_by_cross_validation(DecisionTreeClassifier(random_state=0), X, y)
    bayes = bias_variance_by_cross_validation(GaussianNB(), X, y)
    assert constant.variance <= 0.01
    assert tree.variance > 2 * bayes.variance


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(InputError, match="repetitions"):
        bias_variance([0, 1], [0, 1])
