"""A table as an intercept, indicators of the cells of its terms, and standardised numbers."""

from __future__ import annotations

from functools import cached_property
from math import comb, prod
from typing import TYPE_CHECKING

import numpy as np

from seminaive.design.coarse_table import coarse_space
from seminaive.design.coefficients import Coefficients, GenerativeEstimate
from seminaive.design.fusion import FusedTerms, plan_groups
from seminaive.design.gram import CellGram
from seminaive.design.protocol import OPERATIONS_PER_GATHER, Design
from seminaive.design.table_workspace import TableWorkspace, padded
from seminaive.errors import InputError, TooLargeError
from seminaive.memory import refuse_beyond_memory
from seminaive.statistics import Terms, class_weights
from seminaive.statistics.spread import root_mean_squares

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from seminaive.arrays import Booleans, Floats, Indices
    from seminaive.design.coarse import CoarseSpace
    from seminaive.design.fusion import Group
    from seminaive.encode import EncodedTable

# With more terms their list alone would fill the memory; cells are numbered by 64-bit integers.
MOST_TERMS, MOST_COMBINATIONS = 1_000_000, 2**62


class TableDesign(Design):
    """The columns of a model over terms: intercept, cells that occur, standardised numbers.

    Every row lies in one cell of each term, so that a product with the design is a sum of table entries.
    Terms that share columns are fused into joint tables: a pass gathers once per group of terms.

    Parameters
    ----------
    coefficients : Coefficients
        What each column belongs to.
    numbers : ndarray of shape (n_rows, n_numbers)
        Standardised, 0 where missing.
    n_threads : int
        Threads of a pass; the result does not depend on their number.
    """

    def __init__(
        self, coefficients: Coefficients, fused: FusedTerms, numbers: Floats, n_threads: int = 1
    ) -> None:
        self.coefficients = coefficients
        self.fused = fused
        self.numbers = numbers
        self.n_threads = n_threads

    @classmethod
    def of(
        cls,
        table: EncodedTable,
        row_weight: Floats,
        n_classes: int,
        *,
        order: int,
        hierarchical: bool,
        n_threads: int = 1,
        n_vectors: int = 8,
        report: Callable[..., None] | None = None,
    ) -> TableDesign:
        """Lay out all terms of an order; hierarchical designs have the lower orders and numbers as well.

        Refuses what memory cannot hold, ``n_vectors`` being the coefficient vectors that a solver keeps.
        ``report(n=...)`` is called with the number of terms fused into each group.
        """
        terms = terms_of_order(table.cardinalities, order, hierarchical=hierarchical)
        groups = plan_groups(table.codes, terms, report=report)
        refuse_too_large(terms, groups, len(row_weight), n_classes, n_vectors)
        fused = FusedTerms.of_groups(table.codes, terms, groups)
        numbers, centres, spreads = standardised(table.numbers, row_weight, wanted=hierarchical)
        coefficients = Coefficients(terms, fused.observed, centres, spreads, n_classes)
        return cls(coefficients, fused, numbers, n_threads)

    @classmethod
    def of_fused_rows(cls, cells: NDArray[np.uint32], offsets: Indices, numbers: Floats) -> TableDesign:
        """Lay out rows whose coefficients are expanded, and whose sums are marginalised, elsewhere."""
        nothing = np.empty(0, dtype=np.int64)
        n_numbers = numbers.shape[1]
        coefficients = Coefficients(Terms((), ()), nothing, np.zeros(n_numbers), np.ones(n_numbers), 2)
        return cls(coefficients, FusedTerms(nothing, cells, offsets, (), (), ()), numbers)

    def describe(self, n_rows: int | None = None) -> str:
        """Return one line about the size of a pass."""
        coefficients = self.coefficients
        return (
            f"{self.n_rows if n_rows is None else n_rows:,} rows, {len(coefficients.terms.features):,} terms "
            f"in {len(self.fused.groups):,} fused groups, {len(coefficients):,} coefficients for each of "
            f"{coefficients.n_classes} classes"
        )

    @property
    def n_rows(self) -> int:
        """Return the number of rows."""
        return len(self.numbers)

    @property
    def n_coefficients(self) -> int:
        """Return the number of coefficients."""
        return len(self.coefficients)

    @property
    def n_numbers(self) -> int:
        """Return the number of coefficients of numbers, which come last."""
        return self.coefficients.n_numbers

    @property
    def orders(self) -> Indices:
        """Return the number of features behind each coefficient."""
        return self.coefficients.orders

    @property
    def fixed(self) -> Booleans:
        """Return which coefficients stay 0."""
        return self.coefficients.fixed

    @property
    def operations(self) -> float:
        """Return what a pass takes for each score of each row, in dense multiplications."""
        return OPERATIONS_PER_GATHER * len(self.fused.groups) + self.n_numbers

    def workspace(self, n_columns: int) -> TableWorkspace:
        """Return room for passes with ``n_columns`` columns of coefficients."""
        return TableWorkspace(self, n_columns)

    def squared_adjoint(self, residuals: Floats) -> Floats:
        """Return (X * X)'R; indicators equal their squares."""
        space = self.workspace(residuals.shape[1])
        space.values[:] = residuals
        return space.sums(self._squares)

    def gram(self, row_weight: Floats, columns: Indices | None = None) -> Floats:
        """Return X' diag(w) X for some coefficients, by default for all."""
        if columns is None:
            return self._whole_gram(row_weight)
        of_terms = np.append(self.coefficients.term_of_cell, 0)
        cells = columns[(columns > 0) & (columns <= len(self.fused.observed))] - 1
        gram = CellGram(self.fused, self.numbers, set(of_terms[cells].tolist()))
        kept = np.searchsorted(gram.coefficients, columns)
        return gram(row_weight)[np.ix_(kept, kept)]

    @cached_property
    def _whole_gram(self) -> CellGram:
        return CellGram(self.fused, self.numbers, range(len(self.coefficients.terms.features)))

    @cached_property
    def _squares(self) -> Floats:
        return self.numbers**2

    def generative_estimate(self, labels: Indices, row_weight: Floats) -> GenerativeEstimate:
        """Return the log probabilities that the weighted rows give to each coefficient."""
        from seminaive.kernels.fused_passes import scatter_classes

        n_classes = self.coefficients.n_classes
        tables = np.zeros((self.fused.n_fused_cells, padded(n_classes)))
        scatter_classes(self.fused.cells, labels, row_weight, tables)
        return self.estimate_of(tables, class_weights(labels, n_classes, row_weight))

    def estimate_of(self, tables: Floats, class_weight: Floats) -> GenerativeEstimate:
        """Return the same, given the weight of each fused cell and class, columns padded."""
        n_classes = self.coefficients.n_classes
        sums = np.zeros((self.fused.n_parameters, tables.shape[1]))
        self.fused.marginalise(tables, sums)
        return GenerativeEstimate(self.coefficients, sums[:, :n_classes], class_weight)

    def coarse_space(self) -> CoarseSpace:
        """Return the first-order coefficients, and for each single cell all tuples that contain it."""
        return coarse_space(self)


def terms_of_order(cardinalities: Sequence[int], order: int, *, hierarchical: bool) -> Terms:
    """Return the terms of an order, or of all orders up to it; refuse a list that is far too long.

    No order exceeds the number of columns: beyond it, all columns together are one term.
    """
    n_columns = len(cardinalities)
    order = min(order, n_columns)
    orders = range(1, order + 1) if hierarchical else (order,)
    n_terms = sum(comb(n_columns, size) for size in orders)
    if n_terms > MOST_TERMS:
        raise InputError(
            f"{n_columns} columns have {n_terms:,} terms of order {order}, above {MOST_TERMS:,}: lower the "
            "order, or drop columns"
        )
    largest = prod(k + 1 for k in sorted(cardinalities)[-order:])
    if n_terms * largest > MOST_COMBINATIONS:
        raise TooLargeError(
            f"a term of order {order} has up to {largest:,} combinations, too many to number: lower the "
            "order, or merge rare categories"
        )
    build = Terms.up_to_order if hierarchical else Terms.of_order
    return build(cardinalities, order)


def standardised(numbers: Floats, row_weight: Floats, *, wanted: bool) -> tuple[Floats, Floats, Floats]:
    """Return the numbers with mean 0 and variance 1, missing ones 0, and their centres and spreads."""
    if not wanted or not numbers.shape[1]:
        return np.empty((len(row_weight), 0)), np.empty(0), np.empty(0)
    present = ~np.isnan(numbers)
    filled = np.where(present, numbers, 0.0)
    total = row_weight @ present
    centres = row_weight @ filled / total
    # The mean of a constant may differ from it by rounding.
    highest = np.where(present, numbers, -np.inf).max(axis=0)
    varies = highest > np.where(present, numbers, np.inf).min(axis=0)
    deviations = np.where(present & varies, numbers - centres, 0.0)
    spreads = root_mean_squares(deviations, row_weight, total)
    spreads[spreads == 0] = 1.0
    return deviations / spreads, centres, spreads


def refuse_too_large(
    terms: Terms,
    groups: list[Group],
    n_rows: int,
    n_classes: int,
    n_vectors: int,
    rows_at_once: int | None = None,
) -> None:
    """Add up what a fit allocates: tables, fused cells of the rows, scores, and the solver's vectors.

    ``rows_at_once`` are the rows that are in memory at any time, by default all.
    """
    at_once = n_rows if rows_at_once is None else min(n_rows, rows_at_once)
    most_observed = min(terms.n_cells, n_rows * len(terms.features))
    parts = {
        f"at most {most_observed:,} observed cells by {n_classes} classes in the tables": 8
        * most_observed
        * n_classes,
        f"{len(groups)} fused groups by {at_once:,} rows": 4 * len(groups) * at_once,
        f"scores of {at_once:,} rows": 8 * at_once * (n_classes + 3),
        f"{n_vectors} vectors of at most {most_observed:,} cells by classes": 8
        * n_vectors
        * most_observed
        * (1 if n_classes == 2 else n_classes),
    }
    refuse_beyond_memory(parts, "lower the order, merge rare categories or drop columns")
