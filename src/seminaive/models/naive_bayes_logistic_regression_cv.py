"""Logistic regression shrunk toward naive Bayes, with the strength chosen by cross-validation."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from joblib import effective_n_jobs
from scipy.special import log_softmax

from seminaive.design.classes import log_odds
from seminaive.design.reference import AnchoredDesign
from seminaive.errors import InputError
from seminaive.models.base import unchanged_on_failure
from seminaive.models.path_curves import PathCurves
from seminaive.models.shrunken import ShrunkenClassifier
from seminaive.selection.doubt import CHANCE
from seminaive.selection.fold_losses import FoldLosses
from seminaive.selection.folds import check_folds, split_rows
from seminaive.statistics import TableStatistics

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from seminaive.scores import AdditiveScores
    from seminaive.solvers import ShrinkagePath

# Folds are solved to this share of the loss at the target: far below what choosing among strengths can see.
FOLD_TOL = 1e-4
# Strengths that are laid span so many decades; the search goes on by at most so many, with as many in each.
DECADES_LAID = 4
MOST_DECADES = 6
# Times strength_max: a strength that keeps every coefficient at the target in all folds.
HELD_FACTOR = 10.0
# Test rows scored together, for all strengths at once.
ROWS_AT_ONCE = 4096


class NaiveBayesLogisticRegressionCV(ShrunkenClassifier):
    """`NaiveBayesLogisticRegression` with strength and target chosen by cross-validation.

    Three targets are tried: naive Bayes, half of its log odds, and none of them, which leaves the class
    shares (this is the lasso). In every fold the target is estimated anew from the fold's training rows: a
    target from all rows would have seen the test rows and would always win. If the smallest strength is the
    best, the search goes on in factors of ten down to no penalty, as far as all rows and all folds are solved
    to their tolerances; if the largest is, up to the target itself.

    Parameters
    ----------
    strengths : int or array-like, default=100
        How many strengths to try, logarithmically from ``strength_max`` down to 1e-4 of it (fewer if
        99.9 % of the deviance is explained or the classes are separated); or the strengths themselves.
    generative_shares : sequence of float, default=(0.0, 0.5, 1.0)
        The shares of naive Bayes to try as targets, each with its own strengths. Other targets ignore it.
    extend : bool, default=True
        Whether to try larger or smaller strengths if the first or the last one is the best. If
        ``strengths`` are given, no others are tried.
    cv : int or splitter, default=10
        Number of stratified folds, or a scikit-learn splitter or iterable of splits.
    scoring : {"log-loss", "brier", "zero-one"}, default="log-loss"
        The test loss: minus the logarithm of the probabilities, their squared error, or the share of errors.
    selection : {"min", "one-standard-error"}, default="min"
        Take the strength of least loss (the larger of equals), or the largest strength within one
        standard error of it. Both are kept, as ``best_strength_`` and ``one_standard_error_strength_``.
    n_jobs : int, default=None
        Threads that solve folds side by side; -1 uses all cores. The result does not depend on it.
    random_state : int, RandomState or None, default=0
        Seed of the folds.
    target, penalty, standardize, penalize_intercept, smoothing, variance_floor, tol, max_steps, \
categorical_features, missing
        As in `NaiveBayesLogisticRegression`.
    class_weight : None, "balanced" or mapping, default=None
        Weights of the classes, which multiply the weights of their rows, in the search as in the fit;
        "balanced" gives every class the same total. Classes that a mapping leaves out weigh 1.
    merge_spellings : bool, default=False
        Whether capitals and spaces around a category do not matter: "Yes", "yes" and "yes " are one.
    keep_summary : bool, default=True
        Whether to keep a summary of the training table for pictures and reports: how often each value
        occurred, and quantiles of numbers; no row is kept.
    verbose : bool or int, default=False
        Whether to show progress on standard error.

    Attributes
    ----------
    strength_ : float
        The chosen strength.
    generative_share_ : float
        The chosen share of naive Bayes in the target. If the gain over the class shares is less than 1.5
        standard errors, which the best of many trials gains by chance, it is 0, with a strength that leaves
        the class shares.
    best_strength_, one_standard_error_strength_ : float
        What each rule of ``selection`` chooses along ``path_``; ``coefficients_at`` gives their coefficients.
    fold_losses_ : FoldLosses
        Test loss of each fold at each strength of ``path_``.
    trials_ : dict
        Such losses for every share of naive Bayes.
    columns_report_ : frame
        How each column was read: kind, levels, missing cells, type.
    coefficients_, target_, maximum_likelihood_, shrinkage_, path_, scores_, schema_, classes_, references_
        As in `NaiveBayesLogisticRegression`; the path is that of all rows toward the chosen target.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = NaiveBayesLogisticRegressionCV().fit(X[["mean radius", "mean texture"]], y)
    >>> model.shrinkage_[["coefficient", "target", "fitted"]].round(2)
        coefficient  target  fitted
    0     intercept   18.89   19.27
    1   mean radius   -0.92   -1.00
    2  mean texture   -0.24   -0.22
    """

    _fitted: ClassVar[dict[str, Any]] = {
        "generative_share_": float,
        "best_strength_": float,
        "one_standard_error_strength_": float,
        "fold_losses_": FoldLosses,
        "trials_": "dict[float, FoldLosses]",
    }

    def __init__(
        self,
        *,
        strengths=100,
        generative_shares=(0.0, 0.5, 1.0),
        extend=True,
        cv=10,
        scoring="log-loss",
        selection="min",
        target="naive-bayes",
        penalty="l1",
        standardize=True,
        penalize_intercept=True,
        smoothing=1.0,
        variance_floor=1e-9,
        tol=1e-6,
        max_steps=200,
        categorical_features="from_dtype",
        missing="value",
        class_weight=None,
        merge_spellings=False,
        keep_summary=True,
        verbose=False,
        n_jobs=None,
        random_state=0,
    ):
        self.strengths = strengths
        self.generative_shares = generative_shares
        self.extend = extend
        self.cv = cv
        self.scoring = scoring
        self.selection = selection
        self.target = target
        self.penalty = penalty
        self.standardize = standardize
        self.penalize_intercept = penalize_intercept
        self.smoothing = smoothing
        self.variance_floor = variance_floor
        self.tol = tol
        self.max_steps = max_steps
        self.categorical_features = categorical_features
        self.missing = missing
        self.class_weight = class_weight
        self.merge_spellings = merge_spellings
        self.keep_summary = keep_summary
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X, y, sample_weight=None, groups=None):
        """Solve the paths on all rows and on every fold, and keep target and strength of least test loss.

        Parameters
        ----------
        X : frame, array or list of rows
        y : array-like of shape (n_rows,)
            Class labels: text, whole numbers or booleans.
        sample_weight : array-like of shape (n_rows,), default=None
            How often each row counts, in fitting and in the test losses.
        groups : array-like of shape (n_rows,), default=None
            Passed on to a splitter of groups in ``cv``.
        """
        self._check_parameters()
        with unchanged_on_failure(self):
            training = self._encode_training(X, y, sample_weight)
            row_weight = training.weights
            splits = split_rows(self.cv, training.labels, y, sample_weight, self.random_state, groups)
            folds = self._folds(training, row_weight, splits)
            shares = self.generative_shares if self._has_shares() else (1.0,)
            trials = {}
            with self._progress("targets", len(shares)) as step:
                for share in map(float, shares):
                    trials[share] = self._search(training, row_weight, share, folds)
                    step(f"share {share:g} of naive Bayes, loss {trials[share].losses.mean.min():.4f}")
            self.generative_share_, chosen = _best_of(trials, self.selection)
            self.trials_ = {share: trial.losses for share, trial in trials.items()}
            best = trials[self.generative_share_]
            self.fold_losses_, path = best.losses, best.path
            self.strength_ = float(path.strengths[chosen])
            for rule, name in (("min", "best"), ("one-standard-error", "one_standard_error")):
                setattr(self, f"{name}_strength_", float(path.strengths[best.losses.choose(rule)]))
            if not path.converged[chosen]:
                path.first(chosen + 1).warn_unless_converged()
            solve = partial(self._path, best.linear, training.labels, row_weight)
            self._settle(best.linear, best.linear.cell_weight(row_weight), path, chosen, solve)
            self._summarise(training)
        return self

    def _has_shares(self):
        return isinstance(self.target, str) and self.target == "naive-bayes"

    def _check_parameters(self):
        super()._check_parameters()
        if not isinstance(self.scoring, str) or self.scoring not in LOSSES:
            raise InputError(f"scoring is one of {list(LOSSES)}, got {self.scoring!r}")
        if self.selection not in ("min", "one-standard-error"):
            raise InputError(f"selection is 'min' or 'one-standard-error', got {self.selection!r}")
        check_folds(self.cv)
        if isinstance(self.strengths, Integral) and self.strengths < 1:
            raise InputError(f"strengths is a positive number of them, or an array, got {self.strengths}")
        if not np.iterable(self.generative_shares) or len(tuple(self.generative_shares)) == 0:
            raise InputError(
                f"generative_shares is a sequence of shares of naive Bayes, got {self.generative_shares!r}"
            )
        for share in self.generative_shares:
            self._check_share("each of generative_shares", share)

    def _search(self, training, row_weight, share, folds):
        """Solve path and folds toward one target, and go on while the best strength is the first or last."""
        linear = self._lay_out(training.table, training.labels, row_weight, share)

        def solved(options, **strengths):
            path = self._path(linear, training.labels, row_weight, options, **strengths)
            losses, n_solved = self._cross_validate(
                training, row_weight, share, linear.references, path, folds
            )
            return _Trial(linear, path, losses, min(n_solved, _n_leading(path.converged)))

        if not isinstance(self.strengths, Integral):
            return solved(self._options(), strengths=self.strengths)
        trial = solved(self._options(), n_strengths=int(self.strengths))
        top = trial.path.strength_max
        if not self.extend or top == 0.0:
            return trial
        whole = self._options(stop_early=False)
        if share == 0.0 or trial.losses.is_tie(0):
            # The target itself: in the folds strength_max may be larger than on all rows.
            trial = solved(whole, strengths=[HELD_FACTOR * top]).then(trial)
        if not trial.losses.is_tie(-1) or not trial.is_solved:
            return trial
        end = solved(whole, strengths=[0.0])
        per_decade = max(1, round(self.strengths / DECADES_LAID))
        for _ in range(MOST_DECADES):
            decade = trial.path.strengths[-1] * 10.0 ** (-np.arange(1, per_decade + 1) / per_decade)
            further = solved(whole, strengths=decade).solved_part()
            if not len(further.path):
                break
            least = trial.losses.mean.min()
            trial = trial.then(further)
            # Where neither a decade nor the end is better, the losses have levelled off.
            lower = min(further.losses.mean.min(), end.losses.mean.min()) < least * (1 - end.losses.tol)
            if not lower or not trial.losses.is_tie(-1):
                break
        return trial.then(end) if end.is_solved else trial

    def _folds(self, training, row_weight, splits):
        """Estimate naive Bayes on the training rows of each split, once for all targets and strengths."""

        def fold_of(split):
            train, test = split
            rows, n_classes = training.table.rows(train), len(self.classes_)
            statistics = TableStatistics.of(rows, training.labels[train], n_classes, row_weight[train])
            return _Fold(train, test, self._naive_bayes(statistics))

        return self._of_each(fold_of, splits)

    def _of_each(self, function, folds):
        """Return a function's results for all folds, found by as many threads as asked for."""
        n_threads = effective_n_jobs(self.n_jobs)
        if n_threads == 1:
            return [function(fold) for fold in folds]
        with ThreadPoolExecutor(n_threads) as pool:
            return list(pool.map(function, folds))

    def _cross_validate(self, training, row_weight, share, references, path, folds):
        """Return the test losses of every fold at the strengths of a path, and how many all folds solved."""
        table, labels = training.table, training.labels
        total = row_weight.sum()
        options = self._options(
            stop_early=False, gap_tol=max(self.tol, FOLD_TOL), residual_tol=max(self.tol, FOLD_TOL)
        )

        def losses_of(fold):
            train, test = fold.train, fold.test
            weight = row_weight[train]
            anchor = self._anchor_of(fold.naive_bayes, share)
            linear = AnchoredDesign.of(table.rows(train), references, anchor)
            # Fewer rows, less likelihood: the same strength per row.
            strengths = path.strengths * (weight.sum() / total)
            solved = self._path(linear, labels[train], weight, options, strengths=strengths)
            held_out = AnchoredDesign.of(table.rows(test), references, anchor)
            losses = self._test_losses(
                solved.coefficients, held_out, labels[test], row_weight[test], len(path)
            )
            return losses, _n_leading(solved.converged)

        losses, n_solved = zip(*self._of_each(losses_of, folds), strict=True)
        fold_weights = np.array([row_weight[fold.test].sum() for fold in folds])
        return FoldLosses(path.strengths, np.array(losses), fold_weights, options.gap_tol), min(n_solved)

    def _test_losses(self, coefficients, held_out, labels, row_weight, n_strengths):
        """Return the weighted mean test loss for every strength; where a path broke off, its last one."""
        n_solved, n_coefficients, n_scores = coefficients.shape
        side_by_side = coefficients.transpose(1, 0, 2).reshape(n_coefficients, -1)
        offset = log_odds(held_out.offset)
        total = np.zeros(n_solved)
        for begin in range(0, len(labels), ROWS_AT_ONCE):
            rows = slice(begin, begin + ROWS_AT_ONCE)
            scores = held_out.design.rows(rows).scores(side_by_side)
            scores = scores.reshape(-1, n_solved, n_scores) + offset[rows, None, :]
            total += row_weight[rows] @ LOSSES[self.scoring](scores, labels[rows])
        mean = total / row_weight.sum()
        return np.concatenate([mean, np.full(n_strengths - n_solved, mean[-1])])

    def path_curves(self, what="coefficients"):
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

    _curves: ClassVar = ("coefficients", "test loss")


@dataclass(frozen=True)
class _Fold:
    """Training and held-out rows of a fold, and the naive Bayes of the training rows."""

    train: NDArray[np.int64]
    test: NDArray[np.int64]
    naive_bayes: AdditiveScores


@dataclass(frozen=True)
class _Trial:
    """The path of all rows toward one target, and the test losses of the folds at its strengths.

    Parameters
    ----------
    linear : AnchoredDesign
    path : ShrinkagePath
    losses : FoldLosses
    n_solved : int
        The strengths, from the largest on, at which all rows and all folds were solved to their tolerances.
        Test losses at the others are those of unfinished fits.
    """

    linear: AnchoredDesign
    path: ShrinkagePath
    losses: FoldLosses
    n_solved: int

    @property
    def is_solved(self) -> bool:
        """Tell whether all strengths were solved."""
        return self.n_solved == len(self.path)

    def solved_part(self) -> _Trial:
        """Return the trial of the strengths that were solved."""
        kept = self.n_solved
        return _Trial(self.linear, self.path.first(kept), self.losses.first(kept), kept)

    def then(self, further: _Trial) -> _Trial:
        """Return this trial continued by smaller strengths."""
        n_solved = self.n_solved + further.n_solved if self.is_solved else self.n_solved
        return _Trial(self.linear, self.path.then(further.path), self.losses.then(further.losses), n_solved)


def _n_leading(converged: NDArray[np.bool_]) -> int:
    """Return how many strengths converged before the first that did not."""
    return len(converged) if converged.all() else int(np.argmin(converged))


def _best_of(trials: dict[float, _Trial], selection: str) -> tuple[float, int]:
    """Return the target, a share of naive Bayes, and the position of the chosen strength.

    Where the class shares are among the targets, a gain over them that may be chance is none.
    """
    share = min(trials, key=lambda own: trials[own].losses.mean.min())
    losses = trials[share].losses
    chosen = losses.choose(selection)
    if 0.0 in trials and len(trials[0.0].path) > 1:
        gain = trials[0.0].losses.gain_of(0, losses, chosen)
        if gain < CHANCE:
            return 0.0, 0
    return share, chosen


def _log_probabilities(scores):
    """Log probabilities (rows, strengths, classes) of scores whose single column is a log odds."""
    if scores.shape[2] == 1:
        scores = np.concatenate([np.zeros_like(scores), scores], axis=2)
    return log_softmax(scores, axis=2)


def _brier(scores, labels):
    """Half the squared error summed over classes: for two of them the square of the error in either."""
    if scores.shape[2] == 1:
        signs = 2.0 * labels - 1.0
        with np.errstate(over="ignore"):
            return np.square(1.0 / (1.0 + np.exp(scores[:, :, 0] * signs[:, None])))
    p = np.exp(_log_probabilities(scores))
    p[np.arange(len(labels)), :, labels] -= 1.0
    return 0.5 * np.square(p).sum(axis=2)


def _log_loss(scores, labels):
    return -_log_probabilities(scores)[np.arange(len(labels)), :, labels]


def _zero_one(scores, labels):
    if scores.shape[2] == 1:
        return ((scores[:, :, 0] > 0) != labels[:, None]).astype(np.float64)
    return (scores.argmax(axis=2) != labels[:, None]).astype(np.float64)


LOSSES = {"brier": _brier, "log-loss": _log_loss, "zero-one": _zero_one}
