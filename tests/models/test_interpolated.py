"""Naive Bayes with one alpha or exponent per feature: limits, copies, criteria, evaluation counts."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2_contingency
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.model_selection import KFold, StratifiedKFold

from seminaive import (
    ForwardStagewiseNaiveBayes,
    GroupRegularizedNaiveBayes,
    NaiveBayes,
    SelectiveNaiveBayes,
    WeightedNaiveBayes,
)
from seminaive.errors import InputError
from seminaive.scores import Interpolation
from seminaive.statistics import TableStatistics

PATHS = [ForwardStagewiseNaiveBayes, SelectiveNaiveBayes, GroupRegularizedNaiveBayes]
# Steps chosen by the training rows alone, as in the papers.
stagewise = partial(ForwardStagewiseNaiveBayes, criterion="aic")
selective = partial(SelectiveNaiveBayes, criterion="training-error")
grouped = partial(GroupRegularizedNaiveBayes, criterion="aic")
naive_bayes = partial(NaiveBayes, variances="class")


def categories(seed, n_rows=300, n_classes=3, n_columns=6):
    """A table of categories, half of which tell the class."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n_rows)
    informative = (y[:, None] + rng.integers(0, 2, (n_rows, n_columns // 2))) % n_classes
    noise = rng.integers(0, 3, (n_rows, n_columns - n_columns // 2))
    X = pd.DataFrame(np.hstack([informative, noise]), columns=[f"c{j}" for j in range(n_columns)]).astype(
        "category"
    )
    return X, y


# Limits


def test_the_end_of_a_stagewise_path_is_naive_bayes(weather):
    X, y = weather
    model = ForwardStagewiseNaiveBayes(patience=None).fit(X, y)
    naive = naive_bayes().fit(X, y)
    assert (model.path_.alphas[-1] == 1).all()
    assert model.path_.training_error[-1] == pytest.approx((naive.predict(X) != y).mean())
    of_label = naive.predict_log_proba(X)[np.arange(len(y)), np.searchsorted(naive.classes_, y)]
    assert model.path_.deviance[-1] == pytest.approx(-2 * of_label.mean(), rel=1e-10)


@pytest.mark.parametrize("model", [ForwardStagewiseNaiveBayes(patience=None), GroupRegularizedNaiveBayes()])
def test_a_path_begins_at_the_class_prior(model, weather):
    X, y = weather
    path = model.fit(X, y).path_
    shares = np.unique(y, return_counts=True)[1] / len(y)
    assert (path.alphas[0] == 0).all()
    assert path.training_error[0] == pytest.approx(1 - shares.max())
    assert path.deviance[0] == pytest.approx(-2 * (shares * np.log(shares)).sum())


def test_noise_alone_leaves_the_class_prior():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(4000, 5)), rng.integers(0, 2, 4000)
    model = ForwardStagewiseNaiveBayes(criterion="cv", cv=3).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], y.mean(), atol=0.05)


def test_strength_zero_is_naive_bayes_and_a_large_one_the_prior(weather):
    X, y = weather
    free = grouped(strengths=[0.0]).fit(X, y)
    np.testing.assert_allclose(free.predict_proba(X), naive_bayes().fit(X, y).predict_proba(X), atol=1e-9)
    none = grouped(strengths=[1e9]).fit(X, y)
    assert none.selected_features_ == []
    np.testing.assert_allclose(none.predict_proba(X)[0], np.unique(y, return_counts=True)[1] / len(y))


def test_scores_of_the_chosen_step_give_its_error_and_deviance(weather):
    X, y = weather
    X = X[["temperature", "humidity", "sky", "wind", "weekend"]]  # numbers first: terms have another order
    for make in (stagewise, selective, grouped):
        model = make().fit(X, y)
        chosen = model.chosen_step_
        assert model.path_.training_error[chosen] == pytest.approx((model.predict(X) != y).mean())
        of_label = model.predict_log_proba(X)[np.arange(len(y)), np.searchsorted(model.classes_, y)]
        assert model.path_.deviance[chosen] == pytest.approx(-2 * of_label.mean(), rel=1e-10)
        np.testing.assert_array_equal(model.alphas_, model.path_.alphas[chosen])
        assert model.selected_features_ == [
            name for name, alpha in zip(X.columns, model.alphas_, strict=True) if alpha > 0
        ]
        assert sorted(model.term_names_) == sorted(model.selected_features_)


# Copies


def redundant_table(n_copies, seed=0, n_rows=1500):
    """The predictors of the paper's Eq. 12; the first one is copied some times."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n_rows)
    first = np.array([[0.8, 0.1, 0.1], [1 / 3] * 3, [1 / 3] * 3])
    other = np.array([[1 / 3] * 3, [0.3, 0.1, 0.6], [0.3, 0.6, 0.1]])

    def draw(table):
        return (rng.random(n_rows)[:, None] > table.cumsum(axis=1)[y][:, :-1]).sum(axis=1)

    columns = [draw(first), draw(other), draw(other)]
    X = np.column_stack([*columns, *[columns[0]] * n_copies])
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]).astype("category"), y


@pytest.mark.parametrize("model", [stagewise(), selective()])
def test_copies_of_a_column_hurt_naive_bayes_and_not_the_greedy_searches(model):
    X, y = redundant_table(0)
    with_copies, _ = redundant_table(20)
    test, y_test = redundant_table(20, seed=1, n_rows=4000)

    def error(estimator, train):
        fitted = clone(estimator).fit(train, y)
        return (fitted.predict(test[train.columns]) != y_test).mean()

    assert error(naive_bayes(), with_copies) > error(naive_bayes(), X) + 0.05
    assert error(model, with_copies) <= error(model, X) + 1e-12
    assert error(model, with_copies) < error(naive_bayes(), with_copies) - 0.05


def test_the_group_penalty_keeps_every_copy():
    X, y = redundant_table(5)
    model = GroupRegularizedNaiveBayes().fit(X, y)
    copies = model.path_.alphas[:, [0, 3, 4, 5, 6, 7]]
    np.testing.assert_allclose(copies, copies[:, :1] * np.ones(6), atol=1e-12)


# Brute force, counts


def brute_force(X, y, order):
    """Forward selection by fitting naive Bayes on every candidate subset."""

    def error(names):
        if not names:
            return 1 - np.unique(y, return_counts=True)[1].max() / len(y)
        return (naive_bayes().fit(X[names], y).predict(X[names]) != y).mean()

    chosen, evaluations = [], 0
    while len(chosen) < X.shape[1]:
        rest = [name for name in order if name not in chosen]
        errors = [error([*chosen, name]) for name in rest]
        evaluations += len(rest)
        if min(errors) >= error(chosen):
            break
        chosen.append(rest[int(np.argmin(errors))])
    return sorted(chosen), evaluations


@pytest.mark.parametrize("seed", range(4))
def test_selective_naive_bayes_equals_brute_force(seed):
    X, y = categories(seed, n_rows=120, n_columns=8)
    rng = np.random.default_rng(seed)
    X["number"] = rng.normal(y)
    X.loc[rng.random(len(X)) < 0.1, "number"] = np.nan
    model = selective(random_state=seed).fit(X, y)
    names = sorted(X.columns)
    order = [names[j] for j in np.random.RandomState(seed).permutation(len(names))]
    chosen, evaluations = brute_force(X, y, order)
    assert sorted(model.selected_features_) == chosen
    assert model.n_evaluations_ == evaluations


def diabetes_cells(model):
    """Mean error, and evaluations where the model counts them, in ten folds of the three diabetes tables."""
    X, target = load_diabetes(return_X_y=True, as_frame=True)
    errors, evaluations = [], []
    for quantile in (0.25, 0.5, 0.75):
        y = (target >= target.quantile(quantile)).to_numpy().astype(int)
        folds = StratifiedKFold(10, shuffle=True, random_state=0).split(X, y)
        parts = []
        for train, test in folds:
            fitted = clone(model).fit(X.iloc[train], y[train])
            parts.append((fitted.predict(X.iloc[test]) != y[test]).mean())
            evaluations.append(getattr(fitted, "n_evaluations_", np.nan))
        errors.append(np.mean(parts))
    return np.array(errors), float(np.mean(evaluations))


def test_the_diabetes_cells_of_naive_bayes_and_selection_are_the_papers():
    # One standard error of the paper's ten folds, plus half of its last digit.
    naive, _ = diabetes_cells(naive_bayes())
    assert (np.abs(naive - [0.28, 0.28, 0.20]) <= np.array([0.06, 0.07, 0.04]) / np.sqrt(10) + 0.005).all()
    errors, evaluations = diabetes_cells(selective())
    allowed = np.array([0.05, 0.06, 0.05]) / np.sqrt(10) + 0.005
    assert (np.abs(errors - [0.23, 0.27, 0.18]) <= allowed).all()
    assert evaluations == pytest.approx(30.7, abs=2.5)


def test_patience_one_needs_about_as_many_evaluations_as_the_paper_on_diabetes():
    _, evaluations = diabetes_cells(stagewise(patience=1))
    assert evaluations == pytest.approx(905.4, rel=0.15)


# Criteria


def test_aic_is_deviance_plus_two_degrees_per_row(weather):
    X, y = weather
    weights = np.random.default_rng(0).integers(1, 4, len(y))
    for degrees in ("count", "sum"):
        model = stagewise(degrees=degrees).fit(X, y, sample_weight=weights)
        path = model.path_
        counted = (path.alphas > 0).sum(axis=1) if degrees == "count" else path.alphas.sum(axis=1)
        np.testing.assert_allclose(path.aic, path.deviance + 2 * counted / weights.sum(), rtol=1e-14)
        assert model.chosen_step_ == np.argmin(path.aic)


@pytest.mark.parametrize("cls", [ForwardStagewiseNaiveBayes, GroupRegularizedNaiveBayes])
def test_cross_validation_takes_the_step_of_least_held_out_deviance(cls, weather):
    X, y = weather
    splits = list(KFold(3, shuffle=True, random_state=0).split(X))
    model = cls(criterion="cv", cv=splits, random_state=4).fit(X, y)
    assert model.fold_deviances_.shape == (3, len(model.path_))
    assert model.chosen_step_ == np.argmin(model.fold_deviances_.sum(axis=0))
    train, test = splits[1]
    if cls is GroupRegularizedNaiveBayes:
        alone = grouped(strengths=[model.path_.strengths[7] * len(train) / len(y)])
        alone.fit(X.iloc[train], y[train])
        step = 7
    else:
        alone = stagewise(random_state=4).fit(X.iloc[train], y[train])
        step = alone.chosen_step_
    of_label = alone.predict_log_proba(X.iloc[test])[
        np.arange(len(test)), np.searchsorted(alone.classes_, y[test])
    ]
    assert model.fold_deviances_[1, step] == pytest.approx(-2 * of_label.sum(), rel=1e-9)


def test_cut_points_of_a_fold_have_not_seen_its_held_out_rows():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    X = rng.normal(2 * y)[:, None]
    folds = list(StratifiedKFold(3).split(X, y))
    model = SelectiveNaiveBayes(bins=4, cv=folds).fit(X, y)
    for fold, (train, test) in enumerate(folds):
        alone = selective(bins=4).fit(X[train], y[train])
        assert len(model.path_) == len(alone.path_) == 2
        losses = -2 * alone.predict_log_proba(X[test])[np.arange(len(test)), y[test]]
        assert model.fold_deviances_[fold, 1] == pytest.approx(losses.sum(), rel=1e-9)


@pytest.mark.parametrize("cls", PATHS)
def test_the_share_of_the_fit_multiplies_the_scores_of_the_chosen_step(cls):
    X, y = categories(3, n_rows=60)
    model = cls().fit(X, y)
    assert 0 < model.fit_share_ < 1
    statistics = TableStatistics.of(model.encode(X), y, 3)
    step = Interpolation.of(statistics).scores_at(model.alphas_)
    shares = np.log(np.bincount(y) / len(y))
    mixed = model.fit_share_ * step.joint_log_scores(model.encode(X)) + (1 - model.fit_share_) * shares
    expected = np.exp(mixed - np.logaddexp.reduce(mixed, axis=1)[:, None])
    np.testing.assert_allclose(model.predict_proba(X), expected, rtol=1e-10)


def test_the_first_entry_of_the_group_path_is_the_largest_chi_square():
    X, y = categories(0)
    path = GroupRegularizedNaiveBayes(smoothing=0).fit(X, y).path_
    statistics = [chi2_contingency(pd.crosstab(X[name], y), correction=False).statistic for name in X]
    np.testing.assert_allclose(path.entry_strengths, statistics, rtol=1e-12)
    assert path.strengths[0] == pytest.approx(max(statistics))
    assert (np.diff(path.alphas, axis=0) >= 0).all()
    assert (path.alphas[1] > 0).sum() >= 1


# The seed, and nothing else


def test_results_depend_on_the_seed_and_not_on_the_order_of_the_columns():
    X, y = redundant_table(4, n_rows=200)  # copies: ties everywhere
    results = set()
    for seed in range(6):
        for make in (stagewise, selective):
            alphas = dict(zip(X.columns, make(random_state=seed).fit(X, y).alphas_, strict=True))
            turned = X[np.random.default_rng(seed).permutation(X.columns)]
            other = make(random_state=seed).fit(turned, y)
            assert alphas == dict(zip(turned.columns, other.alphas_, strict=True))
            results.add(tuple(alphas.values()))
    assert len(results) > 2  # the seed does decide which of the copies is taken


# Weighted naive Bayes


def test_exponents_scale_log_likelihoods_and_numbers_keep_exponent_one(weather):
    X, y = weather
    model = WeightedNaiveBayes().fit(X, y)
    naive = naive_bayes().fit(X, y)
    by_name = dict(zip(X.columns, model.exponents_, strict=True))
    assert by_name["temperature"] == by_name["humidity"] == 1
    powers = [by_name[name] for name in naive.term_names_]
    np.testing.assert_allclose(model.scores_.tables, naive.scores_.scale(powers).tables)
    sky = X["sky"].fillna("missing")
    joint = pd.crosstab(sky, y).to_numpy() + 1.0
    moved = joint / joint.sum(axis=1, keepdims=True) - joint.sum(axis=0) / joint.sum()
    assert by_name["sky"] == pytest.approx(np.sqrt((moved**2).sum()))


@pytest.mark.parametrize("bins", [None, 4])
def test_weighted_chunks_equal_one_fit(weather, bins):
    X, y = weather
    model = WeightedNaiveBayes(bins=bins)
    for i in range(0, len(y), 130):
        model.partial_fit(X.iloc[i : i + 130], y[i : i + 130])
    if bins is None:
        whole = WeightedNaiveBayes(bins=bins).fit(X, y)
        np.testing.assert_allclose(model.predict_proba(X), whole.predict_proba(X), rtol=1e-12)
        np.testing.assert_allclose(model.exponents_, whole.exponents_, rtol=1e-12)
    assert np.isfinite(model.predict_proba(X)).all()  # the first chunk's cut points are kept


def test_bins_give_numbers_exponents(weather):
    X, y = weather
    model = WeightedNaiveBayes(bins="mdl").fit(X, y)
    by_name = dict(zip(X.columns, model.exponents_, strict=True))
    assert by_name["temperature"] > 0.3
    assert by_name["humidity"] == 0  # one bin, which tells nothing
    assert "humidity" not in model.selected_features_


@pytest.mark.parametrize("model", [WeightedNaiveBayes(bins="mdl"), SelectiveNaiveBayes(bins="mdl")])
def test_increasing_functions_of_numbers_change_no_probability(model):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 4)), rng.integers(0, 2, 300)
    X[:, 0] += y
    X[rng.random(300) < 0.1, 1] = np.nan
    plain = model.fit(X, y).predict_proba(X)
    assert len(np.unique(plain)) > 2  # the first column does tell the classes apart
    for transformed in (np.exp(6 * X), np.sinh(10 * X), 1e9 + 1e3 * X):
        np.testing.assert_allclose(model.fit(transformed, y).predict_proba(transformed), plain, rtol=1e-12)


def test_cut_numbers_are_features_of_the_path_by_their_names(weather):
    X, y = weather
    cut = SelectiveNaiveBayes(direction="backward", bins=4).fit(X, y)
    assert cut.alphas_.shape == (X.shape[1],)
    assert "temperature" in cut.selected_features_
    alone = selective(bins=4).fit(X[["temperature"]], y)
    naive = NaiveBayes().fit(pd.qcut(X["temperature"], 4).astype(str).to_frame(), y)
    seen = X["temperature"].notna()
    quartiles = pd.qcut(X["temperature"], 4).astype(str).to_frame()[seen]
    np.testing.assert_allclose(alone.predict_proba(X[["temperature"]][seen]), naive.predict_proba(quartiles))


# Parameters


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (ForwardStagewiseNaiveBayes(step=0.3), "one over a whole number"),
        (ForwardStagewiseNaiveBayes(step=0), "one over a whole number"),
        (ForwardStagewiseNaiveBayes(step="x"), "one over a whole number"),
        (ForwardStagewiseNaiveBayes(look_ahead=0), "look_ahead"),
        (ForwardStagewiseNaiveBayes(patience=0), "patience"),
        (ForwardStagewiseNaiveBayes(criterion="bic"), "criterion"),
        (ForwardStagewiseNaiveBayes(degrees="all"), "degrees"),
        (ForwardStagewiseNaiveBayes(ties="none"), "ties"),
        (ForwardStagewiseNaiveBayes(smoothing=-1), "smoothing"),
        (ForwardStagewiseNaiveBayes(criterion="cv", cv=1), "folds"),
        (SelectiveNaiveBayes(direction="sideways"), "direction"),
        (SelectiveNaiveBayes(criterion="aic"), "criterion is one of 'cv', 'training-error'"),
        (SelectiveNaiveBayes(variances="none"), "variances"),
        (SelectiveNaiveBayes(bins=1), "bins"),
        (GroupRegularizedNaiveBayes(strengths=1), "strengths"),
        (GroupRegularizedNaiveBayes(strengths=[-1.0]), "strengths"),
        (GroupRegularizedNaiveBayes(strengths="many"), "strengths"),
        (GroupRegularizedNaiveBayes(ratio=2), "ratio"),
        (WeightedNaiveBayes(bins=1), "bins"),
    ],
)
def test_bad_parameters_are_refused_with_a_sentence(weather, model, message):
    with pytest.raises(InputError, match=message):
        model.fit(*weather)


@pytest.mark.parametrize("step", [1, 0.5, 0.1, 0.025, 1 / 3, 0.01])
def test_steps_that_divide_one_are_accepted(weather, step):
    model = ForwardStagewiseNaiveBayes(step=step).fit(*weather)
    positions = model.path_.alphas / step
    np.testing.assert_allclose(positions, positions.round(), atol=1e-9)
