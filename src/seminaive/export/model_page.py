"""All that a fitted model says on one page: what matters, the calculator, and the rest behind one click."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.edits.edit import history
from seminaive.explain.effect_display import EffectDisplay
from seminaive.explain.importance_display import ImportanceDisplay
from seminaive.explain.nomogram_display import MOST_LANES, NomogramDisplay
from seminaive.explain.pair_display import PairDisplay
from seminaive.explain.path_display import PathDisplay
from seminaive.explain.portable import model_name
from seminaive.explain.reading import effects_of
from seminaive.explain.structure_display import StructureDisplay
from seminaive.explain.tables import summary
from seminaive.explain.waterfall_display import WaterfallDisplay
from seminaive.explain.what_matters import joint_sentence, largest_effect, strongest, tuples_that_matter
from seminaive.export.calculator import calculator_page
from seminaive.files import write_text
from seminaive.pages import picture_address
from seminaive.scores import importance

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from seminaive.scores import Effects

# The features and pairs that are drawn, and the lines of the table: those that move the scores most.
MOST_FEATURES, MOST_PAIRS, MOST_LINES = 24, 6, 20
# Features that are shown before the calculator, and classes that are listed with their shares.
FIRST_FEATURES, MOST_CLASSES = 8, 8


@dataclass(frozen=True)
class _Picture:
    """A picture within the page.

    Parameters
    ----------
    title : str
        What is above it, and what is read aloud in its place.
    address : str
        The image itself: it runs no script and loads nothing.
    is_wide : bool
        Whether it has the whole width of the page, and is scrolled sideways where that is narrow.
    """

    title: str
    address: str
    is_wide: bool = False


def page(
    model: Any, path: str | Path, *, title: str | None = None, note: str | None = None, row: Any = None
) -> Path:
    """Write a fitted additive model as one HTML page: what it is, what matters, its calculator, and the rest.

    First come what the model is and how good it may be, which columns matter, the effects of the 8 features
    and of the 6 pairs that move the scores most, and the calculator. Behind one click are the effects of up
    to 24 features, effects in numbers, the nomogram (of at most 7 classes), and the path, the test losses and
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
    return write_text(path, _Page(model, effects_of(model)).content(title, note, row))


@dataclass(frozen=True)
class _Page:
    """The parts of a page, all drawn from one set of effects.

    Parameters
    ----------
    model : a fitted additive model
    """

    model: Any
    effects: Effects

    def content(self, title: str | None, note: str | None, row: Any) -> str:
        """Compose the page: what matters, then the calculator, then the rest behind one click."""
        matters = self._drawn("Which columns move the scores most", ImportanceDisplay)
        features = list(self._features())
        return calculator_page(
            self.model,
            title=title,
            note=note,
            effects=self.effects,
            template="model_page",
            what_it_is=self._what_it_is(),
            matters=[matters, *self._of_row(row)],
            features=features[:FIRST_FEATURES],
            pairs=list(self._pairs()),
            other_pairs=self._other_pairs(),
            more_features=features[FIRST_FEATURES:],
            table=self._table(),
            nomogram=list(self._nomogram()),
            search=list(self._search()),
            history=_history(self.model),
        )

    def _what_it_is(self) -> str:
        """Say what the model is and how good it would be on new rows, where it knows."""
        weight = self.model.summary_.class_weight
        shares = weight / weight.sum()
        listed = [f"{label} {share:.0%}" for label, share in zip(self.model.classes_, shares, strict=True)]
        more = ", …" if len(listed) > MOST_CLASSES else ""
        n_columns = len(self.effects.features)
        text = (
            f"A {model_name(self.model)} of {weight.sum():,.0f} rows and {n_columns} columns. Classes: "
            f"{', '.join(listed[:MOST_CLASSES])}{more}."
        )
        loss = getattr(self.model, "cv_log_loss_", None)
        if loss is None:
            return text
        low, high = self.model.cv_log_loss_interval_
        alone = -float(np.sum(shares * np.log(np.maximum(shares, 1e-300))))
        return (
            f"{text} Expected log loss on new rows: {loss:.3f} ({low:.3f} to {high:.3f}); the class shares "
            f"alone have {alone:.3f}."
        )

    def _features(self) -> Iterator[_Picture]:
        for effect in strongest(self.effects.features)[:MOST_FEATURES]:
            if importance(effect.deviation) > 0:
                yield self._drawn(f"Effect of {effect.name}", EffectDisplay, effect.name)

    def _drawn_pairs(self) -> list[Any]:
        return [pair for pair in tuples_that_matter(self.effects) if len(pair.columns) == 2][:MOST_PAIRS]

    def _pairs(self) -> Iterator[_Picture]:
        pairs = self._drawn_pairs()
        last = len(self.model.classes_) - 1
        limit = max((largest_effect(pair, last) for pair in pairs), default=1.0)
        for pair in pairs:
            yield self._drawn(f"Effect of {pair.name}", PairDisplay, pair.names, limit=limit)

    def _other_pairs(self) -> str:
        names = {pair.name for pair in self._drawn_pairs()}
        rest = [effect for effect in self.effects.tuples if effect.name not in names]
        about = "log odds" if self.effects.n_classes == 2 else "scores"
        sentence = joint_sentence(rest, about, "other pairs and tuples" if names else "pairs and tuples")
        return f"{sentence}." if rest else ""

    def _of_row(self, row: Any) -> list[_Picture]:
        if row is None:
            return []
        return [self._drawn("From the average of training to this row", WaterfallDisplay, row)]

    def _nomogram(self) -> Iterator[_Picture]:
        if len(self.model.classes_) > MOST_LANES + 1:
            return
        figure = NomogramDisplay.from_estimator(self.model, effects=self.effects).figure_
        yield _Picture("Nomogram: add the points of each ruler", picture_address(figure), is_wide=True)

    def _search(self) -> Iterator[_Picture]:
        if hasattr(self.model, "path_curves"):
            yield _picture("Path of models", PathDisplay, self.model)
            if hasattr(self.model, "fold_losses_"):
                yield _picture("Cross-validation along the path", PathDisplay, self.model, "test loss")
        if hasattr(self.model, "partition_") or hasattr(self.model, "parents_"):
            yield _picture("The model as a graph", StructureDisplay, self.model)

    def _drawn(self, title: str, display: Any, *arguments: Any, **options: Any) -> _Picture:
        return _picture(title, display, self.model, *arguments, effects=self.effects, **options)

    def _table(self) -> dict[str, Any]:
        """Return the lines of `summary` as the names, the caption and the lines of a table."""
        frame = summary(self.model, effects=self.effects).head(MOST_LINES)
        about = "log odds" if len(self.model.classes_) == 2 else "score"
        lines = [
            {
                "term": line.term,
                "importances": [f"{line.importance:.3f}", f"{line.with_pairs:.3f}"],
                "ends": [(_signed(line.low), line.low_at), (_signed(line.high), line.high_at)],
            }
            for line in frame.itertuples(index=False)
        ]
        return {
            "names": [
                "effect",
                "importance",
                "with pairs",
                f"lowest {about}",
                "at",
                f"highest {about}",
                "at",
            ],
            "caption": (
                "Importance: standard deviation over the training rows; with pairs: and the share of pairs. "
                f"Lowest, highest: {about} of {self.model.classes_[-1]}."
            ),
            "lines": lines,
        }


def _signed(value: float) -> str:
    """Return a number with its sign, a minus as typesetters write it."""
    return f"{value:+.2f}".replace("-", "\N{MINUS SIGN}")


def _picture(title: str, display: Any, *arguments: Any, **options: Any) -> _Picture:
    """Draw a display on a new figure."""
    return _Picture(title, picture_address(display.from_estimator(*arguments, **options).figure_))


def _history(model: Any) -> list[str]:
    """Return what a model started from and what was done to it, a sentence each."""
    lines = [f"Started from {earlier}." for earlier in getattr(model, "started_from_", ())]
    for line in history(model).itertuples(index=False):
        about = ", ".join(part for part in (line.who, line.date) if part)
        losses = f" Log loss {line.loss_before:.4f}, then {line.loss_after:.4f}."
        known = losses if line.loss_before == line.loss_before else ""
        lines.append(f"{line.what}. {line.why} ({about}).{known}")
    return lines
