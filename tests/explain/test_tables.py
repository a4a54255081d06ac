"""Frames of fitted models add up to the decision function."""

import numpy as np
import pandas as pd
import pytest

from seminaive import (
    AveragedDependenceEstimators,
    HigherOrderLogisticRegression,
    NaiveBayes,
    NaiveBayesLogisticRegression,
    SemiNaive,
)
from seminaive.encode import CategoricalColumn
from seminaive.errors import InputError
from seminaive.explain import effects_table, odds_ratios, summary
from seminaive.explain.reading import code_labels

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def two_classes(weather):
    X, y = weather
    return X, np.where(y == "sun", "sun", "wet")


def test_the_weights_of_a_curve_are_spread_over_its_pieces():
    rng = np.random.default_rng(0)
    X, labels = rng.uniform(size=(600, 1)), np.repeat(["a", "b"], 300)
    X[300:] **= 2
    model = SemiNaive().fit(X, labels)
    pieces = effects_table(model).query("term == 'x0' and value != 'missing'")
    edges = [-np.inf, *pieces["at"].iloc[1:], np.inf]
    counts = np.histogram(X[:, 0], edges)[0]
    assert len(pieces) > 20
    assert pieces["weight"].sum() == pytest.approx(600)
    assert np.abs(np.cumsum(pieces["weight"]) - np.cumsum(counts)).max() < 20


def looked_up(model, X):
    """Return the scores of rows by looking values up in the effects table, as a reader would."""
    table, schema = effects_table(model), model.schema_
    encoded = model.encode(X)
    several = "class" in table
    scores = []
    for i in range(len(encoded)):
        for label in model.classes_ if several else [None]:
            of_class = table[table["class"] == label] if several else table
            total = of_class.loc[of_class["term"] == "intercept", "effect"].item()
            for term in of_class["term"].unique()[1:]:
                lines = of_class[of_class["term"] == term]
                total += _effect(lines, term, schema, encoded, i)
            scores.append(total)
    return np.array(scores).reshape(len(encoded), -1) if several else np.array(scores)


def _effect(lines, term, schema, encoded, i):
    names = term.split(" × ")
    columns = [schema.columns[schema.names.index(name)] for name in names]
    if len(names) > 1 or isinstance(columns[0], CategoricalColumn):
        labels = []
        for name in names:
            position = schema.names.index(name)
            labels.append(code_labels(schema, position)[encoded.codes[i, schema.coded.index(position)]])
        return lines.loc[lines["value"] == " × ".join(labels), "effect"].item()
    x = encoded.numbers[i, schema.numeric.index(schema.names.index(term))]
    if np.isnan(x):
        return lines.loc[lines["value"] == "missing", "effect"].item()
    pieces = lines.iloc[:-1]
    edges = [float(value.split()[-1]) for value in pieces["value"][:-1]]
    piece = pieces.iloc[int(np.searchsorted(edges, x))]
    z = x - piece["at"]
    return piece["effect"] + piece["linear"] * z + piece["quadratic"] * z**2


@pytest.mark.parametrize("classes", ["two", "three"])
@pytest.mark.parametrize(
    "model",
    [
        NaiveBayes(),
        NaiveBayesLogisticRegression(),
        HigherOrderLogisticRegression(order=2, hierarchical=True, bins=3),
    ],
    ids=lambda model: type(model).__name__,
)
def test_lines_of_the_effects_table_add_up_to_the_score(model, classes, weather):
    X, y = weather if classes == "three" else two_classes(weather)
    # Cut points are shown with six digits: whole numbers, so that the labels are exact.
    X = X.assign(temperature=X["temperature"].round())
    model = model.fit(X, y)
    rows = X.iloc[:12].copy()
    rows.loc[rows.index[0], "sky"] = "fog"
    sums = model.scores_.sums(model.encode(rows))
    expected = sums[:, 1] - sums[:, 0] if classes == "two" else sums - sums.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(looked_up(model, rows), expected, atol=1e-9)
    complete = rows.notna().all(axis=1) & (rows["sky"] != "fog")
    np.testing.assert_allclose(expected[complete], model.decision_function(rows)[complete], atol=1e-9)


def test_an_odds_ratio_multiplies_the_odds():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.choice(["u", "v", "w"], 300), "b": rng.normal(size=300)})
    y = rng.random(300) < np.where(X["a"] == "u", 0.8, 0.3)
    model = HigherOrderLogisticRegression(order=1, hierarchical=True).fit(X, y)
    ratios = odds_ratios(model)
    for line in ratios[ratios["feature"] == "a"].itertuples():
        rows = pd.DataFrame({"a": [line.value, line.reference], "b": [0.0, 0.0]})
        log_odds = model.decision_function(rows)
        np.testing.assert_allclose(line.odds_ratio, np.exp(log_odds[0] - log_odds[1]))
    assert (ratios["feature"] == "b").sum() == 1


def test_odds_of_the_other_class_are_the_inverse(weather):
    X, y = two_classes(weather)
    model = NaiveBayes().fit(X, y)
    one, other = odds_ratios(model, "sun"), odds_ratios(model, "wet")
    np.testing.assert_allclose(one["odds_ratio"] * other["odds_ratio"], 1.0)


def test_bootstrap_intervals_come_from_refitted_clones(weather):
    X, y = two_classes(weather)
    model = NaiveBayes().fit(X, y)
    ratios = odds_ratios(model, X=X, y=y, n_bootstrap=20, random_state=0)
    assert (ratios["low"] <= ratios["high"]).all()
    inside = (ratios["low"] < ratios["odds_ratio"]) & (ratios["odds_ratio"] < ratios["high"])
    assert inside.mean() > 0.5
    again = odds_ratios(model, X=X, y=y, n_bootstrap=20, random_state=0)
    pd.testing.assert_frame_equal(ratios, again)
    with pytest.raises(InputError, match="training rows"):
        odds_ratios(model, n_bootstrap=5)


def test_importance_is_the_deviation_of_the_log_odds_over_the_training_rows():
    rng = np.random.default_rng(1)
    X = pd.DataFrame({"a": rng.choice(list("uvw"), 200), "b": rng.choice(list("rs"), 200)})
    y = rng.random(200) < np.where(X["a"] == "u", 0.9, 0.2)
    model = NaiveBayes().fit(X, y)
    said = model.contributions(X)
    lines = summary(model).set_index("term")
    for name in X:
        np.testing.assert_allclose(lines.loc[name, "importance"], said[name].std(ddof=0))
    assert lines.index[0] == "a"
    assert lines.loc["a", "high_at"] == "u"


@pytest.mark.parametrize("function", [effects_table, odds_ratios, summary])
def test_a_model_that_is_not_additive_is_refused_with_a_sentence(function, weather):
    model = AveragedDependenceEstimators().fit(*weather)
    with pytest.raises(InputError, match="AveragedDependenceEstimators is not additive"):
        function(model)


def test_a_model_without_summary_and_a_class_that_does_not_exist_are_refused(weather):
    with pytest.raises(InputError, match="keep_summary=True"):
        summary(NaiveBayes(keep_summary=False).fit(*weather))
    with pytest.raises(InputError, match="no class 'fog'"):
        summary(NaiveBayes().fit(*weather), "fog")
