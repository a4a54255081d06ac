"""A scorecard's score is the sum of its printed points, and stays close to the model's features."""

import numpy as np
import pytest
from sklearn.metrics import log_loss

from seminaive import HigherOrderLogisticRegression, NaiveBayes
from seminaive.encode import CategoricalColumn
from seminaive.errors import InputError
from seminaive.evaluate import load_dataset
from seminaive.explain import scorecard
from seminaive.explain.reading import code_labels, effects_of
from seminaive.explain.segments import best_bands

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
    schema, encoded = model.schema_, model._encode(rows)
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


@pytest.mark.real_data
@pytest.mark.parametrize(
    "name", ["heart-cleveland", "german-credit", "pima-diabetes", "bank-marketing-small"]
)
def test_bands_and_rounding_cost_little_log_loss(name, real_data, monkeypatch):
    monkeypatch.setenv("SEMINAIVE_DATA", str(real_data))
    data = load_dataset(name)
    model = HigherOrderLogisticRegression(order=1, hierarchical=True).fit(data.X, data.y)
    effects = effects_of(model)
    scores = effects.breakdown(model._encode(data.X))[:, : 1 + len(effects.features)].sum(axis=1)
    additive = np.exp(scores - np.logaddexp.reduce(scores, axis=1, keepdims=True))
    card = scorecard(model, points_to_double=20, bands=8)
    assert log_loss(data.y, card.predict_proba(data.X)) - log_loss(data.y, additive) < 0.003
