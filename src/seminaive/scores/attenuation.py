"""Rows with unknown cells: an answer close to the mean of the answers over what the cells may hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from seminaive.encode import EncodedTable
from seminaive.encode.saved_by_fields import SavedByFields
from seminaive.scores.kind import is_block

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from seminaive.arrays import Floats
    from seminaive.encode import Schema

    Truths = NDArray[np.bool_]

# The mean of a sigmoid over normal log odds of mean m and variance v is about the sigmoid of
# m / sqrt(1 + pi v / 8): it is close to the normal distribution function of the same slope at 0, whose
# variance is 8 / pi.
PER_VARIANCE = np.pi / 8


def unknown_cells(table: EncodedTable) -> Truths:
    """Return which cells of the schema's `features` carry no evidence, (n_rows, n_features).

    A value that training never had is unknown, and so is a missing cell, unless training had missing cells in
    its column and these count as a value.
    """
    return np.concatenate(_unknown_parts(table), axis=1)


def any_unknown(table: EncodedTable) -> bool:
    """Tell whether any cell is unknown, in a fraction of the time of `unknown_cells`."""
    codes, numbers = _unknown_parts(table)
    return bool(codes.any() or numbers.any())


def _unknown_parts(table: EncodedTable) -> tuple[Truths, Truths]:
    """Return which codes, and which numbers without cut points, are unknown."""
    numbers, (uncut, can_be) = table.numbers, table.schema.uncut_numbers
    if len(uncut) < numbers.shape[1]:
        numbers = numbers.take(uncut, axis=1)
    codes = table.codes == np.array(table.schema.cardinalities, dtype=table.codes.dtype)
    return codes, np.isnan(numbers) & can_be


def without_evidence(schema: Schema) -> EncodedTable:
    """Return a table of one row of which nothing is known."""
    codes = np.array([schema.cardinalities], dtype=schema.code_type)
    return EncodedTable(codes, np.full((1, len(schema.numeric)), np.nan), schema)


@dataclass(frozen=True)
class Attenuation(SavedByFields):
    """How far the score of a row with unknown cells goes toward that of the class shares.

    An unknown cell contributes the mean of its column. The sum is the mean score, whose probability is surer
    than the mean of the probabilities. With v the variance of what the unknown cells may contribute, the
    score s of a row becomes ``k s + r t``. Here ``k = 1 / sqrt(1 + pi v / 8)``, and t is what a row of which
    nothing is known lacks, its k being K, to give the class shares; other rows get the share
    ``r = (1 - k) / (1 - K)`` of it, at most all. Rows without an unknown cell keep their scores.

    Parameters
    ----------
    covariance : ndarray of shape (n_features, n_features)
        Its sum over the unknown columns is v; see `score_covariance`. A row for each of the schema's
        `features`.
    lack : ndarray of shape (n_classes,)
        The scores t.
    most_lost : float
        1 - K: by how much the score of a row of which nothing is known shrinks; 0 where no column matters.

    Examples
    --------
    A column whose log odds vary by 8 / pi, and are 3 in the mean, where both classes are equally frequent:

    >>> one = Attenuation.of(np.array([[8 / np.pi]]), np.array([0.0, 3.0]), np.log([0.5, 0.5]))
    >>> one.attenuated(np.array([[0.0, 3.0], [0.0, 3.0]]), np.array([[False], [True]])).round(6)
    array([[ 0.      ,  3.      ],
           [-0.693147, -0.693147]])
    """

    covariance: Floats
    lack: Floats
    most_lost: float

    @classmethod
    def of(cls, covariance: Floats, nothing_known: Floats, log_shares: Floats) -> Attenuation:
        """Return the attenuation of scores.

        Parameters
        ----------
        covariance : ndarray of shape (n_features, n_features)
        nothing_known, log_shares : ndarray of shape (n_classes,)
            The scores of a row of which nothing is known, and what they shall become.
        """
        least = float(_factors(covariance.sum()))
        return cls(covariance, log_shares - least * nothing_known, 1.0 - least)

    def attenuated(self, scores: Floats, unknown: Truths) -> Floats:
        """Return scores, given which cells are unknown, (n_rows, n_features); complete rows keep theirs."""
        some = unknown.any(axis=1)
        if not some.any():
            return scores
        factors, shares = self.factors_and_shares(unknown[some])
        changed = scores.copy()
        changed[some] = factors[:, None] * scores[some] + shares[:, None] * self.lack
        return changed

    def factors_and_shares(self, unknown: Truths) -> tuple[Floats, Floats]:
        """Return k and r of each row, given which cells are unknown; 1 and 0 of complete rows."""
        if self.most_lost == 0.0:
            return np.ones(len(unknown)), np.zeros(len(unknown))
        counted = unknown.astype(np.float64)
        factors = _factors(np.einsum("ij,ij->i", counted @ self.covariance, counted))
        return factors, np.minimum((1.0 - factors) / self.most_lost, 1.0)

    def rescaled(self, feature: int, ratio: float, before: Floats, after: Floats) -> Attenuation:
        """Return the attenuation where the contributions of one column vary ``ratio`` times as much.

        ``before`` and ``after`` are the scores of a row of which nothing is known; it keeps its answer.
        """
        factors = np.ones(len(self.covariance))
        factors[feature] = ratio
        log_shares = self.lack + (1.0 - self.most_lost) * before
        return Attenuation.of(self.covariance * np.outer(factors, factors), after, log_shares)

    def fits(self, n_features: int, n_classes: int) -> bool:
        """Tell whether it belongs to tables of this shape, and is finite."""
        return (
            is_block(self.covariance, (n_features, n_features))
            and is_block(self.lack, (n_classes,))
            and 0.0 <= self.most_lost < 1.0
        )


def _factors(variance: Floats) -> Floats:
    """Return k for some variances; one that is negative, by the rounding of a sum, is none."""
    factors: Floats = 1.0 / np.sqrt(1.0 + PER_VARIANCE * np.maximum(variance, 0.0))
    return factors
