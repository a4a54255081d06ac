"""Which rows train and which are held out in cross-validation."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state

from seminaive.errors import InputError

if TYPE_CHECKING:
    from seminaive.arrays import Indices

    Split = tuple[Indices, Indices]


def check_folds(cv: Any, *names: str) -> None:
    """Refuse what is neither a number of folds, nor a splitter, nor splits, nor one of some names."""
    if isinstance(cv, str | bytes):
        known = cv in names
    elif isinstance(cv, Real):
        known = isinstance(cv, Integral) and int(cv) >= 2
    else:
        known = hasattr(cv, "split") or np.iterable(cv)
    if not known:
        allowed = "".join(f"{name!r}, " for name in names)
        raise InputError(
            f"cv is {allowed}a number of folds, at least 2 folds, a splitter or splits, got {cv!r}"
        )


def split_rows(
    cv: Any, labels: Indices, y: Any, sample_weight: Any, random_state: Any, groups: Any = None
) -> list[Split]:
    """Return pairs of training and held-out positions among the rows of positive weight.

    A number of folds splits every class evenly at random; a splitter or splits refer to all rows of ``y``,
    and a splitter is given the groups. ``labels`` are the codes of the rows of positive weight.
    """
    if isinstance(cv, Integral):
        if groups is not None:
            raise InputError("groups need a splitter that knows them: pass cv=GroupKFold() or the like")
        folds = stratified_folds(labels, min(int(cv), len(labels)), check_random_state(random_state))
        every = np.arange(len(labels))
        return [(every[folds != fold], every[folds == fold]) for fold in range(folds.max() + 1)]
    from sklearn.model_selection import check_cv

    splits = check_cv(cv, y, classifier=True).split(np.zeros((len(y), 1)), y, groups)
    kept = np.ones(len(y), dtype=bool) if sample_weight is None else np.asarray(sample_weight) > 0
    moved = np.cumsum(kept) - 1
    every = np.arange(len(y))
    try:
        found = [(moved[every[train][kept[train]]], moved[every[test][kept[test]]]) for train, test in splits]
    except (TypeError, ValueError, IndexError) as error:
        raise InputError(
            f"each of the splits of cv is a pair of positions, those to train on and those to test ({error})"
        ) from error
    if not found or any(len(train) == 0 or len(test) == 0 for train, test in found):
        raise InputError(
            "cv gives no fold, or a fold without training or test rows of positive weight: choose other folds"
        )
    return found


def stratified_folds(labels: Indices, n_folds: int, random: np.random.RandomState) -> Indices:
    """Return the fold of each row: the rows of each class, in random order, go to the folds in turn."""
    folds = np.empty(len(labels), dtype=np.int64)
    folds[_shuffled_by_class(labels, random)] = np.arange(len(labels)) % n_folds
    return folds


def stratified_sample(labels: Indices, n_rows: int, random: np.random.RandomState) -> Indices:
    """Return ``n_rows`` of the rows, increasing: of each class its share, within one row."""
    places = np.arange(n_rows) * len(labels) // n_rows
    return np.sort(_shuffled_by_class(labels, random)[places])


def _shuffled_by_class(labels: Indices, random: np.random.RandomState) -> Indices:
    """Return the rows in random order, one class after the other."""
    order = random.permutation(len(labels))
    return np.asarray(order[np.argsort(labels[order], kind="stable")])
