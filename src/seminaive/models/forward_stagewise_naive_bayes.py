"""Naive Bayes that lets features in by small steps, each where the training error falls most."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import effective_n_jobs

from seminaive.errors import InputError
from seminaive.models.base import is_number
from seminaive.models.interpolated import DEGREES, InterpolatedClassifier
from seminaive.models.parameters import N_FOLDS, PATIENCE, VARIANCE_FLOOR, check_choice, check_whole
from seminaive.solvers.stagewise import GridSettings, stagewise_path

if TYPE_CHECKING:
    from typing import Literal

    from seminaive.encode.schema import MissingPolicy
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
    cv : int or splitter, default=5
        Stratified folds for ``criterion="cv"``, or a scikit-learn splitter or iterable of splits; one split
        is a validation subset.
    ties : {"first", "last"}, default="first"
        Whether the first or the last feature, in an order drawn at random, wins a tie.
    smoothing : float, default=1.0
        Rows that are added to every count. With 0, a value that was never seen with a class excludes it.
    variances : {"class", "pooled"}, default="class"
        Whether a number has a variance in each class, or one that all classes share.
    variance_floor : float, default=1e-9
        Smallest variance within a class, as a share of the number's overall variance.
    categorical_features : {"from_dtype", "all"}, names, positions or mask, default="from_dtype"
        Which columns are categories: those that do not hold numbers, all, or those and the listed ones.
    missing : {"value", "neutral"}, default="value"
        Whether a missing category counts as one more value, if training had missing cells in its column,
        or leaves the odds of the classes as they are.
    n_jobs : int, default=None
        Threads that evaluate features side by side; -1 uses all cores. The result does not depend on it.
    random_state : int, RandomState or None, default=0
        Seed of the order that breaks ties, drawn among the names of the features, and of the folds.
    class_weight : None, "balanced" or mapping, default=None
        Weights of the classes, which multiply the weights of their rows; "balanced" gives every class the
        same total. Classes that a mapping leaves out weigh 1.
    merge_spellings : bool, default=False
        Whether capitals and spaces around a category do not matter: "Yes", "yes" and "yes " are one.
    keep_summary : bool, default=True
        Whether to keep a summary of the training table for pictures and reports: how often each value
        occurred, and quantiles of numbers; no row is kept.
    verbose : bool or int, default=False
        Whether to show progress on standard error.

    Attributes
    ----------
    columns_report_ : frame
        How each column was read: kind, levels, missing cells, type.
    alphas_ : ndarray of shape (n_features,)
        In the order of the columns.
    selected_features_ : list of str
        Names of the features with alpha above 0.
    path_ : AlphaPath
        Alphas, training error, deviance and AIC of every step.
    chosen_step_ : int
        The step of the path that predicts.
    n_evaluations_ : int
        Candidates whose training error was computed, on all rows.
    fold_deviances_ : ndarray of shape (n_folds, n_steps)
        Held-out deviance, only with ``criterion="cv"``.
    fit_share_ : float
        The share of the fit in the scores, the rest being the class shares: 1 by Akaike's criterion.
    cv_log_loss_ : float
        What the model is expected to lose on new rows, only with ``criterion="cv"``.
    cv_log_loss_interval_ : (float, float)
        Holds that loss with a probability of 95 %.
    scores_, schema_, classes_
        As in `NaiveBayes`; the scores have a term for each selected feature.

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
    criterion: str = "cv"
    degrees: Degrees = "count"
    cv: Any = N_FOLDS
    ties: Literal["first", "last"] = "first"
    smoothing: float = 1.0
    variances: str = "class"
    variance_floor: float = VARIANCE_FLOOR
    categorical_features: Any = "from_dtype"
    missing: MissingPolicy = "value"
    n_jobs: int | None = None
    random_state: Any = 0
    class_weight: Any = None
    merge_spellings: bool = False
    keep_summary: bool = True
    verbose: int = False

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
