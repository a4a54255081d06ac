"""A table of counts is the table of its rows: whole weights are divided among folds."""

import warnings
from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from seminaive import (
    AttributeWeightedNaiveBayes,
    ForwardStagewiseNaiveBayes,
    GroupRegularizedNaiveBayes,
    HigherOrderLogisticRegressionCV,
    HybridLogisticNaiveBayes,
    NaiveBayesLogisticRegressionCV,
    SelectiveNaiveBayes,
    SemiNaive,
    SparseBayesianNetwork,
)
from seminaive.errors import WeightsWarning

SEARCHING = [
    ForwardStagewiseNaiveBayes(),
    SelectiveNaiveBayes(),
    GroupRegularizedNaiveBayes(strengths=10),
    AttributeWeightedNaiveBayes(),
    HybridLogisticNaiveBayes(cv=4),
    SparseBayesianNetwork(strengths=[0.1, 0.03, 0.01]),
    SparseBayesianNetwork(strengths=[0.1, 0.03, 0.01], cv=0.3),
    SemiNaive(),
    NaiveBayesLogisticRegressionCV(strengths=10),
    HigherOrderLogisticRegressionCV(),
]
# People on the Titanic by class, sex and age, as (lost, saved).
TITANIC = {
    ("first", "male", "child"): (0, 5),
    ("second", "male", "child"): (0, 11),
    ("third", "male", "child"): (35, 13),
    ("first", "female", "child"): (0, 1),
    ("second", "female", "child"): (0, 13),
    ("third", "female", "child"): (17, 14),
    ("crew", "male", "child"): (0, 0),
    ("crew", "female", "child"): (0, 0),
    ("first", "male", "adult"): (118, 57),
    ("second", "male", "adult"): (154, 14),
    ("third", "male", "adult"): (387, 75),
    ("crew", "male", "adult"): (670, 192),
    ("first", "female", "adult"): (4, 140),
    ("second", "female", "adult"): (13, 80),
    ("third", "female", "adult"): (89, 76),
    ("crew", "female", "adult"): (3, 20),
}


def titanic():
    """Return the cells of the table, whether their people were saved, and how many they were."""
    cells = [(*cell, saved) for cell in TITANIC for saved in (0, 1)]
    X = pd.DataFrame(cells, columns=["class", "sex", "age", "saved"])
    return X.drop(columns="saved"), X["saved"].to_numpy(), np.array(list(TITANIC.values())).ravel()


def name_of(model):
    return type(model).__name__ + (" once" if getattr(model, "cv", 5) == 0.3 else "")


@cache
def probabilities(position, *, counted, random_state):
    """Return the probability of being saved in every cell, by a model of cells or of people."""
    X, y, people = titanic()
    cells = X.iloc[::2]
    model = clone(SEARCHING[position]).set_params(random_state=random_state)
    if counted:
        model.fit(X, y, sample_weight=people)
    else:
        model.fit(X.loc[X.index.repeat(people)], y.repeat(people))
    return model.predict_proba(cells)[:, 1]


def spread(answers):
    """Return the largest difference between two answers about the same cell."""
    return np.ptp(answers, axis=0).max()


@pytest.mark.parametrize("position", range(len(SEARCHING)), ids=[name_of(model) for model in SEARCHING])
def test_counts_give_the_model_of_the_rows_up_to_the_draw_of_the_folds(position):
    of_cells, of_people = (
        np.array([probabilities(position, counted=counted, random_state=state) for state in range(4)])
        for counted in (True, False)
    )
    _, y, people = titanic()
    assert np.abs(of_cells - np.average(y, weights=people)).max() > 0.3
    moved = np.abs(of_cells.mean(axis=0) - of_people.mean(axis=0)).max()
    # The draws of a bootstrap, too, differ between states: .01 where folds happen to agree.
    assert moved <= max(spread(of_cells), spread(of_people), 0.01)


def test_weights_of_one_change_nothing():
    X, y, people = titanic()
    X, y = X.loc[X.index.repeat(people)].iloc[::7], y.repeat(people)[::7]
    plain = NaiveBayesLogisticRegressionCV(strengths=5).fit(X, y)
    weighed = NaiveBayesLogisticRegressionCV(strengths=5).fit(X, y, sample_weight=np.ones(len(y)))
    assert np.array_equal(plain.predict_proba(X), weighed.predict_proba(X))


def test_class_weights_leave_counts_counts():
    X, y, people = titanic()
    model = AttributeWeightedNaiveBayes(class_weight="balanced").fit(X, y, sample_weight=people)
    rows, labels = X.loc[X.index.repeat(people)], y.repeat(people)
    repeated = AttributeWeightedNaiveBayes(class_weight="balanced").fit(rows, labels)
    assert model.fit_share_ == pytest.approx(repeated.fit_share_, abs=0.02)


def test_splits_and_groups_hold_out_whole_rows():
    X, y, people = titanic()
    kept = people > 0
    X, y, people = X[kept], y[kept], people[kept]
    fold = np.arange(len(y)) % 3
    splits = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(3)]
    one, other = (
        AttributeWeightedNaiveBayes(cv=cv).fit(X, y, sample_weight=people) for cv in (splits, splits[::-1])
    )
    assert one.cv_log_loss_ == pytest.approx(other.cv_log_loss_, rel=0.05)
    assert (
        one.cv_log_loss_ > AttributeWeightedNaiveBayes().fit(X, y, sample_weight=people).cv_log_loss_ + 0.05
    )


def test_a_row_of_more_weight_than_a_fold_is_told():
    X, y, people = titanic()
    with pytest.warns(WeightsWarning, match="one row has 30% of all weight, more than one of 5 folds"):
        AttributeWeightedNaiveBayes().fit(X, y, sample_weight=people * (32.5 / 2201))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        AttributeWeightedNaiveBayes().fit(X, y, sample_weight=people)
