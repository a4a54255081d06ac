"""Whether fits between rows need a solver of their own: Newton steps with a kernel against its factor.

A kernel of n rows is a design of n features, its Cholesky factor, under a ridge of 1. So the solver of every
other design could do what `minimize_kernel` does. ``python benchmarks/kernel_factor.py`` records every fit
that `SemiNaive` makes on real tables of few rows, makes it again in both ways to the same tolerance, and
writes the processor seconds to ``results/kernel_factor.csv``. It needs
SEMINAIVE_DATA.
"""

from __future__ import annotations

import warnings
from time import process_time

import numpy as np
from race import Ratio, report
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpotrs

import seminaive.selection.row_space_solver as recorded
from seminaive import SemiNaive
from seminaive.design.dense import DenseDesign
from seminaive.objective.empirical_loss import EmpiricalLoss
from seminaive.objective.factor import lower_cholesky
from seminaive.objective.penalised_loss import PenalisedLoss
from seminaive.objective.ridge import Ridge
from seminaive.solvers.blas import one_blas_thread
from seminaive.solvers.kernel_newton import minimize_kernel
from seminaive.solvers.truncated_newton import minimize_truncated_newton
from seminaive_experiments import load_dataset

TABLES = (
    "german-credit",
    "heart-cleveland",
    "vehicle",
    "ionosphere",
    "dermatology",
    "spambase",
    "sonar",
    "soybean",
)
MOST_ROWS = 400


def record_fits(name):
    """Return the arguments of every fit between rows while SemiNaive learns from a table."""
    table = load_dataset(name)
    rows = np.random.default_rng(0).permutation(len(table.y))[:MOST_ROWS]
    calls = []

    def recording(kernel, loss, start, **limits):
        fit = minimize_kernel(kernel, loss, start, **limits)
        calls.append((kernel.copy(), loss, start.copy(), limits, fit.objective))
        return fit

    recorded.minimize_kernel = recording
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        SemiNaive().fit(table.X.iloc[rows], np.asarray(table.y)[rows])
    recorded.minimize_kernel = minimize_kernel
    return calls


def minimize_factor(kernel, loss, start, *, tol, max_iter):
    """Minimise the same objective over the coefficients of the kernel's Cholesky factor and an intercept."""
    n_rows = len(kernel)
    factor = np.tril(lower_cholesky(np.asfortranarray(kernel), 1e-10))
    design = DenseDesign(np.hstack([np.ones((n_rows, 1)), factor]))
    ridge = np.ones((n_rows + 1, 1))
    ridge[0] = 0.0
    labels = loss.targets.argmax(axis=1) if loss.n_columns > 1 else loss.targets[:, 0].astype(np.int64)
    rows = EmpiricalLoss(design, labels, loss.row_weight.ravel(), max(loss.n_columns, 2), keep_scores=True)
    intercept = start.mean(axis=0, keepdims=True)
    inside = solve_triangular(factor, start - intercept, lower=True)
    coefficients = np.concatenate([intercept, inside])
    curvature = rows.row_curvature(coefficients).mean(axis=1)
    weighted = design.features * np.sqrt(curvature)[:, None]
    hessian = weighted.T @ weighted + np.diag(ridge[:, 0])
    inverse = lower_cholesky(np.asfortranarray(hessian))

    def precondition(gradient):
        return dpotrs(inverse, gradient.reshape(rows.shape), lower=True)[0].reshape(gradient.shape)

    objective = PenalisedLoss(rows, Ridge(np.repeat(ridge, rows.shape[1], axis=1)), precondition)
    shape = (rows.shape[0], 1, rows.shape[1])
    root = float(np.sqrt(tol))
    return minimize_truncated_newton(
        objective, coefficients.reshape(shape), tol=root, max_iter=max_iter, reference=None
    )


def seconds(minimize, calls):
    """Return the processor seconds of all fits."""
    begin = process_time()
    for kernel, loss, start, limits, _ in calls:
        minimize(kernel, loss, start, **limits)
    return process_time() - begin


def main():
    """Race both on every table."""
    rows = []
    for name in TABLES:
        calls = record_fits(name)
        with one_blas_thread():
            ours, theirs = (
                min(seconds(way, calls) for _ in range(2)) for way in (minimize_kernel, minimize_factor)
            )
        rows.append(Ratio(f"{len(calls)} fits of {name}", "the kernel's factor", ours, theirs, 2.0))
        print(rows[-1], flush=True)
    report("kernel_factor", rows, ["scipy"])


if __name__ == "__main__":
    main()
