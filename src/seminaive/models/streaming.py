"""Higher-order models that learn from a stream, one stochastic step per row."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from seminaive.errors import InputError
from seminaive.models.base import unchanged_on_failure
from seminaive.models.fitted_state import check_finite, check_statistics
from seminaive.models.higher_order_base import cut_rule
from seminaive.scores import AdditiveScores, NumericTerms, m_estimate_tables
from seminaive.selection.higher_order_problem import generative_shares, standardised, terms_of_order
from seminaive.solvers.stochastic_descent import Descent, relative_scale
from seminaive.statistics import Moments, TableStatistics, TupleCounts, class_weights


class StreamingMixin:
    """``partial_fit`` of a model over tuples, by stochastic descent in its scaled search space.

    The counts of all rows so far give the generative estimates, and with them the scale of the search and the
    target of the penalty, which is spread over the rows that visit a cell.
    """

    _fitted: ClassVar = {
        "statistics_": TableStatistics,
        "coefficients_": np.ndarray,
        "squares_": np.ndarray,
        "centres_": np.ndarray,
        "spreads_": np.ndarray,
    }

    def _check_consistent(self):
        """Refuse the state of a stream, read from a file, that the next chunk could not continue."""
        super()._check_consistent()
        if not hasattr(self, "statistics_"):
            return
        check_statistics(self.statistics_, self.schema_, len(self.classes_))
        terms = self.statistics_.counts.terms
        expected = terms_of_order(self.schema_.cardinalities, self.order, hierarchical=self.hierarchical)
        n_numbers = len(self.schema_.numeric) if self.hierarchical else 0
        n_columns = 1 if len(self.classes_) == 2 else len(self.classes_)
        shape = (1 + terms.n_cells + n_numbers, n_columns)
        for array, own in (
            (self.coefficients_, shape),
            (self.squares_, shape),
            (self.centres_, (n_numbers,)),
            (self.spreads_, (n_numbers,)),
        ):
            if array.shape != own or array.dtype != np.float64 or terms != expected:
                raise ValueError("the state of the stream does not fit the schema")
            check_finite(array, "the state of the stream")
        if (self.squares_ < 0).any() or (self.spreads_ <= 0).any():
            raise ValueError("a squared gradient is negative, or a spread is not positive")

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        """Take one stochastic gradient step for each row of a chunk, in the order of the rows.

        Cut points of numbers, and their mean and spread, are learned from the first chunk and kept. Later
        chunks may bring new categories.

        Parameters
        ----------
        X : frame, array or list of rows
        y : array-like of shape (n_rows,)
        classes : array-like, default=None
            All classes that will ever come; required in the first call, and only read there. After a
            ``fit``, from which a stream begins anew, they are its classes.
        sample_weight : array-like of shape (n_rows,), default=None
        """
        self._check_parameters()
        if self.objective != "log-likelihood":
            raise InputError("partial_fit minimises the log loss: set objective='log-likelihood'")
        with unchanged_on_failure(self):
            old = getattr(self, "statistics_", None)
            known = None if old is None else self.schema_
            rows = self._encode_rows(
                X, y, sample_weight, cut_rule=cut_rule(self.bins), known=known, chunk=True
            )
            if old is None:
                self._begin_stream(rows, classes)
            foreign = np.setdiff1d(rows.classes, self.classes_)
            if len(foreign):
                raise InputError(
                    f"y contains {foreign.tolist()}, not among the classes {self.classes_.tolist()} of the "
                    "first call: name all classes there"
                )
            labels = np.searchsorted(self.classes_, rows.classes)[rows.labels]
            self._take_chunk(rows, labels, old)
        return self

    def _begin_stream(self, rows, classes):
        if classes is None and hasattr(self, "classes_"):
            classes = self.classes_
        if classes is None:
            raise InputError("the first call of partial_fit needs classes, all labels that will ever come")
        self.classes_ = np.unique(np.asarray(classes))
        if len(self.classes_) < 2:
            raise InputError(f"one class only: {self.classes_.tolist()}. A classifier needs at least two")
        weights = np.ones(len(rows.labels)) if rows.row_weight is None else rows.row_weight
        _, self.centres_, self.spreads_ = standardised(rows.table.numbers, weights, wanted=self.hierarchical)

    def _take_chunk(self, rows, labels, old):
        n_classes = len(self.classes_)
        table, weights = rows.table, rows.row_weight
        terms = terms_of_order(table.cardinalities, self.order, hierarchical=self.hierarchical)
        new = TableStatistics(
            table.schema,
            class_weights(labels, n_classes, weights),
            TupleCounts.of(table.codes, labels, terms, n_classes, weights),
            Moments.none(table.numbers.shape[1], n_classes),
        )
        total = new if old is None else old + new
        terms = total.counts.terms
        beta, squares = self._coefficients_under(total, old)
        descent = self._descent(total, beta, squares)
        codes = _recoded(table.codes, table.schema, total.schema)
        numbers = np.empty((len(labels), 0))
        if len(self.centres_):
            numbers = np.nan_to_num((table.numbers - self.centres_) / self.spreads_)
        descent.take_rows(terms, codes, numbers, labels, np.ones(len(labels)) if weights is None else weights)
        self.statistics_, self.schema_ = total, total.schema
        self.coefficients_, self.squares_ = beta, squares
        self._read_stream(terms, beta)

    def _coefficients_under(self, total, old):
        """Return the coefficients and their squared gradients under the codes of all chunks so far."""
        n_columns = 1 if len(self.classes_) == 2 else len(self.classes_)
        shape = (1 + total.counts.terms.n_cells + len(self.centres_), n_columns)
        if old is None:
            return np.zeros(shape), np.zeros(shape)
        if old.schema == total.schema:
            return self.coefficients_.copy(), self.squares_.copy()
        moves, cells = old.schema.moves_to(total.schema), old.counts.terms.n_cells
        moved = []
        for array in (self.coefficients_, self.squares_):
            tables = TupleCounts(old.counts.terms, array[1 : 1 + cells])
            tables = tables.recoded(moves, total.schema.cardinalities).counts
            moved.append(np.vstack([array[:1], tables, array[1 + cells :]]))
        return moved

    def _descent(self, total, beta, squares):
        """Return the stochastic search: scales, penalties and targets from the counts so far."""
        terms, n_numbers = total.counts.terms, len(self.centres_)
        n_columns = beta.shape[1]
        logs = np.vstack(
            [
                np.log((total.class_weight + 1 / len(self.classes_)) / (total.class_weight.sum() + 1)),
                m_estimate_tables(total.counts),
                np.ones((n_numbers, len(self.classes_))),
            ]
        )
        length = np.sqrt((logs**2).sum(axis=1, keepdims=True)) if n_columns == 1 else np.abs(logs)
        orders = np.repeat(
            [0, *(len(term) for term in terms.features), *(1,) * n_numbers],
            [1, *(terms.sizes + 1), *(1,) * n_numbers],
        )
        strength = np.concatenate([[0.0], self._ridges()])[orders][:, None]
        target = np.zeros_like(beta)
        pull = getattr(self, "pull_to_generative", 0.0)
        if pull:
            own = np.divide(pull, length**2, out=np.zeros_like(length), where=length > 0)
            share = (
                np.ones(len(orders)) if self.generative_weight == "one" else generative_shares(orders, terms)
            )
            wanted = logs * share[:, None]
            wanted = wanted[:, 1:] - wanted[:, :1] if n_columns == 1 else wanted
            target = np.divide(own * wanted, own + strength, out=target, where=own + strength > 0)
            strength = own + strength
        visits = np.concatenate(
            [
                [total.class_weight.sum()],
                total.counts.counts.sum(axis=1),
                np.full(n_numbers, total.class_weight.sum()),
            ]
        )
        shrinkage = np.broadcast_to(strength / np.maximum(visits, 1.0)[:, None], beta.shape).copy()
        scale = relative_scale(length if self.scaling == "generative" else (length > 0).astype(float))
        return Descent(shrinkage, target, np.broadcast_to(scale, beta.shape).copy(), beta, squares)

    def _read_stream(self, terms, beta):
        """Turn the coefficients into additive scores."""
        by_class = np.hstack([-beta / 2, beta / 2]) if beta.shape[1] == 1 else beta
        coefficients = np.zeros((len(self.centres_), 4, by_class.shape[1]))
        coefficients[:, 2] = by_class[1 + terms.n_cells :] / self.spreads_[:, None]
        numeric = NumericTerms(tuple(range(len(self.centres_))), self.centres_, coefficients)
        self.scores_ = AdditiveScores(
            by_class[0].copy(), terms, by_class[1 : 1 + terms.n_cells].copy(), numeric
        )


def _recoded(codes, schema, larger):
    """Return codes of one schema as codes of a larger one."""
    if schema == larger:
        return codes
    recoded = np.empty(codes.shape, dtype=larger.code_type)
    moves = schema.moves_to(larger)
    for j, (own, cardinality) in enumerate(zip(moves, larger.cardinalities, strict=True)):
        recoded[:, j] = np.append(own, cardinality)[codes[:, j]]
    return recoded
