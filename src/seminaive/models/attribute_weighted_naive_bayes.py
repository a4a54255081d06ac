"""Naive Bayes with one exponent per feature, learned by conditional likelihood.

The exponents are the d parameters between naive Bayes (all equal to one) and logistic regression (one weight
per category and class).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from seminaive.design.classes import log_odds
from seminaive.design.tied import TiedTerms
from seminaive.models.additive_classifier import AdditiveClassifier
from seminaive.models.base import unchanged_on_failure
from seminaive.models.decided import DECIDED, check_fit_share, generator_of, keep_decision
from seminaive.models.folded import fold_rows
from seminaive.models.generative_classifier import check_generative_parameters
from seminaive.models.parameters import N_FOLDS, VARIANCE_FLOOR, check_number, check_search
from seminaive.objective.empirical_loss import EmpiricalLoss
from seminaive.objective.factor import inverse_of, lower_cholesky
from seminaive.objective.penalised_loss import PenalisedLoss
from seminaive.objective.preconditioner import BuiltPreconditioner
from seminaive.objective.ridge import Ridge
from seminaive.scores import generative_scores
from seminaive.selection.folds import check_folds
from seminaive.selection.step_search import FoldPath, choose_step
from seminaive.solvers.constrained_newton import ConstrainedSteps, DenseModel, Nonnegative
from seminaive.solvers.minimize import minimize
from seminaive.solvers.result import MAX_ITER, TOL
from seminaive.statistics import TableStatistics

if TYPE_CHECKING:
    from typing import Self

    from seminaive.arrays import Floats
    from seminaive.models.folded import FoldedRows
    from seminaive.models.training_set import TrainingSet
    from seminaive.scores import AdditiveScores
    from seminaive.solvers.result import SolverResult


@dataclass(eq=False, repr=False, kw_only=True)
class AttributeWeightedNaiveBayes(AdditiveClassifier):
    """Naive Bayes whose feature likelihoods are raised to learned powers (WANBIA).

    The score of class c is ``log P(c) + sum_j w_j log P(x_j | c)``. The tables come from counts and stay
    fixed; the exponents ``w_j >= 0`` minimise the training log loss plus a ridge toward 1, which is convex. A
    copy of a feature therefore shares its exponent with the original instead of counting twice. Held-out rows
    then say how far to believe the fit.

    Parameters
    ----------
    ridge : float, default=1.0
        Strength, in rows, of the pull of the exponents toward naive Bayes (1); 0 is the maximum of the
        conditional likelihood alone. Copies of a feature share its exponent equally for any positive value.
    smoothing : float, default=1.0
        Added to every count, in rows.
    variances : {"class", "pooled"}, default="class"
        Whether each number has a variance in each class, or one that all classes share.
    variance_floor : float, default=1e-9
        Smallest variance within a class, as a share of the number's overall variance.
    fit_share : "cv" or float, default="cv"
        The share of the fit in the scores, the rest being the class shares. "cv" finds the one that rows
        support that neither counted nor learned exponents; 1 takes the fit as it is, which on few rows
        believes noise.
    cv : int, splitter or iterable, default=5
        Folds of these rows, for ``fit_share="cv"``; a number splits every class evenly.
    tol : float, default=1e-3
        Where the fit stops: its square is the share of the penalised log loss by which it may exceed its
        minimum, a millionth by default.
    max_iter : int, default=1000
        Newton steps.
    random_state : int, RandomState or None, default=0
        Seed of the folds.

    Attributes
    ----------
    exponents_ : ndarray of shape (n_terms,)
        One per feature, in the order of ``term_names_``; 0 drops the feature, 1 leaves it as in naive Bayes.
    selected_features_ : list of str
        Features with a positive exponent.
    fit_share_ : float
        The share of the fit in the scores.
    cv_log_loss_ : float
        What the model is expected to lose on new rows, only with ``fit_share="cv"``.
    cv_log_loss_interval_ : (float, float)
        Holds that loss with a probability of 95 %.
    objective_ : float
        Log loss plus ridge.
    gradient_norm_ : float
        How close to the optimum the fit ended (its certificate), on the scale of ``tol``.
    n_iter_ : int

    Examples
    --------
    Two copies of one feature share the evidence that one of them carries:

    >>> X = [["wet", "wet"]] * 300 + [["dry", "dry"]] * 300
    >>> y = ["rain"] * 200 + ["sun"] * 100 + ["rain"] * 100 + ["sun"] * 200
    >>> AttributeWeightedNaiveBayes().fit(X, y).exponents_.round(1)
    array([0.5, 0.5])
    """

    _fitted: ClassVar = {
        "exponents_": np.ndarray,
        "n_iter_": int,
        "objective_": float,
        "gradient_norm_": float,
        **DECIDED,
    }

    def _check_consistent(self) -> None:
        super()._check_consistent()
        if self.exponents_.shape != (self.scores_.n_terms,) or not (self.exponents_ >= 0).all():
            raise ValueError("there is not one exponent of 0 or more for each term")

    ridge: float = 1.0
    smoothing: float = 1.0
    variances: str = "class"
    variance_floor: float = VARIANCE_FLOOR
    fit_share: Any = "cv"
    cv: Any = N_FOLDS
    tol: float = TOL
    max_iter: int = MAX_ITER
    random_state: Any = 0

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Count, learn one exponent per feature, and let held-out rows say how far to believe them."""
        self.check_parameters()
        with unchanged_on_failure(self):
            for name in DECIDED:
                self.__dict__.pop(name, None)
            rows, folded = self._encode_training(X, y, sample_weight), None
            if self.fit_share == "cv":
                folded = fold_rows(rows, self.cv, y, sample_weight, self.random_state, groups).merged()
                rows = folded.rows
            naive, result = self._learn(rows)
            result.warn_unless_converged(self.tol, "raise max_iter, the ridge or tol")
            if folded is not None:
                self._decide(folded)
            else:
                self.fit_share_ = float(self.fit_share)
            self.exponents_ = result.solution
            self.n_iter_, self.objective_ = result.n_iter, result.objective
            self.gradient_norm_ = result.optimality
            weighted = naive.scale(self.exponents_)
            self.scores_ = weighted.toward_class_shares(self.fit_share_, naive.prior)
            self._summarise(rows)
        return self

    def chooses_by_folds(self) -> bool:
        """Return whether folds choose the share of the fit."""
        return bool(self.fit_share == "cv")

    def _learn(self, rows: TrainingSet) -> tuple[AdditiveScores, SolverResult]:
        """Return naive Bayes of some rows, and the exponents that their labels advise."""
        naive = self._naive_bayes(rows)
        offset = np.tile(log_odds(naive.prior[None]), (len(rows.labels), 1))
        design = TiedTerms.of(naive, rows.table)
        loss = EmpiricalLoss(design, rows.labels, rows.weights, rows.n_classes, offset=offset)
        ones = np.ones((naive.n_terms, 1))
        return naive, _exponents(PenalisedLoss(loss, Ridge(self.ridge * ones, ones)), self.tol, self.max_iter)

    def _decide(self, folded: FoldedRows) -> None:
        """Keep the share of the fit that held-out rows support."""
        rows, folds, results = folded.rows, [], []
        for train, _ in folded.splits:
            naive, result = self._learn(rows.of_rows(train))
            folds.append(FoldPath([naive.scale(result.solution)], rows.table))
            results.append(result)
        worst = max(results, key=lambda result: result.optimality)
        worst.warn_unless_converged(self.tol, "in the folds; raise max_iter, the ridge or tol")
        held_out = folded.held_out
        keep_decision(self, choose_step(held_out, folds, 1, generator_of(self.random_state)).decision)

    def _naive_bayes(self, rows: TrainingSet) -> AdditiveScores:
        statistics = TableStatistics.of(rows.table, rows.labels, rows.n_classes, rows.row_weight)
        return generative_scores(
            statistics,
            smoothing=self.smoothing,
            pooled=self.variances == "pooled",
            variance_floor=self.variance_floor,
        )

    @property
    def selected_features_(self) -> list[str]:
        """Names of the features with a positive exponent."""
        return [
            name for name, exponent in zip(self.term_names_, self.exponents_, strict=True) if exponent > 0
        ]

    def _check_parameters(self) -> None:
        check_generative_parameters(self)
        check_number("ridge", self.ridge, "a number of rows, 0 or more", low=0.0)
        check_fit_share(self.fit_share)
        check_folds(self.cv)
        check_search(self.tol, self.max_iter)


def _exponents(objective: PenalisedLoss, tol: float, max_iter: int) -> SolverResult:
    """Minimise over nonnegative exponents from those of naive Bayes."""

    def build(z: Floats, _: int) -> BuiltPreconditioner:
        # Copies of a term have no curvature apart.
        inverse = inverse_of(lower_cholesky(objective.hessian(z[:, 0])))
        return BuiltPreconditioner(DenseModel(inverse), len(z) / 2, build)

    start = np.ones((objective.loss.shape[0], 1, 1))
    steps = ConstrainedSteps(Nonnegative(len(start)))
    result = minimize(objective, start, build(start, 0), tol=tol, max_iter=max_iter, step_from=steps)
    # A weight that is held at 0 is so up to the rounding of a step.
    return replace(result, solution=np.maximum(result.solution[:, 0, 0], 0.0))
