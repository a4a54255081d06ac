"""Fitted models as plain Python and JavaScript functions that need nothing else."""

from __future__ import annotations

import json
import pprint
from importlib.resources import files
from typing import Any

from seminaive.explain.portable import Portable

PYTHON = '''"""Probabilities of a {model} of seminaive. Needs nothing but Python."""

import re
from bisect import bisect_left, bisect_right
from datetime import datetime, timedelta
from math import exp, sqrt

MODEL = {document}

for _tuple in MODEL["tuples"]:
    _tuple["at"] = dict(zip(_tuple["cells"], _tuple["effects"]))
for _column in MODEL["columns"]:
    if _column["kind"] == "category":
        _column["code"] = {{}}
        for _code, _value in enumerate(_column["categories"]):
            _folds = _column.get("merged") and isinstance(_value, str)
            _column["code"][_value.strip().lower() if _folds else _value] = _code


def scores(row):
    """Return the score of each class of a row: a dict or a pandas series by name, or cells in order."""
    by_name = hasattr(row, "keys")
    if by_name:
        read = [column["name"] for column in MODEL["columns"] if column["kind"] != "ignored"]
        lacking = [name for name in read if name not in row]
        if lacking:
            raise ValueError("the row lacks " + repr(lacking)[1:-1] + ": give None where a cell is not known")
    elif len(row) != len(MODEL["columns"]):
        raise ValueError("the model has " + str(len(MODEL["columns"])) + " columns, the row " + str(len(row)))
    total = list(MODEL["intercept"])
    places, unknown = [], []
    for position, column in enumerate(MODEL["columns"]):
        cell = None
        if column["kind"] != "ignored":
            cell = row[column["name"]] if by_name else row[position]
        if hasattr(cell, "isoformat"):
            cell = cell.isoformat()
        if isinstance(cell, str) and "written" in column:
            read = _days if "standard" in column["written"] else _number
            cell = read(column["written"], cell)
        elif isinstance(cell, str) and column.get("merged"):
            cell = cell.strip().lower()
        absent = cell is None or cell != cell
        code, along = None, 0.0
        if column["kind"] == "category":
            code = column["missing"] if absent else column["code"].get(cell, column["unseen"])
        elif "cuts" in column:
            code = column["missing"] if absent else bisect_left(column["cuts"], cell)
            if "nodes" in column and not absent:
                code, along = _between(column["nodes"], cell)
        places.append([(code, 1.0 - along), (code + 1, along)] if along else [(code, 1.0)])
        unknown.append(code == column["unseen"] if column["kind"] == "category" else absent)
        if "effects" in column:
            _add(total, column["effects"][code])
        if "curve" in column:
            curve = column["curve"]
            if absent:
                _add(total, curve["missing"])
            else:
                piece = bisect_left(curve["edges"], cell)
                z = (cell - curve["anchors"][piece]) * curve["scale"]
                constant, linear, quadratic = curve["coefficients"][piece]
                _add(total, [a + z * (b + z * c) for a, b, c in zip(constant, linear, quadratic)])
    for listed in MODEL["tuples"]:
        cells = [(0, 1.0)]
        for position, size in zip(listed["columns"], listed["codes"]):
            cells = [(c * size + code, s * share) for c, s in cells for code, share in places[position]]
        for cell, share in cells:
            if cell in listed["at"]:
                _add(total, [share * value for value in listed["at"][cell]])
    if "unknown" in MODEL:
        total = _attenuated(total, unknown)
    return total if len(total) > 1 else [0.0, total[0]]


def _attenuated(total, unknown):
    """Return the score of a row some of whose cells may be unknown."""
    rule = MODEL["unknown"]
    listed = [k for k, position in enumerate(rule["columns"]) if unknown[position]]
    variance = sum(rule["covariance"][j][k] for j in listed for k in listed)
    factor = 1.0 / sqrt(1.0 + rule["per_variance"] * max(variance, 0.0))
    share = min((1.0 - factor) / rule["most_lost"], 1.0)
    return [factor * score + share * lack for score, lack in zip(total, rule["lack"])]


def predict_proba(row):
    """Return the probability of each class of a row, as a dict by class."""
    total = scores(row)
    highest = max(total)
    weights = [exp(score - highest) for score in total]
    return dict(zip(MODEL["classes"], [weight / sum(weights) for weight in weights]))


def _between(nodes, number):
    """Return the last node that is not above a number, and how far the number is on the way to the next."""
    code = max(bisect_right(nodes, number) - 1, 0)
    if code + 1 == len(nodes) or number <= nodes[code]:
        return code, 0.0
    return code, (number - nodes[code]) / (nodes[code + 1] - nodes[code])


def _days(written, text):
    """Return the days since 1970 of a date, None where a text is no date."""
    found, order = re.match(written["pattern"], text), (0, 1, 2)
    if found is None and "order" in written:
        found, order = re.match(written["year_last"], text), written["order"]
    if found is None:
        return None
    parts = [int(part or 0) for part in found.groups()[:6]]
    year, month, day, hour, minute, second = [parts[k] for k in order] + parts[3:]
    try:
        moment = datetime(year, month, day, hour, minute, second, int((found[7] or "0")[:6].ljust(6, "0")))
    except ValueError:
        return None
    zone = "+00:00" if found[8] in (None, "Z") else found[8]
    east = (60 * int(zone[1:3]) + int(zone[-2:])) * (-1 if zone[0] == "-" else 1)
    return ((moment - datetime(1970, 1, 1)) // timedelta(microseconds=1) - 60000000 * east) / 86400000000


def _number(written, text):
    """Return the number that a text says, None where it says none."""
    flags = re.IGNORECASE if written["ignore_case"] else 0
    found = None if len(text) > written["longest"] else re.match(written["pattern"], text, flags)
    if found is None or (found[1] is None) != (found[7] is None):
        return None
    digits = re.sub("[^0-9]", "", found[3])
    if re.match("0[0-9]", digits):
        return None
    size = float((digits or "0") + "." + (found[4] or "0") + (found[5] or ""))
    return -size if found[1] or found[6] or found[2] not in (None, "+") else size


def _add(total, values):
    for place, value in enumerate(values):
        total[place] += value
'''


def resource_text(name: str) -> str:
    """Return a file of this folder: a script or a style sheet."""
    return files("seminaive.export").joinpath(name).read_text(encoding="utf-8")


def to_python(model: Any) -> str:
    """Return a fitted additive model as Python source that defines ``predict_proba(row)``.

    A row is a dict or a pandas series by column name, or a list of cells in training order; None and NaN are
    missing, values that training never had carry no evidence, and numbers may be written as they were in
    training. The result is a dict from class to probability.

    Parameters
    ----------
    model : a fitted additive model

    Examples
    --------
    >>> from seminaive import NaiveBayes
    >>> model = NaiveBayes().fit([["wet"], ["wet"], ["dry"]], ["slip", "slip", "hold"])
    >>> space = {}
    >>> exec(to_python(model), space)
    >>> {label: round(p, 3) for label, p in space["predict_proba"](["wet"]).items()}
    {'hold': 0.182, 'slip': 0.818}
    """
    portable = Portable.of(model)
    document = pprint.pformat(portable.document(), width=110, compact=True, sort_dicts=False)
    return PYTHON.format(model=portable.model, document=document)


def to_javascript(model: Any, *, reasons: bool = False) -> str:
    """Return a fitted additive model as JavaScript source that defines ``seminaive.predictProba(row)``.

    A row is an object by column name or an array of cells in training order; null, undefined in an array and
    NaN are missing, and numbers may be written as they were in training. The result is an array in the order
    of ``seminaive.classes``. In Node, ``require`` it.

    Parameters
    ----------
    model : a fitted additive model
    reasons : bool, default=False
        Whether to define ``seminaive.reasons(row, n = 3, reference = null)`` as well: as `reasons`, the
        columns that speak most for and against the most probable class, compared with the mean of training
        or with a reference row. The result has ``target``, ``against``, ``base``, ``logOdds``, ``rest`` and
        the lists ``speakFor`` and ``speakAgainst`` of objects with ``column``, ``value``, ``logOdds`` and
        ``words``.
    """
    portable = Portable.of_effects(model) if reasons else Portable.of(model)
    parts = ["model_dates.js", "model_written_cells.js", "model_core.js", *["model_reasons.js"] * reasons]
    given = "\n" + resource_text("model_given_reasons.js").rstrip("\n")
    return resource_text("model_template.js") % {
        "model": portable.model,
        "document": script_json(portable.document()),
        "core": "".join(map(resource_text, parts)),
        "reasons": given if reasons else "",
        "names": ", reasons" if reasons else "",
    }


def script_json(document: Any) -> str:
    """Return JSON that may stand inside a script element: no markup, and no line end that scripts forbid."""
    text = json.dumps(document, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
