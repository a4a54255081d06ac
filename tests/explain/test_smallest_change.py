"""The cheapest change has the cost that trying everything gives, and a bound that proves it."""

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest

from seminaive import AveragedDependenceEstimators, HigherOrderLogisticRegression, NaiveBayes
from seminaive.errors import InputError
from seminaive.explain import smallest_change
from seminaive.explain.change_candidates import numbers_seen
from seminaive.scores import unknown_cells
from seminaive.statistics.number_sketch import NumberSketch

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
SMALL_TABLES = 200


def small_table(rng, n_classes):
    """Return a table with dependent columns, some cells missing, and its classes."""
    n_rows = 160
    y = rng.integers(0, n_classes, n_rows)
    X = pd.DataFrame(
        {
            "a": np.array(["p", "q", "r"], object)[(y + rng.integers(0, 2, n_rows)) % 3],
            "b": np.array(["s", "t"], object)[(rng.random(n_rows) < 0.3 + 0.3 * (y == 0)).astype(int)],
            "x": rng.integers(0, 5, n_rows) + 1.0 * (y > 0),
            "z": 10.0 * rng.integers(0, 4, n_rows),
        }
    )
    X.loc[rng.random(n_rows) < 0.1, "b"] = None
    X.loc[rng.random(n_rows) < 0.1, "z"] = np.nan
    return X, y


def cheapest_by_trying(model, row, towards, probability, costs, max_columns):
    """Return the lowest cost among all rows with at most a number of cells changed to values of training.

    In a model that learns the class given the row, cells that are unknown stay so.
    """
    silent = unknown_cells(model.encode(pd.DataFrame([row]).astype({"x": float, "z": float})))[0]
    stay = {model.schema_.features[k] for k in np.flatnonzero(silent)}
    if model.scores_.attenuation is None:
        stay = set()
    sketches = dict(zip(model.schema_.numeric_names, model.summary_.numbers, strict=True))
    options = {}
    for position, column in enumerate(model.schema_.columns):
        if position in stay:
            continue
        values = (
            sketches[column.name].middles().tolist() if column.name in sketches else list(column.categories)
        )
        options[column.name] = [value for value in values if value != row[column.name]]
    best = np.inf
    wanted = model.classes_.tolist().index(towards)
    for size in range(1, max_columns + 1):
        for names in combinations(options, size):
            tried = list(product(*(options[name] for name in names)))
            if not tried:
                continue
            rows = pd.DataFrame([{**row, **dict(zip(names, values, strict=True))} for values in tried])
            reached = model.predict_proba(rows.astype(dict.fromkeys(sketches, float)))[:, wanted]
            spent = [
                sum(costs[name](row[name], value) for name, value in zip(names, values, strict=True))
                for values in tried
            ]
            best = min([best, *(c for c, p in zip(spent, reached, strict=True) if p >= probability)])
    return best


@pytest.mark.parametrize("seed", range(SMALL_TABLES))
def test_the_cost_is_that_of_trying_everything(seed):
    rng = np.random.default_rng(seed)
    n_classes = 2 + seed % 2
    kind = [NaiveBayes(), HigherOrderLogisticRegression(order=2, hierarchical=True)][seed // 2 % 2]
    X, y = small_table(rng, n_classes)
    model = kind.fit(X, y)
    row = X.astype(object).iloc[int(rng.integers(len(X)))].to_dict()
    row = {name: None if cell is None or cell != cell else cell for name, cell in row.items()}
    if seed % 5 == 0:
        row["a"] = "never seen"
    prices = {name: {value: float(rng.integers(1, 50)) for value in (*"pqrst", *range(40))} for name in row}
    costs = {name: lambda _, new, price=price: price[new] for name, price in prices.items()}
    towards, max_columns = int(rng.integers(n_classes)), 1 + seed % 3
    probability = float(rng.uniform(0.2, 0.95))
    given = [row[name] for name in X]
    found = smallest_change(
        model, given, towards, probability=probability, cost=costs, max_columns=max_columns
    )
    frame = pd.DataFrame([row]).astype({"x": float, "z": float})
    now = model.predict_proba(frame)[0, towards]
    assert found.before == pytest.approx(now, abs=1e-12)
    if now >= probability:
        assert (found.cost, found.changes) == (0.0, ())
        return
    assert found.cost == cheapest_by_trying(model, row, towards, probability, costs, max_columns)
    assert found.bound == found.cost
    assert found.is_proved
    if np.isfinite(found.cost):
        after = model.predict_proba(frame.assign(**{name: [cell] for name, cell in found.cells.items()}))
        assert found.after == pytest.approx(after[0, towards], abs=1e-12)
        assert found.after >= probability
        assert len(found.changes) <= max_columns
        assert sum(change.cost for change in found.changes) == found.cost


@pytest.fixture(scope="module")
def fitted():
    X, y = small_table(np.random.default_rng(0), 2)
    return HigherOrderLogisticRegression(order=2, hierarchical=True).fit(X, np.array(["no", "yes"])[y]), X


def test_only_what_may_change_changes(fitted):
    model, _ = fitted
    row = {"a": "p", "b": "t", "x": 1.0, "z": 10.0}
    rules = {"x": "up", "a": ["q"], "b": False}
    for probability in np.linspace(0.3, 0.95, 14):
        found = smallest_change(model, row, "yes", probability=probability, may_change=rules)
        assert set(found.cells) <= {"a", "x"}
        assert found.cells.get("a", "q") == "q"
        assert found.cells.get("x", 2.0) > 1.0


def test_a_search_that_is_cut_short_says_how_far_it_may_be_off():
    rng = np.random.default_rng(3)
    X = pd.DataFrame({f"x{k}": rng.integers(0, 30, 3000).astype(float) for k in range(8)})
    y = (X.sum(axis=1) + rng.normal(0, 20, 3000) > 120).astype(int)
    model = NaiveBayes().fit(X, y)
    row = X.loc[[int(X.sum(axis=1).idxmin())]]
    whole = smallest_change(model, row, 1, probability=0.4, max_columns=4)
    cut = smallest_change(model, row, 1, probability=0.4, max_columns=4, max_nodes=3)
    assert whole.is_proved
    assert cut.nodes <= 4 < whole.nodes
    assert not cut.is_proved
    assert 0 < cut.bound <= whole.cost <= cut.cost


def test_numbers_are_those_of_training_or_of_its_bins():
    few = NumberSketch.of(np.repeat([1.0, 2.0, 7.0], 20))
    assert numbers_seen(few, [1.5, 3.0]).tolist() == [1.0, 2.0, 7.0]
    many = NumberSketch.of(np.random.default_rng(0).normal(size=50_000))
    numbers = numbers_seen(many, [0.123, 99.0])
    assert 0.123 in numbers
    assert 99.0 not in numbers
    assert len(numbers) <= 1025


def test_a_usual_cost_is_the_share_of_rows_between():
    X = pd.DataFrame({"x": np.repeat([0.0, 1.0, 2.0, 3.0], 50)})
    model = NaiveBayes().fit(X, np.repeat([0, 0, 1, 1], 50))
    found = smallest_change(model, {"x": 0.0}, 1)
    assert found.cells == {"x": 2.0}
    assert found.cost == pytest.approx(0.5)
    assert smallest_change(model, {"x": 0.0}, 1, cost={"x": 3}).cost == pytest.approx(1.5)
    assert smallest_change(model, {"x": None}, 1, probability=0.9).cost == 1.0


def test_words_say_what_changes():
    X = pd.DataFrame({"<b>": ["wet", "dry"] * 30})
    model = NaiveBayes().fit(X, ["slip", "hold"] * 30)
    assert str(smallest_change(model, {"<b>": "wet"}, "hold")).startswith("<b> from wet to dry: the ")
    assert "already" in str(smallest_change(model, {"<b>": "dry"}, "hold"))
    assert "no allowed change" in str(smallest_change(model, {"<b>": "wet"}, "hold", may_change=[]))


def test_what_cannot_be_searched_is_refused(fitted):
    model, X = fitted
    row = X.iloc[[0]]
    for name, value in (("probability", 1.0), ("max_columns", 0), ("max_nodes", True)):
        with pytest.raises(InputError, match=name):
            smallest_change(model, row, "yes", **{name: value})
    with pytest.raises(InputError, match="may_change names 'w'"):
        smallest_change(model, row, "yes", may_change=["w"])
    with pytest.raises(InputError, match="may_change of 'a' is"):
        smallest_change(model, row, "yes", may_change={"a": "up"}, probability=0.999)
    with pytest.raises(InputError, match="cost names 'w'"):
        smallest_change(model, row, "yes", cost={"w": 1})
    with pytest.raises(InputError, match="negative or no number"):
        smallest_change(model, row, "yes", cost={"x": -1}, probability=0.999)
    with pytest.raises(InputError, match="not additive"):
        smallest_change(AveragedDependenceEstimators().fit(X, X["x"] > 2), row, True)


def test_effects_of_three_columns_allow_two_of_them_to_change():
    X, y = small_table(np.random.default_rng(1), 2)
    model = HigherOrderLogisticRegression(order=3).fit(X[["a", "b", "x"]], y)
    row = {"a": "p", "b": "t", "x": 1.0}
    with pytest.raises(InputError, match="leave one of them out"):
        smallest_change(model, row, 1, probability=0.99)
    found = smallest_change(model, row, 1, probability=0.5, may_change=["a", "x"], cost={"x": 0.1})
    tried = X[["a", "b", "x"]].assign(b="t").drop_duplicates()
    reached = model.predict_proba(tried)[:, 1] >= 0.5
    assert reached.any() == np.isfinite(found.cost)
