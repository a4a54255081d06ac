"""What each feature, each pair and each larger tuple says: additive scores, taken apart for reading."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from seminaive.encode import CategoricalColumn, NumericColumn
from seminaive.encode.nodes import interpolate
from seminaive.errors import TooLargeError
from seminaive.scores.feature_curve import curve_of_number
from seminaive.scores.pure import cell_weights, purify
from seminaive.statistics import ObservedTerms, Terms

if TYPE_CHECKING:
    from collections.abc import Iterator

    from seminaive.arrays import Floats
    from seminaive.encode import EncodedTable, Schema
    from seminaive.scores.additive_scores import AdditiveScores
    from seminaive.scores.feature_curve import FeatureCurve
    from seminaive.statistics import TrainingSummary
    from seminaive.statistics.number_sketch import NumberSketch

    Columns = tuple[int, ...]

# Cells times classes of all tuples that are kept at once: 1 GB.
MOST_VALUES = 1 << 27
# Numbers beyond these quantiles of the training table are outside of its usual range.
RANGE = (0.005, 0.995)


@dataclass(frozen=True)
class FeatureEffect:
    """What one column says: a table over its values, or a curve over its numbers.

    Exactly one of ``table`` and ``curve`` is given. All values have mean zero over the classes, and over the
    training rows.

    Parameters
    ----------
    position : int
        The column in the schema.
    table : ndarray of shape (n_codes, n_classes) or None
        For categories: one row for each code, that of no evidence last.
    curve : FeatureCurve or None
        For numbers.
    seen : ndarray
        Codes 0, 1, ... or representative numbers of the training table, NaN last for missing ones.
    weight : ndarray
        Training weight of each of ``seen``.
    """

    name: str
    position: int
    table: Floats | None
    curve: FeatureCurve | None
    seen: Floats
    weight: Floats

    @cached_property
    def at_seen(self) -> Floats:
        """Return the values at what training had, (n_seen, n_classes)."""
        if self.curve is not None:
            return self.curve.at(self.seen)
        assert self.table is not None  # noqa: S101 - narrows the type
        return self.table

    @property
    def deviation(self) -> Floats:
        """Return the standard deviation over the training rows, one per class."""
        return _deviation(self.at_seen, self.weight)

    def range_seen(self) -> tuple[float, float]:
        """Return the .5 and the 99.5 % quantile of the numbers of training; of none, 0 and 1."""
        present = ~np.isnan(self.seen) & (self.weight > 0)
        numbers, weight = self.seen[present], self.weight[present]
        if not len(numbers):
            return 0.0, 1.0
        share = np.cumsum(weight) / weight.sum()
        low, high = numbers[np.minimum(np.searchsorted(share, RANGE), len(numbers) - 1)]
        return float(low), float(high)

    def shifted(self, constant: Floats) -> FeatureEffect:
        """Return the effect plus a constant for each class."""
        if self.curve is not None:
            return replace(self, curve=self.curve.plus(constant))
        assert self.table is not None  # noqa: S101 - narrows the type
        return replace(self, table=self.table + constant)


@dataclass(frozen=True)
class TupleEffect:
    """What several columns together say beyond what fewer of them say.

    Parameters
    ----------
    columns : tuple of int
        Coded columns.
    table : ndarray of shape (n_codes, ..., n_classes)
        Pure: means over each axis are zero under ``weight`` plus a tenth of a row of independence, so at most
        0.1 / n_rows of the range under ``weight`` alone. The code of no evidence is the last of each axis.
        Along a number that has nodes the values hold at the nodes and are interpolated between.
    weight : ndarray of shape (n_codes, ...)
        Training weight of each combination; in rows as if columns were independent where it is not known.
    """

    names: tuple[str, ...]
    columns: Columns
    table: Floats
    weight: Floats

    @property
    def name(self) -> str:
        """Return the names joined by a cross."""
        return " × ".join(self.names)

    @property
    def deviation(self) -> Floats:
        """Return the standard deviation over the training rows, one per class."""
        return _deviation(self.table.reshape(-1, self.table.shape[-1]), self.weight.ravel())


@dataclass(frozen=True)
class Effects:
    """What each feature and each tuple of features says, so that the effects add up to the scores.

    The score of class c is ``intercept[c]`` plus the effect of each feature plus the pure effect of each
    tuple, up to a constant that is the same for all classes. Number, bins, polynomial and curve of one
    feature are one curve. What a pair says about one of its columns alone belongs to that column's effect;
    the same holds for larger tuples, step by step.

    Parameters
    ----------
    intercept : ndarray of shape (n_classes,)
        The mean score over the training rows, less its mean over the classes.
    features : tuple of FeatureEffect
        In the order of the schema, those that the scores look at.
    tuples : tuple of TupleEffect
        Pairs first, then larger ones.

    Examples
    --------
    >>> from seminaive import HigherOrderLogisticRegression
    >>> X = [["wet", "cold"], ["wet", "warm"], ["dry", "cold"], ["dry", "warm"]] * 20
    >>> y = ["slip", "hold", "hold", "slip"] * 20
    >>> model = HigherOrderLogisticRegression(order=2).fit(X, y)
    >>> effects = Effects.of(model.scores_, model.schema_, model.summary_)
    >>> [float(effect.deviation.max().round(6)) for effect in effects.features]  # an exclusive or
    [0.0, 0.0]
    >>> effects.tuples[0].table[:2, :2, 1].round(1)
    array([[-1.1,  1.1],
           [ 1.1, -1.1]])
    """

    intercept: Floats
    features: tuple[FeatureEffect, ...]
    tuples: tuple[TupleEffect, ...]
    schema: Schema

    @classmethod
    def of(cls, scores: AdditiveScores, schema: Schema, summary: TrainingSummary) -> Effects:
        """Take scores apart.

        Parameters
        ----------
        schema : Schema
            What codes and numbers mean.
        summary : TrainingSummary
            Of the training table: the weights under which effects are pure and have mean zero.
        """
        scores = scores.centre()
        joints = Joints(summary)
        tables = _tables_by_columns(scores)
        pure: list[TupleEffect] = []
        for order in range(max((len(columns) for columns in tables), default=1), 1, -1):
            level = []
            for columns in sorted(key for key in tables if len(key) == order):
                joint = joints.weight(columns)
                weight = cell_weights(joint, [joints.shares(j) for j in columns], joints.total)
                table, margins = purify(tables.pop(columns), weight)
                for left, margin in zip(_without_one(columns), margins, strict=True):
                    tables[left] = tables[left] + margin if left in tables else margin
                names = tuple(schema.coded_names[j] for j in columns)
                level.append(TupleEffect(names, columns, table, weight if joint is None else joint))
            pure = level + pure
        intercept = scores.prior.copy()
        features = []
        singles = {column: table for (column,), table in tables.items()}
        for effect in _feature_effects(scores, schema, summary, singles):
            mean = _mean(effect.at_seen, effect.weight)
            intercept += mean
            features.append(effect.shifted(-mean))
        return cls(intercept, tuple(features), tuple(pure), schema)

    @property
    def n_classes(self) -> int:
        """Return the number of classes."""
        return len(self.intercept)

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of all effects, features first."""
        return (*(effect.name for effect in self.features), *(effect.name for effect in self.tuples))

    def column_shares(self) -> Floats:
        """Return the share of each column of the schema in the deviation of the scores over training rows.

        A tuple is divided equally among its columns. Shares add up to 1, or are all 0 where the scores are
        the same for every row.
        """
        shares = np.zeros(len(self.schema.columns))
        for effect in self.features:
            shares[effect.position] += importance(effect.deviation)
        for tuple_ in self.tuples:
            for j in tuple_.columns:
                shares[self.schema.coded[j]] += importance(tuple_.deviation) / len(tuple_.columns)
        total = shares.sum()
        return shares / total if total > 0 else shares

    def joint_log_scores(self, table: EncodedTable) -> Floats:
        """Return the score of each row and class, less its mean over the classes."""
        scores = np.repeat(self.intercept[None], len(table), axis=0)
        for part in self._parts(table):
            scores += part
        return scores

    def breakdown(self, table: EncodedTable) -> Floats:
        """Return what the intercept and each effect contribute, (n_rows, 1 + n_effects, n_classes)."""
        intercept = np.repeat(self.intercept[None], len(table), axis=0)
        return np.stack([intercept, *self._parts(table)], axis=1)

    def feature_parts(self, table: EncodedTable) -> Iterator[Floats]:
        """Yield what each feature contributes to each row, (n_rows, n_classes)."""
        coded, numeric = self.schema.coded_index, self.schema.numeric_index
        for effect in self.features:
            if effect.curve is not None:
                yield effect.curve.at(table.numbers[:, numeric[effect.position]])
            elif effect.table is not None:
                yield effect.table[table.codes[:, coded[effect.position]]]

    def _parts(self, table: EncodedTable) -> Iterator[Floats]:
        yield from self.feature_parts(table)
        coordinates = table.coordinates
        for effect in self.tuples:
            yield interpolate(effect.table, [coordinates.axis(j) for j in effect.columns])


def importance(deviation: Floats) -> float:
    """Return one number for the standard deviations of an effect by class.

    With two classes that of the log odds; with more, the root mean square over the classes.
    """
    if len(deviation) == 2:
        return float(deviation.sum())  # both are half of that of the log odds
    return float(np.sqrt(np.mean(deviation**2)))


def _deviation(values: Floats, weight: Floats) -> Floats:
    centred = values - _mean(values, weight)
    deviation: Floats = np.sqrt(_mean(centred**2, weight))
    return deviation


def _mean(values: Floats, weight: Floats) -> Floats:
    total = weight.sum()
    mean: Floats = weight @ values / total if total > 0 else np.zeros(values.shape[1])
    return mean


def _without_one(columns: Columns) -> list[Columns]:
    """Return the columns without the first, without the second, and so on."""
    return [columns[:axis] + columns[axis + 1 :] for axis in range(len(columns))]


def _tables_by_columns(scores: AdditiveScores) -> dict[Columns, Floats]:
    """Return all tables as dense ones, terms over the same columns added up."""
    terms = scores.terms
    _refuse_too_many(set(terms.features), terms.cardinalities, scores.n_classes)
    tables: dict[Columns, Floats] = {}
    for term, columns in enumerate(terms.features):
        block = _dense_block(terms, term, scores.tables)
        tables[columns] = tables[columns] + block if columns in tables else block
    return tables


def _refuse_too_many(features: set[Columns], cardinalities: tuple[int, ...], n_classes: int) -> None:
    """Refuse tuples that would not fit into memory, the smaller ones that they contain included."""
    every: set[Columns] = set()
    for columns in features:
        for size in range(2, len(columns) + 1):
            every.update(combinations(columns, size))
    n_values = sum(prod(cardinalities[j] + 1 for j in columns) for columns in every) * n_classes
    if n_values > MOST_VALUES:
        raise TooLargeError(
            f"the effects of {len(every):,} tuples of features have {n_values:,} values, at most "
            f"{MOST_VALUES:,} are taken apart: fit a model of a lower order, with fewer columns or fewer bins"
        )


def _dense_block(terms: Terms, term: int, values: Floats) -> Floats:
    """Return one term's values with one axis per column and what is stored per cell last."""
    if isinstance(terms, ObservedTerms):
        dense = Terms(terms.features, terms.cardinalities)
        block = dense.block(term)
        table = values[terms.cells_from_dense(np.arange(block.start, block.stop))]
        return table.reshape(*dense.shape(term), values.shape[1])
    return values[terms.block(term)].reshape(*terms.shape(term), values.shape[1])


class Joints:
    """Training weights of single codes and of combinations of codes."""

    def __init__(self, summary: TrainingSummary) -> None:
        self.summary = summary
        self.total = float(summary.class_weight.sum())
        self.terms_with: dict[Columns, int] = {}
        by_subset: dict[Columns, list[int]] = defaultdict(list)
        if summary.tuples is not None:
            for term, columns in enumerate(summary.tuples.terms.features):
                for size in range(2, len(columns) + 1):
                    for subset in combinations(columns, size):
                        by_subset[subset].append(term)
            orders = summary.tuples.terms.orders
            self.terms_with = {
                subset: min(found, key=lambda t: orders[t]) for subset, found in by_subset.items()
            }

    def shares(self, column: int) -> Floats:
        """Return the share of each code of a coded column."""
        weight = self.summary.cell_weights(column).sum(axis=1)
        shares: Floats = weight / weight.sum()
        return shares

    def weight(self, columns: Columns) -> Floats | None:
        """Return the weight of each combination, None where no tuple of the summary has all the columns."""
        tuples = self.summary.tuples
        if tuples is None or columns not in self.terms_with:
            return None
        term = self.terms_with[columns]
        table = _dense_block(tuples.terms, term, tuples.counts).sum(axis=-1)
        others = tuple(axis for axis, j in enumerate(tuples.terms.features[term]) if j not in columns)
        joint: Floats = table.sum(axis=others)
        return joint


def _feature_effects(
    scores: AdditiveScores, schema: Schema, summary: TrainingSummary, tables: dict[int, Floats]
) -> Iterator[FeatureEffect]:
    """Yield one effect per column that some term looks at, before they are centred."""
    coded, numeric = schema.coded_index, schema.numeric_index
    for position, column in enumerate(schema.columns):
        table = tables.get(coded.get(position, -1))
        if isinstance(column, CategoricalColumn):
            if table is not None:
                weight = summary.cell_weights(coded[position]).sum(axis=1)
                yield FeatureEffect(
                    column.name, position, table, None, np.arange(len(table), dtype=float), weight
                )
        elif isinstance(column, NumericColumn):
            number = numeric[position]
            curve = curve_of_number(scores, column, number, table)
            if curve is None:
                continue
            seen, weight = _representatives(summary.numbers[number])
            yield FeatureEffect(column.name, position, None, curve, seen, weight)


def _representatives(sketch: NumberSketch) -> tuple[Floats, Floats]:
    """Return the middle of each bin of a sketch, NaN last, and their weights."""
    return np.append(sketch.middles(), np.nan), np.append(sketch.weights, sketch.missing)
