"""Hostile model files: refused with a sentence, or a model with finite probabilities; never a crash."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

# One file out of this number is tried; 1 tries all of about 133,000.
STEP = int(os.environ.get("SEMINAIVE_FUZZ_STEP", "50"))
SCRIPT = Path(__file__).parent / "hostile_files.py"


def start(*arguments, **environment):
    return subprocess.Popen(
        [sys.executable, str(SCRIPT), *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )


@pytest.mark.slow
def test_every_leaf_of_every_saved_model_may_be_wrong(tmp_path):
    saving = start("save", tmp_path)
    assert saving.communicate()
    assert saving.returncode == 0
    # Compiled, where a wrong index crashes; and in plain Python, where it is an error of its own.
    children = [
        start("attack", tmp_path, 0, STEP),
        start("attack", tmp_path, STEP // 2, STEP, NUMBA_DISABLE_JIT="1"),
    ]
    tried = 0
    for child in children:
        printed, errors = child.communicate()
        assert child.returncode == 0, errors[-3000:]
        found = json.loads(printed)
        assert not found["wrong"], "\n".join(found["wrong"][:10])
        assert found["refused"] > found["accepted"] > 0
        tried += found["tried"]
    assert tried > 1000
