"""The terms of a training table laid out for a fit, announced where there are very many of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from joblib import effective_n_jobs

from seminaive.design.table_design import MOST_TERMS, TableDesign
from seminaive.errors import LongFitWarning, warn_caller
from seminaive.models.fit_progress import progress_of
from seminaive.statistics.sizes import n_terms

if TYPE_CHECKING:
    from seminaive.encode import EncodedTable
    from seminaive.models.training_set import TrainingSet

# From this number of terms on, planning their joint tables alone takes minutes.
MANY_TERMS = 100_000


def lay_out_terms(model: Any, table: EncodedTable, rows: TrainingSet, **sizes: Any) -> TableDesign:
    """Return the design of all terms of ``model.order``; show progress if verbose, warn of many terms if not.

    Parameters
    ----------
    model : classifier with ``order``, ``hierarchical``, ``n_jobs`` and ``verbose``
    table : EncodedTable
        The rows' table, or the same rows in other bins.
    sizes : keywords of `TableDesign.of`
    """
    n_columns = len(table.cardinalities)
    order = min(model.order, n_columns)
    total = n_terms(n_columns, order, hierarchical=model.hierarchical)
    if MANY_TERMS <= total <= MOST_TERMS and not model.verbose:
        fewer = n_terms(n_columns, order - 1, hierarchical=model.hierarchical)
        warn_caller(
            f"order={model.order} of {n_columns} columns has {total:,} terms, and laying them out and "
            f"fitting them may take many minutes: verbose=True shows progress, order={order - 1} has "
            f"{fewer:,} terms, and fewer columns have fewer",
            LongFitWarning,
        )
    with progress_of(model, "terms laid out", total) as step:
        step.say(f"order {order} of {n_columns} columns, {total:,} terms, {len(rows.labels):,} rows")
        return TableDesign.of(
            table,
            rows.weights,
            rows.n_classes,
            order=model.order,
            hierarchical=model.hierarchical,
            n_threads=effective_n_jobs(model.n_jobs),
            report=step,
            **sizes,
        )
