"""Inner folds of a bootstrap sample that keep the copies of a row together.

A row that was drawn three times is three rows of the sample. Dealt to folds one by one, its copies would be
trained on in one fold and held out in another, and a search over strengths would find that fitting closely
pays.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedGroupKFold

from seminaive.arrays import Indices
from seminaive.errors import InputError

# Folds where the model does not say how many: scikit-learn's default, and that of our models on fewer than
# 3,000 rows.
UNSAID_FOLDS = 5


class CopiesTogether:
    """A splitter for one table of rows, of which equal numbers are held out together.

    Parameters
    ----------
    numbers : ndarray of shape (n_rows,)
        The original row, or the group, that each row of the table is a copy of.
    n_splits : int
        Folds, fewer where there are fewer different numbers.
    """

    def __init__(self, numbers: Indices, n_splits: int, random_state: int) -> None:
        self.numbers = numbers
        self.n_splits = n_splits
        self.random_state = random_state

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:  # noqa: ARG002
        """Return the number of folds."""
        return min(self.n_splits, len(np.unique(self.numbers)))

    def split(self, X: Any, y: Any, groups: Any = None) -> Iterator[tuple[Indices, Indices]]:  # noqa: ARG002
        """Yield positions of training and of held-out rows, the classes spread evenly."""
        if len(y) != len(self.numbers):
            raise InputError(
                f"the folds of a replay are of its {len(self.numbers)} rows, and the model splits {len(y)}: "
                "let cross-validation see all training rows"
            )
        rule = StratifiedGroupKFold(self.get_n_splits(), shuffle=True, random_state=self.random_state)
        yield from rule.split(np.zeros(len(y)), y, self.numbers)


def last_step(model: Any) -> tuple[str, Any]:
    """Return the prefix of the parameters of the final estimator of a pipeline, and that estimator."""
    prefix = ""
    while hasattr(model, "steps"):
        name, model = model.steps[-1]
        prefix += f"{name}__"
    return prefix, model


def keep_copies_together(model: Any, numbers: Indices, random_state: int) -> None:
    """Let a model that splits its training rows by ``cv`` keep equal numbers in one fold.

    A number of folds, a splitter with ``n_splits`` and what stands for a default are replaced; a list of
    splits speaks of rows that a replay does not have and is refused.
    """
    prefix, estimator = last_step(model)
    parameters = estimator.get_params(deep=False) if hasattr(estimator, "get_params") else {}
    if "cv" not in parameters:
        return
    cv = parameters["cv"]
    if cv is None or isinstance(cv, str):
        n_splits = UNSAID_FOLDS if cv != "prefit" else None
    elif isinstance(cv, int | np.integer):
        n_splits = int(cv)
    elif hasattr(cv, "n_splits"):
        n_splits = int(cv.n_splits)
    else:
        raise InputError(
            f"cv of {type(estimator).__name__} names rows that a bootstrap sample does not have: give "
            "a number of folds"
        )
    if n_splits is not None:
        model.set_params(**{f"{prefix}cv": CopiesTogether(numbers, n_splits, random_state)})
