"""All that a fitted model says on one page: the calculator, and below it every picture."""

from __future__ import annotations

import base64
import html
import io
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seminaive.explain.calculator import calculator_page
from seminaive.explain.drawing import axes_of
from seminaive.explain.edit import history
from seminaive.explain.effect_display import EffectDisplay
from seminaive.explain.importance_display import ImportanceDisplay
from seminaive.explain.nomogram_display import MOST_LANES, NomogramDisplay
from seminaive.explain.pair_display import PairDisplay
from seminaive.explain.path_display import PathDisplay
from seminaive.explain.reading import effects_of
from seminaive.explain.structure_display import StructureDisplay
from seminaive.explain.tables import summary
from seminaive.explain.waterfall_display import WaterfallDisplay
from seminaive.files import whole_file
from seminaive.scores import importance

if TYPE_CHECKING:
    from collections.abc import Iterator

# The features and pairs that are drawn, and the lines of the table: those that move the scores most.
MOST_FEATURES, MOST_PAIRS, MOST_LINES = 24, 6, 20


@dataclass(frozen=True)
class _Picture:
    """A picture as SVG text.

    Parameters
    ----------
    title : str
        What is above it, and what is read aloud in its place.
    svg : str
    is_wide : bool
        Whether it is scrolled sideways where the page is narrow.
    """

    title: str
    svg: str
    is_wide: bool = False

    def markup(self) -> str:
        """Return the picture as an image within the page: it runs no script and loads nothing."""
        title = html.escape(self.title)
        content = base64.b64encode(self.svg.encode("utf-8")).decode("ascii")
        image = f'<img src="data:image/svg+xml;base64,{content}" alt="{title}">'
        if self.is_wide:
            image = f'<div class="wide" tabindex="0" role="group" aria-label="{title}">{image}</div>'
        return f"<figure><figcaption>{title}</figcaption>{image}</figure>"


def page(
    model: Any, path: str | Path, *, title: str | None = None, note: str | None = None, row: Any = None
) -> Path:
    """Write a fitted additive model as one HTML page: its calculator, and every picture of it.

    The pictures are which effects matter, the effects of the 24 features and of the 6 pairs that move the
    scores most, the nomogram of these features (and of at most 7 classes), and the path, the test losses and
    the graph of models that have them. The page needs no network and sends nothing. Needs
    ``seminaive[plot]``.

    Parameters
    ----------
    model : a fitted additive model
    path : path
        Where to write, whole or not at all.
    title : str, default=None
        The heading; by default the classes.
    note : str, default=None
        A sentence below the heading.
    row : mapping of column to cell, list of cells, or table of one row, default=None
        A row whose effects are drawn, too.

    Returns
    -------
    Path
    """
    path = Path(path)
    content = calculator_page(model, title=title, note=note, below=_below(model, row))
    with whole_file(path) as part:
        part.write_text(content, encoding="utf-8", newline="\n")
    return path


def _below(model: Any, row: Any) -> str:
    sections = [
        ("What matters", [_drawn("Which effects move the scores most", ImportanceDisplay, model)]),
        ("One row", _of_row(model, row)),
        ("Features", list(_features(model))),
        ("Pairs, beyond what their features say", list(_pairs(model))),
        ("On one sheet of paper", list(_nomogram(model))),
        ("How it was found", list(_search(model))),
    ]
    parts = []
    for heading, pictures in sections:
        if pictures:
            table = _table(model) if heading == "What matters" else ""
            shown = "".join(picture.markup() for picture in pictures)
            parts.append(f'<h2>{heading}</h2>{table}<div class="pictures">{shown}</div>')
    parts.append(_history(model))
    return f'<section class="read" aria-label="What the model says">{"".join(parts)}</section>\n'


def _features(model: Any) -> Iterator[_Picture]:
    strongest = sorted(effects_of(model).features, key=lambda own: -importance(own.deviation))
    for own in strongest[:MOST_FEATURES]:
        if importance(own.deviation) > 0:
            yield _drawn(f"Effect of {own.name}", EffectDisplay, model, own.name)


def _pairs(model: Any) -> Iterator[_Picture]:
    pairs = [own for own in effects_of(model).tuples if len(own.columns) == 2]
    strongest = sorted(pairs, key=lambda own: -importance(own.deviation))
    for own in strongest[:MOST_PAIRS]:
        if importance(own.deviation) > 0:
            yield _drawn(f"Effect of {own.name}", PairDisplay, model, own.names)


def _of_row(model: Any, row: Any) -> list[_Picture]:
    if row is None:
        return []
    return [_drawn("From the average of training to this row", WaterfallDisplay, model, row)]


def _nomogram(model: Any) -> Iterator[_Picture]:
    if len(model.classes_) > MOST_LANES + 1:
        return
    import matplotlib.pyplot as plt

    display = NomogramDisplay.from_estimator(model, features=MOST_FEATURES)
    yield _Picture("Nomogram: add the points of each ruler", _svg(display.figure_), is_wide=True)
    plt.close(display.figure_)


def _search(model: Any) -> Iterator[_Picture]:
    if hasattr(model, "path_curves"):
        yield _drawn("Path of models", PathDisplay, model)
        if hasattr(model, "fold_losses_"):
            yield _drawn("Cross-validation along the path", PathDisplay, model, "test loss")
    if hasattr(model, "partition_") or hasattr(model, "parents_"):
        yield _drawn("The model as a graph", StructureDisplay, model)


def _drawn(title: str, display: Any, *arguments: Any) -> _Picture:
    """Draw a display on a figure of its own."""
    ax = axes_of(None)
    import matplotlib.pyplot as plt

    display.from_estimator(*arguments, ax=ax)
    picture = _Picture(title, _svg(ax.figure))
    plt.close(ax.figure)
    return picture


def _svg(figure: Any) -> str:
    import matplotlib as mpl

    text = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": "seminaive"}):  # the same model gives the same page
        figure.savefig(text, format="svg", metadata={"Date": None})
    return text.getvalue()


def _history(model: Any) -> str:
    """Return what a model started from and what was done to it as a list; nothing where there is neither."""
    lines = [f"<li>{html.escape(f'Started from {own}.')}</li>" for own in getattr(model, "started_from_", ())]
    for line in history(model).itertuples(index=False):
        about = ", ".join(own for own in (line.who, line.date) if own)
        losses = f" Log loss {line.loss_before:.4f}, then {line.loss_after:.4f}."
        text = f"{line.what}. {line.why} ({about}).{losses if line.loss_before == line.loss_before else ''}"
        lines.append(f"<li>{html.escape(text)}</li>")
    return f"<h2>History</h2><ol>{''.join(lines)}</ol>" if lines else ""


def _table(model: Any) -> str:
    """Return the lines of `summary` as a table."""
    frame = summary(model).head(MOST_LINES)
    about = "log odds" if len(model.classes_) == 2 else "score"
    names = ["effect", "importance", f"lowest {about}", "at", f"highest {about}", "at"]
    head = "".join(f'<th scope="col">{name}</th>' for name in names)
    lines = []
    for line in frame.itertuples(index=False):
        numbers = [f"{line.importance:.3f}", f"{line.low:+.2f}", f"{line.high:+.2f}"]
        strength, low, high = (f'<td class="number">{own.replace("-", "&minus;")}</td>' for own in numbers)
        low_at, high_at = (f"<td>{html.escape(own)}</td>" for own in (line.low_at, line.high_at))
        shown = f"{strength}{low}{low_at}{high}{high_at}"
        lines.append(f'<tr><th scope="row">{html.escape(line.term)}</th>{shown}</tr>')
    label = html.escape(str(model.classes_[-1]))
    caption = f"Importance: standard deviation over the training rows. Lowest, highest: {about} of {label}."
    return (
        f'<div class="wide" tabindex="0" role="group" aria-label="Table of effects"><table><caption>{caption}'
        f"</caption><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table></div>"
    )
