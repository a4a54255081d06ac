"""Fitted models as frames: every effect, odds ratios, and one line per effect."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from seminaive.encode import CategoricalColumn, frame_like, keep_rows
from seminaive.errors import InputError
from seminaive.explain.bands import Bands
from seminaive.explain.reading import (
    class_position,
    code_labels,
    effects_of,
    evidence,
    interval_labels,
    short_numbers,
)
from seminaive.explain.what_matters import column_importances, tuples_that_matter
from seminaive.scores import importance

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from seminaive.arrays import Floats, Integers
    from seminaive.encode import Schema
    from seminaive.encode.column_types import Column
    from seminaive.scores import Effects, FeatureEffect, TupleEffect
    from seminaive.scores.feature_curve import FeatureCurve
    from seminaive.statistics.number_sketch import NumberSketch

QUARTILES = (0.25, 0.75)


def effects_table(model: Any, interval: float | None = None) -> Any:
    """Return every effect of a fitted additive model, one line per value.

    The score of a row is the line of the intercept plus one line for each term: of a feature the line with
    the row's value, of a pair or a larger tuple the line with its combination of values. Pairs of `SemiNaive`
    list numbers at which their effect holds; between two of them it is interpolated. Where a number has
    ``linear`` or ``quadratic``, its effect is ``effect + linear * (x - at) + quadratic * (x - at) ** 2``. The
    sum is ``decision_function``: with two classes the log odds of the second one, with more the centred score
    of each class, in as many lines.

    Parameters
    ----------
    model : a fitted additive model
    interval : float or None, default=None
        The coverage of intervals, such as .95, where they are wanted. They are those of effects as they are
        listed, with a mean of zero over the training rows; of a range of numbers, of the effect at ``at``.

    Returns
    -------
    frame
        With columns ``term``, ``value``, ``class`` (where there are more than two), ``effect``, ``lower`` and
        ``upper`` (with an interval), ``at``, ``linear``, ``quadratic`` and ``weight``, the training weight of
        the value. That of a range of numbers
        is approximate, because a model keeps a histogram of its numbers and not the numbers. Of a model with
        shapes also ``shape``, that of the feature, empty where it has none.

    Examples
    --------
    >>> from seminaive import NaiveBayes
    >>> X, y = [["wet"], ["wet"], ["dry"], ["dry"]], ["slip", "slip", "slip", "hold"]
    >>> effects_table(NaiveBayes().fit(X, y))[["term", "value", "effect"]].round(2)
            term              value  effect
    0  intercept                       1.14
    1         x0                dry   -0.55
    2         x0                wet    0.55
    3         x0  missing or unseen   -0.04
    """
    effects = effects_of(model)
    bands = Bands.of(model, interval)
    lines = _EffectLines(effects.n_classes)
    total = float(model.summary_.class_weight.sum())
    lines.add("intercept", "", effects.intercept, total)
    if bands is not None:
        lines.reaches.append(bands.of_intercept()[:, None])
    schema = effects.schema
    for effect in effects.features:
        if effect.curve is not None:
            sketch = model.summary_.numbers[schema.numeric_index[effect.position]]
            _add_curve(lines, schema.columns[effect.position], effect.curve, sketch)
            if bands is not None:
                numbers = np.append(effect.curve.anchors, np.nan)
                lines.reaches.append(bands.of_feature(effect, numbers))
        elif effect.table is not None:
            labels = code_labels(schema, effect.position)
            for label, values, weight in zip(labels, effect.table, effect.weight, strict=True):
                lines.add(effect.name, label, values, weight)
            if bands is not None:
                lines.reaches.append(bands.of_feature(effect))
    for tuple_ in effects.tuples:
        labels = _cell_labels(schema, tuple_)
        for label, cell in zip(labels, np.ndindex(*tuple_.weight.shape), strict=True):
            lines.add(tuple_.name, label, tuple_.table[cell], float(tuple_.weight[cell]))
        if bands is not None:
            reach = bands.of_tuple(tuple_)
            lines.reaches.append(reach.reshape(2, -1, reach.shape[-1]))
    return lines.frame(model.classes_, getattr(model, "shapes_", {}))


def _add_curve(lines: _EffectLines, column: Column, curve: FeatureCurve, sketch: NumberSketch) -> None:
    """Add one line for each piece of a column's curve, and one for missing numbers."""
    labels = interval_labels(curve.edges.tolist(), column=column)
    weights = sketch.weights_between(curve.edges)
    for piece, (label, weight) in enumerate(zip(labels, weights, strict=True)):
        constant, linear, quadratic = curve.coefficients[piece]
        lines.add(
            column.name,
            label,
            constant,
            float(weight),
            float(curve.anchors[piece]),
            linear * curve.scale,
            quadratic * curve.scale**2,
        )
    lines.add(column.name, "missing", curve.missing, sketch.missing)


def _cell_labels(schema: Schema, effect: TupleEffect) -> list[str]:
    """Return a label for each combination of values of a tuple, the last column fastest."""
    axes = [code_labels(schema, schema.coded[j]) for j in effect.columns]
    return [" × ".join(labels) for labels in product(*axes)]


class _EffectLines:
    """Lines of an effects table, gathered as columns."""

    def __init__(self, n_classes: int) -> None:
        self.n_classes = n_classes
        self.names: list[tuple[str, str, float, float]] = []
        self.values: list[tuple[Floats, Any, Any]] = []
        self.reaches: list[Floats] = []

    def add(
        self,
        term: str,
        value: str,
        effect: Floats,
        weight: float,
        at: float = np.nan,
        linear: Any = None,
        quadratic: Any = None,
    ) -> None:
        zero = np.zeros(self.n_classes)
        self.names.append((term, value, weight, at))
        self.values.append(
            (effect, zero if linear is None else linear, zero if quadratic is None else quadratic)
        )

    def frame(self, classes: Any, shapes: Mapping[str, str]) -> Any:
        terms, values, weights, anchors = zip(*self.names, strict=True)
        by_class = np.array(self.values)  # (lines, 3, classes)
        columns: dict[str, Any] = {"term": terms, "value": values}
        repeat = 1
        if self.n_classes == 2:
            numbers = (by_class[:, :, 1] - by_class[:, :, 0]).T
        else:
            repeat = self.n_classes
            numbers = by_class.transpose(1, 0, 2).reshape(3, -1)
            columns = {
                name: np.repeat(np.array(cells, dtype=object), repeat) for name, cells in columns.items()
            }
            columns["class"] = np.tile(classes, len(terms))
        effect, linear, quadratic = numbers
        columns["effect"] = effect
        if self.reaches:
            below, above = np.concatenate(self.reaches, axis=1).reshape(2, -1)
            columns |= {"lower": effect - below, "upper": effect + above}
        columns |= {
            "at": np.repeat(anchors, repeat),
            "linear": linear,
            "quadratic": quadratic,
            "weight": np.repeat(weights, repeat),
        }
        if shapes:
            columns["shape"] = [shapes.get(term, "") for term in columns["term"]]
        return frame_like(None, columns)


def odds_ratios(
    model: Any,
    target: Any = None,
    *,
    X: Any = None,
    y: Any = None,
    n_bootstrap: int = 0,
    random_state: Any = None,
) -> Any:
    """Return by how much each value of a feature multiplies the odds of a class.

    Categories are compared with the most frequent one, numbers at their upper quartile with their lower one.
    The odds are those of ``target`` against the other class, or against the most frequent other class where
    there are several. What pairs add beyond their features is left out, as it depends on both values.

    Parameters
    ----------
    model : a fitted additive model
    target : label, default=None
        The class whose odds are meant; None is the last one.
    X, y : table and labels, default=None
        The training rows, needed for intervals.
    n_bootstrap : int, default=0
        How many times to refit a clone on rows drawn with replacement, for 95 % percentile intervals in the
        columns ``low`` and ``high``. Penalised coefficients have no p-values worth the name.
    random_state : int, RandomState or None, default=None

    Returns
    -------
    frame
        With columns ``feature``, ``value``, ``reference``, ``class``, ``against`` and ``odds_ratio``.
    """
    effects = effects_of(model)
    position = class_position(model, target)
    weight = model.summary_.class_weight.copy()
    weight[position] = -1.0
    against = int(weight.argmax())
    comparisons = [pair for effect in effects.features for pair in _comparisons(effects, effect)]
    columns: dict[str, list[Any]] = {
        name: [] for name in ("feature", "value", "reference", "class", "against", "odds_ratio")
    }
    for name, value, reference, _, _ in comparisons:
        cells = (name, value, reference, model.classes_[position], model.classes_[against])
        for column, cell in zip(columns, cells, strict=False):
            columns[column].append(cell)
    ratios = _log_ratios(model, effects, comparisons, position, against)
    columns["odds_ratio"] = list(np.exp(ratios))
    if n_bootstrap:
        if X is None or y is None:
            raise InputError("intervals need the training rows: pass X and y beside n_bootstrap")
        drawn = np.full((n_bootstrap, len(comparisons)), np.nan)
        rng = check_random_state(random_state)
        labels = np.asarray(y)
        for trial in range(n_bootstrap):
            counts = np.bincount(rng.randint(0, len(labels), len(labels)), minlength=len(labels))
            refitted = _refit(model, X, labels, counts)
            drawn[trial] = _log_ratios(refitted, effects_of(refitted), comparisons, position, against)
        low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
        columns |= {"low": list(np.exp(low)), "high": list(np.exp(high))}
    return frame_like(None, columns)


def _refit(model: Any, X: Any, labels: NDArray[Any], counts: Integers) -> Any:
    """Return a clone fitted on rows that count as often as they were drawn."""
    drawn = counts > 0
    refitted = clone(model).fit(keep_rows(X, drawn), labels[drawn], sample_weight=counts[drawn].astype(float))
    if len(refitted.classes_) != len(model.classes_):
        raise InputError(
            "a bootstrap sample lacks a class: too few rows of it for intervals. Leave n_bootstrap out"
        )
    return refitted


Comparison = tuple[str, str, str, Any, Any]


def _comparisons(effects: Effects, effect: FeatureEffect) -> list[Comparison]:
    """Return feature, labels of a value and of its reference, and both as cells of a table."""
    column = effects.schema.columns[effect.position]
    if isinstance(column, CategoricalColumn):
        cells = [*column.categories, None][: len(effect.weight) - 1]
        labels = code_labels(effects.schema, effect.position)
        reference = int(effect.weight[:-1].argmax())
        return [
            (effect.name, labels[code], labels[reference], cells[code], cells[reference])
            for code in range(len(cells))
            if code != reference
        ]
    present = effect.weight[:-1] > 0
    numbers, weight = effect.seen[:-1][present], effect.weight[:-1][present]
    if not len(numbers):
        return []
    share = np.cumsum(weight) / weight.sum()
    low, high = numbers[np.minimum(np.searchsorted(share, QUARTILES), len(numbers) - 1)]
    if low == high:
        low, high = float(numbers[0]), float(numbers[-1])
    if low == high:
        return []
    shown = short_numbers([high, low], 4, column)
    return [(effect.name, shown[0], shown[1], float(high), float(low))]


def _log_ratios(
    model: Any, effects: Effects, comparisons: list[Comparison], position: int, against: int
) -> Floats:
    """Return the differences of log odds of all comparisons; 0 where the model says nothing of a feature."""
    by_name = {effect.name: effect for effect in effects.features}
    ratios = np.zeros(len(comparisons))
    for row, (name, _, _, value, reference) in enumerate(comparisons):
        effect = by_name.get(name)
        if effect is None:
            continue
        values = _values_at(model, effect, [value, reference])
        log_odds = values[:, position] - values[:, against]
        ratios[row] = log_odds[0] - log_odds[1]
    return ratios


def _values_at(model: Any, effect: FeatureEffect, cells: list[Any]) -> Floats:
    """Return a feature's effect at some cells, None being a missing one."""
    if effect.curve is not None:
        return effect.curve.at(np.array([np.nan if cell is None else cell for cell in cells]))
    column = model.schema_.columns[effect.position]
    unseen = len(effect.weight) - 1
    codes = [
        column.n_present if cell is None else column.code_of.get(column.key(cell), unseen) for cell in cells
    ]
    values: Floats = effect.table[codes]  # type: ignore[index]
    return values


def summary(model: Any, target: Any = None, *, effects: Effects | None = None) -> Any:
    """Return one line per effect of a fitted additive model, the one that moves the scores most first.

    Columns are ranked with their share of pairs. A pair or larger tuple that moves the scores by less than a
    hundredth of their deviation has no line; `effects_table` has all.

    Parameters
    ----------
    model : a fitted additive model
    target : label, default=None
        The class that ``low`` and ``high`` speak about; None is the last one.
    effects : Effects, default=None
        Of the model, where they are at hand; None takes it apart.

    Returns
    -------
    frame
        With columns ``term``, ``columns`` (how many), ``importance`` (the standard deviation of the effect
        over the training rows: of the log odds with two classes, of the centred scores, root mean square over
        the classes, with more), ``with_pairs`` (the same with the share of a column in its pairs and larger
        tuples, which are divided equally), ``low`` and ``high``, the smallest and the largest effect on the
        log odds or score of ``target`` among values of training, and ``low_at`` and ``high_at``, where they
        are.
    """
    effects = effects or effects_of(model)
    position = class_position(model, target)
    with_pairs = np.sum(column_importances(effects), axis=0)
    found = []
    for effect in effects.features:
        labels = _labels_seen(effects.schema, effect)
        shown = evidence(effect.at_seen, position)
        strengths = importance(effect.deviation), float(with_pairs[effect.position])
        found.append((effect.name, 1, strengths, shown, effect.weight, labels))
    for tuple_ in tuples_that_matter(effects):
        labels = _cell_labels(effects.schema, tuple_)
        shown = evidence(tuple_.table, position).ravel()
        strengths = (importance(tuple_.deviation),) * 2
        found.append((tuple_.name, len(tuple_.columns), strengths, shown, tuple_.weight.ravel(), labels))
    columns: dict[str, list[Any]] = {
        name: []
        for name in ("term", "columns", "importance", "with_pairs", "low", "low_at", "high", "high_at")
    }
    for name, order, strengths, shown, weight, labels in sorted(found, key=lambda line: -line[2][1]):
        seen = np.flatnonzero(weight > 0)
        if not len(seen):
            seen = np.arange(len(weight))
        low, high = seen[shown[seen].argmin()], seen[shown[seen].argmax()]
        line = (name, order, *strengths, shown[low], labels[low], shown[high], labels[high])
        for column, cell in zip(columns, line, strict=True):
            columns[column].append(cell)
    return frame_like(None, columns)


def _labels_seen(schema: Schema, effect: FeatureEffect) -> list[str]:
    """Return a label for each value at which an effect is listed."""
    if effect.table is not None:
        return code_labels(schema, effect.position)
    column = schema.columns[effect.position]
    return ["missing" if np.isnan(x) else short_numbers([x], 4, column)[0] for x in effect.seen.tolist()]


def one_row(model: Any, row: Any) -> Any:
    """Return an encoded table of one row, given as a mapping, a list of cells or a table of one row."""
    from seminaive.encode import TableEncoder

    if isinstance(row, (list, tuple)) and row and not isinstance(row[0], (list, tuple, dict)):
        row = [list(row)]
    table = TableEncoder(model.schema_).encode(row)
    if len(table) != 1:
        raise InputError(f"one row is drawn, got {len(table)}: pass one of them")
    return table
