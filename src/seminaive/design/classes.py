"""Two classes share one column of log odds: the only place that knows how it is split between them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from seminaive.arrays import Floats


def n_columns_of(n_classes: int) -> int:
    """Return the number of score columns: one log odds for two classes, else one per class."""
    return 1 if n_classes == 2 else n_classes


def log_odds(by_class: Floats) -> Floats:
    """Return one column, class 1 minus class 0, of two; more classes as they are."""
    return by_class[:, 1:] - by_class[:, :1] if by_class.shape[1] == 2 else by_class


def by_class(columns: Floats) -> Floats:
    """Return one column per class: a single log odds is halved between its two classes."""
    return np.hstack([-columns / 2, columns / 2]) if columns.shape[1] == 1 else columns


def toward_class_shares(coefficients: Floats, share: float, class_weight: NDArray[Any]) -> Floats:
    """Return ``share`` times coefficients, the intercept first; the rest is the class shares."""
    found = share * coefficients
    found[0] += (1 - share) * class_share_scores(class_weight)
    return np.asarray(found)


def class_share_scores(class_weight: NDArray[Any]) -> Floats:
    """Return the scores of the class shares: one log odds of two classes, else centred logarithms."""
    logs = np.log(class_weight / class_weight.sum())
    return np.asarray(logs[1:] - logs[0] if len(logs) == 2 else logs - logs.mean())
