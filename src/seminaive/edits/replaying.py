"""Do again what was done to a model."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from seminaive.edits.edit import edit
from seminaive.edits.refitting import refit_around
from seminaive.errors import InputError
from seminaive.scores import Edit, Refit

if TYPE_CHECKING:
    from collections.abc import Sequence


def replay(first: Any, edited: Any, rows: Sequence[tuple[Any, ...]] = ()) -> Any:
    """Return a model with the history of another one done to it again, line by line.

    Dates, names, reasons and losses are those of the history: the same first model, and the same rows, give
    the same model again.

    Parameters
    ----------
    first : a fitted additive model
        From which the edited model was made, directly or in several steps.
    edited : an edited model
    rows : sequence of (X, y) or (X, y, sample_weight)
        The rows of each fit in the history, in order.

    Examples
    --------
    >>> import numpy as np
    >>> from seminaive import NaiveBayes
    >>> from seminaive.edits import Clip, edit
    >>> model = NaiveBayes().fit([[1.0], [2.0], [8.0], [9.0]], [0, 0, 1, 1])
    >>> edited = edit(model, "x0", Clip(-2, 2), why="four rows are not enough to be so sure")
    >>> again = replay(model, edited)
    >>> bool((again.scores_.curves.values == edited.scores_.curves.values).all())
    True
    """
    done = getattr(first, "edits_", ())
    every = getattr(edited, "edits_", ())
    if every[: len(done)] != done:
        raise InputError("the history of the edited model does not begin with that of the first one")
    left = list(rows)
    model = first
    for record in every[len(done) :]:
        noted = {"who": record.who, "why": record.why, "date": record.date}
        if isinstance(record, Edit):
            model = edit(model, record.column, record.change, target=record.target, **noted)
        elif isinstance(record, Refit):
            if not left:
                raise InputError("the history has more fits than rows were given for: pass (X, y) for each")
            model = refit_around(model, *left.pop(0), ridge=record.ridge, order=record.order, **noted)
        model.edits_ = (
            *model.edits_[:-1],
            replace(model.edits_[-1], loss_before=record.loss_before, loss_after=record.loss_after),
        )
    if left:
        raise InputError(f"rows of {len(left)} fits are left over: the history has no more")
    return model
