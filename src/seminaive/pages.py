"""HTML pages from a template and a style beside it, and pictures within them; nothing runs a script."""

from __future__ import annotations

import base64
import hashlib
import io
from importlib.resources import files
from pathlib import Path
from typing import Any

from seminaive.files import whole_file


def page_text(room: str, name: str, **content: Any) -> str:
    """Return a page: ``name.html`` of a room with the style ``name.css``, which its policy names by a hash.

    The template escapes what it is given, and refuses a name that it is not given.
    """
    from jinja2 import Environment, StrictUndefined

    folder = files(room)
    style = folder.joinpath(f"{name}.css").read_text(encoding="utf-8")
    environment = Environment(autoescape=True, undefined=StrictUndefined)
    template = environment.from_string(folder.joinpath(f"{name}.html").read_text(encoding="utf-8"))
    digest = hashlib.sha256(style.encode("utf-8")).digest()
    return template.render(style=style, style_hash=base64.b64encode(digest).decode("ascii"), **content)


def write_page(path: str | Path, room: str, name: str, **content: Any) -> Path:
    """Write a page, whole or not at all."""
    path = Path(path)
    text = page_text(room, name, **content)
    with whole_file(path) as part:
        part.write_text(text, encoding="utf-8", newline="\n")
    return path


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
