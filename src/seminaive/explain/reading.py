"""What every picture and frame asks a fitted model first: its effects, a class, and readable labels."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from seminaive.encode import CategoricalColumn, DateFormat, NumericColumn
from seminaive.errors import InputError
from seminaive.scores import AdditiveScores, Effects

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seminaive.arrays import Floats
    from seminaive.encode import Schema
    from seminaive.encode.column_types import Column
    from seminaive.scores import FeatureEffect

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
    of_class: Floats = values[..., target] - (values[..., 1 - target] if values.shape[-1] == 2 else 0.0)
    return of_class


def as_outputs(values: Floats) -> Floats:
    """Return values per class, on the last axis, or the log odds of the second of two classes alone."""
    outputs: Floats = values[..., 1:] - values[..., :1] if values.shape[-1] == 2 else values
    return outputs


def evidence_name(model: Any, target: int) -> str:
    """Return what `evidence` is called on an axis."""
    label = label_text(model.classes_[target])
    named = f"{model.target_name_} = {label}" if hasattr(model, "target_name_") else label
    return f"log odds of {named}" if len(model.classes_) == 2 else f"score of {named}"


def feature_named(effects: Effects, name: str) -> FeatureEffect:
    """Return the effect of a column by its name."""
    for effect in effects.features:
        if effect.name == name:
            return effect
    raise InputError(
        f"the model says nothing about {name!r}: it looks at {[effect.name for effect in effects.features]}"
    )


def holds_whole_numbers(effect: FeatureEffect) -> bool:
    """Tell whether the numbers of a feature are whole, as far as training has them."""
    seen = effect.seen[:-1]
    return bool(effect.curve is not None and len(seen) and (seen == np.round(seen)).all())


def short_numbers(numbers: Sequence[float], digits: int = 6, column: Column | None = None) -> list[str]:
    """Return numbers as text, with six digits, more where these would not tell them apart.

    Those of a column of dates are dates.
    """
    dates = getattr(column, "written", None)
    if isinstance(dates, DateFormat):
        return dates.texts(numbers)
    for enough in range(digits, 18):
        shown = [f"{number:.{enough}g}" for number in numbers]
        if len(set(shown)) == len(set(numbers)):
            break
    return [_plain(text) for text in shown] if len(numbers) else []


def _plain(text: str) -> str:
    """Write 1.2e+04 as 12000 where that is not long."""
    number = float(text)
    return f"{number:.0f}" if "e" in text and 1 <= abs(number) < 1e7 and number == round(number) else text


def interval_labels(edges: Sequence[float], digits: int = 6, column: Column | None = None) -> list[str]:
    """Return a label for each interval of a column between edges, which belong to the interval below them."""
    shown = short_numbers(edges, digits, column)
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
        nodes, cuts = column.nodes, column.cuts or ()
        labels = short_numbers(nodes, column=column) if nodes else interval_labels(cuts, column=column)
    else:
        known = column.categories if isinstance(column, CategoricalColumn) else ()
        labels = [label_text(category) for category in known]
    counts_as_value = schema.n_values(column) > column.n_present
    # A category that is called like the mark of a missing cell keeps its name; the mark gets brackets.
    missing, unseen = (f"({mark})" if mark in labels else mark for mark in (MISSING, UNSEEN))
    if isinstance(column, NumericColumn):  # every number has a bin
        return [*labels, missing, unseen] if counts_as_value else [*labels, missing]
    return [*labels, missing, unseen] if counts_as_value else [*labels, f"{missing} or {unseen}"]


def axis_labels(effects: Effects, position: int) -> list[str]:
    """Return a label for each code of a coded column, as short as a reader of a picture needs.

    Intervals of whole numbers are written by the numbers that they hold, others by few digits.
    """
    column = effects.schema.columns[position]
    if not isinstance(column, NumericColumn) or column.has_dates:
        return code_labels(effects.schema, position)
    if column.nodes:
        whole = all(node == round(node) for node in column.nodes)
        shown = [f"{node:.0f}" for node in column.nodes] if whole else short_numbers(column.nodes, 3)
        return [*shown, *code_labels(effects.schema, position)[len(shown) :]]
    effect = next((effect for effect in effects.features if effect.position == position), None)
    edges = list(column.cuts or ())
    plain = code_labels(effects.schema, position)[len(edges) + 1 :]
    if effect is None or not holds_whole_numbers(effect) or not edges:
        return [*interval_labels(edges, 2), *plain]
    lasts = [int(np.floor(edge)) for edge in edges]
    between = [f"{a + 1}" if b == a + 1 else f"{a + 1} to {b}" for a, b in pairwise(lasts)]
    return [f"≤ {lasts[0]}", *between, f"≥ {lasts[-1] + 1}", *plain]


def label_text(label: Any) -> str:
    """Return a class or category as text: whole numbers without a point.

    >>> [label_text(label) for label in (1.0, 0.5, "1.0")]
    ['1', '0.5', '1.0']
    """
    return f"{label:.0f}" if isinstance(label, float) and label.is_integer() else str(label)


def clipped(text: str, longest: int = 24) -> str:
    """Return text that is not longer than it may be; what would start a formula in matplotlib is escaped."""
    short = text if len(text) <= longest else f"{text[: longest - 1]}…"
    return short.replace("$", r"\$")
