"""Effects add up to the scores they were taken from, and pairs are pure."""

import time

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seminaive import HigherOrderLogisticRegression, NaiveBayes, TreeAugmentedNaiveBayes
from seminaive.encode import TableEncoder
from seminaive.errors import TooLargeError
from seminaive.scores import AdditiveScores, CurveTerms, Effects, NumericTerms, effects
from seminaive.scores.pure import cell_weights, purify
from seminaive.statistics import ObservedTerms, Terms, TrainingSummary, TupleCounts
from seminaive_experiments import load_dataset

CUTS = (-0.5, 0.5)


def fuzzed(seed, *, n_rows=1500, order=2, n_classes=3, missing="value", observed=False, weighed=True):
    """Return random scores with every kind of term, a summary, and a table with missing and unseen cells."""
    rng = np.random.default_rng(seed)
    X = np.empty((n_rows, 5), object)
    X[:, 0] = rng.choice(["a", "b", "c", None], n_rows)
    X[:, 1] = np.where(rng.random(n_rows) < 0.9, X[:, 0], rng.choice(["a", "d"], n_rows))
    X[:, 2] = rng.choice(["r", "s"], n_rows)
    X[:, 3:] = rng.normal(size=(n_rows, 2)) * 3
    X[rng.random(n_rows) < 0.1, 3] = None
    encoder, table = TableEncoder.learn(
        X,
        categorical_features=[0, 1, 2],
        missing=missing,
        cut_rule=lambda values, labels, weight: np.array(CUTS),  # noqa: ARG005
    )
    dense = Terms.up_to_order(table.cardinalities, order)
    terms = dense
    if observed:
        kept = np.unique(dense.cells(table.codes))
        terms = ObservedTerms.of_combinations(dense.features, dense.cardinalities, kept)
    tables = rng.normal(size=(terms.n_cells, n_classes))
    if observed:
        tables[terms.elsewhere] = 0.0
    numeric = NumericTerms(
        (0, 1),
        rng.normal(size=2),
        rng.normal(size=(2, 4, n_classes)),
        np.array([-np.inf, -1.0]),
        np.array([np.inf, 0.7]),
        np.array([1.0, 4.0]),
    )
    curves = CurveTerms.of(
        [
            (0, np.sort(rng.normal(size=5)), rng.normal(size=(5, n_classes)), rng.normal(size=n_classes)),
            (0, [0.25], rng.normal(size=(1, n_classes)), rng.normal(size=n_classes)),
        ]
    )
    scores = AdditiveScores(rng.normal(size=n_classes), terms, tables, numeric, curves)
    labels = rng.integers(0, n_classes, n_rows)
    summary = TrainingSummary.of(table, labels, n_classes, terms=dense if weighed else None)
    X[::7, 0], X[::5, 3], X[::11, 2], X[::13, 1] = "unseen", None, "unseen", None
    return scores, encoder.encode(X), summary


def centred(values):
    return values - values.mean(axis=-1, keepdims=True)


def joint_means(effect):
    """Return the joint-weighted means of a pure table over each axis, as shares of its range."""
    spread = np.ptp(effect.table.reshape(-1, effect.table.shape[-1]), axis=0).max()
    means = []
    for axis in range(effect.weight.ndim):
        total = effect.weight.sum(axis=axis)
        sums = (effect.weight[..., None] * effect.table).sum(axis=axis)
        means.append((np.abs(sums[total > 0]) / total[total > 0][:, None]).ravel() / spread)
    return np.concatenate(means)


@given(
    seed=st.integers(0, 10**6),
    order=st.integers(1, 4),
    n_classes=st.integers(2, 10),
    missing=st.sampled_from(["value", "neutral"]),
    observed=st.booleans(),
    weighed=st.booleans(),
)
def test_effects_add_up_to_the_scores_up_to_a_constant_for_all_classes(
    seed, order, n_classes, missing, observed, weighed
):
    scores, table, summary = fuzzed(
        seed,
        n_rows=150,
        order=order,
        n_classes=n_classes,
        missing=missing,
        observed=observed,
        weighed=weighed,
    )
    taken = Effects.of(scores, table.schema, summary)
    expected = centred(scores.joint_log_scores(table))
    np.testing.assert_allclose(taken.joint_log_scores(table), expected, atol=1e-10)
    np.testing.assert_allclose(taken.breakdown(table).sum(axis=1), expected, atol=1e-10)


@pytest.mark.parametrize("missing", ["value", "neutral"])
@pytest.mark.parametrize("order", [2, 3])
def test_pure_tuples_say_nothing_about_fewer_of_their_columns(order, missing):
    scores, table, summary = fuzzed(3, order=order, missing=missing)
    taken = Effects.of(scores, table.schema, summary)
    assert {len(effect.columns) for effect in taken.tuples} == set(range(2, order + 1))
    for effect in taken.tuples:
        assert joint_means(effect).max() < 1e-3


def test_effects_of_features_have_mean_zero_over_the_training_rows():
    scores, table, summary = fuzzed(5)
    for effect in Effects.of(scores, table.schema, summary).features:
        np.testing.assert_allclose(effect.weight @ effect.at_seen, 0.0, atol=1e-8)


def test_two_way_margins_are_the_weighted_least_squares_fit():
    rng = np.random.default_rng(0)
    table, weight = rng.normal(size=(4, 3, 2)), rng.random((4, 3)) + 0.1
    pure, (of_columns, of_rows) = purify(table, weight)
    rows, columns = np.indices((4, 3)).reshape(2, -1)
    design = np.hstack([np.eye(4)[rows], np.eye(3)[columns]]) * np.sqrt(weight.reshape(-1, 1))
    target = table.reshape(-1, 2) * np.sqrt(weight.reshape(-1, 1))
    residual = target - design @ np.linalg.lstsq(design, target, rcond=None)[0]
    np.testing.assert_allclose(pure.reshape(-1, 2) * np.sqrt(weight.reshape(-1, 1)), residual, atol=1e-12)
    np.testing.assert_allclose(table, pure + of_columns[None] + of_rows[:, None], atol=1e-12)


def test_three_axes_agree_with_two_where_the_third_has_one_code():
    rng = np.random.default_rng(1)
    table, weight = rng.normal(size=(4, 3, 1, 2)), rng.random((4, 3, 1)) + 0.1
    pure, margins = purify(table, weight)
    # The margin over the axis of one code takes everything.
    np.testing.assert_allclose(pure, 0.0, atol=1e-7)
    np.testing.assert_allclose(
        sum(np.expand_dims(margin, axis) for axis, margin in enumerate(margins)), table, atol=1e-7
    )


def test_a_column_and_its_copy_share_what_either_says():
    """Where one column determines the other, a little independence decides; the effects stay bounded."""
    joint = np.diag([50.0, 50.0])
    weight = cell_weights(joint, [np.array([0.5, 0.5])] * 2, 100.0)
    table = np.array([[[1.0], [0.0]], [[0.0], [-1.0]]])
    pure, margins = purify(table, weight)
    np.testing.assert_allclose(margins[0], margins[1], atol=1e-12)
    np.testing.assert_allclose(pure[[0, 1], [0, 1]], 0.0, atol=1e-12)


def test_effects_do_not_depend_on_how_a_model_splits_pair_and_feature():
    scores, table, summary = fuzzed(7, n_classes=2)
    moved = scores.tables.copy()
    pair = scores.terms.features.index((0, 1))
    single = scores.terms.features.index((0,))
    shift = np.random.default_rng(0).normal(size=(scores.terms.shape(pair)[0], 2))
    moved[scores.terms.block(single)] -= shift
    block = moved[scores.terms.block(pair)].reshape(*scores.terms.shape(pair), 2)
    block += shift[:, None]
    other = AdditiveScores(scores.prior, scores.terms, moved, scores.numeric, scores.curves)
    one, two = (Effects.of(scores_, table.schema, summary) for scores_ in (scores, other))
    for a, b in zip(one.tuples, two.tuples, strict=True):
        np.testing.assert_allclose(a.table, b.table, atol=1e-9)
    for a, b in zip(one.features, two.features, strict=True):
        np.testing.assert_allclose(a.at_seen, b.at_seen, atol=1e-9)


def test_at_the_ridge_optimum_row_sums_of_a_pair_are_the_singles_table_times_the_ratio_of_ridges():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.choice(list("uvw"), 500), "b": rng.choice(list("rs"), 500)})
    y = rng.random(500) < np.where((X["a"] == "u") ^ (X["b"] == "r"), 0.8, 0.3)
    model = HigherOrderLogisticRegression(
        order=2, ridge=(3.0, 1.5), hierarchical=True, solver="newton", tol=1e-10
    ).fit(X, y)
    terms, tables = model.scores_.terms, model.scores_.tables[:, 1] - model.scores_.tables[:, 0]
    pair = tables[terms.block(terms.features.index((0, 1)))].reshape(4, 3)[:3, :2]
    single = tables[terms.block(terms.features.index((0,)))][:3]
    np.testing.assert_allclose(pair.sum(axis=1), 3.0 / 1.5 * single, atol=1e-6)


@pytest.mark.parametrize(
    "model",
    [
        NaiveBayes(),
        TreeAugmentedNaiveBayes(),
        HigherOrderLogisticRegression(order=2, hierarchical=True),
        HigherOrderLogisticRegression(order=3),
    ],
    ids=lambda model: f"{type(model).__name__}-{getattr(model, 'order', '')}",
)
def test_effects_of_fitted_models_add_up(model, weather):
    X, y = weather
    model = model.fit(X, y)
    taken = Effects.of(model.scores_, model.schema_, model.summary_)
    np.testing.assert_allclose(
        taken.joint_log_scores(model.encode(X)), model.decision_function(X), atol=1e-10
    )


def test_too_many_tuples_are_refused_with_what_to_do(monkeypatch):
    scores, table, summary = fuzzed(0, order=3, n_rows=150)
    monkeypatch.setattr(effects, "MOST_VALUES", 100)
    with pytest.raises(TooLargeError, match="lower order"):
        Effects.of(scores, table.schema, summary)


def test_tuple_weights_are_summed_over_the_columns_that_a_pair_lacks():
    scores, table, summary = fuzzed(2, order=3, n_rows=150)
    triples = Terms.of_order(table.cardinalities, 3)
    dense = summary.tuples
    counts = np.concatenate(
        [dense.block(dense.terms.features.index(features)) for features in triples.features]
    )
    fewer = TrainingSummary(summary.cells, TupleCounts(triples, counts), summary.numbers)
    one, two = (Effects.of(scores, table.schema, summary_) for summary_ in (summary, fewer))
    for a, b in zip(one.tuples, two.tuples, strict=True):
        np.testing.assert_allclose(a.weight, b.weight)


@pytest.mark.real_data
@pytest.mark.parametrize("name", ["heart-cleveland", "hepatitis", "german-credit", "cmc"])
def test_pairs_of_small_tables_are_pure_under_the_training_weights(name, real_data, monkeypatch):
    monkeypatch.setenv("SEMINAIVE_DATA", str(real_data))
    data = load_dataset(name)
    model = HigherOrderLogisticRegression(order=2, hierarchical=True, tol=1e-2).fit(data.X, data.y)
    taken = Effects.of(model.scores_, model.schema_, model.summary_)
    shown = [effect for effect in taken.tuples if np.ptp(effect.table) > 1e-9]
    assert max(joint_means(effect).max() for effect in shown) < 1e-3


@pytest.mark.real_data
def test_effects_of_all_pairs_of_adult_take_less_than_a_second(real_data, monkeypatch):
    monkeypatch.setenv("SEMINAIVE_DATA", str(real_data))
    adult = load_dataset("adult")
    model = HigherOrderLogisticRegression(order=2, hierarchical=True, tol=1e-2).fit(adult.X, adult.y)
    start = time.process_time()
    taken = Effects.of(model.scores_, model.schema_, model.summary_)
    assert time.process_time() - start < 1.0
    np.testing.assert_allclose(
        taken.joint_log_scores(model.encode(adult.X))[:, 1] * 2, model.decision_function(adult.X), atol=1e-10
    )
    shown = [effect for effect in taken.tuples if np.ptp(effect.table) > 1e-9]
    assert max(joint_means(effect).max() for effect in shown) < 1e-3
