"""What every additive model is once it is fitted: a prior and one contribution per term."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.encode.saved_by_fields import NOT_GIVEN, SavedByFields
from seminaive.scores.attenuation import Attenuation, any_unknown, unknown_cells, without_evidence
from seminaive.scores.curve_terms import CurveTerms
from seminaive.scores.kind import COMPILED_GATHERS, is_block
from seminaive.scores.numeric_terms import NumericTerms
from seminaive.scores.table_terms import TableTerms
from seminaive.statistics.counts import OTHER_LAYOUT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seminaive.arrays import Floats
    from seminaive.encode import EncodedTable
    from seminaive.scores.score_posterior import ScorePosterior
    from seminaive.statistics import Terms

    Kinds = tuple[TableTerms, NumericTerms, CurveTerms]


def log_posterior(scores: Floats) -> Floats:
    """Return joint log scores normalised to log probabilities, row by row; may write into its argument."""
    if scores.size < COMPILED_GATHERS:
        shifted = scores - np.maximum.reduce(scores, axis=1, keepdims=True)
        shifted -= np.log(np.add.reduce(np.exp(shifted), axis=1, keepdims=True))
        return shifted
    from seminaive.kernels.scoring import normalize_log_scores

    scores = np.ascontiguousarray(scores)
    normalize_log_scores(scores)
    return scores


@dataclass(frozen=True)
class AdditiveScores(SavedByFields):
    """The score of class c: ``prior[c]`` plus one contribution per term.

    A term is a table over one coded column or a tuple of them, or a polynomial or a piecewise-linear curve of
    one number. Softmax of the scores is the posterior. A cell of no evidence holds what an unseen value, or a
    missing one, contributes given the values that are known: 0 in generative scores where none is known.
    Where rows with unknown cells are attenuated, the sum is their score before. Wherever terms are listed,
    tables come first, then polynomials and curves.

    Parameters
    ----------
    prior : ndarray of shape (n_classes,)
    terms : Terms
        The tables' columns and where their cells lie.
    tables : ndarray of shape (n_cells, n_classes)
    numeric : NumericTerms
        Polynomials of numbers.
    attenuation : Attenuation or None, default=None
        What becomes of the score of a row with unknown cells; None leaves it. It belongs to a finished fit:
        operations return sums without it.
    posterior : ScorePosterior or None, default=None
        How uncertain the scores are, where the fit says so. It, too, belongs to a finished fit.

    Examples
    --------
    >>> import numpy as np
    >>> from seminaive.statistics import Terms
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
    curves: CurveTerms = NOT_GIVEN
    attenuation: Attenuation | None = None
    posterior: ScorePosterior | None = None

    def __post_init__(self) -> None:
        """Have no curves where none are given."""
        if self.curves is NOT_GIVEN:
            object.__setattr__(self, "curves", CurveTerms.none(self.n_classes))

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
        """Return the number of terms of all kinds."""
        return sum(kind.n_terms for kind in self.kinds)

    @property
    def kinds(self) -> Kinds:
        """Return the terms of each kind, in the order in which terms are listed."""
        return TableTerms(self.terms, self.tables), self.numeric, self.curves

    def _with(self, prior: Floats, kinds: Any) -> AdditiveScores:
        tables, numeric, curves = kinds
        return replace(
            self,
            prior=prior,
            terms=tables.terms,
            tables=tables.tables,
            numeric=numeric,
            curves=curves,
            attenuation=None,
            posterior=None,
        )

    def check_fits(self, cardinalities: Sequence[int], n_numbers: int, n_classes: int) -> None:
        """Refuse scores that do not belong to tables of this shape, or that point outside of themselves."""
        if not is_block(self.prior, (n_classes,)) or not all(
            kind.fits(cardinalities, n_numbers, n_classes) for kind in self.kinds
        ):
            raise ValueError(f"the scores do not fit the schema ({OTHER_LAYOUT})")
        if self.posterior is not None and not self.posterior.fits(self):
            raise ValueError("the posterior does not fit the scores")

    # Reading

    def joint_log_scores(self, table: EncodedTable) -> Floats:
        """Return the score of each row and class: the log posterior up to a constant per row."""
        scores = self.sums(table)
        if self.attenuation is None or not any_unknown(table):
            return scores
        return self.attenuation.attenuated(scores, unknown_cells(table))

    def sums(self, table: EncodedTable) -> Floats:
        """Return the prior plus all contributions for each row and class: the score before attenuation."""
        scores: Floats = np.repeat(self.prior[None], len(table), axis=0)
        for kind in self.kinds:
            kind.add_to(scores, table)
        return scores

    def breakdown(self, table: EncodedTable) -> Floats:
        """Return what the prior and each term contribute, (n_rows, 1 + n_terms, n_classes).

        Added up in order along the second axis they are the `sums`, to the last bit.
        """
        parts = np.empty((len(table), 1 + self.n_terms, self.n_classes))
        parts[:, 0] = self.prior
        start = 1
        for kind in self.kinds:
            if kind.n_terms:
                parts[:, start : start + kind.n_terms] = kind.contributions(table)
                start += kind.n_terms
        return parts

    def posterior_of_rows(self, table: EncodedTable) -> tuple[Floats, Floats]:
        """Return how far the middle of the posterior is from each row's scores, and the covariance about it.

        Of shapes (n_rows, 1) and (n_rows, 1, 1) for the log odds of two classes, else (n_rows, n_classes)
        and (n_rows, n_classes, n_classes). The score of a row with unknown cells is drawn toward that of the
        class shares, and varies as much less.
        """
        if self.posterior is None:
            raise ValueError("the scores have no posterior")
        distances, covariances = self.posterior.of_rows(self._posterior_cells, table)
        if self.attenuation is not None and any_unknown(table):
            factors, _ = self.attenuation.factors_and_shares(unknown_cells(table))
            distances *= factors[:, None]
            covariances *= np.square(factors)[:, None, None]
        return distances, covariances

    @cached_property
    def _posterior_cells(self) -> AdditiveScores:
        """The posterior as scores of the same layout."""
        assert self.posterior is not None  # noqa: S101 - narrows the type
        return self.posterior.as_scores(self)

    # Operations

    def attenuate(
        self, table: EncodedTable, row_weight: Floats | None, class_weight: Floats
    ) -> AdditiveScores:
        """Return the same sums, attenuated in rows with unknown cells.

        Parameters
        ----------
        table : EncodedTable
            The training rows, or some of them.
        row_weight : ndarray of shape (n_rows,) or None
        class_weight : ndarray of shape (n_classes,)
            The weight of each class in training.
        """
        from seminaive.scores.unknown_variance import score_covariance

        covariance = score_covariance(self, table, row_weight)
        nothing_known = self.sums(without_evidence(table.schema))[0]
        log_shares = np.log(class_weight / class_weight.sum())
        return replace(self, attenuation=Attenuation.of(covariance, nothing_known, log_shares))

    def scale(self, weights: Sequence[float] | Floats) -> AdditiveScores:
        """Multiply each term's contribution: 0 drops the term, 1 leaves it as it is."""
        weights = np.asarray(weights, dtype=np.float64)
        if weights.shape != (self.n_terms,):
            raise ValueError(f"{self.n_terms} terms need {self.n_terms} weights, got {weights.shape}")
        by_kind = np.split(weights, self._starts[1:-1])
        scaled = [kind.scaled(part) for kind, part in zip(self.kinds, by_kind, strict=True)]
        return self._with(self.prior, scaled)

    @property
    def _starts(self) -> list[int]:
        """Return the position of each kind's first term and, last, the number of all terms."""
        starts = [0]
        for kind in self.kinds:
            starts.append(starts[-1] + kind.n_terms)
        return starts

    def restrict(self, kept: Sequence[int]) -> AdditiveScores:
        """Keep some of the terms, by their positions in increasing order; the prior stays."""
        starts = self._starts
        restricted = [
            kind.restricted([term - start for term in kept if start <= term < stop])
            for kind, start, stop in zip(self.kinds, starts, starts[1:], strict=False)
        ]
        return self._with(self.prior, restricted)

    def centre(self) -> AdditiveScores:
        """Take each contribution's mean over the classes off it: the posterior stays the same.

        What is left tells for or against a class; what speaks equally for all classes is gone.
        """
        return self._with(self.prior - self.prior.mean(), [kind.centred() for kind in self.kinds])

    def toward_class_shares(self, share: float, log_shares: Floats) -> AdditiveScores:
        """Return ``share`` times these scores, the rest being the logarithms of the class shares.

        1 leaves the scores as they are, to the last bit; 0 leaves the class shares.
        """
        if share == 1.0:
            return self
        scaled = self.scale(np.full(self.n_terms, share))
        return replace(scaled, prior=share * self.prior + (1.0 - share) * log_shares)

    def __add__(self, other: AdditiveScores) -> AdditiveScores:
        """Return scores whose value is the sum of both: the terms of the one, then those of the other."""
        kinds: Any = zip(self.kinds, other.kinds, strict=True)
        return self._with(self.prior + other.prior, [first.joined(second) for first, second in kinds])
