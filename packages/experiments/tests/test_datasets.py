import json
import urllib.error

import numpy as np
import pandas as pd
import pytest

from seminaive.errors import InputError, TableTypeError
from seminaive_experiments import datasets
from seminaive_experiments.datasets import (
    Dataset,
    available_datasets,
    load_dataset,
    read_table,
    real_table,
    register_dataset,
)

FRAME = pd.DataFrame({"age": [31, 45, 27], "job": ["cook", "", "None"], "churn": ["no", "yes", "no"]})


@pytest.fixture
def data_folder(tmp_path, monkeypatch):
    table = pd.DataFrame({"zip": ["1", "2", ""], "size": ["0.5", "", "2"], "class": ["1", "2", "1"]})
    table.to_csv(tmp_path / "towns.csv.gz", index=False)
    schema = {"towns": {"zip": "categorical", "size": "numeric"}}
    (tmp_path / "SCHEMA.json").write_text(json.dumps(schema))
    monkeypatch.setenv("SEMINAIVE_DATA", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("name", ["iris", "wine", "breast-cancer", "digits"])
def test_bundled_tables_need_no_network(name):
    dataset = load_dataset(name)
    assert dataset.name == name
    assert len(dataset.X) == len(dataset.y)
    assert dataset.y.dtype.kind == "U"


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet"])
def test_a_file_gives_the_same_table_in_every_format(tmp_path, suffix):
    path = tmp_path / f"people{suffix}"
    expected = FRAME.assign(job=["cook", None, "None"])
    if suffix == ".parquet":
        expected.to_parquet(path)
    else:
        FRAME.to_csv(path, index=False)
    dataset = load_dataset(str(path), target="churn")
    assert dataset.name == "people"
    assert dataset.y.tolist() == ["no", "yes", "no"]
    assert dataset.X["job"].isna().tolist() == [False, True, False]
    assert dataset.X["age"].tolist() == [31, 45, 27]


def test_types_of_real_tables_come_from_the_schema_file(data_folder):
    assert data_folder.name
    dataset = load_dataset("towns")
    assert dataset.X["zip"].dtype == "category"
    assert dataset.X["size"].dtype == np.float64
    assert dataset.X.isna().sum().tolist() == [1, 1]
    assert dataset.y.tolist() == ["1", "2", "1"]
    assert "towns" in available_datasets()["name"].tolist()


def test_a_registered_generator_is_found_by_name(monkeypatch):
    monkeypatch.setattr(datasets, "_REGISTRY", dict(datasets._REGISTRY))
    register_dataset("coin", lambda: Dataset("coin", FRAME[["age"]], np.array([0, 1, 0])), "three throws")
    assert load_dataset("coin").y.tolist() == [0, 1, 0]
    with pytest.raises(InputError, match="registered already"):
        register_dataset("coin", lambda: None, "again")


def test_unknown_names_and_missing_folders_are_explained(monkeypatch):
    monkeypatch.delenv("SEMINAIVE_DATA", raising=False)
    with pytest.raises(InputError, match=r"SEMINAIVE_DATA is not set.*breast-cancer"):
        load_dataset("nowhere")
    with pytest.raises(InputError, match="set SEMINAIVE_DATA"):
        real_table("adult")
    with pytest.raises(InputError, match="there is no file"):
        load_dataset("nowhere.csv", target="y")


def test_openml_without_a_network_says_so(monkeypatch):
    def unreachable(**_):
        raise urllib.error.URLError("no route to host")

    monkeypatch.setattr("sklearn.datasets.fetch_openml", unreachable)
    with pytest.raises(InputError, match=r"'31' could not be fetched.*no route to host.*Without a network"):
        load_dataset("openml:31")


def test_openml_tables_arrive_with_their_target(monkeypatch):
    class Bunch:
        data = FRAME[["age", "job"]]
        target = FRAME["churn"]

    monkeypatch.setattr("sklearn.datasets.fetch_openml", lambda **_: Bunch)
    dataset = load_dataset("openml:people")
    assert dataset.name == "openml-people"
    assert dataset.y.tolist() == ["no", "yes", "no"]


@pytest.mark.parametrize(
    ("frame", "target", "message"),
    [
        (FRAME, None, "which column holds the class. The columns are age, job, churn"),
        (FRAME, "churned", "no column 'churned'"),
        (FRAME[["churn"]], "churn", "at least one feature"),
        (FRAME, "job", "1 rows have no value"),
        (FRAME.assign(price=[0.5, 1.5, 2.0]), "price", "holds fractions"),
    ],
)
def test_targets_that_cannot_be_used_are_refused(tmp_path, frame, target, message):
    path = tmp_path / "people.csv"
    frame.to_csv(path, index=False)
    with pytest.raises(InputError, match=message):
        read_table(path, target=target)


def test_a_table_that_is_no_frame_is_refused():
    with pytest.raises(TableTypeError, match="got ndarray"):
        Dataset("array", FRAME.to_numpy(), np.array([0, 1, 0]))


def test_labels_must_be_as_many_as_rows():
    with pytest.raises(InputError, match="3 rows but 2 labels"):
        Dataset("short", FRAME, np.array([0, 1]))


@pytest.mark.real_data
def test_every_real_table_can_be_read():
    names = datasets.real_table_names()
    if not names:
        pytest.skip("SEMINAIVE_DATA is not set: no real tables here")
    for name in names[:12]:
        dataset = real_table(name)
        assert len(dataset.y) == len(dataset.X) > 0


@pytest.mark.parametrize("kind", [pd.Series, pd.Categorical, list])
def test_labels_belong_to_rows_by_position_whatever_holds_them(kind):
    rows = FRAME.iloc[[2, 0, 1]]
    labels = rows["churn"] if kind is pd.Series else kind(rows["churn"])
    dataset = Dataset("people", rows[["age"]], labels)
    assert isinstance(dataset.y, np.ndarray)
    assert [dataset.y[position] for position in range(3)] == ["no", "no", "yes"]


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (np.array([[0], [1], [0]]), r"one label per row, got an array of shape \(3, 1\)"),
        (np.array([0.0, np.nan, 1.0]), "1 rows have no label"),
        (pd.Series(["a", None, "b"]), "1 rows have no label"),
    ],
)
def test_labels_that_are_missing_or_not_one_per_row_are_refused(labels, message):
    with pytest.raises(InputError, match=message):
        Dataset("people", FRAME[["age"]], labels)


@pytest.mark.parametrize("name", ["UP.CSV", "Up.Csv.gz", "up.parquet"])
def test_a_table_has_the_name_of_its_file_without_the_ending_in_any_case(tmp_path, name):
    path = tmp_path / name
    FRAME.to_parquet(path) if name.endswith("parquet") else FRAME.to_csv(path, index=False)
    assert read_table(path, target="churn").name == name[:2]
