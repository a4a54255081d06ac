"""Naive Bayes of factors as R's package e1071 has it, and as it was when the hybrid paper was written.

`naiveBayes` takes counts as they are, and its `predict` puts 0.001 in place of a probability of zero. Before
version 1.7-0 (2018) `predict` found a level by its number among the levels of the new rows' factor. Where
factors are made of training rows and test rows apart, a level that no test row has moves all later ones by a
place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seminaive.arrays import Floats
    from seminaive_experiments.papers.factors import FactorRows

__all__ = ["PROBABILITY_OF_ZERO", "log_likelihoods_by_name", "log_likelihoods_by_number"]

PROBABILITY_OF_ZERO = 0.001


def log_likelihoods_by_name(training: FactorRows, rows: FactorRows, features: Sequence[int]) -> Floats:
    """Return the sum over features of log P(level | class), (rows, classes); a missing cell adds nothing.

    Parameters
    ----------
    training : FactorRows
        The rows that are counted.
    rows : FactorRows
        The rows to predict.
    features : sequence of int
    """
    total = np.zeros((len(rows.codes), training.n_classes))
    for feature in features:
        counts = training.level_counts(feature)
        shares = counts / np.maximum(counts.sum(axis=0), 1.0)
        logs = np.log(np.where(shares > 0, shares, PROBABILITY_OF_ZERO))
        total += np.vstack([logs, np.zeros(training.n_classes)])[rows.codes[:, feature]]
    return total


def log_likelihoods_by_number(training: FactorRows, rows: FactorRows, features: Sequence[int]) -> Floats:
    """Return the same where both factors are made after the split, and a level is found by its number.

    Parameters
    ----------
    training : FactorRows
        The rows that are counted.
    rows : FactorRows
        The rows to predict; all at once, since they decide the numbers.
    features : sequence of int
    """
    return log_likelihoods_by_name(
        training.with_levels_of_these_rows(), rows.with_levels_of_these_rows(), features
    )
