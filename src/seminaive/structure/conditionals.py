"""Conditional distributions of one column given others, with parameters drawn from their posterior."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from seminaive.design.weighted_gram import weighted_gram
from seminaive.structure.value_draws import draw_shares, draw_values, value_shares

if TYPE_CHECKING:
    from seminaive.arrays import Floats, Integers
    from seminaive.structure.incomplete_columns import IncompleteColumns

# Added to the diagonal of X'X as a share of it, as in the R package mice, where columns may be collinear.
RIDGE = 1e-5
# Rows of a regression whose indicators are laid out at once.
ROWS_AT_ONCE = 8192


@dataclass(frozen=True)
class ConditionalTable:
    """The probabilities of a coded column given its parents.

    Parameters
    ----------
    shares : ndarray of shape (n_combinations, n_values)
    """

    column: int
    parents: tuple[int, ...]
    shares: Floats

    @classmethod
    def draw_posterior(
        cls,
        columns: IncompleteColumns,
        column: int,
        parents: tuple[int, ...],
        generator: np.random.Generator,
        row_weight: Floats | None,
    ) -> ConditionalTable:
        """Draw the probabilities from their posterior given the rows where the column is observed.

        The prior of a combination of parents is worth one row that has the mean probabilities given all
        parents but the last; without parents, one row spread evenly.
        """
        rows = columns.observed(("coded", column))
        shape = [columns.cardinalities[j] for j in (*parents, column)]
        counts = np.bincount(
            columns.cells((*parents, column), rows),
            None if row_weight is None else row_weight[rows],
            minlength=int(np.prod(shape)),
        ).reshape(shape)
        prior: Floats = np.full(shape[-1], 1.0 / shape[-1])
        for depth in range(len(parents) + 1):
            margin = counts.sum(axis=tuple(range(depth, len(parents))))
            posterior = margin + (prior if depth == 0 else prior[..., None, :])
            prior = value_shares(posterior, 0.0)
        return cls(column, parents, draw_shares(posterior, generator).reshape(-1, shape[-1]))

    def draw(self, columns: IncompleteColumns, generator: np.random.Generator) -> None:
        """Draw the column's missing cells."""
        rows = columns.missing["coded", self.column]
        columns.codes[self.column, rows] = draw_values(
            self.shares, columns.cells(self.parents, rows), generator
        )


@dataclass(frozen=True)
class NormalRegression:
    """A number given others: a normal distribution around a linear function of numbers and indicators.

    Parameters
    ----------
    coded, others : tuple of int
        Coded columns (all values but the first have an indicator) and numbers that it depends on.
    centre, scale : ndarray of shape (n_others,)
        By which the other numbers are standardised.
    coefficients : ndarray of shape (n_coefficients,)
        Intercept, indicators, numbers.
    deviation : float
        Standard deviation around the linear function.
    """

    number: int
    coded: tuple[int, ...]
    others: tuple[int, ...]
    centre: Floats
    scale: Floats
    coefficients: Floats
    deviation: float

    @classmethod
    def draw_posterior(
        cls,
        columns: IncompleteColumns,
        number: int,
        coded: tuple[int, ...],
        others: tuple[int, ...],
        generator: np.random.Generator,
        row_weight: Floats | None,
    ) -> NormalRegression:
        """Draw variance and coefficients from their posterior under the uniform prior of log variance."""
        rows = columns.observed(("number", number))
        beside = columns.numbers[list(others)][:, rows]
        centre = beside.mean(axis=1)
        scale = beside.std(axis=1)
        scale[scale == 0] = 1.0
        unknown = cls(number, coded, others, centre, scale, np.empty(0), 0.0)
        weight = np.ones(len(rows)) if row_weight is None else row_weight[rows]
        target = columns.numbers[number, rows]
        level = np.average(target, weights=weight)
        gram, moment, square = unknown._normal_equations(columns, rows, target - level, weight)
        gram[np.diag_indices_from(gram)] *= 1 + RIDGE
        gram[np.diag_indices_from(gram)] += np.finfo(float).tiny ** 0.5  # an indicator without any row
        factor = cholesky(gram, lower=True)
        half = solve_triangular(factor, moment, lower=True)
        freedom = max(weight.sum() - len(moment), 1.0)
        deviation = np.sqrt(max(square - half @ half, 0.0) / generator.chisquare(freedom))
        drawn = half + deviation * generator.standard_normal(len(half))
        coefficients = solve_triangular(factor, drawn, lower=True, trans=1)
        coefficients[0] += level
        return cls(number, coded, others, centre, scale, coefficients, float(deviation))

    def _normal_equations(
        self, columns: IncompleteColumns, rows: Integers, target: Floats, weight: Floats
    ) -> tuple[Floats, Floats, float]:
        """Return X'WX, X'Wt and t'Wt."""
        width = self._design(columns, rows[:1]).shape[1]
        gram, moment = np.zeros((width, width)), np.zeros(width)
        for start in range(0, len(rows), ROWS_AT_ONCE):
            block = slice(start, start + ROWS_AT_ONCE)
            design = self._design(columns, rows[block])
            gram += weighted_gram(design, weight[block])
            moment += (weight[block] * target[block]) @ design
        return gram, moment, float(weight @ target**2)

    def _design(self, columns: IncompleteColumns, rows: Integers) -> Floats:
        parts: list[Floats] = [np.ones((len(rows), 1))]
        for column in self.coded:
            values = np.arange(1, columns.cardinalities[column])
            parts.append((columns.codes[column, rows][:, None] == values).astype(np.float64))
        parts.append((columns.numbers[list(self.others)][:, rows].T - self.centre) / self.scale)
        return np.concatenate(parts, axis=1)

    def draw(self, columns: IncompleteColumns, generator: np.random.Generator) -> None:
        """Draw the missing numbers."""
        rows = columns.missing["number", self.number]
        mean = np.concatenate(
            [
                self._design(columns, rows[start : start + ROWS_AT_ONCE]) @ self.coefficients
                for start in range(0, len(rows), ROWS_AT_ONCE)
            ]
        )
        columns.set_numbers(self.number, rows, generator.normal(mean, self.deviation))


Conditional = ConditionalTable | NormalRegression
