"""Fit all effects of an edited model again, around those that were edited."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.design.classes import by_class, log_odds
from seminaive.design.table_design import TableDesign
from seminaive.edits.edit import check_reason, with_record
from seminaive.encode import EncodedTable, Schema, encode_weights
from seminaive.errors import InputError
from seminaive.explain.reading import scores_of
from seminaive.objective.empirical_loss import EmpiricalLoss
from seminaive.objective.penalised_loss import PenalisedLoss
from seminaive.objective.ridge import Ridge
from seminaive.scores import Edit, Refit
from seminaive.solvers.quasi_newton import minimize
from seminaive.solvers.result import TOL
from seminaive.solvers.search_coordinates import search_coordinates
from seminaive.statistics import Terms

if TYPE_CHECKING:
    from seminaive.arrays import Floats, Integers
    from seminaive.models import EditedModel
    from seminaive.scores import AdditiveScores

# Vectors of coefficients that the solver keeps at once.
SOLVER_VECTORS = 24


def refit_around(
    model: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    why: str,
    who: str = "",
    date: str | None = None,
    ridge: float = 1.0,
    order: int | None = None,
    tol: float = TOL,
    max_iter: int = 1000,
) -> EditedModel:
    """Fit the effects of all columns that were not edited again, around those that were.

    Every level of the other columns, every bin, a slope of every number and, where the model has pairs, every
    pair of levels gets a correction of its effect; the edited effects are an offset. Corrections maximise the
    likelihood of the rows, held back toward 0 by a ridge: with a ridge of 0 the other effects are those of
    logistic regression around the edited ones, and with a large one only the intercept moves.

    Parameters
    ----------
    model : an edited model
        What `seminaive.edits.edit` returned.
    X, y : table and labels
        With the training columns, and with classes that the model has.
    sample_weight : array-like of shape (n_rows,), default=None
        How often each row counts.
    why, who, date
        As of `seminaive.edits.edit`.
    ridge : float, default=1.0
        The strength of the penalty of each correction, in rows, that of the intercept being 0.
    order : int, default=None
        How many columns a correction looks at, at most: 1, or 2; None is 2 where the model has effects of
        several columns.
    tol : float, default=1e-3
        Where the fit stops: its square is the share of the penalised loss by which it may exceed its minimum.

    Returns
    -------
    EditedModel

    Examples
    --------
    Two copies of a column share what one of them says; what is taken from the first goes to the second:

    >>> from seminaive import HigherOrderLogisticRegression
    >>> from seminaive.edits import Flatten, edit
    >>> X, y = [["wet", "wet"], ["dry", "dry"]] * 40, [1, 0] * 40
    >>> model = HigherOrderLogisticRegression(order=1).fit(X, y)
    >>> without = edit(model, "x0", Flatten(), why="it is measured twice")
    >>> again = refit_around(without, X, y, why="x1 says the same")
    >>> [float(m.decision_function([["wet", "wet"]])[0].round(1)) for m in (model, without, again)]
    [3.2, 1.6, 3.2]
    """
    scores = scores_of(model)
    check_reason(who, why)
    if not isinstance(ridge, int | float) or isinstance(ridge, bool) or not 0 <= ridge < np.inf:
        raise InputError(f"ridge is a number of 0 or more, got {ridge!r}")
    if order not in (None, 1, 2):
        raise InputError(f"order is 1, 2 or None, got {order!r}")
    held = tuple(
        dict.fromkeys(record.column for record in getattr(model, "edits_", ()) if isinstance(record, Edit))
    )
    if not held:
        raise InputError("the model has no edits to hold: edit it with seminaive.edits.edit, or fit a model")
    has_tuples = any(len(term) > 1 for term in scores.terms.features)
    order = (2 if has_tuples else 1) if order is None else int(order)
    table = model.encode(X)
    labels, weights = _labels(model, y, len(table)), encode_weights(sample_weight, len(table))
    weights = np.ones(len(table)) if weights is None else weights
    correction = _correction(scores, _Others.of(table, held), labels, weights, order, ridge, tol, max_iter)
    record = Refit(
        who=who,
        why=why,
        date=datetime.now(UTC).date().isoformat() if date is None else str(date),
        held=held,
        order=order,
        ridge=float(ridge),
        n_rows=len(table),
    )
    corrected = scores + correction
    if scores.attenuation is not None:
        class_weight = np.bincount(labels, weights, minlength=scores.n_classes)
        corrected = corrected.attenuate(table, weights, np.maximum(class_weight, class_weight == 0))
    return with_record(model, corrected, record, X, y)


def _labels(model: Any, y: Any, n_rows: int) -> Integers:
    """Return each row's class as a position among the model's classes."""
    position = {label: k for k, label in enumerate(model.classes_.tolist())}
    given = np.asarray(y).tolist()
    if len(given) != n_rows:
        raise InputError(f"X has {n_rows} rows and y has {len(given)} labels: pass one label per row")
    foreign = [label for label in given if label not in position]
    if foreign:
        raise InputError(f"there is no class {foreign[0]!r}: the model has {list(position)}")
    return np.array([position[label] for label in given], dtype=np.int64)


@dataclass(frozen=True)
class _Others:
    """The columns that are not held, as a table.

    Parameters
    ----------
    whole : EncodedTable
        With the columns that are held.
    coded, numeric : list of int
        Where the coded and the numeric columns of ``table`` are among those of the whole.
    """

    table: EncodedTable
    whole: EncodedTable
    coded: list[int]
    numeric: list[int]

    @classmethod
    def of(cls, whole: EncodedTable, held: tuple[str, ...]) -> _Others:
        """Leave columns out."""
        schema = whole.schema
        names = schema.names
        coded = [j for j, position in enumerate(schema.coded) if names[position] not in held]
        numeric = [j for j, position in enumerate(schema.numeric) if names[position] not in held]
        if not coded and not numeric:
            raise InputError(
                f"every column was edited ({', '.join(held)}): there is nothing to fit around them"
            )
        kept = Schema(tuple(column for column in schema.columns if column.name not in held), schema.missing)
        codes = np.ascontiguousarray(whole.codes[:, coded]).astype(kept.code_type)
        return cls(EncodedTable(codes, whole.numbers[:, numeric], kept), whole, coded, numeric)

    def spread(self, scores: AdditiveScores) -> AdditiveScores:
        """Return scores over these columns as scores over all columns."""
        features = tuple(tuple(self.coded[j] for j in term) for term in scores.terms.features)
        terms = Terms(features, self.whole.cardinalities)
        numbers = tuple(self.numeric[j] for j in scores.numeric.features)
        numeric = replace(scores.numeric, features=numbers)
        return type(scores)(scores.prior, terms, scores.tables, numeric)


def _correction(
    scores: AdditiveScores,
    others: _Others,
    labels: Integers,
    weights: Floats,
    order: int,
    ridge: float,
    tol: float,
    max_iter: int,
) -> AdditiveScores:
    """Return the corrections of all effects that are not held, as scores."""
    n_classes = scores.n_classes
    order = min(order, max(1, len(others.table.cardinalities)))
    design = TableDesign.of(
        others.table, weights, n_classes, order=order, hierarchical=True, n_vectors=SOLVER_VECTORS
    )
    estimate = design.generative_estimate(labels, weights)
    offset = log_odds(scores.sums(others.whole))
    loss = EmpiricalLoss(design, labels, weights, n_classes, offset=offset)
    strength = design.coefficients.strengths(np.full(order, float(ridge)))
    objective = PenalisedLoss(loss, Ridge(strength))
    coordinates, first_step = search_coordinates("curvature", objective, design, estimate, whiten=True)
    result = minimize(
        objective, coordinates, np.zeros(loss.shape), tol=tol, max_iter=max_iter, first_step=first_step
    )
    result.warn_unless_converged(tol, "raise max_iter, raise the ridge, or raise tol")
    fitted = design.coefficients.to_scores(by_class(result.solution), estimate.cell_weight.sum(axis=1))
    if type(fitted.terms) is not Terms or type(scores.terms) is not Terms:
        raise InputError("there are too many combinations of values to correct one by one: pass order=1")
    return others.spread(fitted)
