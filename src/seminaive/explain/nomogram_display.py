"""A fitted model on one sheet of paper: a ruler per feature, and a ruler from the sum to a probability."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from seminaive.displays import Display
from seminaive.encode.nodes import interpolate
from seminaive.errors import InputError
from seminaive.explain.bands import reach_of_row
from seminaive.explain.nomogram_lanes import Lane, lane_of, scaled
from seminaive.explain.nomogram_selection import Selection
from seminaive.explain.nomogram_sheet import WIDTH, Sheet
from seminaive.explain.nomogram_ticks import nice_ticks, weight_label
from seminaive.explain.reading import axis_labels, class_position, clipped, effects_of
from seminaive.explain.tables import one_row
from seminaive.explain.unknown import unknown_note
from seminaive.explain.what_matters import joint_sentence, together

if TYPE_CHECKING:
    from seminaive.arrays import Floats
    from seminaive.scores import Effects, TupleEffect

# The most lanes of a feature: classes besides the reference.
MOST_LANES = 6
PROBABILITIES = (0.001, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999)
# The share of the ruler of points from which on the ends of the line of others are labelled.
LEAST_SPREAD = 0.05


@dataclass(eq=False, repr=False)
class NomogramDisplay(Display):
    """A nomogram: points per value, which add up to the probability.

    One ruler per feature, the one with the widest reach first. A curve that turns is a small picture, with
    its numbers upwards and its points along the sheet. With more than two classes each feature has one lane
    per class against a reference class: the weight of a class doubles with every 10 points, that of the
    reference is 1, and a probability is a weight divided by the sum of all. The strongest pairs are small
    tables of points. The sheet is at most a page; all that has no room is one line of others, on which most
    rows are between the ends, and a row of which they are not known is in the middle.

    Parameters
    ----------
    lanes : list of Lane
    start : ndarray of shape (n_lane_classes,)
        Log odds of each class at 0 points.
    factor : float
        Points per unit of log odds.
    selection : Selection
        What is drawn, and what is gathered in the line of others.
    spread : float
        Half the length of that line, in points: two standard deviations over the training rows.
    model : the model
    effects : Effects
    targets : list of int
        The classes that have lanes, by position.
    reference : int
        The class that they are compared with.
    row : EncodedTable of one row or None
        The row that is overlaid.
    interval : float or None, default=None
        The coverage of the interval of its total.

    Attributes
    ----------
    unlabelled_ : int
        Marks that had no room for a label.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from sklearn.datasets import load_breast_cancer
    >>> from seminaive import NaiveBayes
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> display = NomogramDisplay.from_estimator(NaiveBayes().fit(X.iloc[:, :3], y))
    >>> [lane.name for lane in display.lanes]
    ['mean perimeter', 'mean radius', 'mean texture']
    """

    lanes: list[Lane]
    start: Floats
    factor: float
    selection: Selection
    spread: float
    model: Any
    effects: Effects
    targets: list[int]
    reference: int
    row: Any = None
    interval: float | None = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        target: Any = None,
        row: Any = None,
        scale: str = "hundred",
        features: int | None = None,
        pairs: int = 3,
        interval: float | None = None,
        effects: Effects | None = None,
        ax: Any = None,
    ) -> NomogramDisplay:
        """Draw a nomogram.

        Parameters
        ----------
        estimator : a fitted additive model
        target : label, default=None
            With two classes the one that points speak for, by default the second; with more the reference
            class, by default the most frequent one.
        row : mapping of column to cell, list of cells, or table of one row, default=None
            A row to overlay; its total and its probabilities are those of the whole model.
        scale : {"hundred", "doubling"}, default="hundred"
            Whether the widest feature has 100 points, or 10 points double the odds. More than two classes
            always have the second.
        features : int or None, default=None
            How many features are drawn, those that move the log odds most; None draws as many as one page
            holds.
        pairs : int, default=3
            How many pairs are drawn at most, the strongest of those that matter.
        interval : float or None, default=None
            The coverage of an interval, such as .95, that is drawn as a bar at the total of the row.
        effects : Effects, default=None
            Of the estimator, where they are at hand; None takes it apart.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a sheet of the right size.
        """
        if scale not in ("hundred", "doubling"):
            raise InputError(f"scale is 'hundred' or 'doubling', got {scale!r}")
        effects = effects or effects_of(estimator)
        targets, reference = _compared(estimator, effects.n_classes, target)
        selection = Selection.of(effects, features, pairs, len(targets))
        found = [lane_of(effects, effect, c, reference) for effect in selection.features for c in targets]
        widest = max((lane.reach for lane, _ in found), default=1.0) or 1.0
        factor = 100.0 / widest if scale == "hundred" and len(targets) == 1 else 10.0 / np.log(2)
        spread = 2.0 * together(selection.rest) * factor
        start = effects.intercept[targets] - effects.intercept[reference] - spread / factor
        for lane, lowest in found:
            start[targets.index(lane.class_position)] += lowest
        lanes = [scaled(lane, factor) for lane, _ in found]
        reach: dict[str, float] = {}
        for lane in lanes:
            reach[lane.name] = max(reach.get(lane.name, 0.0), lane.reach)
        lanes.sort(key=lambda lane: -reach[lane.name])
        table = None if row is None else one_row(estimator, row)
        if interval is not None and table is None:
            raise InputError("an interval is that of a row's total: pass the row, or leave interval out")
        drawn = (lanes, start, factor, selection, spread, estimator, effects, targets, reference, table)
        return cls(*drawn, interval).plot(ax=ax)

    @property
    def pairs(self) -> list[TupleEffect]:
        """Return the pairs that are drawn."""
        return self.selection.pairs

    @property
    def note(self) -> str:
        """Say what the line of others holds."""
        if not self.selection.rest:
            return "The rulers are the whole model, or all but a hundredth of its deviation."
        about = "log odds" if len(self.targets) == 1 else "scores"
        sentence = joint_sentence(self.selection.rest, about, "effects that are not drawn one by one")
        return f"{sentence[:1].upper()}{sentence[1:]}."

    def probabilities(self, table: Any, *, pairs: bool = True) -> Floats:
        """Return the probabilities that a reader finds for the rows of an encoded table, in class order."""
        schema = self.model.schema_
        coded, numeric = schema.coded_index, schema.numeric_index
        log_odds, coordinates = np.zeros((len(table), len(self.model.classes_))), table.coordinates
        for i in range(len(table)):
            for lane in self.lanes:
                number = float(table.numbers[i, numeric[lane.position]]) if lane.of_numbers else None
                code = None if lane.of_numbers else int(table.codes[i, coded[lane.position]])
                log_odds[i, lane.class_position] += lane.points_of(code, number) / self.factor
        for k, c in enumerate(self.targets):
            log_odds[:, c] += self.start[k] + self.spread / self.factor  # others as on average
            for pair in self.pairs if pairs else ():
                cells = interpolate(pair.table, [coordinates.axis(j) for j in pair.columns])
                log_odds[:, c] += cells[:, c] - cells[:, self.reference]
        weight = np.exp(log_odds - log_odds.max(axis=1, keepdims=True))
        proba: Floats = weight / weight.sum(axis=1, keepdims=True)
        return proba

    def plot(self, ax: Any = None) -> Self:
        """Draw the sheet.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure of the right size.
        """
        super().plot(ax)
        if ax is None:
            self.figure_.set_layout_engine("none")
            self.figure_.set_size_inches(WIDTH, self.ax_.get_ylim()[0] + 0.1)
            self.ax_.set_position((0, 0, 1, 1))
        return self

    def _draw(self) -> None:
        """Draw rulers from top to bottom, then what is to be said in words."""
        self.unlabelled_ = 0
        self.ax_.axis("off")
        most = max([2 * self.spread, *(lane.reach for lane in self.lanes)]) or 1.0
        sheet = Sheet(self.ax_, most)
        sheet.ruler("Points", *nice_ticks(sheet.most))
        before = None
        for lane in self.lanes:
            several = len(self.targets) > 1
            name = "" if lane.name == before else clipped(lane.name, 30 if not several else 20)
            colour = f"C{self.targets.index(lane.class_position)}" if several else sheet.ink
            label = clipped(str(self.model.classes_[lane.class_position]), 12) if several else ""
            self.unlabelled_ += sheet.lane(lane, name, label, colour, self._row_on(lane))
            before = lane.name
        self._draw_pairs(sheet)
        self._draw_others(sheet)
        self._draw_totals(sheet)
        words = [self.note]
        if self.unlabelled_:
            words.append(
                f"Marks without room for a label: {self.unlabelled_}; effects_table lists all values."
            )
        if any(self.model.schema_.nodes_of(j) for pair in self.pairs for j in pair.columns):
            words.append("Between two numbers of a table, points lie between those of both.")
        if any(kind == "unseen" for lane in self.lanes for _, _, kind in lane.marks):
            words.append("A triangle marks a value that training never had.")
        for text in words:
            sheet.text(text)
        self.ax_.set_xlim(0, WIDTH)
        self.ax_.set_ylim(sheet.y + 0.1, 0)

    def _row_on(self, lane: Lane) -> tuple[float, float] | None:
        """Return the number, NaN of a category, and the points of the overlaid row on a lane."""
        if self.row is None:
            return None
        schema = self.model.schema_
        if lane.of_numbers:
            number = float(self.row.numbers[0, schema.numeric_index[lane.position]])
            return number, lane.points_of(None, number)
        code = int(self.row.codes[0, schema.coded_index[lane.position]])
        return float("nan"), lane.points_of(code, None)

    def _row_totals(self) -> list[float | None]:
        """Return the points of the overlaid row by class: those of the whole model."""
        if self.row is None:
            return [None] * len(self.targets)
        scores = self.effects.joint_log_scores(self.row)[0]
        log_odds = scores[self.targets] - scores[self.reference] - self.start
        return [float(odds) for odds in log_odds * self.factor]

    def _row_others(self, k: int) -> float | None:
        """Return the points of the overlaid row that no lane and no drawn pair shows."""
        total = self._row_totals()[k]
        if total is None:
            return None
        c = self.targets[k]
        drawn = [self._row_on(lane) or (0.0, 0.0) for lane in self.lanes if lane.class_position == c]
        return (
            total
            - sum(points for _, points in drawn)
            - sum(self._pair_points(pair, c) for pair in self.pairs)
        )

    def _draw_others(self, sheet: Sheet) -> None:
        """Draw one line for all terms without a line."""
        if not self.selection.rest:
            return
        name = f"{len(self.selection.rest):,} others"
        for k, c in enumerate(self.targets):
            several = len(self.targets) > 1
            label = clipped(str(self.model.classes_[c]), 12) if several else ""
            marks = [
                ("low", 0.0, "value"),
                ("average", self.spread, "value"),
                ("high", 2 * self.spread, "value"),
            ]
            lane = Lane(name, -1, c, marks if self.spread > LEAST_SPREAD * sheet.most else marks[1:2])
            others = self._row_others(k)
            row = None if others is None else (float("nan"), others)
            if others is not None:
                name = f"{name}: {(others - self.spread) / self.factor:+.2g}" if not several else name
            sheet.lane(lane, "" if k else name, label, f"C{k}" if several else sheet.ink, row)

    def _draw_pairs(self, sheet: Sheet) -> None:
        schema = self.model.schema_
        largest = max(
            (
                float(np.abs(pair.table[..., c] - pair.table[..., self.reference]).max())
                for pair in self.pairs
                for c in self.targets
            ),
            default=1.0,
        )
        for pair in self.pairs:
            labels = [axis_labels(self.effects, schema.coded[j]) for j in pair.columns]
            for c in self.targets:
                points = (pair.table[..., c] - pair.table[..., self.reference]) * self.factor
                suffix = f" ({clipped(str(self.model.classes_[c]), 12)})" if len(self.targets) > 1 else ""
                cell = None if self.row is None else tuple(int(self.row.codes[0, j]) for j in pair.columns)
                sheet.pair(pair, labels, points, suffix, cell, largest * self.factor)

    def _draw_totals(self, sheet: Sheet) -> None:
        """Draw the ruler from the sum of points to a probability, or to weights."""
        others = 2 * self.spread
        totals = [
            others + sum(lane.reach for lane in self.lanes if lane.class_position == c) for c in self.targets
        ]
        row_totals = self._row_totals()
        most = max([*totals, *(value for value in row_totals if value is not None)]) or 1.0
        least = min([0.0, *(value for value in row_totals if value is not None)])
        sheet.y += 0.1
        reaches = [reach_of_row(self.model, self.row, self.interval, c, self.reference) for c in self.targets]
        bars = [np.multiply(reach or (0.0, 0.0), self.factor) for reach in reaches]
        places, labels = nice_ticks(most)
        sheet.ruler("Total points", places, labels, least, most, row_totals, bars)
        if len(self.targets) == 1:
            ticks = [((np.log(p / (1 - p)) - self.start[0]) * self.factor, f"{p:g}") for p in PROBABILITIES]
            inside = [(at, label) for at, label in ticks if least <= at <= most]
            name = f"Probability of {self.model.classes_[self.targets[0]]}"
            sheet.ruler(
                clipped(name, 32),
                [at for at, _ in inside],
                [label for _, label in inside],
                low=least,
                high=most,
            )
        else:
            powers = range(int(np.floor(least / 10)), int(most / 10) + 1, max(1, int(most / 10 / 12)))
            sheet.ruler(
                "Weight",
                [10.0 * k for k in powers],
                [weight_label(2.0**k) for k in powers],
                low=least,
                high=most,
            )
            starts = ", ".join(
                f"{clipped(str(self.model.classes_[c]), 16)} {value * self.factor:+.1f}"
                for c, value in zip(self.targets, self.start, strict=True)
            )
            reference = clipped(str(self.model.classes_[self.reference]), 16)
            sheet.text(
                f"Add to the total points: {starts}. {reference} has weight 1. Probability = weight / sum."
            )
        self._write_row(sheet)

    def _write_row(self, sheet: Sheet) -> None:
        """Write the probabilities of the overlaid row."""
        if self.row is None:
            return
        scores = self.model.scores_.joint_log_scores(self.row)[0]
        weight = np.exp(scores - scores.max())
        shown = ", ".join(
            f"{clipped(str(label), 16)} {p:.3f}"
            for label, p in zip(self.model.classes_, weight / weight.sum(), strict=True)
        )
        sheet.text(f"This row: {shown}", colour="C3")
        note = unknown_note(self.model, self.row, self.targets[0])
        if note is not None:
            sheet.text(note, colour="C3")

    def _pair_points(self, pair: TupleEffect, c: int) -> float:
        coordinates = self.row.coordinates
        cell = interpolate(pair.table, [coordinates.axis(j) for j in pair.columns])[0]
        return float(cell[c] - cell[self.reference]) * self.factor


def _compared(model: Any, n_classes: int, target: Any) -> tuple[list[int], int]:
    """Return the classes that have lanes, and the one that they are compared with."""
    if n_classes == 2:
        compared = class_position(model, target)
        return [compared], 1 - compared
    if n_classes > MOST_LANES + 1:
        raise InputError(
            f"a nomogram has room for {MOST_LANES + 1} classes, the model has {n_classes}: use "
            "effects_table, an EffectDisplay per feature, or the calculator"
        )
    most = int(model.summary_.class_weight.argmax())
    reference = most if target is None else class_position(model, target)
    return [c for c in range(n_classes) if c != reference], reference
