"""A training table as the two parts of a hybrid model see it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from seminaive.design.classes import by_class
from seminaive.design.table_design import TableDesign
from seminaive.encode import EncodedTable, NumericColumn, Schema, recut
from seminaive.encode.cuts import cut_rule
from seminaive.errors import InputError
from seminaive.scores import AdditiveScores, log_priors
from seminaive.selection.generative_parts import FeatureTerms, GenerativeOptions, GenerativeParts
from seminaive.selection.rate_search import HybridFold
from seminaive.statistics import PairwiseInformation, Terms
from seminaive.structure import Assignment, CodedTests, Partition, bias_variance_path, mean_dependence
from seminaive.structure.parents_or_children import GENERATIVE, LOGISTIC


class HybridProblem:
    """A training table as both parts see it, with the features that may enter the model.

    Features are numbered as `FeatureTerms` does; partitions number the model's features among themselves.
    """

    def __init__(self, rows, binned, features, options, bins, always):
        self.rows = rows
        self.binned = binned
        self.features = features
        self.options = options
        self.bins = bins
        self.always_logistic, self.always_generative = always
        self.settled = {*self.always_logistic, *self.always_generative}
        self.terms = FeatureTerms.of(rows.table.schema)
        # The logistic part sees numbers as numbers, whatever the generative part makes of them.
        self.plain = _without_bins(binned)
        self.logistic_terms = FeatureTerms.of(self.plain.schema).logistic
        self.total = float(rows.weights.sum())
        self.dependence = self._dependence(binned, slice(None))
        self.generative = self._count(rows.table, slice(None))
        self.design = TableDesign.of(self.plain, rows.weights, rows.n_classes, order=1, hierarchical=True)

    @classmethod
    def of(cls, model, rows, kept):
        """Return the problem of a model whose features are among the kept columns."""
        binned, schema = rows.table, rows.table.schema
        tree = model.generative == "tan"
        if not tree and model.numbers == "normal":
            rows = replace(rows, table=_without_bins(binned))
        features = [j for j, position in enumerate(schema.coded) if position in kept]
        columns = [schema.columns[schema.coded[j]] for j in features]
        if not isinstance(model.partition, str):
            unknown = [name for name in model.partition if name not in [column.name for column in columns]]
            if unknown:
                raise InputError(
                    f"partition names {unknown}, not among the features {[column.name for column in columns]}"
                )
        generative = [
            j for j, column in enumerate(columns) if model.missing_to_generative and column.missing_seen
        ]
        logistic = [
            j
            for j, column in enumerate(columns)
            if model.numbers_to_logistic and isinstance(column, NumericColumn) and j not in generative
        ]
        options = GenerativeOptions(tree, model.smoothing, model.variance_floor, model.variances == "pooled")
        return cls(rows, binned, features, options, cut_rule(model.bins), (logistic, generative))

    def _dependence(self, binned, index):
        rows = self.rows
        sizes = np.array([binned.cardinalities[j] for j in self.features], dtype=np.int64)
        # A feature with one value depends on none: cut points leave many such numbers in wide tables.
        varies = np.flatnonzero(sizes > 1)
        own = binned.codes[index][:, np.array(self.features, dtype=np.int64)[varies]]
        weight = None if rows.row_weight is None else rows.row_weight[index]
        labels, n_classes = rows.labels[index], rows.n_classes
        found = PairwiseInformation.of(own, labels, sizes[varies].tolist(), n_classes, weight)
        dependence = np.zeros((len(sizes), len(sizes)))
        dependence[np.ix_(varies, varies)] = found.normalized
        return dependence

    def related(self, test, alpha):
        """Return which pairs of features a test given the class finds dependent at a level."""
        rows = self.rows
        code_type = np.promote_types(self.binned.codes.dtype, np.min_scalar_type(rows.n_classes))
        columns = np.vstack([self.binned.codes.T[self.features], rows.labels]).astype(code_type)
        sizes = (*(self.binned.cardinalities[j] for j in self.features), rows.n_classes)
        tests = CodedTests(columns, sizes, test, rows.row_weight, declare_untestable=False)
        n_features = len(self.features)
        related = np.zeros((n_features, n_features), dtype=bool)
        for j in range(1, n_features):
            found = tests.each(j, range(j), (n_features,))
            related[j, :j] = related[:j, j] = [result.dependent(alpha) for result in found]
        return related

    def _count(self, table, index):
        rows = self.rows
        weight = None if rows.row_weight is None else rows.row_weight[index]
        return GenerativeParts(table.rows(index), rows.labels[index], rows.n_classes, weight, self.options)

    def fold(self, train):
        """Return the training rows of a fold with dependences, cut points and counts of their own."""
        rows, binned, table = self.rows, self.binned, self.rows.table
        if binned.schema.numeric:
            binned = recut(binned, self.bins, rows.labels, rows.row_weight, train)
            table = binned if table is self.binned else table
        path = {}
        for start, partition in bias_variance_path(mean_dependence(self._dependence(binned, train))):
            admitted = self.of_all(self.admit(partition))
            path.setdefault(admitted.logistic, (start, admitted))
        weight = float(rows.weights[train].sum())
        return HybridFold(tuple(path.values()), weight, self._count(table, train), table)

    def admit(self, partition):
        """Return a partition in which every feature that has to is in its part."""
        own = ({*partition.logistic} | {*self.always_logistic}) - {*self.always_generative}
        decided = [decision for decision in partition.trace if decision.feature not in self.settled]
        return Partition.of_logistic(own, len(self.features), [*self.asked, *decided])

    @property
    def asked(self):
        """Return the decisions about features that no rule moves."""
        parts = ((LOGISTIC, self.always_logistic), (GENERATIVE, self.always_generative))
        return [Assignment(j, part, "as asked", np.nan, np.nan) for part, own in parts for j in own]

    def of_all(self, partition):
        """Return a partition of the model's features by their numbers among all features."""
        return Partition(
            tuple(self.features[j] for j in partition.logistic),
            tuple(self.features[j] for j in partition.generative),
        )

    def logistic_fits(self, model, row_weights, kind, tol):
        """Return what fits logistic parts to the rows under some weights: a kind of `LogisticParts`."""
        own = self.design.coefficients
        n_terms = len(own.terms.features)
        terms = np.concatenate([own.term_of_cell, n_terms + np.arange(own.n_numbers)])
        feature_of = np.concatenate([[-1], FeatureTerms.of(self.plain.schema).feature_of(terms)])
        return kind(
            self.design,
            feature_of,
            self.rows.labels,
            row_weights,
            self.rows.n_classes,
            ridge=model.ridge,
            tol=tol,
            max_iter=model.max_iter,
        )

    def solve(self, logistic, generative, partition, start=None, *, joint):
        """Fit the logistic part of a partition to all rows."""
        own = self.of_all(partition)
        offset = None
        if joint:
            likelihood = generative.without_prior(own.generative)
            offset = likelihood.joint_log_scores(self.rows.table)[:, None]
        return logistic.fit([own.logistic], start, offset)

    def logistic_scores(self, logistic, solution, part):
        """Return the logistic part as additive scores over the model's table."""
        estimate = self.design.generative_estimate(self.rows.labels, self.rows.weights)
        scores = logistic.to_scores(solution, estimate.cell_weight.sum(axis=1))
        scores = scores.restrict(sorted(self.logistic_terms[j] for j in part))
        place = {position: column for column, position in enumerate(self.rows.table.schema.coded)}
        own = self.plain.schema.coded
        features = tuple((place[own[j]],) for (j,) in scores.terms.features)
        terms = Terms(features, self.rows.table.cardinalities)
        return AdditiveScores(scores.prior, terms, scores.tables, scores.numeric)

    def training_scores(self, logistic, generative, partition, start, *, joint):
        """Return the scores of the training rows by class, and the solution of the logistic part."""
        own = self.of_all(partition)
        likelihood = generative.without_prior(own.generative).joint_log_scores(self.rows.table)
        if not own.logistic and not joint:
            return likelihood + log_priors(generative.class_weight), start
        result = self.solve(logistic, generative, partition, start, joint=joint)
        return by_class(logistic.scores(result.solution)[:, 0]) + likelihood, result.solution


def _without_bins(table):
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
