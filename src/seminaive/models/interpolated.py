"""Naive Bayes classifiers with one alpha per feature, chosen along a path that starts at the prior."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from scipy.special import logsumexp
from sklearn.utils import check_random_state

from seminaive.errors import InputError, UnavailableError
from seminaive.models.additive import AdditiveClassifier
from seminaive.models.base import unchanged_on_failure
from seminaive.models.fitted_checks import check_finite
from seminaive.models.generative import check_generative_parameters
from seminaive.models.path_curves import PathCurves
from seminaive.scores import Interpolation
from seminaive.selection.folds import check_folds, split_rows
from seminaive.solvers import AlphaPath
from seminaive.statistics import TableStatistics

CRITERIA = ("aic", "cv")
DEGREES = ("count", "sum")
CURVES = ("alphas", "criteria")


class InterpolatedClassifier(AdditiveClassifier):
    """Naive Bayes with every feature's parameters between pooled (alpha = 0) and class-wise (alpha = 1).

    A subclass finds a path of alphas (``_find_path``) and the step of it that predicts (``_choose``).
    """

    _fitted: ClassVar = {
        "path_": AlphaPath,
        "chosen_step_": int,
        "alphas_": np.ndarray,
        "n_evaluations_": int,
        "fold_deviances_": np.ndarray,
    }

    def _check_consistent(self):
        super()._check_consistent()
        path, n_features = self.path_, len(self.schema_.columns)
        check_finite(path)
        if path.alphas.ndim != 2 or path.alphas.shape[1] != n_features or not len(path):
            raise ValueError("the path does not fit the schema")
        if not 0 <= self.chosen_step_ < len(path) or self.alphas_.shape != (n_features,):
            raise ValueError("the chosen step is not on the path")

    def fit(self, X, y, sample_weight=None, groups=None):
        """Estimate both ends of every feature, find the path between them and choose a step of it.

        Parameters
        ----------
        X : frame, array or list of rows
        y : array-like of shape (n_rows,)
            Class labels: text, whole numbers or booleans.
        sample_weight : array-like of shape (n_rows,), default=None
            How often each row counts, in the estimates and in the errors.
        groups : array-like of shape (n_rows,), default=None
            For a splitter in ``cv`` that keeps groups together.
        """
        self._check_parameters()
        with unchanged_on_failure(self):
            rows = self._encode_training(X, y, sample_weight, cut_rule=self._cut_rule())
            table = rows.table.without_cut_numbers()
            interpolation = self._interpolation(table, rows.labels, rows.row_weight)
            path = self._find_path(interpolation, table, rows.labels, rows.row_weight)
            self._settle(interpolation, path, self._choose(path, rows, y, sample_weight, groups))
            self._summarise(rows)
        return self

    def _cut_rule(self):
        """Return the rule that cuts numbers, or None where they stay numbers."""
        return

    def _interpolation(self, table, labels, row_weight):
        return self._interpolation_of(TableStatistics.of(table, labels, len(self.classes_), row_weight))

    def _interpolation_of(self, statistics):
        return Interpolation.of(
            statistics,
            smoothing=self.smoothing,
            shared_variance=self.variances == "pooled",
            variance_floor=self.variance_floor,
        )

    def _settle(self, interpolation, path, chosen):
        """Keep the path, with features in the order of the table, and the scores of the chosen step."""
        alphas = path.alphas[chosen]
        scores = interpolation.scores_at(alphas)
        self.scores_ = scores.restrict(np.flatnonzero(alphas > 0).tolist())
        self.path_ = path.at_columns(self.schema_.features, len(self.schema_.columns))
        self.chosen_step_ = int(chosen)
        self.alphas_ = self.path_.alphas[chosen].copy()
        self.n_evaluations_ = path.n_evaluations

    @property
    def selected_features_(self):
        """Names of the features that the model looks at, those with alpha above 0."""
        return [name for name, alpha in zip(self.schema_.names, self.alphas_, strict=True) if alpha > 0]

    def _tie_order(self):
        """Return the features in an order drawn by ``random_state`` among the sorted names.

        Drawn among names, the order follows a column wherever it stands in the table.
        """
        names = np.array([self.schema_.names[position] for position in self.schema_.features], dtype=object)
        by_name = np.argsort(names, kind="stable")
        return by_name[check_random_state(self.random_state).permutation(len(names))]

    def _cross_validated_step(self, path, rows, y, sample_weight, groups):
        """Return the step of least held-out deviance; folds are aligned by the number of steps.

        A fold whose path is shorter than that of all rows stays at its last model.
        """
        weights = np.ones(len(rows.labels)) if rows.row_weight is None else rows.row_weight
        splits = split_rows(self.cv, rows.labels, y, sample_weight, self.random_state, groups)
        deviances = np.empty((len(splits), len(path)))
        for fold, (train, test) in enumerate(splits):
            table, labels, weight = rows.table.rows(train), rows.labels[train], weights[train]
            interpolation = self._interpolation(table, labels, weight)
            own = self._find_path(interpolation, table, labels, weight, whole=path)
            held_out = rows.table.rows(test)
            steps = np.minimum(np.arange(len(path)), len(own) - 1)
            found = [
                deviance(
                    interpolation.scores_at(alphas).joint_log_scores(held_out),
                    rows.labels[test],
                    weights[test],
                )
                for alphas in own.alphas[: len(path)]
            ]
            deviances[fold] = np.array(found)[steps]
        self.fold_deviances_ = deviances
        return int(np.argmin(deviances.sum(axis=0)))

    @property
    def cv_log_loss_(self):
        """The log loss of held-out rows at the chosen step, if ``criterion="cv"`` chose it.

        It is optimistic, since the step was chosen on the same rows; the less so, the more rows there are.
        """
        if "fold_deviances_" not in vars(self) or self.criterion != "cv":
            raise UnavailableError("cv_log_loss_ is of the held-out rows: fit with criterion='cv'")
        return float(self.fold_deviances_.sum(axis=0)[self.chosen_step_] / (2 * self.path_.total_weight))

    def _check_parameters(self):
        check_generative_parameters(self)

    def _check_criterion(self):
        if self.criterion not in CRITERIA:
            raise InputError(f"criterion is one of {', '.join(CRITERIA)}, got {self.criterion!r}")
        if self.degrees not in DEGREES:
            raise InputError(f"degrees is one of {', '.join(DEGREES)}, got {self.degrees!r}")
        check_folds(self.cv)

    def path_curves(self, what="alphas"):
        """Return named curves along the path, for `seminaive.explain.PathDisplay`.

        Parameters
        ----------
        what : {"alphas", "criteria"}, default="alphas"
            One curve per feature that ever leaves 0, or training error, AIC and deviance.

        Returns
        -------
        PathCurves
        """
        if what not in CURVES:
            raise InputError(f"what is one of {', '.join(CURVES)}, got {what!r}")
        path, x = self.path_, self._path_positions()
        common = {"x": x, "x_label": self._path_label, "chosen": float(x[self.chosen_step_])}
        common["logarithmic"] = self._path_label != "step"
        if what == "alphas":
            moved = np.flatnonzero(path.alphas.any(axis=0))
            names = tuple(self.schema_.names[j] for j in moved)
            return PathCurves(curves=path.alphas[:, moved], names=names, y_label="alpha", **common)
        curves = np.column_stack([path.training_error, path.aic, path.deviance])
        names = ("training error", "AIC", "deviance")
        return PathCurves(curves=curves, names=names, y_label="per row", **common)

    _path_label = "step"

    def _path_positions(self):
        return np.arange(len(self.path_), dtype=np.float64)


def deviance(joint, labels, weights):
    """Return the weighted sum over rows of ``-2 log P(y | x)``, given joint log scores."""
    own = joint[np.arange(len(labels)), labels]
    return float(2.0 * weights @ (logsumexp(joint, axis=1) - own))
