"""Shapes of SemiNaive's columns: kept whatever other columns hold, in every class, and refused where not."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GroupKFold

from seminaive import SemiNaive, load_model, save_model
from seminaive.errors import ColumnsWarning, InputError, ShapeWarning

GRID = 200


def table(n_rows=150, n_classes=2, seed=0):
    """Return numbers, one of them with missing cells, a category, and classes that bend along them."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n_rows, 4)), columns=["age", "dose", "rate", "noise"])
    X["site"] = rng.choice(["north", "south", "west"], n_rows)
    bent = np.sin(2 * X["age"]) + X["dose"] ** 2 - 1 + X["rate"] * X["noise"]
    scores = np.column_stack([np.zeros(n_rows), bent, X["rate"]])[:, :n_classes]
    drawn = (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)
    X.loc[::13, "age"] = np.nan
    return X, np.array(["mild", "severe", "worse"])[drawn]


def along(X, column, n_rows=5, n_points=GRID):
    """Return rows of a table, each repeated with all values of one column, and these values."""
    values = X[column].to_numpy()
    low, high = np.nanmin(values), np.nanmax(values)
    grid = np.sort(np.concatenate([np.linspace(low - 1, high + 1, n_points), values[~np.isnan(values)]]))
    rows = X.iloc[np.random.default_rng(0).integers(0, len(X), n_rows)]
    repeated = rows.loc[rows.index.repeat(len(grid))].reset_index(drop=True)
    repeated[column] = np.tile(grid, n_rows)
    return repeated, grid, n_rows


def falls(model, X, column, label):
    """Return by how much the probability of a class falls along a column, at most."""
    repeated, grid, n_rows = along(X, column)
    chosen = model.predict_proba(repeated)[:, model.classes_.tolist().index(label)]
    return float(-np.diff(chosen.reshape(n_rows, len(grid)), axis=1).min())


def bends(model, X, column, low, high):
    """Return by how much the slope of the log odds falls along a column between two ends, at most."""
    repeated, grid, n_rows = along(X, column)
    odds = model.decision_function(repeated).reshape(n_rows, len(grid))
    inside = np.flatnonzero((grid >= low) & (grid <= high))
    first, middle, last = grid[inside[:-2]], grid[inside[1:-1]], grid[inside[2:]]
    between = ((last - middle) * odds[:, inside[:-2]] + (middle - first) * odds[:, inside[2:]]) / (
        last - first
    )
    return float((odds[:, inside[1:-1]] - between)[:, last - first > 1e-9].max())


@pytest.fixture(scope="module")
def shaped():
    X, y = table()
    shapes = {"age": "increasing", "dose": "concave", "rate": "decreasing", "noise": "linear"}
    return X, y, SemiNaive(shapes=shapes).fit(X, y)


def test_monotone_scores_never_turn_whatever_other_columns_hold(shaped):
    X, _, model = shaped
    assert falls(model, X, "age", "severe") <= 1e-12
    assert falls(model, X, "rate", "mild") <= 1e-12


def test_concave_log_odds_never_bend_upward_and_linear_ones_never_bend(shaped):
    X, _, model = shaped
    flipped = type("Flipped", (), {"decision_function": lambda _, rows: -model.decision_function(rows)})()
    assert bends(flipped, X, "dose", X["dose"].min(), X["dose"].max()) <= 1e-12
    low, high = X["noise"].min(), X["noise"].max()
    assert max(bends(model, X, "noise", low, high), bends(flipped, X, "noise", low, high)) <= 1e-12


def test_without_a_shape_the_same_scores_turn(shaped):
    X, y, _ = shaped
    free = SemiNaive().fit(X, y)
    assert falls(free, X, "age", "severe") > 1e-3
    assert bends(free, X, "dose", X["dose"].min(), X["dose"].max()) > 1e-3


def test_a_shape_of_one_class_makes_its_probability_monotone():
    X, y = table(n_classes=3)
    model = SemiNaive(shapes={"age": ("increasing", "severe"), "rate": ("decreasing", "worse")}).fit(X, y)
    assert falls(model, X, "age", "severe") <= 1e-12
    repeated, grid, n_rows = along(X, "rate")
    worse = model.predict_proba(repeated)[:, 2].reshape(n_rows, len(grid))
    assert np.diff(worse, axis=1).max() <= 1e-12
    assert model.shapes_ == {"age": "increasing for severe", "rate": "decreasing for worse"}


def test_columns_with_shapes_have_no_pairs_and_others_keep_theirs(shaped):
    _, _, model = shaped
    assert set(model.interactions_["first"]) | set(model.interactions_["second"]) == set()
    X, y = table()
    some = SemiNaive(shapes={"age": "increasing"}).fit(X, y).interactions_
    assert "age" not in {*some["first"], *some["second"]}
    assert len(some) == 6


def test_a_missing_cell_has_a_level_outside_of_the_shape():
    X, _ = table(300)
    # Missing ages are the oldest, but rarely severe.
    y = np.where(X["age"].isna(), "mild", np.where(X["age"] > 0, "severe", "mild"))
    model = SemiNaive(shapes={"age": "increasing"}).fit(X, y)
    row = X.iloc[[1]].assign(age=np.nan)
    assert model.predict_proba(row)[0, 1] < 0.3


def test_certificates_are_below_the_tolerance(shaped):
    _, _, model = shaped
    assert 0 < model.gradient_norm_ <= model.tol


def test_groups_are_kept_together_under_shapes():
    X, y = table(90)
    groups = np.arange(90) // 3
    model = SemiNaive(shapes={"age": "increasing"}, cv=GroupKFold(3)).fit(X, y, groups=groups)
    assert falls(model, X, "age", "severe") <= 1e-12


def test_costs_are_small_where_the_shape_is_right_and_large_where_it_is_not():
    rng = np.random.default_rng(4)
    X = pd.DataFrame(rng.normal(size=(400, 3)), columns=["rising", "round", "flat"])
    y = X["rising"] + X["round"] ** 2 - 1 + rng.logistic(size=400) > 0
    shapes = {"rising": "increasing", "round": "linear", "flat": "decreasing"}
    with pytest.warns(ShapeWarning, match="'linear' of 'round'"):
        costs = SemiNaive(shapes=shapes).fit(X, y).shape_costs_
    assert costs["column"].tolist() == ["rising", "round", "flat"]
    assert costs["shape"].tolist() == ["increasing", "linear", "decreasing"]
    over = costs["cost"] / costs["standard_error"]
    assert over[1] > 3
    assert costs["cost"][1] > 0.05
    assert max(over[0], over[2]) < 2


def test_the_shape_of_a_column_without_values_costs_nothing():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=60), "empty": np.nan, "b": rng.normal(size=60)})
    with pytest.warns(ColumnsWarning, match="'empty' has no value"):
        model = SemiNaive(shapes={"b": "increasing", "empty": "increasing"}).fit(X, X["b"] + X["a"] > 0)
    assert model.shape_costs_["column"].tolist() == ["empty", "b"]
    assert model.shape_costs_["cost"][0] == 0.0


def test_smoothness_holds_a_curve_back_and_one_changes_nothing():
    X, y = table(200)

    def roughness(**parameters):
        model = SemiNaive(interactions=0, **parameters).fit(X, y)
        row = X.iloc[[0] * GRID].assign(dose=np.linspace(-2, 2, GRID))
        return float(np.abs(np.diff(model.decision_function(row), 2)).sum())

    usual = roughness()
    assert roughness(smoothness={"dose": 1.0}) == usual
    assert roughness(smoothness={"dose": 1000.0}) < 0.5 * usual


def test_no_shapes_give_the_same_bits_as_none():
    X, y = table(100)
    usual = SemiNaive().fit(X, y).predict_proba(X)
    for shapes in ({}, {"age": None}, {"age": "none"}):
        np.testing.assert_array_equal(SemiNaive(shapes=shapes).fit(X, y).predict_proba(X), usual)


def test_files_and_clones_keep_shapes(shaped, tmp_path):
    X, _, model = shaped
    save_model(model, tmp_path / "model.seminaive")
    loaded = load_model(tmp_path / "model.seminaive")
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert loaded.shapes_ == model.shapes_
    pd.testing.assert_frame_equal(loaded.shape_costs_, model.shape_costs_)
    assert clone(model).get_params()["shapes"] == model.shapes
    assert "shapes" in repr(clone(model))


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"shapes": "increasing"}, "shapes is None or a mapping of columns to shapes"),
        ({"shapes": {"age": "up"}}, "the shape of 'age' is one of 'increasing', 'decreasing', 'convex'"),
        ({"shapes": {"aeg": "increasing"}}, "shapes names 'aeg', which is not a column"),
        ({"shapes": {"site": "increasing"}}, "'site' is a column of categories, which has no curve"),
        ({"shapes": {"age": ("increasing", "huge")}}, "names the class 'huge', and the classes are 'mild'"),
        ({"shapes": {"age": ("linear", "mild")}}, "is about the scores of all classes"),
        ({"smoothness": 3}, "smoothness is None or a mapping of columns"),
        ({"smoothness": {"age": 0}}, "the smoothness of 'age' is a number above 0, got 0"),
        ({"smoothness": {"site": 2}}, "no smoothness"),
        ({"shapes": {"age": "increasing"}, "interactions": [("age", "dose")]}, "has no pairs"),
    ],
)
def test_what_cannot_be_promised_is_refused_with_a_sentence(parameters, said):
    X, y = table(60)
    with pytest.raises(InputError, match=said):
        SemiNaive(**parameters).fit(X, y)


@pytest.mark.parametrize(
    ("shape", "said"),
    [
        (
            "increasing",
            r"with 3 classes a shape is about one of them: pass 'age' as \('increasing', 'worse'\)",
        ),
        (("convex", "mild"), "is about the log odds of two classes, and there are 3"),
    ],
)
def test_several_classes_need_a_class_and_a_monotone_shape(shape, said):
    X, y = table(60, n_classes=3)
    with pytest.raises(InputError, match=said):
        SemiNaive(shapes={"age": shape}).fit(X, y)


def test_shapes_and_a_start_are_not_combined():
    X, y = table(60)
    with pytest.raises(InputError, match="shapes are promised of the whole model"):
        SemiNaive(shapes={"age": "increasing"}, start=SemiNaive().fit(X, y)).fit(X, y)


def test_many_rows_are_fitted_under_the_shapes_too(monkeypatch):
    from seminaive.models import smooth_rows

    monkeypatch.setattr(smooth_rows, "MOST_SEARCHED", 100)
    X, y = table(300)
    model = SemiNaive(shapes={"age": "increasing", "dose": "decreasing"}).fit(X, y)
    assert falls(model, X, "age", "severe") <= 1e-12
    assert falls(model, X, "dose", "mild") <= 1e-12


@pytest.mark.parametrize("values", [[1.0], [0.0, 1.0], [0.0, 1.0, 1e9]], ids=str)
def test_columns_of_few_values_may_have_any_shape(values):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"few": rng.choice(values, 80), "other": rng.normal(size=80)})
    y = rng.random(80) < 0.5
    for shape in ("increasing", "convex", "linear"):
        model = SemiNaive(shapes={"few": shape}).fit(X, y)
        assert np.isfinite(model.predict_proba(X)).all()
