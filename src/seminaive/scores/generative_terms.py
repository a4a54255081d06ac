"""From raw statistics to the scores of a generative model: log likelihoods of cells and of numbers."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import polygamma

from seminaive.scores.additive_scores import AdditiveScores
from seminaive.scores.numeric_terms import NumericTerms
from seminaive.statistics import log_or_veto, log_shares
from seminaive.statistics.terms import subsets

if TYPE_CHECKING:
    from collections.abc import Callable

    from seminaive.arrays import Booleans, Floats, Indices, Integers
    from seminaive.statistics import Moments, TableStatistics, TupleCounts

    # Of counts, totals, the number of values and what is added to each of them.
    Estimate = Callable[..., Floats]

# The least share of the overall variance that a variance may have, however small the floor: with less, scores
# would saturate among the numbers of the other classes.
LEAST_FLOOR = 1e-60


def laplace_tables(counts: TupleCounts, added: float) -> Floats:
    """Return log ``(count + added) / (class count + added * number of combinations)`` for every cell.

    The class count is that of rows with evidence on all columns of the term. Where some columns carry no
    evidence the cell has the estimate of the others, made in the same way from all rows that have them; where
    none is known, 0.
    """
    return _log_likelihoods(counts, lambda n_values: np.full(n_values.shape, added))


def m_estimate_tables(counts: TupleCounts, strength: float = 1.0) -> Floats:
    """Return log ``(count + strength / number of combinations) / (class count + strength)``.

    The strength is the weight, in rows, of a uniform prior over each term's combinations. Cells of no
    evidence are as in `laplace_tables`.
    """
    return _log_likelihoods(counts, lambda n_values: strength / n_values)


def share_variances(counts: TupleCounts, added: Callable[[Floats], Floats]) -> Floats:
    """Return the posterior variance of the log share of each cell, ``added`` being a function of the values.

    The posterior of shares is Dirichlet's: its parameters are the counts with what is added to them.
    """

    def variances(counts: Floats, totals: Floats, n_values: Floats, added: Floats) -> Floats:
        return np.maximum(trigamma(counts + added) - trigamma(totals + added * n_values), 0.0)

    return _log_likelihoods(counts, added, variances)


def trigamma(counts: Floats) -> Floats:
    """Return the variance of the logarithm of a gamma variable; 0 without any count."""
    return np.asarray(np.where(counts > 0, polygamma(1, np.where(counts > 0, counts, 1.0)), 0.0))


def _log_likelihoods(
    counts: TupleCounts, added: Callable[[Floats], Floats], estimate: Estimate = log_shares
) -> Floats:
    """Return an estimate, by default the log share, of each cell in its term and class.

    ``added`` is a function of the number of values.
    """
    terms = counts.terms
    if terms.orders.max(initial=0) <= 1:
        return _of_single_columns(counts, added, estimate)
    tables = np.zeros_like(counts.counts)
    for _, cells, shape in terms.of_one_shape():
        cell_counts = counts.counts[cells].reshape(*cells.shape[:1], *shape, tables.shape[1])
        filled = np.zeros_like(cell_counts)
        # Nothing is known where all axes are without evidence.
        for axes in [(), *subsets(len(shape))][:-1]:
            _fill_without(cell_counts, axes, added, estimate, filled)
        tables[cells] = filled.reshape(*cells.shape, tables.shape[1])
    return tables


def _fill_without(
    cell_counts: Floats,
    axes: tuple[int, ...],
    added: Callable[[Floats], Floats],
    estimate: Estimate,
    filled: Floats,
) -> None:
    """Fill in the estimate of the cells where exactly these axes are without evidence.

    ``cell_counts`` are those of terms of one shape, (terms, *shape, classes), no evidence being the last code
    of an axis. All rows that have the other columns are counted, whatever they have in these.
    """
    orders = range(cell_counts.ndim - 2)
    others = [slice(size - 1) for size in cell_counts.shape[1:-1]]
    summed = (slice(None), *(slice(None) if axis in axes else others[axis] for axis in orders))
    silent = (slice(None), *(slice(-1, None) if axis in axes else others[axis] for axis in orders))
    sums = cell_counts[summed].sum(axis=tuple(axis + 1 for axis in axes), keepdims=True)
    totals = sums.sum(axis=tuple(axis + 1 for axis in orders), keepdims=True)
    values = [cell_counts.shape[1 + axis] - 1 for axis in orders if axis not in axes]
    n_values = np.array(max(prod(values), 1), dtype=np.float64)
    filled[silent] = estimate(sums, totals, n_values, added(n_values))


def _of_single_columns(counts: TupleCounts, added: Callable[[Floats], Floats], estimate: Estimate) -> Floats:
    """Return the estimates of terms of one column, all of them at once; no evidence is 0."""
    terms = counts.terms
    tables = np.zeros_like(counts.counts)
    known = np.flatnonzero(terms.known)
    term = terms.term_of(known)
    cell_counts = counts.counts[known]
    n_values = terms.n_combinations[term][:, None].astype(np.float64)
    totals = _sums(term, cell_counts, len(terms.features))[term]
    tables[known] = estimate(cell_counts, totals, n_values, added(n_values))
    return tables


def _sums(group: Indices, rows: Floats, n_groups: int) -> Floats:
    """Return the sum of the rows of each group, (n_groups, columns)."""
    return np.stack([np.bincount(group, column, minlength=n_groups) for column in rows.T], axis=1)


@dataclass(frozen=True)
class NormalParameters:
    """Means and variances of numbers: of all rows taken together, and of each class.

    Variances and shifts are in units of a power of two, ``2**exponent``, which is 1 except for numbers so
    small that their squares would vanish.

    Parameters
    ----------
    centre : ndarray of shape (n_numbers,)
        Overall mean, in the unit of the numbers.
    variance : ndarray of shape (n_numbers,)
        Overall variance (divisor: the weight).
    shift : ndarray of shape (n_numbers, n_classes)
        Each class's mean less the overall mean.
    class_variance : ndarray of shape (n_numbers, n_classes)
        Each class's variance, or that within classes, the same for all; never below the floor.
    varies : ndarray of shape (n_numbers,) of bool
        Whether the number takes more than one value. Where not, variances are 1 and shifts 0.
    exponents : ndarray of shape (n_numbers,) of int
    """

    centre: Floats
    variance: Floats
    shift: Floats
    class_variance: Floats
    varies: Booleans
    exponents: Integers

    @classmethod
    def of(cls, moments: Moments, *, pooled: bool, variance_floor: float) -> NormalParameters:
        """Return the parameters of normal densities, with one variance per number (pooled) or per class.

        A pooled variance is the sum of squared deviations within classes over the total weight. No
        variance is below ``variance_floor`` (1e-60 if that is less) times the number's overall variance. A
        class without any number has the overall mean and variance.
        """
        exponents, moments = moments.exponents, moments.standardised()
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
        varies = (spread > 0)[:, 0]
        least = max(variance_floor, LEAST_FLOOR) * spread
        return cls(
            np.ldexp(centre[:, 0], exponents),
            np.where(varies, spread[:, 0], 1.0),
            np.where(varies[:, None], mean - centre, 0.0),
            np.where(varies[:, None], np.maximum(variance, least), 1.0),
            varies,
            exponents,
        )

    def deviations(self, numbers: Floats) -> Floats:
        """Return numbers (n_rows, n_numbers) less their centres, in the unit of the variances."""
        return np.ldexp(numbers - self.centre, -self.exponents)

    def terms(self, coefficients: Floats) -> NumericTerms:
        """Return polynomials of the deviations, given their coefficients (n_numbers, 4, n_classes)."""
        coefficients[~self.varies] = 0.0
        scales = np.ldexp(np.ones(len(self.centre)), -self.exponents)
        features = tuple(range(len(self.centre)))
        return NumericTerms(features, self.centre, coefficients, scales=scales).saturating()


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
    return normal.terms(coefficients)


def log_priors(class_weight: Floats, priors: Floats | None = None) -> Floats:
    """Return the log of given class probabilities, or of the classes' shares of the weight."""
    if priors is not None:
        return log_or_veto(priors)
    return log_shares(class_weight, class_weight.sum(), len(class_weight), 0.0)


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
