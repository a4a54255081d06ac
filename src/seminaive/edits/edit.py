"""Change one effect of a fitted model by hand, and keep who did it, when and why."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.encode import CategoricalColumn, frame_like
from seminaive.errors import InputError
from seminaive.explain.reading import class_position, effects_of, evidence, feature_named
from seminaive.models import EditedModel
from seminaive.scores import (
    AdditiveScores,
    Edit,
    EffectChange,
    Effects,
    curve_as_terms,
    difference,
    importance,
)
from seminaive.scores.attenuation import without_evidence
from seminaive.statistics import Terms

if TYPE_CHECKING:
    from seminaive.arrays import Floats
    from seminaive.encode import Schema
    from seminaive.scores import FeatureEffect, Record


def edit(
    model: Any,
    column: str,
    change: EffectChange,
    *,
    why: str,
    who: str = "",
    date: str | None = None,
    target: Any = None,
    rows: Any = None,
    y: Any = None,
) -> EditedModel:
    """Return a fitted model with the effect of one column changed; the model itself stays as it is.

    Effects of all other columns, of pairs, and of values that are not changed stay the same. The change is in
    the history of the model, which is saved with it, in its JSON document, and on its page.

    Parameters
    ----------
    model : a fitted additive model
    column : str
    change : SetTo, Flatten, Clip, Monotone or Points
        With values in log odds of ``target``, or in its centred score with more than two classes, as
        `effects_table` and `EffectDisplay` show them.
    why : str
        The reason, for whoever reads the model later.
    who : str, default=""
    date : str, default=None
        None is today, in Greenwich.
    target : label, default=None
        The class whose effect is changed; None is the last one.
    rows, y : table and labels, default=None
        Rows on which the log loss is measured before and after, for the history.

    Returns
    -------
    EditedModel

    Examples
    --------
    >>> import numpy as np
    >>> from seminaive import NaiveBayes
    >>> from seminaive.edits import Flatten
    >>> X = np.repeat([[20.0], [40.0], [60.0], [80.0]], 20, axis=0)
    >>> model = NaiveBayes().fit(X, [0, 0, 0, 1] * 20)
    >>> flat = edit(model, "x0", Flatten((60, 80)), why="too few rows beyond 60")
    >>> float(np.ptp(flat.decision_function([[60.0], [70.0], [80.0]])))
    0.0
    >>> history(flat)[["what", "why"]].to_numpy().tolist()
    [['x0: Flatten(at=(60, 80))', 'too few rows beyond 60']]
    """
    if not isinstance(change, EffectChange):
        raise InputError(f"a change is SetTo, Flatten, Clip, Monotone or Points, got {change!r}")
    check_reason(who, why)
    change = _plain_change(change)
    position = class_position(model, target)
    effect = feature_named(effects_of(model), column)
    scores = _edited_scores(model.scores_, model.schema_, effect, change, position)
    scores = _with_edited_variance(model, scores, effect)
    record = Edit(
        column=column,
        change=change,
        target=model.classes_.tolist()[position],
        who=who,
        why=why,
        date=datetime.now(UTC).date().isoformat() if date is None else str(date),
    )
    return with_record(model, scores, record, rows, y)


def with_record(model: Any, scores: AdditiveScores, record: Record, rows: Any, y: Any) -> EditedModel:
    """Return a model with other scores and one more record, with the losses on labelled rows if any."""
    made = EditedModel.of(model, scores, record)
    before, after = _log_losses(model, made, rows, y)
    made.edits_ = (*made.edits_[:-1], replace(record, loss_before=before, loss_after=after))
    return made


def history(model: Any) -> Any:
    """Return the edits of a model, the first one first; none where it was never edited.

    Parameters
    ----------
    model : a fitted model

    Returns
    -------
    frame
        With columns ``what``, ``class``, ``who``, ``why``, ``date``, ``loss_before`` and ``loss_after``.
    """
    edits = getattr(model, "edits_", ())
    columns: dict[str, list[Any]] = {
        "what": [str(record) for record in edits],
        "class": [record.target if isinstance(record, Edit) else None for record in edits],
        "who": [record.who for record in edits],
        "why": [record.why for record in edits],
        "date": [record.date for record in edits],
        "loss_before": [_or_nan(record.loss_before) for record in edits],
        "loss_after": [_or_nan(record.loss_after) for record in edits],
    }
    return frame_like(None, columns)


def _or_nan(loss: float | None) -> float:
    return np.nan if loss is None else loss


def check_reason(who: Any, why: Any) -> None:
    """Refuse a change without a reason."""
    for name, text in (("why", why), ("who", who)):
        if not isinstance(text, str):
            raise InputError(f"{name} is text, got {text!r}")
    if not why.strip():
        raise InputError("why is empty: say in a sentence why the model is changed")


def _plain_change(change: EffectChange) -> EffectChange:
    """Return a change whose lists are tuples, and whose numbers are Python's, as files hold them."""
    plain: dict[str, Any] = {}
    for field in fields(change):
        value = getattr(change, field.name)
        if isinstance(value, np.ndarray | list | tuple):
            plain[field.name] = tuple(getattr(part, "item", lambda part=part: part)() for part in value)
        else:
            plain[field.name] = getattr(value, "item", lambda value=value: value)()
    return replace(change, **plain)


def _log_losses(before: Any, after: Any, rows: Any, y: Any) -> tuple[float | None, float | None]:
    """Return the log loss of two models on labelled rows; None where there are none."""
    if rows is None and y is None:
        return None, None
    if rows is None or y is None:
        raise InputError("losses need rows and their labels: pass both rows and y, or neither")
    from sklearn.metrics import log_loss

    first, second = (
        float(log_loss(y, model.predict_proba(rows), labels=model.classes_)) for model in (before, after)
    )
    return first, second


def _edited_scores(
    scores: AdditiveScores, schema: Schema, effect: FeatureEffect, change: EffectChange, target: int
) -> AdditiveScores:
    """Return scores in which one effect is changed, as evidence of one class, without a posterior."""
    scores = replace(scores, posterior=None)
    direction = np.full(scores.n_classes, -1.0 / (scores.n_classes - 1))
    direction[target] = 1.0
    if scores.n_classes == 2:
        direction /= 2  # the log odds are the difference of two scores
    column = schema.columns[effect.position]
    if isinstance(column, CategoricalColumn):
        assert effect.table is not None  # noqa: S101 - narrows the type
        current = evidence(effect.table, target)
        known = column.n_present
        new = change.of_levels(column.categories, current[:known], effect.weight[:known])
        delta = np.zeros(len(current))
        delta[:known] = new - current[:known]
        return _with_table(scores, schema.coded_index[effect.position], np.outer(delta, direction))
    assert effect.curve is not None  # noqa: S101 - narrows the type
    curve = effect.curve.map_values(lambda values: evidence(values, target)[..., None])
    present = ~np.isnan(effect.seen)
    new_curve = change.of_curve(curve, effect.seen[present], effect.weight[present])
    moved = difference(new_curve, curve).map_values(lambda values: values * direction)
    polynomials, knots = curve_as_terms(moved, schema.numeric_index[effect.position])
    return replace(scores, numeric=scores.numeric.joined(polynomials), curves=scores.curves.joined(knots))


def _with_edited_variance(model: Any, scores: AdditiveScores, effect: FeatureEffect) -> AdditiveScores:
    """Return scores whose rows with unknown cells allow for how much the edited effect varies now."""
    if scores.attenuation is None:
        return scores
    before = importance(effect.deviation)
    edited = feature_named(Effects.of(scores, model.schema_, model.summary_), effect.name)
    ratio = importance(edited.deviation) / before if before > 0 else 1.0
    feature = model.schema_.features.index(effect.position)
    nothing_known = without_evidence(model.schema_)
    sums = (additive.sums(nothing_known)[0] for additive in (model.scores_, scores))
    return replace(scores, attenuation=scores.attenuation.rescaled(feature, ratio, *sums))


def _with_table(scores: AdditiveScores, column: int, values: Floats) -> AdditiveScores:
    """Return scores with a table over one coded column added: to the column's table, or as a further one."""
    terms = scores.terms
    if type(terms) is not Terms:
        raise InputError(
            "this model keeps only the combinations of values that training had, whose tables cannot be "
            "changed one by one: fit a model of a lower order"
        )
    if (column,) in terms.features:
        tables = scores.tables.copy()
        tables[terms.block(terms.features.index((column,)))] += values
        return replace(scores, tables=tables)
    further = AdditiveScores.of_tables(
        np.zeros(scores.n_classes), Terms(((column,),), terms.cardinalities), values
    )
    kind, other = scores.kinds[0], further.kinds[0]
    joined = kind.joined(other)
    return replace(scores, terms=joined.terms, tables=joined.tables)
