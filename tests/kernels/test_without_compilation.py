"""The kernel tests once more in plain Python, where every index is checked against its bounds."""

import os
import subprocess
import sys
from pathlib import Path


def test_kernel_tests_pass_without_compilation():
    others = [str(path) for path in sorted(Path(__file__).parent.glob("test_*.py")) if path != Path(__file__)]
    command = [
        sys.executable,
        "-m",
        "pytest",
        "--quiet",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:randomly",
        *others,
    ]
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "NUMBA_CACHE_DIR": ""}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
