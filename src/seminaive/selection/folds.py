"""Which rows train and which are held out in cross-validation."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state

from seminaive.errors import InputError

if TYPE_CHECKING:
    from seminaive.arrays import Booleans, Indices

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

    A number of folds splits every class evenly at random, and leaves groups whole, ``n_draws`` times, None
    being `draws_by_size`; a splitter or splits refer to all rows of ``y``, and a splitter is given the
    groups. ``labels`` are the codes of the rows of positive weight, ``groups`` has an entry for each row of
    ``y``.
    """
    kept = np.ones(len(y), dtype=bool) if sample_weight is None else np.asarray(sample_weight) > 0
    if isinstance(cv, Integral):
        random = check_random_state(random_state)
        n_folds = min(int(cv), len(labels))
        n_draws = draws_by_size(len(labels), n_folds) if n_draws is None else n_draws

        def folds() -> Indices:
            if groups is None:
                return stratified_folds(labels, n_folds, random)
            return grouped_folds(labels, np.asarray(groups)[kept], n_folds, random)

        every = np.arange(len(labels))
        drawn = [folds() for _ in range(n_draws)]
        return [(every[of != fold], every[of == fold]) for of in drawn for fold in range(of.max() + 1)]
    from sklearn.model_selection import check_cv

    splits = check_cv(cv, y, classifier=True).split(np.zeros((len(y), 1)), y, groups)
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


def grouped_folds(labels: Indices, groups: Indices, n_folds: int, random: np.random.RandomState) -> Indices:
    """Return the fold of each row: groups stay whole, and classes are spread as evenly as that allows.

    Groups go to the folds one by one, the largest first, equal ones in random order. Each goes where it adds
    least to the sum over folds f and classes c of ``n_fc^2 / N_c``, n_fc being the rows of c in f and N_c
    those in all: with g_c rows in the group, where ``sum_c g_c n_fc / N_c`` is least; of equals to the fold
    with the fewest rows.
    """
    number_of = np.unique(groups, return_inverse=True)[1].ravel()
    n_groups, n_classes = int(number_of.max()) + 1, int(labels.max()) + 1
    if n_groups < 2:
        raise InputError(
            f"all {len(labels)} rows are of one group, which no fold can hold out: leave groups out"
        )
    rows = np.bincount(number_of * n_classes + labels, minlength=n_groups * n_classes)
    rows = rows.reshape(n_groups, n_classes).astype(np.float64)
    sizes = rows.sum(axis=1)
    shares = rows / np.maximum(rows.sum(axis=0), 1.0)
    order = random.permutation(n_groups)
    order = order[np.argsort(-sizes[order], kind="stable")]
    n_folds = min(n_folds, n_groups)
    in_folds, fold_sizes = np.zeros((n_folds, n_classes)), np.zeros(n_folds)
    fold_of = np.empty(n_groups, dtype=np.int64)
    for group in order.tolist():
        added = in_folds @ shares[group]
        least = np.flatnonzero(added <= added.min())
        fold = int(least[fold_sizes[least].argmin()])
        fold_of[group] = fold
        in_folds[fold] += rows[group]
        fold_sizes[fold] += sizes[group]
    return np.asarray(fold_of[number_of])


def grouped_sample(groups: Indices, n_rows: int, random: np.random.RandomState) -> Booleans:
    """Return whether each row is drawn: whole groups in random order, as many as come nearest to ``n_rows``.

    At least one group is drawn, and one is not.
    """
    sizes = np.bincount(groups)
    if len(sizes) < 2:
        raise InputError(
            f"all {len(groups)} rows are of one group, which no fold can hold out: leave groups out"
        )
    order = random.permutation(len(sizes))
    reached = np.cumsum(sizes[order])[:-1]
    n_drawn = 1 + int(np.abs(reached - n_rows).argmin())
    return np.isin(groups, order[:n_drawn])


def stratified_sample(labels: Indices, n_rows: int, random: np.random.RandomState) -> Indices:
    """Return ``n_rows`` of the rows, increasing: of each class its share, within one row."""
    places = np.arange(n_rows) * len(labels) // n_rows
    return np.sort(_shuffled_by_class(labels, random)[places])


def _shuffled_by_class(labels: Indices, random: np.random.RandomState) -> Indices:
    """Return the rows in random order, one class after the other."""
    order = random.permutation(len(labels))
    return np.asarray(order[np.argsort(labels[order], kind="stable")])
