"""Starting up costs little: nothing heavy is imported before it is needed."""

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
    others = {"scores.network", "scores.dependence", "statistics.chained_equations", "statistics.rubin"}
    assert not loaded & {f"seminaive.{name}" for name in others}


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


@pytest.mark.parametrize("room", ["errors", "evaluate", "explain", "scale"])
def test_rooms_are_reached_through_the_package_when_they_are_asked_for(room):
    assert f"seminaive.{room}" in modules_after(f"import seminaive; seminaive.{room}.__all__")
    assert room in dir(seminaive)


def test_rooms_are_not_imported_before():
    assert not modules_after("import seminaive") & {f"seminaive.{room}" for room in ("explain", "scale")}
