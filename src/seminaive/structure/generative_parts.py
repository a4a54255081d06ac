"""The generative part of a hybrid model: what some features of a table tell, given the class."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from seminaive.encode import CategoricalColumn
from seminaive.memory import refuse_beyond_memory
from seminaive.models.spanning_tree import NO_PARENT, chow_liu_tree
from seminaive.scores import generative_scores, tree_scores
from seminaive.statistics import (
    PairwiseInformation,
    TableStatistics,
    Terms,
    TupleCounts,
    class_weights,
    mutual_information,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from seminaive.arrays import Floats, Labels
    from seminaive.encode import EncodedTable, Schema
    from seminaive.scores import AdditiveScores


@dataclass(frozen=True)
class FeatureTerms:
    """Where each feature's terms are in the additive scores of both parts.

    Features are columns of a table that have values, in its order: all, or those that a model may use. Terms
    are tables of coded columns, then numbers.

    Parameters
    ----------
    positions : tuple of int
        Of the columns in the table.
    generative, logistic : tuple of int
        The term of each feature: a number is its bins to the generative part, where it has any, and a number
        to the logistic one.
    """

    names: tuple[str, ...]
    positions: tuple[int, ...]
    generative: tuple[int, ...]
    logistic: tuple[int, ...]

    @classmethod
    def of(cls, schema: Schema, kept: Collection[int]) -> FeatureTerms:
        """Read the terms off a schema; ``kept`` are positions of columns."""
        coded = schema.coded_index
        number = {position: len(coded) + k for k, position in enumerate(schema.numeric)}
        positions = tuple(sorted({*coded, *number} & {*kept}))
        categories = {j for j in coded if isinstance(schema.columns[j], CategoricalColumn)}
        return cls(
            tuple(schema.columns[j].name for j in positions),
            positions,
            tuple(coded[j] if j in coded else number[j] for j in positions),
            tuple(coded[j] if j in categories else number[j] for j in positions),
        )

    def feature_of(self, terms: Labels) -> Labels:
        """Return the feature to whose logistic part each term belongs; their number for other terms."""
        table = np.full(1 + max((*self.logistic, int(terms.max(initial=0)))), len(self.names))
        table[list(self.logistic)] = np.arange(len(self.names))
        found: Labels = table[terms]
        return found


@dataclass(frozen=True)
class GenerativeOptions:
    """How the generative part is estimated.

    Parameters
    ----------
    tree : bool
        Whether a feature may depend on another one of the part (TAN), or on the class alone.
    pooled : bool
        As in `generative_scores`.
    """

    tree: bool
    smoothing: float
    variance_floor: float
    pooled: bool


class GenerativeParts:
    """The generative scores of any set of features, from one count of a table.

    Parameters
    ----------
    labels : ndarray of shape (n_rows,)
    row_weight : ndarray of shape (n_rows,) or None
    """

    def __init__(
        self,
        table: EncodedTable,
        labels: Labels,
        n_classes: int,
        row_weight: Floats | None,
        options: GenerativeOptions,
        features: FeatureTerms,
    ) -> None:
        self.features = features
        self.options = options
        self.class_weight = class_weights(labels, n_classes, row_weight)
        self.statistics: TableStatistics | None = None
        if options.tree:
            terms = Terms.up_to_order(table.cardinalities, 2)
            cells = terms.n_cells * n_classes
            refuse_beyond_memory(
                {f"{terms.n_cells:,} cells of pairs by {n_classes} classes": 24 * cells},
                "merge rare categories, lower bins or drop columns",
            )
            self._pairs = TupleCounts.of(table.codes, labels, terms, n_classes, row_weight)
            self._information = PairwiseInformation.of_counts(self._pairs).information
            n_columns = len(table.cardinalities)
            self._about_class = np.array([mutual_information(self._pairs.joint(j)) for j in range(n_columns)])
        else:
            self.statistics = TableStatistics.of(table, labels, n_classes, row_weight)
            self._naive = generative_scores(
                self.statistics,
                smoothing=options.smoothing,
                pooled=options.pooled,
                variance_floor=options.variance_floor,
            )

    def scores(self, part: Sequence[int]) -> AdditiveScores:
        """Return the log likelihoods of the features of a part, with the log prior of the classes.

        In a tree-augmented part the tree is learned for these features alone.
        """
        terms = sorted(self.features.generative[j] for j in part)
        if not self.options.tree:
            return self._naive.restrict(terms)
        parents = [NO_PARENT] * len(self._about_class)
        for child, parent in enumerate(self.parents(part)):
            if parent != NO_PARENT:
                parents[self.features.generative[child]] = self.features.generative[parent]
        scores = tree_scores(self._pairs, self.class_weight, parents, self.options.smoothing)
        return scores.restrict([*terms, *range(len(parents), scores.n_terms)])

    def parents(self, part: Sequence[int]) -> list[int]:
        """Return the parent of every feature in the tree of a part; -1 for none."""
        columns = np.array([self.features.generative[j] for j in part], dtype=np.int64)
        parents = [NO_PARENT] * len(self.features.names)
        tree = chow_liu_tree(self._information[np.ix_(columns, columns)], self._about_class[columns])
        for child, parent in enumerate(tree.parents):
            if parent != NO_PARENT:
                parents[part[child]] = int(part[parent])
        return parents

    def without_prior(self, part: Sequence[int]) -> AdditiveScores:
        """Return the log likelihoods alone."""
        scores = self.scores(part)
        return replace(scores, prior=np.zeros_like(scores.prior))
