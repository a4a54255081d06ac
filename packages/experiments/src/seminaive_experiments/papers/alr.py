"""Accelerated higher-order logistic regression: the studies behind the paper's figures.

Zaidi, Webb, Carman, Petitjean and Cerquides, "ALR^n: Accelerated higher-order logistic regression". How many
passes LR^n and ALR^n need (Figures 18 to 20, by L-BFGS, 25 and 26, by conjugate gradients), whether AnJE's
weights help to start or to scale the search (Appendix B, Figures 27 to 32), and how the orders learn from a
stream (Figure 2). The figures have no printed numbers, so there is nothing to compare cell by cell; the wins
and losses of Tables 2 to 4 are in ``alr_real``.

Every study takes a path to which finished work is appended; a study that was stopped goes on where it was.
"""

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from seminaive.arrays import Floats
from seminaive.errors import ConvergenceWarning
from seminaive.models import AcceleratedLogisticRegression, HigherOrderLogisticRegression
from seminaive_experiments.datasets import Dataset
from seminaive_experiments.papers.variants import AveragedWeights, HigherOrderBySolver

__all__ = ["convergence", "initialisation", "learning_curves", "passes_to_share_of_gap", "speed_ups"]

SHARE_OF_GAP = 1e-2
SCALINGS = ("none", "generative", "curvature")
_KEYS = ["dataset", "order", "ridge", "solver"]


def passes_to_share_of_gap(history: Floats, optimum: float, share: float = SHARE_OF_GAP) -> int:
    """Count the passes until the objective has closed all but a share of its first distance to the optimum.

    >>> passes_to_share_of_gap(np.array([10.0, 5.0, 1.0, 0.05, 0.0]), optimum=0.0)
    4
    """
    reached = history <= optimum + share * (history[0] - optimum)
    return int(np.argmax(reached)) + 1 if reached.any() else len(history) + 1


def convergence(
    tables: Iterable[Dataset],
    path: Path,
    *,
    orders: Sequence[int] = (1, 2),
    ridges: Sequence[float] = (0.0, 1.0),
    solvers: Sequence[str] = ("lbfgs",),
    max_iter: int = 300,
    max_rows: int = 20_000,
) -> pd.DataFrame:
    """Count passes in three search spaces: plain (LR^n), generative (ALR^n) and curvature (ours).

    The optimum is the lowest value that any of the three found. Returns one row per table, order, ridge,
    solver and scaling, with the passes to one per cent of the first gap.
    """

    def study(table: Dataset, order: int, ridge: float, solver: str) -> Iterator[dict[str, Any]]:
        histories = {}
        for scaling in SCALINGS:
            model = HigherOrderBySolver(
                order, ridge=ridge, scaling=scaling, solver=solver, tol=1e-7, max_iter=max_iter
            )
            histories[scaling] = _fitted(model, table, max_rows).history_
        optimum = min(history[-1] for history in histories.values())
        for scaling, history in histories.items():
            yield {
                "scaling": scaling,
                "passes": passes_to_share_of_gap(history, optimum),
                "first": history[0],
                "last": history[-1],
                "optimum": optimum,
            }

    return _resumed(tables, path, [(o, r, s) for o in orders for r in ridges for s in solvers], study)


def speed_ups(passes: pd.DataFrame) -> pd.DataFrame:
    """Geometric means over tables of how many times fewer passes than plain LR^n each scaling needs."""
    wide = passes.pivot_table(index=_KEYS, columns="scaling", values="passes")
    ratios = pd.DataFrame(
        {name: np.log(wide["none"] / wide[name]) for name in ("generative", "curvature")}
    ).assign(curvature_over_generative=np.log(wide["generative"] / wide["curvature"]))
    grouped = ratios.groupby(["order", "ridge", "solver"])
    means = pd.DataFrame(np.exp(grouped.mean()))
    return means.assign(tables=grouped.size()).reset_index()


def initialisation(
    tables: Iterable[Dataset], path: Path, *, orders: Sequence[int] = (1, 2), max_rows: int = 20_000
) -> pd.DataFrame:
    """Compare ALR^n, ALR^n started from AnJE and ALR^n scaled by AnJE's weight (Appendix B), unpenalised.

    Returns one row per table, order and variant: ``ALR``, ``ALR (init)`` and ``ALR (J)``.
    """

    def study(table: Dataset, order: int, ridge: float, solver: str) -> Iterator[dict[str, Any]]:
        common: dict[str, Any] = {
            "ridge": ridge,
            "scaling": "generative",
            "solver": solver,
            "tol": 1e-7,
            "max_iter": 300,
        }
        variants = {
            "ALR": AcceleratedLogisticRegression(order, **common),
            "ALR (init)": AcceleratedLogisticRegression(order, start="generative", **common),
            "ALR (J)": AveragedWeights(order, **common),
        }
        histories = {name: _fitted(model, table, max_rows).history_ for name, model in variants.items()}
        optimum = min(history[-1] for history in histories.values())
        # All are judged by the gap of the start from nothing: a better start is part of the answer.
        first = histories["ALR"][0]
        for variant, history in histories.items():
            reached = history <= optimum + SHARE_OF_GAP * (first - optimum)
            yield {
                "variant": variant,
                "passes": int(np.argmax(reached)) + 1 if reached.any() else len(history) + 1,
                "first": history[0],
                "last": history[-1],
            }

    return _resumed(tables, path, [(order, 0.0, "lbfgs") for order in orders], study)


def learning_curves(
    table: Dataset, *, orders: Sequence[int] = (1, 2, 3), chunk: int = 1000, ridge: float = 0.1
) -> pd.DataFrame:
    """Test each chunk of a stream, then learn it (Figure 2): root mean squared error and 0-1 loss by order.

    The models learn by stochastic descent, one step per row. The error of a row is the mean over the classes
    of the squared distance of posterior and truth.
    """
    classes = np.unique(table.y)
    lines = []
    for order in orders:
        model = HigherOrderLogisticRegression(order, ridge=ridge)
        for start in range(0, len(table.y), chunk):
            rows = slice(start, start + chunk)
            X, y = table.X.iloc[rows], table.y[rows]
            if start:
                proba = model.predict_proba(X)
                truth = (y[:, None] == classes).astype(float)
                error = float((classes[proba.argmax(axis=1)] != y).mean())
                rmse = float(np.sqrt(((proba - truth) ** 2).mean()))
                lines.append({"order": order, "rows_seen": start, "rmse": rmse, "error": error})
            model.partial_fit(X, y, classes=classes)
    return pd.DataFrame(lines)


def _fitted(model: Any, table: Dataset, max_rows: int) -> Any:
    """Fit a table, its first rows in random order where they are many; stopping early is part of a study."""
    rows = np.random.default_rng(0).permutation(len(table.y))[:max_rows]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(table.X.iloc[rows], table.y[rows])


def _resumed(
    tables: Iterable[Dataset],
    path: Path,
    settings: Sequence[tuple[int, float, str]],
    study: Callable[[Dataset, int, float, str], Iterator[dict[str, Any]]],
) -> pd.DataFrame:
    """Run what the file at the path does not have yet, and return all of it.

    Lines of the file that begin with ``#`` say where it comes from.
    """
    kept = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    done: set[tuple[Any, ...]] = set()
    header = not any(line and not line.startswith("#") for line in kept)
    if not header:
        done = set(pd.read_csv(path, comment="#")[_KEYS].itertuples(index=False, name=None))
    for table in tables:
        for order, ridge, solver in settings:
            key = (table.name, order, ridge, solver)
            if key not in done:
                lines = pd.DataFrame(
                    [dict(zip(_KEYS, key, strict=True)) | line for line in study(table, *key[1:])]
                )
                lines.to_csv(path, mode="a", header=header, index=False)
                header = False
    return pd.read_csv(path, comment="#")
