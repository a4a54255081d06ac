"""Around an edited effect all others are those of logistic regression, and a history can be replayed."""

import json
import zipfile

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

from seminaive import HigherOrderLogisticRegression, NaiveBayes, SemiNaive, load_model, save_model
from seminaive.edits import Clip, Flatten, SetTo, edit, history, refit_around, replay
from seminaive.errors import InputError
from seminaive.explain.reading import effects_of, evidence, feature_named

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def draw(n_rows, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n_rows)
    a = (y + rng.integers(0, 2, n_rows)) % 3
    X = pd.DataFrame(
        {
            "a": np.array(["p", "q", "r"], object)[a],
            "b": np.array(["s", "t", "u"], object)[(a + (rng.random(n_rows) < 0.4)) % 3],
            "x": rng.normal(0.7 * y, 1.0),
            "z": rng.normal(size=n_rows),
        }
    )
    return X, y


def test_without_a_ridge_the_others_are_those_of_logistic_regression_around_the_edit():
    X, y = draw(500)
    model = NaiveBayes().fit(X, y)
    edited = edit(model, "a", SetTo(0.4, ("p",)), why="a test")
    again = refit_around(edited, X, y, ridge=0.0, order=1, tol=1e-9, why="a test")
    effect = feature_named(effects_of(edited), "a")
    held = evidence(effect.table, 1)[X["a"].map({"p": 0, "q": 1, "r": 2})]
    # What naive Bayes says of the numbers beyond a slope stays, too: the correction has a slope only.
    design = sm.add_constant(
        pd.get_dummies(X[["b"]], drop_first=True).assign(x=X["x"], z=X["z"]).astype(float)
    )
    curves = sum(
        evidence(feature_named(effects_of(edited), name).curve.at(X[name].to_numpy()), 1)
        for name in ("x", "z")
    )
    oracle = sm.GLM(y, design, family=sm.families.Binomial(), offset=held + curves).fit(tol=1e-12)
    expected = design @ oracle.params + held + curves
    np.testing.assert_allclose(again.decision_function(X), expected, atol=1e-5)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "kind",
    [NaiveBayes(), HigherOrderLogisticRegression(order=2, hierarchical=True), SemiNaive(random_state=0)],
)
def test_a_refit_leaves_the_edited_effect_and_lowers_the_loss(kind, n_classes):
    X, y = draw(500, n_classes)
    edited = edit(kind.fit(X, y), "a", Flatten(), why="a test")
    again = refit_around(edited, X, y, why="a test", who="us")
    record = again.edits_[-1]
    assert record.loss_after < record.loss_before
    assert (record.held, record.n_rows, record.who) == (("a",), 500, "us")
    assert record.order == (1 if isinstance(kind, NaiveBayes) else 2)
    before, after = (feature_named(effects_of(fitted), "a").table for fitted in (edited, again))
    shift = (after - before)[: len("pqr")]
    np.testing.assert_allclose(shift - shift[0], 0.0, atol=1e-9)
    assert "all but a fitted again to 500 rows" in history(again)["what"].iloc[-1]


def test_a_large_ridge_moves_the_intercept_only():
    X, y = draw(500)
    edited = edit(NaiveBayes().fit(X, y), "x", SetTo(1.0), why="a test")
    again = refit_around(edited, X, y, ridge=1e12, tol=1e-9, why="a test")
    moved = again.decision_function(X) - edited.decision_function(X)
    assert np.ptp(moved) < 1e-6
    assert again.predict_proba(X)[:, 1].mean() == pytest.approx(y.mean(), abs=1e-6)


def test_integer_weights_equal_repeated_rows():
    X, y = draw(300)
    edited = edit(NaiveBayes().fit(X, y), "a", Flatten(), why="a test")
    weight = np.random.default_rng(0).integers(1, 4, 300)
    rows = np.repeat(np.arange(300), weight)
    repeated = refit_around(edited, X.iloc[rows], y[rows], tol=1e-10, why="a test")
    weighted = refit_around(edited, X, y, weight, tol=1e-10, why="a test")
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-6)


def members(path):
    """Return what a model file holds, without the times of its archive."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_replaying_a_history_gives_the_same_file(tmp_path):
    X, y = draw(400)
    first = HigherOrderLogisticRegression(order=2, hierarchical=True).fit(X, y)
    model = edit(first, "a", Flatten(("p", "q")), why="alike", who="us", date="2024-01-01", rows=X, y=y)
    model = refit_around(model, X, y, why="around it", date="2024-01-02")
    model = edit(model, "x", Clip(-1, 1), why="too sure", date="2024-01-03")
    model = refit_around(model, X.iloc[:300], y[:300], ridge=5.0, order=1, why="again", date="2024-01-04")
    for name, fitted in (("first", first), ("model", model)):
        save_model(fitted, tmp_path / name)
    loaded = load_model(tmp_path / "model")
    again = replay(load_model(tmp_path / "first"), loaded, [(X, y), (X.iloc[:300], y[:300])])
    save_model(again, tmp_path / "again")
    assert members(tmp_path / "again") == members(tmp_path / "model")
    assert len(json.loads(members(tmp_path / "again")["seminaive.json"])["fitted"]["edits_"]) == 4
    with pytest.raises(InputError, match="more fits than rows"):
        replay(first, model, [(X, y)])
    with pytest.raises(InputError, match="rows of 1 fits are left over"):
        replay(first, model, [(X, y)] * 3)
    with pytest.raises(InputError, match="does not begin with"):
        replay(edit(first, "b", Flatten(), why="another"), model)


def test_what_cannot_be_fitted_is_refused():
    X, y = draw(200)
    model = NaiveBayes().fit(X, y)
    edited = edit(model, "a", Flatten(), why="a test")
    with pytest.raises(InputError, match="no edits to hold"):
        refit_around(model, X, y, why="a test")
    with pytest.raises(InputError, match="why is empty"):
        refit_around(edited, X, y, why="")
    with pytest.raises(InputError, match="ridge is a number"):
        refit_around(edited, X, y, ridge=-1, why="a test")
    with pytest.raises(InputError, match="order is 1, 2 or None"):
        refit_around(edited, X, y, order=3, why="a test")
    with pytest.raises(InputError, match="pass one label per row"):
        refit_around(edited, X, y[:5], why="a test")
    with pytest.raises(InputError, match="there is no class 8"):
        refit_around(edited, X, np.where(y == 1, 8, 0), why="a test")
    only = NaiveBayes().fit(X[["a"]], y)
    with pytest.raises(InputError, match="nothing to fit around"):
        refit_around(edit(only, "a", Flatten(), why="a test"), X[["a"]], y, why="a test")
