"""Naive Bayes in which every feature may depend on one other feature."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from seminaive.encode.cuts import cut_rule
from seminaive.memory import refuse_beyond_memory
from seminaive.models.additive_classifier import AdditiveClassifier
from seminaive.models.generative_classifier import GenerativeClassifier, refuse_no_smoothing
from seminaive.models.parameters import check_number
from seminaive.models.spanning_tree import chow_liu_tree
from seminaive.scores import tree_posterior, tree_scores
from seminaive.statistics import (
    Moments,
    PairwiseInformation,
    TableStatistics,
    Terms,
    TupleCounts,
    class_weights,
    mutual_information,
)
from seminaive.statistics.sizes import table_parts

if TYPE_CHECKING:
    from seminaive.encode.encoded_table import CutRule
    from seminaive.models.training_set import TrainingSet
    from seminaive.scores import TuplePosterior


@dataclass(eq=False, repr=False, kw_only=True)
class TreeAugmentedNaiveBayes(GenerativeClassifier, AdditiveClassifier):
    """Tree-augmented naive Bayes (TAN; Friedman, Geiger and Goldszmidt, 1997).

    The score of class c is ``log P(c) + sum_j log P(x_j | x_parent(j), c)``: each feature may depend on one
    other, its parent. The parents form the tree of maximum likelihood, which is the one with the largest sum
    of mutual information within the classes. Its root, the feature that tells most about the class, has no
    parent. Two copies of a feature become parent and child, and so count once.

    Parameters
    ----------
    smoothing : float, default=1.0
        Rows that are added to every count. With 0, a pair of values that was never seen with a class
        excludes it.
    bins : "mdl" or int, default="mdl"
        How numbers are cut into intervals: where the classes change, by minimum description length, or
        into that number of intervals with equally many rows.
    missing : {"value", "neutral"}, default="value"
        Whether a missing cell counts as one more value, if training had missing cells in its column, or
        leaves the odds of the classes as they are. If a feature's parent is missing in this sense, or has a
        value that training never had, ``P(x_j | c)`` is used instead.

    Attributes
    ----------
    statistics_ : TableStatistics
        Raw counts of all pairs of columns; they can be merged.
    tree_ : FeatureTree
        The parent of each column, by position, and the information that each edge keeps.
    parents_ : dict
        The name of each column's parent; None for a root.
    scores_ : AdditiveScores
        The log prior, one table per column, and one per edge: what the parent adds to it.

    Examples
    --------
    Two copies of a feature count as one:

    >>> X = [["wet", "wet"]] * 30 + [["dry", "dry"]] * 30
    >>> y = ["rain"] * 20 + ["sun"] * 10 + ["rain"] * 10 + ["sun"] * 20
    >>> model = TreeAugmentedNaiveBayes(smoothing=0).fit(X, y)
    >>> model.parents_
    {'x0': None, 'x1': 'x0'}
    >>> model.predict_proba([["dry", "dry"]]).round(2)
    array([[0.33, 0.67]])
    """

    _derived: ClassVar[tuple[str, ...]] = ("tree_", "parents_")

    smoothing: float = 1.0
    bins: Any = "mdl"

    def _counted_terms(self, cardinalities: tuple[int, ...]) -> Terms:
        return Terms.up_to_order(cardinalities, 2)

    def _memory_parts(self, cardinalities: tuple[int, ...], n_classes: int) -> dict[str, int]:
        return table_parts(cardinalities, 2, n_classes, copies=4, hierarchical=True)

    def binning_rule(self) -> CutRule | None:
        """Return the rule that cuts numbers into bins."""
        return cut_rule(self.bins)

    def count_rows(self, rows: TrainingSet) -> TableStatistics:
        """Return the statistics of some rows."""
        terms = self._counted_terms(rows.table.cardinalities)
        refuse_beyond_memory(
            self._memory_parts(rows.table.cardinalities, rows.n_classes),
            "merge rare categories, lower bins or drop columns",
        )
        return TableStatistics(
            rows.table.schema,
            class_weights(rows.labels, rows.n_classes, rows.row_weight),
            TupleCounts.of(rows.table.codes, rows.labels, terms, rows.n_classes, rows.row_weight),
            Moments.none(rows.table.numbers.shape[1], rows.n_classes),
            tuple(rows.classes.tolist()),
        )

    def _derive(self) -> None:
        statistics, counts = self.statistics_, self.statistics_.counts
        n_columns = len(counts.terms.cardinalities)
        about_class = np.array([mutual_information(counts.joint(j)) for j in range(n_columns)])
        self.tree_ = chow_liu_tree(PairwiseInformation.of_counts(counts).information, about_class)
        names = self.schema_.coded_names
        self.parents_ = {
            name: None if parent < 0 else names[parent]
            for name, parent in zip(names, self.tree_.parents, strict=True)
        }
        self.scores_ = tree_scores(counts, statistics.class_weight, self.tree_.parents, self.smoothing)

    def _uncertainty(self) -> TuplePosterior:
        """Return how uncertain the counts are, the tree being what it is."""
        refuse_no_smoothing(self.smoothing)
        statistics = self.statistics_
        return tree_posterior(statistics.counts, statistics.class_weight, self.tree_.parents, self.smoothing)

    def _check_parameters(self) -> None:
        check_number("smoothing", self.smoothing, "a count of rows, 0 or more", low=0)
