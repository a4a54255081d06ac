"""Tables over coded columns, or over tuples of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from seminaive.scores.kind import TermKind, is_block
from seminaive.statistics import ObservedTerms, Terms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seminaive.arrays import Floats
    from seminaive.encode import EncodedTable

# Up to this number of rows, one numpy call over all terms is faster than one call per term.
FEW_ROWS = 100


@dataclass(frozen=True)
class TableTerms(TermKind):
    """One contribution per class for every cell of each term.

    Where the schema of a table says between which nodes a number is read, a contribution is interpolated
    linearly along its axis: in a pair of two such numbers it is bilinear.

    Parameters
    ----------
    terms : Terms
        The tables' columns and where their cells lie.
    tables : ndarray of shape (n_cells, n_classes)
    """

    terms: Terms
    tables: Floats

    @property
    def n_terms(self) -> int:
        """Return the number of terms."""
        return len(self.terms.features)

    def contributions(self, table: EncodedTable) -> Floats:
        """Return each row's cell of each table, (n_rows, n_terms, n_classes)."""
        nodes = table.schema.nodes
        if nodes is None:
            return self.tables.take(self.terms.cells(table.codes), axis=0)
        coordinates = nodes.coordinates(table)
        cells, shares = self.terms.cells(coordinates.codes)[None], np.ones((1, 1, 1))
        for columns, strides in self.terms.by_axis:
            along = coordinates.along.take(columns, axis=1)
            along *= strides > 0
            cells = np.concatenate([cells, cells + (along > 0) * strides])
            shares = np.concatenate([shares * (1.0 - along), shares * along])
        values: Floats = np.add.reduce(self.tables.take(cells, axis=0) * shares[..., None], axis=0)
        return values

    def add_uncompiled(self, table: EncodedTable, scores: Floats) -> None:
        """Gather and add: all terms of a few rows at once, else one term after the other."""
        if len(table) <= FEW_ROWS or table.schema.nodes is not None:
            super().add_uncompiled(table, scores)
            return
        for term in range(self.n_terms):
            scores += self.tables.take(self.terms.cells_of(term, table.codes), axis=0)

    def compiles(self, n_rows: int) -> bool:
        """Tell whether a compiled pass pays; combinations kept as observed are looked up by sorting."""
        return super().compiles(n_rows) and not isinstance(self.terms, ObservedTerms)

    def add_compiled(self, table: EncodedTable, scores: Floats) -> None:
        """Gather and add by a compiled pass."""
        from seminaive.kernels.node_interpolation import add_interpolated_scores
        from seminaive.kernels.scoring import add_table_scores

        terms, nodes = self.terms, table.schema.nodes
        if nodes is not None and terms.orders.max(initial=0) > 2:
            self.add_uncompiled(table, scores)
            return
        if nodes is None:
            add_table_scores(
                table.codes, terms.columns, terms.strides, terms.starts, terms.offsets, self.tables, scores
            )
            return
        layout = (terms.columns, terms.strides, terms.starts, terms.offsets)
        add_interpolated_scores(
            table.codes, table.numbers, nodes.numbers, nodes.starts, nodes.nodes, *layout, self.tables, scores
        )

    def scaled(self, weights: Floats) -> TableTerms:
        """Multiply each table by its weight."""
        return replace(self, tables=self.tables * np.repeat(weights, self.terms.sizes)[:, None])

    def restricted(self, kept: Sequence[int]) -> TableTerms:
        """Keep some of the tables."""
        blocks = [self.tables[self.terms.block(term)] for term in kept]
        tables = np.concatenate([np.empty((0, self.tables.shape[1])), *blocks])
        return TableTerms(self.terms.subset(kept), tables)

    def centred(self) -> TableTerms:
        """Take the mean over the classes off each cell."""
        return replace(self, tables=self.tables - self.tables.mean(axis=1, keepdims=True))

    def joined(self, other: TableTerms) -> TableTerms:
        """Return these tables, then the others."""
        if self.terms.cardinalities != other.terms.cardinalities:
            raise ValueError("scores of differently coded tables cannot be added")
        if type(self.terms) is not Terms or type(other.terms) is not Terms:
            raise ValueError("scores that keep observed combinations only cannot be added")
        terms = Terms(self.terms.features + other.terms.features, self.terms.cardinalities)
        return TableTerms(terms, np.concatenate([self.tables, other.tables]))

    def fits(self, cardinalities: Sequence[int], n_numbers: int, n_classes: int) -> bool:
        """Tell whether cells and columns belong to such a table; ``n_numbers`` does not matter."""
        del n_numbers
        return (
            tuple(self.terms.cardinalities) == tuple(cardinalities)
            and all(_increasing_below(term, len(cardinalities)) for term in self.terms.features)
            and self.terms.is_consistent()
            and is_block(self.tables, (self.terms.n_cells, n_classes))
        )


def _increasing_below(columns: tuple[int, ...], n_columns: int) -> bool:
    """Tell whether columns are strictly increasing positions below ``n_columns``."""
    return bool(columns) and all(a < b for a, b in zip((-1, *columns), (*columns, n_columns), strict=True))
