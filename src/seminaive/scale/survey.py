"""One pass over the partitions that finds classes, categories, value counts and moments."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from seminaive.encode import (
    CategoricalColumn,
    EmptyColumn,
    EncodedTarget,
    IdentifierColumn,
    NumericColumn,
    Schema,
    merge_readings,
    read_columns,
    weigh_classes,
)
from seminaive.encode.column_codes import bins_of
from seminaive.encode.column_kinds import names_rows
from seminaive.encode.encoded_table import check_evidence
from seminaive.encode.frames import Table, as_numbers
from seminaive.errors import InputError, TooLargeError
from seminaive.models.training_set import encode_rows
from seminaive.scale.sources import plain_type
from seminaive.statistics import Moments, TableStatistics, Terms, TupleCounts, ValueCounts
from seminaive.statistics.number_sketch import sketch_columns

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from seminaive.arrays import Floats
    from seminaive.encode import ColumnReading
    from seminaive.encode.column_types import Column, Format
    from seminaive.models.base import TableClassifier
    from seminaive.scale.partitions import TablePartition
    from seminaive.scale.sources import Reading
    from seminaive.statistics import NumberSketch
    from seminaive.statistics.value_counts import CutRule

    # Features, labels and row weights.
    TrainingPiece = tuple[pa.Table, pa.ChunkedArray, Floats | None]

# Categories of a column beyond which the column is refused: it identifies rows rather than groups of them.
MOST_CATEGORIES = 1_000_000


@dataclass(frozen=True)
class Survey:
    """What one pass finds out about some rows; ``a + b`` is about the rows of both.

    Parameters
    ----------
    n_rows : int
        Rows of positive weight.
    statistics : TableStatistics
        Weights of single values by class, and moments of numbers, which are not cut.
    sketches : tuple of NumberSketch
        One per number, where they are wanted.
    values : tuple of ValueCounts
        One per number, where they are wanted.
    kinds : tuple of str
        What the type of each column says about it.
    """

    n_rows: int
    statistics: TableStatistics
    readings: tuple[ColumnReading, ...]
    sketches: tuple[NumberSketch, ...]
    values: tuple[ValueCounts, ...]
    kinds: tuple[Any, ...]

    @property
    def classes(self) -> tuple[Any, ...]:
        """Return the classes, sorted."""
        assert self.statistics.classes is not None  # noqa: S101 - a survey always names them
        return self.statistics.classes

    def __add__(self, other: Survey) -> Survey:
        """Return what is known about the rows of both."""
        every = _united_classes(self.classes, other.classes)
        first, second = self.with_classes(every), other.with_classes(every)
        statistics = first.statistics + second.statistics
        _refuse_too_many_categories(statistics.schema)
        return Survey(
            first.n_rows + second.n_rows,
            statistics,
            merge_readings(first.readings, second.readings),
            tuple(a + b for a, b in zip(first.sketches, second.sketches, strict=True)),
            tuple(a + b for a, b in zip(first.values, second.values, strict=True)),
            first.kinds,
        )

    def with_classes(self, classes: tuple[Any, ...]) -> Survey:
        """Return the same survey among more classes."""
        if classes == self.classes:
            return self
        moves = np.array([classes.index(label) for label in self.classes], dtype=np.int64)
        return replace(
            self,
            statistics=self.statistics.with_classes(moves, classes),
            values=tuple(counts.with_classes(moves, len(classes)) for counts in self.values),
        )

    def opened(self, features: pa.Schema) -> Table:
        """Return the table without its rows: names, types and kinds of columns, and the number of rows."""
        columns = tuple(features.empty_table().columns)
        return Table(tuple(features.names), columns, self.kinds, self.n_rows)

    def readings_of(self, features: pa.Schema) -> tuple[ColumnReading, ...]:
        """Return how the columns were read; a type is that of the values, however they are stored."""
        pairs = zip(self.readings, features, strict=True)
        return tuple(replace(reading, dtype=str(field.type)) for reading, field in pairs)

    def class_factors(self, class_weight: Any, *, relative: bool) -> Floats | None:
        """Return what the weights of each class are multiplied by, None where they stay as they are.

        ``relative`` divides the weights of all rows by their mean.
        """
        totals, factors = self.statistics.class_weight, np.ones(len(self.classes))
        if class_weight is not None:
            target = EncodedTarget(np.array(self.classes, dtype=object), np.arange(len(self.classes)))
            weighed = weigh_classes(class_weight, target, totals, whole=True)
            assert weighed is not None  # noqa: S101 - class_weight is given
            factors = weighed / totals
        if relative:
            factors = factors * (self.n_rows / float(totals @ factors))
        return None if (factors == 1).all() else factors

    def schema(
        self,
        cut_rule: CutRule | None,
        class_factors: Floats | None = None,
        max_categories: int | None = None,
        listed: frozenset[int] = frozenset(),
    ) -> Schema:
        """Return the schema of all rows: categories that are kept, cut points, columns without evidence.

        ``listed`` are the columns that the user calls categories, even where they name rows.
        """
        columns: list[Column] = []
        number, coded = 0, 0
        factors = np.ones(len(self.classes)) if class_factors is None else class_factors
        known = self.statistics.schema
        for position, column in enumerate(known.columns):
            if isinstance(column, CategoricalColumn):
                by_class = self.statistics.counts.block(coded)
                weights = by_class.sum(axis=1)
                coded += 1
                weighed = by_class @ factors
                identifier = None if position in listed else self._identifier(position, column, weighed)
                columns.append(identifier or _kept_categories(column, weights, max_categories))
            elif isinstance(column, NumericColumn):
                empty = not self.statistics.moments.weight[number].any()
                if empty:
                    columns.append(EmptyColumn(column.name))
                elif cut_rule is None:
                    columns.append(column)
                else:
                    cuts = self.values[number].cuts(cut_rule, class_factors)
                    columns.append(replace(column, cuts=tuple(cuts.tolist())))
                number += 1
        schema = Schema(tuple(columns), known.missing)
        check_evidence(schema)
        return schema

    def _identifier(
        self, position: int, column: CategoricalColumn, weights: Floats
    ) -> IdentifierColumn | None:
        """Return the column as one that names rows, None where rows share its categories."""
        n_missing, n_values = self.readings[position].n_missing, len(column.categories)
        weight = float(weights[:n_values].sum())
        if not names_rows(n_values, self.n_rows - n_missing, weight):
            return None
        return IdentifierColumn(column.name, n_values, n_missing)

    def has_more_categories(self, most: int | None) -> bool:
        """Tell whether some column has more categories than are to be kept."""
        return most is not None and any(
            isinstance(column, CategoricalColumn) and len(column.categories) > most
            for column in self.statistics.schema.columns
        )

    def number_sketches(
        self, schema: Schema, class_factors: Floats | None = None
    ) -> tuple[NumberSketch, ...]:
        """Return a sketch of each numeric column of the final schema."""
        made = self.sketches or tuple(counts.sketch(class_factors) for counts in self.values)
        return tuple(made[k] for k in self._kept_numbers(schema)) if made else ()

    def statistics_under(self, schema: Schema) -> TableStatistics:
        """Return the statistics without the columns that have no value."""
        statistics = self.statistics
        if schema == statistics.schema:
            return statistics
        kept = [k for k, position in enumerate(statistics.schema.coded) if position in schema.coded]
        counts = np.concatenate(
            [statistics.counts.block(k) for k in kept] or [np.zeros((0, len(self.classes)))]
        )
        numbers = self._kept_numbers(schema)
        moments = Moments(statistics.moments.sums[:, :, numbers], statistics.moments.exponents[numbers])
        terms = Terms.singles(schema.cardinalities)
        return TableStatistics(
            schema, statistics.class_weight, TupleCounts(terms, counts), moments, self.classes
        )

    def standardisation(self, schema: Schema, class_factors: Floats | None = None) -> tuple[Floats, Floats]:
        """Return mean and standard deviation of each number, all classes together; 1 for a constant."""
        moments, kept = self.statistics.moments, self._kept_numbers(schema)
        factors = np.ones(len(self.classes)) if class_factors is None else class_factors
        means, deviations = (of_all[kept] for of_all in moments.mean_and_squared_deviations())
        weight = moments.weight[kept] * factors
        total = weight.sum(axis=1)
        centres = (weight * means).sum(axis=1) / total
        between = weight * (means - centres[:, None]) ** 2
        spreads = np.sqrt((deviations @ factors + between.sum(axis=1)) / total)
        return centres, np.where(spreads > 0, spreads, 1.0)

    def single_columns(self, schema: Schema, class_factors: Floats) -> TupleCounts:
        """Return the weight of each code of each coded column of a final schema by class."""
        singles = Terms.singles(schema.cardinalities)
        counts = np.zeros((singles.n_cells, len(self.classes)))
        for c, factor in enumerate(class_factors):
            only = np.zeros(len(class_factors))
            only[c] = factor
            for k, position in enumerate(schema.coded):
                column = schema.columns[position]
                if isinstance(column, CategoricalColumn):
                    counts[singles.block(k), c] = self.category_weights(position, schema, only)
                elif isinstance(column, NumericColumn):
                    values, weights = self.number_weights(position, only)
                    bins = np.minimum(bins_of(column, values), schema.n_values(column)).astype(np.int64)
                    counts[singles.block(k), c] = np.bincount(
                        bins, weights, minlength=schema.n_values(column) + 1
                    )
        return TupleCounts(singles, counts)

    def category_weights(self, position: int, schema: Schema, class_factors: Floats | None = None) -> Floats:
        """Return the weight of each code of a category in a final schema, that of no evidence last."""
        surveyed, final = self.statistics.schema, schema.columns[position]
        block = self.statistics.counts.block(surveyed.coded_index[position])
        weights = block.sum(axis=1) if class_factors is None else block @ class_factors
        column = surveyed.columns[position]
        assert isinstance(column, CategoricalColumn)  # noqa: S101 - narrows the type
        assert isinstance(final, CategoricalColumn)  # noqa: S101
        cardinality = schema.n_values(final)
        codes = final.codes_of(column.categories, cardinality).tolist()
        codes += [final.n_present] * (cardinality > final.n_present) + [cardinality]
        return np.bincount(codes, weights, minlength=cardinality + 1).astype(np.float64)

    def number_weights(self, position: int, class_factors: Floats | None = None) -> tuple[Floats, Floats]:
        """Return the distinct values of a number and, last, a missing one, and the weight of each."""
        counts = self.values[self.statistics.schema.numeric_index[position]]
        by_class = counts.weights if class_factors is None else counts.weights * class_factors
        values, weights = counts.low, by_class.sum(axis=1)
        if counts.level:
            values = counts.low + (counts.high - counts.low) / 2
            values[0], values[-1] = counts.low[0], counts.high[-1]
        total = self.statistics.class_weight
        missing = float((total if class_factors is None else total * class_factors).sum() - weights.sum())
        return np.append(values, np.nan), np.append(weights, max(missing, 0.0))

    def _kept_numbers(self, schema: Schema) -> list[int]:
        return [k for k, position in enumerate(self.statistics.schema.numeric) if position in schema.numeric]


def survey_partition(
    partition: TablePartition,
    reading: Reading,
    model: TableClassifier,
    *,
    values: bool,
    sketches: bool,
    formats: Mapping[int, Format],
) -> Survey | None:
    """Look at the rows of a partition; None where there is none.

    Parameters
    ----------
    model : TableClassifier
        Its parameters say how columns are read; ``class_weight`` is None.
    values, sketches : bool
        Whether to count the values of numbers, and whether to sketch them.
    formats : mapping of int to NumberFormat or DateFormat
        How columns of text write numbers or dates.
    """
    pieces = training_pieces(partition, reading)
    found = [_survey(piece, model, values, sketches, formats) for piece in pieces]
    return reduce(Survey.__add__, found) if found else None


def training_pieces(partition: TablePartition, reading: Reading) -> Iterator[TrainingPiece]:
    """Yield features, labels and row weights of a partition, without the rows of weight zero."""
    for piece in reading.pieces(partition):
        kept, weight = piece, None
        if reading.weight is not None:
            weight = _weights(piece.column(reading.weight), reading.weight)
            if (weight == 0).any():
                kept = piece.filter(pa.array(weight != 0))
                weight = weight[weight != 0]
        if kept.num_rows:
            yield kept.select(reading.features.names), kept.column(reading.target), weight


def _weights(column: pa.ChunkedArray, name: str) -> Floats:
    """Return the weights of rows; their signs are checked as those of a table in memory are."""
    try:
        return as_numbers(name, column)
    except InputError as error:
        raise InputError(
            f"the weights of rows are numbers, and column {name!r} is {plain_type(column.type)}: convert "
            "it, or name another column in weight"
        ) from error


def _survey(
    rows: TrainingPiece,
    model: TableClassifier,
    values: bool,
    sketches: bool,
    formats: Mapping[int, Format],
) -> Survey:
    opened, training = encode_rows(model, *rows, chunk=True, formats=formats)
    table, labels, n_classes, weight = (
        training.table,
        training.labels,
        training.n_classes,
        training.row_weight,
    )
    statistics = TableStatistics.of(table, labels, n_classes, weight, classes=training.classes.tolist())
    _refuse_too_many_categories(statistics.schema)
    return Survey(
        len(labels),
        statistics,
        read_columns(opened, table),
        sketch_columns(table.numbers, weight) if sketches else (),
        tuple(
            ValueCounts.of(np.ascontiguousarray(column), labels, n_classes, weight)
            for column in table.numbers.T
        )
        if values
        else (),
        opened.kinds,
    )


def _united_classes(one: tuple[Any, ...], other: tuple[Any, ...]) -> tuple[Any, ...]:
    if one == other:
        return one
    return tuple(sorted({*one, *other}))


def _refuse_too_many_categories(schema: Schema) -> None:
    for column in schema.columns:
        if isinstance(column, CategoricalColumn) and len(column.categories) > MOST_CATEGORIES:
            raise TooLargeError(
                f"column {column.name!r} has at least {len(column.categories):,} categories, more than "
                f"{MOST_CATEGORIES:,}: name it in ids if it identifies rows, drop it, or group its values"
            )


def _kept_categories(
    column: CategoricalColumn, weights: Floats, most: int | None
) -> CategoricalColumn | EmptyColumn:
    """Return a column with its most frequent categories, ties by value; what is left out is unseen."""
    if not column.categories:
        return EmptyColumn(column.name)
    if most is None or len(column.categories) <= most:
        return column
    order = np.argsort(-weights[: len(column.categories)], kind="stable")[:most]
    return replace(column, categories=tuple(column.categories[code] for code in np.sort(order)))
