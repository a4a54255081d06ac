"""A training table as a problem for the smooth solvers: terms, generative estimates, penalties, scalings."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import comb, prod

import numpy as np

from seminaive.design.fusion import FusedTerms, plan_groups
from seminaive.design.gram import PairProducts
from seminaive.errors import InputError, TooLargeError
from seminaive.memory import refuse_beyond_memory
from seminaive.objective.conditional_likelihood import ConditionalLoss
from seminaive.objective.penalised_objective import PenalisedObjective
from seminaive.objective.whitening import Whitening
from seminaive.scores import AdditiveScores, NumericTerms, fill_unknown
from seminaive.solvers.blas import one_blas_thread
from seminaive.solvers.conjugate_gradient import minimize_conjugate_gradient
from seminaive.solvers.lbfgs import minimize_lbfgs
from seminaive.solvers.newton import minimize_newton
from seminaive.statistics import ObservedTerms, Terms, log_shares

# Beyond this the list of terms itself is the problem.
MOST_TERMS = 1_000_000
# The Hessian of so many coefficients takes 288 MB.
MOST_NEWTON_COEFFICIENTS = 6000
# The pair counts of so many coefficients are factored in about 15 ms.
MOST_WHITENED = 800
# Steps that L-BFGS remembers; 10 to 30 are customary.
LBFGS_MEMORY = 20
# Beyond this, tables keep only the combinations that occur.
MOST_DENSE_BYTES = 64_000_000
# Cells are numbered by 64-bit integers.
MOST_COMBINATIONS = 2**62
SCALINGS = ("none", "generative", "curvature")


@dataclass(frozen=True)
class HigherOrderProblem:
    """What LR^n and ALR^n solve: coefficients of an intercept, of observed cells and of numbers.

    Arrays over coefficients have one row for the intercept, one per observed cell, one per number, and one
    column per class; `columns` turns them into the solver's, a single one for two classes.
    """

    terms: Terms
    loss: ConditionalLoss
    centres: np.ndarray
    spreads: np.ndarray
    log_estimates: np.ndarray
    cell_weight: np.ndarray
    orders: np.ndarray
    fixed: np.ndarray
    share: np.ndarray
    whitening: Whitening | None = None

    @classmethod
    def of(cls, rows, *, order, hierarchical, objective, n_threads):
        """Count, fuse and estimate the training rows; refuse what memory cannot hold."""
        terms = terms_of_order(rows.table.cardinalities, order, hierarchical=hierarchical)
        weights = np.ones(len(rows.labels)) if rows.row_weight is None else rows.row_weight
        groups = plan_groups(rows.table.codes, terms)
        _refuse_too_large(terms, groups, len(weights), rows.n_classes)
        fused = FusedTerms.of_groups(rows.table.codes, terms, groups)
        numbers, centres, spreads = standardised(rows.table.numbers, weights, wanted=hierarchical)
        loss = ConditionalLoss(
            fused, numbers, rows.labels, weights, rows.n_classes, objective=objective, n_threads=n_threads
        )
        return cls._estimated(terms, loss, centres, spreads)

    @classmethod
    def _estimated(cls, terms, loss, centres, spreads):
        observed = loss.fused.observed
        term_of = np.searchsorted(terms.offsets, observed, side="right") - 1
        n_numbers = len(centres)
        term_orders = np.array([len(term) for term in terms.features], dtype=np.int64)
        orders = np.concatenate([[0], term_orders[term_of], np.ones(n_numbers, np.int64)])
        no_evidence = ~terms.are_known(observed)
        fixed = np.concatenate([[False], no_evidence, np.zeros(n_numbers, bool)])
        log_estimates, cell_weight = _log_estimates(terms, loss, term_of, no_evidence)
        return cls(
            terms,
            loss,
            centres,
            spreads,
            log_estimates,
            cell_weight,
            orders,
            fixed,
            share=generative_shares(orders, terms),
        )

    def reweighted(self, row_weight) -> HigherOrderProblem:
        """Return the same problem with other row weights, and its estimates made anew."""
        return self._estimated(self.terms, self.loss.reweighted(row_weight), self.centres, self.spreads)

    def whitened(self, strength) -> HigherOrderProblem:
        """Return a problem of order 1 in coordinates of unit curvature where all scores are 0.

        There the loss curves like the pair counts of cells. They cost about a pass, and make the first step
        one of Newton's. Classes must be penalised alike. Higher orders stay as they are.
        """
        rows = self.first_order
        own = strength[rows]
        if (self.orders > 1).any() or len(rows) > MOST_WHITENED or (own != own[:, :1]).any():
            return self
        curvature = self._variance_at_zero * self._products(self.loss.row_weight) + np.diag(own[:, 0])
        return replace(self, whitening=Whitening.of(rows, curvature))

    @property
    def first_order(self):
        """Return the coefficients of the intercept, of single cells and of numbers."""
        return np.flatnonzero((self.orders <= 1) & ~self.fixed)

    def _products(self, row_weight):
        """Return the weighted products of pairs of first-order columns of the design."""
        singles = {term for term, columns in enumerate(self.terms.features) if len(columns) == 1}
        products = PairProducts(self.loss.fused, self.loss.numbers, singles)
        moving = np.isin(products.rows, self.first_order)
        return products(row_weight)[np.ix_(moving, moving)]

    # Arrays of the solver's shape

    def columns(self, by_class):
        """Return the difference of the two classes as one column; more classes as they are."""
        return by_class[:, 1:] - by_class[:, :1] if self.loss.n_columns == 1 else by_class

    def by_class(self, columns):
        """Return one column per class: the log-odds of two classes are halved between them."""
        return np.hstack([-columns / 2, columns / 2]) if self.loss.n_columns == 1 else columns

    def generative(self, *, centred):
        """Return AnJE's coefficients, in the solver's columns; centred so that classes sum to 0."""
        by_class = self.log_estimates * self.share[:, None]
        # What has no row (the rows of a held-out fold alone have it) has no estimate.
        by_class[1 : len(self.cell_weight)][self.cell_weight[1:].sum(axis=1) == 0] = 0.0
        if centred:
            by_class = by_class - by_class.mean(axis=1, keepdims=True)
        return self.columns(by_class)

    def lengths(self):
        """Return the length of log theta in the solver's columns: that of both classes for one column."""
        if self.loss.n_columns == 1:
            return np.sqrt((self.log_estimates**2).sum(axis=1, keepdims=True))
        return np.abs(self.log_estimates)

    def ridge_strengths(self, ridge, number_ridge=None):
        """Return one strength per coefficient: that of its order, or of numbers; none for the intercept."""
        strength = np.concatenate([[0.0], ridge])[self.orders]
        if number_ridge is not None:
            strength[len(strength) - self.loss.numbers.shape[1] :] = number_ridge
        return np.repeat(strength[:, None], self.loss.n_columns, axis=1)

    def scale(self, scaling, strength):
        """Return the scaling of the search space: see `HigherOrderLogisticRegression`."""
        if scaling == "none":
            scale = np.ones(self.loss.shape)
        elif scaling == "generative":
            scale = self.lengths()
            scale[1 + self.loss.fused.n_parameters :] = 1.0
        else:
            # A class or a cell without rows has no curvature: it may move by a thousand times a row's.
            scale = 1.0 / np.sqrt(np.maximum(self._curvature() + strength, 1e-6))
            if self.whitening is not None:
                scale[self.whitening.rows] = 1.0
        scale[self.fixed] = 0.0
        return scale

    def _curvature(self):
        """Return the curvature of the loss along each coefficient where all scores are 0."""
        squares = self.loss.row_weight @ self.loss.numbers**2
        weight = np.concatenate([self.cell_weight.sum(axis=1), squares])
        return np.repeat(self._variance_at_zero * weight[:, None], self.loss.n_columns, axis=1)

    @property
    def _variance_at_zero(self):
        """Return the variance of the indicator of a class where all classes are as likely."""
        return (1 - 1 / self.loss.n_classes) / self.loss.n_classes

    def first_step(self, scaling):
        """Return a step along the gradient that surely descends from zero; None where that is not known.

        Scaled by its diagonal, the curvature of a sum of T terms and an intercept is at most T + 1 along any
        direction; whitened it is 1.
        """
        if scaling != "curvature":
            return None
        if self.whitening is not None:
            return 1.0
        return 1.0 / (1 + len(self.terms.features) + len(self.centres))

    # Solving

    def solve(
        self, solver, strength, target, scale, start, *, tol, max_iter, reference=None, first_step=None
    ):
        """Return the solver's result, whose solution are coefficients of the solver's shape.

        ``first_step`` is the length, in gradients, of the first step that is tried; by default it is of
        length 1.
        """
        objective = PenalisedObjective(self.loss, strength, target, scale, self.whitening)
        z = objective.search_vector(start)
        options = {"tol": tol, "max_iter": max_iter, "reference": reference}
        with one_blas_thread():
            if solver == "newton":
                self._refuse_large_newton()
                result = minimize_newton(objective, objective.hessian, z, **options)
            elif solver == "cg":
                result = minimize_conjugate_gradient(objective, z, first_step=first_step, **options)
            else:
                result = minimize_lbfgs(objective, z, memory=LBFGS_MEMORY, first_step=first_step, **options)
        return replace(result, solution=objective.coefficients(result.solution))

    def _refuse_large_newton(self):
        n = int(np.prod(self.loss.shape))
        if self.loss.objective != "log-likelihood":
            raise InputError("solver='newton' needs objective='log-likelihood': take solver='lbfgs'")
        if n > MOST_NEWTON_COEFFICIENTS:
            raise InputError(
                f"solver='newton' factors a matrix over all coefficients, here {n}, and takes at most "
                f"{MOST_NEWTON_COEFFICIENTS}: take solver='lbfgs', or a lower order"
            )

    # Reading

    def scores(self, by_class) -> AdditiveScores:
        """Return coefficients, one column per class, as additive scores."""
        n_classes, m = by_class.shape[1], self.loss.fused.n_parameters
        terms, places = self.layout
        tables = np.zeros((terms.n_cells, n_classes))
        tables[places] = by_class[1 : 1 + m]
        weight = np.zeros(terms.n_cells)
        weight[places] = self.cell_weight[1:].sum(axis=1)
        fill_unknown(terms, tables, weight)
        coefficients = np.zeros((len(self.centres), 4, n_classes))
        coefficients[:, 2] = by_class[1 + m :] / self.spreads[:, None]
        numeric = NumericTerms(tuple(range(len(self.centres))), self.centres, coefficients)
        return AdditiveScores(by_class[0].copy(), terms, tables, numeric)

    @cached_property
    def layout(self):
        """Return the terms as they are stored, and the cell of each observed one: dense up to a size."""
        observed = self.loss.fused.observed
        if 8 * self.terms.n_cells * self.loss.n_classes <= MOST_DENSE_BYTES:
            return self.terms, observed
        terms = ObservedTerms.of_combinations(self.terms.features, self.terms.cardinalities, observed)
        return terms, terms.places(observed)


def terms_of_order(cardinalities, order, *, hierarchical) -> Terms:
    """Return the terms of an order, or of all orders up to it; refuse a list that is far too long.

    No order exceeds the number of columns: beyond it, all columns together are one term.
    """
    n_columns = len(cardinalities)
    order = min(order, n_columns)
    orders = range(1, order + 1) if hierarchical else (order,)
    n_terms = sum(comb(n_columns, size) for size in orders)
    if n_terms > MOST_TERMS:
        raise InputError(
            f"{n_columns} columns have {n_terms:,} terms of order {order}, above {MOST_TERMS:,}: lower the "
            "order, or drop columns"
        )
    largest = prod(k + 1 for k in sorted(cardinalities)[-order:])
    if n_terms * largest > MOST_COMBINATIONS:
        raise TooLargeError(
            f"a term of order {order} has up to {largest:,} combinations, too many to number: lower the "
            "order, or merge rare categories"
        )
    build = Terms.up_to_order if hierarchical else Terms.of_order
    return build(cardinalities, order)


def _log_estimates(terms, loss, term_of, no_evidence):
    """Return log pi and log theta by class, and the weights they come from; 0 for numbers.

    ``theta = (weight + 1/combinations) / (class weight + 1)``, ``pi = (class weight + 1/C) / (total + 1)``.
    """
    cells = loss.class_weights_of_cells()
    class_weight = np.bincount(loss.labels, loss.row_weight, minlength=loss.n_classes)
    log_prior = log_shares(class_weight, class_weight.sum(), loss.n_classes, 1 / loss.n_classes)
    n_combinations = np.maximum(terms.n_combinations, 1)[term_of][:, None]
    without = np.zeros((len(terms.features), loss.n_classes))
    np.add.at(without, term_of[no_evidence], cells[no_evidence])
    log_theta = log_shares(cells, class_weight - without[term_of], n_combinations, 1 / n_combinations)
    log_theta[no_evidence] = 0.0
    numbers = np.zeros((loss.numbers.shape[1], loss.n_classes))
    return np.concatenate([log_prior[None], log_theta, numbers]), np.concatenate([class_weight[None], cells])


def generative_shares(orders, terms):
    """Return AnJE's weight of each coefficient: 1 / binomial(a - 1, n - 1), shared among the orders."""
    n_columns = len(terms.cardinalities)
    present = sorted({len(term) for term in terms.features})
    share = np.ones(len(orders))
    for order in present:
        share[orders == order] = 1 / (comb(n_columns - 1, order - 1) * len(present))
    share[0] = 1.0
    return share


def standardised(numbers, weights, *, wanted):
    """Return the numbers with mean 0 and variance 1, missing ones 0, and their centres and spreads."""
    if not wanted or not numbers.shape[1]:
        return np.empty((len(weights), 0)), np.empty(0), np.empty(0)
    present = ~np.isnan(numbers)
    filled = np.where(present, numbers, 0.0)
    total = weights @ present
    centres = weights @ filled / total
    deviations = np.where(present, numbers - centres, 0.0)
    spreads = np.sqrt(weights @ deviations**2 / total)
    spreads[spreads == 0] = 1.0
    return deviations / spreads, centres, spreads


def _refuse_too_large(terms, groups, n_rows, n_classes):
    """Add up what a fit allocates: tables, fused cells of the rows, scores, and the solver's vectors."""
    most_observed = min(terms.n_cells, n_rows * len(terms.features))
    parts = {
        f"at most {most_observed:,} observed cells by {n_classes} classes in the tables": 8
        * most_observed
        * n_classes,
        f"{len(groups)} fused groups by {n_rows:,} rows": 4 * len(groups) * n_rows,
        f"scores of {n_rows:,} rows": 8 * n_rows * (n_classes + 3),
        f"{2 * LBFGS_MEMORY + 8} vectors of at most {most_observed:,} cells by classes": 8
        * (2 * LBFGS_MEMORY + 8)
        * most_observed
        * (1 if n_classes == 2 else n_classes),
    }
    refuse_beyond_memory(parts, "lower the order, merge rare categories or drop columns")
