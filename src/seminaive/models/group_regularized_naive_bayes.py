"""Naive Bayes with a penalty that lets features in one after the other, by how much each tells alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from seminaive.errors import InputError
from seminaive.models.interpolated import DEGREES, InterpolatedClassifier, deviance
from seminaive.models.parameters import (
    LARGEST_WHOLE,
    check_choice,
    check_flag,
    check_number,
    is_whole,
)
from seminaive.solvers import GroupPath
from seminaive.solvers.elastic_net_path import N_STRENGTHS, RATIO
from seminaive.solvers.group_path import entry_strengths, geometric_strengths, group_alphas

if TYPE_CHECKING:
    from collections.abc import Callable

    from seminaive.arrays import Floats
    from seminaive.models.training_set import TrainingSet
    from seminaive.scores import Interpolation
    from seminaive.solvers import AlphaPath
    from seminaive.solvers.alpha_path import Degrees
    from seminaive.solvers.group_path import GroupAlphas
    from seminaive.statistics import TableStatistics

    Judge = Callable[[Interpolation, Floats], Floats]


@dataclass(eq=False, repr=False, kw_only=True)
class GroupRegularizedNaiveBayes(InterpolatedClassifier):
    """Naive Bayes with a penalty on the differences between the classes, feature by feature (L1/L2-NB).

    The penalty on a feature is ``strength`` times the distance of its parameters from those that all classes
    share. Alpha is how far they go from the shared parameters (0, the feature is left out) to those of naive
    Bayes (1). The adaptive penalty divides by the whole distance, so that it is ``strength * alpha`` for
    every feature, whatever its unit or its number of values; a category then enters as soon as the strength
    falls below its chi-square statistic (with ``smoothing=0``). Each feature is judged alone, so that
    irrelevant features stay out, but copies of good ones come in; `ForwardStagewiseNaiveBayes` leaves out
    both.

    Parameters
    ----------
    strengths : int or array-like, default=25
        How many strengths to try, geometrically from the first entry of a feature down to ``ratio`` times it;
        or the strengths themselves.
    adaptive : bool, default=True
        Whether each feature's penalty is divided by its whole distance. If not, numbers are measured in their
        overall standard deviation.
    ratio : float, default=1e-4
        The last strength as a share of the first one.
    criterion : {"cv", "aic"}, default="cv"
        How to choose the strength. "cv": by the log loss of held-out rows; then the scores are multiplied by
        the share ``fit_share_`` that those rows support. "aic": by Akaike's criterion, ``deviance + 2 d / N``
        on the training rows, as in the paper; on few rows it lets noise in.
    degrees : {"count", "sum"}, default="count"
        Whether d is the number of features with alpha above 0 or the sum of the alphas.
    cv : int or splitter, default=5
        Stratified folds for ``criterion="cv"``, or a scikit-learn splitter or iterable of splits. In a fold
        the strengths are those of all rows times the fold's share of the weight.
    random_state : int, RandomState or None, default=0
        Seed of the folds.

    Attributes
    ----------
    strength_ : float
        The chosen strength.
    path_ : GroupPath
        Strengths, alphas, training error, deviance and AIC of every step, and each feature's entry strength.
    n_evaluations_ : int
        Models whose training error was computed: one per strength.
    fold_deviances_ : ndarray of shape (n_folds, n_strengths)
        Held-out deviance, only with ``criterion="cv"``.

    Examples
    --------
    The strength at which a category enters is its chi-square statistic:

    >>> X = [["wet"]] * 40 + [["dry"]] * 20
    >>> y = ["rain"] * 30 + ["sun"] * 30
    >>> GroupRegularizedNaiveBayes(smoothing=0).fit(X, y).path_.entry_strengths.round(6)
    array([30.])
    """

    _path_label: ClassVar[str] = "strength"

    path_: GroupPath = field(init=False)
    strength_: float = field(init=False)

    _fitted: ClassVar[dict[str, Any]] = {"path_": GroupPath, "strength_": float}

    strengths: Any = N_STRENGTHS
    adaptive: bool = True
    ratio: float = RATIO
    degrees: Degrees = "count"

    def fit_statistics(self, statistics: TableStatistics, judge: Judge) -> None:
        """Fit from statistics: find the path and choose its step by AIC.

        Parameters
        ----------
        statistics : TableStatistics
            Of all rows.
        judge : callable
            Returns the misclassified weight and the deviance of all rows at every step of a path, given the
            interpolation and the alphas.
        """
        interpolation = self._interpolation_of(statistics)
        solved = self._solve(interpolation)
        judged = judge(interpolation, solved.alphas)
        path = self._path_of(solved, judged, float(statistics.class_weight.sum()))
        self.fit_share_ = 1.0
        self._keep_step(interpolation, path, path.least_aic())

    def _find_path(
        self, interpolation: Interpolation, rows: TrainingSet, whole: AlphaPath | None = None
    ) -> GroupPath:
        total = float(rows.weights.sum())
        if not isinstance(whole, GroupPath):
            solved = self._solve(interpolation)
            return self._path_of(solved, judge_steps(interpolation, solved.alphas, rows), total)
        strengths = whole.strengths * (total / whole.total_weight)
        # A fold is judged by its held-out rows alone.
        return self._path_of(group_alphas(interpolation, strengths, adaptive=self.adaptive), None, total)

    def _solve(self, interpolation: Interpolation) -> GroupAlphas:
        """Return the alphas of every strength; they follow from the statistics alone."""
        return group_alphas(interpolation, self._strengths(interpolation), adaptive=self.adaptive)

    def _path_of(self, solved: GroupAlphas, judged: Floats | None, total: float) -> GroupPath:
        """Return the path, given the misclassified weight and the deviance of each step, (n_steps, 2)."""
        n_steps = len(solved.alphas)
        errors, deviances = np.zeros((2, n_steps)) if judged is None else judged.T
        return GroupPath(
            solved.alphas,
            errors / total,
            deviances / total,
            total,
            0 if judged is None else n_steps,
            self.degrees,
            solved.strengths,
            solved.entry_strengths,
        )

    def _strengths(self, interpolation: Interpolation) -> Floats:
        if isinstance(self.strengths, Integral):
            largest = float(entry_strengths(interpolation, adaptive=self.adaptive).max(initial=0.0))
            return geometric_strengths(largest, int(self.strengths), self.ratio)
        return -np.sort(-np.asarray(self.strengths, dtype=np.float64))

    def _keep_step(self, interpolation: Interpolation, path: AlphaPath, chosen: int) -> None:
        super()._keep_step(interpolation, path, chosen)
        self.strength_ = float(self.path_.strengths[chosen])

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._check_criterion()
        check_choice("degrees", self.degrees, DEGREES)
        check_flag("adaptive", self.adaptive)
        below_one = np.nextafter(1.0, 0.0)
        check_number("ratio", self.ratio, "a share between 0 and 1", low=0.0, high=below_one, above=True)
        try:
            given = np.asarray(self.strengths, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            given = np.array(-1.0)
        counted = is_whole(self.strengths) and 2 <= self.strengths <= LARGEST_WHOLE
        listed = given.ndim == 1 and given.size > 0 and np.isfinite(given).all() and (given >= 0).all()
        if not counted and not listed:
            raise InputError(
                "strengths is a number of them, 2 or more, or an array of numbers, 0 or more, got "
                f"{self.strengths!r}"
            )

    def _path_positions(self) -> Floats:
        return self.path_.strengths


def judge_steps(interpolation: Interpolation, alphas: Floats, rows: TrainingSet) -> Floats:
    """Return the misclassified weight and the deviance of some rows at every step of a path, (n_steps, 2)."""
    judged = np.empty((len(alphas), 2))
    for step, of_step in enumerate(alphas):
        joint = interpolation.scores_at(of_step).joint_log_scores(rows.table)
        wrong = joint.argmax(axis=1) != rows.labels
        judged[step] = float(rows.weights @ wrong), deviance(joint, rows.labels, rows.weights)
    return judged
