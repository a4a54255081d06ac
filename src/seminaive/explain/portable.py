"""A fitted additive model as one plain document, from which every export is written."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.encode import CategoricalColumn, EmptyColumn, NumericColumn
from seminaive.errors import ExportWarning, warn_caller
from seminaive.explain.reading import as_outputs, effects_of, scores_of
from seminaive.explain.unknown import UnknownColumns
from seminaive.scores import curve_of_number
from seminaive.statistics import ObservedTerms, Terms

if TYPE_CHECKING:
    from seminaive.arrays import Floats, Integers
    from seminaive.encode import Schema
    from seminaive.scores import AdditiveScores, FeatureCurve


FORMAT, VERSION = "seminaive-additive", 1


@dataclass(frozen=True)
class Portable:
    """An additive model without this package's types: one table or curve per column, and tables of tuples.

    Scores have one number per class, or, with two classes, the log odds of the second one alone.

    Parameters
    ----------
    model : str
        The name of the model's class.
    classes : list
    intercept : ndarray of shape (n_outputs,)
    tables : dict of position to ndarray of shape (n_codes, n_outputs)
        For categories, by their column in the schema.
    curves : dict of position to FeatureCurve
        For numbers.
    tuples : list of (positions, cells, values)
        Positions of columns; the cells that are not zero, in mixed radix, the last column fastest; their
        values, of shape (n_cells, n_outputs).
    unknown : UnknownColumns or None
        What becomes of the score of a row with unknown cells; None: nothing.
    """

    model: str
    classes: list[Any]
    intercept: Floats
    schema: Schema
    tables: dict[int, Floats]
    curves: dict[int, FeatureCurve]
    tuples: list[tuple[tuple[int, ...], Integers, Floats]]
    unknown: UnknownColumns | None = None

    @classmethod
    def of(cls, model: Any) -> Portable:
        """Take a fitted model apart; refuse one that is not additive."""
        scores = scores_of(model)
        schema = model.schema_
        coded = schema.coded
        singles, tuples = _split_tables(scores)
        tables, curves = {}, {}
        for position, column in enumerate(schema.columns):
            table = singles.get(schema.coded_index.get(position, -1))
            if isinstance(column, CategoricalColumn):
                if table is not None:
                    tables[position] = as_outputs(table)
            elif not isinstance(column, EmptyColumn):
                curve = curve_of_number(scores, column, schema.numeric_index[position], table)
                if curve is not None:
                    curves[position] = curve.map_values(as_outputs)
        return cls(
            model_name(model),
            model.classes_.tolist(),
            as_outputs(scores.prior),
            schema,
            tables,
            curves,
            [(tuple(coded[j] for j in columns), cells, values) for columns, cells, values in tuples],
            UnknownColumns.of(scores.attenuation, schema),
        )

    @classmethod
    def of_effects(cls, model: Any) -> Portable:
        """Take a fitted model apart into effects: what a column says alone is in its table or curve.

        The intercept is the mean score over the training rows, and tables of tuples are pure.
        """
        effects = effects_of(model)
        coded = effects.schema.coded
        tables, curves, tuples = {}, {}, []
        for effect in effects.features:
            if effect.curve is not None:
                curves[effect.position] = effect.curve.map_values(as_outputs)
            elif effect.table is not None:
                tables[effect.position] = as_outputs(effect.table)
        for several in effects.tuples:
            values = as_outputs(several.table)
            values = values.reshape(-1, values.shape[-1])
            kept = np.flatnonzero((values != 0).any(axis=1))
            tuples.append((tuple(coded[j] for j in several.columns), kept, values[kept]))
        return cls(
            model_name(model),
            model.classes_.tolist(),
            as_outputs(effects.intercept),
            effects.schema,
            tables,
            curves,
            tuples,
            UnknownColumns.of(model.scores_.attenuation, model.schema_),
        )

    @property
    def n_outputs(self) -> int:
        """Return how many numbers a score has."""
        return len(self.intercept)

    @property
    def dense_tuples(self) -> list[tuple[tuple[int, ...], Floats]]:
        """Return all tuples as dense tables, (n_cells, n_outputs)."""
        dense = []
        for positions, cells, values in self.tuples:
            table = np.zeros((int(np.prod(self.shape(positions))), self.n_outputs))
            table[cells] = values
            dense.append((positions, table))
        return dense

    @property
    def n_values(self) -> int:
        """Return how many numbers the dense tables of tuples have."""
        cells = sum(int(np.prod(self.shape(positions), dtype=object)) for positions, _, _ in self.tuples)
        return cells * self.n_outputs

    def shape(self, positions: tuple[int, ...]) -> tuple[int, ...]:
        """Return the number of codes of each column of a tuple."""
        return tuple(self.schema.n_values(self.schema.columns[position]) + 1 for position in positions)

    def nodes(self, position: int) -> tuple[float, ...] | None:
        """Return between which numbers tuples read a column, None where they read it by its code."""
        return getattr(self.schema.columns[position], "nodes", None)

    @property
    def coded(self) -> list[int]:
        """Return the columns whose codes are looked up: categories that matter, and numbers in tuples."""
        in_tuples = {position for positions, *_ in self.tuples for position in positions}
        return sorted({*self.tables, *in_tuples})

    def document(self) -> dict[str, Any]:
        """Return everything as lists, dicts, text and numbers."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "model": self.model,
            "classes": self.classes,
            "intercept": self.intercept.tolist(),
            "columns": [self._column(position) for position in range(len(self.schema.columns))],
            "tuples": [
                {
                    "columns": list(positions),
                    "codes": list(self.shape(positions)),
                    "cells": cells.tolist(),
                    "effects": values.tolist(),
                }
                for positions, cells, values in self.tuples
            ],
            **({} if self.unknown is None else {"unknown": self.unknown.document()}),
        }

    def _column(self, position: int) -> dict[str, Any]:
        """Return one column: how it is read, and what its values say."""
        column, is_coded = self.schema.columns[position], position in self.coded
        found: dict[str, Any] = {"name": column.name}
        if isinstance(column, EmptyColumn) or not (is_coded or position in self.curves):
            return found | {"kind": "ignored"}
        found |= _reading(column, is_coded=is_coded)
        if is_coded:
            found |= {"missing": column.n_present, "unseen": self.schema.n_values(column)}
        if position in self.tables:
            found["effects"] = self.tables[position].tolist()
        if position in self.curves:
            curve = self.curves[position]
            found["curve"] = {
                "edges": curve.edges.tolist(),
                "anchors": curve.anchors.tolist(),
                "scale": curve.scale,
                "coefficients": curve.coefficients.tolist(),
                "missing": curve.missing.tolist(),
            }
        return found


def _reading(column: CategoricalColumn | NumericColumn, *, is_coded: bool) -> dict[str, Any]:
    """Return how a column's cells are read."""
    if isinstance(column, CategoricalColumn):
        marks = {"merged": column.merged, "ordered": column.order is not None}
        marked = {name: True for name, holds in marks.items() if holds}
        return {"kind": "category", "categories": list(column.categories), **marked}
    written = {} if column.written is None else {"written": column.written.reader}
    if not is_coded:
        return {"kind": "number", **written}
    nodes = {} if column.nodes is None else {"nodes": list(column.nodes)}
    return {"kind": "number", **written, "cuts": list(column.cuts or ()), **nodes}


def model_name(model: Any) -> str:
    """Return the name of a model's class; of an edited model, that of the one it was made of."""
    return str(getattr(model, "made_of_", type(model).__name__))


def to_json(model: Any) -> str:
    """Return a fitted additive model as JSON text, for programs that read it themselves.

    The document has ``format`` ("seminaive-additive"), ``version`` (1), ``model``, ``classes``,
    ``intercept``, ``columns`` and ``tuples``. Effects have one number per class; with two
    classes one number, the log odds of the second class. A row's score is ``intercept`` plus

    - for each column of kind "category" with ``effects``: ``effects[code]``, where the code of a value is its
      position in ``categories``, else ``unseen``; that of a missing cell is ``missing``
      (where the column is ``merged``, capitals and spaces around a value do not matter; where it is
      ``ordered``, categories are levels in their order);
    - for each column of kind "number" with a ``curve``: ``curve.missing`` for a missing cell; else, with p
      the number of ``edges`` below x and ``z = (x - anchors[p]) * scale``, the polynomial
      ``coefficients[p][0] + z * (coefficients[p][1] + z * coefficients[p][2])``;
    - for each of ``tuples``: with codes c of its ``columns`` (of a number: how many ``cuts`` are below it, or
      ``missing``), the cell ``(c0 * codes[1] + c1) * codes[2] + c2`` and so on; ``effects`` at its position
      in ``cells``, or nothing where it is not listed. A number whose column has ``nodes``, one in each bin,
      is read between them: with b the last node that is not above x (0 where all are), w the share of the way
      from node b to the next, 0 where x is below it or there is none, ``1 - w`` times the effect at the code
      b plus ``w`` times that at ``b + 1``, along each such column of the tuple.

    Where the document has ``unknown``, the score s of a row with unknown cells becomes another one. Of its
    ``columns`` a category is unknown where its code is ``unseen``, and a number where it is missing. With v
    the sum of ``covariance`` over the unknown ones, in rows and columns, and
    ``k = 1 / sqrt(1 + per_variance * v)``, 0 standing for a negative v, the score is
    ``k * s + min((1 - k) / most_lost, 1) * lack``.

    Probabilities are the softmax of the scores, or the logistic function of the log odds. A column of numbers
    that came as text has ``written``: its decimal mark, mark between thousands and unit, and a regular
    expression whose groups are an opening bracket, a sign, the whole digits with marks between thousands, the
    digits after the decimal mark, an exponent, a sign after the number and a closing bracket. Text that does
    not match, or is longer than ``longest``, is missing. A column of dates has ``written``, too, with a
    ``standard`` and a regular expression whose groups are year, month, day, hour, minute, second, its
    fraction, and zone; its number is the days since the start of 1970, in universal time. Where dates with
    the year last are read as well, their expression is ``year_last``, and ``order`` says which of its first
    groups, counted from 0, are year, month and day. A model that was
    edited has its ``history``, too, and one that started from earlier models lists them as ``started_from``,
    the first one first. `from_json` makes a model of the document again.

    Parameters
    ----------
    model : a fitted additive model

    Examples
    --------
    >>> import json
    >>> from seminaive import NaiveBayes
    >>> model = NaiveBayes().fit([["wet"], ["wet"], ["dry"]], ["slip", "slip", "hold"])
    >>> json.loads(to_json(model))["columns"][0]["categories"]
    ['dry', 'wet']
    """
    from seminaive.explain.documents import history_document

    document = Portable.of(model).document()
    if getattr(model, "edits_", ()):
        document["history"] = history_document(model.edits_)
    if getattr(model, "started_from_", ()):
        document["started_from"] = [asdict(earlier) for earlier in model.started_from_]
    return json.dumps(document, ensure_ascii=False, allow_nan=False)


def warn_of_text(portable: Portable, export: str) -> None:
    """Warn of columns whose cells an export does not read as the model reads them in Python.

    Parameters
    ----------
    export : str
        Its name, as in "SQL".
    """
    columns = portable.schema.columns
    used = [columns[position] for position in sorted({*portable.coded, *portable.curves})]
    numbers = [column for column in used if isinstance(column, NumericColumn)]
    dates = [column.name for column in numbers if column.has_dates]
    written = [column for column in numbers if column.written is not None and not column.has_dates]
    merged = [column.name for column in used if isinstance(column, CategoricalColumn) and column.merged]
    sentences = []
    if written:
        first = written[0].written
        assert first is not None  # noqa: S101 - narrows the type
        names = ", ".join(repr(column.name) for column in written)
        sentences.append(
            f"{names} came as text, such as {first.example!r}, and {export} reads numbers: convert text to "
            "numbers before, without units and marks between thousands"
        )
    if dates:
        names = ", ".join(map(repr, dates))
        sentences.append(f"{export} reads the dates of {names} as numbers: give days since 1970-01-01")
    if merged:
        names = ", ".join(map(repr, merged))
        sentences.append(f"{export} reads the values of {names} letter by letter: write them as in training")
    if sentences:
        warn_caller("; ".join(sentences), ExportWarning)


def _split_tables(
    scores: AdditiveScores,
) -> tuple[dict[int, Floats], list[tuple[tuple[int, ...], Integers, Floats]]]:
    """Return tables of single columns, and the cells of tuples that are not zero."""
    singles: dict[int, Floats] = {}
    tuples = []
    terms = scores.terms
    dense = Terms(terms.features, terms.cardinalities)
    for term, columns in enumerate(terms.features):
        if isinstance(terms, ObservedTerms):
            start, stop = np.searchsorted(terms.kept, dense.offsets[term : term + 2])
            cells = terms.kept[start:stop] - dense.offsets[term]
            values = scores.tables[terms.cells_from_dense(terms.kept[start:stop])]
        else:
            values = scores.tables[terms.block(term)]
            cells = np.arange(len(values))
        if len(columns) == 1:
            whole = np.zeros((int(dense.sizes[term]), scores.n_classes))
            whole[cells] = values
            singles[columns[0]] = singles[columns[0]] + whole if columns[0] in singles else whole
            continue
        outputs = as_outputs(values)
        kept = (outputs != 0).any(axis=1)
        tuples.append((columns, cells[kept], outputs[kept]))
    return singles, tuples
