"""Generative parameters between "no effect" and naive Bayes, feature by feature."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from seminaive.scores.additive_scores import AdditiveScores
from seminaive.scores.generative_terms import NormalParameters, laplace_tables, log_priors
from seminaive.statistics import TupleCounts, log_or_veto

if TYPE_CHECKING:
    from seminaive.arrays import Booleans, Floats
    from seminaive.statistics import TableStatistics, Terms

# A feature whose parameters differ less than this between the classes, by rounding, says nothing.
SAME_PARAMETERS = 1e-12


@dataclass(frozen=True)
class Interpolation:
    """Parameters of every feature at alpha = 0 (pooled over the classes) and at alpha = 1 (per class).

    At alpha a category's probability is ``(1 - alpha) P(x) + alpha P(x | c)``, a number's mean and standard
    deviation are mixed likewise, and then the logarithm is taken (Eq. 13 of forward stagewise naive Bayes).
    Scaling log probabilities by an exponent is another operation, `AdditiveScores.scale`. A contribution is
    given as the log of the mixed over the pooled probability: 0 at alpha = 0 for every class.

    Features come in the order of terms: coded columns first, then numbers.

    Parameters
    ----------
    prior : ndarray of shape (n_classes,)
        Log prior.
    terms : Terms
        One per coded column.
    counts : ndarray of shape (n_cells, n_classes)
        Smoothed counts, of which the probabilities are the shares.
    pooled : ndarray of shape (n_cells,)
        P(x), from the smoothed counts added over the classes; 1 in cells of no evidence.
    lift : ndarray of shape (n_cells, n_classes)
        P(x | c) / P(x); 1 where P(x) = 0 and in cells of no evidence.
    weight : ndarray of shape (n_numbers, n_classes)
        The weight of the rows that have the number.
    shared_variance : bool
        Whether the classes share one variance, which makes a number's contribution linear.

    Examples
    --------
    Half of the way from P(wet) = 0.5 to P(wet | rain) = 0.8 lies 0.65:

    >>> from seminaive.encode import TableEncoder
    >>> from seminaive.statistics import TableStatistics
    >>> X = [["wet"]] * 8 + [["dry"]] * 2 + [["wet"]] * 2 + [["dry"]] * 8
    >>> table = TableEncoder.learn(X)[1]
    >>> statistics = TableStatistics.of(table, np.repeat([0, 1], 10), 2)
    >>> wet = Interpolation.of(statistics, smoothing=0.0).scores_at(np.array([0.5])).tables[1]
    >>> (0.5 * np.exp(wet)).round(2)
    array([0.65, 0.35])
    """

    prior: Floats
    terms: Terms
    counts: Floats
    pooled: Floats
    lift: Floats
    weight: Floats
    normal: NormalParameters
    shared_variance: bool

    @classmethod
    def of(
        cls,
        statistics: TableStatistics,
        *,
        smoothing: float = 1.0,
        shared_variance: bool = False,
        variance_floor: float = 1e-9,
    ) -> Interpolation:
        """Return both ends of every feature, estimated from counts of single columns and from moments."""
        counts = statistics.counts
        n_classes = counts.counts.shape[1]
        added_up = TupleCounts(counts.terms, counts.counts.sum(axis=1, keepdims=True))
        pooled = np.exp(laplace_tables(added_up, n_classes * smoothing))[:, 0]
        by_class = np.exp(laplace_tables(counts, smoothing))
        occurs = (pooled > 0)[:, None]
        return cls(
            log_priors(statistics.class_weight),
            counts.terms,
            counts.counts + smoothing,
            pooled,
            np.divide(by_class, pooled[:, None], out=np.ones_like(by_class), where=occurs),
            statistics.moments.weight,
            NormalParameters.of(statistics.moments, pooled=shared_variance, variance_floor=variance_floor),
            shared_variance,
        )

    @property
    def n_classes(self) -> int:
        """Return the number of classes."""
        return len(self.prior)

    @property
    def n_tables(self) -> int:
        """Return the number of coded columns."""
        return len(self.terms.features)

    @property
    def n_features(self) -> int:
        """Return the number of coded columns and numbers."""
        return self.n_tables + len(self.normal.centre)

    def tables_at(self, alphas: Floats) -> Floats:
        """Return the contribution of every cell, alphas given for each cell, (..., n_cells, n_classes)."""
        mixed = (1.0 - alphas)[..., None] + alphas[..., None] * self.lift
        return log_or_veto(mixed)

    def polynomials_at(self, alphas: Floats) -> Floats:
        """Return constant, linear and quadratic coefficients of every number's contribution.

        ``alphas`` (..., n_numbers) gives (..., n_numbers, 3, n_classes), in powers of the number less its
        overall mean.
        """
        alpha = alphas[..., None]
        overall = np.sqrt(self.normal.variance)[:, None]
        deviation = (1.0 - alpha) * overall + alpha * np.sqrt(self.normal.class_variance)
        shift = alpha * self.normal.shift
        precision = 1.0 / deviation**2
        constant = -0.5 * shift**2 * precision
        quadratic = np.zeros_like(constant)
        if not self.shared_variance:
            constant = constant + np.log(overall / deviation)
            quadratic = 0.5 * (1.0 / overall**2 - precision)
        coefficients = np.stack([constant, shift * precision, quadratic], axis=-2)
        coefficients[..., ~self.normal.varies, :, :] = 0.0
        return coefficients

    def per_cell(self, alphas: Floats) -> Floats:
        """Return the alpha of each cell's feature."""
        return np.repeat(alphas[: self.n_tables], np.diff(self.terms.offsets))

    def scores_at(self, alphas: Floats) -> AdditiveScores:
        """Return the scores at one alpha per feature; a feature at 0 contributes 0."""
        numbers = np.zeros((len(self.normal.centre), 4, self.n_classes))
        numbers[:, 1:] = self.polynomials_at(alphas[self.n_tables :])
        return AdditiveScores(
            self.prior,
            self.terms,
            self.tables_at(self.per_cell(alphas)),
            self.normal.terms(numbers),
        )

    def sum_by_term(self, cells: Floats) -> Floats:
        """Return the sum of (n_cells, n_classes) values over each coded column's cells and the classes."""
        if not self.n_tables:
            return np.empty(0)
        sums: Floats = np.add.reduceat(cells.sum(axis=1), self.terms.offsets[:-1])
        return sums

    @property
    def is_informative(self) -> Booleans:
        """Return which features have parameters that differ between classes; a constant one has none."""
        informative: Booleans = self.distances > SAME_PARAMETERS
        return informative

    @property
    def distances(self) -> Floats:
        """Return how far each feature's parameters move from alpha = 0 to 1 (Euclidean, (n_features,)).

        Categories: of P(x | c) from P(x). Numbers: of means and standard deviations, in units of the overall
        standard deviation.
        """
        tables = self.sum_by_term(np.square(self.pooled[:, None] * (self.lift - 1.0)))
        overall = np.sqrt(self.normal.variance)[:, None]
        numbers = np.square(self.normal.shift / overall).sum(axis=1)
        numbers += np.square(np.sqrt(self.normal.class_variance) / overall - 1.0).sum(axis=1)
        numbers[~self.normal.varies] = 0.0
        distances: Floats = np.sqrt(np.concatenate([tables, numbers]))
        return distances
