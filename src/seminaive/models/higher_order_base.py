"""What LR^n and ALR^n share: everything but the scaling of their search and the penalty on their weights."""

from __future__ import annotations

from numbers import Integral, Real
from typing import ClassVar

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils import check_random_state

from seminaive.encode import EqualFrequencyCuts, mdl_cuts
from seminaive.errors import InputError
from seminaive.models.additive import AdditiveClassifier
from seminaive.models.base import unchanged_on_failure
from seminaive.models.parameters import LARGEST_WHOLE
from seminaive.selection.higher_order_problem import SCALINGS, HigherOrderProblem
from seminaive.solvers.stochastic_descent import descend_epochs

SOLVERS = ("lbfgs", "cg", "newton", "sgd")
OBJECTIVES = ("log-likelihood", "squared-error")
STARTS = ("zero", "generative")


class HigherOrderClassifier(AdditiveClassifier):
    """Logistic regression over tuples of features; a subclass names the penalty."""

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
            problem = HigherOrderProblem.of(
                rows,
                order=self.order,
                hierarchical=self.hierarchical,
                objective=self.objective,
                n_threads=effective_n_jobs(self.n_jobs),
            )
            self._solve(problem, rows)
            vars(self).pop("statistics_", None)  # a stream that came before is over
        return self

    def _solve(self, problem, rows):
        strength, target = self._penalty(problem)
        if self.scaling == "curvature" and self.solver in ("lbfgs", "cg"):
            problem = problem.whitened(strength)
        scale = problem.scale(self.scaling, strength)
        start = np.zeros(problem.loss.shape)
        if self.start == "generative":
            start = problem.generative(centred=bool(strength.any()))
            start[problem.fixed] = 0.0
        penalised = (strength, target, scale, start)
        limits = {"tol": self.tol, "max_iter": self.max_iter}
        if self.solver == "sgd":
            generator = check_random_state(self.random_state)
            result = descend_epochs(problem, rows.table.codes, *penalised, generator=generator, **limits)
        else:
            first_step = problem.first_step(self.scaling)
            result = problem.solve(self.solver, *penalised, first_step=first_step, **limits)
        result.warn_unless_converged(
            self.tol,
            "raise max_iter, raise the penalty (separable classes have no optimum without one), or raise tol",
        )
        # The pairs of a whitening were counted in a pass of their own.
        counted = int(problem.whitening is not None)
        self.n_iter_, self.passes_ = result.n_iter, result.passes + counted
        self.history_ = np.concatenate([result.history[:counted], result.history])
        self.objective_, self.gradient_norm_ = result.objective, result.optimality
        self.scores_ = problem.scores(self._by_class(problem, result.solution))

    def _by_class(self, problem, solution):
        """Return a solution with one column per class."""
        return problem.by_class(solution)

    def _ridges(self):
        """Return the ridge of each order, 1 to ``order``."""
        if isinstance(self.ridge, Real):
            return np.full(self.order, float(self.ridge))
        return np.asarray(self.ridge, dtype=np.float64)

    def _check_parameters(self):
        check_order(self.order)
        for name, allowed in (
            ("scaling", SCALINGS),
            ("solver", SOLVERS),
            ("objective", OBJECTIVES),
            ("start", STARTS),
        ):
            if getattr(self, name) not in allowed:
                raise InputError(f"{name} is one of {', '.join(allowed)}, got {getattr(self, name)!r}")
        ridges = self._ridges()
        if ridges.shape != (self.order,) or not ((ridges >= 0) & np.isfinite(ridges)).all():
            raise InputError(
                f"ridge is a number of 0 or more, or one such number for each of the {self.order} orders, "
                f"got {self.ridge!r}"
            )
        if not self.tol > 0 or not self.max_iter >= 1:
            raise InputError(
                f"tol must be positive and max_iter 1 or more, got {self.tol!r} and {self.max_iter!r}"
            )


def check_order(order):
    """Refuse an order that is not a whole number of 1 or more."""
    if not isinstance(order, Integral) or isinstance(order, bool) or order < 1:
        raise InputError(
            f"order is the number of features in a term, a whole number of 1 or more, got {order!r}"
        )


def cut_rule(bins):
    """Return the rule that cuts numbers into bins."""
    if bins == "mdl":
        return mdl_cuts
    if isinstance(bins, Integral) and 2 <= bins <= LARGEST_WHOLE:
        return EqualFrequencyCuts(int(bins))
    raise InputError(f"bins is 'mdl' or a number of equally frequent bins, 2 or more, got {bins!r}")
