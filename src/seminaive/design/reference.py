"""The reference-coded design: an intercept, numbers, and indicators of all categories but one per column.

Nothing is stored as a dummy matrix. `ReferenceDesign` is the matrix X of given numbers and codes;
`AnchoredDesign` is that of an encoded table, and turns coefficients into `AdditiveScores` and back.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.design.rounding import ROUNDING
from seminaive.design.weighted_gram import weighted_gram
from seminaive.design.workspace import ROWS_AT_ONCE
from seminaive.errors import InputError
from seminaive.scores import AdditiveScores, NumericTerms
from seminaive.statistics.spread import root_mean_squares

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from seminaive.arrays import Floats, Integers
    from seminaive.encode import EncodedTable, Schema
    from seminaive.statistics import TableStatistics


def compiled_layout(array: NDArray[Any], dtype: Any) -> NDArray[Any]:
    """Return an array as the kernels take it, copied only if it must be.

    A read-only array is another type to the compiler, and would cost another compilation.
    """
    return np.require(array, dtype, ["C", "W", "A"])


@dataclass(frozen=True)
class ReferenceDesign:
    """An intercept, numeric columns, and one indicator per category that is not its column's reference.

    Coefficients stand in that order; the indicators of a column follow its codes. A code equal to the
    column's number of categories has no indicator, like the reference: it stands for "no evidence".

    Parameters
    ----------
    numbers : ndarray of shape (n_rows, n_numbers)
        Finite.
    places : ndarray of shape (n_rows, n_coded)
        The coefficient of each coded cell; ``n_coefficients`` where it has none.
    first_place : ndarray of shape (n_coded + 1,)
        Where each coded column's coefficients start.

    Examples
    --------
    Two numbers and a column of three categories, of which code 1 is the reference:

    >>> import numpy as np
    >>> design = ReferenceDesign.of(np.zeros((4, 2)), np.array([[0], [1], [2], [2]]), [3], [1])
    >>> design.n_coefficients
    5
    >>> design.scores(np.array([[10.0], [0.0], [0.0], [1.0], [2.0]])).ravel()
    array([11., 10., 12., 12.])
    """

    numbers: Floats
    places: NDArray[Any]
    first_place: Integers
    n_coefficients: int

    @classmethod
    def of(
        cls,
        numbers: Floats | None = None,
        codes: NDArray[Any] | None = None,
        cardinalities: Sequence[int] = (),
        references: Sequence[int] | None = None,
    ) -> ReferenceDesign:
        """Lay out a design; references are codes, by default each column's first.

        Parameters
        ----------
        numbers : ndarray of shape (n_rows, n_numbers), default=None
        codes : ndarray of shape (n_rows, n_coded), default=None
        cardinalities : sequence of int
            The number of categories of each coded column.
        references : sequence of int, default=None
            The code of each coded column that has no coefficient.
        """
        if numbers is None and codes is None:
            raise InputError("a design needs numbers or codes, got neither")
        n_rows = len(numbers) if numbers is not None else len(codes)  # type: ignore[arg-type]
        numbers = np.zeros((n_rows, 0)) if numbers is None else compiled_layout(numbers, np.float64)
        codes = np.zeros((n_rows, 0), dtype=np.uint8) if codes is None else codes
        references = [0] * len(cardinalities) if references is None else references
        if len(codes) != len(numbers) or codes.shape[1] != len(cardinalities):
            raise InputError(
                f"numbers of shape {numbers.shape}, codes of shape {codes.shape} and {len(cardinalities)} "
                "cardinalities do not describe the same rows and columns"
            )
        if not np.isfinite(numbers).all():
            raise InputError("numbers must be finite: fill missing cells before solving")
        if len(codes) and (codes.max(axis=0) > np.asarray(cardinalities)).any():
            raise InputError("a code exceeds its column's number of categories")
        if len(codes) and (codes.min(axis=0) < 0).any():
            raise InputError(
                "a code is negative: codes count from 0, and a missing one is the number of categories"
            )
        if any(not 0 <= code < max(1, size) for code, size in zip(references, cardinalities, strict=True)):
            raise InputError(f"references must be codes of their columns, got {list(references)}")
        widths = [max(0, cardinality - 1) for cardinality in cardinalities]
        first_place = 1 + numbers.shape[1] + np.cumsum([0, *widths], dtype=np.int64)
        n_coefficients = int(first_place[-1])
        places = np.empty(codes.shape, dtype=np.uint16 if n_coefficients < 2**16 else np.uint32)
        for feature, (cardinality, reference) in enumerate(zip(cardinalities, references, strict=True)):
            of_code = first_place[feature] + np.arange(cardinality + 1)
            of_code -= np.arange(cardinality + 1) > reference
            of_code[[reference, cardinality]] = n_coefficients
            places[:, feature] = of_code.astype(places.dtype)[codes[:, feature]]
        return cls(numbers, places, first_place, n_coefficients)

    @property
    def n_rows(self) -> int:
        """Return the number of rows."""
        return len(self.numbers)

    @property
    def n_numbers(self) -> int:
        """Return the number of numeric columns."""
        return int(self.numbers.shape[1])

    def rows(self, kept: NDArray[Any] | slice) -> ReferenceDesign:
        """Return the design of some rows, by position or mask."""
        return replace(self, numbers=self.numbers[kept], places=self.places[kept])

    def means_and_deviations(self, row_weight: Floats) -> tuple[Floats, Floats]:
        """Return the weighted mean and standard deviation of every column; 0 and 1 for the intercept."""
        total = row_weight.sum()
        means = np.zeros(self.n_coefficients + 1)
        deviations = np.ones(self.n_coefficients + 1)
        numbers = slice(1, 1 + self.n_numbers)
        means[numbers] = row_weight @ self.numbers / total
        counted = self.numbers if row_weight.all() else self.numbers[row_weight > 0]
        constant = counted.min(axis=0) == counted.max(axis=0)
        # The mean of equal numbers is that number, to the last bit: else centring would leave noise to fit.
        means[numbers] = np.where(constant, counted[0], means[numbers])
        for j in range(self.n_numbers):
            from_mean = self.numbers[:, j : j + 1] - means[1 + j]
            deviations[1 + j] = 0.0 if constant[j] else root_mean_squares(from_mean, row_weight, total)[0]
        counts = np.zeros(self.n_coefficients + 1)
        for feature in range(self.places.shape[1]):
            counts += np.bincount(self.places[:, feature], row_weight, minlength=len(counts))
        indicators = slice(1 + self.n_numbers, self.n_coefficients)
        means[indicators] = counts[indicators] / total
        deviations[indicators] = np.sqrt(means[indicators] * (1 - means[indicators]))
        means[self.n_coefficients] = 0.0
        return means[:-1], deviations[:-1]

    def medians(self, row_weight: Floats) -> Floats:
        """Return the weighted median of every number."""
        order = np.argsort(self.numbers, axis=0, kind="stable")
        below = np.cumsum(row_weight[order], axis=0)
        middle = (below < 0.5 * below[-1]).sum(axis=0)
        columns = np.arange(self.n_numbers)
        medians: Floats = self.numbers[order[middle, columns], columns]
        return medians

    def scores(self, coefficients: Floats) -> Floats:
        """Return design times coefficients (n_coefficients, n_scores): (n_rows, n_scores)."""
        padded = np.vstack([coefficients, np.zeros((1, coefficients.shape[1]))])
        scores = np.asarray(self.numbers @ coefficients[1 : 1 + self.n_numbers] + coefficients[0])
        for feature in range(self.places.shape[1]):
            scores += padded[self.places[:, feature]]
        return scores

    def adjoint(self, residuals: Floats) -> Floats:
        """Return X'R, (n_coefficients, n_scores), of residuals (n_rows, n_scores)."""
        result = np.zeros((self.n_coefficients + 1, residuals.shape[1]))
        result[0] = residuals.sum(axis=0)
        result[1 : 1 + self.n_numbers] = self.numbers.T @ residuals
        for feature in range(self.places.shape[1]):
            for score in range(residuals.shape[1]):
                result[:, score] += np.bincount(
                    self.places[:, feature], residuals[:, score], minlength=len(result)
                )
        return result[:-1]

    def gram(self, row_weight: Floats, columns: Integers | None = None) -> Floats:
        """Return X'WX for some columns, by default for all."""
        columns = np.arange(self.n_coefficients) if columns is None else columns
        result = np.zeros((len(columns), len(columns)))
        for begin in range(0, self.n_rows, ROWS_AT_ONCE):
            part = slice(begin, begin + ROWS_AT_ONCE)
            dense = self.rows(part).dense(columns)
            result += weighted_gram(dense, row_weight[part])
        return result

    def dense(self, columns: Integers | None = None) -> Floats:
        """Return X itself, or some of its columns; for few rows."""
        columns = np.arange(self.n_coefficients) if columns is None else columns
        return self.scores(np.eye(self.n_coefficients)[:, columns])


def reference_codes(statistics: TableStatistics) -> tuple[int, ...]:
    """Choose the category of each coded column that has no coefficient.

    A column of 0 and 1, or of false and true, enters as it is: its reference is 0. Any other column's is
    its most frequent category, the smallest of equally frequent ones, so that neither the order of the rows
    nor the names of the classes decide.
    """
    references = []
    schema, counts = statistics.schema, statistics.counts
    for feature, position in enumerate(schema.coded):
        categories = getattr(schema.columns[position], "categories", ())
        first = counts.terms.offsets[feature]
        weight = counts.counts[first : first + counts.terms.cardinalities[feature]].sum(axis=1)
        if tuple(categories) == (0, 1) or not len(weight):
            references.append(0)
        else:
            # Weights that differ by rounding are a tie.
            references.append(int(np.argmax(weight >= weight.max() * (1 - len(weight) * ROUNDING))))
    return tuple(references)


def means_and_deviations(statistics: TableStatistics, references: Sequence[int]) -> tuple[Floats, Floats]:
    """Return `ReferenceDesign.means_and_deviations` of all rows from their statistics.

    A missing number has the mean of its column, as in `AnchoredDesign`.
    """
    total = statistics.class_weight.sum()
    moments = statistics.moments.pooled()
    centres = moments.mean[:, 0]
    # Squares of very small numbers exist in units of a power of two only.
    squares = moments.standardised().squared_deviations[:, 0]
    deviations = np.ldexp(np.sqrt(squares / total), moments.exponents)
    shares = [np.empty(0)]
    for feature, reference in enumerate(references):
        known = statistics.counts.block(feature).sum(axis=1)[:-1]
        shares.append(known[np.arange(len(known)) != reference] / total)
    indicators = np.concatenate(shares)
    spreads = np.concatenate([[1.0], deviations, np.sqrt(indicators * (1 - indicators))])
    return np.concatenate([[0.0], centres, indicators]), spreads


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
class AnchoredDesign:
    """The reference-coded design of a training table, with its zeros fixed by given additive scores.

    The anchor (naive Bayes, or no effect at all) decides which part of a feature's contribution belongs to
    the intercept: that at the reference category, or at the number zero. In the design a missing number has
    the value of the training mean and a neutrally missing category that of the reference; the offset takes
    the anchor's contribution there off again, so that under the anchor itself they are no evidence.

    Parameters
    ----------
    codes : ndarray of shape (n_rows, n_coded)
    offset : ndarray of shape (n_rows, n_classes)
    references : tuple of int
        The category of each coded column that has no coefficient.
    anchor : AdditiveScores
        Single columns and straight lines only.
    """

    design: ReferenceDesign
    codes: NDArray[Any]
    offset: Floats
    references: tuple[int, ...]
    anchor: AdditiveScores

    @classmethod
    def of(cls, table: EncodedTable, references: tuple[int, ...], anchor: AdditiveScores) -> AnchoredDesign:
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
        design = ReferenceDesign.of(numbers, table.codes, table.cardinalities, references)
        return cls(design, table.codes, offset, references, anchor)

    def coefficients_of(self, scores: AdditiveScores) -> Floats:
        """Return scores over the anchor's terms as coefficients, (n_coefficients, n_classes)."""
        design, numeric = self.design, scores.numeric
        result = np.empty((design.n_coefficients, scores.n_classes))
        constant, slope = numeric.coefficients[:, 1], numeric.coefficients[:, 2]
        result[0] = scores.prior + (constant - slope * numeric.centres[:, None]).sum(axis=0)
        result[1 : 1 + design.n_numbers] = slope
        for feature, reference in enumerate(self.references):
            cells, positions = self._cells(feature)
            at_reference = scores.tables[scores.terms.offsets[feature] + reference]
            if len(cells):
                result[0] += at_reference
            result[positions] = scores.tables[cells] - at_reference
        return result

    def cell_weight(self, row_weight: Floats) -> Floats:
        """Return the weight of the rows in each cell of the anchor's terms."""
        sizes = [size + 1 for size in self.anchor.terms.cardinalities]
        counted = [
            np.bincount(codes, row_weight, minlength=size)
            for codes, size in zip(self.codes.T, sizes, strict=True)
        ]
        return np.concatenate([np.empty(0), *counted])

    def to_scores(self, coefficients: Floats, cell_weight: Floats) -> AdditiveScores:
        """Return the additive scores of coefficients (n_coefficients, n_classes).

        Where a coefficient is the anchor's, its contributions are the anchor's. A category never seen gets
        the training-weighted mean contribution of its column, unless training had rows without evidence
        there: then it gets the anchor's, as they did.
        """
        anchor, design = self.anchor, self.design
        deviation = coefficients - self.coefficients_of(anchor)
        tables = anchor.tables.copy()
        for feature in range(len(self.references)):
            cells, positions = self._cells(feature)
            tables[cells] += deviation[positions]
            first, size = anchor.terms.offsets[feature], anchor.terms.cardinalities[feature]
            weight = cell_weight[first : first + size + 1]
            if weight[size] == 0 and weight.any():
                tables[first + size] = weight[:size] @ tables[first : first + size] / weight.sum()
        slope = deviation[1 : 1 + design.n_numbers]
        at_mean = slope * anchor.numeric.centres[:, None]
        numeric = anchor.numeric.coefficients.copy()
        numeric[:, 0] += at_mean
        numeric[:, 1] += at_mean
        numeric[:, 2] += slope
        return AdditiveScores(
            anchor.prior + deviation[0],
            anchor.terms,
            tables,
            NumericTerms(anchor.numeric.features, anchor.numeric.centres, numeric).saturating(),
        )

    def _cells(self, feature: int) -> tuple[Integers, Integers]:
        """Return the cells of a coded column that have a coefficient, and the positions of these."""
        terms, design = self.anchor.terms, self.design
        codes = np.arange(terms.cardinalities[feature])
        codes = codes[codes != self.references[feature]]
        return terms.offsets[feature] + codes, design.first_place[feature] + np.arange(len(codes))
