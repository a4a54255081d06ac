"""A model that starts from an earlier one is one additive model: its score, recalibrated, and new terms."""

import json
import pickle
from copy import copy
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from seminaive import (
    HigherOrderLogisticRegression,
    HigherOrderLogisticRegressionCV,
    NaiveBayes,
    NaiveBayesLogisticRegression,
    NaiveBayesLogisticRegressionCV,
    SemiNaive,
    load_model,
    save_model,
    scale,
)
from seminaive.edits import Clip, edit
from seminaive.errors import InputError, ModelFileError, UnavailableError
from seminaive.export import from_json, page, to_json
from seminaive.models import smooth_rows
from seminaive.models.started import Earlier
from seminaive.selection.recalibration import recalibrate
from seminaive.statistics import ObservedTerms

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def draw(n_rows, columns, levels=("p", "q", "r"), seed=0, n_classes=2, turned=False):
    """Return rows whose class depends on a number, a category and a pair; ``turned`` changes the number."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "a": rng.normal(size=n_rows),
            "b": rng.choice(levels, n_rows),
            "c": rng.normal(size=n_rows),
            "d": rng.choice(["u", "v"], n_rows),
        }
    )
    scores = (0.3 if turned else 1.0) * X["a"] + (X["b"] == "p") + X["c"] * (X["d"] == "u")
    y = np.digitize(scores + rng.logistic(size=n_rows) / 2, np.linspace(-1, 2, n_classes + 1)[1:-1])
    X.loc[rng.random(n_rows) < 0.05, "b"] = None
    X.loc[rng.random(n_rows) < 0.05, "a"] = np.nan
    return X[list(columns)], np.array([f"class {k}" for k in range(n_classes)])[y]


@pytest.fixture(scope="module", params=[2, 4], ids="{} classes".format)
def started(request):
    n_classes = request.param
    earlier = SemiNaive().fit(*draw(300, "abc", n_classes=n_classes))
    model = SemiNaive(start=earlier).fit(
        *draw(120, "dbca", ["p", "q", "s"], seed=1, n_classes=n_classes, turned=True)
    )
    return earlier, model


def score_of(model, X):
    """Return the sums of contributions, as ``decision_function`` does where no cell is unknown."""
    sums = model.scores_.sums(model.encode(X))
    return sums[:, 1] - sums[:, 0] if sums.shape[1] == 2 else sums - sums.mean(axis=1, keepdims=True)


def rows_to_predict():
    return draw(200, "dbca", ["p", "q", "r", "s", "t"], seed=2)[0]


def test_a_sum_scores_every_row_as_its_parts_do(started):
    earlier, other = started
    rows = rows_to_predict()
    training = TrainingSetOf(other, rows)
    found = Earlier.of(earlier, training).plus(0.7, other.scores_, other.schema_)
    scores = found.sums(Earlier.of(earlier, training).table)
    expected = 0.7 * score_of(earlier, rows[list("abc")]) + score_of(other, rows)
    if scores.shape[1] == 2:
        np.testing.assert_allclose(scores[:, 1] - scores[:, 0], expected, atol=1e-12)
    else:
        np.testing.assert_allclose(scores - scores.mean(axis=1, keepdims=True), expected, atol=1e-12)


class TrainingSetOf:
    """The rows of a table under the coding of a model."""

    def __init__(self, model, X):
        self.table, self.classes, self.weights = model.encode(X), model.classes_, np.ones(len(X))


def test_what_is_no_part_of_the_earlier_model_is_a_function_of_the_new_terms(started):
    """Rows that differ in nothing but a level that only the earlier model knows differ by slope times it."""
    earlier, model = started
    rows = rows_to_predict().assign(b="r", a=0.3, d="u", c=np.linspace(-1, 1, 200))
    unseen = rows.assign(b="t")
    slope = model.started_from_[-1].slope
    found = score_of(model, rows) - score_of(model, unseen)
    columns = list("abc")
    expected = score_of(earlier, rows[columns]) - score_of(earlier, unseen[columns])
    np.testing.assert_allclose(found, slope * expected, atol=1e-12)


def test_terms_are_not_repeated(started):
    _, model = started
    terms, curves = model.scores_.terms.features, model.scores_.curves.features
    assert len(set(terms)) == len(terms)
    assert len(set(curves)) == len(curves)
    assert len(model.interactions_) == sum(len(term) == 2 for term in terms)


def test_the_record_says_what_the_fit_started_from(started):
    earlier, model = started
    (record,) = model.started_from_
    assert record.model == "SemiNaive"
    assert record.columns == ("a", "b", "c")
    assert record.not_in_table == ()
    assert record.n_rows == 120
    assert "score of an earlier SemiNaive" in str(record)
    narrow = SemiNaive(start=earlier, interactions=0).fit(
        *draw(60, "db", seed=3, n_classes=len(earlier.classes_))
    )
    assert narrow.started_from_[-1].not_in_table == ("a", "c")


def test_trials_have_slopes_of_zero_of_one_and_of_the_recalibration(started):
    _, model = started
    slopes, strengths = model.cv_results_["slope"], model.cv_results_["mains"]
    assert {0.0, 1.0} < set(slopes.tolist())
    assert len(set(slopes.tolist())) == 3
    assert np.isinf(strengths).sum() == 3


def test_a_saved_model_comes_back_with_its_start_and_its_record(started, tmp_path):
    earlier, model = started
    rows = rows_to_predict()
    save_model(model, tmp_path / "model")
    again = load_model(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(rows), model.predict_proba(rows))
    assert again.started_from_ == model.started_from_
    columns = list("abc")
    np.testing.assert_array_equal(
        again.start.predict_proba(rows[columns]), earlier.predict_proba(rows[columns])
    )


def test_a_chain_of_starts_keeps_one_model_per_file_and_every_record(started, tmp_path):
    _, model = started
    n_classes = len(model.classes_)
    last = SemiNaive(start=model, interactions=0).fit(*draw(100, "dbca", seed=4, n_classes=n_classes))
    assert [record.n_rows for record in last.started_from_] == [120, 100]
    save_model(last, tmp_path / "model")
    again = load_model(tmp_path / "model")
    assert again.started_from_ == last.started_from_
    assert again.start.start is None
    rows = rows_to_predict()
    np.testing.assert_array_equal(again.predict_proba(rows), last.predict_proba(rows))


def test_a_document_lists_the_earlier_models(started):
    _, model = started
    text = to_json(model)
    assert json.loads(text)["started_from"][0]["slope"] == model.started_from_[0].slope
    again = from_json(text)
    assert again.started_from_ == model.started_from_
    np.testing.assert_allclose(
        again.predict_proba(rows_to_predict()), model.predict_proba(rows_to_predict()), atol=1e-12
    )
    assert json.loads(to_json(again))["started_from"] == json.loads(text)["started_from"]
    broken = json.loads(text)
    broken["started_from"][0]["slope"] = "all of it"
    with pytest.raises(ModelFileError, match="no model"):
        from_json(json.dumps(broken))


def test_the_page_says_what_the_model_started_from(started, tmp_path):
    model = copy(started[1])
    model.started_from_ = (replace(model.started_from_[0], not_in_table=("<b>a</b>",)),)
    text = page(model, tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<li>Started from" in text
    assert "without &lt;b&gt;a&lt;/b&gt;" in text
    assert "<b>a</b>" not in text


def test_an_edited_model_keeps_the_record_and_can_be_a_start(started):
    _, model = started
    edited = edit(model, "a", Clip(-1, 1), why="a test")
    assert edited.started_from_ == model.started_from_
    last = SemiNaive(start=edited, interactions=0).fit(
        *draw(60, "dbca", seed=5, n_classes=len(model.classes_))
    )
    assert len(last.started_from_) == 2


def test_copies_start_from_the_same_fitted_model():
    earlier = NaiveBayes().fit(*draw(100, "ab"))
    X, y = draw(60, "ab", seed=1)
    model = SemiNaive(start=earlier, interactions=0)
    assert clone(model).start is earlier
    assert clone(make_pipeline(model))[0].start is earlier
    expected = model.fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).fit(X, y).predict_proba(X), expected)  # noqa: S301
    search = GridSearchCV(model, {"max_iter": [50]}, cv=2).fit(X, y)
    assert search.best_estimator_.start is earlier


def test_a_frozen_model_is_one_of_the_values_of_a_grid(tmp_path):
    frozen = FrozenEstimator(NaiveBayes().fit(*draw(100, "ab")))
    X, y = draw(60, "ab", seed=1)
    search = GridSearchCV(SemiNaive(interactions=0), {"start": [frozen]}, cv=2).fit(X, y)
    model = search.best_estimator_
    assert model.started_from_[0].model == "NaiveBayes"
    save_model(model, tmp_path / "model")
    again = load_model(tmp_path / "model")
    np.testing.assert_array_equal(again.start.predict_proba(X), frozen.predict_proba(X))


def test_a_fit_without_start_forgets_the_record_of_an_earlier_fit():
    X, y = draw(60, "ab", seed=1)
    model = SemiNaive(start=NaiveBayes().fit(*draw(100, "ab")), interactions=0).fit(X, y)
    model.set_params(start=None).fit(X, y)
    assert not hasattr(model, "started_from_")


def test_where_nothing_is_new_the_start_loses_less_than_its_recalibration():
    earlier = SemiNaive(interactions=0).fit(*draw(800, "abcd"))
    judges, found = draw(2000, "abcd", seed=7)
    place = np.searchsorted(earlier.classes_, found)

    def loss(log_odds):
        return np.logaddexp(0, np.where(place == 1, -log_odds, log_odds)).mean()

    losses = []
    for seed in (10, 11, 12, 13):
        X, y = draw(100, "abcd", seed=seed)
        model = SemiNaive(start=earlier, interactions=0).fit(X, y)
        fit = LogisticRegression(C=np.inf).fit(earlier.decision_function(X)[:, None], y)
        recalibrated = fit.decision_function(earlier.decision_function(judges)[:, None])
        losses.append([loss(model.decision_function(judges)), loss(recalibrated)])
    started, recalibrated = np.mean(losses, axis=0)
    assert started < recalibrated
    assert started < loss(earlier.decision_function(judges)) + 0.01


@pytest.mark.parametrize("start", ["naive Bayes", 3, NaiveBayes, object()])
def test_what_is_no_model_is_refused(start):
    with pytest.raises(InputError, match="start is a fitted additive model"):
        SemiNaive(start=start).fit(*draw(50, "ab"))


def test_an_unfitted_start_is_refused():
    with pytest.raises(NotFittedError):
        SemiNaive(start=NaiveBayes()).fit(*draw(50, "ab"))


def test_other_classes_are_refused_by_name():
    earlier = NaiveBayes().fit(*draw(100, "ab", n_classes=3))
    with pytest.raises(InputError, match="knows the classes 'class 0', 'class 1', 'class 2' and the rows"):
        SemiNaive(start=earlier).fit(*draw(50, "ab"))


# The other models that start from an earlier one.

FAR = 1e12
HELD_BACK = {
    "NBRLR, L1": NaiveBayesLogisticRegression(strength=FAR),
    "NBRLR-CV": NaiveBayesLogisticRegressionCV(
        strengths=[FAR], selection="min", generative_shares=(1.0,), cv=2
    ),
    "LR^n": HigherOrderLogisticRegression(ridge=FAR, hierarchical=True, tol=1e-10),
}
WITHOUT = {
    "NBRLR, L1": NaiveBayesLogisticRegression(strength=2.0, generative_share=0.0),
    "NBRLR-CV": NaiveBayesLogisticRegressionCV(generative_shares=(0.0,), cv=2),
}
SEARCHED = {
    "NBRLR": NaiveBayesLogisticRegression(strength=3.0),
    "NBRLR-CV": NaiveBayesLogisticRegressionCV(cv=2, strengths=8),
    "LR^n": HigherOrderLogisticRegression(ridge=3.0),
    "LR^n-CV": HigherOrderLogisticRegressionCV(cv=2, ridges=(1.0, 25.0)),
    "LR^n-CV, MDL": HigherOrderLogisticRegressionCV(cv=2, ridges=(1.0, 25.0), bins="mdl"),
}


@pytest.fixture(scope="module", params=[2, 4], ids="{} classes".format)
def earlier_and_rows(request):
    n_classes = request.param
    earlier = SemiNaive(interactions=[("a", "c")]).fit(*draw(200, "abc", n_classes=n_classes))
    return earlier, *draw(120, "dbca", ["p", "q", "s"], seed=1, n_classes=n_classes, turned=True)


def as_columns(decision):
    return decision[:, None] if decision.ndim == 1 else decision


@pytest.mark.parametrize("kind", HELD_BACK)
def test_held_back_without_end_a_model_is_the_recalibrated_earlier_one(kind, earlier_and_rows):
    earlier, X, y = earlier_and_rows
    model = clone(HELD_BACK[kind]).set_params(start=earlier).fit(X, y)
    labels = np.searchsorted(earlier.classes_, y)
    before = as_columns(score_of(earlier, X[list("abc")]))
    expected = recalibrate(before, labels, np.ones(len(y)), len(earlier.classes_))
    scores = expected.scores(before)
    centred = scores if scores.shape[1] == 1 else scores - scores.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(as_columns(score_of(model, X)), centred, atol=1e-8)
    assert model.started_from_[0].slope == pytest.approx(expected.slope, abs=1e-9)


@pytest.mark.parametrize("kind", WITHOUT)
def test_a_share_of_nothing_is_the_fit_without_start(kind, earlier_and_rows):
    earlier, X, y = earlier_and_rows
    without = clone(WITHOUT[kind]).fit(X, y)
    model = clone(WITHOUT[kind]).set_params(start=earlier).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), without.predict_proba(X), atol=1e-8)
    assert model.started_from_[0].slope == 0.0


@pytest.mark.parametrize("kind", SEARCHED)
def test_every_model_that_starts_is_one_additive_model(kind, earlier_and_rows, tmp_path):
    """It is saved and read back, written as a document, and the start of another one."""
    earlier, X, y = earlier_and_rows
    model = clone(SEARCHED[kind]).set_params(start=earlier).fit(X, y)
    terms = model.scores_.terms.features
    assert len(set(terms)) == len(terms)
    rows = rows_to_predict()
    level = rows.assign(b="r", a=0.3, d="u")
    found = as_columns(score_of(model, level) - score_of(model, level.assign(b="t")))
    before = [as_columns(score_of(earlier, rows[list("abc")])) for rows in (level, level.assign(b="t"))]
    np.testing.assert_allclose(found, model.started_from_[0].slope * (before[0] - before[1]), atol=1e-10)
    save_model(model, tmp_path / "model")
    again = load_model(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(rows), model.predict_proba(rows))
    document = from_json(to_json(model))
    np.testing.assert_allclose(document.predict_proba(rows), model.predict_proba(rows), atol=1e-12)
    next_one = NaiveBayesLogisticRegression(start=again).fit(X, y)
    assert len(next_one.started_from_) == 2
    np.testing.assert_allclose(model.feature_importances_.sum(), 1.0)


def test_the_search_of_higher_orders_tries_the_earlier_model_and_nothing(earlier_and_rows):
    earlier, X, y = earlier_and_rows
    grid = HigherOrderLogisticRegressionCV(cv=2, ridges=(1.0, 25.0))
    without = clone(grid).fit(X, y)
    model = clone(grid).set_params(start=earlier).fit(X, y)
    fresh = model.cv_results_["slope"] == 0.0
    np.testing.assert_allclose(
        np.sort(model.cv_results_["log_loss"][fresh])[:1],
        np.sort(without.cv_results_["log_loss"])[:1],
        rtol=1e-3,  # the precision to which trials are fitted
    )
    assert (~fresh).any()


def test_what_cannot_go_with_an_earlier_model_is_refused():
    X, y = draw(60, "ab")
    earlier = NaiveBayes().fit(X, y)
    for model in (
        NaiveBayesLogisticRegression(start=earlier, target="zero"),
        NaiveBayesLogisticRegressionCV(start=earlier, target=[0.0]),
    ):
        with pytest.raises(InputError, match="takes the place of the target"):
            model.fit(X, y)
    with pytest.raises(InputError, match="generative_share=0"):
        HigherOrderLogisticRegression(start=earlier, generative_share=0.5).fit(X, y)
    with pytest.raises(InputError, match="a stream starts from zero"):
        HigherOrderLogisticRegression(start=earlier).partial_fit(X, y, classes=earlier.classes_)
    with pytest.raises(InputError, match="start is one of"):
        HigherOrderLogisticRegression(start="earlier").fit(X, y)
    with pytest.raises(InputError, match="rows in memory"):
        scale.fit(SemiNaive(start=earlier), scale.from_batches([X.assign(y=y)], target="y"))
    fitted = NaiveBayesLogisticRegression(start=earlier, strength=0.0).fit(X, y)
    with pytest.raises(UnavailableError, match="started from an earlier model"):
        fitted.coefficient_covariance(X)


def test_a_model_of_observed_combinations_is_no_part_of_a_sum():
    X, y = draw(60, "ab")
    earlier = NaiveBayes().fit(X, y)
    terms = earlier.scores_.terms
    observed = ObservedTerms.of_combinations(terms.features, terms.cardinalities, np.arange(2))
    earlier.scores_ = replace(earlier.scores_, terms=observed, tables=np.zeros((observed.n_cells, 2)))
    with pytest.raises(InputError, match="combinations of values that occurred"):
        SemiNaive(start=earlier).fit(X, y)


def test_a_search_on_a_sample_ends_in_a_fit_of_all_rows(monkeypatch):
    """The slope is then that of all rows, not that of the sample."""
    monkeypatch.setattr(smooth_rows, "MOST_SEARCHED", 100)
    earlier = SemiNaive(interactions=0).fit(*draw(150, "ab"))
    X, y = draw(200, "ab", seed=1)
    found = []
    original = smooth_rows.RowsInMemory.refit

    def refit(self, *given):
        found.append(original(self, *given))
        return found[-1]

    monkeypatch.setattr(smooth_rows.RowsInMemory, "refit", refit)
    model = SemiNaive(start=earlier, interactions=0).fit(X, y)
    (answer,) = found
    assert model.started_from_[0].n_rows == 200
    assert model.started_from_[0].slope == answer.slope
    before = earlier.decision_function(X)[:, None]
    rows = (before, np.searchsorted(earlier.classes_, y), np.ones(200), 2)
    slopes = {"recalibrated": recalibrate(*rows).slope, "shifted": 1.0, "nothing": 0.0}
    assert answer.slope == pytest.approx(slopes[answer.kind], abs=1e-9)
