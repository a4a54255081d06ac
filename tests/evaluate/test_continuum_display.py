"""The picture of the line from naive Bayes to logistic regression: its numbers are cross-validated losses."""

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.naive_bayes import GaussianNB

from seminaive.errors import InputError
from seminaive.evaluate import ContinuumDisplay, log_loss

mpl.use("Agg")
ENDS = {"naive Bayes": GaussianNB(), "logistic regression": LogisticRegression(max_iter=1000)}


@pytest.fixture(scope="module")
def flowers():
    X, y = load_iris(return_X_y=True)
    return X, np.array(["setosa", "versicolor", "virginica"])[y]


def test_losses_are_those_of_models_fitted_to_the_training_rows_alone(flowers):
    X, y = flowers
    display = ContinuumDisplay.from_models(ENDS, X, y, train_sizes=[30], n_repeats=2, random_state=5)
    codes = np.unique(y, return_inverse=True)[1]
    parts = StratifiedShuffleSplit(2, train_size=30, test_size=120, random_state=5).split(X, y)
    expected = [
        log_loss(codes[test], GaussianNB().fit(X[train], y[train]).predict_proba(X[test]))
        for train, test in parts
    ]
    of_naive_bayes = display.losses.query("model == 'naive Bayes'")
    assert of_naive_bayes["log_loss"].tolist() == [pytest.approx(np.mean(expected), rel=1e-12)]
    assert of_naive_bayes["error"].tolist() == [
        pytest.approx(np.std(expected, ddof=1) / np.sqrt(2), rel=1e-12)
    ]


def test_every_model_has_a_line_with_a_point_per_size(flowers):
    display = ContinuumDisplay.from_models(ENDS, *flowers, n_repeats=1)
    assert list(display.lines_) == list(ENDS)
    sizes = display.losses["n_train"].unique()
    assert sizes[0] == 12
    assert sizes[-1] == 100
    for line in display.lines_.values():
        assert line.get_xdata().tolist() == sizes.tolist()
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == list(ENDS)


@pytest.mark.parametrize("sizes", [[2], [149], []])
def test_sizes_that_leave_a_class_without_a_row_are_refused(flowers, sizes):
    with pytest.raises(InputError, match="between 3 and 147"):
        ContinuumDisplay.from_models(ENDS, *flowers, train_sizes=sizes)
