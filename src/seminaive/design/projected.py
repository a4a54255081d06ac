"""Smooth columns as a design: slopes, piecewise-linear curves, and tables of low rank, none of them dense.

Coefficients of a table become its cells by U theta V', so that a pass over the rows gathers from tables as
for any coded terms; sums over cells come back by U' sums V. Curves are gathered at two neighbouring knots.
"""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from seminaive.design.centred_levels import CentredLevels
from seminaive.design.coefficients import Coefficients
from seminaive.design.fusion import FusedTerms, cell_budget
from seminaive.design.pair_codes import PairCodes
from seminaive.design.protocol import OPERATIONS_PER_GATHER, Design
from seminaive.design.smooth_scores import term_blocks
from seminaive.design.table_design import TableDesign
from seminaive.design.table_workspace import padded, with_padding
from seminaive.design.weighted_gram import weighted_gram
from seminaive.design.workspace import in_threads
from seminaive.statistics import Terms

if TYPE_CHECKING:
    from collections.abc import Callable

    from seminaive.arrays import Floats, Indices
    from seminaive.design.smooth_columns import SmoothColumns
    from seminaive.encode import EncodedTable

    # The functions of a category of many levels, where its coefficients lie, and where its cells.
    ManyLevels = tuple[CentredLevels, slice, slice]

Result = TypeVar("Result")


class ProjectedDesign(Design):
    """The columns of a model of smooth columns: intercept, slopes, main terms, pairs.

    Parameters
    ----------
    n_threads : int
        Threads of a pass; the result does not depend on their number.
    n_scores : int
        Columns of scores of a usual pass. With many of them, terms are fused into smaller tables.
    """

    def __init__(
        self,
        columns: SmoothColumns,
        table: EncodedTable,
        n_classes: int,
        n_threads: int = 1,
        n_scores: int = 1,
    ) -> None:
        self.columns = columns
        self.n_threads = n_threads
        self.blocks = term_blocks(columns)
        n_slopes, n_mains = len(columns.slopes), len(columns.mains)
        smooth = columns.columns
        self._curves = [
            (smooth[j], block)
            for j, block in zip(columns.mains, self.blocks[n_slopes : n_slopes + n_mains], strict=True)
            if smooth[j].number is not None
        ]
        coding = PairCodes.of(columns, table)
        self._terms, self._functions, self._many_levels, features = _table_terms(columns, self.blocks, coding)
        terms = Terms(tuple(features), coding.cardinalities)
        fused = FusedTerms.of(coding.codes, terms, cell_budget=cell_budget(n_scores))
        slopes = columns.slope_features(table.numbers)
        zeros = np.zeros(n_slopes)
        self.cells = TableDesign(
            Coefficients(terms, fused.observed, zeros, zeros, n_classes), fused, slopes, n_threads
        )
        positions = [curve.positions(table) for curve, _ in self._curves]
        levels = [level for level, _ in positions]
        self.levels = np.stack(levels).astype(np.uint8) if levels else np.empty((0, len(table)), np.uint8)
        self.along = np.stack([along for _, along in positions]) if levels else np.empty((0, len(table)))
        sizes = [len(curve.curve) + 1 for curve, _ in self._curves]
        self.knot_starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)

    @property
    def n_rows(self) -> int:
        """Return the number of rows."""
        return self.cells.n_rows

    @cached_property
    def n_coefficients(self) -> int:
        """Return the number of columns of X."""
        return 1 + int(self.columns.sizes.sum())

    @property
    def n_gathers(self) -> int:
        """Return how many entries of tables a pass reads for each score of each row."""
        return len(self.cells.fused.cells) + 2 * len(self._curves)

    @property
    def operations(self) -> float:
        """Return what a pass takes for each score of each row, in dense multiplications."""
        return OPERATIONS_PER_GATHER * self.n_gathers

    def workspace(self, n_columns: int) -> ProjectedWorkspace:
        """Return room for passes with ``n_columns`` columns of coefficients."""
        return ProjectedWorkspace(self, n_columns)

    def squared_adjoint(self, residuals: Floats) -> Floats:
        """Return (X * X)'R."""
        space = self.workspace(residuals.shape[1])
        space.values[:] = residuals
        return space.sums(squared=True)

    def gram(self, row_weight: Floats, columns: Indices | None = None) -> Floats:
        """Return X' diag(w) X for some columns, by products with unit vectors."""
        wanted = np.arange(self.n_coefficients) if columns is None else columns
        units = np.zeros((self.n_coefficients, len(wanted)))
        units[wanted, np.arange(len(wanted))] = 1.0
        features = self.scores(units)
        return weighted_gram(features, row_weight)

    # Coefficients and cells

    def to_cells(self, coefficients: Floats) -> Floats:
        """Return the coefficients of the design of cells: intercept, cells that occur, slopes."""
        from seminaive.kernels.projection import expand_pairs

        k = coefficients.shape[1]
        tables = np.empty((self.cells.coefficients.terms.n_cells, padded(k)))
        expand_pairs(self._terms, self._functions, with_padding(coefficients), tables)
        for levels, block, cells in self._many_levels:
            tables[cells, :k] = levels @ coefficients[block]
        n_slopes = len(self.columns.slopes)
        observed = tables[self.cells.fused.observed, :k]
        return np.concatenate([coefficients[:1], observed, coefficients[1 : 1 + n_slopes]])

    def from_cells(self, sums: Floats, *, squared: bool = False) -> Floats:
        """Return the adjoint of `to_cells`; the main terms of numbers stay 0."""
        from seminaive.kernels.projection import project_pairs

        observed = self.cells.fused.observed
        k = sums.shape[1]
        tables = np.zeros((self.cells.coefficients.terms.n_cells, padded(k)))
        tables[observed, :k] = sums[1 : 1 + len(observed)]
        wide = np.zeros((self.n_coefficients, padded(k)))
        project_pairs(self._terms, self._squares if squared else self._functions, tables, wide)
        found = np.ascontiguousarray(wide[:, :k])
        for levels, block, cells in self._many_levels:
            project = levels.squared_adjoint if squared else levels.adjoint
            found[block] = project(tables[cells, :k])
        found[0] = sums[0]
        n_slopes = len(self.columns.slopes)
        found[1 : 1 + n_slopes] = sums[1 + len(observed) :]
        return found

    @cached_property
    def _squares(self) -> Floats:
        return self._functions**2

    @cached_property
    def _functions_of_curves(self) -> list[tuple[Floats, slice, slice]]:
        """The functions of each curve at its knots, where its coefficients are, and where its knots are."""
        starts = self.knot_starts[:-1].tolist()
        return [
            (curve.curve, block, slice(start, start + len(curve.curve)))
            for (curve, block), start in zip(self._curves, starts, strict=True)
        ]

    def knot_values(self, coefficients: Floats, width: int) -> Floats:
        """Return the values of all curves at their knots, a row of zeros after each, padded to a width."""
        values = np.zeros((int(self.knot_starts[-1]), width))
        of_coefficients = values[:, : coefficients.shape[1]]
        for functions, block, knots in self._functions_of_curves:
            of_coefficients[knots] = functions @ coefficients[block]
        return values

    def add_curves(self, residuals: Floats, found: Floats) -> None:
        """Write the main terms of numbers of X'R."""
        sums = self._sums_at_knots(self.along, residuals)
        sums = sums[:, : found.shape[1]]
        for functions, block, knots in self._functions_of_curves:
            found[block] = functions.T @ sums[knots]

    def add_squares_of_curves(self, residuals: Floats, found: Floats) -> None:
        """Write the main terms of numbers of (X * X)'R.

        Between knots of values f and g, the square is (1 - a) f^2 + a g^2 - a (1 - a) (g - f)^2.
        """
        at_knots = self._sums_at_knots(self.along, residuals)
        nowhere = np.zeros_like(self.along)
        for j, (curve, block) in enumerate(self._curves):
            n_knots, start = len(curve.knots), int(self.knot_starts[j])
            between = (self.along[j] * (1 - self.along[j]))[:, None] * residuals
            sums = self._sums_at_knots(nowhere, between, [(j, j + 1)])[start : start + n_knots - 1]
            rises = np.diff(curve.curve[:n_knots], axis=0)
            squares = (curve.curve**2).T @ at_knots[start : start + len(curve.curve)]
            found[block] = (squares - (rises**2).T @ sums)[:, : found.shape[1]]

    def _sums_at_knots(
        self, along: Floats, residuals: Floats, curves: list[tuple[int, int]] | None = None
    ) -> Floats:
        """Return sums of R over the rows at the knots of ranges of curves, or of all curves."""
        from seminaive.kernels.projection import spread_to_knots

        sums = np.zeros((int(self.knot_starts[-1]), residuals.shape[1]))
        in_threads(
            lambda some: spread_to_knots(self.levels, along, self.knot_starts, residuals, *some, sums),
            self._shares_of_curves if curves is None else curves,
            self.n_threads,
        )
        return sums

    @property
    def _shares_of_curves(self) -> list[tuple[int, int]]:
        """The range of curves of each thread."""
        ends = np.linspace(0, len(self._curves), self.n_threads + 1).astype(int).tolist()
        return list(pairwise(ends))


def _table_terms(
    columns: SmoothColumns, blocks: list[slice], coding: PairCodes
) -> tuple[Indices, Floats, list[ManyLevels], list[tuple[int, ...]]]:
    """Return the terms that are tables, as the kernels read them, all functions, and the coded columns.

    A term is where the functions of its first column begin, their shape, the same of its second column, or of
    the constant 1, where its coefficients begin, and where its cells begin. Categories of many levels, third,
    are no terms of the kernels.
    """
    smooth = columns.columns
    n_slopes, n_mains = len(columns.slopes), len(columns.mains)
    described: list[tuple[int, ...]] = []
    features: list[tuple[int, ...]] = []
    flat = [np.ones(1)]
    many: list[ManyLevels] = []

    def store(functions: Floats) -> int:
        flat.append(functions.ravel())
        return sum(map(len, flat[:-1]))

    cell = 0
    for j, block in zip(columns.mains, blocks[n_slopes : n_slopes + n_mains], strict=True):
        if smooth[j].number is None:
            functions = smooth[j].main
            if isinstance(functions, CentredLevels):
                many.append((functions, block, slice(cell, cell + len(functions))))
            else:
                described.append((store(functions), *functions.shape, 0, 1, 1, block.start, cell))
            features.append((smooth[j].coded or 0,))
            cell += len(functions)
    stored = {j: (store(functions), *functions.shape) for j, functions in coding.functions.items()}
    for (j, k), block in zip(columns.pairs, blocks[n_slopes + n_mains :], strict=True):
        described.append((*stored[j], *stored[k], block.start, cell))
        features.append((coding.coded[j], coding.coded[k]))
        cell += len(coding.functions[j]) * len(coding.functions[k])
    return np.array(described, dtype=np.int64).reshape(-1, 8), np.concatenate(flat), many, features


class ProjectedWorkspace:
    """Scores of all rows, kept in the workspace of the design of cells."""

    def __init__(self, design: ProjectedDesign, n_columns: int) -> None:
        self._design = design
        self._cells = design.cells.workspace(n_columns)

    @property
    def width(self) -> int:
        """Return the number of columns with padding."""
        return self._cells.width

    @property
    def values(self) -> Floats:
        """Return the scores, or what has replaced them."""
        return self._cells.values

    def score(
        self, coefficients: Floats, then: Callable[[slice, Floats], Result] | None = None
    ) -> list[Result]:
        """Fill in X B; return what ``then`` gives for each block of rows, given its padded scores."""
        from seminaive.kernels.projection import interpolate

        design = self._design
        knots = design.knot_values(coefficients, self.width)

        def add(rows: slice, scores: Floats) -> Result | None:
            if knots.size:
                interpolate(design.levels, design.along, design.knot_starts, knots, rows.start, scores)
            return None if then is None else then(rows, scores)

        found = self._cells.score(design.to_cells(coefficients), add)
        return [] if then is None else [result for result in found if result is not None]

    def load(self, values: Floats, then: Callable[[slice, Floats], Result]) -> list[Result]:
        """Take given values in place of X B; return what ``then`` gives for each block of rows."""
        return self._cells.load(values, then)

    def adjoint(self) -> Floats:
        """Return X'R of the values R."""
        return self.sums(squared=False)

    def sums(self, *, squared: bool) -> Floats:
        """Return X'R, or (X * X)'R, of the values R."""
        design, cells = self._design, self._cells
        numbers = design.cells.numbers
        found = design.from_cells(cells.sums(numbers**2 if squared else numbers), squared=squared)
        if squared:
            design.add_squares_of_curves(cells.padded, found)
        else:
            design.add_curves(cells.padded, found)
        return found
