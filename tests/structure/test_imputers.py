"""Imputers keep what was observed, draw what was not, in tables of every library, by the seed alone."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.stats import chisquare
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from seminaive import ClassConditionalImputer, MultipleImputer, NaiveBayes
from seminaive.errors import ColumnsWarning, InputError

IMPUTERS = [ClassConditionalImputer(random_state=0), MultipleImputer(2, n_sweeps=3, random_state=0)]
N = 400
LEVEL = 1e-4


@pytest.fixture(params=IMPUTERS, ids=lambda imputer: type(imputer).__name__)
def imputer(request):
    return request.param


@pytest.fixture
def weather():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, N)
    sky = np.where(rng.random(N) < 0.2 + 0.6 * y, "wet", "dry").astype(object)
    grade = np.where(rng.random(N) < 0.8, sky == "wet", rng.random(N) < 0.5).astype(int)
    heat = rng.normal(10 + 5 * y + 3 * grade, 1.0)
    sky[rng.random(N) < 0.3] = None
    grade = pd.array(np.where(rng.random(N) < 0.3, None, grade), dtype="Int64")
    heat[rng.random(N) < 0.3] = np.nan
    return pd.DataFrame({"sky": sky, "grade": grade, "heat": heat, "whole": 3 * np.arange(N)}), y


def pandas_kinds(X):
    sky, grade = X["sky"], X["grade"]
    bins = pd.cut(X["heat"], [-np.inf, 10, 15, np.inf])
    return pd.DataFrame(
        {
            "text": sky.astype("string"),
            "object": sky,
            "category": sky.astype("category"),
            "interval": bins,
            "boolean": grade.astype("boolean"),
            "object flags": grade.astype("boolean").astype(object),
            "nullable": grade,
            "float": X["heat"],
            "whole": X["whole"],
        }
    )


def polars_kinds(X):
    sky = pl.Series([s if isinstance(s, str) else None for s in X["sky"]], dtype=pl.String)
    grade = pl.Series([None if g is pd.NA else int(g) for g in X["grade"]])
    return pl.DataFrame(
        {
            "text": sky,
            "category": sky.cast(pl.Categorical),
            "enum": sky.cast(pl.Enum(["dry", "wet", "snow"])),
            "boolean": grade.cast(pl.Boolean),
            "float": pl.Series([None if np.isnan(h) else h for h in X["heat"]]),
            "whole": pl.Series(X["whole"].to_numpy()),
        }
    )


def arrow_kinds(X):
    table = polars_kinds(X).to_arrow()
    return table.append_column("codes", table["text"].dictionary_encode())


@pytest.mark.parametrize("kinds", [lambda X: X, pandas_kinds, polars_kinds, arrow_kinds])
def test_frames_of_every_library_come_back_complete_with_their_types(imputer, weather, kinds):
    X, y = weather
    table = kinds(X)
    fitted = imputer.fit_transform(table, y)
    assert type(fitted) is type(table)
    for made in (fitted, imputer.transform(table)):
        for before, after in zip(columns_of(table), columns_of(made), strict=True):
            assert not any(missing(after))
            kept = ~np.array(missing(before))
            assert [a for a, k in zip(after, kept, strict=True) if k] == [
                b for b, k in zip(before, kept, strict=True) if k
            ]
    if isinstance(table, pd.DataFrame):
        numbers = {"Int64": "Float64"}
        assert [str(t) for t in fitted.dtypes] == [numbers.get(str(t), str(t)) for t in table.dtypes]
        assert fitted.index.equals(table.index)
    if isinstance(table, pl.DataFrame):
        assert fitted.schema == table.schema


def columns_of(table):
    if isinstance(table, pa.Table):
        return [column.to_pylist() for column in table.columns]
    if isinstance(table, pl.DataFrame):
        return [column.to_list() for column in table]
    return [table[name].tolist() for name in table]


def missing(column):
    return [value is None or value is pd.NA or value != value for value in column]


def test_arrays_and_lists_come_back_complete(imputer, weather):
    X, y = weather
    numbers = np.column_stack([X["heat"], X["grade"].astype(float)])
    made = imputer.fit_transform(numbers, y)
    assert made.dtype == np.float64
    assert np.array_equal(made[~np.isnan(numbers)], numbers[~np.isnan(numbers)])
    assert not np.isnan(made).any()
    objects = X[["sky", "whole"]].to_numpy()
    assert imputer.fit_transform(objects, y).dtype == object
    rows = [[s, None if np.isnan(h) else h] for s, h in zip(X["sky"], X["heat"], strict=True)]
    made = imputer.fit_transform(rows, y)
    assert made.shape == (N, 2)
    assert not any(cell is None or cell != cell for cell in made.ravel())


def test_the_frame_that_was_given_is_not_changed(imputer, weather):
    X, y = weather
    before = X.copy()
    imputer.fit(X, y).transform(X)
    pd.testing.assert_frame_equal(X, before)


def test_the_seed_alone_decides(imputer, weather):
    X, y = weather
    first, again = imputer.fit(X, y).transform(X), imputer.fit(X, y).transform(X)
    pd.testing.assert_frame_equal(first, again)
    pd.testing.assert_frame_equal(first, imputer.transform(X))
    pd.testing.assert_frame_equal(first, pickle.loads(pickle.dumps(imputer)).transform(X))  # noqa: S301
    other = type(imputer)(random_state=1).fit(X, y).transform(X)
    assert not first.equals(other)


def test_a_whole_table_stays_as_it_is(imputer, weather):
    X, y = weather
    whole = imputer.fit_transform(X, y)
    pd.testing.assert_frame_equal(imputer.fit_transform(whole, y), whole)
    pd.testing.assert_frame_equal(imputer.transform(whole), whole)


def test_unseen_categories_stay_and_columns_without_values_stay_missing(imputer, weather):
    X, y = weather
    X = X.assign(empty=np.nan)
    later = X[:3].assign(sky=["snow", None, "wet"])
    with pytest.warns(ColumnsWarning, match="columns without a value stay missing.*'empty'"):
        imputer.fit(X, y)
    made = imputer.transform(later)
    assert made["sky"].iloc[0] == "snow"
    assert made["sky"].iloc[1] in ("dry", "wet")
    assert made["empty"].isna().all()


def test_names_come_out_as_they_went_in(imputer, weather):
    X, y = weather
    imputer.fit(X, y)
    assert imputer.get_feature_names_out().tolist() == list(X)
    assert imputer.n_features_in_ == 4
    with pytest.raises(ValueError, match="lacks 'sky'"):
        imputer.transform(X[["heat", "grade", "whole"]])
    with pytest.raises(NotFittedError):
        type(imputer)().transform(X)


def test_pipelines_with_classifiers_that_know_no_missing_cells(imputer, weather):
    X, y = weather
    numbers = X[["heat"]].assign(grade=X["grade"].astype(float))
    scores = cross_val_score(make_pipeline(imputer, LogisticRegression()), numbers, y, cv=3)
    assert scores.mean() > 0.8
    assert make_pipeline(imputer, NaiveBayes()).fit(X, y).score(X, y) > 0.8


def test_training_rows_know_their_class_and_rows_to_be_predicted_do_not():
    """The column tells nothing but the class: without the label its cells follow the mixture."""
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 8000)
    X = pd.DataFrame({"flag": np.where(rng.random(8000) < np.where(y == 1, 0.9, 0.2), "y", "n")})
    hidden = X.mask(pd.DataFrame({"flag": rng.random(8000) < 0.5}))
    lost = hidden["flag"].isna().to_numpy()
    for imputer in (ClassConditionalImputer(random_state=3), MultipleImputer(1, random_state=3)):
        given = (imputer.fit_transform(hidden, y)["flag"] == "y").to_numpy()
        alone = (imputer.transform(hidden)["flag"] == "y").to_numpy()
        for label, share in ((1, 0.9), (0, 0.2)):
            of_class = lost & (y == label)
            # 2,000 observed and 2,000 drawn cells of each class: four standard errors of a difference.
            error = 4 * np.sqrt(2 * 0.25 / 2000)
            assert given[of_class].mean() == pytest.approx(share, abs=error)
            assert alone[of_class].mean() == pytest.approx(0.55, abs=error)


def test_class_conditional_draws_use_the_other_cells_of_a_row_to_be_predicted():
    """P(a | b) of naive Bayes with two equal columns, by chi-square."""
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 6000)
    cells = rng.random((6000, 2)) < np.where(y == 1, 0.8, 0.2)[:, None]
    X = pd.DataFrame(np.where(cells, "y", "n"), columns=["a", "b"])
    imputer = ClassConditionalImputer(random_state=0).fit(X, y)
    counts = imputer.statistics_.counts
    for b in ("y", "n"):
        rows = pd.DataFrame({"a": pd.Series([None] * 4000, dtype=object), "b": [b] * 4000})
        found = (imputer.transform(rows)["a"] == "y").sum()
        code = int(b == "y")
        like = (counts.joint(1)[code] + 1) / (counts.joint(1).sum(axis=0) + 2)
        posterior = like * imputer.statistics_.class_weight
        share = posterior / posterior.sum() @ (counts.joint(0)[1] / counts.joint(0).sum(axis=0))
        assert chisquare([found, 4000 - found], [4000 * share, 4000 * (1 - share)]).pvalue > LEVEL


def test_completions_are_several_and_reproducible(weather):
    X, y = weather
    imputer = MultipleImputer(3, random_state=0).fit(X, y)
    tables = list(imputer.completions(X, y))
    assert len(tables) == 3
    assert not tables[0].equals(tables[1])
    for table, again in zip(tables, imputer.completions(X, y), strict=True):
        pd.testing.assert_frame_equal(table, again)
    pd.testing.assert_frame_equal(imputer.fit_transform(X, y), tables[0])
    pd.testing.assert_frame_equal(imputer.transform(X), next(imputer.completions(X)))


def test_without_labels_the_other_columns_still_count(weather):
    X, _ = weather
    imputer = MultipleImputer(1, random_state=0)
    heat = imputer.fit_transform(X)["heat"]
    lost = X["heat"].isna() & X["grade"].notna()
    assert np.corrcoef(heat[lost], X["grade"][lost].astype(float))[0, 1] > 0.3
    with pytest.raises(InputError, match="fitted without labels"):
        imputer.completions(X, np.zeros(N))


def test_labels_that_training_did_not_have_count_as_unknown(weather):
    X, y = weather
    imputer = MultipleImputer(1, n_sweeps=2, random_state=0).fit(X, y)
    table = next(imputer.completions(X, np.full(N, 7)))
    assert not table.isna().any(axis=None)


class Constant(BaseEstimator):
    """A source that fills in one value."""

    def fit(self, X):
        self.names_ = list(X)
        return self

    def draw_missing_cells(self, X, n_draws, random_state):  # noqa: ARG002
        return [X.fillna({"sky": f"draw {d}"}) for d in range(n_draws)]


def test_a_source_draws_instead_of_the_chain(weather):
    X, y = weather
    imputer = MultipleImputer(2, source=FrozenEstimator(Constant().fit(X))).fit(X, y)
    drawn = [table["sky"][X["sky"].isna()].unique().tolist() for table in imputer.completions(X)]
    assert drawn == [["draw 0"], ["draw 1"]]
    assert not imputer.knows_labels
    with pytest.raises(InputError, match="takes no labels"):
        imputer.completions(X, y)
    with pytest.raises(InputError, match="draw_missing_cells"):
        MultipleImputer(source=NaiveBayes().fit(X, y)).fit(X, y)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (MultipleImputer(0), "n_imputations is a number of completions"),
        (MultipleImputer(n_sweeps=0), "n_sweeps is a number of sweeps"),
        (ClassConditionalImputer(smoothing=-1), "smoothing is a number of rows"),
    ],
)
def test_parameters_are_checked(model, words, weather):
    with pytest.raises(InputError, match=words):
        model.fit(*weather)


def test_mistakes_are_told(imputer, weather):
    X, y = weather
    with pytest.raises(InputError, match="rows and y has"):
        imputer.fit(X, y[:-1])


def test_rows_of_weight_zero_do_not_exist(imputer, weather):
    X, y = weather
    weight = (np.arange(N) % 4 > 0).astype(float)
    some = imputer.fit(X, y, sample_weight=weight).transform(X)
    pd.testing.assert_frame_equal(some, imputer.fit(X[weight > 0], y[weight > 0]).transform(X))
