"""What every classifier takes besides its own parameters: class weights, progress, a report of columns."""

import inspect
import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone

import seminaive
from seminaive.errors import ColumnsWarning, InputError
from seminaive.models.fit_progress import progress_of

SHARED = {
    "categorical_features": "from_dtype",
    "missing": "value",
    "class_weight": None,
    "keep_summary": True,
    "verbose": False,
}
# A network draws and sums out missing cells; a value of its own for them is the exception there.
OTHER_DEFAULTS = {"SparseBayesianNetwork": {"missing": "neutral"}}

# What is shared does not depend on how long a network searches.
SHORT_SEARCHES = {"SparseBayesianNetwork": {"strengths": [0.1, 0.03, 0.01]}}

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture
def model(classifier):
    return classifier(**SHORT_SEARCHES.get(classifier.__name__, {}))


def test_every_classifier_takes_and_documents_the_shared_parameters(model):
    parameters = inspect.signature(type(model)).parameters
    expected = SHARED | OTHER_DEFAULTS.get(type(model).__name__, {})
    assert {name: parameters[name].default for name in SHARED} == expected
    for name in ("class_weight", "keep_summary", "verbose", "columns_report_"):
        assert f"    {name} : " in type(model).__doc__


@pytest.mark.parametrize("name", [name for name in seminaive.__all__ if name[0].isupper()])
def test_docstrings_list_the_parameters_that_there_are(name):
    after = inspect.getdoc(getattr(seminaive, name)).partition("Parameters\n---")[2]
    heads = re.findall(r"^([\w, ]+) : ", re.split(r"\n\w+\n---", after)[0], re.MULTILINE)
    listed = [name for head in heads for name in head.split(", ")]
    assert sorted(listed) == sorted(inspect.signature(getattr(seminaive, name)).parameters)


# Class weights


def test_class_weights_multiply_the_weights_of_their_rows(model, weather):
    X, y = weather
    # Whole numbers would be questioned: they may count rows.
    row_weight = np.random.default_rng(0).uniform(0.5, 3.0, len(y))
    by_class = {"sun": 0.25, "hail": 4.0}
    mapped = clone(model).set_params(class_weight=by_class).fit(X, y, sample_weight=row_weight)
    weighed = clone(model).fit(X, y, sample_weight=row_weight * [by_class.get(label, 1.0) for label in y])
    assert (mapped.predict_proba(X) == weighed.predict_proba(X)).all()
    assert (
        mapped.predict_proba(X) != clone(model).fit(X, y, sample_weight=row_weight).predict_proba(X)
    ).any()


def test_balanced_classes_have_equal_weights_with_the_same_sum(model, weather):
    X, y = weather
    rare = np.flatnonzero((y != "hail") | (np.arange(len(y)) % 5 == 0))
    X, y = X.iloc[rare], y[rare]
    # Sums of halves are exact: the last bit of a weight may move a cut point, and with it a network.
    row_weight = np.random.default_rng(0).integers(1, 4, len(y)) + 0.5
    totals = {label: row_weight[y == label].sum() for label in np.unique(y)}
    weights = {label: row_weight.sum() / (3 * total) for label, total in totals.items()}
    balanced = clone(model).set_params(class_weight="balanced").fit(X, y, sample_weight=row_weight)
    expected = clone(model).set_params(class_weight=weights).fit(X, y, sample_weight=row_weight)
    np.testing.assert_allclose(balanced.predict_proba(X), expected.predict_proba(X), atol=1e-6)


@pytest.mark.parametrize(
    ("class_weight", "message"),
    [
        ({"fog": 2.0}, r"names \['fog'\], not among the classes \['hail', 'rain', 'sun'\]"),
        ({"sun": 0}, "'sun' the weight 0: weights of classes are positive"),
        ({"sun": -1.0}, "weights of classes are positive"),
        ({"sun": np.nan}, "weights of classes are positive"),
        ({"sun": "much"}, "weights of classes are positive"),
        ({"sun": 1e16}, "1e.15 is the most"),
        ({"sun": 1e-101}, "1e-100 is the least"),
        ("even", "None, 'balanced' or a mapping"),
        ([1.0, 2.0, 3.0], "None, 'balanced' or a mapping"),
    ],
)
def test_strange_class_weights_are_refused_with_a_sentence(model, weather, class_weight, message):
    with pytest.raises(InputError, match=message):
        model.set_params(class_weight=class_weight).fit(*weather)


def test_a_chunk_cannot_be_balanced_but_weighted_by_class(model, weather):
    if not hasattr(model, "partial_fit"):
        pytest.skip("no streams")
    X, y = weather
    classes = np.unique(y)
    with pytest.raises(InputError, match="needs all rows at once"):
        clone(model).set_params(class_weight="balanced").partial_fit(X, y, classes=classes)
    mapping = {"sun": 3.0}
    stream = clone(model).set_params(class_weight=mapping).partial_fit(X, y, classes=classes)
    weighed = clone(model).partial_fit(X, y, classes=classes, sample_weight=np.where(y == "sun", 3.0, 1.0))
    assert (stream.predict_proba(X) == weighed.predict_proba(X)).all()


# Progress


def test_a_fit_is_silent_unless_asked(model, weather, capsys):
    model.fit(*weather)
    printed = capsys.readouterr()
    assert printed.out + printed.err == ""


@pytest.mark.parametrize("name", ["NaiveBayes", "AveragedJoinEstimators", "AveragedDependenceEstimators"])
def test_a_verbose_fit_tells_its_passes_on_standard_error(weather, name, capsys):
    getattr(seminaive, name)(verbose=True).fit(*weather)
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"{name}: passes over the rows 1/2: encoded\n")
    assert printed.err.endswith(f"{name}: passes over the rows 2/2: counted\n")


def test_progress_counts_pieces_and_shows_the_last(capsys):
    with progress_of(seminaive.NaiveBayes(verbose=1), "folds", 3) as step:
        step.say("three folds of 100 rows")
        for loss in (0.5, 0.4, 0.3):
            step(f"loss {loss}")
    assert capsys.readouterr().err == (
        "NaiveBayes: three folds of 100 rows\n"
        "NaiveBayes: folds 1/3: loss 0.5\nNaiveBayes: folds 3/3: loss 0.3\n"
    )


def test_progress_on_a_terminal_is_a_bar_that_goes_away(monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    with progress_of(seminaive.NaiveBayes(verbose=True), "trials") as step:
        step("loss [0.3]", n=2)
        step.say("done")
    assert "done" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["verbose", "keep_summary"])
def test_strange_flags_are_refused(model, weather, name):
    with pytest.raises(InputError, match=f"{name} is True"):
        model.set_params(**{name: "yes"}).fit(*weather)


# The report of the columns


def test_every_model_reports_how_it_read_the_columns(model, weather):
    X, y = weather
    report = model.set_params(missing="value").fit(X, y).columns_report_.set_index("column")
    assert list(report.index) == list(X.columns)
    assert report["kind"].tolist() == ["categorical"] * 2 + ["numeric", "categorical", "numeric"]
    assert report["missing"].tolist() == X.isna().sum().tolist()
    assert report.loc[["sky", "wind", "weekend"], "levels"].tolist() == [4, 2, 2]
    assert report.loc["wind", "read_as"] == "category as categories"
    assert report.loc["temperature", "read_as"].startswith("float64 as numbers")


def test_chunks_add_up_in_the_report(weather):
    X, y = weather
    model = seminaive.NaiveBayes()
    for start in range(0, len(y), 100):
        model.partial_fit(X[start : start + 100], y[start : start + 100])
    whole = seminaive.NaiveBayes().fit(X, y)
    pd.testing.assert_frame_equal(model.columns_report_, whole.columns_report_)


N = 200
NUMBERS = [f"{k * 1.5:g}" for k in range(N)]


def some(*odd):
    return [*odd, *NUMBERS[len(odd) :]]


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (some("NA", "?"), r"'c' holds numbers as text, and 2 cells that are none .* missing: 'NA', '\?'"),
        (some("NA", "?", "-"), r"'c' holds numbers as text beside 'NA', '\?', '-', and .*to_numeric"),
        (
            [f"2024/{k % 12 + 1:02}/{k % 28 + 1:02}" for k in range(N)],
            "'c' holds dates as text, such as '2024/01",
        ),
        ([f"{k % 28 + 1}.{k % 12 + 1}.24 12:30" for k in range(N)], "'c' holds dates as text"),
        ([f"customer {k}" for k in range(N)], "'c' has 200 values in 200 rows.*drop it"),
        (pd.Categorical([f"customer {k}" for k in range(N)]), "'c' has 200 values in 200 rows"),
        ([f"customer {k % 150}" for k in range(N)], "'c' has 150 categories in 200 rows.*group rare values"),
        (np.arange(5, N + 5), "'c' numbers the rows, from 5 to 204.*drop it if it identifies rows"),
        (491_700_000_000 + 977 * np.arange(N), "'c' holds whole numbers of 12 and more digits"),
        (["Yes", "yes", "no "] * 66 + ["no"] * 2, "'c' tells 'Yes' and 'yes'; 'no' and 'no ' apart"),
        ([f"{k} kg" if k % 2 else f"{k} g" for k in range(N)], "numbers in different units"),
        (
            [f"{k % 40} kg" if k % 2 else f"{k % 40} g" for k in range(N)],
            "different units, .*'kg'",
        ),
    ],
)
@pytest.mark.parametrize("convert", [lambda X: X, pl.from_pandas], ids=["pandas", "polars"])
def test_what_is_probably_a_mistake_is_told_once_with_the_remedy(convert, cells, message):
    X = convert(pd.DataFrame({"c": cells, "d": ["a", "b"] * (N // 2)}))
    if isinstance(X, pl.DataFrame) and X["c"].dtype == pl.Float64:
        pytest.skip("polars has read the numbers")
    y = np.arange(N) // 2 % 2
    with pytest.warns(ColumnsWarning, match=message) as warned:
        seminaive.NaiveBayes().fit(X, y)
    assert len(warned) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        seminaive.NaiveBayes(categorical_features=["c", "d"]).fit(X, y)  # whoever lists them means it


@pytest.mark.parametrize(
    "cells",
    [
        ["0", "1"] * (N // 2),
        [str(k % 12) for k in range(N)],
        [f"group {k % 90}" for k in range(N)],
        pd.Categorical([str(k % 90) for k in range(N)]),
        [k % 7 == 0 for k in range(N)],
        np.arange(N) * 3,
        np.linspace(0, 1, N),
        NUMBERS,
        np.array([float(n) for n in NUMBERS], object),
        [f"${n}" for n in NUMBERS],
    ],
)
def test_ordinary_columns_are_not_talked_about(cells):
    seminaive.NaiveBayes().fit(pd.DataFrame({"c": cells}), np.arange(N) % 2)


def test_a_stream_warns_in_its_first_chunk_only():
    X = pd.DataFrame({"c": some("NA", "?"), "d": ["a", "b"] * (N // 2)})
    y = np.arange(N) % 2
    with pytest.warns(ColumnsWarning, match="holds numbers as text"):
        model = seminaive.NaiveBayes().partial_fit(X, y)
    model.partial_fit(X, y)


@pytest.mark.parametrize("missing", ["value", "neutral"])
@pytest.mark.parametrize("empty", [None, np.nan], ids=["text", "number"])
def test_a_column_without_values_warns_and_carries_no_evidence(model, weather, missing, empty):
    X, y = weather
    model.set_params(missing=missing)
    filled = X.assign(
        none=pd.Series([empty] * len(X), dtype=object if empty is None else float, index=X.index)
    )
    with pytest.warns(ColumnsWarning, match="'none' has no value, .*drop it"):
        model.fit(filled, y)
    later = filled.assign(none="something" if empty is None else 3.0)
    proba = model.predict_proba(filled)
    assert np.isfinite(proba).all()
    np.testing.assert_allclose(model.predict_proba(later), proba, atol=1e-12)
    np.testing.assert_allclose(model.predict_proba(later[:1]), proba[:1], atol=1e-12)
    np.testing.assert_array_equal(proba, clone(model).fit(X, y).predict_proba(X))
    report = model.columns_report_.iloc[-1]
    assert report.tolist()[:4] == ["none", "empty", 0, len(X)]


def test_a_table_without_any_value_is_refused(model):
    with pytest.raises(InputError, match="no column has any value"):
        model.fit(np.full((4, 2), np.nan), [0, 1, 0, 1])


def test_one_class_is_named_as_the_user_wrote_it(model, weather):
    X, y = weather
    with pytest.raises(InputError, match=r"every training row is 'sun'\."):
        model.fit(X, np.repeat("sun", len(y)))
