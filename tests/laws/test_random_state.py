"""Another seed draws other folds, and other rows to judge by: it hardly moves an answer."""

from functools import partial

import numpy as np
import pandas as pd
import pytest

from seminaive import HigherOrderLogisticRegressionCV, SemiNaive
from seminaive.selection.folds import split_rows

N_SEEDS, N_ROWS, N_FOLDS = 4, 80, 5


def table(kind):
    """Return six numbers or categories of which three are about the class, and the class."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, N_ROWS)
    numbers = rng.normal(size=(N_ROWS, 6)) + 0.7 * y[:, None] * (np.arange(6) < 3)
    if kind == "numbers":
        return pd.DataFrame(numbers).add_prefix("x"), y
    return pd.DataFrame(np.floor(numbers)).astype(int).astype(str).add_prefix("c"), y


def spread(model, folds_of, X, y):
    """Return the mean standard deviation between seeds of the probabilities of a row."""
    found = [
        model(cv=folds_of(seed), random_state=seed).fit(X, y).predict_proba(X)[:, 1]
        for seed in range(N_SEEDS)
    ]
    return np.std(found, axis=0, ddof=1).mean()


@pytest.mark.parametrize("model", [SemiNaive, HigherOrderLogisticRegressionCV])
def test_seeds_move_an_answer_less_than_one_draw_of_the_folds_does(model):
    several, once = [], []
    for kind in ("numbers", "categories"):
        X, y = table(kind)
        several.append(spread(model, lambda _: N_FOLDS, X, y))
        # The first of the draws, alone.
        once.append(spread(model, partial(split_rows, N_FOLDS, y, y, None), X, y))
    # Six draws vary by the root of a sixth, .41; the rows that the bootstrap draws add to that.
    assert np.mean(several) < 0.75 * np.mean(once)
