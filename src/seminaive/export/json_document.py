"""A fitted additive model as JSON text, its history included."""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

from seminaive.explain.portable import Portable
from seminaive.export.documents import CHANGES

if TYPE_CHECKING:
    from seminaive.scores import Record


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
    document = Portable.of(model).document()
    if getattr(model, "edits_", ()):
        document["history"] = history_document(model.edits_)
    if getattr(model, "started_from_", ()):
        document["started_from"] = [asdict(earlier) for earlier in model.started_from_]
    return json.dumps(document, ensure_ascii=False, allow_nan=False)


def history_document(edits: tuple[Record, ...]) -> list[dict[str, Any]]:
    """Return the history of a model as lists, dicts, text and numbers."""
    return [
        {
            "kind": type(record).__name__,
            **{part.name: _plain(getattr(record, part.name)) for part in fields(record)},
        }
        for record in edits
    ]


def _plain(value: Any) -> Any:
    if type(value).__name__ in CHANGES:
        return {
            "kind": type(value).__name__,
            **{f.name: _plain(getattr(value, f.name)) for f in fields(value)},
        }
    return list(value) if isinstance(value, tuple) else value
