"""The geometric mean of all models that join the features in groups of n."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from seminaive.models.additive_classifier import AdditiveClassifier
from seminaive.models.generative_classifier import refuse_no_smoothing
from seminaive.models.tuple_statistics import TupleClassifier
from seminaive.scores import AdditiveScores, join_posterior, laplace_tables, m_estimate_tables
from seminaive.statistics import log_shares

if TYPE_CHECKING:
    from seminaive.scores import TuplePosterior


@dataclass(eq=False, repr=False)
class AveragedJoinEstimators(TupleClassifier, AdditiveClassifier):
    """Naive Bayes over groups of n features, averaged over all ways to group them (AnJE).

    The score of class c is ``log pi_c + g sum_t log theta_{x_t | c}``, where t runs over all sets of
    ``order`` columns. A column is in ``binomial(a - 1, n - 1)`` of these sets, a being the number of columns
    and n the order; ``g`` is one over that number, so that each column counts once in all. Order 1 is naive
    Bayes. Nothing but counts is needed. `AcceleratedLogisticRegression` starts from these estimates.

    Parameters
    ----------
    order : int, default=2
        Number of features in a group. More than there are columns means all of them together.

    Attributes
    ----------
    scores_ : AdditiveScores
        The log prior, and one table per set of columns.

    Examples
    --------
    Two copies of a feature, joined, count as one:

    >>> X = [["wet", "wet"]] * 30 + [["dry", "dry"]] * 30
    >>> y = ["rain"] * 20 + ["sun"] * 10 + ["rain"] * 10 + ["sun"] * 20
    >>> AveragedJoinEstimators(order=2).fit(X, y).predict_proba([["dry", "dry"]]).round(2)
    array([[0.34, 0.66]])
    >>> AveragedJoinEstimators(order=1).fit(X, y).predict_proba([["dry", "dry"]]).round(2)
    array([[0.21, 0.79]])
    """

    def _counted_orders(self) -> tuple[int, bool]:
        return self.order, False

    def _derive(self) -> None:
        statistics = self.statistics_
        n_columns = len(statistics.counts.terms.cardinalities)
        order = min(self.order, n_columns)
        tables = (m_estimate_tables if self.estimates == "m-estimate" else laplace_tables)(
            statistics.counts, self.smoothing
        )
        weight = statistics.class_weight
        added = self.smoothing / len(weight) if self.estimates == "m-estimate" else self.smoothing
        prior = log_shares(weight, weight.sum(), len(weight), added)
        share = 1 / comb(n_columns - 1, order - 1)
        self.scores_ = AdditiveScores.of_tables(prior, statistics.counts.terms, tables * share)

    def _uncertainty(self) -> TuplePosterior:
        """Return how uncertain the counts are, columns that no tuple joins being independent in a class."""
        refuse_no_smoothing(self.smoothing)
        shared, smoothing = self.estimates == "m-estimate", self.smoothing
        weight = self.statistics_.class_weight
        return join_posterior(
            self.statistics_.counts,
            weight + (smoothing / len(weight) if shared else smoothing),
            lambda n_values: smoothing / n_values if shared else np.full(n_values.shape, smoothing),
        )
