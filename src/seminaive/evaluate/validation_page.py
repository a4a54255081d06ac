"""A validation as one HTML page that a reviewer can read."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from seminaive.evaluate.calibration_display import CalibrationDisplay
from seminaive.evaluate.column_effects_display import ColumnEffectsDisplay
from seminaive.evaluate.decision_curve_display import DecisionCurveDisplay
from seminaive.evaluate.instability_display import InstabilityDisplay
from seminaive.evaluate.validation_measures import measures_for
from seminaive.evaluate.validation_result import Validation
from seminaive.pages import picture_address, write_page

if TYPE_CHECKING:
    import pandas as pd

# Classes that are drawn of several, terms in the table, and columns whose effects are drawn.
_MOST_CLASSES, _MOST_TERMS, _MOST_COLUMNS = 4, 30, 12


def write_validation_page(found: Validation, path: str | Path, title: str) -> Path:
    """Write a validation as one HTML page.

    Parameters
    ----------
    path : path
        Where to write, whole or not at all.

    Returns
    -------
    Path
    """
    titles = {measure.name: measure for measure in measures_for(len(found.classes))}
    lines = [
        {**line, "title": titles[line["measure"]].title, "ideal": titles[line["measure"]].ideal}
        for line in found.summary.to_dict("records")
    ]
    return write_page(
        path,
        "seminaive.evaluate",
        "validation_page",
        title=title,
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


def _pictures(found: Validation) -> Any:
    """Yield the caption and the pictures of each class that is drawn."""
    shown = [None] if len(found.classes) == 2 else found.classes[:_MOST_CLASSES].tolist()
    for target in shown:
        label = found.classes[found.position_of(target)]
        displays: dict[str, Any] = {
            "Calibration": CalibrationDisplay,
            "Decision curve": DecisionCurveDisplay,
            "Stability of each row's probability": InstabilityDisplay,
        }
        drawn = {name: display.from_validation(found, target) for name, display in displays.items()}
        yield str(label), [(name, picture_address(picture.figure_)) for name, picture in drawn.items()]


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
        yield name, picture_address(ColumnEffectsDisplay.from_validation(found, name).figure_)
