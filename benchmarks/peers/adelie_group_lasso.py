"""adelie's group lasso on a dummy matrix, run by an interpreter of its own (it needs numpy < 2).

Started as ``python adelie_group_lasso.py problem.npz answer.npz``.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import process_time

import numpy as np


def solve(codes, cardinalities, labels, penalties, strengths, tol):
    """Return the processor seconds of a path, and log odds at every strength.

    Parameters
    ----------
    penalties : ndarray of shape (n_columns,)
        What a unit of strength costs per norm of the log odds of a column's levels.
    """
    python = os.environ.get("ADELIE_PYTHON")
    if python is None:
        raise ImportError("set ADELIE_PYTHON to an interpreter that has adelie")
    with tempfile.TemporaryDirectory() as folder:
        given, answer = Path(folder) / "problem.npz", Path(folder) / "answer.npz"
        np.savez(
            given,
            codes=codes,
            cardinalities=cardinalities,
            labels=labels,
            penalties=penalties,
            strengths=strengths,
            tol=tol,
        )
        subprocess.run([python, __file__, str(given), str(answer)], check=True)
        with np.load(answer) as found:
            return float(found["seconds"]), found["coefficients"], found["intercepts"]


def main(given, answer):
    import adelie

    with np.load(given) as problem:
        codes, cardinalities = problem["codes"], problem["cardinalities"]
        labels, penalties, strengths = problem["labels"], problem["penalties"], problem["strengths"]
        tol = float(problem["tol"])
    groups = np.concatenate([[0], np.cumsum(cardinalities)[:-1]])
    dummies = np.zeros((len(codes), int(cardinalities.sum())), order="F")
    for column, start in enumerate(groups):
        dummies[np.arange(len(codes)), start + codes[:, column]] = 1.0
    start = process_time()
    state = adelie.grpnet(
        X=adelie.matrix.dense(dummies, n_threads=1),
        glm=adelie.glm.binomial(labels.astype(np.float64)),
        groups=groups,
        penalty=penalties,
        lmda_path=strengths,
        alpha=1.0,
        tol=tol,
        irls_tol=tol,
        irls_max_iters=100_000,
        max_iters=1_000_000,
        adev_tol=1.0,
        ddev_tol=0.0,
        early_exit=False,
        progress_bar=False,
    )
    seconds = process_time() - start
    coefficients = np.asarray(state.betas.toarray())
    np.savez(answer, seconds=seconds, coefficients=coefficients, intercepts=np.asarray(state.intercepts))


if __name__ == "__main__":
    main(*sys.argv[1:])
