"""A training table as the two parts of a hybrid model see it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from seminaive.design.classes import by_class
from seminaive.design.table_design import TableDesign
from seminaive.encode import EncodedTable, NumericColumn, Schema, recut
from seminaive.encode.cuts import cut_rule
from seminaive.errors import InputError
from seminaive.scores import AdditiveScores, log_priors
from seminaive.statistics import PairwiseInformation, Terms
from seminaive.structure import (
    Assignment,
    CodedTests,
    Partition,
    bias_variance_path,
    greedy_partition,
    mean_dependence,
)
from seminaive.structure.generative_parts import FeatureTerms, GenerativeOptions, GenerativeParts
from seminaive.structure.logistic_parts import LogisticParts
from seminaive.structure.parents_or_children import GENERATIVE, LOGISTIC
from seminaive.structure.rate_search import HybridFold

if TYPE_CHECKING:
    from collections.abc import Collection

    from seminaive.arrays import Booleans, Floats, Indices
    from seminaive.encode.encoded_table import CutRule
    from seminaive.models.fit_progress import Steps
    from seminaive.models.training_set import TrainingSet
    from seminaive.solvers.result import SolverResult
    from seminaive.structure.hybrid_logistic_naive_bayes import HybridLogisticNaiveBayes

    Rows = Indices | slice


@dataclass(frozen=True)
class FixedParts:
    """Features whose part the parameters say, whatever a rule would."""

    logistic: tuple[int, ...]
    generative: tuple[int, ...]

    @classmethod
    def of(cls, model: HybridLogisticNaiveBayes, schema: Schema, features: FeatureTerms) -> FixedParts:
        """Read the parameters ``missing_to_generative`` and ``numbers_to_logistic``."""
        columns = [schema.columns[position] for position in features.positions]
        missing = [
            model.missing_to_generative and getattr(column, "missing_seen", False) for column in columns
        ]
        numbers = [model.numbers_to_logistic and isinstance(column, NumericColumn) for column in columns]
        generative = np.flatnonzero(missing)
        logistic = np.setdiff1d(np.flatnonzero(numbers), generative)
        return cls(tuple(logistic.tolist()), tuple(generative.tolist()))

    @property
    def trace(self) -> list[Assignment]:
        """The decisions about these features."""
        return [
            Assignment(feature, part, "by a parameter", np.nan, np.nan)
            for part, members in ((LOGISTIC, self.logistic), (GENERATIVE, self.generative))
            for feature in members
        ]

    def applied_to(self, partition: Partition) -> Partition:
        """Return a partition in which these features are in their part."""
        logistic = {*partition.logistic, *self.logistic} - {*self.generative}
        fixed = {*self.logistic, *self.generative}
        by_rule = [decision for decision in partition.trace if decision.feature not in fixed]
        n_features = len(partition.logistic) + len(partition.generative)
        return Partition.of_logistic(logistic, n_features, [*self.trace, *by_rule])


class HybridProblem:
    """A training table as both parts see it; features are numbered as `FeatureTerms` does.

    Parameters
    ----------
    rows : TrainingSet
        As the generative part sees them.
    binned : EncodedTable
        The same rows, all numbers in bins.
    kept : collection of int
        Positions of the columns that may enter the model.
    bins : callable
        The rule that cuts numbers.
    """

    def __init__(
        self,
        rows: TrainingSet,
        binned: EncodedTable,
        kept: Collection[int],
        options: GenerativeOptions,
        bins: CutRule,
    ) -> None:
        self.rows = rows
        self.binned = binned
        self.options = options
        self.bins = bins
        # The logistic part sees numbers as numbers, whatever the generative part makes of them.
        self.plain = _without_bins(binned)
        self.features = FeatureTerms.of(rows.table.schema, kept)
        self.plain_terms = FeatureTerms.of(self.plain.schema, kept)
        self.binned_columns = np.array(FeatureTerms.of(binned.schema, kept).generative, dtype=np.int64)
        self.total = float(rows.weights.sum())
        self.dependence = self._dependence(binned, slice(None))
        self.generative = self._count(rows.table, slice(None))
        self.design = TableDesign.of(self.plain, rows.weights, rows.n_classes, order=1, hierarchical=True)

    @classmethod
    def of(cls, model: HybridLogisticNaiveBayes, rows: TrainingSet, kept: Collection[int]) -> HybridProblem:
        """Return the problem of a model whose features are among the kept columns."""
        binned, tree = rows.table, model.generative == "tan"
        if not tree and model.numbers == "normal":
            rows = replace(rows, table=_without_bins(binned))
        options = GenerativeOptions(tree, model.smoothing, model.variance_floor, model.variances == "pooled")
        problem = cls(rows, binned, kept, options, cut_rule(model.bins))
        names = problem.features.names
        unknown = [] if isinstance(model.partition, str) else [n for n in model.partition if n not in names]
        if unknown:
            raise InputError(f"partition names {unknown}, not among the features {list(names)}")
        return problem

    @property
    def n_features(self) -> int:
        """The number of features."""
        return len(self.features.names)

    def _dependence(self, binned: EncodedTable, index: Rows) -> Floats:
        rows = self.rows
        sizes = np.array(binned.cardinalities, dtype=np.int64)[self.binned_columns]
        # A feature with one value depends on none: cut points leave many such numbers in wide tables.
        varies = np.flatnonzero(sizes > 1)
        codes = binned.codes[index][:, self.binned_columns[varies]]
        weight = None if rows.row_weight is None else rows.row_weight[index]
        labels, n_classes = rows.labels[index], rows.n_classes
        found = PairwiseInformation.of(codes, labels, sizes[varies].tolist(), n_classes, weight)
        dependence = np.zeros((len(sizes), len(sizes)))
        dependence[np.ix_(varies, varies)] = found.normalized
        return dependence

    def related(self, test: str, alpha: float) -> Booleans:
        """Return which pairs of features a test given the class finds dependent at a level."""
        rows, n_features = self.rows, self.n_features
        code_type = np.promote_types(self.binned.codes.dtype, np.min_scalar_type(rows.n_classes))
        columns = np.vstack([self.binned.codes.T[self.binned_columns], rows.labels]).astype(code_type)
        sizes = (*(self.binned.cardinalities[j] for j in self.binned_columns), rows.n_classes)
        tests = CodedTests(columns, sizes, test, rows.row_weight, declare_untestable=False)
        related = np.zeros((n_features, n_features), dtype=bool)
        for j in range(1, n_features):
            found = tests.each(j, range(j), (n_features,))
            related[j, :j] = related[:j, j] = [result.dependent(alpha) for result in found]
        return related

    def _count(self, table: EncodedTable, index: Rows) -> GenerativeParts:
        rows = self.rows
        weight = None if rows.row_weight is None else rows.row_weight[index]
        labels = rows.labels[index]
        return GenerativeParts(table.rows(index), labels, rows.n_classes, weight, self.options, self.features)

    def fold(self, train: Indices, fixed: FixedParts) -> HybridFold:
        """Return the training rows of a fold, with dependences, cut points and counts of these rows."""
        rows, binned, table = self.rows, self.binned, self.rows.table
        if binned.schema.numeric:
            binned = recut(binned, self.bins, rows.labels, rows.row_weight, train)
            table = binned if table is self.binned else table
        path: dict[tuple[int, ...], tuple[float, Partition]] = {}
        for start, by_rule in bias_variance_path(mean_dependence(self._dependence(binned, train))):
            partition = fixed.applied_to(by_rule)
            path.setdefault(partition.logistic, (start, partition))
        weight = float(rows.weights[train].sum())
        return HybridFold(tuple(path.values()), weight, self._count(table, train), table)

    def logistic_fits(self, model: HybridLogisticNaiveBayes, row_weights: Floats) -> LogisticParts:
        """Return what fits logistic parts to the rows under some weights."""
        coefficients = self.design.coefficients
        n_terms = len(coefficients.terms.features)
        terms = np.concatenate([coefficients.term_of_cell, n_terms + np.arange(coefficients.n_numbers)])
        return LogisticParts(
            self.design,
            np.concatenate([[-1], self.plain_terms.feature_of(terms)]),
            self.rows.labels,
            row_weights,
            self.rows.n_classes,
            ridge=model.ridge,
            tol=model.tol,
            max_iter=model.max_iter,
        )

    def solve(
        self, logistic: LogisticParts, partition: Partition, start: Floats | None = None, *, joint: bool
    ) -> SolverResult:
        """Fit the logistic part of a partition to all rows."""
        offset = None
        if joint:
            likelihood = self.generative.without_prior(partition.generative)
            offset = likelihood.joint_log_scores(self.rows.table)[:, None]
        return logistic.fit([partition.logistic], start, offset)

    def logistic_scores(
        self, logistic: LogisticParts, solution: Floats, part: tuple[int, ...]
    ) -> AdditiveScores:
        """Return the logistic part as additive scores over the model's table."""
        estimate = self.design.generative_estimate(self.rows.labels, self.rows.weights)
        scores = logistic.to_scores(solution, estimate.cell_weight.sum(axis=1))
        scores = scores.restrict(sorted(self.plain_terms.logistic[j] for j in part))
        schema = self.rows.table.schema
        coded = {position: column for column, position in enumerate(schema.coded)}
        features = tuple((coded[self.plain.schema.coded[j]],) for (j,) in scores.terms.features)
        terms = Terms(features, schema.cardinalities)
        return AdditiveScores(scores.prior, terms, scores.tables, scores.numeric)

    def divided_greedily(
        self, model: HybridLogisticNaiveBayes, fixed: FixedParts, step: Steps
    ) -> tuple[Partition, int]:
        """Return the partition that a greedy search on the training accuracy finds, and its logistic fits."""
        rows, logistic = self.rows, self.logistic_fits(model, self.rows.weights[None])
        known: dict[tuple[int, ...], float] = {}
        solution: Floats | None = None

        def accuracy(part: tuple[int, ...]) -> float:
            nonlocal solution
            if part not in known:
                partition = Partition.of_logistic(part, self.n_features)
                scores, solution = self.training_scores(logistic, partition, solution, joint=model.joint)
                right = scores.argmax(axis=1) == rows.labels
                known[part] = float(np.average(right, weights=rows.weights))
                step(f"accuracy {known[part]:.4g}")
            return known[part]

        found = greedy_partition(
            self.n_features,
            accuracy,
            forward=model.greedy_grows_generative,
            logistic=fixed.logistic,
            generative=fixed.generative,
        )
        return replace(found, trace=(*fixed.trace, *found.trace)), logistic.n_solved

    def training_scores(
        self, logistic: LogisticParts, partition: Partition, start: Floats | None, *, joint: bool
    ) -> tuple[Floats, Floats | None]:
        """Return the scores of the training rows by class, and the solution of the logistic part."""
        generative = self.generative
        likelihood = generative.without_prior(partition.generative).joint_log_scores(self.rows.table)
        if not partition.logistic and not joint:
            return likelihood + log_priors(generative.class_weight), start
        result = self.solve(logistic, partition, start, joint=joint)
        return by_class(logistic.scores(result.solution)[:, 0]) + likelihood, result.solution


def _without_bins(table: EncodedTable) -> EncodedTable:
    """Return a table whose numbers are numbers only."""
    schema = table.schema
    columns = tuple(
        replace(column, cuts=None) if isinstance(column, NumericColumn) else column
        for column in schema.columns
    )
    kept = [k for k, j in enumerate(schema.coded) if not isinstance(schema.columns[j], NumericColumn)]
    plain = Schema(columns, schema.missing)
    return EncodedTable(
        np.ascontiguousarray(table.codes[:, kept], dtype=plain.code_type), table.numbers, plain
    )
