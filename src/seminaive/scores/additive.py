"""What every additive model is once it is fitted: a prior and one contribution per term."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import log_softmax

from seminaive.statistics import ObservedTerms, Terms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from seminaive.encode import EncodedTable

    Floats = NDArray[np.float64]

# Gathers (rows times terms) from which a compiled pass pays for importing the compiler.
COMPILED_GATHERS = 200_000


def log_posterior(scores: Floats) -> Floats:
    """Return joint log scores normalised to log probabilities, row by row; may write into its argument."""
    if scores.size < COMPILED_GATHERS:
        return np.asarray(log_softmax(scores, axis=1))
    from seminaive.kernels.scoring import normalize_log_scores

    scores = np.ascontiguousarray(scores)
    normalize_log_scores(scores)
    return scores


@dataclass(frozen=True)
class NumericTerms:
    """One polynomial per numeric feature and class: ``constant + linear z + quadratic z**2``.

    Parameters
    ----------
    features : tuple of int
        The numeric columns that have a term.
    centres : ndarray of shape (n_terms,)
        ``z = x - centre``; close to the data, so that large numbers cancel before they are squared.
    coefficients : ndarray of shape (n_terms, 4, n_classes)
        What a missing number contributes, then constant, linear and quadratic.
    """

    features: tuple[int, ...]
    centres: Floats
    coefficients: Floats

    @classmethod
    def none(cls, n_classes: int) -> NumericTerms:
        """Return no terms at all."""
        return cls((), np.empty(0), np.empty((0, 4, n_classes)))

    def contribution(self, term: int, numbers: Floats) -> Floats:
        """Return what one term adds to each row's score of each class, (n_rows, n_classes)."""
        x = numbers[:, self.features[term]]
        missing, constant, linear, quadratic = self.coefficients[term]
        z = (x - self.centres[term])[:, None]
        polynomial: Floats = constant + z * (linear + z * quadratic)
        absent = np.isnan(x)
        if absent.any():
            polynomial[absent] = missing
        return polynomial

    def add_to(self, scores: Floats, numbers: Floats) -> None:
        """Add every term's contribution to the scores of each row and class."""
        if len(numbers) * len(self.features) < COMPILED_GATHERS:
            for term in range(len(self.features)):
                scores += self.contribution(term, numbers)
            return
        from seminaive.kernels.scoring import add_number_scores

        features = np.array(self.features, dtype=np.int64)
        add_number_scores(numbers, features, self.centres, self.coefficients, scores)


@dataclass(frozen=True)
class AdditiveScores:
    """The score of class c: ``prior[c]`` plus one contribution per term.

    A term is a table over one coded column or a tuple of them, or a polynomial of one number. The
    softmax of the scores is the posterior. A cell of no evidence holds what an unseen value, or a missing
    one, contributes: 0 in generative scores.

    Parameters
    ----------
    prior : ndarray of shape (n_classes,)
    terms : Terms
        The tables' columns and where their cells lie.
    tables : ndarray of shape (n_cells, n_classes)
    numeric : NumericTerms

    Examples
    --------
    >>> import numpy as np
    >>> tables = np.log([[0.8, 0.2], [0.2, 0.8], [1, 1]])
    >>> coin = AdditiveScores.of_tables(np.zeros(2), Terms.singles([2]), tables)
    >>> np.exp(coin.scale([0.5]).tables[:2]).round(2)
    array([[0.89, 0.45],
           [0.45, 0.89]])
    """

    prior: Floats
    terms: Terms
    tables: Floats
    numeric: NumericTerms

    @classmethod
    def of_tables(cls, prior: Floats, terms: Terms, tables: Any) -> AdditiveScores:
        """Return scores that look at coded columns only."""
        return cls(prior, terms, np.ascontiguousarray(tables), NumericTerms.none(len(prior)))

    @property
    def n_classes(self) -> int:
        """Return the number of classes."""
        return len(self.prior)

    @property
    def n_terms(self) -> int:
        """Return the number of tables and polynomials; tables come first wherever terms are listed."""
        return len(self.terms.features) + len(self.numeric.features)

    def check_fits(self, cardinalities: Sequence[int], n_numbers: int, n_classes: int) -> None:
        """Refuse scores that do not belong to tables of this shape, or that point outside of themselves."""
        fits = (
            tuple(self.terms.cardinalities) == tuple(cardinalities)
            and all(0 <= j < len(cardinalities) for term in self.terms.features for j in term)
            and all(0 <= j < n_numbers for j in self.numeric.features)
        )
        n_numeric = len(self.numeric.features)
        for array, shape in (
            (self.prior, (n_classes,)),
            (self.tables, (self.terms.n_cells if fits else -1, n_classes)),
            (self.numeric.centres, (n_numeric,)),
            (self.numeric.coefficients, (n_numeric, 4, n_classes)),
        ):
            fits = fits and array.shape == shape and array.dtype == np.float64 and array.flags.c_contiguous
        if not fits:
            raise ValueError("the scores do not fit the schema")

    # Reading

    def joint_log_scores(self, table: EncodedTable) -> Floats:
        """Return the score of each row and class: the log posterior up to a constant per row."""
        scores = np.tile(self.prior, (len(table), 1))
        self._add_tables(table, scores)
        self.numeric.add_to(scores, table.numbers)
        return scores

    def _add_tables(self, table: EncodedTable, scores: Floats) -> None:
        terms = self.terms
        if len(table) * len(terms.features) < COMPILED_GATHERS or isinstance(terms, ObservedTerms):
            for term in range(len(terms.features)):
                scores += self.tables[terms.cells_of(term, table.codes)]
            return
        from seminaive.kernels.scoring import add_table_scores

        add_table_scores(
            table.codes, terms.columns, terms.strides, terms.starts, terms.offsets, self.tables, scores
        )

    def breakdown(self, table: EncodedTable) -> Floats:
        """Return what the prior and each term contribute, (n_rows, 1 + n_terms, n_classes).

        Added up in order along the second axis they are the joint log scores, to the last bit.
        """
        parts = np.empty((len(table), 1 + self.n_terms, self.n_classes))
        parts[:, 0] = self.prior
        n_tables = len(self.terms.features)
        for term in range(n_tables):
            parts[:, 1 + term] = self.tables[self.terms.cells_of(term, table.codes)]
        for term in range(len(self.numeric.features)):
            parts[:, 1 + n_tables + term] = self.numeric.contribution(term, table.numbers)
        return parts

    # Operations

    def scale(self, weights: Sequence[float] | Floats) -> AdditiveScores:
        """Multiply each term's contribution: 0 drops the term, 1 leaves it as it is."""
        weights = np.asarray(weights, dtype=np.float64)
        if weights.shape != (self.n_terms,):
            raise ValueError(f"{self.n_terms} terms need {self.n_terms} weights, got {weights.shape}")
        n_tables = len(self.terms.features)
        per_cell = np.repeat(weights[:n_tables], self.terms.sizes)
        numeric = replace(
            self.numeric, coefficients=self.numeric.coefficients * weights[n_tables:, None, None]
        )
        return replace(self, tables=self.tables * per_cell[:, None], numeric=numeric)

    def restrict(self, kept: Sequence[int]) -> AdditiveScores:
        """Keep some of the terms, by their positions in increasing order; the prior stays."""
        n_tables = len(self.terms.features)
        tables = [term for term in kept if term < n_tables]
        numbers = [term - n_tables for term in kept if term >= n_tables]
        terms = self.terms.subset(tables)
        offsets = self.terms.offsets
        blocks = [self.tables[offsets[term] : offsets[term + 1]] for term in tables]
        return AdditiveScores(
            self.prior,
            terms,
            np.concatenate([np.empty((0, self.n_classes)), *blocks]),
            NumericTerms(
                tuple(self.numeric.features[term] for term in numbers),
                self.numeric.centres[numbers],
                self.numeric.coefficients[numbers],
            ),
        )

    def centre(self) -> AdditiveScores:
        """Take each contribution's mean over the classes off it: the posterior stays the same.

        What is left tells for or against a class; what speaks equally for all classes is gone.
        """
        coefficients = self.numeric.coefficients
        return replace(
            self,
            prior=self.prior - self.prior.mean(),
            tables=self.tables - self.tables.mean(axis=1, keepdims=True),
            numeric=replace(
                self.numeric, coefficients=coefficients - coefficients.mean(axis=2, keepdims=True)
            ),
        )

    def interpolate(self, other: AdditiveScores, share: float) -> AdditiveScores:
        """Go a share of the way to other scores over the same terms: 0 stays, 1 arrives."""
        self._check_same_terms(other)
        coefficients = (1 - share) * self.numeric.coefficients + share * other.numeric.coefficients
        return AdditiveScores(
            (1 - share) * self.prior + share * other.prior,
            self.terms,
            (1 - share) * self.tables + share * other.tables,
            replace(self.numeric, coefficients=coefficients),
        )

    def _check_same_terms(self, other: AdditiveScores) -> None:
        if (
            self.terms != other.terms
            or self.numeric.features != other.numeric.features
            or not np.array_equal(self.numeric.centres, other.numeric.centres)
        ):
            raise ValueError("scores over different terms cannot be interpolated: restrict or add them first")

    def __add__(self, other: AdditiveScores) -> AdditiveScores:
        """Return scores whose value is the sum of both: the terms of the one, then those of the other."""
        if self.terms.cardinalities != other.terms.cardinalities:
            raise ValueError("scores of differently coded tables cannot be added")
        if type(self.terms) is not Terms or type(other.terms) is not Terms:
            raise ValueError("scores that keep observed combinations only cannot be added")
        return AdditiveScores(
            self.prior + other.prior,
            Terms(self.terms.features + other.terms.features, self.terms.cardinalities),
            np.concatenate([self.tables, other.tables]),
            NumericTerms(
                self.numeric.features + other.numeric.features,
                np.concatenate([self.numeric.centres, other.numeric.centres]),
                np.concatenate([self.numeric.coefficients, other.numeric.coefficients]),
            ),
        )
