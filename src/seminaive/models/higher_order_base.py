"""What LR^n and ALR^n share: everything but the penalty on their coefficients."""

from __future__ import annotations

from numbers import Real
from typing import ClassVar

import numpy as np
from sklearn.utils import check_random_state

from seminaive.design.classes import by_class
from seminaive.encode.cuts import cut_rule
from seminaive.memory import refuse_beyond_memory
from seminaive.models.additive_classifier import AdditiveClassifier
from seminaive.models.base import unchanged_on_failure
from seminaive.models.parameters import (
    check_choice,
    check_flag,
    check_order,
    check_search,
    check_strengths,
)
from seminaive.models.term_layout import lay_out_terms
from seminaive.objective.empirical_loss import EmpiricalLoss
from seminaive.objective.penalised_loss import PenalisedLoss
from seminaive.solvers.minimize import MOST_VECTORS, minimize
from seminaive.solvers.search_coordinates import SCALINGS, search_coordinates
from seminaive.solvers.stochastic_gradient import minimize_by_epochs
from seminaive.statistics.sizes import stream_parts

# Norm of the gradient, over that at the start, at which smooth fits stop by default.
SMOOTH_TOL = 1e-4

SOLVERS = ("lbfgs", "cg", "newton", "sgd")
OBJECTIVES = ("log-likelihood", "squared-error")
STARTS = ("zero", "generative")
# What a stream of chunks keeps, and a fit does not.
STREAM_ATTRIBUTES = ("statistics_", "centres_", "spreads_", "coefficients_", "squares_")
# What a fit certifies, and a stream cannot.
CERTIFICATES = ("n_iter_", "passes_", "history_", "objective_", "gradient_norm_")


class HigherOrderClassifier(AdditiveClassifier):
    """Logistic regression over tuples of features; a subclass names the penalty (``_ridge``)."""

    _fitted: ClassVar = {
        "n_iter_": int,
        "passes_": int,
        "history_": np.ndarray,
        "objective_": float,
        "gradient_norm_": float,
    }

    def fit(self, X, y, sample_weight=None):
        """Learn one coefficient per class and observed combination of values.

        Parameters
        ----------
        X : frame, array or list of rows
        y : array-like of shape (n_rows,)
            Class labels: text, whole numbers or booleans.
        sample_weight : array-like of shape (n_rows,), default=None
            How often each row counts.
        """
        self._check_parameters()
        with unchanged_on_failure(self):
            rows = self._encode_training(X, y, sample_weight, cut_rule=cut_rule(self.bins))
            design = lay_out_terms(self, rows.table, rows, n_vectors=MOST_VECTORS)
            estimate = design.generative_estimate(rows.labels, rows.weights)
            base = self._baseline(rows)
            loss = EmpiricalLoss(
                design,
                rows.labels,
                rows.weights,
                rows.n_classes,
                loss=self.objective,
                offset=None if base is None else base.offset,
            )
            self._fit_loss(loss, design, estimate, rows.table.codes, design.describe())
            if base is None:
                self._attenuate(rows)
                self._summarise(rows, estimate.tuple_weights())
            else:
                self._complete(rows, base)
        return self

    def _baseline(self, rows):
        """Return what the fit is added to: nothing, unless a subclass starts from an earlier model."""
        del rows

    def _fit_loss(self, loss, design, estimate, codes, description):
        """Minimise the penalised loss of all rows and keep the solution; ``codes`` are for solver='sgd'."""
        objective = PenalisedLoss(loss, self._ridge(estimate))
        with self._progress("passes") as step:
            step.say(description)
            result = self._minimize(objective, design, estimate, codes, step)
        self._forget(STREAM_ATTRIBUTES)
        self.n_iter_, self.passes_, self.history_ = result.n_iter, result.passes, result.history
        self.objective_, self.gradient_norm_ = result.objective, result.optimality
        self._read(estimate, result.solution)

    def _minimize(self, objective, design, estimate, codes, step):
        coordinates, first_step = search_coordinates(
            self.scaling, objective, design, estimate, whiten=self.solver in ("lbfgs", "cg")
        )
        start = np.zeros(objective.loss.shape)
        if self.start == "generative":
            start = estimate.joined(centred=bool(objective.ridge.strength.any()))
            start[design.fixed] = 0.0
        limits = {"tol": self.tol, "max_iter": self.max_iter, "report": step}
        if self.solver == "sgd":
            own = design.coefficients
            refuse_beyond_memory(
                stream_parts(own.terms, len(own.cells), 0, own.n_classes),
                "lower the order, merge rare categories or drop columns",
            )
            generator = check_random_state(self.random_state)
            result = minimize_by_epochs(
                objective.loss,
                objective.ridge,
                coordinates,
                start,
                design=design,
                codes=codes,
                visits=estimate.visits,
                generator=generator,
                **limits,
            )
        else:
            result = minimize(
                objective, coordinates, start, solver=self.solver, first_step=first_step, **limits
            )
        result.warn_unless_converged(
            self.tol,
            "raise max_iter, raise the penalty (separable classes have no optimum without one), or raise tol",
        )
        # The Gram matrix of a whitening takes a pass of its own.
        return result.after_passes(int(coordinates.whitening is not None))

    def _read(self, estimate, solution):
        """Keep a solution as additive scores."""
        cell_weight = estimate.cell_weight.sum(axis=1)
        self.scores_ = estimate.coefficients.to_scores(self._by_class(estimate, solution), cell_weight)

    def _by_class(self, estimate, solution):
        """Return a solution with one column per class."""
        del estimate
        return by_class(solution)

    def _forget(self, attributes):
        """Remove fitted attributes that no longer hold."""
        for name in attributes:
            vars(self).pop(name, None)

    def _ridges(self):
        """Return the ridge of each order, 1 to ``order``."""
        if isinstance(self.ridge, Real):
            return np.full(self.order, float(self.ridge))
        return np.asarray(self.ridge, dtype=np.float64)

    def _check_parameters(self):
        check_order(self.order)
        check_flag("hierarchical", self.hierarchical)
        check_choice("scaling", self.scaling, SCALINGS)
        check_choice("solver", self.solver, SOLVERS)
        check_choice("objective", self.objective, OBJECTIVES)
        self._check_start()
        check_strengths(
            "ridge",
            self.ridge,
            self.order,
            f"a number of 0 or more, or one such number for each of the {self.order} orders",
        )
        check_search(self.tol, self.max_iter)

    def _check_start(self):
        check_choice("start", self.start, STARTS)
