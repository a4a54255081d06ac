"""Fitted models as plain Python and JavaScript functions that need nothing else."""

from __future__ import annotations

import json
import pprint
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
    """Return the score of each class of a row: a dict by column name, or the cells in training order."""
    by_name = isinstance(row, dict)
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
    found = re.match(written["pattern"], text)
    if found is None:
        return None
    year, month, day, hour, minute, second = (int(part or 0) for part in found.groups()[:6])
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

# How cells are read: as they are, which a form ensures, or numbers and categories as people write them.
JAVASCRIPT_DATES = """function daysOf(written, text) {
  const found = text.match(new RegExp(written.pattern));
  if (!found) return null;
  const [year, month, day, hour, minute, second] = found.slice(1, 7).map(part => Number(part || 0));
  const midnight = new Date(Date.UTC(year, month - 1, day));
  const real = midnight.getUTCMonth() === month - 1 && midnight.getUTCDate() === day;
  if (!real || hour > 23 || minute > 59 || second > 59) return null;
  const zone = found[8] && found[8] !== "Z" ? found[8] : "+00:00";
  const east = (60 * Number(zone.slice(1, 3)) + Number(zone.slice(-2))) * (zone[0] === "-" ? -1 : 1);
  const seconds = midnight.getTime() / 1000 + 3600 * hour + 60 * (minute - east) + second;
  return (seconds * 1e6 + Number((found[7] || "0").slice(0, 6).padEnd(6, "0"))) / 86400e6;
}
function dateText(days) {
  const text = new Date(Math.round(days * 86400e3)).toISOString();
  const [day, time] = [text.slice(0, 10), text.slice(11, 19)];
  return time === "00:00:00" ? day : day + " " + (time.endsWith(":00") ? time.slice(0, 5) : time);
}
"""
PLAIN_CELLS = "const cellAs = (column, cell) => cell;\n"
WRITTEN_CELLS = (
    JAVASCRIPT_DATES
    + """function numberOf(written, text) {
  const pattern = new RegExp(written.pattern, written.ignore_case ? "i" : "");
  const found = text.length > written.longest ? null : text.match(pattern);
  if (!found || (found[1] === undefined) !== (found[7] === undefined)) return null;
  const digits = found[3].replace(/[^0-9]/g, "");
  if (/^0[0-9]/.test(digits)) return null;
  const size = Number((digits || "0") + "." + (found[4] || "0") + (found[5] || ""));
  return found[1] || found[6] || (found[2] && found[2] !== "+") ? -size : size;
}
function cellAs(column, cell) {
  if (cell instanceof Date) cell = cell.toISOString();
  if (typeof cell !== "string") return cell;
  if (column.written) return (column.written.standard ? daysOf : numberOf)(column.written, cell);
  return column.merged ? cell.trim().toLowerCase() : cell;
}
"""
)

# The part that the page of the calculator uses, too, behind one of these. Categories differ by type:
# "1" is not 1.
JAVASCRIPT_CORE = """const key = v => typeof v === "string" ? "s" + v : "n" + Number(v);
for (const t of MODEL.tuples) {
  t.at = new Map(t.cells.map((cell, i) => [cell, t.effects[i]]));
}
for (const c of MODEL.columns) {
  if (c.kind === "category") c.code = new Map(c.categories.map((v, i) => [key(cellAs(c, v)), i]));
}
const isMissing = v => v === null || v === undefined || (typeof v === "number" && Number.isNaN(v));
function below(edges, x) {
  let low = 0, high = edges.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (edges[middle] < x) low = middle + 1; else high = middle;
  }
  return low;
}
// Where a row stands on the axis of each column: at a code, or between that of a node and the next.
function placesOf(row) {
  return MODEL.columns.map((c, i) => {
    const cell = cellOf(row, c, i), absent = isMissing(cell);
    if (c.kind === "category") {
      const found = absent ? c.missing : c.code.get(key(cell));
      return {code: found === undefined ? c.unseen : found, along: 0};
    }
    if (c.cuts === undefined) return {code: null, along: 0};
    if (absent) return {code: c.missing, along: 0};
    if (c.nodes === undefined) return {code: below(c.cuts, cell), along: 0};
    let code = below(c.nodes, cell);
    if (code === c.nodes.length || c.nodes[code] > cell) code = Math.max(code - 1, 0);
    const inside = code + 1 < c.nodes.length && cell > c.nodes[code];
    return {code, along: inside ? (cell - c.nodes[code]) / (c.nodes[code + 1] - c.nodes[code]) : 0};
  });
}
const isSame = (a, b) => a.code === b.code && a.along === b.along;
const cellOf = (row, c, i) =>
  c.kind === "ignored" ? null : cellAs(c, Array.isArray(row) ? row[i] : row[c.name]);
function alone(c, cell, code) {
  if (c.effects !== undefined) return c.effects[code];
  if (c.curve === undefined) return undefined;
  const f = c.curve;
  if (isMissing(cell)) return f.missing;
  const p = below(f.edges, cell), z = (cell - f.anchors[p]) * f.scale, [a, b, q] = f.coefficients[p];
  return a.map((v, k) => v + z * (b[k] + z * q[k]));
}
function together(t, places) {
  let cells = [[0, 1]];
  t.columns.forEach((i, axis) => {
    const {code, along} = places[i], next = (c, k) => c * t.codes[axis] + k;
    cells = along === 0 ? cells.map(([c, s]) => [next(c, code), s])
      : cells.flatMap(([c, s]) => [[next(c, code), s * (1 - along)], [next(c, code + 1), s * along]]);
  });
  const listed = cells.filter(([c]) => t.at.has(c));
  if (!listed.length) return undefined;
  return MODEL.intercept.map((_, k) => listed.reduce((sum, [c, s]) => sum + s * t.at.get(c)[k], 0));
}
function contributions(row) {
  const parts = [], places = placesOf(row);
  MODEL.columns.forEach((c, i) => {
    const values = alone(c, cellOf(row, c, i), places[i].code);
    if (values !== undefined) parts.push({columns: [i], values});
  });
  for (const t of MODEL.tuples) {
    const values = together(t, places);
    if (values !== undefined) parts.push({columns: t.columns, values});
  }
  return parts;
}
function scoresOf(parts) {
  const total = MODEL.intercept.slice();
  for (const part of parts) part.values.forEach((v, k) => { total[k] += v; });
  return total.length > 1 ? total : [0, total[0]];
}
// Where cells are unknown, the score that gives about the mean of the probabilities over what they may hold.
function unknownOf(row) {
  const places = placesOf(row), unknown = [];
  (MODEL.unknown === undefined ? [] : MODEL.unknown.columns).forEach((i, k) => {
    const c = MODEL.columns[i];
    if (c.kind === "category" ? places[i].code === c.unseen : isMissing(cellOf(row, c, i))) unknown.push(k);
  });
  return unknown;
}
function attenuated(scores, row) {
  const rule = MODEL.unknown, unknown = unknownOf(row);
  if (!unknown.length) return scores;
  let variance = 0;
  for (const j of unknown) for (const k of unknown) variance += rule.covariance[j][k];
  const factor = 1 / Math.sqrt(1 + rule.per_variance * Math.max(variance, 0));
  const share = Math.min((1 - factor) / rule.most_lost, 1);
  const lack = rule.lack.length > 1 ? rule.lack : [0, rule.lack[0]];
  return scores.map((s, k) => factor * s + share * lack[k]);
}
function probabilities(parts, row) {
  const scores = attenuated(scoresOf(parts), row);
  const highest = Math.max(...scores), weights = scores.map(s => Math.exp(s - highest));
  const sum = weights.reduce((a, b) => a + b, 0);
  return weights.map(w => w / sum);
}
"""

# Reasons: shares of columns in the log odds of one class against another. A tuple's effect is shared out
# equally against the mean of training, for which tables must be those of effects, and by Shapley values
# against a row.
JAVASCRIPT_REASONS = """function firstTwo(scores) {
  let target = 0;
  scores.forEach((s, k) => { if (s > scores[target]) target = k; });
  let other = target === 0 ? 1 : 0;
  scores.forEach((s, k) => { if (k !== target && s > scores[other]) other = k; });
  return [target, other];
}
const logOdds = (v, target, other) => v.length > 1 ? v[target] - v[other] : target === 1 ? v[0] : -v[0];
function sharesFromMean(row, target, other) {
  const shares = MODEL.columns.map(() => 0);
  for (const part of contributions(row)) {
    for (const i of part.columns) shares[i] += logOdds(part.values, target, other) / part.columns.length;
  }
  return shares;
}
function sharesFromRow(row, reference, target, other) {
  const here = placesOf(row), there = placesOf(reference);
  const odds = values => values === undefined ? 0 : logOdds(values, target, other);
  const shares = MODEL.columns.map((c, i) =>
    odds(alone(c, cellOf(row, c, i), here[i].code))
      - odds(alone(c, cellOf(reference, c, i), there[i].code)));
  for (const t of MODEL.tuples) {
    const n = t.columns.length, values = [], taken = m => t.columns.filter((_, a) => m >> a & 1).length;
    if (t.columns.every(i => isSame(here[i], there[i]))) continue;
    for (let m = 0; m < 1 << n; m++) {
      const mixed = [];
      t.columns.forEach((i, a) => { mixed[i] = (m >> a & 1 ? here : there)[i]; });
      values.push(odds(together(t, mixed)));
    }
    t.columns.forEach((i, a) => {
      for (let m = 0; m < 1 << n; m++) {
        if (m >> a & 1) continue;
        let ways = n;
        for (let k = 1; k <= taken(m); k++) ways *= (n - k) / k;
        shares[i] += (values[m | 1 << a] - values[m]) / ways;
      }
    });
  }
  return shares;
}
function oddsFactor(v) {
  const f = Math.exp(Math.abs(v));
  return f < 1.095 ? f.toFixed(2) : f < 9.95 ? f.toFixed(1) : f < 999.5 ? f.toFixed(0) : "more than 1,000";
}
function cellText(c, cell) {
  if (isMissing(cell)) return "missing";
  if (c.kind === "category") {
    const code = c.code.get(key(cell));
    return code === undefined ? "unseen" : String(c.categories[code]);
  }
  if (c.written && c.written.standard) return dateText(cell);
  if (Number.isInteger(cell) && Math.abs(cell) >= 10000) return cell.toLocaleString("en-US");
  return String(Number(cell.toPrecision(6)));
}
"""

JAVASCRIPT_GIVEN_REASONS = """
// reasons(row, n, reference): the n columns that speak most for, and against, the most probable class,
// compared with a reference row, or with the mean of training. base, all log odds and rest add up to logOdds,
// the sum before unknown cells are allowed for.
function reasons(row, n = 3, reference = null) {
  checkNames(row);
  const parts = contributions(row), scores = scoresOf(parts);
  const [target, other] = firstTwo(attenuated(scores, row));
  let base = logOdds(MODEL.intercept, target, other), shares;
  if (reference === null) {
    shares = sharesFromMean(row, target, other);
  } else {
    checkNames(reference);
    for (const part of contributions(reference)) base += logOdds(part.values, target, other);
    shares = sharesFromRow(row, reference, target, other);
  }
  const every = shares.map((v, i) => ({i, v})).sort((a, b) => Math.abs(b.v) - Math.abs(a.v));
  const named = (list, side) => list.slice(0, n).map(e => {
    const c = MODEL.columns[e.i], value = cellText(c, cellOf(row, c, e.i)), label = MODEL.classes[target];
    const words = c.name + " " + value + ": " + oddsFactor(e.v) + " times the odds " + side + " " + label;
    return {column: c.name, value, logOdds: e.v, words};
  });
  const speakFor = named(every.filter(e => e.v > 0), "for");
  const speakAgainst = named(every.filter(e => e.v < 0), "against");
  const rest = [...every.filter(e => e.v > 0).slice(n), ...every.filter(e => e.v < 0).slice(n)];
  return {
    target: MODEL.classes[target], against: MODEL.classes[other], base,
    logOdds: scores[target] - scores[other], speakFor, speakAgainst,
    rest: rest.reduce((sum, e) => sum + e.v, 0),
  };
}"""

JAVASCRIPT = """// Probabilities of a %(model)s of seminaive. Needs nothing else; runs in browsers and Node.
// predictProba(row): row is an object by column name, or an array of cells in training order; null: missing.
const seminaive = (() => {
"use strict";
const MODEL = %(document)s;
%(core)s
function checkNames(row) {
  if (Array.isArray(row)) return;
  for (const c of MODEL.columns) {
    if (c.kind !== "ignored" && !(c.name in row)) throw new Error("the row lacks " + c.name);
  }
}
function predictProba(row) {
  checkNames(row);
  return probabilities(contributions(row), row);
}%(reasons)s
return {classes: MODEL.classes, predictProba%(names)s};
})();
if (typeof module !== "undefined") module.exports = seminaive;
"""


def to_python(model: Any) -> str:
    """Return a fitted additive model as Python source that defines ``predict_proba(row)``.

    A row is a dict by column name or a list of cells in training order; None and NaN are missing, values that
    training never had carry no evidence, and numbers may be written as they were in training. The result is a
    dict from class to probability.

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
    return JAVASCRIPT % {
        "model": portable.model,
        "document": script_json(portable.document()),
        "core": WRITTEN_CELLS + JAVASCRIPT_CORE + (JAVASCRIPT_REASONS if reasons else ""),
        "reasons": JAVASCRIPT_GIVEN_REASONS if reasons else "",
        "names": ", reasons" if reasons else "",
    }


def script_json(document: Any) -> str:
    """Return JSON that may stand inside a script element: no markup, and no line end that scripts forbid."""
    text = json.dumps(document, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
