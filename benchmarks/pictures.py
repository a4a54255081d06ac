"""A contact sheet: every display of a fitted model on six tables, light and dark, in one HTML page.

    python benchmarks/pictures.py [PAGE.html] [TABLE ...]

The tables are read from the folder that SEMINAIVE_DATA names; SemiNaive is fitted to at most 3,000 rows each.
"""

import base64
import html
import io
import os
import sys
import warnings
from pathlib import Path

import matplotlib as mpl
import numpy as np

mpl.use("Agg")
import matplotlib.pyplot as plt

from seminaive import SemiNaive, explain
from seminaive.explain.reading import effects_of
from seminaive.explain.what_matters import strongest, tuples_that_matter
from seminaive_experiments import load_dataset

TABLES = ("adult", "heart-cleveland", "german-credit", "cmc", "sonar", "spambase")
MOST_ROWS, MOST_FEATURES, MOST_PAIRS = 3_000, 6, 2
STYLES = {"light": "default", "dark": "dark_background"}


def displays(model, row):
    """Yield the name of each display and a function that draws it."""
    effects = effects_of(model)
    known = {"effects": effects}
    yield "importance", lambda: explain.ImportanceDisplay.from_estimator(model, **known)
    for effect in strongest(effects.features)[:MOST_FEATURES]:
        yield (
            effect.name,
            lambda effect=effect: explain.EffectDisplay.from_estimator(model, effect.name, **known),
        )
    for pair in [pair for pair in tuples_that_matter(effects) if len(pair.columns) == 2][:MOST_PAIRS]:
        yield pair.name, lambda pair=pair: explain.PairDisplay.from_estimator(model, pair.names, **known)
    yield "one row", lambda: explain.WaterfallDisplay.from_estimator(model, row, **known)
    yield "nomogram", lambda: explain.NomogramDisplay.from_estimator(model, row=row, **known)


def pictured(draw, style):
    """Return a display as an image within a page."""
    with plt.style.context(style):
        display = draw()
        content = io.BytesIO()
        display.figure_.savefig(content, format="png", dpi=75)
        plt.close(display.figure_)
    return base64.b64encode(content.getvalue()).decode("ascii")


def section(name):
    """Return the pictures of one table as markup."""
    data = load_dataset(name)
    rows = np.random.default_rng(0).permutation(len(data.y))[:MOST_ROWS]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = SemiNaive(random_state=0).fit(data.X.iloc[rows], data.y[rows])
    parts = [f"<h2>{html.escape(name)}</h2>"]
    for title, draw in displays(model, data.X.iloc[rows[:1]]):
        images = "".join(
            f'<img class="{kind}" alt="" src="data:image/png;base64,{pictured(draw, style)}">'
            for kind, style in STYLES.items()
        )
        parts.append(f"<figure><figcaption>{html.escape(title)}</figcaption>{images}</figure>")
    return "".join(parts)


def main(path="docs/_build/pictures.html", *tables):
    """Write the page; without the tables say so and write nothing."""
    if not os.environ.get("SEMINAIVE_DATA"):
        print("skipped: SEMINAIVE_DATA names no folder of tables, so there is nothing to draw")
        return
    sections = []
    for name in tables or TABLES:
        print(f"drawing {name}", flush=True)
        sections.append(section(name))
    style = (
        "body{font:16px system-ui,sans-serif;margin:1rem}figure{margin:0 0 2rem}"
        "img{max-width:49%;vertical-align:top;border:1px solid #ccc}"
    )
    page = (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>Pictures</title><style>{style}</style>'
    )
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(
        f"{page}<h1>Every display, light and dark</h1>{''.join(sections)}</html>", encoding="utf-8"
    )
    print(target)


if __name__ == "__main__":
    main(*sys.argv[1:])
