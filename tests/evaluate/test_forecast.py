import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from seminaive.errors import InputError
from seminaive.evaluate import ContinuumDisplay, learning_curve_forecast
from seminaive.evaluate.power_law import PowerLaw

SIZES = 100 * 2.0 ** np.arange(-3, 0.1, 0.5)


def drawn(n_rows, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 6))
    return X, (rng.random(n_rows) < expit(X[:, 0] - X[:, 1])).astype(int)


@pytest.fixture(scope="module")
def found():
    models = {"naive Bayes": GaussianNB(), "logistic regression": LogisticRegression()}
    return learning_curve_forecast(models, *drawn(200, 0))


def test_a_noiseless_power_law_is_continued():
    losses = 0.3 + 2.0 * SIZES**-0.8
    middle, low, high = PowerLaw(SIZES, losses, np.full(7, 1e-3), 0.0).forecast(np.array([400.0]), 0.8)
    assert middle[0] == pytest.approx(0.3 + 2.0 * 400**-0.8, abs=0.005)
    assert low[0] <= 0.3 + 2.0 * 400**-0.8 <= high[0]


def test_noise_and_judging_rows_widen_the_band():
    losses = 0.3 + 2.0 * SIZES**-0.8

    def width(error, shared):
        _, low, high = PowerLaw(SIZES, losses, np.full(7, error), shared).forecast(np.array([400.0]), 0.8)
        return float(high[0] - low[0])

    assert width(0.001, 0.0) < width(0.02, 0.0) < width(0.02, 0.05)


def test_a_curve_that_rises_is_not_continued_downward_nor_upward():
    middle, _, _ = PowerLaw(SIZES, np.linspace(0.5, 0.6, 7), np.full(7, 0.01), 0.0).forecast(
        np.array([400.0]), 0.8
    )
    assert 0.5 <= middle[0] <= 0.6


def test_the_forecast_of_four_times_the_rows_is_near_the_loss_there(found):
    forecast = found.forecast.set_index(["model", "n_train"])
    X, y = drawn(20_800, 1)
    for name, model in (("naive Bayes", GaussianNB()), ("logistic regression", LogisticRegression())):
        p = model.fit(X[:800], y[:800]).predict_proba(X[800:])
        true = -np.log(p[np.arange(20_000), y[800:]]).mean()
        at = forecast.loc[(name, 800)]
        # One table of 200 rows: its labels alone move the loss by .03.
        assert at["low"] - 0.03 < true < at["high"] + 0.03


def test_sizes_are_nested_parts_of_an_eighth_to_all(found):
    sizes = found.losses.loc[found.losses["model"] == "naive Bayes", "n_train"].tolist()
    assert sizes == [20, 28, 40, 57, 80, 113, 160]
    assert found.forecast["n_train"].tolist() == [200, 400, 800] * 2


def test_the_display_continues_the_lines_to_the_right_of_the_data(found):
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    display = ContinuumDisplay.from_forecast(found)
    assert display.ax_.get_xlim()[1] > 800
    assert set(display.lines_) == {"naive Bayes", "logistic regression"}
    plt.close("all")


@pytest.mark.parametrize(
    ("models", "y", "given", "match"),
    [
        ({}, None, {}, "at least one model"),
        (GaussianNB(), [0] * 195 + [1] * 5, {}, "class 1 has 5 rows"),
        (GaussianNB(), None, {"coverage": 0.0}, "coverage"),
        (GaussianNB(), None, {"n_repeats": 0}, "n_repeats"),
        (GaussianNB(), [0, 1], {}, "one label per row"),
    ],
)
def test_what_no_curve_can_be_drawn_of_is_refused(models, y, given, match):
    X, labels = drawn(200, 0)
    with pytest.raises(InputError, match=match):
        learning_curve_forecast(models, X, labels if y is None else y, **given)
