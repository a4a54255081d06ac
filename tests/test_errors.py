"""Warnings point at the line that called the package."""

import warnings

import numpy as np
import pytest

from seminaive import (
    AttributeWeightedNaiveBayes,
    HigherOrderLogisticRegression,
    MarkovBlanketSelector,
    MultipleImputer,
    NaiveBayes,
    SparseBayesianNetwork,
)

RNG = np.random.default_rng(0)
NOISE, LABELS = RNG.normal(size=(60, 3)), np.repeat([0, 1], 30)
WORDS = RNG.choice(["a", "b", "c"], size=(60, 3))
WITHOUT_VALUES = np.column_stack([NOISE, np.full(60, np.nan)])


@pytest.mark.parametrize(
    ("model", "X"),
    [
        (NaiveBayes(), WITHOUT_VALUES),
        (MultipleImputer(), WITHOUT_VALUES),
        (SparseBayesianNetwork(max_levels=2, random_state=0), WORDS),
        (MarkovBlanketSelector(alpha=1e-12), NOISE),
        (AttributeWeightedNaiveBayes(max_iter=1), NOISE),
        (HigherOrderLogisticRegression(max_iter=1), WORDS),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_warning_names_the_line_that_called_fit(model, X):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, LABELS)
    assert caught
    assert {warning.filename for warning in caught} == {__file__}
