"""Tables of factors as Tan's experiments had them: cuts on the whole table, medians, complete rows."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import softmax
from sklearn.model_selection import KFold

from seminaive import NaiveBayes
from seminaive.encode import MDLDiscretizer
from seminaive.structure import Partition
from seminaive_experiments.papers.e1071 import (
    PROBABILITY_OF_ZERO,
    log_likelihoods_by_name,
    log_likelihoods_by_number,
)
from seminaive_experiments.papers.factor_hybrid import FactorHybrid, FactorModel, _RateFold
from seminaive_experiments.papers.factors import FactorRows, factors_of


def _numbers(n_rows=200, seed=0):
    """Three numbers: one tells two classes apart, one tells nothing, one is almost always 0."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n_rows)
    rare = np.where(rng.random(n_rows) < 0.05, rng.random(n_rows), 0.0)
    return pd.DataFrame({"tells": rng.normal(3 * y), "silent": rng.normal(size=n_rows), "rare": rare}), y


def test_a_number_that_description_length_leaves_uncut_is_split_at_its_median():
    X, y = _numbers()
    assert [len(cuts) > 0 for cuts in MDLDiscretizer().fit(X, y).cuts_] == [True, False, False]
    factors = factors_of(X, y)
    assert ((factors["silent"] == "1") == (X["silent"] > X["silent"].median())).all()
    assert ((factors["rare"] == "1") == (X["rare"] > 0)).all()
    mostly_one = factors_of(pd.DataFrame({"x": [0.0, 1, 1, 1]}), np.array([0, 1, 0, 1]))
    assert mostly_one["x"].tolist() == ["0", "1", "1", "1"]  # no value is above the median


def test_cuts_are_those_of_the_whole_table_and_columns_of_one_value_are_left_out():
    X, y = _numbers()
    coded = MDLDiscretizer().fit(X[["tells"]], y).transform(X[["tells"]])
    factors = factors_of(X.assign(constant=1.0, kind="a"), y)
    assert factors["tells"].astype(int).tolist() == np.asarray(coded)[:, 0].astype(int).tolist()
    assert list(factors) == ["tells", "silent", "rare"]


def test_missing_cells_stay_missing_and_do_not_move_the_median():
    X, y = _numbers()
    missing = X.assign(silent=X["silent"].where(np.arange(len(X)) % 3 > 0))
    factors = factors_of(missing, y)
    assert factors["silent"].isna().equals(missing["silent"].isna())
    known = missing["silent"].dropna()
    assert ((factors["silent"].dropna() == "1") == (known > known.median())).all()


def test_all_features_in_the_generative_part_are_naive_bayes_with_one_added_to_each_count():
    X, y = _numbers()
    factors = factors_of(X, y)
    ours = FactorHybrid(rate=0.0).fit(factors, y).predict_proba(factors)
    np.testing.assert_allclose(
        ours, NaiveBayes(smoothing=1.0).fit(factors, y).predict_proba(factors), atol=1e-12
    )


def test_the_rate_is_the_first_of_the_least_mean_of_the_folds_errors():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 120)
    errors = {"a": 0.2, "b": 0.3, "c": 0.3, "d": 0.4}
    X = pd.DataFrame({name: y ^ (rng.random(120) < share) for name, share in errors.items()})
    X["a copy"] = X["a"]
    X = X.astype("category")
    model = FactorHybrid(step=None).fit(X, y)
    rows = FactorRows.of(X, y, 2)
    folds = [
        _RateFold(rows.take(train), rows.take(held_out))
        for train, held_out in KFold(10, shuffle=True, random_state=0).split(X, y)
    ]
    rates = np.unique(np.concatenate([[0.0, np.inf], *(fold.changes for fold in folds)]))
    errors = np.array([np.mean([fold.error_at(rate) for fold in folds]) for rate in rates])
    # Of equally good rates R's which.min takes the first.
    assert model.rate_ == rates[np.flatnonzero(errors == errors.min())[0]]
    # A fold's error is a root of a mean square: the mean of roots is not the root of the mean.
    part = Partition.of_logistic(range(5), 5)
    train, held_out = folds[0].train, folds[0].held_out
    truth = np.eye(2)[held_out.labels]
    expected = np.sqrt(np.mean((FactorModel(train, part).posterior(held_out) - truth) ** 2))
    assert folds[0].error_at(np.inf) == pytest.approx(expected)


def test_a_grid_of_rates_has_steps_of_the_given_size():
    X, y = _numbers()
    factors = factors_of(X, y)
    rate = FactorHybrid(step=0.01).fit(factors, y).rate_
    assert np.isinf(rate) or rate / 0.01 == pytest.approx(round(rate / 0.01))


def test_incomplete_rows_train_naive_bayes_and_not_logistic_regression():
    X, y = _numbers()
    X["tells"] = X["tells"].where(np.arange(len(X)) > 20)
    factors = factors_of(X, y)
    rows = FactorRows.of(factors, y, 2, {"tells": X["tells"].to_numpy()})
    known = rows.take(rows.complete)
    assert rows.complete.sum() == len(X) - 21
    logistic = Partition.of_logistic([0], 3)
    both, complete = FactorModel(rows, logistic), FactorModel(known, logistic)
    np.testing.assert_array_equal(both.coefficients, complete.coefficients)
    assert not np.allclose(both.tables[1], complete.tables[1])
    assert rows.model_matrix([0, 1]).shape == (len(X), 3)  # ones, a raw number, one indicator
    np.testing.assert_array_equal(rows.model_matrix([0])[30:, 1], X["tells"][30:])


def _levels(cells, labels):
    return FactorRows.of(pd.DataFrame({"x": pd.Categorical(list(cells), list("abc"))}), np.array(labels), 2)


def test_bins_are_levels_in_the_order_of_their_cuts():
    y = np.repeat(np.arange(12), 40)
    factors = factors_of(pd.DataFrame({"x": np.arange(480.0)}), y)
    assert factors["x"].cat.categories.tolist() == [str(k) for k in range(12)]
    assert (factors["x"].cat.codes == y).all()


def test_counts_of_e1071_are_not_smoothed_and_zeros_become_a_thousandth():
    training = _levels("aabbc", [0, 0, 0, 1, 1])
    found = log_likelihoods_by_name(training, _levels("abc", [0, 0, 0]), [0])
    zero = PROBABILITY_OF_ZERO
    np.testing.assert_allclose(np.exp(found), [[2 / 3, zero], [1 / 3, 1 / 2], [zero, 1 / 2]])


def test_a_level_that_no_test_row_has_moves_the_later_ones_by_a_place():
    training = _levels("aabbc", [0, 0, 0, 1, 1])
    all_levels, without_a = _levels("cab", [0, 0, 0]), _levels("bc", [0, 0])
    np.testing.assert_array_equal(
        log_likelihoods_by_number(training, all_levels, [0]),
        log_likelihoods_by_name(training, all_levels, [0]),
    )
    np.testing.assert_array_equal(
        log_likelihoods_by_number(training, without_a, [0]),
        log_likelihoods_by_name(training, _levels("ab", [0, 0]), [0]),
    )


def test_one_factor_in_the_logistic_part_is_naive_bayes_of_counts_as_they_are():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 500)
    cells = {name: rng.integers(0, 3, 500) * (rng.random(500) < 0.5 + 0.1 * y) for name in "ab"}
    rows = FactorRows.of(pd.DataFrame(cells).astype("category"), y, 3)
    models = [FactorModel(rows, Partition.of_logistic(part, 2)) for part in ([0], [])]
    posteriors = [
        softmax(model.log_priors(rows) + log_likelihoods_by_name(rows, rows, generative), axis=1)
        for model, generative in zip(models, ([1], [0, 1]), strict=True)
    ]
    np.testing.assert_allclose(*posteriors, atol=1e-3)  # multinom stops at a relative change of 1e-8
