"""Logistic regression shrunk toward naive Bayes, with the strength chosen by cross-validation."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from joblib import effective_n_jobs

from seminaive.design.classes import toward_class_shares
from seminaive.errors import InputError
from seminaive.models.base import unchanged_on_failure
from seminaive.models.decided import DECIDED, generator_of, keep_decision
from seminaive.models.fit_progress import progress_of
from seminaive.models.folded import fold_rows
from seminaive.models.naive_bayes_logistic_regression import path_to
from seminaive.models.parameters import (
    N_FOLDS,
    check_choice,
    check_flag,
    check_numbers,
    check_whole,
)
from seminaive.models.path_curves import PathCurves
from seminaive.models.shrunken import ShrunkenClassifier
from seminaive.models.started import RecalibratedModel
from seminaive.objective.log_loss import POINTWISE
from seminaive.selection.baselines import Baseline
from seminaive.selection.fold_losses import FoldLosses
from seminaive.selection.folds import check_folds
from seminaive.selection.recalibration import recalibrate
from seminaive.selection.shrinkage_search import ShrinkageSearch
from seminaive.selection.shrinkage_targets import Shrinkage
from seminaive.solvers.elastic_net_path import N_STRENGTHS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from seminaive.design.reference import AnchoredDesign
    from seminaive.models.folded import FoldedRows
    from seminaive.models.shrunken import Solve
    from seminaive.models.started import Earlier
    from seminaive.selection.shrinkage_targets import Target
    from seminaive.statistics import TableStatistics

CHOSEN_STRENGTHS = ("strength_", "best_strength_", "one_standard_error_strength_")
SELECTIONS = ("average", "min", "one-standard-error")


@dataclass(eq=False, repr=False, kw_only=True)
class NaiveBayesLogisticRegressionCV(ShrunkenClassifier):
    """`NaiveBayesLogisticRegression` averaged over strengths and targets by cross-validation.

    Three targets are tried: naive Bayes, half of its log odds, and none of them, which leaves the class
    shares. The answer is the average of their coefficients over all strengths, and of the class shares,
    weighted by the likelihood of held-out rows: one readable model. In every fold the target is estimated
    anew from the fold's training rows: a target from all rows would have seen the test rows and would always
    win. If the smallest strength is the best, the search goes on in factors of ten down to no penalty, as far
    as all rows and all folds are solved to their tolerances; if the largest is, up to the target itself.

    Parameters
    ----------
    strengths : int or array-like, default=25
        How many strengths to try, logarithmically from ``strength_max`` down to 1e-4 of it (fewer if
        99.9 % of the deviance is explained or the classes are separated); or the strengths themselves.
    generative_shares : sequence of float, default=(0.0, 0.5, 1.0)
        The shares of naive Bayes to try as targets, each with other strengths. Other targets ignore it.
    start : fitted additive model or None, default=None
        An earlier model, fitted to other rows, that takes the place of naive Bayes as the target: it is
        recalibrated on these rows (an intercept per class, a slope for all), and coefficients are those of
        new terms, which are pulled to 0. ``generative_shares`` are then the shares of the earlier score that
        are tried: 1 is the recalibrated model, 0 the fit without start. Held-out rows weigh them.
        Classes must be the same. A column that the earlier model lacks is new; one that the table lacks
        carries no evidence. Clones start from the same fitted model; in a grid of parameters, wrap it in
        `FrozenEstimator`.
    extend : bool, default=True
        Whether to try larger or smaller strengths if the first or the last one is the best. If
        ``strengths`` are given, no others are tried.
    cv : int or splitter, default=5
        Number of stratified folds, or a scikit-learn splitter or iterable of splits.
    scoring : {"log-loss", "brier", "zero-one"}, default="log-loss"
        The test loss: minus the logarithm of the probabilities, their squared error, or the share of errors.
        An average is weighted by the first.
    selection : {"average", "min", "one-standard-error"}, default="average"
        Average over strengths and targets; or, as in the paper, take the strength of least loss (the larger
        of equals), or the largest strength within one standard error of it, which are kept in any case as
        ``best_strength_`` and ``one_standard_error_strength_``.
    n_jobs : int, default=None
        Threads that solve folds side by side; -1 uses all cores. The result does not depend on it.
    random_state : int, RandomState or None, default=0
        Seed of the folds, and of the draws of held-out rows by which the search is judged.
    penalty : {"l1", "l2"} or float, default="l2"
        As in `NaiveBayesLogisticRegression`, whose default is the paper's "l1". On few rows the average of
        ridge fits is the better one, and is found faster.

    Attributes
    ----------
    strength_ : float
        The chosen strength; of an average, that of the trial of most weight.
    generative_share_ : float
        The share of naive Bayes in the target of that trial.
    fit_share_ : float
        The weight of all trials but the class shares in the average: the share of the fit in the answer. 1
        under the rules of the paper.
    cv_log_loss_ : float
        The log loss to expect on new rows: that of rows that had no part in a fit nor in the choice among
        fits, by bootstrapping the held-out rows. Under the rules of the paper the strength is that of all
        held-out rows, and what choosing it gains is not taken off.
    cv_log_loss_interval_ : (float, float)
        Its 95 % interval.
    best_strength_, one_standard_error_strength_ : float
        What each rule of ``selection`` chooses along ``path_``; ``coefficients_at`` gives their coefficients.
    fold_losses_ : FoldLosses
        Test loss of each fold at each strength of ``path_``.
    trials_ : dict
        Such losses for every share of naive Bayes.
    path_ : ShrinkagePath
        Solutions for all rows, toward the target of ``generative_share_``. Coefficients and target are
        averages where the answer is one.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = NaiveBayesLogisticRegressionCV().fit(X[["mean radius", "mean texture"]], y)
    >>> model.shrinkage_[["coefficient", "target", "fitted"]].round(2)
        coefficient  target  fitted
    0     intercept   11.72   18.58
    1   mean radius   -0.56   -0.97
    2  mean texture   -0.15   -0.21
    """

    _fitted: ClassVar[dict[str, Any]] = {
        **DECIDED,
        "generative_share_": float,
        "best_strength_": float,
        "one_standard_error_strength_": float,
        "fold_losses_": FoldLosses,
        "trials_": "dict[float, FoldLosses]",
    }

    strengths: Any = N_STRENGTHS
    generative_shares: Sequence[float] = (0.0, 0.5, 1.0)
    extend: bool = True
    cv: Any = N_FOLDS
    scoring: str = "log-loss"
    selection: str = "average"
    penalty: Any = "l2"
    n_jobs: int | None = None
    random_state: Any = 0

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Solve the paths on all rows and on every fold, and keep target and strength of least test loss.

        Parameters
        ----------
        sample_weight : array-like of shape (n_rows,), default=None
            How often each row counts, in fitting and in the test losses.
        """
        self.check_parameters()
        with unchanged_on_failure(self):
            training = self._encode_training(X, y, sample_weight)
            folded = fold_rows(training, self.cv, y, sample_weight, self.random_state, groups)
            rows = folded.rows
            earlier = self._earlier(training)
            search = ShrinkageSearch(
                Shrinkage(self._naive_bayes, self._anchor_of, self._options, self._path),
                rows.table,
                rows.labels,
                rows.weights,
                rows.n_classes,
                folded.splits,
                self.scoring,
                bool(self.standardize),
                effective_n_jobs(self.n_jobs),
                folded.groups,
                None if earlier is None else self._recalibrated(earlier, folded),
            )
            shares = self.generative_shares if self._has_shares() else (1.0,)
            targets = []
            with progress_of(self, "targets", len(shares)) as step:
                for share in map(float, shares):
                    targets.append(self._toward(search, share))
                    step(f"share {share:g} of the target, loss {targets[-1].losses.mean.min():.4f}")
            share = self._keep(search, targets)
            if earlier is None or search.baseline is None:
                self.attenuate(training)
                self._summarise(training)
            else:
                self._complete(training, RecalibratedModel(earlier, search.baseline.of_all).times(share))
        return self

    @staticmethod
    def _recalibrated(earlier: Earlier, folded: FoldedRows) -> Baseline:
        """Recalibrate the earlier model on the training rows of each fold, and on all rows."""
        rows, before = folded.rows, earlier.columns_of(folded.rows.table)
        return Baseline.of(recalibrate, before, rows.labels, rows.weights, rows.n_classes, folded.splits)

    def _toward(self, search: ShrinkageSearch, share: float) -> Target:
        """Return the path toward a share of naive Bayes, and those of the folds."""
        if np.ndim(self.strengths):
            return search.along(share, self.strengths)
        found = search.laid(share, int(self.strengths))
        if not self.extend:
            return found
        return search.extended_for_average(found) if self.selection == "average" else search.extended(found)

    def _keep(self, search: ShrinkageSearch, targets: list[Target]) -> float:
        """Set the fitted attributes by what the search decides; return the target's share in the answer."""
        generator = generator_of(self.random_state)
        if self.selection == "average":
            answer = search.average(targets, generator)
        else:
            answer = search.best(targets, self.selection, generator)
        keep_decision(self, answer.decision)
        best, position = answer.best, answer.position
        self.trials_ = {target.share: target.losses for target in targets}
        self.generative_share_, self.fold_losses_ = best.share, best.losses
        self.strength_ = float(best.path.strengths[position])
        for rule, name in (("min", "best"), ("one-standard-error", "one_standard_error")):
            setattr(self, f"{name}_strength_", float(best.path.strengths[best.losses.choose(rule)]))
        if not best.path.converged[position]:
            best.path.first(position + 1).warn_unless_converged()
        fit_share = answer.decision.fit_share
        mean = answer.mean(lambda target, k: target.path.coefficients[k])
        coefficients = toward_class_shares(mean, fit_share, search.class_weight)
        target = answer.mean(lambda target, _: target.path.target)
        share = fit_share * float(answer.mean(lambda target, _: np.asarray(target.share)))
        linear = search.lay_out(share)
        solve = partial(self._path, linear, search.labels, search.row_weight)
        cell_weight = linear.cell_weight(search.row_weight)
        self._keep_coefficients(linear, cell_weight, best.path, coefficients, target, solve)
        return share

    def fit_searched(
        self,
        searched: NaiveBayesLogisticRegressionCV,
        linear: AnchoredDesign,
        statistics: TableStatistics,
        solve: Solve,
    ) -> None:
        """Fit all rows by what a search on a sample of them decided, and a function that solves paths.

        Of an average, the trial of most weight is fitted. A strength is taken over as it is, in units of the
        log likelihood summed over rows: the penalty is a prior whose width does not depend on the number of
        rows. Where the search chose the target itself, so does the fit of all rows.

        Parameters
        ----------
        searched : NaiveBayesLogisticRegressionCV
            A copy of this model, fitted to the sample.
        linear : AnchoredDesign
            Anchored in the share of naive Bayes that the search chose.
        statistics : TableStatistics
            Of all rows.
        solve : callable
            Returns a path of all rows, given options and strengths.
        """
        for name in ("generative_share_", "fold_losses_", "trials_", *DECIDED):
            setattr(self, name, getattr(searched, name))
        whole, held = self._options(stop_early=False), searched.path_.strength_max
        top = solve(whole, n_strengths=1).strength_max
        chosen = {name: getattr(searched, name) for name in CHOSEN_STRENGTHS}
        wanted = {name: max(value, top) if value >= held else value for name, value in chosen.items()}
        path = path_to(list(wanted.values()), solve, self._options(), whole)
        path.warn_unless_converged()
        steps = {name: int(np.abs(path.strengths - value).argmin()) for name, value in wanted.items()}
        for name, step in steps.items():
            setattr(self, name, float(path.strengths[step]))
        fitted = path.coefficients[steps["strength_"]]
        coefficients = toward_class_shares(fitted, self.fit_share_, statistics.class_weight)
        cell_weight = statistics.counts.counts.sum(axis=1)
        self._keep_coefficients(linear, cell_weight, path, coefficients, path.target, solve)

    def _has_shares(self) -> bool:
        return isinstance(self.target, str) and self.target == "naive-bayes"

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("scoring", self.scoring, tuple(POINTWISE))
        check_choice("selection", self.selection, SELECTIONS)
        if self.selection == "average" and self.scoring != "log-loss":
            raise InputError(
                f"an average is weighted by the likelihood of held-out rows: take scoring='log-loss', got "
                f"{self.scoring!r}, or selection='min'"
            )
        check_flag("extend", self.extend)
        check_folds(self.cv)
        if isinstance(self.strengths, Integral):
            check_whole("strengths", self.strengths, "a positive number of them, or an array", low=1)
        else:
            check_numbers("strengths", self.strengths, "a positive number of them, or an array of 0 or more")
        if not np.iterable(self.generative_shares) or len(tuple(self.generative_shares)) == 0:
            raise InputError(
                f"generative_shares is a sequence of shares of naive Bayes, got {self.generative_shares!r}"
            )
        for share in self.generative_shares:
            self._check_share("each of generative_shares", share)

    def path_curves(self, what: str = "coefficients") -> PathCurves:
        """Return named curves along the path, for `seminaive.explain.PathDisplay`.

        Parameters
        ----------
        what : {"coefficients", "test loss"}, default="coefficients"
            One curve per coefficient (with more than two classes those of the last class), or the mean test
            loss of the folds with its standard error.

        Returns
        -------
        PathCurves
        """
        if what != "test loss":
            return super().path_curves(what)
        folds = self.fold_losses_
        return PathCurves(
            curves=folds.mean[:, None],
            names=("mean of the folds",),
            y_label=f"test loss ({self.scoring})",
            error=folds.standard_error,
            **self._path_positions(folds.strengths),
        ).without(folds.strengths <= 0)

    _curves: ClassVar[tuple[str, ...]] = ("coefficients", "test loss")
