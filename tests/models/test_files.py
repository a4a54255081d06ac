"""Saved models: what is written comes back, and what is foreign, damaged or newer stays out."""

import json
import os
import pickle
import zipfile
from dataclasses import replace

import numpy as np
import pytest
import skops.io

from seminaive import AveragedDependenceEstimators, NaiveBayes, load_model, save_model
from seminaive.errors import InputError, ModelFileError, NotFittedError
from seminaive.statistics import Terms


@pytest.fixture
def saved(tmp_path, weather):
    path = tmp_path / "model.skops"
    save_model(NaiveBayes().fit(*weather), path)
    return path


def rewrite(path, change):
    """Change members of an archive: a function from name to content gives the new content, or None."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, change(name, content))


def test_the_label_tells_version_and_schema_without_loading(saved, weather):
    with zipfile.ZipFile(saved) as archive:
        label = json.loads(archive.read("seminaive.json"))
    assert label["version"]
    assert [column["name"] for column in label["schema"]["columns"]] == list(weather[0].columns)


def test_a_newer_file_is_refused_by_its_version(saved):
    def newer(name, content):
        return content.replace(b'"version": "', b'"version": "99') if name == "seminaive.json" else content

    rewrite(saved, newer)
    with pytest.raises(ModelFileError, match=r"saved by seminaive 99\d"):
        load_model(saved)


class Burglar:
    """Runs code when it is unpickled."""

    def __reduce__(self):
        return os.system, ("touch /tmp/burgled",)


def test_a_crafted_file_is_refused_before_anything_runs(tmp_path, monkeypatch, weather):
    ran = []
    monkeypatch.setattr(os, "system", ran.append)
    model = NaiveBayes().fit(*weather)
    model.extra_ = Burglar()
    save_model(model, tmp_path / "crafted")
    with pytest.raises(ModelFileError, match="Nothing of it was loaded"):
        load_model(tmp_path / "crafted")
    assert ran == []


def test_a_type_of_the_package_cannot_be_used_to_reach_a_function(saved):
    def point_elsewhere(name, content):
        if name != "schema.json":
            return content
        return content.replace(b'"NaiveBayes"', b'"save_model"', 1)

    rewrite(saved, point_elsewhere)
    with pytest.raises(ModelFileError):
        load_model(saved)


@pytest.mark.parametrize("content", [b"", b"not an archive", pickle.dumps({"a": 1})])
def test_a_file_that_is_no_archive_is_refused(tmp_path, content):
    path = tmp_path / "model"
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match="not a saved model"):
        load_model(path)


def test_a_skops_file_of_another_model_is_refused(tmp_path):
    from sklearn.naive_bayes import GaussianNB

    path = tmp_path / "model"
    path.write_bytes(skops.io.dumps(GaussianNB().fit([[0.0], [1.0]], [0, 1])))
    with pytest.raises(ModelFileError, match="not a saved model"):
        load_model(path)


def test_a_damaged_file_is_refused(saved):
    rewrite(saved, lambda name, content: content[: len(content) // 2] if name == "schema.json" else content)
    with pytest.raises(ModelFileError, match="damaged"):
        load_model(saved)


def test_a_file_that_does_not_exist_is_named(tmp_path):
    with pytest.raises(ModelFileError, match="there is no file"):
        load_model(tmp_path / "nothing")


def test_a_failed_save_leaves_the_old_file(saved, monkeypatch, weather):
    before = saved.read_bytes()
    monkeypatch.setattr("pathlib.Path.write_bytes", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        save_model(NaiveBayes().fit(*weather), saved)
    assert saved.read_bytes() == before
    assert [path.name for path in saved.parent.iterdir()] == [saved.name]


def test_a_folder_that_does_not_exist_is_named(tmp_path, weather):
    with pytest.raises(InputError, match="no folder"):
        save_model(NaiveBayes().fit(*weather), tmp_path / "none" / "model")


def test_categories_of_every_type_come_back(tmp_path):
    X = np.array([[True, 1.5, "a"], [False, 2, None]] * 3, object)
    model = NaiveBayes().fit(X, [0, 1] * 3)
    save_model(model, tmp_path / "model")
    again = load_model(tmp_path / "model")
    assert again.schema_ == model.schema_
    assert (again.predict_proba(X) == model.predict_proba(X)).all()


def crafted_terms(model):
    terms = Terms(model.scores_.terms.features, (10**9,) * len(model.scores_.terms.cardinalities))
    model.scores_ = replace(model.scores_, terms=terms)


def crafted_offsets(model):
    own = Terms(model.scores_.terms.features, model.scores_.terms.cardinalities)
    vars(own)["offsets"] = own.offsets + 10**10
    model.scores_ = replace(model.scores_, terms=own)


def short_tables(model):
    model.scores_ = replace(model.scores_, tables=model.scores_.tables[:-1])


def numbers_beyond_the_table(model):
    numeric = model.scores_.numeric
    model.scores_ = replace(model.scores_, numeric=replace(numeric, features=(7,) * len(numeric.features)))


@pytest.mark.parametrize("craft", [crafted_terms, short_tables, numbers_beyond_the_table])
def test_a_file_whose_parts_do_not_fit_is_refused(tmp_path, weather, craft):
    model = NaiveBayes().fit(*weather)
    craft(model)
    save_model(model, tmp_path / "model")
    with pytest.raises(ModelFileError, match="do not fit"):
        load_model(tmp_path / "model")


@pytest.mark.parametrize("field", ["parent_offsets", "parents"])
def test_crafted_tables_of_dependence_estimators_are_refused(tmp_path, weather, field):
    model = AveragedDependenceEstimators().fit(*weather)
    model.tables_ = replace(model.tables_, **{field: getattr(model.tables_, field) + 10**9})
    save_model(model, tmp_path / "model")
    with pytest.raises(ModelFileError, match="do not fit"):
        load_model(tmp_path / "model")


def test_what_was_derived_is_not_saved(tmp_path, weather):
    model = NaiveBayes().fit(*weather)
    expected = model.predict_proba(weather[0])
    crafted_offsets(model)
    save_model(model, tmp_path / "model")
    assert (load_model(tmp_path / "model").predict_proba(weather[0]) == expected).all()


def test_a_label_of_another_schema_is_refused(saved):
    rewrite(
        saved, lambda name, content: content.replace(b"sky", b"sea") if name == "seminaive.json" else content
    )
    with pytest.raises(ModelFileError, match="different schemas"):
        load_model(saved)


def test_only_fitted_models_of_the_package_are_saved(tmp_path):
    with pytest.raises(NotFittedError):
        save_model(NaiveBayes(), tmp_path / "model")
    with pytest.raises(InputError, match="only models of this package"):
        save_model({"a": 1}, tmp_path / "model")
