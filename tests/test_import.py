"""Starting up costs little: nothing heavy is imported before it is needed."""

import importlib
import inspect
import pkgutil
import subprocess
import sys

import pytest

import seminaive
import seminaive.models
import seminaive.scores
import seminaive.statistics


def modules_after(code):
    script = f"{code}\nimport sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


def test_importing_the_package_imports_no_compiler_and_no_plotting():
    loaded = modules_after("import sklearn; import sys; before = set(sys.modules); import seminaive")
    assert not loaded & {"numba", "llvmlite", "matplotlib", "skops", "typer"}


def test_naive_bayes_reads_no_file_that_only_other_models_use():
    loaded = modules_after("from seminaive import NaiveBayes")
    assert "seminaive.models.naive_bayes" in loaded
    others = {
        "selection.relevance_search",
        "solvers.elastic_net_path",
        "models.semi_naive",
        "explain",
        "saving",
    }
    assert not loaded & {f"seminaive.{name}" for name in others}


def of_structure(loaded):
    return {name for name in loaded if name.startswith("seminaive.structure")}


def test_what_learns_structure_is_loaded_by_its_models_only(tmp_path):
    table = "[['a', 1.], ['b', 2.]] * 20, [0, 1] * 20"
    fit = f"from seminaive import SemiNaive; model = SemiNaive().fit({table}); model.predict([['a', 1.5]])"
    assert of_structure(modules_after("from seminaive import SemiNaive")) == set()
    assert of_structure(modules_after(fit)) == set()
    saved = f"import seminaive; seminaive.save_model(model, {str(tmp_path / 'model')!r})"
    load = f"import seminaive; seminaive.load_model({str(tmp_path / 'model')!r})"
    assert of_structure(modules_after(f"{fit}; {saved}")) == set()
    assert of_structure(modules_after(load)) == set()
    assert of_structure(modules_after("from seminaive import SparseBayesianNetwork"))


def test_predicting_a_handful_of_rows_does_not_need_the_compiler(tmp_path):
    path = tmp_path / "model"
    model = "seminaive.NaiveBayes().fit([['a', 1.], ['b', 2.]], [0, 1])"
    modules_after(f"import seminaive; seminaive.save_model({model}, {str(path)!r})")
    predict = f"import seminaive; seminaive.load_model({str(path)!r}).predict([['a', 1.5]] * 100)"
    assert "numba" not in modules_after(predict)


def test_every_public_name_exists_and_others_do_not():
    for module in (seminaive, seminaive.models, seminaive.scores, seminaive.statistics):
        for name in module.__all__:
            found = getattr(module, name)
            assert getattr(found, "__name__", name) == name  # constants have none
        assert set(module.__all__) <= set(dir(module))
        with pytest.raises(AttributeError, match="no attribute 'Oracle'"):
            module.Oracle  # noqa: B018 - asking is the test


@pytest.mark.parametrize("room", seminaive.ROOMS)
def test_rooms_are_reached_through_the_package_when_they_are_asked_for(room):
    assert f"seminaive.{room}" in modules_after(f"import seminaive; seminaive.{room}.__all__")
    assert room in dir(seminaive)


def test_rooms_are_not_imported_before():
    others = set(seminaive.ROOMS) - {"errors"}
    assert not modules_after("import seminaive") & {f"seminaive.{room}" for room in others}


LAZY = (
    "edits",
    "encode",
    "evaluate",
    "explain",
    "export",
    "models",
    "scale",
    "scores",
    "statistics",
    "structure",
)


@pytest.mark.parametrize("room", LAZY)
def test_a_room_lists_its_public_names_and_keeps_them_after_the_first_use(room):
    module = importlib.import_module(f"seminaive.{room}")
    for name in module.__all__:
        value = getattr(module, name)
        assert vars(module)[name] is value
    assert dir(module) == module.__all__


# At most so many names, so that a list of completions can be read.
MOST_NAMES = {"explain": 25, "evaluate": 32, "scale": 10, "export": 10, "edits": 13}


@pytest.mark.parametrize("room", MOST_NAMES)
def test_a_room_offers_few_names_and_no_file_of_its_own(room):
    module = importlib.import_module(f"seminaive.{room}")
    assert len(dir(module)) <= MOST_NAMES[room]
    files = {file.name for file in pkgutil.iter_modules(module.__path__)}
    for name in files & set(dir(module)):
        assert not inspect.ismodule(getattr(module, name))


def test_a_public_name_wins_over_the_file_of_the_same_name():
    by_file = "import seminaive.explain.shift_page, seminaive.explain.shift"
    modules_after(f"{by_file}; from seminaive.explain import shift; assert callable(shift)")
    modules_after(f"{by_file}; import seminaive; assert callable(seminaive.explain.shift)")
    modules_after(
        "from seminaive.explain import shift; import seminaive.explain.shift_page; assert callable(shift)"
    )
