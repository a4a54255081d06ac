"""Model files changed at random: refused with a sentence, or models that answer and go on learning."""

import json
import os
import secrets
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent / "mutants.py"
# On CI the same files every time; SEMINAIVE_MUTANT_SEED repeats those of a run.
SEED = os.environ.get("SEMINAIVE_MUTANT_SEED", "1" if "CI" in os.environ else str(secrets.randbelow(10**6)))


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Return a folder with a file of every kind of model."""
    folder = tmp_path_factory.mktemp("models")
    run("save", folder)
    return folder


def run(*arguments):
    """Run the script in a process of its own, so that a crash is a failure of one test."""
    done = subprocess.run(
        [sys.executable, str(SCRIPT), *map(str, arguments)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def check(saved, mutator, n_files):
    print(f"SEMINAIVE_MUTANT_SEED={SEED}")  # noqa: T201 - shown where the test fails
    found = json.loads(run("attack", saved, mutator, SEED, n_files))
    assert not found["wrong"], "\n".join(found["wrong"][:10])
    assert found["tried"] == n_files
    assert min(found["refused"], found["accepted"]) > n_files // 10


def test_a_changed_file_is_refused_or_answers(saved):
    # One test, since files of every kind of model take longer to make than to change.
    for mutator in ("text", "structure"):
        check(saved, mutator, 500)


@pytest.mark.slow
@pytest.mark.parametrize("mutator", ["text", "structure"])
def test_twenty_thousand_changed_files_are_refused_or_answer(saved, mutator):
    check(saved, mutator, 20_000)
