import tempfile

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.naive_bayes import GaussianNB

from seminaive import scale
from seminaive.errors import InputError, TableTypeError, TooLargeError
from seminaive.models import HigherOrderLogisticRegression, NaiveBayes, TreeAugmentedNaiveBayes
from seminaive.scale import partitions, survey

MODELS = [NaiveBayes(), TreeAugmentedNaiveBayes(), HigherOrderLogisticRegression(1)]


@pytest.fixture
def folder(mixed, tmp_path):
    made = tmp_path / "rows"
    made.mkdir()
    mixed[:1000].to_parquet(made / "a.parquet", index=False)
    mixed[1000:2000].to_parquet(made / "b.parquet", index=False)
    mixed[2000:].to_parquet(made / "c.parquet", index=False)
    return made


def refuse(folder, match, error=InputError):
    for model in MODELS:
        with pytest.raises(error, match=match):
            scale.fit(model, scale.from_parquet(folder, target="outcome"))
        assert not hasattr(model, "classes_")


def test_other_columns_in_a_file_are_refused_before_anything_is_read(mixed, folder, monkeypatch):
    monkeypatch.setattr(partitions.ParquetPartition, "tables", None)
    mixed.drop(columns="sky").to_parquet(folder / "b.parquet")
    refuse(folder, r"b.parquet' lacks \['sky'\], compared with '.*a.parquet'")
    mixed.assign(more=1).to_parquet(folder / "b.parquet")
    refuse(folder, r"b.parquet' has \['more'\] besides")


def test_other_types_in_a_file_are_refused_before_anything_is_read(mixed, folder, monkeypatch):
    monkeypatch.setattr(partitions.ParquetPartition, "tables", None)
    mixed.assign(height=mixed["height"].astype(str)).to_parquet(folder / "c.parquet")
    refuse(folder, "column 'height' is string in '.*c.parquet' and double in '.*a.parquet'")


def test_a_damaged_file_is_named(folder):
    content = (folder / "b.parquet").read_bytes()
    (folder / "b.parquet").write_bytes(content[: len(content) // 2])
    with pytest.raises(InputError, match=r"b.parquet' cannot be read as a Parquet file"):
        scale.from_parquet(folder, target="outcome")
    damaged = bytearray(content)
    damaged[200:1500] = bytes(1300)  # pages; the footer is whole
    (folder / "b.parquet").write_bytes(damaged)
    refuse(folder, r"b.parquet' cannot be read as a Parquet file")


def test_the_order_of_columns_in_a_file_does_not_matter(mixed, folder):
    expected = scale.fit(NaiveBayes(), scale.from_parquet(folder, target="outcome"))
    mixed[1000:2000][mixed.columns[::-1]].to_parquet(folder / "b.parquet", index=False)
    model = scale.fit(NaiveBayes(), scale.from_parquet(folder, target="outcome"))
    np.testing.assert_array_equal(model.scores_.tables, expected.scores_.tables)


def test_empty_files_and_partitions_count_for_nothing(mixed, folder):
    expected = scale.fit(TreeAugmentedNaiveBayes(), scale.from_parquet(folder, target="outcome"))
    mixed[:0].to_parquet(folder / "aa.parquet", index=False)
    (folder / "_SUCCESS").touch()
    (folder / ".hidden.parquet").touch()
    model = scale.fit(TreeAugmentedNaiveBayes(), scale.from_parquet(folder, target="outcome"))
    np.testing.assert_array_equal(model.scores_.tables, expected.scores_.tables)
    passes = scale.fit(HigherOrderLogisticRegression(1), scale.from_parquet(folder, target="outcome"))
    assert passes.scores_.tables.any()


def test_row_groups_are_partitions_of_about_equal_rows(mixed, tmp_path, monkeypatch):
    monkeypatch.setattr(partitions, "ROWS_OF_A_PARTITION", 500)
    pq.write_table(pa.Table.from_pandas(mixed), tmp_path / "rows.parquet", row_group_size=200)
    data = scale.from_parquet(tmp_path / "rows.parquet", target="outcome")
    assert [partition.row_groups for partition in data.partitions][:3] == [(0, 1), (2, 3), (4, 5)]
    read = [piece.num_rows for partition in data.partitions for piece in partition.tables(["sky"])]
    assert sum(read) == len(mixed)


def test_what_is_wrong_with_a_source_is_said(mixed, folder, tmp_path):
    with pytest.raises(InputError, match="there is no file or folder"):
        scale.from_parquet(tmp_path / "none")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"no .parquet file in the folder"):
        scale.from_parquet(tmp_path / "empty")
    with pytest.raises(InputError, match="the list of Parquet files is empty"):
        scale.from_parquet([])
    with pytest.raises(InputError, match="there is no batch"):
        scale.from_batches([])
    with pytest.raises(InputError, match="there is no column 'what': the table has"):
        scale.fit(NaiveBayes(), scale.from_parquet(folder, target="what"))
    with pytest.raises(InputError, match="name it in target"):
        scale.fit(NaiveBayes(), scale.from_parquet(folder))
    with pytest.raises(InputError, match=r"data is what scale\.from_parquet"):
        scale.fit(NaiveBayes(), mixed)
    with pytest.raises(InputError, match="max_categories is None or a whole number"):
        scale.fit(NaiveBayes(), scale.from_parquet(folder, target="outcome"), max_categories=0)
    with pytest.raises(TableTypeError, match="a batch is a pandas, polars or pyarrow frame, got list"):
        scale.fit(NaiveBayes(), scale.from_batches([[1, 2]], target="outcome"))
    with pytest.raises(InputError, match="one class only"):
        scale.fit(NaiveBayes(), scale.from_batches([mixed.assign(outcome="a")], target="outcome"))
    with pytest.raises(InputError, match="no partition has any row"):
        scale.fit(NaiveBayes(), scale.from_batches([mixed[:0]], target="outcome"))
    none = mixed.assign(weight=0.0)
    with pytest.raises(InputError, match="no partition has any row of positive weight"):
        scale.fit(NaiveBayes(), scale.from_batches([none], target="outcome", weight="weight"))
    gaps = mixed.assign(outcome=mixed["outcome"].where(mixed["flag"], None))
    with pytest.raises(InputError, match="y contains NaN or None"):
        scale.fit(NaiveBayes(), scale.from_batches([gaps], target="outcome"))


def test_what_is_no_source_no_runner_and_no_model_is_said(mixed, tmp_path):
    data = scale.from_batches([mixed], target="outcome")
    with pytest.raises(InputError, match="got one DataFrame: pass it in a list"):
        scale.from_batches(mixed)
    with pytest.raises(InputError, match=r"a dask.dataframe.DataFrame, got pandas.DataFrame: pass"):
        scale.from_dask(mixed)
    with pytest.raises(InputError, match=r"runner is a scale.LocalRunner or a scale.DaskRunner, got str"):
        scale.fit(NaiveBayes(), data, runner="dask")
    with pytest.raises(InputError, match="n_jobs is None or a number of threads"):
        scale.LocalRunner("all")
    with pytest.raises(InputError, match="model is a classifier of this package, got GaussianNB"):
        scale.fit(GaussianNB(), data)
    twice = pa.table([[1, 2], [3, 4], ["a", "b"]], names=["x", "x", "outcome"])
    with pytest.raises(InputError, match="'batch 0' has several columns named 'x'"):
        scale.fit(NaiveBayes(), scale.from_batches([twice], target="outcome"))
    with pytest.raises(InputError, match=r"two columns of a batch have the same name .*'sky'"):
        scale.fit(
            NaiveBayes(), scale.from_batches([pd.concat([mixed, mixed[["sky"]]], axis=1)], target="outcome")
        )
    with pytest.raises(InputError, match="the weights of rows are numbers, and column 'sky' is string"):
        scale.fit(NaiveBayes(), scale.from_batches([mixed], target="outcome", weight="sky"))
    mixed.to_csv(tmp_path / "rows.csv")
    with pytest.raises(InputError, match="A CSV file is named itself"):
        scale.from_parquet(tmp_path)


def test_folders_that_name_a_column_give_it_to_their_files(mixed, tmp_path):
    frame = mixed.sort_values("sky", ignore_index=True)
    frame["sky"] = frame["sky"].where(frame["sky"] != "fog", None)
    frame.to_parquet(tmp_path / "rows", partition_cols=["sky"])
    data = scale.from_parquet(tmp_path / "rows", target="outcome", ids=["sky"])
    assert data.types.field("sky").type == pa.string()
    without_fog = mixed.assign(sky=mixed["sky"].replace("fog", None))
    X = without_fog.drop(columns="outcome")[["place", "flag", "height", "age", "sky"]]
    model = scale.fit(NaiveBayes(), scale.from_parquet(tmp_path / "rows", target="outcome"))
    expected = NaiveBayes().fit(X, without_fog["outcome"])
    np.testing.assert_array_equal(model.predict_proba(X), expected.predict_proba(X))
    written = pd.read_parquet(scale.predict_proba(model, data, out=tmp_path / "answers"))
    assert (
        written["sky"].value_counts(dropna=False).to_dict()
        == without_fog["sky"].value_counts(dropna=False).to_dict()
    )


def test_a_function_whose_frames_change_their_types_is_refused(mixed):
    def frames():
        yield mixed[:100]
        yield mixed[100:].assign(age="old")

    with pytest.raises(InputError, match="column 'age' is string in 'batch 0' and double elsewhere"):
        scale.fit(NaiveBayes(), scale.from_batches([frames], target="outcome"))


def test_a_function_whose_frames_lack_a_column_is_refused(mixed):
    def frames():
        yield mixed[:100]
        yield mixed[100:].drop(columns="sky")

    with pytest.raises(InputError, match=r"batch 0 lacks the columns \['sky'\]"):
        scale.fit(NaiveBayes(), scale.from_batches([frames], target="outcome"))


def test_a_full_disk_under_predictions_is_a_sentence_and_leaves_nothing(folder, tmp_path, monkeypatch):
    model = scale.fit(NaiveBayes(), scale.from_parquet(folder, target="outcome"))
    before = sorted(tmp_path.iterdir())

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pq.ParquetWriter, "write_table", full)
    with pytest.raises(InputError, match=r"cannot be written to .*No space left.*in out"):
        scale.predict_proba(model, scale.from_parquet(folder), out=tmp_path / "answers")
    assert sorted(tmp_path.iterdir()) == before


def test_a_place_that_predictions_cannot_be_written_to_is_a_sentence(folder, tmp_path, monkeypatch):
    model = scale.fit(NaiveBayes(), scale.from_parquet(folder, target="outcome"))

    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(tempfile, "mkdtemp", refuse)
    with pytest.raises(InputError, match=r"cannot be written to .*answers.*Permission denied.*in out"):
        scale.predict_proba(model, scale.from_parquet(folder), out=tmp_path / "answers")


def test_a_column_with_too_many_categories_is_refused_with_its_size(mixed, monkeypatch):
    monkeypatch.setattr(survey, "MOST_CATEGORIES", 1000)
    parts = [mixed[:900], mixed[900:]]
    data = scale.from_batches(
        [part.assign(key=[f"row {n}" for n in part.index]) for part in parts], target="outcome"
    )
    with pytest.raises(TooLargeError, match=r"column 'key' has at least .* categories, more than 1,000"):
        scale.fit(NaiveBayes(), data)
    named = scale.from_batches(
        [part.assign(key=[f"row {n}" for n in part.index]) for part in parts], target="outcome", ids=["key"]
    )
    assert "key" not in scale.fit(NaiveBayes(), named).schema_.names


def test_predictions_keep_ids_and_the_order_of_rows(mixed, tmp_path, write_parts):
    mixed["id"] = pd.array(np.arange(len(mixed))[::-1] * 7, dtype="int64")
    folder = write_parts(mixed, tmp_path / "rows", 5, np.random.default_rng(0))
    data = scale.from_parquet(folder, target="outcome", ids=["id"])
    model = scale.fit(NaiveBayes(), data)
    out = scale.predict_proba(model, data, out=tmp_path / "answers", runner=scale.LocalRunner(2))
    found = pd.concat([pd.read_parquet(file) for file in sorted(out.glob("*.parquet"))], ignore_index=True)
    X = mixed.drop(columns=["outcome", "id"])
    assert found["id"].tolist() == mixed["id"].tolist()
    assert found["prediction"].tolist() == model.predict(X).tolist()
    assert list(found.columns) == ["id", "prediction", "probability_low", "probability_mid"]
    np.testing.assert_array_equal(found.iloc[:, 2:].to_numpy(), model.predict_proba(X))


def test_failed_predictions_leave_no_folder(mixed, folder, tmp_path):
    model = scale.fit(NaiveBayes(), scale.from_parquet(folder, target="outcome"))
    content = bytearray((folder / "c.parquet").read_bytes())
    content[200:1500] = bytes(1300)
    (folder / "c.parquet").write_bytes(content)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(InputError, match=r"c.parquet' cannot be read"):
        scale.predict_proba(model, scale.from_parquet(folder), out=tmp_path / "answers")
    assert sorted(tmp_path.iterdir()) == before
    with pytest.raises(InputError, match="exists and is not an empty folder"):
        scale.predict_proba(model, scale.from_parquet(folder), out=folder)
    data = scale.from_batches([mixed.drop(columns="sky")])
    with pytest.raises(InputError, match=r"of which the table lacks \['sky'\]"):
        scale.predict_proba(model, data, out=tmp_path / "answers")


@pytest.mark.parametrize("n_jobs", [1, 2, 7])
def test_results_come_in_the_order_of_the_items(n_jobs):
    # The sums of a pass are taken in this order.
    runner = scale.LocalRunner(n_jobs)
    assert list(runner.each(pow, range(20), 2)) == [item**2 for item in range(20)]
    assert runner.hold(pow, range(20), 3) == [item**3 for item in range(20)]
