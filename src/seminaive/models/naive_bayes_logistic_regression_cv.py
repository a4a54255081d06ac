"""Logistic regression shrunk toward naive Bayes, as far as cross-validation advises."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from numbers import Integral

import numpy as np
from joblib import effective_n_jobs
from scipy.special import log_softmax

from seminaive.design.classes import log_odds
from seminaive.errors import InputError
from seminaive.models.base import unchanged_on_failure
from seminaive.models.shrunken import ShrunkenClassifier, new_axes
from seminaive.selection.fold_losses import FoldLosses
from seminaive.selection.folds import check_folds, split_rows

# Folds are solved to this share of the loss at the target: far below what choosing among strengths can see.
FOLD_TOL = 1e-4
# Test rows scored together, for all strengths at once.
ROWS_AT_ONCE = 4096


class NaiveBayesLogisticRegressionCV(ShrunkenClassifier):
    """`NaiveBayesLogisticRegression` with the strength chosen by cross-validation.

    In every fold the naive Bayes target is estimated anew from the fold's training rows: a target from all
    rows would have seen the test rows and would always win.

    Parameters
    ----------
    strengths : int or array-like, default=100
        How many strengths to try, logarithmically from ``strength_max`` down to 1e-4 of it, fewer where
        99.9 % of the deviance is explained or the classes are separated; or the strengths themselves.
    cv : int or splitter, default=10
        Number of stratified folds, or a scikit-learn splitter or iterable of splits.
    scoring : {"brier", "log-loss", "zero-one"}, default="brier"
        The test loss: squared error of the probabilities, their logarithm, or the share of errors.
    selection : {"min", "one-standard-error"}, default="min"
        Take the strength of least loss (the larger of equals), or the largest strength within one
        standard error of it.
    n_jobs : int, default=None
        Threads that solve folds side by side; -1 uses all cores. The result does not depend on it.
    random_state : int, RandomState or None, default=0
        Seed of the folds.
    target, penalty, standardize, penalize_intercept, smoothing, variance_floor, tol, max_steps, \
categorical_features, missing
        As in `NaiveBayesLogisticRegression`.

    Attributes
    ----------
    strength_ : float
        The chosen strength.
    fold_losses_ : FoldLosses
        Test loss of each fold at each strength.
    coefficients_, target_, maximum_likelihood_, shrinkage_, path_, scores_, schema_, classes_, references_
        As in `NaiveBayesLogisticRegression`; the path is that of all rows.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = NaiveBayesLogisticRegressionCV().fit(X[["mean radius", "mean texture"]], y)
    >>> model.shrinkage_[["coefficient", "target", "fitted"]].round(2)
        coefficient  target  fitted
    0     intercept   18.89   18.89
    1   mean radius   -0.92   -1.00
    2  mean texture   -0.24   -0.21
    """

    def __init__(
        self,
        *,
        strengths=100,
        cv=10,
        scoring="brier",
        selection="min",
        target="naive-bayes",
        penalty="l1",
        standardize=False,
        penalize_intercept=True,
        smoothing=1.0,
        variance_floor=1e-9,
        tol=1e-6,
        max_steps=200,
        categorical_features="from_dtype",
        missing="value",
        n_jobs=None,
        random_state=0,
    ):
        self.strengths = strengths
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
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X, y, sample_weight=None):
        """Solve the path on all rows and on every fold, and keep the strength of least test loss.

        Parameters
        ----------
        X : frame, array or list of rows
        y : array-like of shape (n_rows,)
            Class labels: text, whole numbers or booleans.
        sample_weight : array-like of shape (n_rows,), default=None
            How often each row counts, in fitting and in the test losses.
        """
        self._check_parameters()
        with unchanged_on_failure(self):
            training = self._encode_training(X, y, sample_weight)
            row_weight = np.ones(len(training.labels)) if training.row_weight is None else training.row_weight
            linear = self._lay_out(training.table, training.labels, row_weight)
            path = self._path(linear, training.labels, row_weight, self._options(), **self._grid())
            splits = split_rows(self.cv, training.labels, y, sample_weight, self.random_state)
            self.fold_losses_ = self._cross_validate(training, row_weight, linear.references, path, splits)
            chosen = self.fold_losses_.choose(self.selection)
            self.strength_ = float(path.strengths[chosen])
            path.warn_unless_converged()
            self._settle(training, linear, row_weight, path, chosen)
        return self

    def _check_parameters(self):
        super()._check_parameters()
        if not isinstance(self.scoring, str) or self.scoring not in LOSSES:
            raise InputError(f"scoring is one of {list(LOSSES)}, got {self.scoring!r}")
        if self.selection not in ("min", "one-standard-error"):
            raise InputError(f"selection is 'min' or 'one-standard-error', got {self.selection!r}")
        check_folds(self.cv)
        if isinstance(self.strengths, Integral) and self.strengths < 1:
            raise InputError(f"strengths is a positive number of them, or an array, got {self.strengths}")

    def _grid(self):
        if isinstance(self.strengths, Integral):
            return {"n_strengths": int(self.strengths)}
        return {"strengths": self.strengths}

    def _cross_validate(self, training, row_weight, references, path, splits) -> FoldLosses:
        table, labels = training.table, training.labels
        # Fewer rows, less likelihood: the same strength per row.
        total = row_weight.sum()
        options = self._options(
            stop_early=False, gap_tol=max(self.tol, FOLD_TOL), residual_tol=max(self.tol, FOLD_TOL)
        )

        def losses_of(split):
            train, test = split
            weight = row_weight[train]
            linear = self._lay_out(table.rows(train), labels[train], weight, references)
            strengths = path.strengths * (weight.sum() / total)
            solved = self._path(linear, labels[train], weight, options, strengths=strengths)
            held_out = type(linear).of(table.rows(test), references, linear.anchor)
            return self._test_losses(solved.coefficients, held_out, labels[test], row_weight[test], len(path))

        n_threads = effective_n_jobs(self.n_jobs)
        if n_threads == 1:
            losses = [losses_of(split) for split in splits]
        else:
            with ThreadPoolExecutor(n_threads) as pool:
                losses = list(pool.map(losses_of, splits))
        fold_weights = np.array([row_weight[test].sum() for _, test in splits])
        return FoldLosses(path.strengths, np.array(losses), fold_weights, options.gap_tol)

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

    def plot_cv(self, ax=None):
        """Draw the mean test loss along the path, its standard error, and the chosen strength.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        matplotlib Axes
        """
        folds = self.fold_losses_
        if not folds.strengths.any():
            raise InputError("there is no path to draw: the target fits the rows as well as anything else")
        ax = ax or new_axes()
        mean, error = folds.mean, folds.standard_error
        ax.fill_between(folds.strengths, mean - error, mean + error, alpha=0.2, linewidth=0)
        ax.plot(folds.strengths, mean)
        ax.set_xscale("log")
        ax.invert_xaxis()
        ax.axvline(self.strength_, color="0.5", linestyle=":")
        ax.set_xlabel("strength (left: target, right: maximum likelihood)")
        ax.set_ylabel(f"test loss ({self.scoring})")
        return ax


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
