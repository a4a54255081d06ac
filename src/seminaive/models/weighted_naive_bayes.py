"""Naive Bayes with one exponent per feature, from how far its values move the class probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from seminaive.encode.cuts import cut_rule
from seminaive.models.additive_classifier import AdditiveClassifier
from seminaive.models.generative_classifier import GenerativeClassifier, check_generative_parameters
from seminaive.models.parameters import VARIANCE_FLOOR
from seminaive.scores import class_shift_exponents, generative_scores
from seminaive.statistics import TableStatistics

if TYPE_CHECKING:
    from seminaive.encode.encoded_table import CutRule
    from seminaive.models.training_set import TrainingSet


@dataclass(eq=False, repr=False, kw_only=True)
class WeightedNaiveBayes(GenerativeClassifier, AdditiveClassifier):
    """Naive Bayes whose feature likelihoods are raised to powers, ``P(c) prod_j P(x_j | c)**w_j``.

    The exponent of a category is ``sqrt(sum over values v and classes c of (P(c | v) - P(c))**2)``: 0 for a
    feature that tells nothing (Ferreira, Denison and Hand). It follows from counts, so that it costs no more
    than naive Bayes; it looks at each feature alone and does not notice copies.

    Parameters
    ----------
    bins : {"mdl"}, int or None, default=None
        How numbers are cut into categories, which have exponents: by description length, or into bins of
        equal frequency. None gives numbers normal densities with exponent 1: a poor choice for numbers that
        span many magnitudes, whose extreme values then outweigh everything else.
    smoothing : float, default=1.0
        Added to every count, in rows, in the tables and in the exponents.
    variances : {"class", "pooled"}, default="class"
        Whether a number has a variance in each class, or one that all classes share.
    variance_floor : float, default=1e-9
        Smallest variance within a class, as a share of the number's overall variance.

    Attributes
    ----------
    exponents_ : ndarray of shape (n_features,)
        In the order of the columns; 1 leaves a feature as in naive Bayes.
    selected_features_ : list of str
        Names of the features with an exponent above 0.

    Examples
    --------
    >>> X = [["wet", "odd"], ["wet", "even"], ["dry", "odd"], ["dry", "even"]]
    >>> WeightedNaiveBayes(smoothing=0).fit(X, ["rain", "rain", "sun", "sun"]).exponents_
    array([1., 0.])
    """

    _derived: ClassVar[tuple[str, ...]] = ("exponents_",)

    bins: Any = None
    smoothing: float = 1.0
    variances: str = "class"
    variance_floor: float = VARIANCE_FLOOR

    def binning_rule(self) -> CutRule | None:
        """Return the rule that cuts numbers into bins, or None where they stay numbers."""
        return None if self.bins is None else cut_rule(self.bins)

    def count_rows(self, rows: TrainingSet) -> TableStatistics:
        """Return the statistics of some rows."""
        table = rows.table.without_cut_numbers()
        return TableStatistics.of(table, rows.labels, rows.n_classes, rows.row_weight)

    def _derive(self) -> None:
        naive = generative_scores(
            self.statistics_,
            smoothing=self.smoothing,
            pooled=self.variances == "pooled",
            variance_floor=self.variance_floor,
        )
        n_numbers = len(naive.numeric.features)
        exponents = class_shift_exponents(self.statistics_.counts, self.smoothing)
        exponents = np.concatenate([exponents, np.ones(n_numbers)])
        self.scores_ = naive.scale(exponents)
        self.exponents_ = self.schema_.by_column(exponents)

    @property
    def selected_features_(self) -> list[str]:
        """Names of the features with an exponent above 0."""
        return [name for name, power in zip(self.schema_.names, self.exponents_, strict=True) if power > 0]

    def _check_parameters(self) -> None:
        check_generative_parameters(self)
        self.binning_rule()
