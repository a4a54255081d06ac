"""Variants of models that the papers describe, and that no user has to choose from.

A constructor has what a fit of a table may need. What only a study compares is a class attribute of the
model, and another class here (docs/decisions/0028-options-of-papers.md).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from seminaive.models import (
    AcceleratedLogisticRegression,
    ForwardStagewiseNaiveBayes,
    HigherOrderLogisticRegression,
    NaiveBayesLogisticRegressionCV,
    SelectiveNaiveBayes,
)
from seminaive.structure import HybridLogisticNaiveBayes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from seminaive.design.coefficients import GenerativeEstimate
    from seminaive.design.table_design import TableDesign
    from seminaive.objective.coordinates import Coordinates
    from seminaive.objective.penalised_loss import PenalisedLoss
    from seminaive.objective.summed_loss import LossName
    from seminaive.scores import Interpolation
    from seminaive.solvers import PathOptions

__all__ = [
    "AveragedWeights",
    "ForwardGreedyHybrid",
    "GlmnetPath",
    "HigherOrderBySolver",
    "PositionalSelective",
    "PositionalStagewise",
    "SquaredErrorAccelerated",
    "SquaredErrorHigherOrder",
]


class HigherOrderBySolver(HigherOrderLogisticRegression):
    """LR^n whose ``solver`` may be "cg", too: nonlinear conjugate gradients (Figures 25 and 26)."""

    solvers: ClassVar[tuple[str, ...]] = (*HigherOrderLogisticRegression.solvers, "cg")


class SquaredErrorHigherOrder(HigherOrderLogisticRegression):
    """LR^n that minimises half the squared distance of the posterior from the true class."""

    row_loss: ClassVar[LossName] = "squared-error"


class SquaredErrorAccelerated(AcceleratedLogisticRegression):
    """ALR^n that minimises half the squared distance of the posterior from the true class."""

    row_loss: ClassVar[LossName] = "squared-error"


class AveragedWeights(AcceleratedLogisticRegression):
    """ALR^n whose weights multiply AnJE's terms, ``gamma log theta``: the paper's ALR (J), Equation 22."""

    def _search_coordinates(
        self, objective: PenalisedLoss, design: TableDesign, estimate: GenerativeEstimate
    ) -> tuple[Coordinates, float | None]:
        coordinates, first_step = super()._search_coordinates(objective, design, estimate)
        shares = estimate.coefficients.join_weights[:, None]
        return replace(coordinates, scale=coordinates.scale * shares), first_step


class ForwardGreedyHybrid(HybridLogisticNaiveBayes):
    """The hybrid whose greedy rule starts with an empty generative part, which grows (the hybrid paper's).

    The rule of the model itself starts with all features there (the dissertation's reading).
    """

    greedy_grows_generative: ClassVar[bool] = True


class GlmnetPath(NaiveBayesLogisticRegressionCV):
    """Shrinkage whose path ends at 99.9 % of the deviance explained, and not where classes are separated."""

    def _options(self, **changes: Any) -> PathOptions:
        return super()._options(**{"separated": 0.0, **changes})


class _ByPosition:
    """A greedy search that takes the leftmost of equally good features."""

    def _tie_order(self, interpolation: Interpolation) -> NDArray[np.int64]:
        return np.arange(interpolation.n_features)


class PositionalSelective(_ByPosition, SelectiveNaiveBayes):
    """Selective naive Bayes whose ties go to the leftmost feature, as in the fsNB paper's Table 1."""


class PositionalStagewise(_ByPosition, ForwardStagewiseNaiveBayes):
    """Forward stagewise naive Bayes whose ties go to the leftmost feature, as in the fsNB paper's Table 1."""
