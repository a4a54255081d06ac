"""A number of pairs is ranked by the training rows of each fold alone, so that noise stays noise."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import log_loss

from seminaive import SemiNaive, scale
from seminaive.models import smooth_rows
from seminaive.selection.screening import Screen


def planted(n_rows, n_columns=6, seed=0):
    """Return numbers, and classes by the products of two and of two others, the first product larger."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n_rows, n_columns))).add_prefix("x")
    odds = 2.0 * X["x0"] * X["x1"] + 1.2 * X["x2"] * X["x3"] + X["x4"]
    return X, (rng.random(n_rows) < 1 / (1 + np.exp(-odds))).astype(int)


def pairs_of(model):
    return [tuple(pair) for pair in model.interactions_[["first", "second"]].to_numpy()]


@pytest.mark.slow
def test_ten_pairs_of_noise_are_not_believed_and_the_loss_to_expect_is_that_of_other_rows():
    lowest, highest, holds = [], [], []
    for seed in range(10):
        rng = np.random.default_rng((seed, 300, 30))
        X, y = rng.normal(size=(2300, 30)), rng.integers(0, 2, 2300)
        model = SemiNaive(interactions=10).fit(X[:300], y[:300])
        proba = model.predict_proba(X[300:])
        low, high = model.cv_log_loss_interval_
        holds.append(low <= log_loss(y[300:], proba) <= high)
        lowest.append(proba.min())
        highest.append(proba.max())
    assert min(lowest) >= 0.35
    assert max(highest) <= 0.65
    assert sum(holds) >= 9


def kept_pairs(model, X, y, monkeypatch):
    """Return the pairs that each training set keeps, folds first, then all rows."""
    found = []
    ranked = Screen.with_most_important

    def recorded(*arguments):
        crossed = ranked(*arguments)
        terms = np.array(crossed.columns.names(arguments[0].rows.table.schema), dtype=object)
        of_pairs = crossed.columns.groups == 2
        found.extend(set(terms[of_pairs & kept]) for kept in crossed.kept)
        return crossed

    monkeypatch.setattr(Screen, "with_most_important", recorded)
    model.fit(X, y)
    return found


def test_a_fold_keeps_the_pair_of_its_training_rows_and_not_of_the_rows_it_holds_out(monkeypatch):
    first, second = planted(400), planted(400, seed=1)
    # In half of the rows the strong product is of two other columns.
    other = second[0].rename(columns={"x0": "x2", "x1": "x3", "x2": "x0", "x3": "x1"})[list(first[0])]
    X, y = pd.concat([first[0], other], ignore_index=True), np.concatenate([first[1], second[1]])
    halves = np.arange(400), np.arange(400, 800)
    model = SemiNaive(interactions=1, cv=[halves, halves[::-1]])
    of_first, of_second, _ = kept_pairs(model, X, y, monkeypatch)
    assert of_first == {"x0 × x1"}
    assert of_second == {"x2 × x3"}
    assert len(model.interactions_) == 1


def test_where_every_fold_ranks_the_same_pairs_first_their_number_is_as_good_as_their_names():
    X, y = planted(1500)
    counted = SemiNaive(interactions=2).fit(X, y)
    named = SemiNaive(interactions=[("x0", "x1"), ("x2", "x3")]).fit(X, y)
    assert pairs_of(counted) == pairs_of(named) == [("x0", "x1"), ("x2", "x3")]
    np.testing.assert_array_equal(counted.predict_proba(X), named.predict_proba(X))
    assert counted.cv_log_loss_ == named.cv_log_loss_
    assert (counted.n_pairs_considered_, named.n_pairs_considered_) == (15, 2)


@pytest.mark.parametrize("number", [15, 100])
def test_as_many_pairs_as_there_are_is_all_of_them(number):
    X, y = planted(200)
    counted, every = (SemiNaive(interactions=given).fit(X, y) for given in (number, "all"))
    np.testing.assert_array_equal(counted.predict_proba(X), every.predict_proba(X))
    assert counted.n_pairs_considered_ == every.n_pairs_considered_ == 15


def test_the_planted_pairs_are_found_however_rows_are_searched(monkeypatch):
    X, y = planted(3000)
    whole = SemiNaive(interactions=2).fit(X, y)
    monkeypatch.setattr(smooth_rows, "MOST_SEARCHED", 1000)
    sampled = SemiNaive(interactions=2).fit(X, y)
    frame = X.assign(y=y)
    partitions = scale.from_batches([frame[:1300], frame[1300:]], target="y")
    passed = scale.fit(SemiNaive(interactions=2), partitions)
    for model in (whole, sampled, passed):
        assert pairs_of(model) == [("x0", "x1"), ("x2", "x3")]
        assert model.n_pairs_considered_ == 15


def test_a_number_of_pairs_leaves_out_columns_with_shapes():
    X, y = planted(400)
    model = SemiNaive(interactions=1, shapes={"x4": "increasing"}).fit(X, y)
    assert pairs_of(model) == [("x0", "x1")]
    assert model.n_pairs_considered_ == 10


def test_a_number_of_pairs_is_added_to_the_pairs_of_the_earlier_model():
    earlier = SemiNaive(interactions=[("x0", "x1")]).fit(*planted(300, seed=2))
    X, y = planted(600)
    assert set(pairs_of(SemiNaive(interactions=1, start=earlier).fit(X, y))) == {("x0", "x1"), ("x2", "x3")}


@pytest.mark.slow
def test_a_number_of_pairs_is_ranked_among_those_that_screening_keeps():
    X, y = planted(600, n_columns=95)
    model = SemiNaive(interactions=1).fit(X, y)
    assert pairs_of(model) == [("x0", "x1")]
    assert model.n_pairs_considered_ == 95 * 94 // 2
