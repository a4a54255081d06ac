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


def rendered(
    room: str, name: str, filters: Mapping[str, Callable[..., Any]] | None = None, **content: Any
) -> str:
    """Return the text that the template ``name.html`` of a room makes.

    The template escapes what it is given, and refuses a name that it is not given; it may extend
    ``page.html``, or another of its room. Its filters are those of Jinja2 and the given ones.
    """
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    def text_of(name: str) -> str:
        folder = files("seminaive" if name == "page.html" else room)
        return folder.joinpath(name).read_text(encoding="utf-8")

    environment = Environment(autoescape=True, undefined=StrictUndefined, loader=FunctionLoader(text_of))
    environment.filters |= filters or {}
    return environment.get_template(f"{name}.html").render(**content)


def page_text(
    room: str, name: str, filters: Mapping[str, Callable[..., Any]] | None = None, **content: Any
) -> str:
    """Return a page: ``name.html`` of a room, styled by ``name.css``, which its policy names by a hash."""
    style = files(room).joinpath(f"{name}.css").read_text(encoding="utf-8")
    return rendered(room, name, filters, style=style, style_hash=policy_hash(style), **content)


def policy_hash(text: str) -> str:
    """Return the SHA-256 of a style or a script, by which the policy of a page allows it and no other."""
    return base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


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
