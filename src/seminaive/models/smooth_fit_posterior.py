"""How uncertain the answer of a search over smooth columns is.

The posterior is normal about the fit whose prior variances have the largest evidence, by Laplace's
approximation. The answer of a search differs from that fit: its strengths are chosen by held-out rows, and it
is drawn toward the class shares as far as its gain may be chance. What is kept is the covariance, and the
distance between the two, so that an answer which was shrunk is no surer for that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.design.classes import n_columns_of, toward_class_shares
from seminaive.design.dense import DenseDesign
from seminaive.design.projected import ProjectedDesign
from seminaive.design.smooth_posterior import smooth_posterior
from seminaive.objective.log_loss import posterior_of
from seminaive.selection.evidence_fit import fit_by_evidence
from seminaive.solvers.laplace import RowCurvature, as_contrasts, laplace_covariance, n_sought_of
from seminaive.solvers.result import MAX_ITER

if TYPE_CHECKING:
    from seminaive.arrays import Booleans, Floats
    from seminaive.design.protocol import Design
    from seminaive.design.smooth_columns import SmoothColumns
    from seminaive.encode import EncodedTable
    from seminaive.models.smooth_rows import SmoothRows
    from seminaive.scores.score_posterior import ScorePosterior
    from seminaive.selection.relevance_trials import FoldSolver, RelevanceAnswer


# Directions that are kept: the last is that from the answer to the fit by evidence. Those of the rows leave
# standard errors of rows 1 to 4 % too long with 300 rows and 5 to 8 % with 2,000; with three fewer it is 3 to
# 6 and 10 to 12 %, with 23 in all 0 to 2 and 0 to 5 % (planted tables of 7 columns, 2 and 4 classes). They
# are as many as have room: the tables of a model of 13 numbers, all pairs and four classes take as much.
N_KEPT = 11
# Second derivatives are summed over a sample of at most this many rows, fewer where classes are many: scores
# of the sample in all directions are at most the second number.
MOST_ROWS, MOST_SCORES = 20_000, 1 << 23
# Up to this many entries, 32 MB, the features are kept as a matrix.
MOST_DENSE = 1 << 22


@dataclass(frozen=True)
class SmoothFitPosterior:
    """The posterior of an answer.

    Parameters
    ----------
    columns : SmoothColumns
        Those of the search.
    kept : ndarray of shape (n_terms,)
        Which of their terms the model has.
    solver : FoldSolver
        That of the search.
    """

    columns: SmoothColumns
    kept: Booleans
    rows: SmoothRows
    solver: FoldSolver
    answer: RelevanceAnswer

    def of_scores(self) -> ScorePosterior:
        """Return the posterior of the model's scores."""
        by_evidence = fit_by_evidence(self.solver, self.kept, MAX_ITER)
        columns = self.columns.only(self.kept)
        table, row_weight = self._sampled()
        design = _design_of(columns, table, self.rows.searched.rows.n_classes)
        centre = self._of_kept(by_evidence.coefficients)
        curvature = RowCurvature(posterior_of(design.scores(centre)), row_weight)
        by_coefficient = np.append(0.0, np.repeat(by_evidence.prior_variance[self.kept], columns.sizes))
        prior = np.repeat(by_coefficient[:, None], len(curvature.contrasts), axis=1)
        within = laplace_covariance(design, curvature, prior, N_KEPT - 1, np.random.default_rng(0))
        away = as_contrasts(centre - self._of_kept(self._answer()))[None]
        entries = np.concatenate([within.variance[None], within.learned, away]).transpose(1, 0, 2)
        signs = np.append(np.full(len(within.learned), -1.0), 0.0)
        return smooth_posterior(columns, np.ascontiguousarray(entries), signs, table.schema.cardinalities)

    def _of_kept(self, coefficients: Floats) -> Floats:
        return np.asarray(coefficients[np.append(True, np.repeat(self.kept, self.columns.sizes))])

    def _answer(self) -> Floats:
        """Return the coefficients of the answer for the rows that the search saw, as the fit by evidence is.

        Where it saw a sample, the answer of the model rests on more rows, and is nearer to the truth.
        """
        parts: list[tuple[float, Any, Any, Any]] = [
            (weight, trial.prepared, trial.strengths, fit)
            for (weight, trial), fit in zip(self.answer.parts, self.answer.fits, strict=True)
        ]
        average = self.solver.coefficients(parts)
        return toward_class_shares(average, self.answer.decision.fit_share, self.rows.class_weight)

    def _sampled(self) -> tuple[EncodedTable, Floats]:
        """Return rows that the search saw, or some of them, and weights that add up to those of all rows."""
        rows = self.rows.searched.rows
        n_columns = n_columns_of(rows.n_classes)
        most = max(min(MOST_ROWS, MOST_SCORES // (n_sought_of(n_columns) * n_columns)), 1)
        index = np.arange(0, len(rows.labels), -(-len(rows.labels) // most))
        weight = rows.weights[index]
        return rows.table.rows(index), weight * (float(self.rows.class_weight.sum()) / weight.sum())


def _design_of(columns: SmoothColumns, table: EncodedTable, n_classes: int) -> Design:
    """Return the design of some rows: a matrix where it is small."""
    n_features = 1 + int(columns.sizes.sum())
    if n_features * len(table) > MOST_DENSE:
        return ProjectedDesign(columns, table, n_classes)
    return DenseDesign(np.hstack(columns.features(table)))
