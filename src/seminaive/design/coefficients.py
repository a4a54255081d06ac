"""What each coefficient of a model over terms belongs to, and coefficients as additive scores and back."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from seminaive.design.classes import log_odds
from seminaive.scores import AdditiveScores, NumericTerms, fill_unknown
from seminaive.statistics import ObservedTerms, Terms, TupleCounts, log_shares

if TYPE_CHECKING:
    from seminaive.arrays import Booleans, Floats, Indices

# Beyond this, tables keep only the combinations that occur.
MOST_DENSE_BYTES = 64_000_000


@dataclass(frozen=True)
class Coefficients:
    """An intercept, one coefficient for each of some cells of terms, and one for each standardised number.

    Arrays over coefficients have one row for each, in this order; arrays by class have one column per class.

    Parameters
    ----------
    cells : ndarray of shape (n_cells_used,)
        The cells of the terms that have a coefficient, increasing: those that occur in the rows.
    centres, spreads : ndarray of shape (n_numbers,)
        A number x enters as ``(x - centre) / spread``; a missing one as 0.
    """

    terms: Terms
    cells: Indices
    centres: Floats
    spreads: Floats
    n_classes: int

    def __len__(self) -> int:
        return 1 + len(self.cells) + len(self.centres)

    @property
    def n_numbers(self) -> int:
        """Return the number of coefficients of numbers, which come last."""
        return len(self.centres)

    @cached_property
    def term_of_cell(self) -> Indices:
        """Return the term of each cell used."""
        return self.terms.term_of(self.cells)

    @cached_property
    def orders(self) -> Indices:
        """Return the number of features behind each coefficient: 0 for the intercept, 1 for numbers."""
        ones = np.ones(self.n_numbers, dtype=np.int64)
        return np.concatenate([np.zeros(1, np.int64), self.terms.orders[self.term_of_cell], ones])

    @cached_property
    def fixed(self) -> Booleans:
        """Return which coefficients stay 0: those of cells in which some column carries no evidence."""
        unknown = ~self.terms.are_known(self.cells)
        return np.concatenate([[False], unknown, np.zeros(self.n_numbers, dtype=bool)])

    @cached_property
    def first_order(self) -> Indices:
        """Return the coefficients of the intercept, of single cells and of numbers that may move."""
        return np.flatnonzero((self.orders <= 1) & ~self.fixed)

    @cached_property
    def single_cells(self) -> Indices:
        """Return the coefficients of cells of single columns that may move."""
        first_order = self.first_order
        return first_order[(first_order > 0) & (first_order <= len(self.cells))]

    def strengths(self, ridge: Floats, number_ridge: float | None = None) -> Floats:
        """Return a ridge strength per coefficient, (n, 1), given those of orders 1, 2, ...; 0: intercept."""
        strength = np.concatenate([[0.0], ridge])[self.orders]
        if number_ridge is not None:
            strength[len(strength) - self.n_numbers :] = number_ridge
        return strength[:, None]

    @cached_property
    def join_weights(self) -> Floats:
        """Return AnJE's weight of each coefficient: 1 / binomial(a - 1, n - 1), split among the orders."""
        n_columns = len(self.terms.cardinalities)
        present = sorted({len(term) for term in self.terms.features})
        weights = np.ones(len(self))
        for order in present:
            weights[self.orders == order] = 1 / (comb(n_columns - 1, order - 1) * len(present))
        weights[0] = 1.0
        return weights

    # Additive scores

    @cached_property
    def layout(self) -> tuple[Terms, Indices]:
        """Return the terms as they are stored, and where each cell used is: all cells up to a size."""
        if 8 * self.terms.n_cells * self.n_classes <= MOST_DENSE_BYTES:
            return self.terms, self.cells
        terms = ObservedTerms.of_combinations(self.terms.features, self.terms.cardinalities, self.cells)
        return terms, terms.cells_from_dense(self.cells)

    def to_scores(self, by_class: Floats, cell_weight: Floats) -> AdditiveScores:
        """Return coefficients, one column per class, as additive scores.

        A cell in which some column is unseen gets the mean over the training rows that agree with it in
        the others.

        Parameters
        ----------
        by_class : ndarray of shape (n, n_classes)
        cell_weight : ndarray of shape (n_cells_used,)
        """
        m = len(self.cells)
        terms, stored = self.layout
        tables, weight = np.zeros((terms.n_cells, self.n_classes)), np.zeros(terms.n_cells)
        tables[stored], weight[stored] = by_class[1 : 1 + m], cell_weight
        fill_unknown(terms, tables, weight)
        slopes = np.zeros((self.n_numbers, 4, self.n_classes))
        with np.errstate(over="ignore"):
            largest = np.finfo(np.float64).max
            slopes[:, 2] = np.clip(by_class[1 + m :] / self.spreads[:, None], -largest, largest)
        numeric = NumericTerms(tuple(range(self.n_numbers)), self.centres, slopes).saturating()
        return AdditiveScores(by_class[0].copy(), terms, tables, numeric)


@dataclass(frozen=True)
class GenerativeEstimate:
    """The log probabilities that counts give to each coefficient of a model over terms.

    Parameters
    ----------
    cell_weight : ndarray of shape (n_cells_used, n_classes)
    class_weight : ndarray of shape (n_classes,)
    """

    coefficients: Coefficients
    cell_weight: Floats
    class_weight: Floats

    @cached_property
    def logs(self) -> Floats:
        """Return log pi and log theta by class, 0 for numbers.

        ``theta = (weight + 1/combinations) / (class weight + 1)`` and
        ``pi = (class weight + 1/C) / (total + 1)``.
        """
        coefficients, n_classes = self.coefficients, len(self.class_weight)
        logs = np.zeros((len(coefficients), n_classes))
        logs[0] = log_shares(self.class_weight, self.class_weight.sum(), n_classes, 1 / n_classes)
        unknown = coefficients.fixed[1 : 1 + len(coefficients.cells)]
        without = np.zeros((len(coefficients.terms.features), n_classes))
        np.add.at(without, coefficients.term_of_cell[unknown], self.cell_weight[unknown])
        given = (self.class_weight - without)[coefficients.term_of_cell]
        n_values = np.maximum(coefficients.terms.n_combinations, 1)[coefficients.term_of_cell][:, None]
        cells = log_shares(self.cell_weight, given, n_values, 1 / n_values)
        cells[unknown] = 0.0
        logs[1 : 1 + len(coefficients.cells)] = cells
        return logs

    def joined(self, *, centred: bool) -> Floats:
        """Return AnJE's coefficients; centred so that the classes of each sum to 0.

        A cell without any weight (only held-out rows have it) has no estimate: 0.
        """
        by_class = self.logs * self.coefficients.join_weights[:, None]
        by_class[1 : 1 + len(self.cell_weight)][self.cell_weight.sum(axis=1) == 0] = 0.0
        return log_odds(by_class - by_class.mean(axis=1, keepdims=True) if centred else by_class)

    @property
    def lengths(self) -> Floats:
        """Return the length of log theta in each score column: that of both classes for one log odds."""
        if len(self.class_weight) == 2:
            both: Floats = np.sqrt((self.logs**2).sum(axis=1, keepdims=True))
            return both
        return np.abs(self.logs)

    def tuple_weights(self) -> TupleCounts:
        """Return the weight of each cell of the stored terms, all classes together."""
        terms, stored = self.coefficients.layout
        weights = np.zeros((terms.n_cells, 1))
        weights[stored, 0] = self.cell_weight.sum(axis=1)
        return TupleCounts(terms, weights)

    def single_columns(self) -> TupleCounts:
        """Return the weight of each value of each column by class, from the first term that holds it."""
        terms, cells = self.coefficients.terms, self.coefficients.cells
        singles = Terms.singles(terms.cardinalities)
        counts = np.zeros((singles.n_cells, len(self.class_weight)))
        starts = np.searchsorted(cells, terms.offsets)
        for column in range(len(terms.cardinalities)):
            term = next(term for term, columns in enumerate(terms.features) if column in columns)
            of_term = slice(starts[term], starts[term + 1])
            codes = np.unravel_index(cells[of_term] - terms.offsets[term], terms.shape(term))
            code = codes[terms.features[term].index(column)]
            np.add.at(counts, singles.offsets[column] + code, self.cell_weight[of_term])
        return TupleCounts(singles, counts)

    @property
    def visits(self) -> Floats:
        """Return the weight of the rows that each coefficient acts on."""
        total = self.class_weight.sum()
        numbers = np.full(self.coefficients.n_numbers, total)
        return np.concatenate([[total], self.cell_weight.sum(axis=1), numbers])
