"""Fixtures and settings that all tests share."""

import os
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, settings
from scipy.special import softmax
from sklearn.base import is_classifier

# Compiled on first use, so a first example may be slow. On CI the same examples run every time.
settings.register_profile(
    "seminaive",
    deadline=None,
    max_examples=50,
    derandomize="CI" in os.environ,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("seminaive")


@pytest.fixture(autouse=True)
def _close_figures():
    """Close what a test has drawn: pyplot counts open figures over all tests of a process."""
    yield
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close("all")


@pytest.fixture(autouse=True, scope="session")
def _no_notice_of_compilation():
    """Keep the notice off standard error: with an empty cache it would come in whichever test runs first."""
    from seminaive.kernels import compilation

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compilation, "NOTICE_AFTER", 1e6)
        yield


@pytest.fixture
def before_share():
    """Return a function that takes the class shares out of a search's answer, and leaves the averaged fit.

    The scores of an answer are ``fit_share_`` times those of the fit, and for the rest those of the shares.
    """

    def probabilities(model, X, y, sample_weight=None):
        weight = np.ones(len(y)) if sample_weight is None else sample_weight
        shares = np.bincount(np.unique(y, return_inverse=True)[1], weight) / np.sum(weight)
        scores = model.predict_log_proba(X) - (1 - model.fit_share_) * np.log(shares)
        return softmax(scores / model.fit_share_, axis=1)

    return probabilities


def pytest_generate_tests(metafunc):
    """Run a test of ``classifier`` for every public one, of ``streaming_classifier`` for streaming ones."""
    if {"classifier", "streaming_classifier"} & set(metafunc.fixturenames):
        every = _classifiers()
        streaming = [classifier for classifier in every if hasattr(classifier, "partial_fit")]
        for name, classes in (("classifier", every), ("streaming_classifier", streaming)):
            if name in metafunc.fixturenames:
                metafunc.parametrize(name, classes, ids=lambda classifier: classifier.__name__)


@cache
def _classifiers():
    """List the public classifiers, which are imported for the tests that need all of them."""
    import seminaive

    public = [getattr(seminaive, name) for name in seminaive.__all__]
    return [each for each in public if isinstance(each, type) and is_classifier(each())]


@pytest.fixture(scope="session")
def real_data():
    """Return the folder of real tables, or skip."""
    folder = os.environ.get("SEMINAIVE_DATA")
    if not folder:
        pytest.skip("SEMINAIVE_DATA does not point to the real tables")
    return Path(folder)


@pytest.fixture
def seminaive(monkeypatch, capsys):
    """Run the command line in this process; return exit code, output and errors."""
    from seminaive import cli

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["seminaive", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            cli.main()
        printed = capsys.readouterr()
        return end.value.code or 0, printed.out, printed.err

    return call


@pytest.fixture
def weather():
    """Return a mixed table with text, a category, numbers, a boolean and missing cells; and its classes."""
    rng = np.random.default_rng(0)
    n = 400
    y = rng.integers(0, 3, n)
    sky = np.array(["dry", "wet", "snow"], dtype=object)[(y + (rng.random(n) < 0.4)) % 3]
    sky[rng.random(n) < 0.1] = None
    temperature = rng.normal(10.0 * y, 6.0)
    temperature[rng.random(n) < 0.1] = np.nan
    X = pd.DataFrame(
        {
            "sky": sky,
            "wind": pd.Categorical(
                rng.choice(["low", "high"], n, p=[0.6, 0.4]), categories=["low", "storm", "high"]
            ),
            "temperature": temperature,
            "weekend": rng.random(n) < 2 / 7,
            "humidity": rng.integers(20, 100, n),
        }
    )
    return X, np.array(["sun", "rain", "hail"])[y]
