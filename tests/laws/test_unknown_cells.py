"""Rows with unknown cells get about the mean answer over what may stand there: at most the class shares."""

import numpy as np
import pandas as pd
import pytest

from seminaive import (
    AcceleratedLogisticRegression,
    AttributeWeightedNaiveBayes,
    HigherOrderLogisticRegression,
    HigherOrderLogisticRegressionCV,
    HybridLogisticNaiveBayes,
    NaiveBayes,
    NaiveBayesLogisticRegression,
    NaiveBayesLogisticRegressionCV,
    SemiNaive,
    WeightedNaiveBayes,
    load_model,
    save_model,
)
from seminaive.edits import Flatten, edit, refit_around
from seminaive.explain import WaterfallDisplay, reasons, smallest_change
from seminaive.export import from_json, to_json

ATTENUATED = [
    SemiNaive(),
    NaiveBayesLogisticRegression(),
    NaiveBayesLogisticRegressionCV(strengths=10),
    HigherOrderLogisticRegression(2),
    HigherOrderLogisticRegressionCV(2),
    AcceleratedLogisticRegression(2),
    HybridLogisticNaiveBayes(partition=["number", "letter"]),
]
EXACT = [NaiveBayes(), WeightedNaiveBayes(), AttributeWeightedNaiveBayes()]
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def draw(n_rows, seed):
    """Return rows whose classes depend on two numbers and two categories, and 30 % of whose class is yes."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "number": rng.normal(size=n_rows),
            "other": rng.normal(size=n_rows),
            "letter": rng.choice(["p", "q", "r"], n_rows),
            "sign": rng.choice(["+", "-"], n_rows),
        }
    )
    score = 3 * X.number + 2 * X.other + 3 * (X.letter == "p") - 2.0 * (X.sign == "+") - 3.0
    return X, np.where(score + rng.logistic(size=n_rows) > 0, "yes", "no")


def blanked(X, share, seed=5):
    return X.mask(np.random.default_rng(seed).random(X.shape) < share)


@pytest.fixture(scope="module", params=ATTENUATED, ids=lambda model: type(model).__name__)
def fitted(request):
    X, y = draw(300, 0)
    return request.param.fit(X, y), X, y


@pytest.mark.parametrize("model", [*ATTENUATED, *EXACT], ids=lambda model: type(model).__name__)
def test_a_row_of_which_nothing_is_known_gets_the_class_shares(model):
    X, y = draw(300, 0)
    nothing = blanked(X.iloc[:3], 1.0)
    shares = np.array([(y == label).mean() for label in ("no", "yes")])
    # Naive Bayes smooths the shares.
    np.testing.assert_allclose(model.fit(X, y).predict_proba(nothing), [shares] * 3, atol=0.005)


def test_rows_without_unknown_cells_do_not_change_for_the_others(fitted):
    model, X, _ = fitted
    rows = blanked(X, 0.3)
    complete = rows.notna().all(axis=1)
    np.testing.assert_array_equal(model.predict_proba(rows)[complete], model.predict_proba(X)[complete])


def test_the_answer_is_close_to_the_mean_over_completions(fitted):
    model, X, _ = fitted
    rows, _ = draw(150, 1)
    rows = blanked(rows, 0.4)
    donors = X.sample(60, random_state=0)
    total = sum(
        model.predict_proba(pd.DataFrame({name: rows[name].fillna(completion[name]) for name in rows}))
        for _, completion in donors.iterrows()
    )
    off = np.abs(model.predict_proba(rows) - total / len(donors))[:, 1]
    sums = model.scores_.sums(model.encode(rows))
    before = np.abs(1 / (1 + np.exp(sums[:, 0] - sums[:, 1])) - (total / len(donors))[:, 1])
    # About .04 of the standard error of a mean over 60 completions is in it.
    assert off.mean() < 0.06
    assert off.mean() < before.mean()


def test_unseen_values_are_unknown_cells(fitted):
    model, X, _ = fitted
    missing, unseen = X.iloc[:5].copy(), X.iloc[:5].copy()
    missing["letter"], unseen["letter"] = None, "never"
    np.testing.assert_array_equal(model.predict_proba(missing), model.predict_proba(unseen))


def test_one_row_is_answered_like_many(fitted):
    model, X, _ = fitted
    rows = blanked(X.iloc[:40], 0.4)
    one_by_one = np.concatenate([model.predict_proba(rows.iloc[[k]]) for k in range(len(rows))])
    np.testing.assert_allclose(one_by_one, model.predict_proba(rows), atol=1e-15)


def test_every_way_to_ask_gives_one_answer(fitted):
    model, X, _ = fitted
    rows = blanked(X, 0.4)
    proba = model.predict_proba(rows)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(rows)), proba, atol=1e-15)
    np.testing.assert_allclose(1 / (1 + np.exp(-model.decision_function(rows))), proba[:, 1], atol=1e-12)
    np.testing.assert_array_equal(model.predict(rows), model.classes_[proba.argmax(axis=1)])


def test_files_and_documents_keep_it(fitted, tmp_path):
    model, X, _ = fitted
    rows = blanked(X, 0.4)
    save_model(model, tmp_path / "model.snm")
    np.testing.assert_array_equal(
        load_model(tmp_path / "model.snm").predict_proba(rows), model.predict_proba(rows)
    )
    np.testing.assert_allclose(
        from_json(to_json(model)).predict_proba(rows), model.predict_proba(rows), atol=1e-12
    )


def test_reasons_add_up_to_the_sum_and_name_the_unknown_cells(fitted):
    model, X, _ = fitted
    rows = X.iloc[:2].copy()
    rows.loc[rows.index[0], "letter"] = None
    found = reasons(model, rows)
    np.testing.assert_array_equal(found.target, model.predict(rows))
    sums = model.scores_.sums(model.encode(rows))
    signs = np.where(found.target == "yes", 1.0, -1.0)
    np.testing.assert_allclose(found.log_odds, signs * (sums[:, 1] - sums[:, 0]), atol=1e-9)
    np.testing.assert_allclose(found.answered, signs * model.decision_function(rows), atol=1e-9)
    assert found.note(0).startswith("letter is unknown: the reasons add up to log odds of ")
    assert found.note(1) == ""


def test_a_waterfall_says_that_cells_are_unknown():
    X, y = draw(300, 0)
    model = SemiNaive().fit(X, y)
    row = X.iloc[0].to_dict()
    assert "unknown" not in WaterfallDisplay.from_estimator(model, row).note
    row |= {"number": None, "sign": "never"}
    note = WaterfallDisplay.from_estimator(model, row).note
    answered = model.predict_proba(pd.DataFrame([row]).astype({"number": float}))[0, 1]
    assert "number, sign are unknown" in note
    assert f"the answer is {100 * answered:.1f} %" in note


def test_the_smallest_change_leaves_unknown_cells_and_reaches_its_aim():
    X, y = draw(300, 0)
    model = SemiNaive().fit(X, y)
    row = X.iloc[0].to_dict() | {"letter": None}
    found = smallest_change(model, row, "yes", probability=0.6)
    assert found.changes
    assert "letter" not in found.cells
    changed = pd.DataFrame([row | found.cells]).astype({"number": float, "other": float})
    after = model.predict_proba(changed)[0, 1]
    assert after == pytest.approx(found.after)
    assert after >= 0.6
    with pytest.raises(Exception, match="'letter' is unknown in this row, and cannot change"):
        smallest_change(model, row, "yes", may_change=["letter"])


def test_an_edited_column_is_as_uncertain_as_it_speaks():
    X, y = draw(300, 0)
    model = NaiveBayesLogisticRegression().fit(X, y)
    silent = edit(model, "number", Flatten(), why="to see")
    feature = model.schema_.features.index(0)
    assert model.scores_.attenuation.covariance[feature, feature] > 1
    np.testing.assert_allclose(silent.scores_.attenuation.covariance[feature], 0.0, atol=1e-9)
    nothing = blanked(X.iloc[:1], 1.0)
    np.testing.assert_allclose(silent.predict_proba(nothing), model.predict_proba(nothing), atol=1e-9)
    again = refit_around(silent, X, y, why="to see")
    np.testing.assert_allclose(again.predict_proba(nothing), model.predict_proba(nothing), atol=1e-9)


def test_streams_answer_rows_with_unknown_cells():
    X, y = draw(600, 0)
    model = AcceleratedLogisticRegression(1, start="zero")
    for start in range(0, 600, 200):
        model.partial_fit(X[start : start + 200], y[start : start + 200], classes=["maybe", "no", "yes"])
    proba = model.predict_proba(blanked(X.iloc[:2], 1.0))
    shares = np.array([1.0, (y == "no").sum(), (y == "yes").sum()]) / 601
    np.testing.assert_allclose(proba, [shares] * 2, atol=1e-9)
