"""Sentences about targets that are probably no classes, and about weights that may be meant otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from seminaive.arrays import Floats

# Classes beyond which a target is questioned: time and memory of a fit grow with their number, and tables of
# more classes are rarer than targets that are a quantity or a name. The most of the tables in the benchmarks
# is 28.
MOST_CLASSES = 50
# Different numbers beyond which a numeric target is questioned, unless they are codes: 0, 1, 2, ... or 1, 2,
# 3, ...
MOST_NUMBERS = 20
# How far the sum of weights may be from the number of rows where a strength is given: one that is ten times
# too weak or too strong is seen in every effect.
FAR = 10.0


def question_target(classes: NDArray[Any]) -> str | None:
    """Return a sentence about classes that are probably a quantity or a name, None where they are classes.

    Examples
    --------
    >>> question_target(np.array(["no", "yes"])) is None
    True
    >>> question_target(np.arange(18, 90)).split(":")[0]
    'the target has 72 different numbers, from 18 to 89'
    """
    labels, n_classes = classes.tolist(), len(classes)
    if all(isinstance(label, (int, float)) and not isinstance(label, bool) for label in labels):
        low, high = min(labels), max(labels)  # of Python's integers, which do not overflow
        codes = low in (0, 1) and high - low + 1 == n_classes
        if n_classes <= (MOST_CLASSES if codes else MOST_NUMBERS):
            return None
        return (
            f"the target has {n_classes:,} different numbers, from {low:g} to {high:g}: this package "
            "classifies, and a quantity wants regression (scikit-learn's HistGradientBoostingRegressor for "
            "instance), or a cut into a few classes"
        )
    if n_classes <= MOST_CLASSES:
        return None
    return (
        f"the target has {n_classes:,} classes, such as {labels[0]!r} and {labels[-1]!r}, and time and "
        "memory of a fit grow with their number: name another column if these identify rows, join rare "
        "classes, or use regression if they are quantities"
    )


def question_weights(row_weight: Floats | None) -> str | None:
    """Return a sentence about weights whose sum is far from the number of rows, None where it is near.

    Whole numbers are counts, whatever their sum.

    Examples
    --------
    >>> question_weights(np.full(500, 1 / 500)).split(". ")[0]
    'sample_weight sums to 1 over 500 rows'
    """
    if row_weight is None:
        return None
    row_weight = row_weight[row_weight > 0]
    n_rows, total = len(row_weight), float(row_weight.sum())
    if n_rows / FAR <= total <= n_rows * FAR or (row_weight == np.floor(row_weight)).all():
        return None
    effect = (
        "shrinks its effects that much more" if total < n_rows else "takes its effects for that much surer"
    )
    return (
        f"sample_weight sums to {total:.4g} over {n_rows:,} rows. A weight is how often a row counts, so "
        f"that the fit takes the table for one of {total:.4g} rows, and {effect}: multiply the weights by "
        f"{n_rows / total:.4g} to count each row once on average"
    )


def question_whole_weights(row_weight: Floats | None) -> str | None:
    """Return a sentence about weights that may count rows: whole numbers, not all of them 1.

    For searches by folds, in which a weight says how much a row matters, not how many rows it is.

    Examples
    --------
    >>> question_whole_weights(np.array([3.0, 1.0])).split(": ")[0]
    '2 rows with whole weights of mean 2'
    >>> question_whole_weights(np.array([3.5, 1.0])) is None
    True
    """
    if row_weight is None:
        return None
    row_weight = row_weight[row_weight > 0]
    if (row_weight == 1).all() or (row_weight != np.floor(row_weight)).any():
        return None
    return (
        f"{len(row_weight):,} rows with whole weights of mean {row_weight.mean():,.3g}: if weights count "
        "rows, repeat them: X.loc[X.index.repeat(w)]"
    )
