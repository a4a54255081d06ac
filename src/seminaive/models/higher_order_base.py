"""What LR^n and ALR^n share: everything but the penalty on their coefficients."""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from seminaive.design.classes import by_class
from seminaive.encode.cuts import cut_rule
from seminaive.memory import refuse_beyond_memory
from seminaive.models.base import unchanged_on_failure
from seminaive.models.fit_progress import progress_of
from seminaive.models.parameters import (
    check_choice,
    check_flag,
    check_order,
    check_search,
    check_strengths,
)
from seminaive.models.started import StartedClassifier
from seminaive.models.term_fit_posterior import NO_TERM_POSTERIOR, has_posterior, posterior_of_terms
from seminaive.models.term_layout import lay_out_terms
from seminaive.objective.empirical_loss import EmpiricalLoss
from seminaive.objective.penalised_loss import PenalisedLoss
from seminaive.solvers.quasi_newton import MOST_VECTORS, minimize
from seminaive.solvers.search_coordinates import SCALINGS, search_coordinates
from seminaive.solvers.stochastic_gradient import minimize_by_epochs
from seminaive.statistics.sizes import stream_parts

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import NDArray

    from seminaive.arrays import Floats
    from seminaive.design.coefficients import GenerativeEstimate
    from seminaive.design.table_design import TableDesign
    from seminaive.encode.encoded_table import CutRule
    from seminaive.models.fit_progress import Steps
    from seminaive.models.training_set import TrainingSet
    from seminaive.objective.coordinates import Coordinates
    from seminaive.objective.ridge import Ridge
    from seminaive.objective.summed_loss import LossName, SummedLoss
    from seminaive.solvers.result import SolverResult

STARTS = ("zero", "generative")
# What a stream of chunks keeps, and a fit does not.
STREAM_ATTRIBUTES = ("statistics_", "centres_", "spreads_", "coefficients_", "squares_")
# What a fit certifies, and a stream cannot.
CERTIFICATES = ("n_iter_", "passes_", "history_", "objective_", "gradient_norm_")


class HigherOrderClassifier(StartedClassifier):
    """Logistic regression over tuples of features; a subclass names the penalty (``ridge_penalty``)."""

    # The loss of a row, and what ``solver`` may be; `seminaive_experiments.papers.variants` has others.
    row_loss: ClassVar[LossName] = "log-likelihood"
    solvers: ClassVar[tuple[str, ...]] = ("lbfgs", "newton", "sgd")

    _fitted: ClassVar[dict[str, Any]] = {
        "n_iter_": int,
        "passes_": int,
        "history_": np.ndarray,
        "objective_": float,
        "gradient_norm_": float,
    }

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn one coefficient per class and observed combination of values."""
        self.check_parameters()
        with unchanged_on_failure(self):
            rows = self._encode_training(X, y, sample_weight)
            design = lay_out_terms(self, rows.table, rows, n_vectors=MOST_VECTORS)
            estimate = design.generative_estimate(rows.labels, rows.weights)
            base = self._baseline(rows)
            loss = EmpiricalLoss(
                design,
                rows.labels,
                rows.weights,
                rows.n_classes,
                loss=self.row_loss,
                offset=None if base is None else base.offset,
            )
            solution = self.fit_loss(loss, design, estimate, design.describe(), rows.table.codes)
            if base is None:
                self.attenuate(rows)
                self._keep_posterior(rows, design, self.ridge_penalty(estimate), solution)
                self._summarise(rows, estimate.tuple_weights())
            else:
                self._complete(rows, base)
        return self

    def binning_rule(self) -> CutRule | None:
        """Return the rule that cuts numbers into bins."""
        return cut_rule(self.bins)

    def ridge_penalty(self, estimate: GenerativeEstimate) -> Ridge:
        """Return the ridge on the coefficients.

        Parameters
        ----------
        estimate : GenerativeEstimate
            Of the rows of a fit.
        """
        raise NotImplementedError

    def fit_loss(
        self,
        loss: SummedLoss,
        design: TableDesign,
        estimate: GenerativeEstimate,
        description: str,
        codes: NDArray[Any] | None = None,
    ) -> Floats:
        """Fit from a loss over blocks: minimise the penalised loss of all rows, and keep the solution.

        Parameters
        ----------
        loss : SummedLoss
            Of rows in memory or in blocks.
        design : TableDesign
            The terms; its rows are those in memory, if any.
        estimate : GenerativeEstimate
            Of all rows.
        description : str
            Of the fit, for whoever watches it.
        codes : ndarray of shape (n_rows, n_coded) or None
            Of the rows, for ``solver="sgd"``.

        Returns
        -------
        ndarray of shape (n_coefficients, n_columns)
            The coefficients.
        """
        with progress_of(self, "passes") as step:
            step.say(description)
            result = self._minimize(loss, design, estimate, codes, step)
        self._forget(STREAM_ATTRIBUTES)
        self.n_iter_, self.passes_, self.history_ = result.n_iter, result.passes, result.history
        self.objective_, self.gradient_norm_ = result.objective, result.optimality
        self._read(estimate, result.solution)
        return result.solution

    def _keep_posterior(self, rows: TrainingSet, design: TableDesign, ridge: Ridge, solution: Floats) -> None:
        """Keep how uncertain the scores are, where columns and pairs are fitted by likelihood."""
        if self.row_loss == "log-likelihood" and has_posterior(design):
            posterior = posterior_of_terms(design, ridge.strength, solution, rows.weights)
            self.scores_ = replace(self.scores_, posterior=posterior)

    _no_posterior: ClassVar[str] = NO_TERM_POSTERIOR

    def _minimize(
        self,
        loss: SummedLoss,
        design: TableDesign,
        estimate: GenerativeEstimate,
        codes: NDArray[Any] | None,
        step: Steps,
    ) -> SolverResult:
        ridge = self.ridge_penalty(estimate)
        objective = PenalisedLoss(loss, ridge)
        coordinates, first_step = self._search_coordinates(objective, design, estimate)
        start = np.zeros(loss.shape)
        if self.start == "generative":
            start = estimate.joined(centred=bool(ridge.strength.any()))
            start[design.fixed] = 0.0
        limits = {"tol": self.tol, "max_iter": self.max_iter, "report": step}
        if self.solver == "sgd" and isinstance(loss, EmpiricalLoss) and codes is not None:
            listed = design.coefficients
            refuse_beyond_memory(
                stream_parts(listed.terms, len(listed.cells), 0, listed.n_classes),
                "lower the order, merge rare categories or drop columns",
            )
            generator = check_random_state(self.random_state)
            result = minimize_by_epochs(
                loss,
                ridge,
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
        # The Gram matrix of a whitening takes one more pass.
        return result.after_passes(int(coordinates.whitening is not None))

    def _search_coordinates(
        self, objective: PenalisedLoss, design: TableDesign, estimate: GenerativeEstimate
    ) -> tuple[Coordinates, float | None]:
        """Return the coordinates in which the solver searches, and its first step in gradients."""
        first_order = self.solver not in ("newton", "sgd")
        return search_coordinates(self.scaling, objective, design, estimate, whiten=first_order)

    def _read(self, estimate: GenerativeEstimate, solution: Floats) -> None:
        """Keep a solution as additive scores."""
        cell_weight = estimate.cell_weight.sum(axis=1)
        self.scores_ = estimate.coefficients.to_scores(self._by_class(estimate, solution), cell_weight)

    def _by_class(self, estimate: GenerativeEstimate, solution: Floats) -> Floats:
        """Return a solution with one column per class."""
        del estimate
        return by_class(solution)

    def _forget(self, attributes: tuple[str, ...]) -> None:
        """Remove fitted attributes that no longer hold."""
        for name in attributes:
            self.__dict__.pop(name, None)

    def _ridges(self) -> Floats:
        """Return the ridge of each order, 1 to ``order``."""
        if isinstance(self.ridge, Real):
            return np.full(self.order, float(self.ridge))
        return np.asarray(self.ridge, dtype=np.float64)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_order(self.order)
        check_flag("hierarchical", self.hierarchical)
        check_choice("scaling", self.scaling, SCALINGS)
        check_choice("solver", self.solver, self.solvers)
        check_strengths(
            "ridge",
            self.ridge,
            self.order,
            f"a number of 0 or more, or one such number for each of the {self.order} orders",
        )
        check_search(self.tol, self.max_iter)

    @property
    def start_model(self) -> Any:
        """The earlier model, or None where ``start`` names where the search starts."""
        return None if isinstance(self.start, str) else super().start_model

    def _check_start(self) -> None:
        if self.start_model is None:
            check_choice("start", self.start, STARTS)
        else:
            super()._check_start()
