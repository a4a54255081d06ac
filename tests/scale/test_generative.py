import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.base import clone

from seminaive import load_model, save_model, scale
from seminaive.models import (
    AveragedDependenceEstimators,
    AveragedJoinEstimators,
    GroupRegularizedNaiveBayes,
    NaiveBayes,
    TreeAugmentedNaiveBayes,
    WeightedNaiveBayes,
)

MODELS = {
    "naive Bayes": NaiveBayes(),
    "class variances": NaiveBayes(variances="class", missing="neutral"),
    "weighted": WeightedNaiveBayes(bins=6),
    "weighted, numbers": WeightedNaiveBayes(),
    "group": GroupRegularizedNaiveBayes(strengths=12, criterion="aic"),
    "AnJE": AveragedJoinEstimators(order=2),
    "AnDE": AveragedDependenceEstimators(order=1),
    "TAN": TreeAugmentedNaiveBayes(),
}


def features(frame):
    return frame.drop(columns=[name for name in ("outcome", "weight", "id") if name in frame])


def same_answers(model, expected, X):
    assert model.schema_ == expected.schema_
    assert model.classes_.dtype == expected.classes_.dtype
    np.testing.assert_array_equal(model.classes_, expected.classes_)
    np.testing.assert_array_equal(model.predict_log_proba(X), expected.predict_log_proba(X))


@pytest.mark.parametrize("name", MODELS)
def test_any_partitioning_gives_bitwise_the_scores_of_a_fit_in_memory(name, mixed, tmp_path, write_parts):
    rng = np.random.default_rng(5)
    expected = clone(MODELS[name]).fit(features(mixed), mixed["outcome"])
    for n_parts in (1, 9, 50):
        shuffled = mixed.iloc[rng.permutation(len(mixed))]
        folder = write_parts(shuffled, tmp_path / str(n_parts), n_parts, rng, row_group_size=200)
        model = clone(MODELS[name])
        runner = scale.LocalRunner(1 + n_parts % 2)
        assert scale.fit(model, scale.from_parquet(folder, target="outcome"), runner=runner) is model
        same_answers(model, expected, features(mixed))
        np.testing.assert_array_equal(
            model.summary_.cells.counts.counts, expected.summary_.cells.counts.counts
        )
        report, known = model.columns_report_, expected.columns_report_
        for column in ("column", "kind", "levels", "missing"):
            assert report[column].tolist() == known[column].tolist()


@pytest.mark.parametrize("name", ["naive Bayes", "TAN", "group"])
def test_whole_weights_equal_repeated_rows_and_weight_zero_equals_none(name, mixed, tmp_path, write_parts):
    rng = np.random.default_rng(2)
    mixed["weight"] = rng.integers(0, 4, len(mixed))
    # A category and a class that exist in rows of weight zero only.
    mixed.loc[mixed["weight"] == 0, "sky"] = "never"
    mixed.loc[mixed["weight"] == 0, "outcome"] = "none"
    folder = write_parts(mixed, tmp_path / "parts", 7, rng)
    model = scale.fit(clone(MODELS[name]), scale.from_parquet(folder, target="outcome", weight="weight"))
    repeated = mixed.iloc[np.repeat(np.arange(len(mixed)), mixed["weight"])]
    expected = clone(MODELS[name]).fit(features(repeated), repeated["outcome"])
    same_answers(model, expected, features(repeated))


@pytest.mark.parametrize("name", ["naive Bayes", "TAN", "group"])
@pytest.mark.parametrize("class_weight", ["balanced", {"low": 3.0}])
def test_class_weights_are_those_of_a_fit_in_memory(name, class_weight, mixed, tmp_path, write_parts):
    folder = write_parts(mixed, tmp_path / "parts", 5, np.random.default_rng(0))
    model = clone(MODELS[name]).set_params(class_weight=class_weight)
    expected = clone(model).fit(features(mixed), mixed["outcome"])
    scale.fit(model, scale.from_parquet(folder, target="outcome"))
    X = features(mixed)
    # Weights that are no whole numbers are added in double precision, in another order.
    np.testing.assert_allclose(model.predict_log_proba(X), expected.predict_log_proba(X), atol=1e-10)


@pytest.mark.parametrize("labels", ["text", "whole numbers", "booleans", "categories"])
def test_labels_of_every_type_are_classes_as_in_memory(labels, mixed, tmp_path, write_parts):
    made = {
        "text": mixed["outcome"],
        "whole numbers": (mixed["outcome"] == "low").astype("int16") + 3,
        "booleans": mixed["outcome"] == "low",
        "categories": mixed["outcome"].astype("category").cat.add_categories("unused"),
    }[labels]
    mixed["outcome"] = made
    folder = write_parts(mixed, tmp_path / "parts", 4, np.random.default_rng(0))
    model = scale.fit(NaiveBayes(), scale.from_parquet(folder, target="outcome"))
    expected = NaiveBayes().fit(features(mixed), made)
    assert model.classes_.tolist() == expected.classes_.tolist()
    assert model.predict(features(mixed)).tolist() == expected.predict(features(mixed)).tolist()


def test_batches_of_several_libraries_and_functions_give_the_same_model(mixed):
    pl = pytest.importorskip("polars")
    parts = [mixed[:1000], mixed[1000:1500], mixed[1500:]]

    def later():
        yield parts[1][:100]
        yield parts[1][100:]

    data = scale.from_batches(
        [pa.Table.from_pandas(parts[0], preserve_index=False), later, pl.from_pandas(parts[2])],
        target="outcome",
    )
    expected = AveragedJoinEstimators().fit(features(mixed), mixed["outcome"])
    same_answers(scale.fit(AveragedJoinEstimators(), data), expected, features(mixed))


def test_a_class_or_a_value_that_only_one_partition_has_is_known(tmp_path, mixed_rows, write_parts):
    frame = mixed_rows(900, n_classes=3).sort_values("outcome")
    frame.loc[frame["outcome"] == "top", "sky"] = "storm"
    folder = write_parts(frame, tmp_path / "parts", 6, np.random.default_rng(3))
    for name in ("naive Bayes", "TAN"):
        expected = clone(MODELS[name]).fit(features(frame), frame["outcome"])
        model = scale.fit(clone(MODELS[name]), scale.from_parquet(folder, target="outcome"))
        same_answers(model, expected, features(frame))


def test_a_column_without_values_in_some_partitions_has_the_type_of_the_others(mixed, tmp_path):
    mixed.loc[:999, "place"] = None
    mixed.loc[:999, "age"] = np.nan
    mixed["nothing"] = None
    folder = tmp_path / "parts"
    folder.mkdir()
    mixed[:1000].to_parquet(folder / "a.parquet")
    mixed[1000:].to_parquet(folder / "b.parquet")
    with pytest.warns(UserWarning, match="'nothing' has no value"):
        model = scale.fit(NaiveBayes(), scale.from_parquet(folder, target="outcome"))
    with pytest.warns(UserWarning, match="'nothing' has no value"):
        expected = NaiveBayes().fit(features(mixed), mixed["outcome"])
    same_answers(model, expected, features(mixed))


def test_a_file_may_have_columns_of_type_null(mixed, tmp_path):
    mixed.loc[:999, "place"] = None
    mixed.loc[:999, "age"] = np.nan
    expected = NaiveBayes().fit(features(mixed), mixed["outcome"])
    folder = tmp_path / "parts"
    folder.mkdir()
    empty = pa.Table.from_pandas(mixed[:1000], preserve_index=False)
    for name in ("place", "age"):
        empty = empty.set_column(empty.column_names.index(name), name, pa.nulls(1000))
    pq.write_table(empty, folder / "a.parquet")
    mixed[1000:].to_parquet(folder / "b.parquet", index=False)
    model = scale.fit(NaiveBayes(), scale.from_parquet(folder, target="outcome"))
    same_answers(model, expected, features(mixed))


def test_the_most_frequent_categories_are_kept_and_the_others_are_unseen(mixed):
    data = scale.from_batches([mixed[:1700], mixed[1700:]], target="outcome")
    model = scale.fit(NaiveBayes(missing="neutral"), data, max_categories=2)
    columns = {column.name: column for column in model.schema_.columns}
    assert columns["sky"].categories == ("dry", "wet")
    frequent = mixed["place"].value_counts()
    assert columns["place"].categories == tuple(
        sorted(sorted(frequent.index, key=lambda v: (-frequent[v], v))[:2])
    )
    row = features(mixed)[:1].assign(sky="fog")
    other = row.assign(sky="never seen")
    np.testing.assert_array_equal(model.predict_proba(row), model.predict_proba(other))


def test_the_fitted_model_is_an_ordinary_one(mixed, tmp_path):
    data = scale.from_batches([mixed[:1700], mixed[1700:]], target="outcome")
    model = scale.fit(TreeAugmentedNaiveBayes(), data)
    save_model(model, tmp_path / "model")
    same_answers(load_model(tmp_path / "model"), model, features(mixed))
    streamed = scale.fit(NaiveBayes(), data).partial_fit(features(mixed), mixed["outcome"])
    assert streamed.statistics_.class_weight.sum() == 2 * len(mixed)
    assert list(model.feature_names_in_) == list(features(mixed).columns)
