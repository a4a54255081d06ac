"""A validation as one HTML page that a reviewer can read."""

import base64
import hashlib
import io
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, StrictUndefined

from seminaive.evaluate.calibration_display import CalibrationDisplay
from seminaive.evaluate.column_effects_display import ColumnEffectsDisplay
from seminaive.evaluate.decision_curve_display import DecisionCurveDisplay
from seminaive.evaluate.instability_display import InstabilityDisplay
from seminaive.evaluate.validation import Validation
from seminaive.evaluate.validation_measures import measures_for
from seminaive.files import whole_file

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["write_validation_page"]

# Classes that are drawn of several, terms in the table, and columns whose effects are drawn.
_MOST_CLASSES, _MOST_TERMS, _MOST_COLUMNS = 4, 30, 12


def write_validation_page(found: Validation, path: str | Path, title: str) -> Path:
    """Write a validation as one HTML page.

    Parameters
    ----------
    found : Validation
    path : path
        Where to write, whole or not at all.
    title : str

    Returns
    -------
    Path
    """
    path = Path(path)
    folder = files("seminaive.evaluate")
    style = folder.joinpath("validation_page.css").read_text(encoding="utf-8")
    environment = Environment(autoescape=True, undefined=StrictUndefined)
    template = environment.from_string(folder.joinpath("validation_page.html").read_text(encoding="utf-8"))
    titles = {measure.name: measure for measure in measures_for(len(found.classes))}
    lines = [
        {**line, "title": titles[line["measure"]].title, "ideal": titles[line["measure"]].ideal}
        for line in found.summary.to_dict("records")
    ]
    content = template.render(
        title=title,
        style=style,
        style_hash=base64.b64encode(hashlib.sha256(style.encode("utf-8")).digest()).decode("ascii"),
        found=found,
        lines=lines,
        log_loss=lines[0],
        pictures=list(_pictures(found)),
        effects=list(_effect_pictures(found)),
        terms=found.kept.head(_MOST_TERMS).to_dict("records"),
        n_terms=len(found.kept),
        change=float(found.instability["mean_change"].mean()),
        other_class=float(found.instability["other_class"].mean()),
    )
    with whole_file(path) as part:
        part.write_text(content, encoding="utf-8", newline="\n")
    return path


def _pictures(found: Validation) -> Any:
    """Yield the caption and the pictures of each class that is drawn."""
    shown = [None] if len(found.classes) == 2 else found.classes[:_MOST_CLASSES].tolist()
    for target in shown:
        label = found.classes[found.position_of(target)]
        yield (
            str(label),
            [
                ("Calibration", _image(CalibrationDisplay.from_validation(found, target))),
                ("Decision curve", _image(DecisionCurveDisplay.from_validation(found, target))),
                (
                    "Stability of each row's probability",
                    _image(InstabilityDisplay.from_validation(found, target)),
                ),
            ],
        )


def _effect_pictures(found: Validation) -> Any:
    """Yield name and picture of the columns whose effects have the largest ranges."""
    effects = found.effects
    if effects.empty:
        return
    if "class" in effects:
        effects = effects[effects["class"] == found.classes[-1]]
    reach = effects.groupby("column", sort=False)["effect"].agg(lambda part: part.max() - part.min())
    ranked: pd.Series = reach[reach > 0].sort_values(ascending=False, kind="stable")
    for name in ranked.index[:_MOST_COLUMNS]:
        yield name, _image(ColumnEffectsDisplay.from_validation(found, name))


def _image(display: Any) -> str:
    """Return a drawn picture as SVG in the address of an image, which runs no script."""
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    text = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": "seminaive"}):  # the same replays give the same page
        display.figure_.savefig(text, format="svg", metadata={"Date": None})
    plt.close(display.figure_)
    return f"data:image/svg+xml;base64,{base64.b64encode(text.getvalue().encode('utf-8')).decode('ascii')}"
