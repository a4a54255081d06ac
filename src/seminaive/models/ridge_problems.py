"""Fitted models as penalised log losses of their training rows, for what depends on single rows."""

from __future__ import annotations

from dataclasses import replace
from functools import singledispatch
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.design.smooth_columns import SmoothColumns
from seminaive.encode.nodes import table_with_nodes
from seminaive.errors import InputError, TooLargeError, UnavailableError
from seminaive.models.higher_order_base import HigherOrderClassifier
from seminaive.models.semi_naive import SemiNaive
from seminaive.models.term_layout import lay_out_terms
from seminaive.models.training_set import encode_rows
from seminaive.selection.row_space_solver import RowSpaceSolver
from seminaive.selection.split_rows import SplitRows
from seminaive.solvers.leave_one_out import RidgeProblem
from seminaive.solvers.quasi_newton import MOST_VECTORS

if TYPE_CHECKING:
    from seminaive.models.training_set import TrainingSet

# A Hessian of this many coefficients takes 200 MB, and its factor some seconds; a kernel as many rows.
MOST_COEFFICIENTS = 5000


@singledispatch
def ridge_problem(model: Any, X: Any, y: Any, sample_weight: Any = None) -> RidgeProblem:
    """Return the penalised loss that a fitted model is the minimum of, given its training rows.

    Of `SemiNaive` it is that of the best trial, of which the answer is an average with others.

    Parameters
    ----------
    model : fitted model
    X, y, sample_weight
        The rows that it was fitted to.
    """
    del X, y, sample_weight
    raise UnavailableError(
        f"{type(model).__name__} is not the minimum of a smooth penalised loss: SemiNaive, "
        "HigherOrderLogisticRegression and AcceleratedLogisticRegression are"
    )


@ridge_problem.register
def _(model: SemiNaive, X: Any, y: Any, sample_weight: Any = None) -> RidgeProblem:
    _refuse_given(model)
    rows = encode_rows(model, X, y, sample_weight, cut_rule=model.binning_rule())[1]
    rows = replace(rows, table=table_with_nodes(rows.table, rows.weights))
    _check_rows(model, rows)
    _refuse_many(len(rows.labels) * (1 if rows.n_classes == 2 else rows.n_classes))
    columns = SmoothColumns.of(rows.table, rows.weights)
    terms = tuple(model.relevances_["term"])
    wanted = set(terms)
    schema = rows.table.schema
    every = columns.crossed(columns.all_pairs, rows.n_classes)
    pairs = [pair for pair in columns.all_pairs if _pair_name(every, schema, pair) in wanted]
    mains = {j for j in columns.mains if columns.among({j}).names(schema)[-1] in wanted}
    columns = columns.among(mains).crossed(pairs, rows.n_classes)
    if tuple(columns.names(schema)) != terms:
        raise InputError(
            "the terms of these rows are not those of the model: pass the rows that it was fitted to"
        )
    solver = RowSpaceSolver(columns, SplitRows(rows.table, rows.labels, rows.weights, rows.n_classes))
    strengths = [model.strengths_[name] for name in ("slopes", "mains", "pairs")]
    kernel = solver.prepare(np.asarray(model.relevances_["relevance"])[None])[-1].kernel(strengths)
    return RidgeProblem.of_kernel(kernel, rows.labels, rows.weights, rows.n_classes)


def _pair_name(columns: SmoothColumns, schema: Any, pair: tuple[int, int]) -> str:
    return replace(columns, slopes=(), mains=(), pairs=(pair,)).names(schema)[0]


@ridge_problem.register
def _(model: HigherOrderClassifier, X: Any, y: Any, sample_weight: Any = None) -> RidgeProblem:
    _refuse_given(model)
    if model.row_loss != "log-likelihood":
        raise UnavailableError(
            f"rows are left out of a log loss, which {type(model).__name__} does not minimise"
        )
    rows = encode_rows(model, X, y, sample_weight, cut_rule=model.binning_rule())[1]
    _check_rows(model, rows)
    design = lay_out_terms(model, rows.table, rows, n_vectors=MOST_VECTORS)
    estimate = design.generative_estimate(rows.labels, rows.weights)
    ridge = model.ridge_penalty(estimate)
    n_columns = 1 if rows.n_classes == 2 else rows.n_classes
    _refuse_many(min(design.n_coefficients, len(rows.labels)) * n_columns)
    features = design.scores(np.eye(design.n_coefficients))
    strength = np.broadcast_to(ridge.strength, (design.n_coefficients, n_columns))
    target = np.broadcast_to(ridge.target, strength.shape)
    offset = features @ target if np.any(target) else None
    problem = RidgeProblem(features, strength, rows.labels, rows.weights, rows.n_classes, offset)
    return problem.reduced()


def _refuse_given(model: Any) -> None:
    if getattr(model, "start", None) is not None and not isinstance(model.start, str):
        raise UnavailableError("a model that started from an earlier one is no minimum of its rows alone")
    if getattr(model, "shapes", None) or getattr(model, "smoothness", None):
        raise UnavailableError(
            "a fit with shapes or smoothness given beforehand has no plain ridge: fit without them"
        )


def _check_rows(model: Any, rows: TrainingSet) -> None:
    """Refuse rows that are not those of training, as far as the model's summary of them tells."""
    summary = getattr(model, "summary_", None)
    if summary is None:
        return
    weight = np.bincount(rows.labels, rows.weights, minlength=rows.n_classes)
    if weight.shape != summary.class_weight.shape or not np.allclose(weight, summary.class_weight):
        raise InputError(
            f"the model was fitted to rows with the class weights {summary.class_weight.tolist()}, these "
            f"have {weight.tolist()}: pass the rows that it was fitted to"
        )


def _refuse_many(n_coefficients: int) -> None:
    if n_coefficients > MOST_COEFFICIENTS:
        raise TooLargeError(
            f"a Hessian of {n_coefficients:,} coefficients is too large, at most {MOST_COEFFICIENTS:,} are "
            "factored: fit and judge a sample of the rows"
        )
