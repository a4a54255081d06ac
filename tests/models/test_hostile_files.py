"""Hostile model files: refused with a sentence, or a model with finite probabilities; never a crash."""

import json
import os
import subprocess
import sys
from pathlib import Path

# One of so many files is tried; 1 tries all of about 39,000.
STEP = int(os.environ.get("SEMINAIVE_FUZZ_STEP", "25"))
SCRIPT = Path(__file__).parent / "hostile_files.py"


def start(first, **environment):
    return subprocess.Popen(
        [sys.executable, str(SCRIPT), str(first), str(STEP)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )


def test_every_leaf_of_every_saved_model_may_be_wrong():
    # Compiled, where a wrong index crashes; and in plain Python, where it is an error of its own.
    children = [start(0), start(STEP // 2, NUMBA_DISABLE_JIT="1")]
    tried = 0
    for child in children:
        printed, errors = child.communicate()
        assert child.returncode == 0, errors[-3000:]
        found = json.loads(printed)
        assert not found["wrong"], "\n".join(found["wrong"][:10])
        assert found["refused"] > found["accepted"] > 0
        tried += found["tried"]
    assert tried > 1000
