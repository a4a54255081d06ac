"""After warming up, no fit compiles anything."""

import os
import subprocess
import sys

import pytest

from seminaive import NaiveBayes
from seminaive.cli.catalogue import class_names, make_model
from seminaive.kernels.compilation import counted_compilation
from seminaive.warming import warm_up

# Tables that differ from those of the warm-up in columns, rows, classes and levels.
OTHER_FITS = """
import sys, warnings
import numpy as np, pandas as pd
import seminaive
from seminaive.kernels.compilation import counted_compilation
warnings.simplefilter("ignore")
rng = np.random.default_rng(7)
with counted_compilation() as compiled:
    for n_rows, n_classes, n_levels in [(45, 2, 5), (300, 4, 20), (2500, 3, 280)]:
        numbers = pd.DataFrame(rng.normal(size=(n_rows, 4)), columns=list("abcd"))
        levels = pd.DataFrame({name: rng.integers(0, n_levels, n_rows).astype(str) for name in "ef"})
        y = np.argsort(np.argsort(numbers["a"] + rng.normal(size=n_rows))) * n_classes // n_rows
        for X in (numbers, levels, numbers.join(levels).mask(rng.random((n_rows, 6)) < 0.1)):
            model = getattr(seminaive, sys.argv[1])().fit(X, y)
            model.predict_proba(X), model.predict_proba(X.iloc[:1])
print(compiled.names)
"""

compiles = pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="nothing is compiled")


def process(cache, *command):
    done = subprocess.run(
        [sys.executable, *command],
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


@compiles
@pytest.mark.slow
@pytest.mark.parametrize(("name", "class_name"), [("naive-bayes", "NaiveBayes"), ("semi-naive", "SemiNaive")])
def test_a_later_process_compiles_nothing(name, class_name, tmp_path):
    said, warned = process(tmp_path, "-m", "seminaive", "warm-up", "--models", name)
    assert said.startswith(f"{name}: compiled ")
    assert warned == ""
    assert process(tmp_path, "-c", OTHER_FITS, class_name)[0] == "[]\n"
    again = process(tmp_path, "-m", "seminaive", "warm-up", "-m", name)[0]
    assert again.startswith(f"{name}: everything is compiled already")


def test_a_model_that_fails_is_told_and_the_others_are_warmed_up():
    warmed = warm_up({"broken": NaiveBayes(missing="unknown"), "fine": NaiveBayes()}, shown=False)
    assert list(warmed.failures) == ["broken"]
    assert "missing" in warmed.failures["broken"]
    with counted_compilation() as compiled:
        NaiveBayes().fit([[1.0, "a"], [2.0, "b"]] * 30, [0, 1] * 30)
    assert compiled.names == []


@pytest.mark.parametrize("name", class_names())
def test_every_model_of_the_command_line_can_be_fitted(name):
    X, y = [["a", 1.0], ["a", 2.0], ["b", 3.0], ["b", 4.0]] * 10, [0, 0, 1, 1] * 10
    assert make_model(name).fit(X, y).predict(X).shape == (40,)


def test_a_name_that_no_model_has_is_refused(seminaive):
    code, _, said = seminaive("warm-up", "--models", "semi-naive,no-such-model")
    assert code == 1
    assert "there is no model 'no-such-model'" in said
