"""Counting of tuples for the generative models, whole tables or chunk by chunk."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any

from seminaive.design.table_design import terms_of_order
from seminaive.encode.cuts import cut_rule
from seminaive.memory import refuse_beyond_memory
from seminaive.models.generative_classifier import GenerativeClassifier
from seminaive.models.parameters import check_choice, check_number, check_order
from seminaive.statistics import Moments, TableStatistics, TupleCounts, class_weights
from seminaive.statistics.sizes import table_parts

if TYPE_CHECKING:
    from seminaive.encode.encoded_table import CutRule
    from seminaive.models.training_set import TrainingSet
    from seminaive.statistics import Terms

ESTIMATES = ("m-estimate", "laplace")


@dataclass(eq=False, repr=False)
class TupleClassifier(GenerativeClassifier):
    """Counting for a model that needs nothing but counts of tuples.

    The model says which orders it counts (``_counted_orders``) and what follows (``_derive``).

    Parameters
    ----------
    smoothing : float, default=1.0
        Weight, in rows, of the uniform distribution in each estimate, see ``estimates``.
    estimates : {"m-estimate", "laplace"}, default="m-estimate"
        Whether the combinations of an estimate share ``smoothing`` rows, or get as many each.
    bins : "mdl" or int, default="mdl"
        How numbers are cut into intervals: where the classes change, by minimum description length, or
        into that number of intervals with equally many rows.
    """

    order: int = 2
    _: KW_ONLY
    smoothing: float = 1.0
    estimates: str = "m-estimate"
    bins: Any = "mdl"

    def binning_rule(self) -> CutRule | None:
        """Return the rule that cuts numbers into bins."""
        return cut_rule(self.bins)

    def count_rows(self, rows: TrainingSet) -> TableStatistics:
        """Return the statistics of some rows."""
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

    def _counted_orders(self) -> tuple[int, bool]:
        """Return the largest number of columns that are counted together, and whether fewer are, too."""
        raise NotImplementedError

    def _counted_terms(self, cardinalities: tuple[int, ...]) -> Terms:
        order, hierarchical = self._counted_orders()
        return terms_of_order(cardinalities, order, hierarchical=hierarchical)

    def _memory_parts(self, cardinalities: tuple[int, ...], n_classes: int) -> dict[str, int]:
        order, hierarchical = self._counted_orders()
        return table_parts(cardinalities, order, n_classes, copies=4, hierarchical=hierarchical)

    def _check_parameters(self) -> None:
        check_order(self.order)
        check_choice("estimates", self.estimates, ESTIMATES)
        check_number("smoothing", self.smoothing, "a number of rows, 0 or more", low=0)
