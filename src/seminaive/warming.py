"""Models compiled before they are needed: each is fitted to small tables of every kind, and predicts once.

numba compiles a loop when it is first called with arguments of some types, and keeps the result for later
processes. Which loops a fit calls depends on the kinds of its columns, on its rows and classes, and
on the size of its codes; the tables here take each of these ways once.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.base import clone

from seminaive.evaluate.progress import progress_bar
from seminaive.kernels.compilation import counted_compilation

if TYPE_CHECKING:
    from collections.abc import Mapping

    from seminaive.arrays import Integers

__all__ = ["Warmed", "warm_up"]

# Few rows, where a fit has as many unknowns as rows; more, where it has coefficients; many, where a search
# takes three folds instead of five.
FEW, MORE, MANY = 60, 2_000, 4_000
# More levels than a byte can number.
MANY_LEVELS = 300


@dataclass(frozen=True)
class Warmed:
    """What warming up did.

    Attributes
    ----------
    n_compiled : int
        Loops that were compiled; 0 where all of them were in the cache.
    seconds : float
        How long it took, fits included.
    failures : dict of str to str
        What a model raised, by its name.
    """

    n_compiled: int
    seconds: float
    failures: dict[str, str]


def warm_up(models: Mapping[str, Any], *, shown: bool = True) -> Warmed:
    """Compile what models need, and show how far it is.

    Parameters
    ----------
    models : mapping of str to classifier
        By the names that the progress bar shows; the classifiers themselves are not fitted.
    shown : bool
        Whether a terminal shows a progress bar.
    """
    start = time.monotonic()
    tables = _tables()
    failures: dict[str, str] = {}
    with counted_compilation() as compiled, progress_bar(shown=shown) as bar:
        fits = bar.add_task("compiling", total=len(models) * len(tables))
        for name, model in models.items():
            for X, y in tables:
                bar.update(fits, description=f"compiling, once per machine: {name}")
                try:
                    _use(clone(model), X, y)
                except Exception as error:  # noqa: BLE001 - one model must not keep the others cold
                    failures[name] = f"{type(error).__name__}: {error}"
                bar.update(fits, advance=1)
    return Warmed(len(compiled.names), time.monotonic() - start, failures)


def _use(model: Any, X: pd.DataFrame, y: Integers) -> None:
    """Fit a model, and predict many rows and one; what it says about a made-up table is of no interest."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
        model.predict_proba(X)
        model.predict_proba(X.iloc[:1])


def _tables() -> list[tuple[pd.DataFrame, Integers]]:
    """Return tables of every kind, each with two and with three classes."""
    numbers = _numbers(MANY)
    mixed = _numbers(MORE).join(_categories(MORE))
    towns = np.random.default_rng(1).integers(0, MANY_LEVELS, MORE).astype(str).astype(object)
    tables = [
        _with_unknown_cells(_numbers(FEW).join(_categories(FEW))),
        _categories(FEW),
        _with_unknown_cells(mixed),
        numbers,
        mixed.assign(town=towns),
        pd.DataFrame({"town": towns, "street": towns[::-1]}),
    ]
    return [(X, _labels(X, n_classes)) for X in tables for n_classes in (2, 3)]


def _numbers(n_rows: int) -> pd.DataFrame:
    rng = np.random.default_rng(2)
    count = rng.integers(0, 50, n_rows).astype(np.float64)
    return pd.DataFrame(
        {"size": rng.normal(size=n_rows), "count": count, "price": rng.exponential(size=n_rows)}
    )


def _categories(n_rows: int) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    columns = {"kind": ["a", "b", "c"], "place": ["north", "east", "south", "west"]}
    return pd.DataFrame({name: rng.choice(levels, n_rows).astype(object) for name, levels in columns.items()})


def _with_unknown_cells(X: pd.DataFrame) -> pd.DataFrame:
    unknown = np.random.default_rng(4).random(X.shape) < 0.05
    return X.mask(unknown)


def _labels(X: pd.DataFrame, n_classes: int) -> Integers:
    """Return equally frequent classes by a score with a slope, a curve and a pair, so that all are fitted."""
    score = np.random.default_rng(5).normal(scale=0.5, size=len(X))
    if "size" in X:
        score += X["size"].fillna(0).to_numpy() + np.sin(X["count"].fillna(0).to_numpy() / 5)
    if "kind" in X:
        score += 2.0 * ((X["kind"] == "a") & (X["place"] == "north")).to_numpy()
    return np.argsort(np.argsort(score)) * n_classes // len(X)
