"""Naive Bayes for mixed tables: every column contributes alone, and all contributions count fully."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.errors import InputError
from seminaive.models.additive_classifier import AdditiveClassifier
from seminaive.models.generative_classifier import (
    GenerativeClassifier,
    check_generative_parameters,
    refuse_no_smoothing,
)
from seminaive.models.parameters import VARIANCE_FLOOR
from seminaive.scores import CountPosterior, generative_scores
from seminaive.statistics import TableStatistics

if TYPE_CHECKING:
    from seminaive.arrays import Floats
    from seminaive.models.training_set import TrainingSet


@dataclass(eq=False, repr=False, kw_only=True)
class NaiveBayes(GenerativeClassifier, AdditiveClassifier):
    """Naive Bayes over categories and numbers together.

    The score of class c is ``log P(c) + sum_j log P(x_j | c)``, with smoothed relative frequencies for
    categories and normal densities for numbers. It is fitted in one pass over the rows, and needs few of
    them. Where features repeat each other, its probabilities are too close to 0 and 1.

    Parameters
    ----------
    smoothing : float, default=1.0
        Rows that are added to every count. With 0, a value that was never seen with a class excludes it.
    variances : {"pooled", "class"}, default="pooled"
        Whether the classes share one variance per number, which makes its log odds linear, or each
        has another, which makes them quadratic.
    priors : array-like of shape (n_classes,), default=None
        Class probabilities, in the order of ``classes_``; None takes the training shares.
    variance_floor : float, default=1e-9
        Smallest variance within a class, as a share of the number's overall variance.

    Attributes
    ----------
    scores_ : AdditiveScores
        The log prior, one table per category column and one polynomial per number.

    Examples
    --------
    A value that was never seen, and a missing number, leave the prior as it is:

    >>> X = [["wet", 9.0], ["wet", 8.0], ["dry", 21.0], ["dry", 25.0]]
    >>> model = NaiveBayes().fit(X, ["rain", "rain", "sun", "sun"])
    >>> model.predict_proba([["snow", None]])
    array([[0.5, 0.5]])
    >>> model.contributions([["dry", None]]).round(2)
       prior    x0   x1
    0    0.0  1.1  0.0
    """

    smoothing: float = 1.0
    variances: str = "pooled"
    priors: Any = None
    variance_floor: float = VARIANCE_FLOOR

    def count_rows(self, rows: TrainingSet) -> TableStatistics:
        """Return the statistics of some rows."""
        return TableStatistics.of(
            rows.table, rows.labels, rows.n_classes, rows.row_weight, classes=rows.classes.tolist()
        )

    def _derive(self) -> None:
        self.scores_ = generative_scores(
            self.statistics_,
            smoothing=self.smoothing,
            pooled=self.variances == "pooled",
            variance_floor=self.variance_floor,
            priors=self._checked_priors(),
        )

    def _uncertainty(self) -> CountPosterior:
        """Return how uncertain the counts and moments are."""
        refuse_no_smoothing(self.smoothing)
        pooled, known = self.variances == "pooled", self.priors is not None
        return CountPosterior(self.statistics_, self.smoothing, pooled, self.variance_floor, known)

    def _checked_priors(self) -> Floats | None:
        if self.priors is None:
            return None
        try:
            priors = np.asarray(self.priors, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            priors = np.empty(0)
        if priors.shape != self.classes_.shape or not (priors >= 0).all() or not np.isclose(priors.sum(), 1):
            raise InputError(
                f"priors must be {len(self.classes_)} probabilities that sum to 1, one for each of "
                f"{self.classes_.tolist()}, got {self.priors!r}"
            )
        return priors

    def _check_parameters(self) -> None:
        check_generative_parameters(self)
