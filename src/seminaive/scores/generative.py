"""From raw statistics to the scores of a generative model: log likelihoods of cells and of numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from seminaive.scores.additive import AdditiveScores, NumericTerms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from seminaive.statistics import Moments, TableStatistics, TupleCounts

    Floats = NDArray[np.float64]

# The log probability of what has probability zero: it outweighs any other evidence, and stays finite, so
# that a row to which every class objects still has a posterior (that of the fewest objections).
VETO = -1e5


# A smaller variance has no finite inverse, even after the floor.
SMALLEST_VARIANCE = 1e-280


def log_or_veto(probability: Floats) -> Floats:
    """Return the logarithm, and a finite veto for zero."""
    with np.errstate(divide="ignore"):
        return np.maximum(np.log(probability), VETO)


def laplace_tables(counts: TupleCounts, added: float) -> Floats:
    """Return log ``(count + added) / (class count + added * number of combinations)`` for every cell.

    The class count is that of rows with evidence on the term. Cells of no evidence contribute 0.
    """
    return _log_likelihoods(counts, np.full(len(counts.terms.features), added))


def m_estimate_tables(counts: TupleCounts, strength: float = 1.0) -> Floats:
    """Return log ``(count + strength / number of combinations) / (class count + strength)``.

    The strength is the weight, in rows, of a uniform prior over each term's combinations.
    """
    return _log_likelihoods(counts, strength / np.maximum(counts.terms.sizes, 1))


def _log_likelihoods(counts: TupleCounts, added: Floats) -> Floats:
    """Return the log share of each cell in its term and class, ``added`` given per term."""
    terms = counts.terms
    if not terms.features:
        return np.zeros_like(counts.counts)
    cells_of_term = terms.sizes + 1
    smoothed = counts.counts + np.repeat(added, cells_of_term)[:, None]
    smoothed[terms.no_evidence] = 0.0
    total = np.add.reduceat(smoothed, terms.offsets[:-1], axis=0)
    # A class without a row (and no pseudo-count) knows nothing: uniform.
    unknown = total <= 0
    total[unknown] = 1.0
    share = smoothed / np.repeat(total, cells_of_term, axis=0)
    uniform = np.repeat(unknown / np.maximum(terms.sizes, 1)[:, None], cells_of_term, axis=0)
    tables = log_or_veto(share + uniform)
    tables[terms.no_evidence] = 0.0
    return tables


@dataclass(frozen=True)
class NormalParameters:
    """Means and variances of numbers: of all rows taken together, and of each class.

    Parameters
    ----------
    centre, variance : ndarray of shape (n_numbers,)
        Overall mean and variance (divisor: the weight).
    shift : ndarray of shape (n_numbers, n_classes)
        Each class's mean less the overall mean.
    class_variance : ndarray of shape (n_numbers, n_classes)
        Each class's variance, or that within classes, the same for all; never below the floor.
    varies : ndarray of shape (n_numbers,) of bool
        Whether the number takes more than one value. Where not, variances are 1 and shifts 0.
    """

    centre: Floats
    variance: Floats
    shift: Floats
    class_variance: Floats
    varies: NDArray[np.bool_]

    @classmethod
    def of(cls, moments: Moments, *, pooled: bool, variance_floor: float) -> NormalParameters:
        """Return the parameters of normal densities, with one variance per number (pooled) or per class.

        A pooled variance is the sum of squared deviations within classes over the total weight. No
        variance is below ``variance_floor`` times the number's overall variance. A class without any
        number has the overall mean and variance.
        """
        overall = moments.pooled()
        centre, spread = overall.mean_and_squared_deviations()
        spread = spread / np.maximum(overall.weight, np.finfo(float).tiny)
        present = moments.weight > 0
        class_mean, squared_deviations = moments.mean_and_squared_deviations()
        mean = np.where(present, class_mean, centre)
        if pooled:
            within = squared_deviations.sum(axis=1, keepdims=True)
            variance = within / np.maximum(overall.weight, np.finfo(float).tiny)
            variance = np.broadcast_to(variance, mean.shape)
        else:
            variance = np.divide(
                squared_deviations, moments.weight, out=np.tile(spread, mean.shape[1]), where=present
            )
        varies = (spread > SMALLEST_VARIANCE)[:, 0]
        return cls(
            centre[:, 0],
            np.where(varies, spread[:, 0], 1.0),
            np.where(varies[:, None], mean - centre, 0.0),
            np.where(varies[:, None], np.maximum(variance, variance_floor * spread), 1.0),
            varies,
        )


def gaussian_terms(moments: Moments, *, pooled: bool, variance_floor: float) -> NumericTerms:
    """Return log normal densities, with one variance per feature (pooled) or per feature and class.

    A pooled variance makes the term linear: what the density has in common for all classes is left out. A
    feature that does not vary contributes nothing, nor does a missing number.
    """
    if not moments.sums.size:
        return NumericTerms.none(moments.sums.shape[-1])
    normal = NormalParameters.of(moments, pooled=pooled, variance_floor=variance_floor)
    shift, variance = normal.shift, normal.class_variance
    coefficients = np.zeros((len(shift), 4, shift.shape[1]))
    coefficients[:, 1] = -(shift**2) / (2 * variance)
    coefficients[:, 2] = shift / variance
    if not pooled:
        coefficients[:, 1] -= 0.5 * np.log(2 * np.pi * variance)
        coefficients[:, 3] = -0.5 / variance
    coefficients[~normal.varies] = 0.0
    return NumericTerms(tuple(range(len(shift))), normal.centre, coefficients)


def log_priors(class_weight: Floats, priors: Floats | None = None) -> Floats:
    """Return the log of given class probabilities, or of the classes' shares of the weight."""
    return log_or_veto(class_weight / class_weight.sum() if priors is None else priors)


def generative_scores(
    statistics: TableStatistics,
    *,
    smoothing: float = 1.0,
    pooled: bool = True,
    variance_floor: float = 1e-9,
    priors: Floats | None = None,
) -> AdditiveScores:
    """Return the scores of naive Bayes: log prior, Laplace tables and Gaussian terms."""
    return AdditiveScores(
        log_priors(statistics.class_weight, priors),
        statistics.counts.terms,
        laplace_tables(statistics.counts, smoothing),
        gaussian_terms(statistics.moments, pooled=pooled, variance_floor=variance_floor),
    )
