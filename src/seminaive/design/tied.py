"""Fixed score tables, each multiplied by one weight: exponents of naive Bayes as a linear model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from seminaive.design.classes import log_odds
from seminaive.design.protocol import Design
from seminaive.design.workspace import PlainWorkspace

if TYPE_CHECKING:
    from seminaive.arrays import Floats, Indices
    from seminaive.encode import EncodedTable
    from seminaive.scores import AdditiveScores


class TiedTerms(Design):
    """Scores ``sum_t w_t S_t`` in which the contribution S_t of each term of some scores has one weight.

    All classes share the weights, so that the scores of a row are linear in a single column w. Scores and
    residuals have one column per class (a single log odds for two): X w is (n_rows, n_columns), and X'R sums
    over rows and columns.

    Parameters
    ----------
    contributions : ndarray of shape (n_terms, n_rows, n_columns)
        What each term adds to each row's scores at weight 1.
    """

    def __init__(self, contributions: Floats) -> None:
        self.contributions = contributions

    @classmethod
    def of(cls, scores: AdditiveScores, table: EncodedTable) -> TiedTerms:
        """Tie the terms of additive scores on the rows of a table; the prior is left to an offset."""
        parts = scores.breakdown(table)[:, 1:]
        columns = [log_odds(parts[:, term]) for term in range(parts.shape[1])]
        shape = (0, len(table), 1 if scores.n_classes == 2 else scores.n_classes)
        return cls(np.ascontiguousarray(np.stack(columns)) if columns else np.empty(shape))

    @property
    def n_rows(self) -> int:
        """Return the number of rows."""
        return int(self.contributions.shape[1])

    @property
    def n_coefficients(self) -> int:
        """Return the number of weights."""
        return len(self.contributions)

    def coefficient_columns(self, n_scores: int) -> int:
        """Return the number of columns of coefficients for ``n_scores`` columns of scores: always one."""
        del n_scores
        return 1

    def workspace(self, n_columns: int) -> PlainWorkspace:
        """Return room for passes over the rows."""
        del n_columns
        return PlainWorkspace(self, int(self.contributions.shape[2]))

    def scores(self, coefficients: Floats) -> Floats:
        """Return X w, (n_rows, n_columns), for weights of shape (n_terms, 1)."""
        scores: Floats = np.einsum("trc,t->rc", self.contributions, coefficients[:, 0])
        return scores

    def adjoint(self, residuals: Floats) -> Floats:
        """Return X'R, (n_terms, 1)."""
        sums: Floats = np.einsum("trc,rc->t", self.contributions, residuals)
        return sums[:, None]

    def squared_adjoint(self, residuals: Floats) -> Floats:
        """Return (X * X)'R, (n_terms, 1)."""
        sums: Floats = np.einsum("trc,trc,rc->t", self.contributions, self.contributions, residuals)
        return sums[:, None]

    def gram(self, row_weight: Floats, columns: Indices | None = None) -> Floats:
        """Return X' diag(w) X for some terms, by default for all; a weight counts in all score columns."""
        contributions = self.contributions if columns is None else self.contributions[columns]
        flat = contributions.reshape(len(contributions), -1)
        weights = np.repeat(row_weight, contributions.shape[2])
        return flat @ (flat * weights).T
