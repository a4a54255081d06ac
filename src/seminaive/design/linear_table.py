"""An encoded table as the design of a linear model, and additive scores as its coefficients."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.design.reference import LinearDesign
from seminaive.scores import AdditiveScores, NumericTerms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from seminaive.encode import EncodedTable, Schema
    from seminaive.statistics import TableStatistics

    Floats = NDArray[np.float64]


def reference_codes(statistics: TableStatistics) -> tuple[int, ...]:
    """Choose the category of each coded column that has no coefficient.

    A column of 0 and 1, or of false and true, enters as it is: its reference is 0. Any other column's is
    its most frequent category, so that renaming categories changes nothing; equally frequent ones are told
    apart by how often they occur in the first class, then in the next.
    """
    references = []
    schema, counts = statistics.schema, statistics.counts
    for feature, position in enumerate(schema.coded):
        categories = getattr(schema.columns[position], "categories", ())
        first = counts.terms.offsets[feature]
        own = counts.counts[first : first + counts.terms.n_combinations[feature]]
        if tuple(categories) == (0, 1) or not len(own):
            references.append(0)
        else:
            ranks = [(*count, code) for code, count in enumerate(np.column_stack([own.sum(axis=1), own]))]
            references.append(max(ranks, key=lambda rank: rank[:-1])[-1])
    return tuple(references)


def coefficient_names(schema: Schema, references: tuple[int, ...]) -> list[str]:
    """Name the coefficients: the intercept, the numbers, then ``column=category``."""
    names = ["intercept", *schema.numeric_names]
    for position, reference in zip(schema.coded, references, strict=True):
        labels = schema.labels(position)
        name = schema.columns[position].name
        names += [f"{name}={label}" for code, label in enumerate(labels) if code != reference]
    return names


def no_effect(scores: AdditiveScores) -> AdditiveScores:
    """Return scores over the same terms to which nothing contributes."""
    numeric = replace(scores.numeric, coefficients=np.zeros_like(scores.numeric.coefficients))
    return replace(
        scores, prior=np.zeros_like(scores.prior), tables=np.zeros_like(scores.tables), numeric=numeric
    )


@dataclass(frozen=True)
class LinearTable:
    """A training table seen as ``intercept + numbers + indicators``, anchored in given additive scores.

    The anchor (naive Bayes, or no effect at all) says where each feature's zero lies: its contribution at
    the reference category, or at the number zero, belongs to the intercept. A missing number stands at
    the training mean and a neutrally missing category at the reference; an offset takes the anchor's
    contribution there off again, so that in the anchor itself they are no evidence.

    Parameters
    ----------
    design : LinearDesign
    codes : ndarray of shape (n_rows, n_coded)
    offset : ndarray of shape (n_rows, n_classes)
    references : tuple of int
        The category of each coded column that has no coefficient.
    anchor : AdditiveScores
        Single columns and straight lines only.
    """

    design: LinearDesign
    codes: NDArray[Any]
    offset: Floats
    references: tuple[int, ...]
    anchor: AdditiveScores

    @classmethod
    def of(cls, table: EncodedTable, references: tuple[int, ...], anchor: AdditiveScores) -> LinearTable:
        """Lay out a table."""
        anchor = replace(anchor, numeric=anchor.numeric.with_unit_scales())
        numbers, offset = table.numbers, np.zeros((len(table), anchor.n_classes))
        absent = np.isnan(numbers)
        if absent.any():
            numbers = np.where(absent, anchor.numeric.centres, numbers)
            offset -= absent @ anchor.numeric.coefficients[:, 1]
        for feature, reference in enumerate(references):
            silent = table.codes[:, feature] == table.cardinalities[feature]
            if silent.any():
                offset[silent] -= anchor.tables[anchor.terms.offsets[feature] + reference]
        design = LinearDesign.of(numbers, table.codes, table.cardinalities, references)
        return cls(design, table.codes, offset, references, anchor)

    def coefficients(self) -> Floats:
        """Return the anchor as coefficients, (n_coefficients, n_classes)."""
        anchor, design = self.anchor, self.design
        result = np.empty((design.n_coefficients, anchor.n_classes))
        constant, slope = anchor.numeric.coefficients[:, 1], anchor.numeric.coefficients[:, 2]
        result[0] = anchor.prior + (constant - slope * anchor.numeric.centres[:, None]).sum(axis=0)
        result[1 : 1 + design.n_numbers] = slope
        for feature, reference in enumerate(self.references):
            cells, rows = self._cells(feature)
            at_reference = anchor.tables[anchor.terms.offsets[feature] + reference]
            if len(cells):
                result[0] += at_reference
            result[rows] = anchor.tables[cells] - at_reference
        return result

    def scores(self, away: Floats, row_weight: Floats) -> AdditiveScores:
        """Return the additive scores whose coefficients are the anchor's plus ``away``.

        A category never seen gets the training-weighted mean contribution of its column, unless training
        had rows without evidence there: those stood at what the anchor calls no evidence.
        """
        anchor, design = self.anchor, self.design
        tables = anchor.tables.copy()
        for feature in range(len(self.references)):
            cells, rows = self._cells(feature)
            tables[cells] += away[rows]
            first, size = anchor.terms.offsets[feature], anchor.terms.n_combinations[feature]
            weight = np.bincount(self.codes[:, feature], row_weight, minlength=size + 1)
            if weight[size] == 0 and weight.any():
                tables[first + size] = weight[:size] @ tables[first : first + size] / weight.sum()
        slope = away[1 : 1 + design.n_numbers]
        at_mean = slope * anchor.numeric.centres[:, None]
        numeric = anchor.numeric.coefficients.copy()
        numeric[:, 0] += at_mean
        numeric[:, 1] += at_mean
        numeric[:, 2] += slope
        return AdditiveScores(
            anchor.prior + away[0],
            anchor.terms,
            tables,
            NumericTerms(anchor.numeric.features, anchor.numeric.centres, numeric),
        )

    def _cells(self, feature: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the cells of a coded column that have a coefficient, and those coefficients' rows."""
        terms, design = self.anchor.terms, self.design
        codes = np.arange(terms.n_combinations[feature])
        codes = codes[codes != self.references[feature]]
        return terms.offsets[feature] + codes, design.first_place[feature] + np.arange(len(codes))
