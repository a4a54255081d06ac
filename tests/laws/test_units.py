"""Units do not matter: multiplying or shifting a column of numbers changes no probability of any model."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

# How far probabilities of solvers that stop at a tolerance may lie apart.
LOOSE = 1e-4

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
    ("times", "plus"), [(1000.0, 0.0), (1e-6, 0.0), (1.0, 4096.0), (1e-3, -7.5), (2.0**40, 0.0)], ids=str
)
def test_other_units_give_the_same_probabilities(classifier, measurements, times, plus):
    X, y = measurements
    model = classifier()
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    expected = clone(model).fit(X, y).predict_proba(X)
    other = X.assign(**{name: X[name] * times + plus for name in ("length", "time", "count")})
    np.testing.assert_allclose(model.fit(other, y).predict_proba(other), expected, atol=LOOSE)
