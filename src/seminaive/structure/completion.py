"""Missing cells drawn at random: from their distribution given the class, or by chained equations.

Codes follow the encoder: a code equal to the column's cardinality is a missing cell, and so is NaN among
numbers. What is drawn depends on the generator alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from seminaive.structure.chained_equations import learn_chain
from seminaive.structure.incomplete_columns import IncompleteColumns
from seminaive.structure.value_draws import draw_values, value_shares

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seminaive.arrays import Codes, Floats, Labels
    from seminaive.statistics.counts import TupleCounts
    from seminaive.statistics.moments import Moments

# Rounds of redrawing every incomplete column after which a chain is read.
SWEEPS = 10


def draw_codes_given_class(
    codes: Codes, labels: Labels, counts: TupleCounts, smoothing: float, generator: np.random.Generator
) -> Codes:
    """Return codes in which every missing cell is drawn from ``P(x | class)``.

    Parameters
    ----------
    codes : ndarray of shape (n_rows, n_columns)
    labels : ndarray of shape (n_rows,)
    counts : TupleCounts
        Of the single columns. A class in which a column was never observed has the counts of all classes.
    smoothing : float
        Added to every count, in rows; 0 draws only values that the class was seen with.

    Examples
    --------
    >>> from seminaive.statistics import Terms, TupleCounts
    >>> codes = np.array([[0], [0], [2], [1], [2]], dtype=np.uint8)
    >>> labels = np.array([0, 0, 0, 1, 1])
    >>> counts = TupleCounts.of(codes, labels, Terms.singles([2]), n_classes=2)
    >>> draw_codes_given_class(codes, labels, counts, 0.0, np.random.default_rng(0)).ravel()
    array([0, 0, 0, 1, 1], dtype=uint8)
    """
    completed = codes.copy()
    for column, cardinality in enumerate(counts.terms.cardinalities):
        missing = np.flatnonzero(codes[:, column] == cardinality)
        if len(missing) and cardinality:
            by_class = counts.joint(column).T
            shares = value_shares(
                np.where(by_class.sum(axis=1, keepdims=True) > 0, by_class, by_class.sum(axis=0)), smoothing
            )
            completed[missing, column] = draw_values(shares, labels[missing], generator)
    return completed


def draw_numbers_given_class(
    numbers: Floats, labels: Labels, moments: Moments, generator: np.random.Generator
) -> Floats:
    """Return numbers in which every missing one is drawn from the normal distribution of its class.

    Means and variances are those of maximum likelihood. A class in which a column was never observed has
    those of all classes, and a column without any number stays as it is.
    """
    completed = numbers.copy()
    overall = moments.pooled()
    seen = moments.weight > 0
    mean = np.where(seen, moments.mean, overall.mean)
    deviations = np.where(seen, moments.squared_deviations, overall.squared_deviations)
    deviation = np.sqrt(deviations / np.maximum(np.where(seen, moments.weight, overall.weight), 1e-300))
    for column in np.flatnonzero(overall.weight[:, 0] > 0):
        missing = np.flatnonzero(np.isnan(numbers[:, column]))
        label = labels[missing]
        completed[missing, column] = generator.normal(mean[column, label], deviation[column, label])
    return completed


def complete(
    codes: Codes,
    labels: Labels,
    cardinalities: Sequence[int],
    n_imputations: int,
    generator: np.random.Generator,
    *,
    row_weight: Floats | None = None,
    n_sweeps: int = SWEEPS,
) -> Codes:
    """Return several completions of a coded training table, drawn by chained equations.

    Every column is drawn given the class and the columns that tell most about it, whose values are drawn in
    turn; see `seminaive.structure.chained_equations`. The tables differ in the missing cells alone.

    Parameters
    ----------
    codes : ndarray of shape (n_rows, n_columns)
    labels : ndarray of shape (n_rows,)
        The class of each row, from 0 on.
    cardinalities : sequence of int
        The number of values of each column; as a code, a missing cell.
    n_imputations : int
        The number of completions, D.
    row_weight : ndarray of shape (n_rows,) or None
        How often each row counts when tables are counted.
    n_sweeps : int
        Rounds of redrawing every incomplete column.

    Returns
    -------
    completions : ndarray of shape (n_imputations, n_rows, n_columns)

    Examples
    --------
    The second column repeats the first, and where it is missing it is drawn so:

    >>> rng = np.random.default_rng(0)
    >>> first = rng.integers(0, 2, 400)
    >>> codes = np.column_stack([first, np.where(rng.random(400) < 0.5, 2, first)]).astype(np.uint8)
    >>> tables = complete(codes, rng.integers(0, 2, 400), (2, 2), 3, rng)
    >>> tables.shape, bool((tables[:, :, 0] == tables[:, :, 1]).mean() > 0.99)
    ((3, 400, 2), True)
    """
    n_classes = int(labels.max()) + 1
    columns = IncompleteColumns.of(codes, cardinalities, labels=labels, n_classes=n_classes)
    completions = np.repeat(codes[None], n_imputations, axis=0)
    if not columns.missing_cells():
        return completions
    chain = learn_chain(columns, row_weight)
    for completed, child in zip(completions, generator.spawn(n_imputations), strict=True):
        drawn = columns.copy()
        chain.run(drawn, n_sweeps, child, row_weight)
        completed[...] = drawn.codes[: codes.shape[1]].T
    return completions
