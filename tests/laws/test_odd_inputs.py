"""Odd labels, weights, tables and parameters: what is refused is refused by a sentence, never by NumPy."""

import inspect
import warnings
from datetime import UTC, datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator

import seminaive
from seminaive.encode.discretizer import Discretizer
from seminaive.errors import InputError, SeminaiveError

N = 30
ESTIMATORS = [
    made
    for made in (getattr(seminaive, name) for name in seminaive.__all__)
    if isinstance(made, type) and issubclass(made, BaseEstimator)
]
# scikit-learn's sentences, which its users know: about shapes, labels, seeds and names of parameters.
KNOWN = (
    "should be a 1d array",
    "Complex data not supported",
    "cannot be used to seed",
    "Seed must be between",
    "Invalid parameter",
)
LABELS = {
    "lists of different lengths": [[1], [1, 2]] * (N // 2),
    "maps": np.array([{"a": 1}, {"b": 2}] * (N // 2), dtype=object),
    "immense integers": np.array([10**400, 1] * (N // 2), dtype=object),
    "dates": np.arange(N).astype("M8[D]"),
    "complex": np.arange(N) % 2 + 1j,
    "two columns": np.ones((N, 2)),
    "a set": {1, 2},
    "bytes": np.array([b"a", b"b"] * (N // 2)),
    "decimals": [Decimal(k % 2) for k in range(N)],
    "a scalar": 1,
}
WEIGHTS = {
    "complex": np.ones(N) + 1j,
    "dates": np.arange(1, N + 1).astype("M8[D]"),
    "durations": np.arange(1, N + 1).astype("m8[D]"),
    "immense integers": [10**400] * N,
    "lists of different lengths": [[1], [1, 2]] * (N // 2),
    "maps": {"a": 1},
    "text": ["many"] * N,
    "two columns": np.ones((N, 2)),
    "immense": np.full(N, 1e308),
    "vanishing": np.full(N, 1e-320),
}
TABLES = {
    "lists of different lengths": [[1, 2]] * (N - 1) + [[1]],
    "maps": pd.DataFrame({"a": [{}] * N}),
    "immense integers": pd.DataFrame({"a": [10**400] * N}),
    "text": pd.DataFrame({"a": ["x"] * N}),
    "dates": pd.DataFrame({"a": [datetime(2020, 1, 1, tzinfo=UTC)] * N}, dtype=object),
    "no table": {"a", "b"},
}
PARAMETERS = [np.array([1.0, 2.0]), [[1], [1, 2]], 10**400, {}, slice(3), b"x"]


def table():
    rng = np.random.default_rng(0)
    y = np.arange(N) % 2
    return pd.DataFrame({"number": rng.normal(y, 1.0), "other": rng.normal(size=N)}), y


def refusal(call):
    """Return the error of a call, or None; refuse one that is neither ours nor among scikit-learn's."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", np.exceptions.ComplexWarning)
            call()
    except SeminaiveError as error:
        return error
    except Exception as error:
        if not any(sentence in str(error) for sentence in KNOWN):
            raise
        return error
    return None


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS.keys())
def test_odd_labels_are_refused_with_a_sentence(labels):
    X, _ = table()
    assert refusal(lambda: seminaive.NaiveBayes().fit(X, labels)) is not None


@pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS.keys())
def test_odd_weights_are_refused_with_a_sentence(weights):
    X, y = table()
    assert isinstance(refusal(lambda: seminaive.NaiveBayes().fit(X, y, sample_weight=weights)), InputError)


@pytest.mark.parametrize("rows", TABLES.values(), ids=TABLES.keys())
@pytest.mark.parametrize("discretizer", [made for made in ESTIMATORS if issubclass(made, Discretizer)])
def test_a_discretiser_refuses_what_is_no_number_with_a_sentence(discretizer, rows):
    y = np.arange(N) % 2
    assert isinstance(refusal(lambda: discretizer().fit(rows, y)), SeminaiveError)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda made: made.__name__)
def test_no_parameter_reaches_the_arithmetic_unchecked(estimator):
    X, y = table()
    for name in inspect.signature(estimator).parameters:
        for value in PARAMETERS:
            try:
                refusal(lambda name=name, value=value: estimator(**{name: value}).fit(X, y))
            except Exception as error:
                error.add_note(f"{estimator.__name__}({name}={value!r})"[:200])
                raise


def test_a_column_named_nan_can_be_selected():
    X, y = table()
    X.columns = [np.nan, 1.0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        selector = seminaive.MarkovBlanketSelector().fit(X, y)
    assert selector.transform(X).shape[0] == N
