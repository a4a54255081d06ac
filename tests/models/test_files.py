"""Saved models: what is written comes back, and what is foreign, damaged or newer stays out."""

import json
import os
import pickle
import struct
import threading
import zipfile
import zlib

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.compose import make_column_transformer
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.model_selection import KFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import seminaive
from seminaive import (
    AveragedDependenceEstimators,
    EqualFrequencyDiscretizer,
    MDLDiscretizer,
    NaiveBayes,
    NaiveBayesLogisticRegressionCV,
    load_model,
    save_model,
)
from seminaive.errors import InputError, ModelFileError, NotFittedError, UnwritableError
from seminaive.evaluate.lines import replace_lines
from seminaive.saving.fitted_state import declared_fields


@pytest.fixture
def saved(tmp_path, weather):
    path = tmp_path / "model"
    save_model(NaiveBayes().fit(*weather), path)
    return path


def members_of(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write(path, members):
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def change_document(path, change):
    members = members_of(path)
    document = json.loads(members["seminaive.json"])
    change(document)
    write(path, {**members, "seminaive.json": json.dumps(document)})


def test_the_document_tells_version_and_schema_without_loading(saved, weather):
    document = json.loads(members_of(saved)["seminaive.json"])
    assert document["version"] == seminaive.__version__
    assert [column["name"] for column in document["schema"]["columns"]] == list(weather[0].columns)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_every_fitted_attribute_is_declared_and_comes_back(classifier, weather, tmp_path):
    X, y = weather
    kinds = [classifier().fit(X, y)]
    if hasattr(classifier, "partial_fit"):
        kinds.append(classifier().partial_fit(X, y, classes=np.unique(y)))
    for model in kinds:
        always = {"classes_", "schema_", "columns_read_", "n_features_in_", "feature_names_in_"}
        derived = {name for parent in classifier.__mro__ for name in vars(parent).get("_derived", ())}
        fitted = set(vars(model)) - set(model.get_params()) - always - derived
        assert fitted <= set(declared_fields(model)), "declare it in _fitted"
        save_model(model, tmp_path / "model")
        again = load_model(tmp_path / "model")
        assert set(vars(again)) == set(vars(model))
        assert again.get_params() == model.get_params()
        assert pickle.dumps(again.columns_report_) == pickle.dumps(model.columns_report_)
        for name in fitted:
            assert repr(getattr(again, name)) == repr(getattr(model, name)), name


@pytest.mark.parametrize("labels", [[0, 1, 2], [-1.0, 0.0, 1.0], [False, True, True], ["a", "bb", "c"]])
def test_labels_of_every_type_come_back(tmp_path, weather, labels):
    X, y = weather
    for kind in (None, object):
        target = np.array(labels, dtype=kind)[np.unique(y, return_inverse=True)[1]]
        model = NaiveBayes().fit(X, target)
        save_model(model, tmp_path / "model")
        again = load_model(tmp_path / "model")
        assert again.classes_.dtype == model.classes_.dtype
        assert (again.predict(X) == model.predict(X)).all()


def test_categories_of_every_type_come_back(tmp_path):
    X = np.array([[True, 1.5, "a"], [False, 2, None]] * 3, object)
    model = NaiveBayes().fit(X, [0, 1] * 3)
    save_model(model, tmp_path / "model")
    again = load_model(tmp_path / "model")
    assert again.schema_ == model.schema_
    assert not hasattr(again, "feature_names_in_")
    assert (again.predict_proba(X) == model.predict_proba(X)).all()


def test_parameters_of_every_kind_come_back(tmp_path, weather):
    X, y = weather
    given = {
        "cv": KFold(3, shuffle=True, random_state=1),
        "strengths": np.array([1.0, 0.1]),
        "class_weight": {"sun": 2.0},
        "categorical_features": ["sky", "wind", "weekend"],
    }
    model = NaiveBayesLogisticRegressionCV(**given).fit(X, y)
    save_model(model, tmp_path / "model")
    again = load_model(tmp_path / "model").get_params()
    assert repr(again["cv"]) == repr(given["cv"])
    assert again["strengths"].tolist() == [1.0, 0.1]
    assert again["class_weight"] == {"sun": 2.0}
    assert again["categorical_features"] == given["categorical_features"]
    model.set_params(random_state=np.random.RandomState(0))
    with pytest.raises(InputError, match=r"random_state=.*cannot be written .*set_params\(random_state"):
        save_model(model, tmp_path / "model")


def test_files_are_small(tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({f"column {j}": rng.choice(list("abcd"), 500) for j in range(13)})
    model = NaiveBayes().fit(X, rng.integers(0, 2, 500))
    save_model(model, tmp_path / "model")
    assert (tmp_path / "model").stat().st_size < len(pickle.dumps(model))


# What is refused


FIRST_NUMBER, SECOND_NUMBER = map(int, seminaive.__version__.split(".")[:2])
NEXT_VERSION = f"{FIRST_NUMBER}.{SECOND_NUMBER + 1}.0"


@pytest.mark.parametrize("version", ["99.0.0", NEXT_VERSION, "999999.0"])
def test_a_newer_file_is_refused_by_its_version(saved, version):
    change_document(saved, lambda document: document.update(version=version))
    with pytest.raises(ModelFileError, match=f"saved by seminaive {version}, newer than this"):
        load_model(saved)


@pytest.mark.parametrize(
    "version", ["x.y", "-1.0", "1e9.0", "", 5, None, "0.2", "9" * 10_000 + ".0", ["0.2.0"]]
)
def test_an_impossible_version_is_refused(saved, version):
    change_document(saved, lambda document: document.update(version=version))
    if version == "0.2":
        load_model(saved)
        return
    with pytest.raises(ModelFileError, match="not a saved model"):
        load_model(saved)


def test_a_file_of_the_first_release_is_refused_with_advice(saved):
    write(
        saved,
        {"schema.json": "{}", "seminaive.json": json.dumps({"version": "0.1.0", "model": "NaiveBayes"})},
    )
    with pytest.raises(
        ModelFileError, match=r"saved by seminaive 0\.1\.0, whose tables .*fit the model again"
    ):
        load_model(saved)


@pytest.mark.parametrize("content", [b"", b"not an archive", pickle.dumps({"a": 1})])
def test_a_file_that_is_no_archive_is_refused(tmp_path, content):
    path = tmp_path / "model"
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match="not a saved model"):
        load_model(path)


def test_a_skops_file_of_another_model_is_refused(tmp_path):
    path = tmp_path / "model"
    path.write_bytes(skops.io.dumps(GaussianNB().fit([[0.0], [1.0]], [0, 1])))
    with pytest.raises(ModelFileError, match="not a saved model"):
        load_model(path)


@pytest.mark.parametrize("name", ["arrays", "seminaive.json"])
def test_a_truncated_member_is_refused(saved, name):
    members = members_of(saved)
    write(saved, {**members, name: members[name][: len(members[name]) // 2]})
    with pytest.raises(ModelFileError, match=r"damaged|not a saved model"):
        load_model(saved)


def test_a_file_without_arrays_is_refused(saved):
    members = members_of(saved)
    del members["arrays"]
    write(saved, members)
    with pytest.raises(ModelFileError, match="no arrays"):
        load_model(saved)


@pytest.mark.parametrize("cut", [10, 100, 1000])
def test_a_file_that_was_cut_off_is_refused(saved, cut):
    saved.write_bytes(saved.read_bytes()[:-cut])
    with pytest.raises(ModelFileError):
        load_model(saved)


def test_a_file_that_does_not_exist_is_named(tmp_path):
    with pytest.raises(ModelFileError, match="there is no file"):
        load_model(tmp_path / "nothing")


def test_nested_beyond_all_measure_is_refused(saved):
    write(saved, {**members_of(saved), "seminaive.json": "[" * 100_000 + "]" * 100_000})
    with pytest.raises(ModelFileError, match="not a saved model"):
        load_model(saved)


def test_caches_and_methods_cannot_be_planted(saved):
    for place in (["fitted"], ["fitted", "statistics_", "fields", "counts", "fields", "terms", "fields"]):
        for name in ("offsets", "_check_consistent", "code_of", "__class__"):

            def plant(document, place=place, name=name):
                for key in place:
                    document = document[key]
                document[name] = 1

            members = members_of(saved)
            change_document(saved, plant)
            with pytest.raises(ModelFileError, match="damaged"):
                load_model(saved)
            write(saved, members)


def test_another_class_of_the_package_is_no_model(saved):
    for name in ("Schema", "save_model", "TableClassifier", "os.system", "MDLDiscretizer"):
        change_document(saved, lambda document, name=name: document.update(model=name))
        with pytest.raises(ModelFileError, match="damaged"):
            load_model(saved)


def test_extra_attributes_are_not_written(tmp_path, weather):
    model = NaiveBayes().fit(*weather)
    model.extra_ = object()
    save_model(model, tmp_path / "model")
    assert not hasattr(load_model(tmp_path / "model"), "extra_")


# Sizes


def test_more_than_max_bytes_is_refused_before_it_is_read(saved):
    members = members_of(saved)
    with zipfile.ZipFile(saved, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("seminaive.json", members["seminaive.json"])
        archive.writestr("arrays", members["arrays"] + b"\0" * (1 << 26))
    assert saved.stat().st_size < 1 << 20
    with pytest.raises(ModelFileError, match=r"67 MB, 17 MB are allowed.*larger max_bytes"):
        load_model(saved, max_bytes=1 << 24)
    load_model(saved)


def test_a_bomb_that_lies_about_its_size_is_not_unpacked(saved, monkeypatch):
    """A member of 256 MB whose directory promises as many bytes as the honest one has."""
    members = members_of(saved)
    packer = zlib.compressobj(wbits=-15)
    bomb = packer.compress(b"\0" * (1 << 28)) + packer.flush()
    honest = len(members["arrays"])
    with zipfile.ZipFile(saved, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("seminaive.json", members["seminaive.json"])
        archive.writestr("arrays", b"")
    content = saved.read_bytes()
    with zipfile.ZipFile(saved) as archive:
        info = archive.getinfo("arrays")
    start = info.header_offset + 30 + len("arrays")
    end = start + info.compress_size
    content = content[:start] + bomb + content[end:]
    shift = len(bomb) - info.compress_size
    for signature, offset in ((b"PK\x03\x04", 18), (b"PK\x01\x02", 20)):
        place = content.rindex(signature)
        content = (
            content[: place + offset] + struct.pack("<II", len(bomb), honest) + content[place + offset + 8 :]
        )
    tail = content.rindex(b"PK\x05\x06") + 16
    directory = struct.unpack("<I", content[tail : tail + 4])[0] + shift
    saved.write_bytes(content[:tail] + struct.pack("<I", directory) + content[tail + 4 :])
    taken = []
    monkeypatch.setattr(zipfile.ZipExtFile, "read", lambda stream, n=-1, read=zipfile.ZipExtFile.read: (
        taken.append(n), read(stream, n)
    )[1])  # fmt: skip
    with pytest.raises(ModelFileError):
        load_model(saved)
    assert taken
    assert all(0 <= n <= 1 << 20 for n in taken)


def test_tables_that_grow_beyond_max_bytes_are_refused(tmp_path):
    X = np.column_stack([np.arange(800), np.arange(800) % 2])
    model = AveragedDependenceEstimators(categorical_features=[0, 1]).fit(X, np.arange(800) % 2)
    save_model(model, tmp_path / "model")
    with pytest.raises(ModelFileError, match="larger max_bytes"):
        load_model(tmp_path / "model", max_bytes=120_000)  # the file has 95,000, the tables 167,000
    load_model(tmp_path / "model")


# Saving


def test_a_failed_save_leaves_the_old_file(saved, monkeypatch, weather):
    before = saved.read_bytes()
    monkeypatch.setattr("pathlib.Path.write_bytes", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        save_model(NaiveBayes().fit(*weather), saved)
    assert saved.read_bytes() == before
    assert [path.name for path in saved.parent.iterdir()] == [saved.name]


def test_a_file_that_cannot_be_read_back_leaves_the_old_one(saved, monkeypatch, weather):
    before = saved.read_bytes()
    model = NaiveBayes().fit(*weather)
    refuse = lambda *_: (_ for _ in ()).throw(ValueError("the scores do not fit"))  # noqa: E731
    with monkeypatch.context() as patch:
        patch.setattr("seminaive.saving.model_files.model_from_document", refuse)
        with pytest.raises(
            ModelFileError, match=r"was not saved, .*cannot be read back \(ValueError: the scores"
        ):
            save_model(model, saved)
    assert saved.read_bytes() == before
    assert [path.name for path in saved.parent.iterdir()] == [saved.name]


def test_a_model_larger_than_files_may_be_is_saved(tmp_path, monkeypatch, weather):
    monkeypatch.setattr("seminaive.saving.model_files.MAX_BYTES", 10)
    save_model(NaiveBayes().fit(*weather), tmp_path / "model")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_pipe_is_written_to_and_not_read_back(tmp_path, weather):
    pipe, received = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: received.append(pipe.read_bytes()))
    reader.start()
    save_model(NaiveBayes().fit(*weather), pipe)
    reader.join()
    (tmp_path / "model").write_bytes(received[0])
    load_model(tmp_path / "model")


def test_a_folder_that_does_not_exist_is_named(tmp_path, weather):
    with pytest.raises(InputError, match="no folder"):
        save_model(NaiveBayes().fit(*weather), tmp_path / "none" / "model")


def test_only_fitted_models_of_the_package_are_saved(tmp_path):
    with pytest.raises(NotFittedError):
        save_model(NaiveBayes(), tmp_path / "model")
    derived = type("Derived", (NaiveBayes,), {})().fit([["a"], ["b"]], [0, 1])
    for other in ({"a": 1}, GaussianNB(), make_pipeline(StandardScaler(), GaussianNB()), derived):
        with pytest.raises(InputError, match="only models of this package"):
            save_model(other, tmp_path / "model")


# Pipelines


@pytest.fixture
def numbers(weather):
    X, y = weather
    return X[["temperature", "humidity"]], y


@pytest.mark.parametrize(
    "steps",
    [
        lambda: [SimpleImputer(), StandardScaler()],
        lambda: [MDLDiscretizer()],
        lambda: [EqualFrequencyDiscretizer()],
        lambda: [make_column_transformer((make_pipeline(SimpleImputer(), StandardScaler()), ["humidity"]))],
        lambda: [make_column_transformer((StandardScaler(), ["humidity"]), remainder="passthrough")],
        lambda: [
            make_column_transformer((StandardScaler(), ["humidity"]), remainder="passthrough").set_output(
                transform="pandas"
            )
        ],
        lambda: ["passthrough"],
        list,
    ],
)
def test_a_pipeline_predicts_the_same(tmp_path, numbers, steps):
    X, y = numbers
    model = make_pipeline(*steps(), NaiveBayes()).fit(X, y)
    save_model(model, tmp_path / "model")
    again = load_model(tmp_path / "model")
    assert [name for name, _ in again.steps] == [name for name, _ in model.steps]
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize(
    "step",
    [
        SelectKBest(k=1),
        FunctionTransformer(np.abs),
        FunctionTransformer(inverse_func=np.abs, check_inverse=False),
        FunctionTransformer(feature_names_out=lambda _, names: names),
    ],
)
def test_a_pipeline_with_a_step_that_is_not_listed_is_not_saved(tmp_path, numbers, step):
    X, y = numbers
    for steps in ([step], [make_column_transformer((step, ["humidity"]))]):
        model = make_pipeline(SimpleImputer().set_output(transform="pandas"), *steps, NaiveBayes()).fit(X, y)
        with pytest.raises(InputError, match=f"a {type(step).__name__}: steps that can be saved are"):
            save_model(model, tmp_path / "model")


class Burglar:
    """Runs code when it is unpickled."""

    def __reduce__(self):
        return os.system, ("touch /tmp/burgled",)


@pytest.mark.parametrize(
    "steps",
    [
        [("burglar", Burglar())],
        [("select", SelectKBest())],
        [("f", FunctionTransformer(os.system))],
        [("model", GaussianNB())],
        [("scale", {"not": "a step"})],
        7,
    ],
)
def test_crafted_steps_are_refused_before_anything_runs(tmp_path, numbers, steps, monkeypatch):
    ran = []
    monkeypatch.setattr(os, "system", ran.append)
    path = tmp_path / "model"
    save_model(make_pipeline(StandardScaler(), NaiveBayes()).fit(*numbers), path)
    write(path, {**members_of(path), "steps": skops.io.dumps(steps)})
    with pytest.raises(ModelFileError):
        load_model(path)
    assert ran == []


def test_steps_that_unpack_to_more_than_max_bytes_are_refused(tmp_path, numbers):
    path = tmp_path / "model"
    save_model(make_pipeline(StandardScaler(), NaiveBayes()).fit(*numbers), path)
    bomb = tmp_path / "bomb"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("schema.json", b" " * (1 << 26))
    write(path, {**members_of(path), "steps": bomb.read_bytes()})
    with pytest.raises(ModelFileError, match="larger max_bytes"):
        load_model(path, max_bytes=1 << 24)


def test_a_long_name_is_written_and_one_that_is_too_long_refused_with_a_sentence(tmp_path, weather):
    model = seminaive.NaiveBayes().fit(*weather)
    for name in ("x" * 240 + ".model", "x" * 255, "é" * 120 + ".model"):
        save_model(model, tmp_path / name)
        load_model(tmp_path / name)
    with pytest.raises(UnwritableError, match="cannot be written: File name too long"):
        save_model(model, tmp_path / ("x" * 300))
    with pytest.raises(ModelFileError, match="there is no file"):
        load_model(tmp_path / ("x" * 300))
    assert len(list(tmp_path.iterdir())) == 3


def test_a_full_disk_is_a_sentence_and_leaves_no_file(tmp_path, weather):
    resource = pytest.importorskip("resource")
    model = seminaive.NaiveBayes().fit(*weather)
    lines = tmp_path / "results.jsonl"
    lines.write_text("before", encoding="utf-8")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))  # no file may have more bytes
    try:
        with pytest.raises(UnwritableError, match=r"full\.model' cannot be written: "):
            save_model(model, tmp_path / "full.model")
        with pytest.raises(UnwritableError, match="cannot be written: "):
            replace_lines(lines, [{"text": "x" * 200}])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert list(tmp_path.iterdir()) == [lines]
    assert lines.read_text(encoding="utf-8") == "before"
