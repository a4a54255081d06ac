"""Units and constants do not matter: other units, or a column of one value, change no probability."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

# How far probabilities of solvers that stop at a tolerance may lie apart.
LOOSE = 1e-4
# How far an idle coefficient may move them: iterative solvers stop elsewhere within their tolerance, by 3e-7.
IDLE = 1e-6

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def measurements():
    """Return a table of numbers, one of them with few values and one with missing cells, and a category."""
    rng = np.random.default_rng(5)
    n = 300
    X = pd.DataFrame(rng.normal(size=(n, 3)), columns=["length", "weight", "time"])
    X["weight"] = np.exp(X["weight"])
    X["count"] = rng.poisson(3, n).astype(float)
    X["site"] = rng.choice(["north", "south"], n)
    X.loc[rng.random(n) < 0.1, "time"] = np.nan
    signal = X["length"] - X["weight"] + 0.3 * X["count"] + (X["site"] == "north")
    y = np.where(signal + rng.logistic(size=n) > 1, "yes", "no")
    return X, y


@pytest.mark.parametrize(
    ("times", "plus"),
    [(1000.0, 0.0), (1e-6, 0.0), (1.0, 4096.0), (1e-3, -7.5), (2.0**40, 0.0), (1e-200, 0.0), (1e100, 0.0)],
    ids=str,
)
def test_other_units_give_the_same_probabilities(classifier, measurements, times, plus):
    X, y = measurements
    model = classifier()
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    expected = clone(model).fit(X, y).predict_proba(X)
    other = X.assign(**{name: X[name] * times + plus for name in ("length", "time", "count")})
    np.testing.assert_allclose(model.fit(other, y).predict_proba(other), expected, atol=LOOSE)


# A tuple of a column and a constant is that column once more, with the weight or penalty of a tuple: these
# models count it, and docs/decisions says by how much their answers move.
COUNTS_TUPLES = {
    "AcceleratedLogisticRegression",
    "AveragedDependenceEstimators",
    "AveragedJoinEstimators",
    "HigherOrderLogisticRegression",
    "HigherOrderLogisticRegressionCV",
}


@pytest.mark.parametrize("constant", [7.0, 0.0, "same"], ids=str)
def test_a_column_of_one_value_changes_no_probability(classifier, measurements, constant):
    if classifier.__name__ in COUNTS_TUPLES:
        pytest.skip("tuples with a constant column are counted")
    X, y = measurements
    model = classifier()
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    expected = clone(model).fit(X, y).predict_proba(X)
    # First in the table and among the sorted names: draws and orders that count columns would move.
    wider = pd.concat([pd.DataFrame({"a constant": [constant] * len(X)}), X], axis=1)
    np.testing.assert_allclose(model.fit(wider, y).predict_proba(wider), expected, atol=IDLE)
