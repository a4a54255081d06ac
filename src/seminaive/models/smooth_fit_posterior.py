"""How uncertain the answer of a search over smooth columns is.

Given strengths, the posterior of the coefficients is normal about the fit, by Laplace's approximation. Over
the strengths it is a mixture, weighted as the average of the fits is: its covariance is the mean of those
within, plus that of the fits between. The answer is a share of the average, the rest being the class shares,
and what is kept is the second moment of the posterior about the answer: a fit that is shrunk toward the class
shares, because its gain may be chance, is no surer for that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.design.classes import class_share_scores, n_columns_of
from seminaive.design.dense import DenseDesign
from seminaive.design.projected import ProjectedDesign
from seminaive.design.smooth_posterior import smooth_posterior
from seminaive.objective.pointwise import posterior_of
from seminaive.solvers.laplace import RowCurvature, laplace_covariance, mean_prior_variance, n_sought_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from seminaive.design.protocol import Design
    from seminaive.design.smooth_columns import SmoothColumns
    from seminaive.encode import EncodedTable
    from seminaive.models.smooth_rows import SmoothRows
    from seminaive.scores.score_posterior import ScorePosterior
    from seminaive.selection.relevance_search import Engine, RelevanceAnswer

    Floats = NDArray[np.float64]

# Directions that are kept. They take as much room as the tables of a model of 13 numbers with all pairs, and
# twelve times the terms of one score are read for an interval.
N_KEPT = 12
# Of these, directions in which fits under other strengths differ: the first two hold nearly all of it.
N_BETWEEN = 2
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
    rows : SmoothRows
    engine : Engine
        That of the search, which makes coefficients of its fits.
    answer : RelevanceAnswer
    """

    columns: SmoothColumns
    kept: NDArray[np.bool_]
    rows: SmoothRows
    engine: Engine
    answer: RelevanceAnswer

    def of_scores(self) -> ScorePosterior:
        """Return the posterior of the model's scores."""
        n_classes = self.rows.searched.rows.n_classes
        columns = self.columns.only(self.kept)
        table, row_weight = self._sampled()
        design = _design_of(columns, table, n_classes)
        curvature = RowCurvature(
            posterior_of(design.scores(self._of_kept(self.answer.coefficients))), row_weight
        )
        between = np.stack([self._of_kept(direction) for direction in self._between()])
        prior = self._prior_variance(design.squared_adjoint(curvature.diagonal))
        n_learned = N_KEPT - len(between)
        within = laplace_covariance(design, curvature, prior, n_learned, np.random.default_rng(0))
        entries = np.concatenate([within.variance[None], within.learned, between]).transpose(1, 0, 2)
        signs = np.repeat([-1.0, 1.0], [len(within.learned), len(between)])
        return smooth_posterior(columns, np.ascontiguousarray(entries), signs, table.schema.cardinalities)

    def _of_kept(self, coefficients: Floats) -> Floats:
        return np.asarray(coefficients[np.append(True, np.repeat(self.kept, self.columns.sizes))])

    def _sampled(self) -> tuple[EncodedTable, Floats]:
        """Return rows that the search saw, or some of them, and weights that add up to those of all rows."""
        rows = self.rows.searched.rows
        n_columns = n_columns_of(rows.n_classes)
        most = max(min(MOST_ROWS, MOST_SCORES // (n_sought_of(n_columns) * n_columns)), 1)
        index = np.arange(0, len(rows.labels), -(-len(rows.labels) // most))
        weight = rows.weights[index]
        return rows.table.rows(index), weight * (float(self.rows.class_weight.sum()) / weight.sum())

    def _prior_variance(self, curvature: Floats) -> Floats:
        """Return the prior variance of each coefficient that the fits have in the mean."""
        weights, trials = zip(*self.answer.parts, strict=True)
        by_term = np.stack(
            [
                trial.prepared[-1].relevances / np.asarray(trial.strengths)[self.columns.groups]
                for trial in trials
            ]
        )[:, self.kept]
        sizes = self.columns.sizes[self.kept]
        of_fits = np.column_stack([np.zeros(len(trials)), np.repeat(by_term, sizes, axis=1)])
        return mean_prior_variance(of_fits, np.array(weights), curvature)

    def _between(self) -> list[Floats]:
        """Return directions in which fits differ from their average, and the average from the answer.

        Of the fits under several strengths the leading ones of their scores' deviations from the average.
        """
        answer = self.answer
        weights = np.array([weight for weight, _ in answer.parts])
        roots = np.sqrt(weights)
        scores = np.stack([fit.scores.ravel() for fit in answer.fits])
        deviations = roots[:, None] * (scores - weights @ scores)
        _, vectors = np.linalg.eigh(deviations @ deviations.T)
        found = []
        for vector in vectors.T[::-1][:N_BETWEEN]:
            combined = roots * vector
            found.append(self._combination(combined - weights * combined.sum()))
        away = self._combination(weights)
        away[0] -= class_share_scores(self.rows.class_weight)
        return [*found, (1.0 - answer.decision.fit_share) * away]

    def _combination(self, weights: Floats) -> Floats:
        """Return the coefficients of a weighted sum of the fits."""
        fits: list[tuple[float, Any, Any, Any]] = [
            (weight, trial.prepared, trial.strengths, fit)
            for weight, (_, trial), fit in zip(
                weights.tolist(), self.answer.parts, self.answer.fits, strict=True
            )
        ]
        return self.engine.coefficients(fits)


def _design_of(columns: SmoothColumns, table: EncodedTable, n_classes: int) -> Design:
    """Return the design of some rows: a matrix where it is small."""
    n_features = 1 + int(columns.sizes.sum())
    if n_features * len(table) > MOST_DENSE:
        return ProjectedDesign(columns, table, n_classes)
    parts = [np.ones((len(table), 1)), columns.slope_features(table.numbers)]
    parts += [columns.columns[j].main_features(table) for j in columns.mains]
    pairs = {j: columns.columns[j].pair_features(table) for pair in columns.pairs for j in pair}
    parts += [(pairs[j][:, :, None] * pairs[k][:, None, :]).reshape(len(table), -1) for j, k in columns.pairs]
    return DenseDesign(np.hstack(parts))
