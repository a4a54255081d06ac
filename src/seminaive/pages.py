"""HTML pages from a template and a style beside it, and pictures within them; nothing runs a script."""

from __future__ import annotations

import base64
import hashlib
import io
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from seminaive.files import write_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path


def page_text(
    room: str, name: str, filters: Mapping[str, Callable[..., Any]] | None = None, **content: Any
) -> str:
    """Return a page: ``name.html`` of a room with the style ``name.css``, which its policy names by a hash.

    The template escapes what it is given, and refuses a name that it is not given. Its filters are those of
    Jinja2 and the given ones.
    """
    from jinja2 import Environment, StrictUndefined

    folder = files(room)
    style = folder.joinpath(f"{name}.css").read_text(encoding="utf-8")
    environment = Environment(autoescape=True, undefined=StrictUndefined)
    environment.filters |= filters or {}
    template = environment.from_string(folder.joinpath(f"{name}.html").read_text(encoding="utf-8"))
    digest = hashlib.sha256(style.encode("utf-8")).digest()
    return template.render(style=style, style_hash=base64.b64encode(digest).decode("ascii"), **content)


def write_page(path: str | Path, room: str, name: str, **content: Any) -> Path:
    """Write a page, whole or not at all."""
    return write_text(path, page_text(room, name, **content))


def svg_text(figure: Any, *left_out: str) -> str:
    """Return a figure of matplotlib as SVG without some metadata: the same picture gives the same text."""
    import matplotlib as mpl

    text = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": "seminaive"}):
        figure.savefig(text, format="svg", metadata=dict.fromkeys(("Date", *left_out)))
    return text.getvalue()


def picture_address(figure: Any) -> str:
    """Return a figure of matplotlib as SVG in the address of an image, and close it."""
    import matplotlib.pyplot as plt

    content = base64.b64encode(svg_text(figure).encode("utf-8")).decode("ascii")
    plt.close(figure)
    return f"data:image/svg+xml;base64,{content}"
