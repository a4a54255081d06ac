"""What every picture and frame asks a fitted model first: its effects, a class, and readable labels."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from seminaive.encode import CategoricalColumn, NumericColumn
from seminaive.errors import InputError
from seminaive.scores import AdditiveScores, Effects

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from seminaive.encode import Schema
    from seminaive.scores import FeatureEffect

    Floats = NDArray[np.float64]

UNSEEN = "unseen"
MISSING = "missing"


def scores_of(model: Any) -> AdditiveScores:
    """Return the additive scores of a fitted model; refuse a model that is not additive."""
    check_is_fitted(model)
    scores = getattr(model, "scores_", None)
    if not isinstance(scores, AdditiveScores):
        raise InputError(
            f"a {type(model).__name__} is not additive: its score is no sum of one contribution per feature "
            "or pair, so there is nothing to list, draw or export. Fit an additive model of this package"
        )
    return scores


def check_summary_kept(model: Any) -> None:
    """Refuse a model that is not additive, or that did not keep the summary of its training table."""
    scores_of(model)
    if not hasattr(model, "summary_"):
        raise InputError(
            "effects are read with the summary of the training table, which this model did not keep: fit it "
            "with keep_summary=True"
        )


def effects_of(model: Any) -> Effects:
    """Return what each feature and each tuple of a fitted model says."""
    check_summary_kept(model)
    return Effects.of(model.scores_, model.schema_, model.summary_)


def class_position(model: Any, target: Any) -> int:
    """Return the position of a class among the model's classes; None is the last one."""
    classes: list[Any] = model.classes_.tolist()
    if target is None:
        return len(classes) - 1
    if target not in classes:
        raise InputError(f"there is no class {target!r}: the model has {classes}")
    return classes.index(target)


def evidence(values: Floats, target: int) -> Floats:
    """Return what values per class, on the last axis, say for one class.

    With two classes the log odds of the class; with more, its score less the mean over the classes.
    """
    own: Floats = values[..., target] - (values[..., 1 - target] if values.shape[-1] == 2 else 0.0)
    return own


def as_outputs(values: Floats) -> Floats:
    """Return values per class, on the last axis, or the log odds of the second of two classes alone."""
    own: Floats = values[..., 1:] - values[..., :1] if values.shape[-1] == 2 else values
    return own


def evidence_name(model: Any, target: int) -> str:
    """Return what `evidence` is called on an axis."""
    label = model.classes_[target]
    return f"log odds of {label}" if len(model.classes_) == 2 else f"score of {label}"


def feature_named(effects: Effects, name: str) -> FeatureEffect:
    """Return the effect of a column by its name."""
    for effect in effects.features:
        if effect.name == name:
            return effect
    raise InputError(
        f"the model says nothing about {name!r}: it looks at {[own.name for own in effects.features]}"
    )


def short_numbers(numbers: Sequence[float], digits: int = 6) -> list[str]:
    """Return numbers as text, with six digits, more where these would not tell them apart."""
    for enough in range(digits, 18):
        shown = [f"{number:.{enough}g}" for number in numbers]
        if len(set(shown)) == len(set(numbers)):
            break
    return [_plain(text) for text in shown] if len(numbers) else []


def _plain(text: str) -> str:
    """Write 1.2e+04 as 12000 where that is not long."""
    number = float(text)
    return f"{number:.0f}" if "e" in text and 1 <= abs(number) < 1e7 and number == round(number) else text


def interval_labels(edges: Sequence[float]) -> list[str]:
    """Return a label for each interval between edges, which belong to the interval below them."""
    shown = short_numbers(edges)
    if not shown:
        return ["any number"]
    between = [f"{low} to {high}" for low, high in pairwise(shown)]
    return [f"≤ {shown[0]}", *between, f"> {shown[-1]}"]


def code_labels(schema: Schema, position: int) -> list[str]:
    """Return a label for each code of a coded column, that of no evidence last.

    A bin is called by its interval; where tables are read between nodes, by the node at which it holds.
    """
    column = schema.columns[position]
    if isinstance(column, NumericColumn):
        labels = short_numbers(column.nodes) if column.nodes else interval_labels(column.cuts or ())
    else:
        labels = [str(own) for own in column.categories] if isinstance(column, CategoricalColumn) else []
    counts_as_value = schema.n_values(column) > column.n_present
    # A category that is called like the mark of a missing cell keeps its name; the mark gets brackets.
    missing, unseen = (f"({own})" if own in labels else own for own in (MISSING, UNSEEN))
    if isinstance(column, NumericColumn):  # every number has a bin
        return [*labels, missing, unseen] if counts_as_value else [*labels, missing]
    return [*labels, missing, unseen] if counts_as_value else [*labels, f"{missing} or {unseen}"]


def clipped(text: str, longest: int = 24) -> str:
    """Return text that is not longer than it may be; what would start a formula in matplotlib is escaped."""
    short = text if len(text) <= longest else f"{text[: longest - 1]}…"
    return short.replace("$", r"\$")
