"""What a fitted classifier tells about itself: the terms that it kept, and its effects.

A model may offer two methods; nothing else is known of it here.

``kept_terms()``
    The names of the columns and tuples of columns that move its answers.
``column_effects(X)``
    What each column alone says in each row, an array of shape (n_rows, n_columns, n_classes).

Of other models the terms are those that a selector supports, or whose coefficients are not 0.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils import _safe_indexing

from seminaive.arrays import Floats, Indices
from seminaive.errors import TooLargeError, UnavailableError

# Points of a number's effect, between these quantiles, and categories, the most frequent ones.
_N_POINTS, _QUANTILES, _MOST_LEVELS = 15, (0.02, 0.98), 12


def as_pandas(X: Any) -> pd.DataFrame:
    """Return a table as a pandas frame; columns without names are called x0, x1 and so on."""
    if isinstance(X, pd.DataFrame):
        return X
    if hasattr(X, "to_pandas"):
        frame: pd.DataFrame = X.to_pandas()
        return frame
    values = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
    return pd.DataFrame(values, columns=[f"x{k}" for k in range(values.shape[1])])


@dataclass(frozen=True, eq=False)
class EffectGrid:
    """Values of each column at which the effects of several fits are compared, each with a row that has it.

    Parameters
    ----------
    names : tuple of str
        The column of each point.
    values : tuple
        The value at each point.
    columns, rows : ndarray of shape (n_points,)
        Positions of the column, and of a row with the value.
    """

    names: tuple[str, ...]
    values: tuple[Any, ...]
    columns: Indices
    rows: Indices

    @classmethod
    def of(cls, X: Any) -> "EffectGrid":
        """Choose quantiles of numbers, and frequent categories."""
        points = []
        for position, (name, column) in enumerate(as_pandas(X).items()):
            cells = column.reset_index(drop=True).dropna()
            if pd.api.types.is_numeric_dtype(cells) and cells.nunique() > _MOST_LEVELS:
                levels = np.linspace(*_QUANTILES, _N_POINTS)
                chosen = cells.sort_values().iloc[np.round(levels * (len(cells) - 1)).astype(int)]
            else:
                frequent = cells.value_counts().index[:_MOST_LEVELS]
                chosen = cells[cells.isin(frequent)]
                chosen = chosen.iloc[np.argsort([str(cell) for cell in chosen], kind="stable")]
            chosen = chosen.drop_duplicates()
            points += [
                (str(name), value, position, int(row))
                for row, value in zip(chosen.index, chosen, strict=True)
            ]
        names, values, columns, rows = zip(*points, strict=True) if points else ((), (), (), ())
        return cls(names, values, np.array(columns, dtype=np.int64), np.array(rows, dtype=np.int64))


def effects_on_grid(model: Any, X: Any, grid: EffectGrid, n_classes: int) -> Floats:
    """Return the effects at the points of a grid, (n_points, n_classes); none if the model tells none."""
    none = np.empty((0, n_classes))
    if not hasattr(model, "column_effects"):
        return none
    try:
        effects = model.column_effects(_safe_indexing(X, grid.rows))
    except (UnavailableError, TooLargeError):  # no summary of the training table, or too many tuples
        return none
    return np.asarray(effects[np.arange(len(grid.rows)), grid.columns])


def kept_terms_of(model: Any) -> list[str]:
    """Return the names of the terms that a fitted model kept, none where it does not tell."""
    if hasattr(model, "steps"):
        return _kept_by_pipeline(model)
    if hasattr(model, "kept_terms"):
        return _told(model)
    return _of_coefficients(model, getattr(model, "feature_names_in_", None))


def _told(model: Any) -> list[str]:
    try:
        return [str(name) for name in model.kept_terms()]
    except (UnavailableError, TooLargeError):  # no summary of the training table, or too many tuples
        return []


def _kept_by_pipeline(model: Any) -> list[str]:
    """Return what the last step kept of the columns that the steps before it made, and none without names."""
    last = model.steps[-1][1]
    if hasattr(last, "kept_terms"):
        return _told(last)
    selects = any(hasattr(step, "get_support") for _, step in model.steps[:-1])
    try:
        names = model[:-1].get_feature_names_out()
    except (AttributeError, ValueError, NotImplementedError):  # a step that does not name its columns
        return []
    kept = _of_coefficients(last, names)
    return kept or ([str(name) for name in names] if selects else [])


def _of_coefficients(model: Any, names: Any) -> list[str]:
    """Return the names of columns whose coefficient is not 0 for some class."""
    try:
        coefficients = np.atleast_2d(np.asarray(model.coef_, dtype=np.float64))
    except (AttributeError, ValueError, TypeError):  # no coefficients, or none of one kind per column
        return []
    names = [f"x{k}" for k in range(coefficients.shape[1])] if names is None else names
    if len(names) != coefficients.shape[1]:
        return []
    return [str(name) for name, used in zip(names, np.ravel(coefficients.any(axis=0)), strict=True) if used]
