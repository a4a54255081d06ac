"""A table as an intercept, indicators of the cells of its terms, and standardised numbers."""

from __future__ import annotations

from functools import cached_property
from math import comb, prod
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from scipy.sparse import csr_array

from seminaive.design.coarse import CoarseSpace
from seminaive.design.coefficients import Coefficients, GenerativeEstimate
from seminaive.design.fusion import FusedTerms, plan_groups
from seminaive.design.gram import CellGram
from seminaive.design.workspace import in_threads, row_blocks
from seminaive.errors import InputError, TooLargeError
from seminaive.memory import refuse_beyond_memory
from seminaive.statistics import Terms, class_weights

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from seminaive.design.fusion import Group
    from seminaive.encode import EncodedTable

    Floats = NDArray[np.float64]
    Indices = NDArray[np.int64]

Result = TypeVar("Result")

# Beyond this the list of terms itself is the problem.
MOST_TERMS = 1_000_000
# Cells are numbered by 64-bit integers.
MOST_COMBINATIONS = 2**62
# Rows of tables are added by vector instructions of four doubles.
LANES = 4
# Groups are scattered to by fours, and by as many fours as stay in the second-level cache.
BYTES_AT_ONCE = 1 << 20
# Beyond so many first-order coefficients, a preconditioner by their Gram matrix costs more than it saves.
MOST_COARSE = 600


class TableDesign:
    """The columns of a model over terms: intercept, cells that occur, standardised numbers.

    Every row lies in one cell of each term, so that a product with the design is a sum of table entries.
    Terms that share columns are fused into joint tables: a pass gathers once per group of terms.

    Parameters
    ----------
    coefficients : Coefficients
        What each column belongs to.
    fused : FusedTerms
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
        ``report(n=...)`` is told how many terms were fused into a group.
        """
        terms = terms_of_order(table.cardinalities, order, hierarchical=hierarchical)
        groups = plan_groups(table.codes, terms, report=report)
        _refuse_too_large(terms, groups, len(row_weight), n_classes, n_vectors)
        fused = FusedTerms.of_groups(table.codes, terms, groups)
        numbers, centres, spreads = standardised(table.numbers, row_weight, wanted=hierarchical)
        coefficients = Coefficients(terms, fused.observed, centres, spreads, n_classes)
        return cls(coefficients, fused, numbers, n_threads)

    def describe(self) -> str:
        """Return one line about the size of a pass."""
        own = self.coefficients
        return (
            f"{self.n_rows:,} rows, {len(own.terms.features):,} terms in {len(self.fused.groups):,} fused "
            f"groups, {len(own):,} coefficients for each of {own.n_classes} classes"
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
    def fixed(self) -> NDArray[np.bool_]:
        """Return which coefficients stay 0."""
        return self.coefficients.fixed

    @property
    def rough(self) -> TableDesign:
        """Return the design for products that only steer a search: sums of table entries are exact."""
        return self

    def coefficient_columns(self, n_scores: int) -> int:
        """Return the columns of coefficients behind so many columns of scores: as many."""
        return n_scores

    def workspace(self, n_columns: int) -> TableWorkspace:
        """Return room for passes with so many columns of coefficients."""
        return TableWorkspace(self, n_columns)

    def scores(self, coefficients: Floats) -> Floats:
        """Return X B."""
        space = self.workspace(coefficients.shape[1])
        space.score(coefficients)
        return space.values.copy()

    def adjoint(self, residuals: Floats) -> Floats:
        """Return X'R."""
        return self._sums(residuals, self.numbers)

    def squared_adjoint(self, residuals: Floats) -> Floats:
        """Return (X * X)'R; indicators are their own squares."""
        return self._sums(residuals, self._squares)

    def gram(self, row_weight: Floats, columns: Indices | None = None) -> Floats:
        """Return X' diag(w) X for some coefficients, by default for all."""
        if columns is None:
            return self._whole_gram(row_weight)
        of_terms = np.append(self.coefficients.term_of_cell, 0)
        own = columns[(columns > 0) & (columns <= len(self.fused.observed))] - 1
        gram = CellGram(self.fused, self.numbers, set(of_terms[own].tolist()))
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
        from seminaive.kernels.fusion import scatter_classes

        n_classes = self.coefficients.n_classes
        tables = np.zeros((self.fused.n_fused_cells, _padded(n_classes)))
        scatter_classes(self.fused.cells, labels, row_weight, tables)
        sums = np.zeros((self.fused.n_parameters, tables.shape[1]))
        self.fused.marginalise(tables, sums)
        class_weight = class_weights(labels, n_classes, row_weight)
        return GenerativeEstimate(self.coefficients, sums[:, :n_classes], class_weight)

    def _sums(self, residuals: Floats, numbers: Floats) -> Floats:
        space = self.workspace(residuals.shape[1])
        space.values[:] = residuals
        return space.sums(numbers)

    def coarse_space(self) -> CoarseSpace:
        """Return the first-order coefficients, and for each single cell all tuples that contain it."""
        return _coarse_space(self)


class TableWorkspace:
    """Scores of all rows, their columns padded for vector instructions.

    Parameters
    ----------
    design : TableDesign
    n_columns : int
    """

    def __init__(self, design: TableDesign, n_columns: int) -> None:
        self._design = design
        self._n_columns = n_columns
        padded, n_numbers = _padded(n_columns), design.numbers.shape[1]
        self._linear = np.zeros((n_numbers, padded))
        self._intercept = np.zeros(padded)
        self._parameters = np.zeros((design.fused.n_parameters, padded))
        self._tables = np.zeros((design.fused.n_fused_cells, padded))
        self._values = np.zeros((design.n_rows, padded))

    @property
    def width(self) -> int:
        """Return the number of columns with padding."""
        return int(self._values.shape[1])

    @property
    def values(self) -> Floats:
        """Return the scores, or what has replaced them."""
        return self._values[:, : self._n_columns]

    @property
    def padded(self) -> Floats:
        """Return the values with the padding of their columns."""
        return self._values

    def score(
        self, coefficients: Floats, then: Callable[[slice, Floats], Result] | None = None
    ) -> list[Result]:
        """Fill in X B; return what ``then`` gives for each block of rows, given its padded scores.

        The padding is 0, and must be left so.
        """
        self._unpack(coefficients)

        def block(rows: slice) -> list[Result]:
            self._add_up(rows)
            return [] if then is None else [then(rows, self._values[rows])]

        design = self._design
        found = in_threads(block, row_blocks(design.n_rows), design.n_threads)
        return [result for own in found for result in own]

    def load(self, values: Floats, then: Callable[[slice, Floats], Result]) -> list[Result]:
        """Take given values in place of X B; return what ``then`` gives for each block of rows."""

        def block(rows: slice) -> Result:
            self._values[rows, : self._n_columns] = values[rows]
            return then(rows, self._values[rows])

        return in_threads(block, row_blocks(self._design.n_rows), self._design.n_threads)

    def adjoint(self) -> Floats:
        """Return X'R of the values R."""
        return self.sums(self._design.numbers)

    def sums(self, numbers: Floats) -> Floats:
        """Return the sums of the values over each cell's rows, and their products with numbers."""
        from seminaive.kernels.fusion import scatter

        tables, parameters, values = self._tables, self._parameters, self._values
        fused, n_threads = self._design.fused, self._design.n_threads
        tables[:] = 0.0
        at_once = self._groups_at_once
        in_threads(
            lambda g: scatter(fused.cells, values, g, min(g + at_once, len(fused.cells)), tables),
            list(range(0, len(fused.cells), at_once)),
            n_threads,
        )
        parameters[:] = 0.0
        fused.marginalise(tables, parameters)
        k, m = self._n_columns, len(parameters)
        sums = np.empty((self._design.n_coefficients, k))
        # Every row lies in one cell of each group, so that one group's sums are those of all rows.
        every_row = tables[: fused.offsets[1]] if len(fused.cells) else values
        sums[0] = (np.ones(len(every_row)) @ every_row)[:k]
        sums[1 : 1 + m] = parameters[:, :k]
        # This way round the product runs along the rows of both factors.
        sums[1 + m :] = np.matmul(values.T, numbers).T[:, :k]
        return sums

    @property
    def _groups_at_once(self) -> int:
        """The groups that one call scatters to; the sums do not depend on it."""
        fours = -(-len(self._design.fused.cells) // LANES)
        cached = BYTES_AT_ONCE * fours // max(self._tables.nbytes, 1)
        return LANES * max(1, min(cached, -(-fours // self._design.n_threads)))

    def _unpack(self, coefficients: Floats) -> None:
        """Fill the fused tables and the other coefficients."""
        fused, k = self._design.fused, self._n_columns
        m = fused.n_parameters
        self._intercept[:k] = coefficients[0]
        self._parameters[:, :k], self._parameters[:, k:] = coefficients[1 : 1 + m], 0.0
        self._linear[:, :k] = coefficients[1 + m :]
        fused.expand(self._parameters, self._tables)
        if len(fused.cells):
            # Every row lies in one cell of the first group, whose table so carries the intercept.
            self._tables[: fused.offsets[1]] += self._intercept

    def _add_up(self, rows: slice) -> None:
        """Fill in the scores of some rows."""
        from seminaive.kernels.fusion import gather

        numbers, cells = self._design.numbers, self._design.fused.cells
        own = self._values[rows]
        base = np.zeros((1, own.shape[1]))
        if numbers.shape[1]:
            np.matmul(numbers[rows], self._linear, out=own)
            base = self._values
        if len(cells):
            gather(cells, self._tables, base, rows.start, rows.stop, self._values)
        else:
            np.add(own if numbers.shape[1] else base, self._intercept, out=own)


def _padded(n_columns: int) -> int:
    return 1 if n_columns == 1 else -LANES * (-n_columns // LANES)


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
    deviations = np.where(present, numbers - centres, 0.0)
    spreads = np.sqrt(row_weight @ deviations**2 / total)
    spreads[spreads == 0] = 1.0
    return deviations / spreads, centres, spreads


def _refuse_too_large(terms: Terms, groups: list[Group], n_rows: int, n_classes: int, n_vectors: int) -> None:
    """Add up what a fit allocates: tables, fused cells of the rows, scores, and the solver's vectors."""
    most_observed = min(terms.n_cells, n_rows * len(terms.features))
    parts = {
        f"at most {most_observed:,} observed cells by {n_classes} classes in the tables": 8
        * most_observed
        * n_classes,
        f"{len(groups)} fused groups by {n_rows:,} rows": 4 * len(groups) * n_rows,
        f"scores of {n_rows:,} rows": 8 * n_rows * (n_classes + 3),
        f"{n_vectors} vectors of at most {most_observed:,} cells by classes": 8
        * n_vectors
        * most_observed
        * (1 if n_classes == 2 else n_classes),
    }
    refuse_beyond_memory(parts, "lower the order, merge rare categories or drop columns")


def _coarse_space(design: TableDesign) -> CoarseSpace:
    own, fused, terms = design.coefficients, design.fused, design.coefficients.terms
    first = own.first_order
    if len(first) > MOST_COARSE:
        return CoarseSpace(
            first[:1], csr_array((len(own), 0)), lambda row_weight: np.full((1, 1), row_weight.sum())
        )
    singles = {columns[0]: term for term, columns in enumerate(terms.features) if len(columns) == 1}
    gram = CellGram(fused, design.numbers, set(singles.values()))
    moving = np.flatnonzero(np.isin(gram.coefficients, first))
    # A single cell is contained in one cell of each of so many tuples: they act so many times as strongly.
    times = sum(len(columns) > 1 and 0 in columns for columns in terms.features)
    cells = own.single_cells if times else first[:0]
    directions = np.concatenate([moving, np.searchsorted(gram.coefficients, cells)])
    factor = np.repeat([1.0, times], [len(moving), len(cells)])

    def products(row_weight: Floats) -> Floats:
        found: Floats = gram(row_weight)[np.ix_(directions, directions)] * factor * factor[:, None]
        return found

    return CoarseSpace(first, _lift(own, singles, cells), products)


def _lift(coefficients: Coefficients, singles: dict[int, int], cells: Indices) -> csr_array:
    """Return which tuples contain each single cell, one column per single cell."""
    shape = (len(coefficients), len(cells))
    if not len(cells):
        return csr_array(shape)
    tuples, parts = _parts_of_tuples(coefficients, singles)
    kept = ~coefficients.fixed[tuples] & ~coefficients.fixed[parts]
    tuples, parts = tuples[kept], np.searchsorted(cells, parts[kept])
    return csr_array((np.ones(len(tuples)), (tuples, parts)), shape=shape)


def _parts_of_tuples(coefficients: Coefficients, singles: dict[int, int]) -> tuple[Indices, Indices]:
    """Return the coefficients of tuples of known values and, for each, that of one of its single cells."""
    terms, observed = coefficients.terms, coefficients.cells
    starts = np.searchsorted(observed, terms.offsets)
    tuples, parts = [], []
    for term, columns in enumerate(terms.features):
        if len(columns) == 1:
            continue
        own = observed[starts[term] : starts[term + 1]]
        known = terms.are_known(own)
        place = starts[term] + np.flatnonzero(known)
        values = np.unravel_index(own[known] - terms.offsets[term], terms.shape(term))
        for column, value in zip(columns, values, strict=True):
            tuples.append(1 + place)
            parts.append(1 + np.searchsorted(observed, terms.offsets[singles[column]] + value))
    return np.concatenate(tuples), np.concatenate(parts)
