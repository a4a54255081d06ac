"""The kernel tests once more in plain Python, where every index is checked against its bounds."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np


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


PATHS = """
import sys
import numpy as np
from seminaive.design.reference import ReferenceDesign
from seminaive.objective.penalties import ElasticNet
from seminaive.solvers import PathOptions, elastic_net_path, logistic_path, softmax_path

rng = np.random.default_rng(0)
codes = np.column_stack([rng.integers(0, 4, 60), rng.integers(0, 3, 60)])
design = ReferenceDesign.of(rng.normal(size=(60, 2)), codes, [4, 3], [0, 2])
labels, weight = rng.integers(0, 3, 60), rng.integers(1, 3, 60).astype(float)
tight = PathOptions(gap_tol=1e-8, residual_tol=1e-8, stop_early=False)
found = {}
for limit in (1000, 1):  # Newton steps, and sweeps
    elastic_net_path._widest = lambda _n_scores, _n_rows: limit
    for share in (1.0, 0.5):
        for free in (False, True):
            net = ElasticNet(l1_share=share, penalize_intercept=not free, standardize=free)
            given = {"row_weight": weight, "n_strengths": 3, "ratio": 0.1, "options": tight}
            binary = logistic_path(design, np.minimum(labels, 1), net, **given)
            softmax = softmax_path(design, labels, 3, net, **given)
            found[f"binary {limit} {share} {free}"] = binary.coefficients
            found[f"softmax {limit} {share} {free}"] = softmax.coefficients
            assert binary.converged.all() and softmax.converged.all()
np.savez(sys.argv[1], **found)
"""


def test_whole_paths_in_plain_python_are_those_of_the_compiled_solvers(tmp_path):
    found = []
    for name, plain in (("compiled", "0"), ("plain", "1")):
        environment = {**os.environ, "NUMBA_DISABLE_JIT": plain}
        command = [sys.executable, "-c", PATHS, str(tmp_path / f"{name}.npz")]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-2000:]
        found.append(dict(np.load(tmp_path / f"{name}.npz")))
    for name, coefficients in found[0].items():
        # Both are solved to 1e-8 of the steepest derivative; curvatures are of its order.
        np.testing.assert_allclose(coefficients, found[1][name], atol=1e-6, err_msg=name)
