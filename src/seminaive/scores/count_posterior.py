"""How uncertain naive Bayes is: the posterior of its counts and moments.

The shares of a column's values in a class have a Dirichlet posterior, so that their logarithms have trigamma
variances. Means and variances of numbers have the usual large-sample variances, and the log density is linear
in them nearby (delta method). Columns are independent given the class, and so are classes, but for a variance
that all classes share.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from seminaive.errors import UnavailableError
from seminaive.scores.generative_terms import NormalParameters, trigamma
from seminaive.scores.probability_intervals import Spread

if TYPE_CHECKING:
    from seminaive.arrays import Floats
    from seminaive.encode import EncodedTable, Schema
    from seminaive.scores.effects import Effects, FeatureEffect, TupleEffect
    from seminaive.statistics import TableStatistics, TrainingSummary

# Rows whose deviations are kept at once.
AT_ONCE = 8192
# Standard deviations from a mean that are told apart. Variances have their fourth power, which has to be
# finite in sums.
FARTHEST = 1e70


@dataclass(frozen=True)
class CountPosterior:
    """Variances of the scores of naive Bayes, row by row, and of its effects.

    Parameters
    ----------
    smoothing : float
        Added to every count, in rows: the parameter of the prior. Above 0.
    pooled : bool
        Whether the classes share the variance of a number.
    known_priors : bool
        Whether the class probabilities were given.
    """

    statistics: TableStatistics
    smoothing: float
    pooled: bool
    variance_floor: float
    known_priors: bool

    @property
    def n_classes(self) -> int:
        """Return the number of classes."""
        return len(self.statistics.class_weight)

    @cached_property
    def of_prior(self) -> Floats:
        """The variance of each class's log share."""
        weight = self.statistics.class_weight
        return np.zeros(len(weight)) if self.known_priors else trigamma(weight)

    @cached_property
    def of_cells(self) -> tuple[Floats, Floats]:
        """The variances of the logarithms of the shares, before and after they are made to sum to 1.

        Before, those of one column are independent; after, each has the variance of the sum less. Cells of no
        evidence have none.
        """
        counts, terms = self.statistics.counts.counts, self.statistics.counts.terms
        known = terms.known
        apart = np.where(known[:, None], trigamma(counts + self.smoothing), 0.0)
        term = terms.term_of(np.arange(len(counts)))
        total = np.zeros((len(terms.features), self.n_classes))
        np.add.at(total, term[known], counts[known] + self.smoothing)
        return apart, np.where(known[:, None], np.maximum(apart - trigamma(total)[term], 0.0), 0.0)

    @cached_property
    def _normal(self) -> NormalParameters | None:
        moments = self.statistics.moments
        if not moments.sums.size:
            return None
        return NormalParameters.of(moments, pooled=self.pooled, variance_floor=self.variance_floor)

    def number_slopes(self, numbers: Floats) -> tuple[Floats, Floats]:
        """Return by how much log densities move with a standard error of the mean, and of the variance.

        Both of shape (n_rows, n_numbers, n_classes); 0 where a number is missing or never varies.
        """
        shape = (len(numbers), numbers.shape[1], self.n_classes)
        normal = self._normal
        if normal is None:
            return np.zeros(shape), np.zeros(shape)
        weight = np.maximum(self.statistics.moments.weight, 1.0)
        away = normal.deviations(numbers)[:, :, None] - normal.shift
        z = np.where(normal.varies[:, None], away / np.sqrt(normal.class_variance), np.nan)
        z = np.clip(z, -FARTHEST, FARTHEST)
        squared = np.square(z)
        if self.pooled:
            # What the density has in common for all classes does not count.
            of_variance = squared / np.sqrt(2.0 * weight.sum(axis=1, keepdims=True))
        else:
            of_variance = (squared - 1.0) / np.sqrt(2.0 * weight)
        return np.nan_to_num(z / np.sqrt(weight)), np.nan_to_num(of_variance)

    def of_rows(self, table: EncodedTable) -> tuple[Floats, Floats]:
        """Return how far the middle of the posterior is from the scores of each row, and their covariance.

        Both of the log odds of two classes, else of the scores of all; the distance is 0.
        """
        terms = self.statistics.counts.terms
        found = np.empty((len(table), self.n_classes, self.n_classes))
        for start in range(0, len(table), AT_ONCE):
            rows = slice(start, start + AT_ONCE)
            part = table.rows(np.arange(len(table))[rows])
            variance = self.of_prior + self.of_cells[1].take(terms.cells(part.codes), axis=0).sum(axis=1)
            of_mean, of_variance = self.number_slopes(part.numbers)
            found[rows] = _diagonal(variance + np.square(of_mean).sum(axis=1))
            found[rows] += (
                np.einsum("njc,njd->ncd", of_variance, of_variance)
                if self.pooled
                else _diagonal(np.square(of_variance).sum(axis=1))
            )
        if self.n_classes == 2:
            contrast = np.array([-1.0, 1.0])
            found = (found @ contrast @ contrast)[:, None, None]
        return np.zeros(found.shape[:2]), found

    def of_effects(self, effects: Effects, schema: Schema, summary: TrainingSummary) -> CountErrors:
        """Return the standard errors of the effects."""
        del summary
        return CountErrors(self, schema, effects.features)


def _diagonal(values: Floats) -> Floats:
    return values[:, :, None] * np.eye(values.shape[1])


@dataclass(frozen=True)
class CountErrors:
    """How sure the effects of naive Bayes are, as `Effects` shows them.

    Parameters
    ----------
    features : tuple of FeatureEffect
        Those of the model.
    """

    posterior: CountPosterior
    schema: Schema
    features: tuple[FeatureEffect, ...]

    @property
    def of_intercept(self) -> Spread:
        """Return the spread of the intercept, the mean score over the training rows."""
        variance, shared = self.posterior.of_prior[None], []
        for effect in self.features:
            mean, common = self._means(effect)
            variance = variance + mean
            shared.append(common)
        return spread_of_classes(variance[0], np.stack(shared, axis=1)[0])

    def of_feature(self, effect: FeatureEffect, numbers: Floats | None = None) -> Spread:
        """Return the spread of a category at each code, or of a number at some numbers."""
        share = effect.weight / effect.weight.sum()
        if effect.curve is None:
            apart, _ = self._cells(effect)
            of_mean = np.square(share) @ apart
            variance = (1.0 - 2.0 * share)[:, None] * apart + of_mean
            variance[-1] = self._means(effect)[0][0]
            return spread_of_classes(variance)
        if numbers is None:
            raise ValueError("standard errors of a curve are those at some numbers")
        of_mean, of_variance = self._slopes(effect, numbers)
        return self._of_slopes(of_mean, of_variance)

    def of_tuple(self, effect: TupleEffect) -> Spread:
        """Refuse: naive Bayes has no pairs."""
        raise UnavailableError(f"naive Bayes has no pair {effect.name}")

    def _cells(self, effect: FeatureEffect) -> tuple[Floats, Floats]:
        terms = self.posterior.statistics.counts.terms
        block = terms.block(terms.features.index((self.schema.coded.index(effect.position),)))
        apart, after = self.posterior.of_cells
        return apart[block], after[block]

    def _slopes(self, effect: FeatureEffect, numbers: Floats) -> tuple[Floats, Floats]:
        """Return the slopes of a number's effect, which has the mean 0 over the training rows."""
        number, n_numbers = self.schema.numeric.index(effect.position), len(self.schema.numeric)
        both = np.append(numbers, effect.seen)
        wide = np.full((len(both), n_numbers), np.nan)
        wide[:, number] = both
        share = effect.weight / effect.weight.sum()
        slopes = [of_all[:, number] for of_all in self.posterior.number_slopes(wide)]
        of_mean, of_variance = (slope[: len(numbers)] - share @ slope[len(numbers) :] for slope in slopes)
        return of_mean, of_variance

    def _means(self, effect: FeatureEffect) -> tuple[Floats, Floats]:
        """Return the variances of a feature's mean over the training rows, and what classes share of it."""
        share = effect.weight / effect.weight.sum()
        none = np.zeros((1, self.posterior.n_classes))
        if effect.curve is None:
            apart, after = self._cells(effect)
            known = share[:-1].sum()
            total = (apart - after).max(axis=0)
            return np.maximum(np.square(share) @ apart - known**2 * total, 0.0)[None], none
        of_mean, of_variance = self._slopes(effect, np.array([np.nan]))
        if self.posterior.pooled:
            return np.square(of_mean), of_variance
        return np.square(of_mean) + np.square(of_variance), none

    def _of_slopes(self, of_mean: Floats, of_variance: Floats) -> Spread:
        if self.posterior.pooled:
            return spread_of_classes(np.square(of_mean), of_variance[:, None])
        return spread_of_classes(np.square(of_mean) + np.square(of_variance))


def spread_of_classes(variance: Floats, shared: Floats | None = None) -> Spread:
    """Return the spread of log odds, or of centred scores of more classes, about what is shown.

    Parameters
    ----------
    variance : ndarray of shape (..., n_classes)
        Of the score of each class, independent of the others.
    shared : ndarray of shape (..., n_shared, n_classes) or None
        What the scores vary by together, in standard errors.
    """
    n = variance.shape[-1]
    joint = np.zeros((*variance.shape[:-1], 1, n)) if shared is None else shared
    if n == 2:
        together = np.square(joint[..., 1] - joint[..., 0]).sum(axis=-1)
        return Spread.about_shown(np.sqrt(variance.sum(axis=-1) + together)[..., None])
    centred = joint - joint.mean(axis=-1, keepdims=True)
    centred_variance = variance * (1.0 - 2.0 / n) + variance.sum(axis=-1, keepdims=True) / n**2
    return Spread.about_shown(np.sqrt(centred_variance + np.square(centred).sum(axis=-2)))
