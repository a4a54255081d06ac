"""Naive Bayes that lets features in by small steps, each where the training error falls most."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from joblib import effective_n_jobs

from seminaive.errors import InputError
from seminaive.models.base import is_number
from seminaive.models.interpolated import DEGREES, InterpolatedClassifier
from seminaive.models.parameters import PATIENCE, check_choice, check_whole
from seminaive.solvers.stagewise import GridSettings, stagewise_path

if TYPE_CHECKING:
    from typing import Literal

    from seminaive.models.training_set import TrainingSet
    from seminaive.scores import Interpolation
    from seminaive.solvers import AlphaPath
    from seminaive.solvers.alpha_path import Degrees

TIES = ("first", "last")


@dataclass(eq=False, repr=False, kw_only=True)
class ForwardStagewiseNaiveBayes(InterpolatedClassifier):
    """Naive Bayes with one alpha per feature, raised step by step from 0 toward 1.

    At alpha = 0 a feature has the same parameters in all classes and says nothing; at alpha = 1 it has those
    of naive Bayes. Every step raises the alpha of one feature, by the number of grid steps after which the
    training error is least. A feature that repeats another one has nothing left to correct and stays near 0,
    where naive Bayes would count it twice; two features that overlap in part settle in between.

    Parameters
    ----------
    step : float, default=0.025
        Distance of the grid of alphas; one over a whole number.
    look_ahead : int, default=20
        Grid steps that are tried for a feature at once.
    patience : int or None, default=5
        Steps without a lower training error after which the search ends; None goes on until every alpha is 1
        (but for features that say nothing, such as constants, which stay at 0).
    criterion : {"cv", "aic"}, default="cv"
        How to choose among the models of the path, the one without features included. "cv": by the log loss
        of held-out rows, folds being compared at equal numbers of steps; then the scores are multiplied by
        the share ``fit_share_`` that those rows support. "aic": by Akaike's criterion, ``deviance + 2 d / N``
        on the training rows, as in the paper; on few rows it lets noise in.
    degrees : {"count", "sum"}, default="count"
        Whether d is the number of features with alpha above 0 or the sum of the alphas.
    ties : {"first", "last"}, default="first"
        Whether the first or the last feature, in an order drawn at random, wins a tie.

    Attributes
    ----------
    n_evaluations_ : int
        Candidates whose training error was computed, on all rows.

    Examples
    --------
    A copy of a feature is left out, since it corrects no further error:

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 300)
    >>> x = rng.normal(y)
    >>> model = ForwardStagewiseNaiveBayes().fit(np.column_stack([x, x, rng.normal(y)]), y)
    >>> len(model.selected_features_)
    2
    """

    step: float = 0.025
    look_ahead: int = 20
    patience: int | None = PATIENCE
    degrees: Degrees = "count"
    ties: Literal["first", "last"] = "first"
    n_jobs: int | None = None

    def _find_path(
        self, interpolation: Interpolation, rows: TrainingSet, whole: AlphaPath | None = None
    ) -> AlphaPath:
        del whole  # the path of a fold does not depend on that of all rows
        settings = GridSettings(
            round(1 / self.step), self._tie_order(interpolation), self.ties, effective_n_jobs(self.n_jobs)
        )
        path = stagewise_path(
            interpolation,
            rows.table,
            rows.labels,
            rows.row_weight,
            settings,
            look_ahead=self.look_ahead,
            patience=self.patience,
        )
        return replace(path, degrees=self.degrees)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._check_criterion()
        check_choice("degrees", self.degrees, DEGREES)
        if not is_number(self.step) or not 0 < self.step <= 1 or not _is_one_over_whole(self.step):
            raise InputError(f"step is one over a whole number, such as 0.025, got {self.step!r}")
        check_whole("look_ahead", self.look_ahead, "a number of grid steps, 1 or more", low=1)
        if self.patience is not None:
            check_whole("patience", self.patience, "a number of steps, 1 or more, or None", low=1)
        if not isinstance(self.ties, str) or self.ties not in TIES:
            raise InputError(f"ties is one of {', '.join(TIES)}, got {self.ties!r}")


def _is_one_over_whole(step: float) -> bool:
    """Tell whether a grid of such steps from 0 meets 1."""
    return bool(np.isclose(1 / step, round(1 / step)))
