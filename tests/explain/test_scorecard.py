"""A scorecard's score is the sum of its printed points, and stays close to the model's features."""

import numpy as np
import pytest
from scipy.special import logit
from sklearn.metrics import log_loss

from seminaive import HigherOrderLogisticRegression, NaiveBayes
from seminaive.encode import CategoricalColumn
from seminaive.errors import InputError
from seminaive.explain import scorecard
from seminaive.explain.reading import code_labels, effects_of
from seminaive.explain.segments import best_bands, share_bands
from seminaive_experiments import load_dataset

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def binary(weather):
    X, y = weather
    return X, np.where(y == "sun", "sun", "wet")


def test_the_score_is_the_sum_of_the_printed_points(weather):
    X, y = binary(weather)
    model = HigherOrderLogisticRegression(order=2, hierarchical=True).fit(X, y)
    card = scorecard(model)
    rows = X.iloc[:60].copy()
    rows.loc[rows.index[0], "sky"] = "fog"
    schema, encoded = model.schema_, model.encode(rows)
    expected = np.zeros(len(rows), dtype=np.int64)
    for name, lines in card.table.groupby("feature"):
        position = schema.names.index(name)
        points = dict(zip(lines["value"], lines["points"], strict=True))
        if isinstance(schema.columns[position], CategoricalColumn):
            labels = code_labels(schema, position)
            codes = encoded.codes[:, schema.coded.index(position)]
            expected += [points[labels[code]] for code in codes]
            continue
        bands = [label for label in lines["value"] if label != "missing"]
        edges = [float(label.split()[-1]) for label in bands[:-1]]
        numbers = encoded.numbers[:, schema.numeric.index(position)]
        for i, number in enumerate(numbers):
            missing = np.isnan(number)
            expected[i] += points["missing" if missing else bands[int(np.searchsorted(edges, number))]]
    np.testing.assert_array_equal(card.score(rows), expected)
    assert card.table["points"].dtype.kind == "i"


def test_points_double_the_odds(weather):
    X, y = binary(weather)
    card = scorecard(NaiveBayes().fit(X, y), points_to_double=30)
    score, proba = card.score(X), card.predict_proba(X)
    odds = proba[:, 1] / proba[:, 0]
    np.testing.assert_allclose(odds, 2.0 ** ((score - card.even) / 30))
    other = scorecard(NaiveBayes().fit(X, y), points_to_double=30, target="sun")
    assert np.corrcoef(other.predict_proba(X)[:, 0], proba[:, 0])[0, 1] > 0.99


def test_many_points_and_bands_are_the_model(weather):
    X, y = binary(weather)
    model = HigherOrderLogisticRegression(order=1).fit(X, y)
    card = scorecard(model, points_to_double=1e6, bands=1000)
    np.testing.assert_allclose(card.predict_proba(X), model.predict_proba(X), atol=1e-3)


def test_bands_are_the_best_of_all_cuts():
    from itertools import combinations

    from seminaive.scores import FeatureEffect

    rng = np.random.default_rng(0)
    y, weight = rng.normal(size=9), rng.random(9) + 0.1
    effect = FeatureEffect("x", 0, None, None, np.append(np.arange(9.0), np.nan), np.append(weight, 0.0))

    def loss(starts):
        ends = [*starts[1:], 9]
        return sum(
            weight[a:b] @ (y[a:b] - np.average(y[a:b], weights=weight[a:b])) ** 2
            for a, b in zip(starts, ends, strict=True)
        )

    edges, means = best_bands(effect, np.append(y, 0.0), 4)
    found = loss([0, *(int(np.floor(edge)) + 1 for edge in edges)])
    best = min(loss([0, *cuts]) for cuts in combinations(range(1, 9), 3))
    np.testing.assert_allclose(found, best)
    assert len(means) == 4


def test_bands_are_shared_in_the_best_of_all_ways():
    from itertools import product

    from seminaive.scores import FeatureEffect

    rng = np.random.default_rng(1)

    def curve(scale, n):
        seen, weight = np.append(np.arange(n, dtype=float), np.nan), np.append(rng.random(n) + 0.1, 0.0)
        effect = FeatureEffect("x", 0, None, None, seen, weight)
        return effect, np.append(scale * rng.normal(size=n), 0.0)

    def lost(curve, bands):
        effect, values = curve
        edges, means = best_bands(effect, values, bands)
        bands_of = np.searchsorted(edges, effect.seen[:-1], side="left")
        return effect.weight[:-1] @ (means[bands_of] - values[:-1]) ** 2

    curves = [curve(0.1, 12), curve(3.0, 12), curve(1.0, 7)]
    shares = share_bands(curves, 3)
    assert sum(shares) <= 9
    assert max(shares) <= 6
    best = min(
        sum(lost(curve, bands) for curve, bands in zip(curves, ways, strict=True))
        for ways in product(range(1, 7), repeat=3)
        if sum(ways) <= 9
    )
    found = sum(lost(curve, bands) for curve, bands in zip(curves, shares, strict=True))
    np.testing.assert_allclose(found, best)
    assert share_bands([curve(0.0, 5), curve(1.0, 5)], 2) == [1, 3]
    assert share_bands([], 8) == []


def test_calibration_fits_two_constants_and_says_so(weather):
    X, y = binary(weather)
    model = HigherOrderLogisticRegression(order=2, hierarchical=True, ridge=0.1).fit(X, y)
    card = scorecard(model)
    fitted = scorecard(model, calibrate=(X, y))
    assert log_loss(y, fitted.predict_proba(X)) <= log_loss(y, card.predict_proba(X)) + 1e-12
    assert "no longer the model's" in str(fitted)
    assert "no longer" not in str(card)
    assert (card.score(X) == fitted.score(X)).all()


def test_three_classes_and_impossible_settings_are_refused(weather):
    X, y = weather
    with pytest.raises(InputError, match="two classes, the model has 3"):
        scorecard(NaiveBayes().fit(X, y))
    with pytest.raises(InputError, match="bands at least 1"):
        scorecard(NaiveBayes().fit(*binary(weather)), bands=0)


def test_more_bands_where_needed_or_asked_and_the_card_says_where_most_is_lost():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 20, 4000).astype(float)
    chance = np.where(x % 2 == 0, 0.9, 0.1)  # a curve that jumps up and down
    X = np.stack([x, rng.normal(size=4000)], axis=1)
    model = HigherOrderLogisticRegression(order=1, hierarchical=True).fit(X, rng.random(4000) < chance)
    few, shared, more = (scorecard(model, bands=bands) for bands in ({"x0": 8}, 8, {"x0": 20}))
    assert "most of all in x0" in str(few)
    assert len(few.features[0].points) == 8 + 1
    assert len(few.features[1].points) <= 2 * 8 + 1
    assert 8 < len(shared.features[0].points) - 1 <= 16 - (len(shared.features[1].points) - 1)
    assert len(more.features[0].points) > len(shared.features[0].points)
    assert more.differs < shared.differs < few.differs
    with pytest.raises(InputError, match="bands names 'moon'"):
        scorecard(model, bands={"moon": 9})
    with pytest.raises(InputError, match="bands at least 1"):
        scorecard(model, bands={"x0": 0})


def test_the_card_prints_the_largest_difference_from_the_model(weather):
    X, y = weather
    model = HigherOrderLogisticRegression(order=2, hierarchical=True).fit(X, y == "sun")
    low, high = X["temperature"].quantile([0.05, 0.95])
    X = X.assign(temperature=X["temperature"].clip(low, high))
    bound, exact = scorecard(model), scorecard(model, X=X)
    log_odds = [logit(card.predict_proba(X)[:, 1]) for card in (bound, exact)]
    difference = [np.abs(points - model.decision_function(X)).max() for points in log_odds]
    assert bound.largest >= difference[0]
    np.testing.assert_allclose(exact.largest, difference[1], rtol=1e-9)
    assert f"differ by more than {exact.largest:.2g}" in str(exact)


def test_bands_found_on_rows_follow_a_steep_end_that_the_summary_does_not_know():
    rng = np.random.default_rng(0)
    x = rng.exponential(size=150) ** 2
    X, y = x[:, None], rng.random(150) < 1 / (1 + np.exp(1 - x))
    model = HigherOrderLogisticRegression(order=1, hierarchical=True).fit(X, y)
    exact = model.decision_function(X)

    def error(card):
        log_odds = (card.score(X) - card.even) * np.log(2) / card.to_double
        return np.abs(log_odds - exact).max()

    assert error(scorecard(model, bands=150, X=X)) < 0.1
    assert error(scorecard(model, bands=150)) > 1.0
    many = np.repeat(X, 20, axis=0) * rng.normal(1.0, 1e-3, (3000, 1))
    assert error(scorecard(model, bands=30, X=many)) < 0.5


# Two classes, small and large, with many numbers and with few.
TABLES = [
    "adult", "australian-credit", "bank-marketing-small", "breast-cancer-wisconsin", "credit-approval",
    "german-credit", "heart-cleveland", "hepatitis", "ilpd", "pima-diabetes",
]  # fmt: skip


@pytest.mark.real_data
@pytest.mark.parametrize("name", TABLES)
def test_bands_and_rounding_cost_little_log_loss(name, real_data, monkeypatch):
    monkeypatch.setenv("SEMINAIVE_DATA", str(real_data))
    data = load_dataset(name)
    model = HigherOrderLogisticRegression(order=1, hierarchical=True).fit(data.X, data.y)
    effects = effects_of(model)
    scores = effects.breakdown(model.encode(data.X))[:, : 1 + len(effects.features)].sum(axis=1)
    additive = np.exp(scores - np.logaddexp.reduce(scores, axis=1, keepdims=True))
    # The summary of the 155 rows of hepatitis knows no extreme number, where its curves are steep.
    card = scorecard(model, points_to_double=20, X=data.X if name == "hepatitis" else None)
    assert log_loss(data.y, card.predict_proba(data.X)) - log_loss(data.y, additive) < 0.003
