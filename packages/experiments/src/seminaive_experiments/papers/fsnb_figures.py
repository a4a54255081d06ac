"""Forward stagewise naive Bayes: what the paper's Figures 1 to 6 show, as numbers.

``fsnb_drawings`` draws them, and ``docs/pictures/fsnb.py`` those of the documentation.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone

from seminaive.arrays import Floats, Labels
from seminaive.encode import TableEncoder
from seminaive.scores import Interpolation
from seminaive.statistics import TableStatistics
from seminaive_experiments.papers.fsnb import (
    N_CLASSES,
    N_VALUES,
    TEST_ROWS,
    VARIANCE,
    Sample,
    draw_categories,
)

__all__ = [
    "alpha_surface",
    "errors_along_alpha",
    "errors_by_predictors",
    "noise_and_error",
    "noisy_frames",
    "path_errors",
    "three_numbers",
    "three_predictors",
]


_FIRST = np.array([[0.80, 0.10, 0.10], [1 / 3] * 3, [1 / 3] * 3])
_OTHERS = np.array([[1 / 3] * 3, [0.30, 0.10, 0.60], [0.30, 0.60, 0.10]])


def three_predictors(
    n_rows: int, rng: np.random.Generator, equal_share: float = 0.0
) -> tuple[Labels, Labels]:
    """Draw the predictors of Eq. 12 and the classes; the third equals the second in a share of the rows."""
    y = rng.integers(0, N_CLASSES, n_rows)
    X = np.column_stack([draw_categories(table[y], rng) for table in (_FIRST, _OTHERS, _OTHERS)])
    X[:, 2] = np.where(rng.random(n_rows) < equal_share, X[:, 1], X[:, 2])
    return X, y


def three_numbers(n_rows: int, rng: np.random.Generator, equal_share: float = 0.0) -> tuple[Floats, Labels]:
    """Draw normal predictors that tell the classes apart as those of Eq. 12 do; the paper prints no means.

    The first is high in class 1, the others are low in class 2 and high in class 3; the third equals the
    second in a share of the rows.
    """
    y = rng.integers(0, N_CLASSES, n_rows)
    means = np.array([[2.0, 0.0, 0.0], [0.0, -1.0, 1.0], [0.0, -1.0, 1.0]])
    X = rng.normal(means[:, y].T, np.sqrt(VARIANCE))
    X[:, 2] = np.where(rng.random(n_rows) < equal_share, X[:, 1], X[:, 2])
    return X, y


def _with_noise(X: Labels, n_noisy: int, kind: str, rng: np.random.Generator) -> Labels:
    """Add irrelevant predictors, or copies of the first one."""
    if kind == "redundant":
        return np.hstack([X, np.repeat(X[:, :1], n_noisy, axis=1)])
    probabilities = [np.tile(rng.dirichlet(np.ones(N_VALUES)), (len(X), 1)) for _ in range(n_noisy)]
    return np.column_stack([X, *(draw_categories(p, rng) for p in probabilities)])


def errors_by_predictors(kind: str, n_noisy: int = 50, seed: int = 0) -> pd.DataFrame:
    """Test error of naive Bayes by the number of predictors, over all rows and by class (Figure 2).

    Parameters
    ----------
    kind : {"irrelevant", "redundant"}
        What the predictors after the first three are.
    """
    rng = np.random.default_rng(seed)
    X, y = three_predictors(4000, rng)
    X = _with_noise(X, n_noisy, kind, rng)
    table = TableEncoder.learn(X, categorical_features="all")[1]
    train, test = slice(0, 1000), slice(1000, None)
    ends = Interpolation.of(TableStatistics.of(table.rows(train), y[train], N_CLASSES))
    parts = ends.scores_at(np.ones(ends.n_features)).breakdown(table.rows(test)).cumsum(axis=1)
    rows = []
    for n_predictors in range(1, ends.n_features + 1):
        wrong = parts[:, n_predictors].argmax(axis=1) != y[test]
        by_class = {f"class {c + 1}": float(wrong[y[test] == c].mean()) for c in range(N_CLASSES)}
        rows.append({"n_predictors": n_predictors, "all": float(wrong.mean()), **by_class})
    return pd.DataFrame(rows)


def noise_and_error(
    methods: Mapping[str, Any], n_noisy: int = 50, repetitions: int = 100, seed: int = 0
) -> pd.DataFrame:
    """Test errors without noise, with irrelevant and with redundant predictors (Figure 1), for any models."""
    rows = []
    for repetition in range(repetitions):
        rng = np.random.default_rng([seed, repetition])
        X, y = three_predictors(4000, rng)
        tables = {
            "no noise": X,
            f"{n_noisy} irrelevant": _with_noise(X, n_noisy, "irrelevant", rng),
            f"{n_noisy} redundant": _with_noise(X, n_noisy, "redundant", rng),
        }
        for kind, table in tables.items():
            frame = pd.DataFrame(table, columns=[f"x{j}" for j in range(table.shape[1])]).astype("category")
            for name, method in methods.items():
                model = clone(method).fit(frame[:1000], y[:1000])
                error = float((model.predict(frame[1000:]) != y[1000:]).mean())
                rows.append({"repetition": repetition, "kind": kind, "method": name, "error": error})
    return pd.DataFrame(rows)


def alpha_surface(equal_share: float, n_steps: int = 20, seed: int = 0, *, numbers: bool = False) -> Floats:
    """Test error over alphas of the second and third predictor, the first one being at 1 (Figures 3 and 4).

    Parameters
    ----------
    equal_share : float
        Share of the rows in which the third predictor equals the second.
    n_steps : int, default=20
        Grid intervals.
    numbers : bool, default=False
        Whether predictors are normal, as in Figure 4, or categories.

    Returns
    -------
    ndarray of shape (n_steps + 1, n_steps + 1)
        Rows: alpha of the second predictor, columns: of the third.
    """
    draw = three_numbers if numbers else three_predictors
    X, y = draw(4000, np.random.default_rng(seed), equal_share)
    table = TableEncoder.learn(X, categorical_features=[] if numbers else "all")[1]
    ends = Interpolation.of(TableStatistics.of(table.rows(slice(0, 1000)), y[:1000], N_CLASSES))
    grid = np.arange(n_steps + 1) / n_steps
    test = table.rows(slice(1000, None))
    errors = [
        (ends.scores_at(np.array([1.0, a, b])).joint_log_scores(test).argmax(axis=1) != y[1000:]).mean()
        for a in grid
        for b in grid
    ]
    return np.array(errors).reshape(len(grid), len(grid))


def noisy_frames(seed: int = 0, n_irrelevant: int = 12, n_train: int = 300) -> Sample:
    """Draw the predictors of Eq. 12 and irrelevant ones, for the pictures of a path (Figures 5 and 6)."""
    rng = np.random.default_rng(seed)
    X, y = three_predictors(n_train + TEST_ROWS, rng)
    X = _with_noise(X, n_irrelevant, "irrelevant", rng)
    names = [f"relevant {j + 1}" for j in range(3)] + [f"irrelevant {j + 1}" for j in range(n_irrelevant)]
    frame = pd.DataFrame(X, columns=names).astype("category")
    noisy = np.arange(len(names)) >= 3
    return Sample(frame[:n_train], y[:n_train], frame[n_train:], y[n_train:], noisy)


def path_errors(model: Any, sample: Sample) -> pd.DataFrame:
    """Training and test error of every step of a fitted path (Figure 6)."""
    ends = _ends(model, sample)
    test = TableEncoder(model.schema_).encode(sample.X_test)
    errors = [
        float((ends.scores_at(alphas).joint_log_scores(test).argmax(axis=1) != sample.y_test).mean())
        for alphas in model.path_.alphas
    ]
    path = model.path_
    return pd.DataFrame(
        {
            "step": np.arange(len(path)),
            "training error": path.training_error,
            "test error": errors,
            "AIC": path.aic,
            "deviance": path.deviance,
            "penalty": path.penalty,
        }
    )


def errors_along_alpha(
    model: Any, sample: Sample, step: int, feature: int, n_steps: int = 40
) -> pd.DataFrame:
    """Training and test error as one alpha of a step of the path goes on to 1 (Figure 5)."""
    ends = _ends(model, sample)
    tables = {
        "training error": (TableEncoder(model.schema_).encode(sample.X), sample.y),
        "test error": (TableEncoder(model.schema_).encode(sample.X_test), sample.y_test),
    }
    rows = []
    for alpha in np.linspace(model.path_.alphas[step, feature], 1, n_steps + 1):
        alphas = model.path_.alphas[step].copy()
        alphas[feature] = alpha
        scores = ends.scores_at(alphas)
        errors = {
            name: float((scores.joint_log_scores(table).argmax(axis=1) != y).mean())
            for name, (table, y) in tables.items()
        }
        rows.append({"alpha": alpha, **errors})
    return pd.DataFrame(rows)


def _ends(model: Any, sample: Sample) -> Interpolation:
    """Estimate the parameters that a model of categories was fitted with."""
    table = TableEncoder(model.schema_).encode(sample.X)
    return Interpolation.of(TableStatistics.of(table, sample.y, N_CLASSES), smoothing=model.smoothing)
