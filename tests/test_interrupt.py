"""Ctrl-C at any moment: exit code 130 and one line."""

import os
import subprocess
import sys

import pytest

# Sends the process SIGINT at the moment when a module is imported, then runs the command line.
CHILD = """
import importlib.abc, os, runpy, signal, sys

class Trap(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Trap())
sys.argv = ["seminaive", *{arguments!r}]
runpy.run_module("seminaive", run_name="__main__", alter_sys=True)
"""
COMPARE = ["compare", "iris", "-m", "naive-bayes", "--folds", "2"]


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize(
    "module",
    [
        "seminaive.cli",
        "numpy",
        "typer",
        "seminaive.encode.frames",
        "pandas",
        "sklearn.base",
        "seminaive.evaluate",
        "sklearn.model_selection",
        "seminaive.kernels.counting",
    ],
)
def test_an_interrupt_is_one_line_and_exit_code_130(module, tmp_path):
    script = CHILD.format(module=module, arguments=COMPARE)
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert (done.returncode, done.stderr.strip()) == (130, "seminaive: interrupted")


def test_an_interrupted_fit_leaves_no_file(tmp_path):
    (tmp_path / "t.csv").write_text("a,y\n" + "1,p\n2,q\n" * 10)
    arguments = ["fit", "t.csv", "--target", "y", "--out", "model"]
    script = CHILD.format(module="seminaive.saving.model_files", arguments=arguments)
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.returncode == 130
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]
