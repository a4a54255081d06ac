"""Naive Bayes: against scikit-learn's, and what it promises about priors, smoothing and missing cells."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import CategoricalNB, GaussianNB

from seminaive import NaiveBayes
from seminaive.errors import InputError
from seminaive.scores import additive_scores as additive
from seminaive.scores.kind import TermKind


@pytest.fixture
def categories():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 500)
    return (y[:, None] + rng.integers(0, 4, (500, 6))) % 5, y


@pytest.mark.parametrize("smoothing", [0.1, 1.0, 5.0])
def test_categories_equal_scikit_learns_categorical_nb(categories, smoothing):
    X, y = categories
    weight = np.random.default_rng(1).random(len(y))
    ours = NaiveBayes(smoothing=smoothing, categorical_features="all").fit(X, y, sample_weight=weight)
    theirs = CategoricalNB(alpha=smoothing).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(ours.predict_log_proba(X), theirs.predict_log_proba(X), atol=1e-11)


@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_class_variances_equal_scikit_learns_gaussian_nb(load):
    X, y = load(return_X_y=True)
    ours = NaiveBayes(variances="class").fit(X, y)
    theirs = GaussianNB(var_smoothing=0).fit(X, y)
    np.testing.assert_allclose(ours.predict_log_proba(X), theirs.predict_log_proba(X), rtol=1e-8, atol=1e-10)


def test_one_pooled_variance_equals_linear_discriminants_of_one_number():
    X, y = load_iris(return_X_y=True)
    one = X[:, [2]]
    ours = NaiveBayes().fit(one, y)
    theirs = LinearDiscriminantAnalysis(solver="lsqr").fit(one, y)
    # scikit-learn's pooled covariance is the class-weighted mean of maximum-likelihood variances: the same.
    np.testing.assert_allclose(ours.predict_proba(one), theirs.predict_proba(one), atol=1e-8)


def test_given_priors_shift_the_log_odds(categories):
    X, y = categories
    priors = np.array([0.2, 0.3, 0.5])
    ours = NaiveBayes(priors=priors, categorical_features="all").fit(X, y)
    theirs = CategoricalNB(class_prior=priors).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-11)


@pytest.mark.parametrize("missing", ["value", "neutral"])
def test_an_unseen_category_and_a_missing_number_are_no_evidence(weather, missing):
    X, y = weather
    model = NaiveBayes(missing=missing).fit(X, y)
    strange = X.iloc[:1].assign(sky="fog", temperature=np.nan)
    without = NaiveBayes(missing=missing).fit(X.drop(columns=["sky", "temperature"]), y)
    expected = without.predict_proba(strange.drop(columns=["sky", "temperature"]))
    np.testing.assert_allclose(model.predict_proba(strange), expected, atol=1e-12)


def test_a_missing_category_is_evidence_as_a_value_and_none_when_neutral():
    X = np.array([["a"]] * 6 + [[None]] * 2 + [["a"]] * 2 + [[None]] * 6, object)
    y = np.repeat([0, 1], 8)
    hole = np.array([[None]], object)
    assert NaiveBayes(missing="value").fit(X, y).predict_proba(hole)[0, 1] == pytest.approx(0.7)
    assert NaiveBayes(missing="neutral").fit(X, y).predict_proba(hole)[0, 1] == pytest.approx(0.5)


def test_without_smoothing_an_unseen_combination_vetoes_and_never_gives_nan():
    X = np.array([["a", "x"], ["b", "y"]] * 5, object)
    model = NaiveBayes(smoothing=0).fit(X, [0, 1] * 5)
    assert model.predict_proba(np.array([["a", "x"]], object)).tolist() == [[1.0, 0.0]]
    assert model.predict_proba(np.array([["a", "y"]], object)).tolist() == [[0.5, 0.5]]


def test_a_constant_number_contributes_nothing():
    X = np.column_stack([np.full(20, 3.0), np.arange(20.0)])
    model = NaiveBayes().fit(X, np.arange(20) > 9)
    assert (model.contributions(X)["x0"] == 0).all()


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_units_of_a_number_do_not_matter(scale, offset):
    X, y = load_iris(return_X_y=True)
    expected = NaiveBayes().fit(X, y).predict_proba(X)
    moved = (X + offset) * scale
    # An offset of 1e6 leaves ten digits of the measurements.
    np.testing.assert_allclose(NaiveBayes().fit(moved, y).predict_proba(moved), expected, atol=1e-7)


def compile_every_pass(monkeypatch):
    monkeypatch.setattr(TermKind, "compiles", lambda *_: True)
    monkeypatch.setattr(additive, "COMPILED_GATHERS", 0)


def test_compiled_and_plain_scoring_agree_to_the_last_bit(weather, monkeypatch):
    X, y = weather
    model = NaiveBayes().fit(X, y)
    plain = model.scores_.joint_log_scores(model.encode(X))
    probabilities = model.predict_proba(X)
    compile_every_pass(monkeypatch)
    assert (model.scores_.joint_log_scores(model.encode(X)) == plain).all()
    np.testing.assert_allclose(model.predict_proba(X), probabilities, rtol=1e-13)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1, rtol=1e-14)


@pytest.mark.parametrize("n_classes", [2, 3, 7, 20])
def test_scores_of_any_number_of_classes_agree_with_their_breakdown(n_classes, monkeypatch):
    compile_every_pass(monkeypatch)
    rng = np.random.default_rng(n_classes)
    X, y = rng.integers(0, 4, (300, 5)), np.arange(300) % n_classes
    model = NaiveBayes(categorical_features="all").fit(X, y)
    parts = model.scores_.breakdown(model.encode(X))
    total = parts[:, 0]
    for term in range(1, parts.shape[1]):
        total = total + parts[:, term]
    assert (total == model.scores_.joint_log_scores(model.encode(X))).all()


def test_grid_search_and_renamed_output_work(weather):
    X, y = weather
    search = GridSearchCV(NaiveBayes(), {"smoothing": [0.1, 1.0], "variances": ["pooled", "class"]}, cv=3)
    assert search.fit(X, y).best_score_ > 0.5


def test_contributions_come_in_the_library_of_the_table(weather):
    X, y = weather
    model = NaiveBayes().fit(X, y == "sun")
    ours = model.contributions(X.iloc[5:9])
    assert ours.index.tolist() == [5, 6, 7, 8]
    assert list(ours.columns) == ["prior", *X.columns]
    assert isinstance(model.contributions(pl.from_pandas(X)), pl.DataFrame)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"smoothing": -1}, "smoothing"),
        ({"smoothing": np.nan}, "smoothing"),
        ({"smoothing": np.inf}, "smoothing"),
        ({"smoothing": "much"}, "smoothing"),
        ({"priors": [np.nan] * 3}, "sum to 1"),
        ({"priors": "even"}, "sum to 1"),
        ({"variance_floor": 0}, "variance_floor"),
        ({"categorical_features": None}, "from_dtype"),
        ({"categorical_features": 5}, "from_dtype"),
        ({"variances": "shared"}, "variances"),
        ({"priors": [0.5, 0.6, 0.1]}, "sum to 1"),
        ({"priors": [0.5, 0.5]}, "3 probabilities"),
        ({"variance_floor": -1e-3}, "variance_floor"),
        ({"missing": "drop"}, "missing"),
        ({"categorical_features": ["nope"]}, "not a column"),
    ],
)
def test_bad_parameters_are_refused_and_leave_the_model_unfitted(weather, parameters, message):
    model = NaiveBayes(**parameters)
    with pytest.raises(InputError, match=message):
        model.fit(*weather)
    assert not hasattr(model, "classes_")


CELL = st.one_of(
    st.none(),
    st.text(max_size=4),
    st.integers(-(2**40), 2**40),
    st.floats(allow_nan=True, allow_infinity=True),
    st.booleans(),
)


@st.composite
def odd_frames(draw):
    n = draw(st.integers(1, 25))
    names = draw(st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=4, unique=True))
    columns = {}
    for name in names:
        kind = draw(
            st.sampled_from([CELL, st.floats(), st.sampled_from([None, "only"]), st.text(max_size=2)])
        )
        values = draw(st.lists(kind, min_size=n, max_size=n))
        columns[name] = pd.Series(values, dtype=draw(st.sampled_from([None, object, "category"])))
    return pd.DataFrame(columns)


def in_library(X, library):
    if library == "pandas":
        return X
    convert = pl.from_pandas if library == "polars" else pa.Table.from_pandas
    try:
        return convert(X)
    except (TypeError, pa.ArrowInvalid, pa.ArrowTypeError):  # columns of several types have no arrow type
        return X


@pytest.mark.filterwarnings("ignore::seminaive.errors.ColumnsWarning")
@given(odd_frames(), st.data())
def test_any_table_gives_probabilities_or_a_sentence(X, data):
    table = in_library(X, data.draw(st.sampled_from(["pandas", "polars", "pyarrow"])))
    y = data.draw(st.lists(st.integers(0, 2), min_size=len(X), max_size=len(X)))
    settings = {"missing": ["value", "neutral"], "variances": ["pooled", "class"], "smoothing": [0, 1.0]}
    model = NaiveBayes(**{name: data.draw(st.sampled_from(values)) for name, values in settings.items()})
    try:
        model.fit(table, y)
    except (InputError, TypeError) as refusal:
        assert len(str(refusal)) > 20  # noqa: PT017 - a refusal is as good as an answer
        return
    kept = data.draw(st.slices(len(X)))
    positions = pa.array(range(len(X))[kept], pa.int64())
    some = table.take(positions) if isinstance(table, pa.Table) else table[kept]
    for rows in (table, some) if len(range(len(X))[kept]) else (table,):
        proba = model.predict_proba(rows)
        assert np.isfinite(proba).all()
        np.testing.assert_allclose(proba.sum(axis=1), 1, rtol=1e-9)


@pytest.mark.parametrize("value", [2.7, 0.1, 1e8 / 3])
def test_a_constant_number_never_decides(value):
    X, y = np.full((17, 1), value), np.repeat([0, 1], [8, 9])
    proba = NaiveBayes(variances="class").fit(X, y).predict_proba(X[:1])
    np.testing.assert_allclose(proba, [[8 / 17, 9 / 17]])


def test_features_called_like_the_columns_of_contributions_keep_their_part():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 3)), columns=["prior", "row", "class"])
    model = NaiveBayes().fit(X, np.arange(60) % 3)
    parts = model.contributions(X)
    features = ["prior", "feature prior", "feature row", "feature class"]
    assert list(parts.columns) == ["row", "class", *features]
    total = parts[features].sum(axis=1).to_numpy().reshape(60, 3)
    np.testing.assert_allclose(total, model.decision_function(X), atol=1e-12)


def test_thousands_of_categories_and_unicode_names():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {"größe ✓": [f"wert {k}" for k in rng.integers(0, 5000, 20_000)], "": rng.random(20_000)}
    )
    y = rng.integers(0, 2, 20_000)
    assert np.isfinite(NaiveBayes().fit(X, y).predict_proba(X)).all()


@st.composite
def mixed_tables(draw):
    """Return a table of a category and two numbers, its labels and a seed for permutations."""
    n = draw(st.integers(6, 40))
    cells = {
        "c": draw(st.lists(st.sampled_from(["u", "v", "w", None]), min_size=n, max_size=n)),
        "d": draw(st.lists(st.sampled_from(["x", "y"]), min_size=n, max_size=n)),
        "a": draw(st.lists(st.floats(-100, 100), min_size=n, max_size=n)),
        "b": draw(st.lists(st.floats(-1, 1) | st.just(np.nan), min_size=n, max_size=n)),
    }
    cells["c"][0], cells["b"][0] = "u", 0.0  # every column has a value
    labels = np.array(draw(st.lists(st.sampled_from("pqr"), min_size=n, max_size=n)))
    labels[:2] = ["p", "q"]  # and there are two classes
    return pd.DataFrame(cells), labels, draw(st.integers(0, 2**16))


@given(mixed_tables(), st.sampled_from(["pooled", "class"]), st.sampled_from(["value", "neutral"]))
def test_permuting_rows_columns_categories_and_classes_permutes_the_answer(drawn, variances, missing):
    X, y, seed = drawn
    rng = np.random.default_rng(seed)
    model = NaiveBayes(variances=variances, missing=missing)
    expected = model.fit(X, y).predict_log_proba(X)
    rows, columns = rng.permutation(len(y)), rng.permutation(X.columns)
    category = dict(zip("uvw", rng.permutation(list("uvw")), strict=True))
    label = dict(zip("pqr", rng.permutation(list("pqr")), strict=True))
    moved = X.assign(c=X["c"].map(category)).iloc[rows][columns]
    renamed = np.array([label[name] for name in y])[rows]
    order = [sorted(set(renamed)).index(label[name]) for name in model.classes_]
    found = NaiveBayes(variances=variances, missing=missing).fit(moved, renamed).predict_log_proba(moved)
    # Log densities of nearly constant numbers are large: compare relative to them.
    np.testing.assert_allclose(found[:, order], expected[rows], rtol=1e-8, atol=1e-8)


def test_numbers_below_the_smallest_normal_one_give_probabilities():
    X = pd.DataFrame({"tiny": [0.0, 0.0, 5e-324, 0.0, 5e-324, 0.0]})
    assert np.isfinite(NaiveBayes().fit(X, [0, 1, 0, 1, 0, 1]).predict_proba(X)).all()


@pytest.mark.parametrize("variances", ["pooled", "class"])
@pytest.mark.parametrize("unit", [1e-130, 1e-140, 1e-200, 1e-300, 1e-306, 1e100, 1e139])
def test_the_unit_of_a_number_does_not_matter(variances, unit):
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    x = rng.normal(size=(200, 2)) + y[:, None]
    power = 2.0 ** np.floor(np.log2(unit))
    alone = NaiveBayes(variances=variances).fit(x, y)
    scaled = NaiveBayes(variances=variances).fit(x * power, y)
    np.testing.assert_allclose(scaled.predict_log_proba(x * power), alone.predict_log_proba(x), atol=1e-12)
    if unit < 1:
        assert np.isfinite(scaled.predict_proba([[1.0, 1.0], [1e140, -1e140]])).all()


def test_statistics_of_models_of_different_classes_do_not_merge():
    X = [["a"], ["b"]]
    one, other = NaiveBayes().fit(X, ["no", "yes"]), NaiveBayes().fit(X, ["left", "right"])
    with pytest.raises(InputError, match="classes"):
        one.statistics_ + other.statistics_
