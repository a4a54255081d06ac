"""Which rows matter: those that the others find hard to believe, and those that move the model."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from seminaive.design.classes import by_class
from seminaive.encode import frame_like, training_columns
from seminaive.errors import InputError
from seminaive.models.ridge_problems import ridge_problem
from seminaive.objective.log_loss import posterior_of


def influence(model: Any, X: Any, y: Any, sample_weight: Any = None) -> Any:
    """Return for every training row what the model says about it with and without it, most suspicious first.

    One row at a time is taken out of the model by Newton steps, under the strengths that it has: no
    search is done again. Of `SemiNaive` it is the fit with the best strengths, of which its answer is an
    average with others.

    Parameters
    ----------
    model : fitted model
        `SemiNaive`, `HigherOrderLogisticRegression` or `AcceleratedLogisticRegression`.
    X : frame, array or list of rows
        The rows that it was fitted to.
    y : array-like of shape (n_rows,)
    sample_weight : array-like of shape (n_rows,), default=None
        As in ``fit``, all above 0.

    Returns
    -------
    frame
        ``row`` (its position), ``label``, ``probability`` (of this label, by the fit with the row),
        ``left_out`` (the same without the row: a small one is a label that the other rows find hard to
        believe), ``likelier`` (the class that they find likeliest), ``leverage`` (degrees of freedom that the
        fit spends on the row) and ``influence`` (Cook's distance, before it is divided by the number of
        coefficients).

    Examples
    --------
    One wet day of hundred is labelled as the dry ones are:

    >>> from seminaive import HigherOrderLogisticRegression
    >>> X = [["wet"]] * 100 + [["dry"]] * 100
    >>> y = ["rain"] * 99 + ["sun"] * 101
    >>> model = HigherOrderLogisticRegression(order=1).fit(X, y)
    >>> influence(model, X, y)[["row", "label", "likelier"]].head(1).to_numpy().tolist()
    [[99, 'sun', 'rain']]
    """
    check_is_fitted(model)
    if sample_weight is not None and (np.asarray(sample_weight) <= 0).any():
        raise InputError("a row of weight 0 has no influence: leave such rows out")
    problem = ridge_problem(model, training_columns(X, model.schema_.names), y, sample_weight)
    found = problem.leave_one_out()
    classes, labels = model.classes_, problem.labels
    every = np.arange(len(labels))
    with_row, without = (posterior_of(by_class(scores)) for scores in (found.scores, found.left_out))
    order = np.argsort(without[every, labels], kind="stable")
    columns = {
        "row": every,
        "label": classes[labels],
        "probability": with_row[every, labels],
        "left_out": without[every, labels],
        "likelier": classes[without.argmax(axis=1)],
        "leverage": found.leverage,
        "influence": found.influence,
    }
    return frame_like(None, {name: values[order] for name, values in columns.items()})
