"""Inner folds of a replay: those of the model's ``cv``, with copies of a row where the row goes.

A row that was drawn three times is three rows of a bootstrap sample. Dealt to folds one by one, its copies
would be trained on in one fold and held out in another, and a search over strengths would find that fitting
closely pays.
"""

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.model_selection import BaseCrossValidator, PredefinedSplit, check_cv
from sklearn.utils.validation import has_fit_parameter

from seminaive.arrays import Indices
from seminaive.errors import InputError


class ReplayFolds(BaseCrossValidator):  # type: ignore[misc]
    """A splitter for the rows of one replay: those of a rule among the different rows, and their copies.

    Parameters
    ----------
    rule : int, splitter, iterable of splits or None
        As of a model's ``cv``. Splits name rows of the whole table.
    origin : ndarray of shape (n_rows,)
        The row of the whole table that each row of the replay is a copy of.
    groups : ndarray of shape (n_rows,) or None
        What belongs together, for rules that look at it.
    """

    def __init__(self, rule: Any, origin: Indices, groups: Indices | None) -> None:
        self.rule = rule
        self.origin = origin
        self.groups = groups

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of folds."""
        return sum(1 for _ in self.split(X, y, groups))

    def split(self, X: Any, y: Any, groups: Any = None) -> Iterator[tuple[Indices, Indices]]:
        """Yield positions of training and of held-out rows, without folds that the replay left empty."""
        del X, groups
        if len(y) != len(self.origin):
            raise InputError(
                f"the folds of a replay are of its {len(self.origin)} rows, and the model splits {len(y)}: "
                "let cross-validation see all training rows"
            )
        for train, held_out in self._splits_of_table(np.asarray(y)):
            trains, holds = (np.flatnonzero(np.isin(self.origin, part)) for part in (train, held_out))
            if len(trains) and len(holds):
                yield trains, holds

    def _splits_of_table(self, y: Any) -> Iterator[tuple[Indices, Indices]]:
        """Yield the splits in rows of the whole table."""
        is_list = np.iterable(self.rule) and not hasattr(self.rule, "split")
        if is_list or isinstance(self.rule, PredefinedSplit):
            yield from check_cv(self.rule).split()
            return
        rows, first = np.unique(self.origin, return_index=True)
        groups = None if self.groups is None else self.groups[first]
        rule = check_cv(self.rule, y[first], classifier=True)
        with warnings.catch_warnings():
            # A rule that does not look at groups has said so of all rows.
            warnings.filterwarnings("ignore", message="The groups parameter is ignored")
            splits = list(rule.split(np.zeros((len(rows), 1)), y[first], groups))
        yield from ((rows[train], rows[held_out]) for train, held_out in splits)


def last_step(model: Any) -> tuple[str, Any]:
    """Return the prefix of the parameters of the final estimator of a pipeline, and that estimator."""
    prefix = ""
    while hasattr(model, "steps"):
        name, model = model.steps[-1]
        prefix += f"{name}__"
    return prefix, model


def replay_folds(
    model: Any, origin: Indices, groups: Indices | None, *, has_copies: bool
) -> dict[str, Indices]:
    """Let a model, or the last step of a pipeline, fold some rows as its fit folds all rows.

    A model whose ``fit`` takes groups is given them, or the numbers of the rows that are copied; by a number
    of folds it keeps them together. Any other rule becomes `ReplayFolds`. Returns what ``fit`` is given.

    Parameters
    ----------
    origin : ndarray of shape (n_rows,)
        The row of the whole table that each row is a copy of.
    groups : ndarray of shape (n_rows,) or None
        What belongs together.
    has_copies : bool
        Whether rows may be copies of each other.
    """
    prefix, estimator = last_step(model)
    parameters = estimator.get_params(deep=False) if hasattr(estimator, "get_params") else {}
    searches = getattr(estimator, "chooses_by_folds", lambda: True)
    takes_groups = has_fit_parameter(estimator, "groups") and searches()
    together = groups if groups is not None or not has_copies else origin
    given = {} if together is None or not takes_groups else {f"{prefix}groups": together}
    if "cv" not in parameters or isinstance(parameters["cv"], str):
        return given
    by_number = isinstance(parameters["cv"], int | float | np.number)
    if not by_number or (has_copies and not takes_groups):
        model.set_params(**{f"{prefix}cv": ReplayFolds(parameters["cv"], origin, groups)})
    return given
