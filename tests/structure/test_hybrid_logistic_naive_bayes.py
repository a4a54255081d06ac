"""The hybrid model: its two limits, its partitions, its certificate, and what folds may look at."""

import warnings
from functools import partial
from itertools import chain, combinations

import numpy as np
import pandas as pd
import pytest
from scipy.special import log_softmax
from scipy.stats import chi2, chi2_contingency
from sklearn.datasets import load_wine

from seminaive import (
    HybridLogisticNaiveBayes,
    MarkovBlanketSelector,
    NaiveBayes,
    NaiveBayesLogisticRegression,
    TreeAugmentedNaiveBayes,
    load_model,
    save_model,
)
from seminaive.design.weighted_gram import weighted_gram
from seminaive.errors import ConvergenceWarning, InputError
from seminaive.objective.softmax_hessian import softmax_hessian
from seminaive.structure.logistic_parts import BlockInverse
from seminaive_experiments.papers.variants import ForwardGreedyHybrid

RULES = ("bias-variance", "dependence", "greedy")


def names(X):
    return list(X.columns)


def hybrid(partition="bias-variance", **options):
    return HybridLogisticNaiveBayes(partition=partition, random_state=0, **options)


@pytest.fixture
def mixed():
    """Two classes; a number and its noisy copy, a category and its noisy copy, and an independent one."""
    rng = np.random.default_rng(3)
    n = 600
    y = rng.integers(0, 2, n)
    height = rng.normal(y, 1.5)
    colour = np.where(rng.random(n) < 0.6, y, rng.integers(0, 3, n))
    X = pd.DataFrame(
        {
            "height": height,
            "size": height + rng.normal(scale=0.3, size=n),
            "colour": np.array(["red", "green", "blue"])[colour],
            "tint": np.array(["red", "green", "blue"])[np.where(rng.random(n) < 0.9, colour, 0)],
            "side": np.array(["left", "right"])[y ^ (rng.random(n) < 0.35)],
        }
    )
    return X, np.array(["no", "yes"])[y]


# Limits


@pytest.mark.parametrize("variances", ["pooled", "class"])
def test_all_features_in_the_generative_part_are_naive_bayes(weather, variances):
    X, y = weather
    model = hybrid([], variances=variances).fit(X, y)
    plain = NaiveBayes(variances=variances).fit(X, y)
    assert (model.predict_proba(X) == plain.predict_proba(X)).all()
    assert (model.scores_.tables == plain.scores_.tables).all()
    assert model.n_logistic_fits_ == 0


def test_all_features_in_the_generative_part_are_tan(weather):
    X, y = weather
    model = hybrid([], generative="tan").fit(X, y)
    plain = TreeAugmentedNaiveBayes().fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), plain.predict_proba(X))
    assert model.parents_ == plain.parents_


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # of the model compared with
@pytest.mark.parametrize("weighted", [False, True])
def test_all_features_in_the_logistic_part_are_logistic_regression(weather, mixed, weighted):
    # Where numbers are missing, a target of naive Bayes has something to say about them even at strength 0.
    for (X, y), target in ((weather, "zero"), (mixed, "naive-bayes")):
        weight = np.random.default_rng(0).integers(1, 5, len(y)) if weighted else None
        model = hybrid(names(X)).fit(X, y, sample_weight=weight)
        plain = NaiveBayesLogisticRegression(strength=0, target=target, tol=1e-8)
        plain.fit(X, y, sample_weight=weight)
        np.testing.assert_allclose(model.predict_proba(X), plain.predict_proba(X), atol=2e-5)
        assert model.optimality_ <= model.tol


@pytest.mark.parametrize("rate", [0, np.inf])
def test_the_rates_zero_and_infinity_are_the_limits(mixed, rate):
    X, y = mixed
    model = hybrid(rate=rate).fit(X, y)
    assert model.logistic_features_ == ([] if rate == 0 else names(X))
    assert model.generative_features_ == (names(X) if rate == 0 else [])


# The sum of both parts


def test_the_scores_are_those_of_a_logistic_fit_alone_and_of_naive_bayes_alone(mixed):
    X, y = mixed
    names, others = ["height", "tint"], ["size", "colour", "side"]
    model = hybrid(names).fit(X, y)
    logistic = NaiveBayesLogisticRegression(strength=0, tol=1e-8).fit(X[names], y)
    naive = NaiveBayes().fit(X[others], y)
    expected = logistic.predict_log_proba(X[names]) + naive.predict_log_proba(X[others]) - naive.scores_.prior
    expected = log_softmax(expected, axis=1)
    np.testing.assert_allclose(model.predict_proba(X), np.exp(expected), atol=2e-5)


def test_a_joint_fit_has_a_higher_likelihood_and_its_residuals_are_orthogonal(mixed):
    X, y = mixed
    names = ["height", "tint"]
    alone, joint = hybrid(names).fit(X, y), hybrid(names, joint=True).fit(X, y)
    second = y == joint.classes_[1]

    def loss(model):
        p = model.predict_proba(X)[:, 1]
        return -np.log(np.where(second, p, 1 - p)).sum()

    assert loss(joint) < loss(alone) - 0.1
    residual = second - joint.predict_proba(X)[:, 1]
    for column in (np.ones(len(y)), X["height"], X["tint"] == "red"):
        assert abs(residual @ column.to_numpy() if hasattr(column, "to_numpy") else residual.sum()) < 1e-3


def test_missing_cells_of_the_generative_part_contribute_their_mean(mixed):
    X, y = mixed
    names = ["size", "colour", "tint", "side"]
    model = hybrid(["height"], missing="neutral").fit(X, y)
    row = X[:1].assign(size=np.nan, colour=None, tint=None, side=None)
    expected = model.contributions(X)[names].mean()
    np.testing.assert_allclose(model.contributions(row)[names].iloc[0], expected, atol=1e-9)
    # Where all of it is generative, nothing is learned that an unknown cell would leave uncertain.
    alone = hybrid([], missing="neutral").fit(X, y)
    assert (alone.contributions(row)[names] == 0).all(axis=None)
    assert alone.scores_.attenuation is None


# Partitions


@pytest.mark.parametrize("rule", RULES)
def test_every_feature_is_in_one_part_and_the_trace_can_be_read(mixed, rule):
    X, y = mixed
    model = hybrid(rule).fit(X, y)
    assert sorted(model.logistic_features_ + model.generative_features_) == sorted(X.columns)
    description = model.partition_.describe(model.features_)
    assert description.startswith("logistic: ")
    dependence = model.dependence_.set_index("feature")
    assert list(dependence.index) == list(dependence.columns) == names(X)
    np.testing.assert_allclose(dependence, dependence.T)
    assert dependence.loc["height", "size"] > 0.2 > dependence.loc["height", "side"]


def test_dependent_pairs_are_separated(mixed):
    X, y = mixed
    for cutoff in (0.05, "mi", "chi-square"):
        model = hybrid("dependence", cutoff=cutoff).fit(X, y)
        assert len({"height", "size"} & set(model.generative_features_)) == 1
        assert len({"colour", "tint"} & set(model.generative_features_)) == 1
        assert "side" in model.generative_features_


def test_a_chi_square_cutoff_separates_what_scipy_finds_dependent_given_the_class():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 120)
    X = pd.DataFrame(rng.integers(0, 3, (120, 6)), columns=list("abcdef")).astype(str)
    X["b"] = np.where(rng.random(120) < 0.3, X["a"], X["b"])
    for cutoff, power in (("mi", "log-likelihood"), ("chi-square", "pearson")):
        for pair in combinations(X.columns, 2):
            tables = [pd.crosstab(X.loc[y == c, pair[0]], X.loc[y == c, pair[1]]) for c in (0, 1)]
            statistic = sum(
                chi2_contingency(table, correction=False, lambda_=power).statistic for table in tables
            )
            model = hybrid("dependence", cutoff=cutoff, alpha=0.2).fit(X[list(pair)], y)
            assert len(model.logistic_features_) == (chi2.sf(statistic, 8) <= 0.2)


def training_accuracy(model, X, y):
    return float((model.predict(X) == y).mean())


@pytest.mark.parametrize("greedy", ["backward", "forward"])
@pytest.mark.parametrize("generative", ["naive-bayes", "tan"])
def test_the_greedy_partition_never_lowers_training_accuracy(mixed, weather, generative, greedy):
    for X, y in (mixed, weather):
        kind = HybridLogisticNaiveBayes if greedy == "backward" else ForwardGreedyHybrid
        model = kind(partition="greedy", generative=generative).fit(X, y)
        start = hybrid([] if greedy == "backward" else names(X), generative=generative).fit(X, y)
        assert training_accuracy(model, X, y) >= training_accuracy(start, X, y)
        steps = [decision.value for decision in model.partition_.trace]
        assert steps == sorted(steps)
        if steps:
            assert steps[-1] == pytest.approx(training_accuracy(model, X, y))


def test_the_greedy_partition_equals_exhaustive_search_where_one_move_corrects_all_copies():
    # Three copies outvote the two other features in naive Bayes. A logistic part that is fitted beside it
    # takes back with one of them what the others say too often.
    rng = np.random.default_rng(0)
    n = 4000
    y = rng.integers(0, 2, n)
    copied = y ^ (rng.random(n) < 0.3)
    X = pd.DataFrame({f"copy{k}": copied for k in range(3)} | {"a": y ^ (rng.random(n) < 0.25)})
    X["b"] = y ^ (rng.random(n) < 0.25)
    X = X.astype("category")
    found = hybrid("greedy", joint=True).fit(X, y)
    every = chain.from_iterable(combinations(names(X), k) for k in range(len(names(X)) + 1))
    best = max(training_accuracy(hybrid(list(part), joint=True).fit(X, y), X, y) for part in every)
    assert training_accuracy(found, X, y) == best
    assert best > training_accuracy(hybrid([]).fit(X, y), X, y) + 0.05


def test_features_can_be_kept_in_a_part(mixed):
    X, y = mixed
    X = X.assign(size=X["size"].where(np.arange(len(X)) > 5))
    for rule in RULES:
        model = hybrid(rule, missing_to_generative=True, numbers_to_logistic=True).fit(X, y)
        assert "size" in model.generative_features_
        assert "height" in model.logistic_features_
        description = model.partition_.describe(model.features_)
        assert "size to the generative part: by a parameter" in description
        assert "height to the logistic part: by a parameter" in description
        parts = {"logistic": model.logistic_features_, "generative": model.generative_features_}
        for decision in model.partition_.trace:
            assert model.features_[decision.feature] in parts[decision.part]


def test_a_blanket_comes_before_the_partition(mixed):
    X, y = mixed
    X = X.assign(noise=np.random.default_rng(0).integers(0, 3, len(X)).astype(str))
    options = {"algorithm": "iamb", "test": "mi", "alpha": 0.01}
    model = hybrid("dependence", blanket=options).fit(X, y)
    kept = MarkovBlanketSelector(**options).fit(X, y).get_feature_names_out().tolist()
    assert list(model.features_) == kept
    assert len(kept) < X.shape[1]
    same = hybrid("dependence").fit(X[kept], y)
    np.testing.assert_allclose(model.predict_proba(X), same.predict_proba(X[kept]), atol=1e-12)
    assert model.blanket_.get_support().sum() == len(kept)
    weight = np.random.default_rng(1).integers(0, 3, len(y))
    weighted = hybrid("dependence", blanket=options, class_weight="balanced").fit(X, y, sample_weight=weight)
    share = {c: weight.sum() / (2 * weight[y == c].sum()) for c in np.unique(y)}
    balanced = weight * np.array([share[c] for c in y])
    alone = MarkovBlanketSelector(**options).fit(X, y, sample_weight=balanced)
    assert str(weighted.blanket_.trace_) == str(alone.trace_)


# Cross-validation


def test_the_rate_of_least_loss_is_taken_and_the_largest_of_equal_ones(mixed):
    X, y = mixed
    model = hybrid().fit(X, y)
    curve = model.rate_curve_
    assert curve["rate"].iloc[0] == np.inf
    assert curve["rate"].iloc[-1] == 0
    assert (curve["n_logistic"].diff().dropna() <= 0).all()
    assert curve["n_logistic"].iloc[[0, -1]].tolist() == [5, 0]
    best = curve["loss"].min()
    assert model.rate_ == curve["rate"][curve["loss"] <= best * (1 + 1e-12)].max()
    again = hybrid(rate=model.rate_).fit(X, y)
    assert again.logistic_features_ == model.logistic_features_


def test_noise_is_answered_by_the_class_shares_and_the_papers_take_the_parts_as_they_are(tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 4, (90, 4)).astype(str)).add_prefix("noise ")
    y = np.array(["a", "b", "b"])[rng.integers(0, 3, 90)]
    folds = [(np.arange(90)[np.arange(90) % 3 != k], np.arange(k, 90, 3)) for k in range(3)]
    model = hybrid(cv=folds).fit(X, y)
    assert model.fit_share_ == 0
    shares = [np.mean(y == label) for label in ("a", "b")]
    np.testing.assert_allclose(model.predict_proba(X), np.tile(shares, (90, 1)), rtol=1e-12)
    save_model(model, tmp_path / "model")
    np.testing.assert_array_equal(load_model(tmp_path / "model").predict_proba(X), model.predict_proba(X))
    papers = hybrid(cv=folds, fit_share=1).fit(X, y)
    assert papers.rate_ == model.rate_
    assert papers.partition_ == model.partition_
    assert papers.fit_share_ == 1
    assert papers.cv_log_loss_ > model.cv_log_loss_
    given = hybrid(rate=model.rate_).fit(X, y)
    # Equal rows of a fold are added up first, which rounds otherwise.
    np.testing.assert_allclose(papers.predict_proba(X), given.predict_proba(X), rtol=1e-10)


@pytest.mark.parametrize("scoring", ["brier", "zero-one", "log-loss", "auc"])
def test_the_share_multiplies_the_scores_of_both_parts(mixed, scoring):
    X, y = mixed
    X, y = X[:150], y[:150]
    model = hybrid(scoring=scoring, cv=4).fit(X, y)
    assert 0 < model.fit_share_ < 1
    parts = hybrid(scoring=scoring, cv=4, fit_share=1).fit(X, y)
    shares = np.unique(y, return_counts=True)[1] / len(y)
    expected = parts.predict_proba(X) ** model.fit_share_ * shares ** (1 - model.fit_share_)
    np.testing.assert_allclose(
        model.predict_proba(X), expected / expected.sum(axis=1, keepdims=True), rtol=1e-9
    )


def test_a_search_takes_at_most_three_logistic_fits_per_feature(mixed, weather):
    for X, y in (mixed, weather):
        model = hybrid().fit(X, y)
        assert model.n_logistic_fits_ <= X.shape[1] + 2


@pytest.mark.parametrize("scoring", ["brier", "zero-one", "log-loss", "auc"])
@pytest.mark.parametrize("joint", [False, True])
def test_the_curve_is_the_loss_of_models_fitted_on_each_fold(mixed, scoring, joint):
    X, y = mixed
    X, y = X[:240], y[:240]
    folds = [(np.delete(np.arange(240), rows), rows) for rows in np.split(np.arange(240), 3)]
    options = {"scoring": scoring, "joint": joint, "numbers": "bins", "tol": 1e-6}
    model = hybrid(cv=folds, **options).fit(X, y)
    rate = model.rate_curve_["rate"][len(model.rate_curve_) // 2]
    place = model.rate_curve_["rate"].tolist().index(rate)
    for fold, (train, held_out) in enumerate(folds):
        fold_model = hybrid(rate=rate * (1 + 1e-10), **options).fit(X.iloc[train], y[train])
        p = fold_model.predict_proba(X.iloc[held_out])[:, 1]
        truth = y[held_out] == "yes"
        loss = {
            "brier": np.mean((p - truth) ** 2),
            "zero-one": np.mean((p > 0.5) != truth),
            "log-loss": -np.log(np.where(truth, p, 1 - p)).mean(),
            "auc": 1 - np.mean((p[truth][:, None] > p[~truth]) + 0.5 * (p[truth][:, None] == p[~truth])),
        }[scoring]
        assert model.fold_losses_.losses[fold, place] == pytest.approx(loss, abs=2e-5)


def test_fits_that_stop_early_warn_in_folds_and_at_the_end(mixed):
    X, y = mixed
    for rate, messages in (
        ("cv", ["in the folds; raise", "tol=1e-03: raise"]),
        (np.inf, ["tol=1e-03: raise"]),
    ):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            hybrid(rate=rate, max_iter=1).fit(X, y)
        found = [str(warning.message) for warning in caught if warning.category is ConvergenceWarning]
        assert len(found) == len(messages)
        assert all(message in text for message, text in zip(messages, found, strict=True))


def test_held_out_rows_weigh_in_the_losses_and_folds_by_their_rows(mixed):
    X, y = mixed
    # No whole numbers, which would be questioned.
    weight = np.random.default_rng(0).integers(1, 6, len(y)) / 3
    folds = [(np.delete(np.arange(600), rows), rows) for rows in np.split(np.arange(600), [100, 300])]
    model = hybrid(cv=folds, scoring="zero-one").fit(X, y, sample_weight=weight)
    losses = []
    for train, held_out in folds:
        fold_model = hybrid(rate=np.inf).fit(X.iloc[train], y[train], sample_weight=weight[train])
        wrong = fold_model.predict(X.iloc[held_out]) != y[held_out]
        losses.append(np.average(wrong, weights=weight[held_out]))
    assert model.fold_losses_.losses[:, 0] == pytest.approx(losses)
    shares = [weight[held_out].sum() for _, held_out in folds]
    assert model.rate_curve_["loss"][0] == pytest.approx(np.average(losses, weights=shares))


def test_separable_classes_have_a_certified_optimum():
    X, y = load_wine(return_X_y=True, as_frame=True)
    model = hybrid(names(X)).fit(X, y)
    assert model.optimality_ <= model.tol
    assert model.score(X, y) == 1
    assert np.isfinite(model.scores_.numeric.coefficients).all()


def test_the_block_inverse_is_the_inverse_of_the_whole_hessian():
    rng = np.random.default_rng(0)
    value, others, weight = rng.integers(0, 30, 200), rng.normal(size=(200, 4)), rng.random(200)
    design = np.hstack([others, np.eye(31)[value]])  # the last value has no row
    hessian = design.T @ (weight[:, None] * design)
    gradient, ridge = rng.normal(size=35), 1e-3
    inverse = BlockInverse.of(hessian, 31, ridge)
    whole = hessian + ridge * np.eye(35)
    # The factor raises the diagonal of the complement by a share of its mean: as much as in the whole matrix.
    complement = whole[:4, :4] - whole[:4, 4:] @ np.linalg.solve(whole[4:, 4:], whole[4:, :4])
    whole[range(4), range(4)] += np.sqrt(np.finfo(float).eps) * np.trace(complement) / 4
    np.testing.assert_allclose(inverse @ gradient, np.linalg.solve(whole, gradient), rtol=1e-10)


def test_the_coupled_hessian_is_the_derivative_of_the_gradient_over_all_classes():
    rng = np.random.default_rng(0)
    X, weight, here = rng.normal(size=(30, 4)), rng.integers(0, 3, 30), rng.normal(size=20)

    def posterior(flat):
        return np.exp(log_softmax(X @ flat.reshape(4, 5), axis=1))

    def expected(flat):
        return (X.T @ (weight[:, None] * posterior(flat))).ravel()

    step = 1e-6
    differences = [(expected(here + step * u) - expected(here - step * u)) / (2 * step) for u in np.eye(20)]
    # Rounding of central differences: 1e-16 times sums of about 30, over the step.
    found = softmax_hessian(partial(weighted_gram, X), posterior(here), weight)
    np.testing.assert_allclose(found, differences, atol=1e-7)


def test_numbers_without_cut_points_depend_on_none_and_leave_other_dependences_as_they_are(mixed):
    X, y = mixed
    noise = np.random.default_rng(0).normal(size=len(X))
    plain, with_noise = (hybrid([]).fit(table, y) for table in (X, X.assign(noise=noise)))
    whole = with_noise.dependence_.set_index("feature")
    np.testing.assert_array_equal(whole["noise"], 0.0)
    kept = list(plain.features_)
    np.testing.assert_array_equal(whole.loc[kept, kept], plain.dependence_.set_index("feature"))


def test_many_classes_in_order_are_fitted_to_the_certificate_in_few_steps():
    rng = np.random.default_rng(1)
    y = np.repeat(np.arange(40), 5)
    X = rng.normal(size=(200, 3)) + y[:, None]
    model = HybridLogisticNaiveBayes(rate=np.inf).fit(X, y)
    assert model.optimality_ <= model.tol
    # With a Hessian of each class alone as the preconditioner it takes more than the 200 steps allowed.
    assert model.n_iter_ < 60


@pytest.mark.filterwarnings("ignore::seminaive.errors.ColumnsWarning")
def test_a_column_with_a_value_for_every_row_is_fitted_to_the_certificate(mixed):
    X, y = mixed
    X = X.assign(id=[f"row {i}" for i in range(len(X))])
    # A column that is listed is meant, though it names the rows.
    model = hybrid(names(X), categorical_features=["id"]).fit(X, y)
    assert model.optimality_ <= model.tol
    assert model.score(X, y) == 1.0


# Laws that folds cannot owe


@pytest.mark.parametrize("rule", RULES)
def test_integer_weights_equal_repeated_rows(weather, rule):
    X, y = weather
    times = np.random.default_rng(1).integers(0, 4, len(y))
    repeated = np.repeat(np.arange(len(y)), times)
    weighted = hybrid(rule, rate=0.01).fit(X, y, sample_weight=times)
    plain = hybrid(rule, rate=0.01).fit(X.iloc[repeated], y[repeated])
    assert weighted.logistic_features_ == plain.logistic_features_
    np.testing.assert_allclose(weighted.predict_proba(X), plain.predict_proba(X), atol=1e-5)


def test_the_greedy_rule_weighs_rows_in_its_accuracies(mixed):
    X, y = mixed
    times = np.random.default_rng(1).integers(0, 4, len(y))
    repeated = np.repeat(np.arange(len(y)), times)
    weighted = hybrid("greedy").fit(X, y, sample_weight=times).partition_.trace
    plain = hybrid("greedy").fit(X.iloc[repeated], y[repeated]).partition_.trace
    assert [decision.feature for decision in weighted] == [decision.feature for decision in plain]
    assert [decision.value for decision in weighted] == pytest.approx([decision.value for decision in plain])
    assert plain


def test_a_saved_model_keeps_its_partition(tmp_path, mixed):
    X, y = mixed
    for number, options in enumerate(({}, {"generative": "tan", "blanket": True, "rate": 0.003})):
        model = hybrid(**options).fit(X, y)
        save_model(model, tmp_path / str(number))
        loaded = load_model(tmp_path / str(number))
        assert (loaded.predict_proba(X) == model.predict_proba(X)).all()
        assert loaded.partition_ == model.partition_
        assert loaded.rate_ == model.rate_
        assert loaded.logistic_features_ == model.logistic_features_
        pd.testing.assert_frame_equal(loaded.dependence_, model.dependence_)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"partition": "fair"}, "partition is one of 'bias-variance'.*or a list of the names"),
        ({"fit_share": None}, "fit_share is 'cv' or a share"),
        ({"partition": ["nose"]}, r"partition names \['nose'\], not among the features"),
        ({"rate": -1.0}, "rate is 'cv' or a number per row"),
        ({"rate": float("nan")}, "rate is 'cv' or a number per row"),
        ({"cutoff": 2.0}, "cutoff is 'mi', 'chi-square' or a dependence"),
        ({"generative": "aode"}, "generative is one of"),
        ({"blanket": "union"}, "blanket is True, False or a dict"),
        ({"scoring": "mse"}, "scoring is one of"),
        ({"ridge": 0}, "ridge is a positive number"),
        ({"joint": 1}, "joint is True or False"),
        ({"cv": 1}, "at least 2 folds"),
    ],
)
def test_strange_parameters_are_refused_with_a_sentence(mixed, options, message):
    with pytest.raises(InputError, match=message):
        HybridLogisticNaiveBayes(**options).fit(*mixed)


def test_attributes_of_other_rules_are_absent(mixed):
    model = hybrid("dependence").fit(*mixed)
    assert not hasattr(model, "rate_curve_")
    assert not hasattr(model, "parents_")
    assert not hasattr(model, "rate_")
