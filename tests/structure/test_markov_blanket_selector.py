"""The selector of Markov blankets: unions, frames of every library, pipelines, and what it refuses."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from seminaive import MarkovBlanketSelector, NaiveBayes
from seminaive.errors import EmptyBlanketWarning, InputError, UntestableWarning
from seminaive.structure import ALGORITHMS, CORRELATION_TESTS, COUNTS_TESTS


@pytest.fixture
def codes():
    """Return a child of the class, a copy of it with errors, noise, another child; and the class."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 3000)

    def noisy(x, share):
        return x ^ (rng.random(len(x)) < share)

    child = noisy(y, 0.2)
    return np.column_stack([child, noisy(child, 0.1), rng.integers(0, 2, 3000), noisy(y, 0.3)]), y


@pytest.fixture
def numbers():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 2000)
    child = 2.0 * y + rng.normal(size=2000)
    return np.column_stack([child, child + rng.normal(size=2000), rng.normal(size=2000)]), y


@pytest.mark.parametrize("algorithm", list(ALGORITHMS))
@pytest.mark.parametrize("test", list(COUNTS_TESTS))
def test_children_stay_and_what_only_repeats_them_goes(codes, algorithm, test):
    X, y = codes
    selector = MarkovBlanketSelector(algorithm, test, categorical_features="all").fit(X, y)
    np.testing.assert_array_equal(selector.get_support(), [True, False, False, True])
    np.testing.assert_array_equal(selector.transform(X), X[:, [0, 3]])


@pytest.mark.parametrize("test", list(CORRELATION_TESTS))
def test_numbers_and_three_classes(numbers, test):
    X, y = numbers
    selector = MarkovBlanketSelector("iamb", test).fit(X, y)
    assert selector.get_support()[0]
    assert not selector.get_support()[2]


def test_the_union_is_that_of_all_algorithms_and_tests(codes, numbers):
    X, y = codes
    union = MarkovBlanketSelector(categorical_features="all").fit(X, y)
    single = [
        MarkovBlanketSelector(algorithm, test, categorical_features="all").fit(X, y).get_support()
        for algorithm in ALGORITHMS
        for test in COUNTS_TESTS
    ]
    np.testing.assert_array_equal(union.get_support(), np.any(single, axis=0))
    assert len(union.trace_.blankets) == 4 * 3
    X, y = numbers
    union = MarkovBlanketSelector().fit(X, y)
    assert len(union.trace_.blankets) == 4 * 4
    assert set(union.trace_.tests) == set(CORRELATION_TESTS)


def test_a_table_of_numbers_may_be_tested_as_bins(numbers):
    X, y = numbers
    assert MarkovBlanketSelector("iamb", "mi").fit(X, y).get_support()[0]


def test_mixed_frames_stay_frames_of_their_library(weather):
    X, y = weather
    selector = MarkovBlanketSelector(one_row_per_cell=False).fit(X, y)
    kept = list(selector.get_feature_names_out())
    assert {"sky", "temperature"} <= set(kept)
    pd.testing.assert_frame_equal(selector.transform(X), X[kept])
    frame = pl.from_pandas(X)
    other = clone(selector).fit(frame, y)
    assert other.transform(frame).columns == kept
    as_pandas = clone(selector).set_output(transform="pandas").fit(X, y).transform(X)
    assert list(as_pandas.columns) == kept


def test_rows_with_missing_cells_are_left_out_of_the_tests_that_need_them(weather):
    X, y = weather
    selector = MarkovBlanketSelector("iamb", "mi").fit(X, y)
    first = {d.candidate: d.result for d in selector.trace_.blankets[0].trace if not d.given}
    assert first[0].n_rows == X["sky"].notna().sum()
    assert first[1].n_rows == len(X)


@pytest.mark.parametrize("test", ["union", "mi", "mi-g-sh"])
def test_a_column_without_values_changes_nothing(numbers, test):
    X, y = numbers
    named = pd.DataFrame(X).add_prefix("x")
    expected = MarkovBlanketSelector(test=test).fit(named, y)
    gaps = named.assign(never=np.nan)[["never", *named.columns]].assign(last=np.nan)
    found = MarkovBlanketSelector(test=test).fit(gaps, y)
    assert found.get_feature_names_out().tolist() == expected.get_feature_names_out().tolist()
    assert str(found.trace_) == str(expected.trace_)
    if test != "mi-g-sh":
        mixed = gaps.assign(text=pd.Series([None] * len(y), dtype=object))
        found = MarkovBlanketSelector("iamb", "mi").fit(mixed, y)
        expected = MarkovBlanketSelector("iamb", "mi").fit(named, y)
        assert str(found.trace_) == str(expected.trace_)


def test_it_works_in_a_pipeline_and_is_pickled(weather):
    X, y = weather
    pipeline = make_pipeline(MarkovBlanketSelector("iamb", "mi"), NaiveBayes()).fit(X, y)
    assert pipeline.score(X, y) > 0.6
    again = pickle.loads(pickle.dumps(pipeline))  # noqa: S301 - our own
    assert (again.predict(X) == pipeline.predict(X)).all()


def test_integer_weights_equal_repeated_rows(codes):
    X, y = codes
    times = np.random.default_rng(1).integers(0, 3, len(y))
    weighted = MarkovBlanketSelector(categorical_features="all").fit(X, y, sample_weight=times)
    repeated = MarkovBlanketSelector(categorical_features="all").fit(
        np.repeat(X, times, axis=0), np.repeat(y, times)
    )
    for ours, expected in zip(weighted.trace_.blankets, repeated.trace_.blankets, strict=True):
        assert ours.members == expected.members
        for one, other in zip(ours.trace, expected.trace, strict=True):
            assert one.result.p_value == pytest.approx(other.result.p_value, rel=1e-6)


def test_an_empty_blanket_keeps_everything_and_says_so():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(60, 2)), np.arange(60) % 2
    with pytest.warns(EmptyBlanketWarning, match="all features are kept"):
        selector = MarkovBlanketSelector("iamb", "cor", alpha=1e-6).fit(X, y)
    assert selector.get_support().all()


def test_untestable_sets_are_said_and_can_be_tested_all_the_same():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    X = (y[:, None] + (rng.random((60, 6)) < 0.3) + rng.integers(0, 3, (60, 6))) % 5
    with pytest.warns(UntestableWarning, match="need more cells than there are rows"):
        selector = MarkovBlanketSelector("iamb", "mi", alpha=0.5, categorical_features="all").fit(X, y)
    assert "untestable" in str(selector.trace_)
    off = MarkovBlanketSelector(
        "iamb", "mi", alpha=0.5, one_row_per_cell=False, categorical_features="all"
    ).fit(X, y)
    assert off.trace_.n_untestable == 0


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"algorithm": "pc"}, "algorithm is one of union, grow-shrink"),
        ({"test": "x2"}, "test is one of union, mi"),
        ({"alpha": 0}, "alpha is a level"),
        ({"test": "cor"}, "some columns are categories"),
    ],
)
def test_bad_parameters_are_refused(weather, parameters, message):
    with pytest.raises(InputError, match=message):
        MarkovBlanketSelector(**parameters).fit(*weather)


def test_rows_and_labels_must_match(codes):
    with pytest.raises(InputError, match="one label per row"):
        MarkovBlanketSelector().fit(codes[0], codes[1][:-1])


@pytest.mark.parametrize("test", [*CORRELATION_TESTS, "mi"])
def test_integer_weights_equal_repeated_rows_in_every_test_of_the_trace(numbers, test):
    X, y = numbers
    X, y = X[:300], y[:300]
    times = np.random.default_rng(1).integers(1, 4, len(y))
    weighted = MarkovBlanketSelector("iamb", test).fit(X, y, sample_weight=times)
    repeated = MarkovBlanketSelector("iamb", test).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    assert str(weighted.trace_) == str(repeated.trace_)


def test_every_one_of_three_classes_has_an_indicator():
    # Only the last class differs from the others.
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 300)
    X = rng.normal(size=(900, 1)) + 0.5 * (y == 2)[:, None]
    (blanket,) = MarkovBlanketSelector("iamb", "cor").fit(X, y).trace_.blankets
    correlation = np.corrcoef(X[:, 0], y == 2)[0, 1]
    assert abs(blanket.trace[0].result.statistic) == pytest.approx(abs(correlation))


def test_fast_iamb_in_the_selector_adds_no_feature_to_crowded_cells():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 100)
    X = np.where(rng.random((100, 6)) < 0.25, rng.integers(0, 3, (100, 6)), y[:, None])
    selector = MarkovBlanketSelector("fast-iamb", "mi", categorical_features="all", one_row_per_cell=False)
    decisions = selector.fit(X, y).trace_.blankets[0].trace[:6]
    assert all(decision.result.dependent(0.05) for decision in decisions)
    # 100 rows over 2 x 3 cells are 17 per cell, over 2 x 9 cells 5.6, over 2 x 27 cells 1.9.
    assert sum(decision.action == "added" for decision in decisions) == 2


def test_permutations_find_the_blanket_of_a_number_and_refuse_weights():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    cause = rng.normal(y)
    X = np.column_stack([cause, cause + rng.normal(size=300), rng.normal(size=300)])
    selector = MarkovBlanketSelector("iamb", "smc-mi-g")
    assert selector.fit(X, y).get_support().tolist() == [True, False, False]
    assert "smc-mi-g" in str(selector.trace_)
    with pytest.raises(InputError, match="permutations take every row once"):
        selector.fit(X, y, sample_weight=np.full(300, 2.0))
    with pytest.raises(InputError, match="is for numbers"):
        MarkovBlanketSelector("iamb", "smc-mi-g", categorical_features="all").fit(X > 0, y)


@pytest.mark.parametrize("test", ["union", "mi", "cor"])
def test_complete_rows_give_the_blanket_of_the_table_without_the_others(test):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 400)
    X = pd.DataFrame({"a": rng.normal(y), "b": rng.normal(y), "c": rng.normal(size=400)})
    X.loc[rng.random(400) < 0.5, "b"] = np.nan
    known = X.notna().all(axis=1).to_numpy()
    found = MarkovBlanketSelector(test=test, complete_rows=True).fit(X, y)
    bins = {"categorical_features": "from_dtype"}
    expected = MarkovBlanketSelector(test=test, **bins).fit(X[known], y[known])
    if test != "mi":  # cut points are those of all rows
        assert found.support_.tolist() == expected.support_.tolist()
    assert {decision.result.n_rows for blanket in found.trace_.blankets for decision in blanket.trace} == {
        float(known.sum())
    }
