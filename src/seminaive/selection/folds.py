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


# Folds are drawn until ROWS_HELD_OUT rows are held out in all. More than MOST_SETS training sets take too
# long: with 5 and 30 of them a fit of few rows takes 1.3 and 4.1 times as long as in version 0.3, and seeds
# move a probability by .0158 and .0081 (33 tables; docs/decisions/0031-draws-of-folds.md).
ROWS_HELD_OUT, MOST_SETS = 2000, 30


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


def draws_by_size(n_rows: int, n_folds: int) -> int:
    """Return how many times folds are drawn, so that the answer hardly depends on the draw.

    Examples
    --------
    >>> [draws_by_size(n_rows, 5) for n_rows in (50, 200, 300, 1000, 2000)]
    [6, 6, 6, 2, 1]
    """
    wanted = -(-ROWS_HELD_OUT // max(n_rows, 1))
    return max(1, min(wanted, MOST_SETS // n_folds))


def split_rows(
    cv: Any,
    labels: Indices,
    y: Any,
    sample_weight: Any,
    random_state: Any,
    groups: Any = None,
    n_draws: int | None = 1,
) -> list[Split]:
    """Return pairs of training and held-out positions among the rows of positive weight.

    A number of folds splits every class evenly at random, ``n_draws`` times, None being `draws_by_size`;
    a splitter or splits refer to all rows of ``y``, and a splitter is given the groups. ``labels`` are the
    codes of the rows of positive weight.
    """
    if isinstance(cv, Integral):
        if groups is not None:
            raise InputError("groups need a splitter that knows them: pass cv=GroupKFold() or the like")
        n_folds, random = min(int(cv), len(labels)), check_random_state(random_state)
        n_draws = draws_by_size(len(labels), n_folds) if n_draws is None else n_draws
        every = np.arange(len(labels))
        drawn = [stratified_folds(labels, n_folds, random) for _ in range(n_draws)]
        return [(every[of != fold], every[of == fold]) for of in drawn for fold in range(n_folds)]
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
