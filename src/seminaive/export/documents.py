"""Models from JSON documents, which may have been edited by hand, or come from a stranger."""

from __future__ import annotations

import json
from dataclasses import fields
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.encode import (
    CategoricalColumn,
    ColumnReading,
    DateFormat,
    EmptyColumn,
    NumberFormat,
    NumericColumn,
    Schema,
)
from seminaive.errors import ModelFileError
from seminaive.explain.portable import FORMAT, VERSION
from seminaive.models import EditedModel
from seminaive.models.fitted_checks import check_schema, short
from seminaive.scores import (
    AdditiveScores,
    Attenuation,
    Clip,
    CurveTerms,
    Edit,
    FeatureCurve,
    Flatten,
    Monotone,
    NumericTerms,
    Points,
    Refit,
    SetTo,
    StartedFrom,
    curve_as_terms,
)
from seminaive.scores.attenuation import PER_VARIANCE
from seminaive.statistics import Terms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from seminaive.arrays import Floats
    from seminaive.scores import Record

CHANGES: dict[str, Any] = {kind.__name__: kind for kind in (SetTo, Flatten, Clip, Monotone, Points)}
RECORDS: dict[str, Any] = {"Edit": Edit, "Refit": Refit}
# What a document, and what is made of it, may take in bytes unless more is allowed.
MAX_BYTES = 1 << 28
LONGEST_TEXT = 10_000


def from_json(text: str, *, max_bytes: int = MAX_BYTES) -> EditedModel:
    """Return the model of a JSON document that `to_json` wrote, and that may have been edited by hand.

    A document that does not fit together, that asks for too much memory, or whose numbers are not finite, is
    refused with a `ModelFileError`: what is returned gives finite probabilities. The document has no summary
    of the training table, so that the model predicts, is exported and saved, and has no effects to draw.

    Parameters
    ----------
    text : str
    max_bytes : int, default=2**28
        How long the document may be, and how much its tables may take.

    Examples
    --------
    >>> from seminaive import NaiveBayes
    >>> from seminaive.export import to_json
    >>> model = NaiveBayes().fit([["wet"], ["wet"], ["dry"]], ["slip", "slip", "hold"])
    >>> from_json(to_json(model)).predict([["wet"], ["dry"]])
    array(['slip', 'hold'], dtype='<U4')
    """
    if not isinstance(text, str) or len(text) > max_bytes:
        raise ModelFileError(
            f"a document is text of at most {max_bytes:,} characters: allow more by max_bytes"
        )
    try:
        document = json.loads(text, parse_constant=_no_number)
        model = _DocumentReader(document, max_bytes).model()
        model.restore(max_bytes)
    except (Exception, RecursionError) as error:
        reason = " ".join(str(error).split())[:300]
        raise ModelFileError(f"the document is no model ({type(error).__name__}: {reason})") from error
    return model


def _no_number(constant: str) -> float:
    raise ValueError(f"{constant} is not a number of a model")


class _DocumentReader:
    """Reads the parts of a document; whatever does not fit raises an error.

    Parameters
    ----------
    document : dict
    """

    def __init__(self, document: Any, max_bytes: int) -> None:
        if type(document) is not dict or document.get("format") != FORMAT:
            raise ValueError(f"its format is not {FORMAT!r}")
        if document.get("version") != VERSION:
            raise ValueError(f"its version is {short(document.get('version'))}, and {VERSION} is read")
        self.document = document
        self.max_bytes = max_bytes
        self.classes = _labels(document["classes"])
        self.n_outputs = 1 if len(self.classes) == 2 else len(self.classes)
        self.columns = document["columns"]
        self.schema = Schema(tuple(_column(entry) for entry in self.columns))
        check_schema(self.schema)
        self.spent = 0

    def model(self) -> EditedModel:
        """Return the model."""
        made = EditedModel(keep_summary=False)
        made.classes_, made.schema_ = self.classes, self.schema
        made.n_features_in_ = len(self.schema.columns)
        if tuple(self.schema.names) != tuple(f"x{k}" for k in range(len(self.columns))):
            made.feature_names_in_ = np.array(self.schema.names, dtype=object)
        made.columns_read_ = tuple(ColumnReading("document", 0) for _ in self.columns)
        made.scores_ = self.scores()
        made.made_of_ = _text(self.document["model"])
        made.edits_ = tuple(_record(entry) for entry in self.document.get("history", []))
        if "started_from" in self.document:
            made.started_from_ = tuple(_earlier(entry) for entry in self.document["started_from"])
        return made

    def scores(self) -> AdditiveScores:
        """Return the scores: tables of columns and tuples, and curves as polynomials and knots."""
        coded = self.schema.coded_index
        blocks: list[tuple[tuple[int, ...], Floats]] = []
        numeric, curves = NumericTerms.none(len(self.classes)), CurveTerms.none(len(self.classes))
        for position, column in enumerate(self.columns):
            if "effects" in column:
                blocks.append(((coded[position],), self.table((position,), column["effects"])))
            if "curve" in column:
                number = self.schema.numeric_index[position]
                polynomials, knots = curve_as_terms(self.curve(column["curve"]), number)
                numeric, curves = numeric.joined(polynomials), curves.joined(knots)
        for entry in self.document["tuples"]:
            positions = self.positions(entry, coded)
            blocks.append((tuple(coded[k] for k in positions), self.cells(positions, entry)))
        terms = Terms(tuple(columns for columns, _ in blocks), self.schema.cardinalities)
        tables = np.concatenate([np.empty((0, len(self.classes))), *(values for _, values in blocks)])
        prior = self.by_class(_numbers(self.document["intercept"], (self.n_outputs,)))
        return AdditiveScores(prior, terms, tables, numeric, curves, attenuation=self.attenuation())

    def attenuation(self) -> Attenuation | None:
        """Return what becomes of scores where cells are unknown."""
        unknown = self.document.get("unknown")
        if unknown is None:
            return None
        features, listed = self.schema.features, unknown["columns"]
        if not all(type(k) is int and k in features for k in listed) or len(set(listed)) < len(listed):
            raise ValueError("unknown cells are of a column that is not there, or is listed twice")
        indices = [features.index(k) for k in listed]
        covariance = np.zeros((len(features), len(features)))
        covariance[np.ix_(indices, indices)] = _numbers(unknown["covariance"], (len(listed), len(listed)))
        if float(_numbers(unknown["per_variance"], ())) != PER_VARIANCE:
            raise ValueError(
                f"per_variance is {short(unknown['per_variance'])}, and {PER_VARIANCE!r} is read"
            )
        lack = self.by_class(_numbers(unknown["lack"], (self.n_outputs,)))
        return Attenuation(covariance, lack, float(_numbers(unknown["most_lost"], ())))

    def by_class(self, outputs: Floats) -> Floats:
        """Return numbers with one value per class on the last axis."""
        if self.n_outputs > 1:
            return outputs
        return np.concatenate([np.zeros_like(outputs), outputs], axis=-1)

    def shape(self, positions: tuple[int, ...]) -> tuple[int, ...]:
        """Return the number of codes of each column; refuse a table that is too large."""
        sizes = tuple(self.schema.n_values(self.schema.columns[position]) + 1 for position in positions)
        self.spent += 8 * prod(sizes) * len(self.classes)
        if self.spent > self.max_bytes:
            raise ValueError(f"its tables take more than {self.max_bytes:,} bytes: allow more by max_bytes")
        return sizes

    def table(self, positions: tuple[int, ...], effects: Any) -> Floats:
        """Return a table that is listed as a whole."""
        return self.by_class(_numbers(effects, (prod(self.shape(positions)), self.n_outputs)))

    def positions(self, entry: Any, coded: dict[int, int]) -> tuple[int, ...]:
        """Return the columns of a tuple, which are coded and increase."""
        positions = tuple(entry["columns"])
        if len(positions) < 2 or not all(type(k) is int and k in coded for k in positions):
            raise ValueError(f"{short(entry['columns'])} are not two or more columns with codes")
        if not all(a < b for a, b in pairwise(positions)):
            raise ValueError(f"the columns {short(entry['columns'])} do not increase")
        return positions

    def cells(self, positions: tuple[int, ...], entry: Any) -> Floats:
        """Return a table of which some cells are listed."""
        sizes = self.shape(positions)
        if list(entry["codes"]) != list(sizes):
            raise ValueError(f"a tuple has {short(entry['codes'])} codes, and its columns have {sizes}")
        cells = entry["cells"]
        if not all(type(cell) is int and 0 <= cell < prod(sizes) for cell in cells) or len(set(cells)) < len(
            cells
        ):
            raise ValueError("a tuple lists a cell that it does not have, or one twice")
        table = np.zeros((prod(sizes), self.n_outputs))
        table[cells] = _numbers(entry["effects"], (len(cells), self.n_outputs))
        return self.by_class(table)

    def curve(self, entry: Any) -> FeatureCurve:
        """Return a curve."""
        n_pieces = len(entry["anchors"])
        edges, anchors = _numbers(entry["edges"], (n_pieces - 1,)), _numbers(entry["anchors"], (n_pieces,))
        scale = float(_numbers(entry["scale"], ()))
        if (np.diff(edges) <= 0).any() or scale <= 0:
            raise ValueError("the edges of a curve do not increase, or its scale is not above 0")
        coefficients = _numbers(entry["coefficients"], (n_pieces, 3, self.n_outputs))
        missing = _numbers(entry["missing"], (self.n_outputs,))
        return FeatureCurve(edges, anchors, scale, self.by_class(coefficients), self.by_class(missing))


def _numbers(values: Any, shape: tuple[int, ...]) -> Floats:
    """Return numbers of a shape; refuse anything else, and numbers that are not finite."""
    array = np.array(values, dtype=object)
    if array.shape != shape and not (array.size == 0 and prod(shape) == 0):
        raise ValueError(f"numbers of the shape {shape} were expected, got {array.shape}")
    if not all(type(value) in (int, float) for value in array.ravel().tolist()):
        raise ValueError("something stands in the place of a number")
    numbers: Floats = array.reshape(shape).astype(np.float64)
    if not np.isfinite(numbers).all():
        raise ValueError("a number is not finite")
    return numbers


def _text(value: Any) -> str:
    if type(value) is not str or len(value) > LONGEST_TEXT:
        raise ValueError(f"{short(value)} stands for text")
    return value


def _labels(values: Any) -> NDArray[Any]:
    """Return class labels: two or more, of one type, and different from each other."""
    kinds = {type(value) for value in values}
    if type(values) is not list or len(values) < 2 or len(kinds) > 1 or not kinds <= {str, int, float, bool}:
        raise ValueError("the classes are not two or more labels of one type")
    if sorted(set(values)) != values:
        raise ValueError("the classes are not sorted, or occur twice")
    return np.array(values)


def _column(entry: Any) -> CategoricalColumn | NumericColumn | EmptyColumn:
    name = _text(entry["name"])
    if entry["kind"] == "ignored":
        return EmptyColumn(name)
    if entry["kind"] == "category":
        categories = tuple(entry["categories"])
        missing_seen = _counts_missing(entry, len(categories))
        order = categories if entry.get("ordered", False) else None
        return CategoricalColumn(name, categories, missing_seen, entry.get("merged", False), order)
    if entry["kind"] != "number":
        raise ValueError(f"column {name!r} is of the kind {short(entry['kind'])}")
    written = _number_format(entry["written"]) if "written" in entry else None
    if "cuts" not in entry:
        return NumericColumn(name, missing_seen=False, written=written)
    cuts = tuple(_numbers(entry["cuts"], (len(entry["cuts"]),)).tolist())
    nodes = tuple(_numbers(entry["nodes"], (len(cuts) + 1,)).tolist()) if "nodes" in entry else None
    return NumericColumn(name, _counts_missing(entry, len(cuts) + 1), cuts, written, nodes)


def _number_format(entry: Any) -> NumberFormat | DateFormat:
    """Return how text writes the numbers of a column; `check_schema` refuses a format that nobody writes."""
    if "standard" in entry:
        return DateFormat(_text(entry["standard"]))
    return NumberFormat(_text(entry["decimal"]), _text(entry["grouping"]), _text(entry["unit"]))


def _counts_missing(entry: Any, n_present: int) -> bool:
    """Tell whether a missing cell is a value of a column; refuse codes that are not those of its values."""
    if entry["missing"] != n_present or entry["unseen"] not in (n_present, n_present + 1):
        raise ValueError(f"the codes of column {entry['name']!r} do not follow its values")
    return bool(entry["unseen"] > n_present)


# History


def _earlier(entry: Any) -> StartedFrom:
    """Return the record of an earlier model."""
    wanted = {part.name for part in fields(StartedFrom)}
    if type(entry) is not dict or set(entry) != wanted or type(entry["n_rows"]) is not int:
        raise ValueError(f"the fields of an earlier model are {sorted(wanted)}, its rows a whole number")
    columns, away = (tuple(_text(name) for name in entry[key]) for key in ("columns", "not_in_table"))
    slope = float(_numbers(entry["slope"], ()))
    record = StartedFrom(_text(entry["model"]), slope, columns, away, entry["n_rows"])
    record.check_consistent()
    return record


def _record(entry: Any) -> Record:
    """Return one line of a history."""
    given = dict(entry)
    kind = RECORDS[given.pop("kind")]
    if set(given) != {part.name for part in fields(kind)}:
        raise ValueError(f"the fields of {kind.__name__} are {sorted(part.name for part in fields(kind))}")
    for name in ("who", "why", "date"):
        _text(given[name])
    for name in ("loss_before", "loss_after"):
        if given[name] is not None:
            given[name] = float(_numbers(given[name], ()))
    if kind is Edit:
        change = dict(given["change"])
        made = CHANGES[change.pop("kind")]
        values: dict[str, Any] = {
            name: tuple(part) if type(part) is list else part for name, part in change.items()
        }
        given["change"] = made(**values)
        _text(given["column"])
    else:
        given["held"] = tuple(_text(name) for name in given["held"])
        given["ridge"] = float(_numbers(given["ridge"], ()))
        if not all(type(given[name]) is int for name in ("order", "n_rows")):
            raise ValueError("the order and the rows of a fit are whole numbers")
    record: Record = kind(**given)
    return record
