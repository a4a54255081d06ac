"""Intervals of probabilities and of effects: what holds of every model that has them."""

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.linalg import helmert
from scipy.special import expit

from seminaive import (
    AcceleratedLogisticRegression,
    AveragedJoinEstimators,
    HigherOrderLogisticRegression,
    HigherOrderLogisticRegressionCV,
    HybridLogisticNaiveBayes,
    NaiveBayes,
    NaiveBayesLogisticRegression,
    SemiNaive,
    TreeAugmentedNaiveBayes,
    load_model,
    save_model,
)
from seminaive.edits import Clip, edit
from seminaive.errors import ColumnsWarning, InputError, UnavailableError
from seminaive.explain import EffectDisplay, NomogramDisplay, PairDisplay, WaterfallDisplay, effects_table
from seminaive.explain.bands import Bands, of_class, reach_of_row
from seminaive.models.ridge_problems import ridge_problem
from seminaive.scores import AdditiveScores, EffectPosterior, Effects

N_ROWS = 160


def draw(n_rows, seed):
    """Return a table of a number and two categories, and its classes."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "line": rng.normal(size=n_rows),
            "left": rng.choice(["a", "b", "c"], n_rows),
            "right": rng.choice(["u", "v"], n_rows),
        }
    )
    score = 1.5 * X["line"] + 2.0 * ((X["left"] == "a") == (X["right"] == "u")) - 1
    return X, np.where(rng.random(n_rows) < expit(score), "yes", "no")


@pytest.fixture(scope="module")
def table():
    return draw(N_ROWS, 0)


@pytest.fixture(scope="module")
def three(table):
    X, _ = table
    rng = np.random.default_rng(1)
    return X, np.array(["p", "q", "r"])[
        (X["line"] + rng.normal(size=N_ROWS) > 0).astype(int) + (X["left"] == "b")
    ]


@pytest.fixture(scope="module")
def models(table, three):
    return {
        "smooth": (SemiNaive().fit(*table), *table),
        "smooth of three": (SemiNaive(interactions=[("left", "right")]).fit(*three), *three),
        "counts": (NaiveBayes().fit(*table), *table),
        "counts of three": (NaiveBayes(variances="class").fit(*three), *three),
        "tree": (TreeAugmentedNaiveBayes().fit(*table), *table),
        "tree of three": (TreeAugmentedNaiveBayes(bins=3).fit(*three), *three),
        "joined": (AveragedJoinEstimators(2, bins=3).fit(*table), *table),
        "joined of three": (AveragedJoinEstimators(2, estimates="laplace").fit(*three), *three),
        "hybrid": (HybridLogisticNaiveBayes(partition=["line", "left"]).fit(*table), *table),
        "hybrid of three": (
            HybridLogisticNaiveBayes(partition=["line"], fit_share=0.8).fit(*three),
            *three,
        ),
        "terms": (HigherOrderLogisticRegression(order=1, bins=4).fit(*table), *table),
        "terms of three": (AcceleratedLogisticRegression(order=1, bins=4).fit(*three), *three),
        "pairs": (AcceleratedLogisticRegression(order=2, bins=4).fit(*table), *table),
        "pairs of three": (
            HigherOrderLogisticRegression(order=2, bins=3, hierarchical=True).fit(*three),
            *three,
        ),
        "chosen": (HigherOrderLogisticRegressionCV(bins=3).fit(*table), *table),
    }


TERMS = ["terms", "terms of three", "pairs", "pairs of three"]
COUNTS = ["counts", "counts of three", "tree", "tree of three", "joined", "joined of three"]
SHRUNK = ["smooth", "smooth of three", "hybrid of three"]
KINDS = [*SHRUNK, "hybrid", *COUNTS, *TERMS, "chosen"]


@pytest.mark.parametrize("kind", KINDS)
def test_an_interval_holds_the_probability_and_grows_with_its_coverage(models, kind):
    model, X, _ = models[kind]
    probability = model.predict_proba(X)
    lower, upper = model.predict_interval(X, coverage=0.8)
    wider_lower, wider_upper = model.predict_interval(X, coverage=0.99)
    assert lower.shape == upper.shape == probability.shape
    # An answer that was shrunk may be an end of its interval.
    assert (lower <= probability).all()
    assert (probability <= upper).all()
    assert (wider_lower <= lower).all()
    assert (upper <= wider_upper).all()
    assert (wider_upper - wider_lower > upper - lower).all()
    assert (wider_lower >= 0).all()
    assert (wider_upper <= 1).all()


def test_intervals_of_two_classes_mirror_each_other(models):
    model, X, _ = models["smooth"]
    lower, upper = model.predict_interval(X)
    np.testing.assert_allclose(lower[:, 0], 1 - upper[:, 1], atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_saved_models_keep_their_intervals(models, kind, tmp_path):
    model, X, _ = models[kind]
    save_model(model, tmp_path / "one.model")
    for again in (load_model(tmp_path / "one.model"), pickle.loads(pickle.dumps(model))):  # noqa: S301 - made here
        np.testing.assert_array_equal(again.predict_interval(X), model.predict_interval(X))


@pytest.mark.parametrize("kind", KINDS)
def test_one_row_has_the_interval_that_it_has_among_others(models, kind):
    model, X, _ = models[kind]
    alone = model.predict_interval(X.iloc[[3]])
    among = model.predict_interval(X)
    np.testing.assert_allclose([bound[0] for bound in alone], [bound[3] for bound in among], rtol=1e-10)


@pytest.mark.parametrize("kind", ["smooth", "counts", "tree", "joined"])
def test_more_rows_make_surer(models, kind):
    model, X, _ = models[kind]
    surer = type(model)().fit(*draw(8 * N_ROWS, 4))
    lengths = [float(np.mean(np.subtract(*fit.predict_interval(X)[::-1]))) for fit in (model, surer)]
    assert lengths[1] < 0.75 * lengths[0]


@pytest.mark.parametrize("kind", KINDS)
def test_a_row_with_unknown_cells_has_an_interval_around_its_answer(models, kind):
    model, *_ = models[kind]
    row = pd.DataFrame([{"line": None, "left": "never seen", "right": "u"}]).astype({"line": float})
    lower, upper = model.predict_interval(row)
    probability = model.predict_proba(row)
    assert (lower <= probability).all()
    assert (probability <= upper).all()


@pytest.mark.parametrize("coverage", [0, 1, -0.5, "much", None, True])
def test_a_coverage_that_is_none_is_refused(models, coverage):
    model, X, _ = models["smooth"]
    with pytest.raises(InputError, match="coverage"):
        model.predict_interval(X, coverage=coverage)


def test_models_without_a_formula_say_what_to_do(table):
    X, y = table
    for model in (
        NaiveBayesLogisticRegression(),
        HigherOrderLogisticRegression(order=3),
        HybridLogisticNaiveBayes(),
        HybridLogisticNaiveBayes(partition=["line"], joint=True),
        HybridLogisticNaiveBayes(partition=["line"], generative="tan"),
        HybridLogisticNaiveBayes(partition=["left"], variances="class"),
        HybridLogisticNaiveBayes(partition=["line"], smoothing=0),
    ):
        model.fit(X, y)
        with pytest.raises(UnavailableError, match="validate"):
            model.predict_interval(X)
        with pytest.raises(UnavailableError, match="validate"):
            effects_table(model, interval=0.95)


def test_a_model_that_was_edited_has_no_intervals(models):
    model, X, _ = models["smooth"]
    edited = edit(model, "line", Clip(-1.0, 1.0), why="extremes are not believed", who="a test")
    with pytest.raises(UnavailableError, match="edited"):
        edited.predict_interval(X)


def test_shapes_have_no_intervals(table):
    X, y = table
    model = SemiNaive(shapes={"line": "increasing"}, interactions=0).fit(X, y)
    with pytest.raises(UnavailableError, match="shapes"):
        model.predict_interval(X)


def test_naive_bayes_without_smoothing_has_no_intervals(table):
    X, y = table
    with pytest.raises(UnavailableError, match="smoothing"):
        NaiveBayes(smoothing=0).fit(X, y).predict_interval(X)


# Effects


@pytest.mark.parametrize("kind", KINDS)
def test_the_table_of_effects_has_bounds_around_each_effect(models, kind):
    model, *_ = models[kind]
    plain, found = effects_table(model), effects_table(model, interval=0.95)
    pd.testing.assert_frame_equal(found.drop(columns=["lower", "upper"]), plain)
    assert np.isfinite(found[["lower", "upper"]].to_numpy()).all()
    # An effect that was shrunk may be an end of its interval.
    assert (found["lower"] <= found["effect"]).all()
    assert (found["effect"] <= found["upper"]).all()
    if kind not in (*SHRUNK, "chosen"):
        np.testing.assert_allclose(found["lower"] + found["upper"], 2 * found["effect"], atol=1e-9)
    narrower = effects_table(model, interval=0.5)
    assert (narrower["upper"] <= found["upper"]).all()
    # A line with the mean 0 is sure where it crosses 0.
    seen = found[(found["weight"] > 0) & (found["linear"] == 0)]
    assert (seen["upper"] > seen["lower"]).all()


def test_errors_of_effects_and_of_rows_are_of_one_covariance():
    """Without pairs, and with one column, a row's score is the intercept plus one effect."""
    rng = np.random.default_rng(2)
    X = pd.DataFrame({"level": rng.choice(["a", "b", "c", "d"], 200)})
    y = rng.random(200) < expit(2.0 * (X["level"] == "a") - 0.5)
    model = SemiNaive(interactions=0).fit(X, y)
    levels = pd.DataFrame({"level": ["a", "b", "c", "d"]})
    scores, table = model.scores_, model.encode(levels)
    errors = EffectPosterior.of(scores, model.schema_, model.summary_)
    cells = scores.posterior.as_scores(scores)
    entries = cells.sums(table).reshape(4, *scores.posterior.intercept.shape) - scores.posterior.intercept
    effect = Effects.of(scores, model.schema_, model.summary_).features[0]
    found, expected = errors.of_feature(effect), scores.posterior.spread(entries)
    np.testing.assert_allclose(found.error[:4], expected.error, rtol=1e-6)
    np.testing.assert_allclose(found.distance[:4], expected.distance, atol=1e-6)


@pytest.mark.parametrize("kind", TERMS)
def test_covariances_of_rows_are_those_of_the_inverse_hessian(models, kind):
    """The problem that `influence` rebuilds from the training rows is the oracle."""
    model, X, y = models[kind]
    problem = ridge_problem(model, X, y)
    coefficients = problem.solve()
    hessian = problem.objective().hessian(coefficients)
    # A constant added to all scores changes nothing: the intercepts are held back a little.
    inverse = np.linalg.inv(hessian + 1e-7 * np.eye(len(hessian)))
    k = coefficients.shape[1]
    blocks = inverse.reshape(-1, k, len(coefficients), k)
    exact = np.einsum("np,pcqd,nq->ncd", problem.features, blocks, problem.features)
    found = model.score_posterior(model.encode(X))[1]
    contrast = np.ones((1, 1)) if k == 1 else np.eye(k) - 1 / k
    # Single precision, and fits that stop at a gradient of 1e-4.
    np.testing.assert_allclose(contrast @ found @ contrast, contrast @ exact @ contrast, rtol=0.01, atol=2e-3)


@pytest.mark.parametrize("kind", ["pairs", "pairs of three"])
def test_errors_of_pure_effects_are_those_of_draws(models, kind):
    """Coefficients are drawn from the posterior and taken apart as `Effects` does it."""
    model, *_ = models[kind]
    scores, schema, summary = model.scores_, model.schema_, model.summary_
    posterior = scores.posterior
    cells = posterior.as_scores(scores)
    # One more column: every draw adds the same combination of directions to each term.
    rng, drawn = np.random.default_rng(0), []
    width, k = len(posterior.signs), posterior.n_columns
    contrasts = np.array([[-0.5, 0.5]]) if k == 1 else helmert(k + 1)

    def moved(values, weights):
        places = values.reshape(*values.shape[:-1], 1 + width, k)[..., 1:, :]
        return np.tensordot(places, weights, ([-2], [0])) @ contrasts

    for _ in range(400):
        weights = rng.standard_normal(width)
        numeric = replace(scores.numeric, coefficients=moved(cells.numeric.coefficients, weights))
        draw = AdditiveScores(
            moved(cells.prior, weights), scores.terms, moved(cells.tables, weights), numeric
        )
        drawn.append(Effects.of(draw, schema, summary))
    effects, errors = Effects.of(scores, schema, summary), model.effect_errors()
    pair = effects.tuples[0]
    shown = np.stack([draw.tuples[0].table for draw in drawn])
    spread = shown[..., 1:] - shown[..., :1] if k == 1 else shown
    seen = pair.weight > 0
    # 400 draws give a deviation to 3.5 % (one standard error).
    np.testing.assert_allclose(errors.of_tuple(pair).error[seen], spread.std(axis=0)[seen], rtol=0.2)
    for j, effect in enumerate(effects.features):
        if effect.curve is None:
            shown = np.stack([draw.features[j].table for draw in drawn])[:, :-1]
            spread = shown[..., 1:] - shown[..., :1] if k == 1 else shown
            np.testing.assert_allclose(errors.of_feature(effect).error[:-1], spread.std(axis=0), rtol=0.2)


def test_a_combination_without_rows_is_as_uncertain_as_the_prior(table):
    X, y = table
    X = X[["left", "right"]]
    kept = ~((X["left"] == "c") & (X["right"] == "v")).to_numpy()
    model = HigherOrderLogisticRegression(order=2, ridge=0.5).fit(X[kept], y[kept])
    rows = pd.DataFrame({"left": ["a", "c"], "right": ["u", "v"]})
    seen, unseen = model.score_posterior(model.encode(rows))[1][:, 0, 0]
    assert unseen > 1 / 0.5 > seen


def test_variances_of_counts_are_those_of_draws(table):
    """Dirichlet draws of the shares, and normal draws of means and variances, are the oracle."""
    X, y = table
    model = NaiveBayes(variances="class").fit(X, y)
    rng = np.random.default_rng(3)
    draws = 4000
    row, total = X.iloc[[5]], np.zeros(draws)
    for sign, label in ((-1, "no"), (1, "yes")):
        members = X[y == label]
        total += sign * np.log(rng.gamma(len(members), size=draws))
        for name in ("left", "right"):
            levels = sorted(X[name].unique())
            shares = rng.dirichlet([1 + (members[name] == level).sum() for level in levels], draws)
            total += sign * np.log(shares[:, levels.index(row[name].iloc[0])])
        n, mean, variance = len(members), members["line"].mean(), members["line"].var(ddof=0)
        drawn = variance * n / rng.chisquare(n - 1, draws)
        centre = rng.normal(mean, np.sqrt(drawn / n))
        total += sign * (-0.5 * np.log(drawn) - (row["line"].iloc[0] - centre) ** 2 / (2 * drawn))
    found = model.score_posterior(model.encode(row))[1][0, 0, 0]
    # 4,000 draws give a variance to 2 % (one standard error), and the delta method is of first order.
    assert abs(found / total.var() - 1) < 0.15


def test_a_hybrid_without_a_logistic_part_is_as_uncertain_as_naive_bayes():
    X, y = draw(4000, 8)
    for labels in (y, np.where(X["left"] == "b", "third", y)):
        hybrid, naive = HybridLogisticNaiveBayes(partition=[]).fit(X, labels), NaiveBayes().fit(X, labels)
        of_hybrid, of_naive = (model.score_posterior(model.encode(X))[1] for model in (hybrid, naive))
        k = of_naive.shape[1]
        centre = np.ones((1, 1)) if k == 1 else np.eye(k) - 1 / k
        # The posterior variance of the logarithm of a total, 1 / n, is a sum over its cells here.
        np.testing.assert_allclose(of_hybrid, centre @ of_naive @ centre, rtol=0.01, atol=1e-4)


def test_a_hybrid_without_a_generative_part_is_as_uncertain_as_logistic_regression(table):
    X, y = table
    model = HybridLogisticNaiveBayes(partition=["line"]).fit(X[["line"]], y)
    features = np.column_stack([np.ones(len(X)), X["line"]])
    p = model.predict_proba(X[["line"]])[:, 1]
    inverse = np.linalg.inv((features * (p * (1 - p))[:, None]).T @ features)
    expected = np.einsum("ni,ij,nj->n", features, inverse, features)
    _, found = model.score_posterior(model.encode(X[["line"]]))
    np.testing.assert_allclose(found[:, 0, 0], expected, rtol=1e-3)


@pytest.mark.parametrize("interval", [0, 1.5, "wide", True])
def test_an_interval_that_is_no_coverage_is_refused(models, interval):
    model, *_ = models["smooth"]
    with pytest.raises(InputError, match="interval"):
        effects_table(model, interval=interval)


def test_pictures_have_bands(models):
    pytest.importorskip("matplotlib").use("Agg")
    from matplotlib.pyplot import close

    model, X, _ = models["smooth"]
    of_three = EffectDisplay.from_estimator(models["smooth of three"][0], "line", interval=0.9)
    assert len(of_three.ax_.collections) == 3
    curve = EffectDisplay.from_estimator(model, "line", interval=0.9)
    assert len(curve.ax_.collections) == 1
    marks = EffectDisplay.from_estimator(model, "left", interval=0.9)
    assert len(marks.ax_.collections) >= 2
    pair = PairDisplay.from_estimator(model, ("left", "right"), interval=0.9)
    assert "90 % interval holds 0" in [text.get_text() for text in pair.ax_.get_legend().get_texts()]
    steps = WaterfallDisplay.from_estimator(model, X.iloc[[0]], interval=0.9)
    assert sum(steps.reach) > 0
    assert len(steps.ax_.containers) == 2
    sheet = NomogramDisplay.from_estimator(model, row=X.iloc[[0]], interval=0.9)
    assert sheet.interval == 0.9
    close("all")


def test_bands_of_the_first_of_two_classes_mirror_those_of_the_second(models):
    model, X, _ = models["smooth"]
    effects, bands = Effects.of(model.scores_, model.schema_, model.summary_), Bands.of(model, 0.9)
    reach = bands.of_feature(effects.features[1])
    below, above = of_class(reach, 1)
    # The answer is shrunk, so that no band is centred at it.
    assert abs(above - below).max() > 1e-3
    np.testing.assert_array_equal(of_class(reach, 0), (above, below))
    row = model.encode(X.iloc[:1])
    of_second, of_first = (reach_of_row(model, row, 0.9, k, 1 - k) for k in (1, 0))
    assert of_first == of_second[::-1]


def test_a_bar_at_the_log_odds_of_a_row_is_the_interval_of_its_probability(models):
    for kind in ("smooth", "counts", "tree"):
        model, X, _ = models[kind]
        table = model.encode(X.iloc[:1])
        below, above = reach_of_row(model, table, 0.9, 1, 0)
        lower, upper = model.predict_interval(X.iloc[:1], 0.9)
        odds = model.decision_function(X.iloc[:1])[0]
        np.testing.assert_allclose(expit([odds - below, odds + above]), [lower[0, 1], upper[0, 1]])


def test_a_nomogram_without_a_row_has_no_interval(models):
    with pytest.raises(InputError, match="row"):
        NomogramDisplay.from_estimator(models["smooth"][0], interval=0.9)


# Tables as people have them


def planted(n_rows=150):
    """Return three numbers and a category, and classes that depend on a number and the category."""
    rng = np.random.default_rng(7)
    X = pd.DataFrame(rng.normal(size=(n_rows, 3)), columns=["a", "b", "c"])
    X["level"] = rng.choice(["u", "v", "w"], n_rows)
    return X, (rng.random(n_rows) < expit(1.5 * X["a"] + (X["level"] == "u"))).to_numpy()


@pytest.mark.parametrize(
    "model",
    [
        SemiNaive(),
        HigherOrderLogisticRegression(hierarchical=True, bins=3),
        HybridLogisticNaiveBayes(partition=["a", "level"]),
    ],
)
@pytest.mark.parametrize("unit", [1e-9, 1e100])
def test_other_units_leave_intervals_as_they_are(model, unit):
    X, y = planted()
    other = X.assign(a=unit * X["a"], b=unit * X["b"])
    expected = model.fit(X, y).predict_interval(X)
    np.testing.assert_allclose(model.fit(other, y).predict_interval(other), expected, atol=1e-6)


def test_a_column_that_names_rows_leaves_intervals_as_they_are():
    X, y = planted()
    named = X.assign(name=[f"row {i}" for i in range(len(X))])
    expected = SemiNaive().fit(X, y).predict_interval(X)
    with pytest.warns(ColumnsWarning, match="identifies rows"):
        model = SemiNaive().fit(named, y)
    np.testing.assert_allclose(model.predict_interval(named), expected, atol=1e-9)


@pytest.mark.parametrize("model", [SemiNaive(), HigherOrderLogisticRegression(order=2, bins=3)])
def test_separable_rows_have_intervals_that_say_something(model):
    X, _ = planted()
    lower, upper = model.fit(X, X["level"] == "u").predict_interval(X)
    assert np.isfinite([lower, upper]).all()
    # Most of them leave no doubt about the class that is likelier.
    assert np.median(upper - lower) < 0.6


def test_more_columns_than_rows_leave_little_sure():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 80))
    model = SemiNaive().fit(X, X[:, 0] + rng.normal(size=40) > 0)
    lower, upper = model.predict_interval(X)
    assert np.isfinite([lower, upper]).all()
    assert (upper - lower).mean() > 0.5
