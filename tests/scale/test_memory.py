import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent / "limited_memory.py"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="limits of address space as Linux keeps them")
@pytest.mark.parametrize(
    ("what", "n_parts"),
    # 160 bytes per row: 8 GB. Those of the passes also lie on a disk, as the fused cells of all pairs.
    [("statistics", 100), ("passes", 100)],
)
def test_rows_larger_than_the_memory_limit_are_fitted_within_it(what, n_parts, tmp_path):
    # Threads of libraries each reserve address space.
    one = dict.fromkeys(
        ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS", "ARROW_IO_THREADS"), "1"
    )
    done = subprocess.run(
        [sys.executable, str(SCRIPT), what, str(n_parts), str(tmp_path)],
        check=False,
        capture_output=True,
        text=True,
        env=os.environ | one,
    )
    assert done.returncode == 0, done.stderr
    assert float(done.stdout.split()[-1]) <= 1.0  # GB at most in memory
    assert not any(tmp_path.iterdir())
