"""Counting of tuples for the generative models, whole tables or chunk by chunk."""

from __future__ import annotations

from seminaive.design.table_design import terms_of_order
from seminaive.encode.cuts import cut_rule
from seminaive.memory import refuse_beyond_memory
from seminaive.models.generative_classifier import GenerativeMixin
from seminaive.models.parameters import check_choice, check_number, check_order
from seminaive.statistics import Moments, TableStatistics, TupleCounts, class_weights
from seminaive.statistics.sizes import table_parts

ESTIMATES = ("m-estimate", "laplace")


class TupleCountingMixin(GenerativeMixin):
    """Counting for a model that needs nothing but counts of tuples.

    The model says which orders it counts (``_counted_orders``) and what follows (``_derive``).
    """

    def _cut_rule(self):
        return cut_rule(self.bins)

    def _count(self, rows):
        parts = self._memory_parts(rows.table.cardinalities, rows.n_classes)
        refuse_beyond_memory(parts, "lower the order, merge rare categories or drop columns")
        terms = self._counted_terms(rows.table.cardinalities)
        return TableStatistics(
            rows.table.schema,
            class_weights(rows.labels, rows.n_classes, rows.row_weight),
            TupleCounts.of(rows.table.codes, rows.labels, terms, rows.n_classes, rows.row_weight),
            Moments.none(rows.table.numbers.shape[1], rows.n_classes),
            tuple(rows.classes.tolist()),
        )

    def _counted_terms(self, cardinalities=None):
        """Return the terms that are counted, those of a fitted model by default."""
        order, hierarchical = self._counted_orders()
        cardinalities = self.schema_.cardinalities if cardinalities is None else cardinalities
        return terms_of_order(cardinalities, order, hierarchical=hierarchical)

    def _memory_parts(self, cardinalities, n_classes):
        """Return what the fit takes, in bytes: counts, the work on them, and tables."""
        order, hierarchical = self._counted_orders()
        return table_parts(cardinalities, order, n_classes, copies=4, hierarchical=hierarchical)

    def _check_parameters(self):
        check_order(self.order)
        check_choice("estimates", self.estimates, ESTIMATES)
        check_number("smoothing", self.smoothing, "a number of rows, 0 or more", low=0)
