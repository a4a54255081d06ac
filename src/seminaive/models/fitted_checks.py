"""What a fitted model read from a file must satisfy: schemas, terms, statistics and summaries that fit."""

from __future__ import annotations

import dataclasses
import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.encode import CategoricalColumn, EmptyColumn, IdentifierColumn, NumericColumn, Schema
from seminaive.encode.few_rows import LARGEST_NUMBER
from seminaive.scores import NumericTerms
from seminaive.statistics import ObservedTerms, Terms

if TYPE_CHECKING:
    from seminaive.statistics import ObservedStatistics, TableStatistics, TrainingSummary

# Cells that an index of 64 bits counts with room to spare; a number in a table, so that sums of any number of
# them stay finite; bits of a double, of which a sketch of a number keeps the leading ones.
MOST_CELLS, LARGEST_SCORE, SKETCH_BITS = 2**60, 1e290, 64
# Fields that may be infinite: ends of ranges.
ENDS = ("low", "high")
# Fields that may be immense: powers of two by which very small numbers are multiplied.
SCALES = ("scales",)


def is_size(value: Any) -> bool:
    """Tell whether a value is a whole number that may count something."""
    return type(value) is int and 0 <= value < 2**62


def short(node: Any) -> str:
    """Return a value as text of at most sixty characters."""
    text = repr(node)
    return text if len(text) < 60 else text[:57] + "..."


# Schemas


def check_schema(schema: Schema) -> None:
    """Refuse a schema that no training table has."""
    if schema.missing not in ("value", "neutral"):
        raise ValueError(f"missing cells are treated as {short(schema.missing)}")
    for column in schema.columns:
        if type(column.name) is not str:
            raise ValueError("a column's name is not text")
        if not isinstance(column, EmptyColumn) and type(column.missing_seen) is not bool:
            raise ValueError(f"column {column.name!r} does not tell whether cells were missing")
        if isinstance(column, IdentifierColumn):
            if not is_size(column.n_values) or not is_size(column.n_missing):
                raise ValueError(f"column {column.name!r} has a strange number of values")
        elif isinstance(column, CategoricalColumn):
            _check_categories(column)
        elif isinstance(column, NumericColumn):
            _check_numbers(column)
    if len(set(schema.names)) != len(schema.names) or not (schema.coded or schema.numeric):
        raise ValueError("two columns have one name, or there is none")


def _check_numbers(column: NumericColumn) -> None:
    cuts, written = column.cuts or (), column.written
    if not all(type(cut) in (float, int) and abs(cut) <= LARGEST_NUMBER for cut in cuts):
        raise ValueError(f"a cut point of column {column.name!r} is not a number")
    if not all(a < b for a, b in pairwise(cuts)):
        raise ValueError(f"cut points of column {column.name!r} do not increase")
    if column.nodes is not None and (
        column.cuts is None
        or len(column.nodes) != len(cuts) + 1
        or not all(type(node) in (float, int) and abs(node) <= LARGEST_NUMBER for node in column.nodes)
        or not all(a <= cut < b for a, cut, b in zip(column.nodes, cuts, column.nodes[1:], strict=False))
    ):
        raise ValueError(f"the nodes of column {column.name!r} do not lie in its bins, one in each")
    if written is not None and not written.is_known:
        raise ValueError(f"the numbers of column {column.name!r} are written in a strange format")


def _check_categories(column: CategoricalColumn) -> None:
    if type(column.merged) is not bool:
        raise ValueError(f"column {column.name!r} does not tell whether spellings were merged")
    if not all(type(value) in (str, int, float, bool) and value == value for value in column.categories):
        raise ValueError(f"a category of column {column.name!r} is neither text, number nor boolean")
    if column.order is not None:
        _check_levels(column)
    arranged = CategoricalColumn.of(column.name, column.categories, missing_seen=False, order=column.order)
    if arranged.categories != column.categories:
        raise ValueError(f"the categories of column {column.name!r} are not sorted")
    if len(column.code_of) != len(column.categories):
        raise ValueError(f"a category of column {column.name!r} occurs twice")


def _check_levels(column: CategoricalColumn) -> None:
    levels = column.order or ()
    if not all(type(level) in (str, int, float, bool) and level == level for level in levels):
        raise ValueError(f"a level of column {column.name!r} is neither text, number nor boolean")
    if len(set(levels)) != len(levels) or not set(column.categories) <= set(levels):
        raise ValueError(f"the levels of column {column.name!r} occur twice, or lack a category")


# Terms and numbers: what compiled loops index by


def check_terms(terms: Terms) -> None:
    """Refuse terms whose columns do not increase, or that have more cells than an index can count."""
    if not all(is_size(k) for k in terms.cardinalities):
        raise ValueError("a column has a strange number of values")
    n_columns = len(terms.cardinalities)
    cells = 0
    for term in terms.features:
        if not term or not all(is_size(j) and j < n_columns for j in term):
            raise ValueError("a term names a column that does not exist")
        if not all(a < b for a, b in pairwise(term)):
            raise ValueError("the columns of a term do not increase")
        cells += math.prod(terms.cardinalities[j] + 1 for j in term)
    if cells > MOST_CELLS:
        raise ValueError("the terms have more cells than can be counted")
    if isinstance(terms, ObservedTerms):
        check_cells(Terms(terms.features, terms.cardinalities), terms.kept)


def check_cells(terms: Terms, cells: np.ndarray) -> None:
    """Refuse cells that do not increase, or that the terms do not have."""
    if cells.ndim != 1 or (
        len(cells) and (cells[0] < 0 or cells[-1] >= terms.n_cells or (np.diff(cells) <= 0).any())
    ):
        raise ValueError("the combinations that occurred are not in order")


def check_finite(value: Any, name: str = "") -> None:
    """Refuse NaN, infinite and immense numbers anywhere in a dataclass, an array or a number."""
    if dataclasses.is_dataclass(value):
        if isinstance(value, NumericTerms):
            value = dataclasses.replace(value, coefficients=_within_reach(value))
        for field in dataclasses.fields(value):
            check_finite(getattr(value, field.name), field.name)
    elif isinstance(value, np.ndarray) and value.dtype.kind == "f":
        inside = np.abs(value, dtype=np.float64) <= LARGEST_SCORE
        if name in ENDS:
            inside |= np.isinf(value)
        if name in SCALES:
            inside |= np.isfinite(value)
        if not inside.all():
            raise ValueError(f"{name} holds NaN, infinite or immense numbers")
    elif isinstance(value, float) and not abs(value) <= LARGEST_SCORE:
        raise ValueError(f"{name} is NaN, infinite or immense")


def _within_reach(terms: NumericTerms) -> np.ndarray:
    """Return the largest value of each part of a polynomial: immense slopes of tiny numbers are harmless."""
    ends = np.abs(np.stack([terms.low, terms.high]) - terms.centres) * np.abs(terms.scales)
    reach = np.where(np.isfinite(ends), ends, 1.0).max(axis=0)
    powers = np.stack([np.ones_like(reach), np.ones_like(reach), reach, reach**2], axis=1)
    return np.asarray(terms.coefficients * np.minimum(powers, 1.0)[:, :, None])


def check_statistics(statistics: TableStatistics, schema: Schema, n_classes: int) -> None:
    """Refuse statistics that do not belong to a schema, or that no rows have.

    Numbers that were cut may have moments or none.
    """
    counts = statistics.counts
    uncut = len(schema.features) - len(schema.coded)
    n_numbers = uncut if len(statistics.moments.exponents) == uncut else len(schema.numeric)
    shapes = (
        (statistics.class_weight, (n_classes,)),
        (counts.counts, (counts.terms.n_cells, n_classes)),
        (statistics.moments.sums, (3, 2, n_numbers, n_classes)),
        (statistics.moments.exponents, (n_numbers,)),
    )
    if statistics.schema != schema or tuple(counts.terms.cardinalities) != tuple(schema.cardinalities):
        raise ValueError("the statistics do not fit the schema")
    if not all(array.shape == shape for array, shape in shapes):
        raise ValueError("the statistics do not fit the schema")
    check_finite(statistics)
    if (statistics.class_weight < 0).any() or not statistics.class_weight.any() or (counts.counts < 0).any():
        raise ValueError("a count is negative, or there is none")


def check_observed_statistics(statistics: ObservedStatistics, schema: Schema, n_classes: int) -> None:
    """Refuse statistics of a stream that do not belong to a schema, or that no rows have."""
    counts, cells = statistics.counts, statistics.counts.cells
    if statistics.schema != schema or tuple(counts.terms.cardinalities) != tuple(schema.cardinalities):
        raise ValueError("the statistics do not fit the schema")
    if statistics.class_weight.shape != (n_classes,) or counts.counts.shape != (len(cells), n_classes):
        raise ValueError("the statistics do not fit the schema")
    check_cells(counts.terms, cells)
    check_finite(statistics)
    if (statistics.class_weight < 0).any() or not statistics.class_weight.any() or (counts.counts < 0).any():
        raise ValueError("a count is negative, or there is none")


def check_summary(summary: TrainingSummary, schema: Schema, n_classes: int) -> None:
    """Refuse a summary of a training table that does not belong to a schema, or that no rows have."""
    cells, tuples = summary.cells, summary.tuples
    singles = Terms.singles(schema.cardinalities)
    if (
        cells.schema != schema
        or cells.counts.terms != singles
        or cells.class_weight.shape != (n_classes,)
        or cells.counts.counts.shape != (singles.n_cells, n_classes)
        or cells.moments.sums.shape != (3, 2, 0, n_classes)
        or cells.moments.exponents.shape != (0,)
        or len(summary.numbers) != len(schema.numeric)
    ):
        raise ValueError("the summary does not fit the schema")
    if tuples is not None and (
        tuple(tuples.terms.cardinalities) != tuple(schema.cardinalities)
        or tuples.counts.shape != (tuples.terms.n_cells, 1)
    ):
        raise ValueError("the summary's weights of tuples do not fit the schema")
    weights = [cells.class_weight, cells.counts.counts, *([] if tuples is None else [tuples.counts])]
    for sketch in summary.numbers:
        if sketch.bins.ndim != 1 or sketch.weights.shape != sketch.bins.shape:
            raise ValueError("a sketch of a number has bins and weights of different lengths")
        if (sketch.bins[1:] <= sketch.bins[:-1]).any() or not 1 <= sketch.precision <= SKETCH_BITS:
            raise ValueError("the bins of a sketch do not increase")
        weights += [sketch.weights, np.array([sketch.missing])]
    for array in weights:
        check_finite(array, "the summary")
        if (array < 0).any():
            raise ValueError("a weight of the summary is negative")
    if not all(summary.cell_weights(column).sum() > 0 for column in range(len(schema.coded))):
        raise ValueError("the summary has a column without weight")


def check_trials(results: dict[str, np.ndarray]) -> None:
    """Refuse lists of trials that are not equally long."""
    lengths = {array.shape[:1] for array in results.values()}
    if len(lengths) > 1 or () in lengths:
        raise ValueError("the results of the trials are not equally long")
