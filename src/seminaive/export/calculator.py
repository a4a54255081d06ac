"""A fitted model as one page that calculates probabilities, offline, in any browser."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.encode import CategoricalColumn, TableEncoder, open_table
from seminaive.errors import InputError
from seminaive.explain.portable import Portable
from seminaive.explain.reading import effects_of, holds_whole_numbers, label_text
from seminaive.export.programs import resource_text, script_json
from seminaive.files import write_text
from seminaive.pages import policy_hash, rendered
from seminaive.scores import log_posterior

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from seminaive.scores import Effects, FeatureEffect

SELF_TEST_ROWS = 20
# Cells are read as they are: the form ensures that numbers are numbers.
PLAIN_CELLS = "const cellAs = (column, cell) => cell;\n"


def calculator(
    model: Any,
    path: str | Path,
    *,
    title: str | None = None,
    note: str | None = None,
    labels: Mapping[str, str] | None = None,
    units: Mapping[str, str] | None = None,
) -> Path:
    """Write a fitted additive model as one HTML page that calculates probabilities.

    The page needs no network and sends nothing. Every field may stay "not known". A number outside the middle
    99 % of the training rows is calculated with a warning; text that is no number is refused. A decimal comma
    is read where the reader's language writes one. On opening, the page compares its probabilities of 20
    made-up rows with those of the model, and shows nothing where they differ. A link can fill
    the form: ``page.html#{"age": "63", "sex": "male"}``.

    Parameters
    ----------
    model : a fitted additive model
    path : path
        Where to write, whole or not at all.
    title : str, default=None
        The heading; by default the classes.
    note : str, default=None
        A sentence below the heading, on what the page is for.
    labels : mapping of column to text, default=None
        What columns are called on the page.
    units : mapping of column to text, default=None
        Units of numbers, such as "years".

    Returns
    -------
    Path
    """
    page = calculator_page(model, title=title, note=note, labels=labels, units=units)
    return write_text(path, page)


def calculator_page(
    model: Any,
    *,
    title: str | None = None,
    note: str | None = None,
    labels: Mapping[str, str] | None = None,
    units: Mapping[str, str] | None = None,
    effects: Effects | None = None,
    template: str = "calculator",
    **parts: Any,
) -> str:
    """Return the page of `calculator` as text.

    Parameters
    ----------
    model, title, note, labels, units
        As of `calculator`.
    effects : Effects, default=None
        Of the model, where they are at hand; None takes it apart.
    template : {"calculator", "model_page"}, default="calculator"
        The second extends the first, above and below the calculator.
    **parts
        What a template that extends the calculator shows.
    """
    portable = Portable.of(model)
    effects = effects or effects_of(model)
    for given, what in ((labels, "labels"), (units, "units")):
        foreign = [name for name in given or {} if name not in model.schema_.names]
        if foreign:
            raise InputError(
                f"{what} names {foreign[0]!r}, which is not a column: {list(model.schema_.names)}"
            )
    document = _packed(portable)
    _describe(document, effects, labels or {}, units or {})
    document["test"] = _self_test(model, effects)
    style = _without_indents(resource_text("calculator.css") + (resource_text("page.css") if parts else ""))
    has_dates = any(getattr(column, "has_dates", False) for column in model.schema_.columns)
    dates = resource_text("model_dates.js") if has_dates else ""
    core = dates + PLAIN_CELLS + resource_text("model_core.js") + resource_text("model_reasons.js")
    code = _without_indents(resource_text("calculator.js").replace("/* CORE */", core))
    script = f'"use strict";\nconst MODEL = {script_json(document)};\n{code}'
    heading = title or f"Probability of each class: {', '.join(map(label_text, portable.classes[:4]))}"
    return rendered(
        "seminaive.export",
        template,
        title=heading,
        note=note,
        model=portable.model,
        style=style,
        script=script,
        style_hash=policy_hash(style),
        script_hash=policy_hash(script),
        **parts,
    )


def _without_indents(text: str) -> str:
    """Return a program, or a style sheet, without indents and lines of comments."""
    lines = (line.strip() for line in text.splitlines())
    return "\n".join(line for line in lines if not line.startswith("//"))


def _packed(portable: Portable) -> dict[str, Any]:
    """Return the document with the numbers of tuples as one block of doubles, and a bit for each that is.

    Of the covariance of unknown columns, too, the lower triangle is such a block.
    """
    document = portable.document()
    document["tuples"] = [{"columns": list(positions)} for positions, _, _ in portable.tuples]
    there = [
        np.zeros(int(np.prod(portable.shape(positions))), dtype=np.uint8)
        for positions, _, _ in portable.tuples
    ]
    for mask, (_, cells, _) in zip(there, portable.tuples, strict=True):
        mask[cells] = 1
    bits = np.packbits(np.concatenate([np.empty(0, np.uint8), *there]), bitorder="little")
    document["bits"] = _text_of(bits.tobytes())
    values = [np.empty(0), *(effects.ravel() for _, _, effects in portable.tuples)]
    document["packed"] = _text_of(np.concatenate(values).astype("<f8").tobytes())
    if portable.unknown is not None:
        lower = portable.unknown.covariance[np.tril_indices(len(portable.unknown.positions))]
        document["unknown"]["covariance"] = _text_of(lower.astype("<f8").tobytes())
    return document


def _text_of(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")


def _describe(
    document: dict[str, Any], effects: Effects, labels: Mapping[str, str], units: Mapping[str, str]
) -> None:
    """Add to each column what is shown: its label, its unit and its usual range."""
    by_position = {effect.position: effect for effect in effects.features}
    for position, column in enumerate(document["columns"]):
        column["label"] = labels.get(column["name"], column["name"])
        if column["kind"] == "number":
            effect = by_position.get(position)
            low, high = (-1e140, 1e140) if effect is None else usual_range(effect)
            column |= {"unit": units.get(column["name"], ""), "low": low, "high": high}


def usual_range(effect: FeatureEffect) -> tuple[float, float]:
    """Return the middle 99 % of the numbers of training, outwards to whole numbers or to three digits.

    The summary of training has bins, and the middle of the outermost ones would be a number such as 3.016.
    """
    low, high = effect.range_seen()
    if high <= low:
        return low, high
    step = 1.0 if holds_whole_numbers(effect) else 10.0 ** (np.floor(np.log10(high - low)) - 2)
    digits = max(0, -int(np.floor(np.log10(step))))
    return round(float(np.floor(low / step) * step), digits), round(
        float(np.ceil(high / step) * step), digits
    )


def _self_test(model: Any, effects: Effects) -> list[Any]:
    """Return made-up rows, missing and unseen cells among them, with the model's probabilities."""
    rng = np.random.default_rng(0)
    by_position = {effect.position: effect for effect in effects.features}
    columns = model.schema_.columns
    rows = [
        [_made_up(column, by_position.get(k), rng) for k, column in enumerate(columns)]
        for _ in range(SELF_TEST_ROWS)
    ]
    unseen = {
        k: (f"{max(map(str, column.categories), key=len)} ?" if column.is_text else -987654321)
        for k, column in enumerate(model.schema_.columns)
        if isinstance(column, CategoricalColumn) and column.categories
    }
    cells = [[unseen.get(k) if cell is OTHER else cell for k, cell in enumerate(row)] for row in rows]
    table = TableEncoder(model.schema_).encode(open_table(np.array(cells, dtype=object)))
    proba = np.exp(log_posterior(model.scores_.joint_log_scores(table)))
    shown = [[{"other": 1} if cell is OTHER else cell for cell in row] for row in rows]
    return [[row, np.round(posterior, 12).tolist()] for row, posterior in zip(shown, proba, strict=True)]


OTHER = object()


def _made_up(column: Any, effect: FeatureEffect | None, rng: np.random.Generator) -> Any:
    """Return a cell of a column: mostly a known value, sometimes missing or unseen."""
    chance = rng.random()
    if effect is None or chance < 0.15:
        return None
    if isinstance(column, CategoricalColumn):
        return OTHER if chance < 0.25 else column.categories[rng.integers(len(column.categories))]
    low, high = effect.range_seen()
    return float(f"{low + (high - low) * (1.4 * rng.random() - 0.2):.4g}")
