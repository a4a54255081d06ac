"""A fitted model on one sheet of paper: a ruler per feature, and a ruler from the sum to a probability."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from seminaive.encode.nodes import interpolate
from seminaive.errors import InputError
from seminaive.explain.drawing import Display
from seminaive.explain.nomogram_lanes import lane_of, scaled
from seminaive.explain.nomogram_sheet import WIDTH, Sheet
from seminaive.explain.nomogram_ticks import nice_ticks, weight_label
from seminaive.explain.reading import class_position, clipped, code_labels, effects_of
from seminaive.explain.tables import one_row
from seminaive.scores import importance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from seminaive.explain.nomogram_lanes import Lane
    from seminaive.scores import TupleEffect

    Floats = NDArray[np.float64]

# The most lanes of a feature: classes besides the reference.
MOST_LANES = 6
PROBABILITIES = (0.001, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999)


class NomogramDisplay(Display):
    """A nomogram: points per value, which add up to the probability.

    One ruler per feature, the one with the widest reach first. A curve that turns has one strip for each
    direction; one that turns often is drawn in bands. With more than two classes each feature has one lane
    per class against a reference class: the weight of a class doubles with every 10 points, that of the
    reference is 1, and a probability is a weight divided by the sum of all. The strongest pairs are small
    tables of points; what is not drawn is said in the last line.

    Parameters
    ----------
    lanes : list of Lane
    start : ndarray of shape (n_lane_classes,)
        Log odds of each class at 0 points.
    factor : float
        Points per unit of log odds.
    pairs : list of TupleEffect
        Those that are drawn.
    model : the model
    targets : list of int
        The classes that have lanes, by position.
    reference : int
        The class that they are compared with.
    note : str
        How far the drawn part is from the whole model.
    row : EncodedTable of one row or None
        The row that is overlaid.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
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

    def __init__(
        self,
        lanes: list[Lane],
        start: Floats,
        factor: float,
        pairs: list[TupleEffect],
        model: Any,
        targets: list[int],
        reference: int,
        note: str,
        row: Any = None,
    ) -> None:
        self.lanes = lanes
        self.start = start
        self.factor = factor
        self.pairs = pairs
        self.model = model
        self.targets = targets
        self.reference = reference
        self.note = note
        self.row = row

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
            A row to overlay.
        scale : {"hundred", "doubling"}, default="hundred"
            Whether the widest feature has 100 points, or 10 points double the odds. More than two classes
            always have the second.
        features : int or None, default=None
            How many features are drawn, those that move the log odds most; None draws all. The last line says
            what the others would change.
        pairs : int, default=3
            How many pairs are drawn, the strongest.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a sheet of the right size.
        """
        if scale not in ("hundred", "doubling"):
            raise InputError(f"scale is 'hundred' or 'doubling', got {scale!r}")
        effects = effects_of(estimator)
        targets, reference = _compared(estimator, effects.n_classes, target)
        shown = _strongest(effects.features, features)
        drawn = _strongest([own for own in effects.tuples if len(own.columns) == 2], pairs)
        drawn = [own for own in drawn if importance(own.deviation) > 0]
        per_unit = [lane_of(effects, own, c, reference) for own in shown for c in targets]
        widest = max((lane.reach for lane, _, _ in per_unit), default=1.0) or 1.0
        factor = 100.0 / widest if scale == "hundred" and len(targets) == 1 else 10.0 / np.log(2)
        start = _against(effects.intercept, np.array(targets), reference)
        squares = 0.0
        for lane, lowest, lost in per_unit:
            start[targets.index(lane.class_position)] += lowest
            squares += lost**2 / len(targets)
        lanes = [scaled(lane, factor) for lane, _, _ in per_unit]
        reach: dict[str, float] = {}
        for lane in lanes:
            reach[lane.name] = max(reach.get(lane.name, 0.0), lane.reach)
        lanes.sort(key=lambda lane: -reach[lane.name])
        names = {own.name for own in (*shown, *drawn)}
        tuples = [importance(own.deviation) for own in effects.tuples if own.name not in names]
        weaker = [importance(own.deviation) for own in effects.features if own.name not in names]
        squares += float(np.sum(np.square([*weaker, *tuples])))
        banded = any(lost > 0 for _, _, lost in per_unit)
        note = _note(len(weaker), len(tuples), banded, float(np.sqrt(squares)), factor)
        table = None if row is None else one_row(estimator, row)
        display = cls(lanes, start, factor, drawn, estimator, targets, reference, note, table)
        return display.plot(ax=ax)

    def probabilities(self, table: Any, *, pairs: bool = True) -> Floats:
        """Return the probabilities that a reader finds for the rows of an encoded table, in class order."""
        schema = self.model.schema_
        coded = {position: j for j, position in enumerate(schema.coded)}
        numeric = {position: j for j, position in enumerate(schema.numeric)}
        log_odds, places = np.zeros((len(table), len(self.model.classes_))), table.places
        for i in range(len(table)):
            for lane in self.lanes:
                is_curve = lane.edges is not None or bool(lane.strips)
                number = float(table.numbers[i, numeric[lane.position]]) if is_curve else None
                code = None if is_curve else int(table.codes[i, coded[lane.position]])
                log_odds[i, lane.class_position] += lane.points_of(code, number) / self.factor
        for k, c in enumerate(self.targets):
            log_odds[:, c] += self.start[k]
            for own in self.pairs if pairs else ():
                cells = interpolate(own.table, [places.axis(j) for j in own.columns])
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
        sheet = Sheet(self.ax_, max((lane.reach for lane in self.lanes), default=1.0) or 1.0)
        sheet.ruler("Points", *nice_ticks(sheet.most))
        before = None
        for lane in self.lanes:
            several = len(self.targets) > 1
            name = "" if lane.name == before else clipped(lane.name, 30 if not several else 20)
            colour = f"C{self.targets.index(lane.class_position)}" if several else "black"
            label = clipped(str(self.model.classes_[lane.class_position]), 12) if several else ""
            self.unlabelled_ += sheet.lane(lane, name, label, colour, self._own_points(lane))
            before = lane.name
        self._draw_pairs(sheet)
        self._draw_totals(sheet)
        words = [self.note]
        if self.unlabelled_:
            words.append(
                f"Marks without room for a label: {self.unlabelled_}; effects_table lists all values."
            )
        if any(self.model.schema_.nodes_of(j) for own in self.pairs for j in own.columns):
            words.append("Between two numbers of a table, points lie between those of both.")
        if any(kind == "unseen" for lane in self.lanes for _, _, kind in lane.marks):
            words.append("A triangle marks a value that training never had.")
        for text in words:
            sheet.text(text)
        self.ax_.set_xlim(0, WIDTH)
        self.ax_.set_ylim(sheet.y + 0.1, 0)

    def _own_points(self, lane: Lane) -> float | None:
        """Return the points of the overlaid row on a lane."""
        if self.row is None:
            return None
        schema = self.model.schema_
        if lane.edges is not None or lane.strips:
            number = float(self.row.numbers[0, schema.numeric.index(lane.position)])
            return lane.points_of(None, number)
        return lane.points_of(int(self.row.codes[0, schema.coded.index(lane.position)]), None)

    def _draw_pairs(self, sheet: Sheet) -> None:
        schema = self.model.schema_
        for own in self.pairs:
            labels = [code_labels(schema, schema.coded[j]) for j in own.columns]
            for c in self.targets:
                points = (own.table[..., c] - own.table[..., self.reference]) * self.factor
                suffix = f" ({clipped(str(self.model.classes_[c]), 12)})" if len(self.targets) > 1 else ""
                cell = None if self.row is None else tuple(int(self.row.codes[0, j]) for j in own.columns)
                sheet.pair(own, labels, points, suffix, cell)

    def _draw_totals(self, sheet: Sheet) -> None:
        """Draw the ruler from the sum of points to a probability, or to weights."""
        totals = [sum(lane.reach for lane in self.lanes if lane.class_position == c) for c in self.targets]
        own = [
            None
            if self.row is None
            else sum(self._own_points(lane) or 0.0 for lane in self.lanes if lane.class_position == c)
            + sum(self._pair_points(pair, c) for pair in self.pairs)
            for c in self.targets
        ]
        most = max(totals) or 1.0
        least = min([0.0, *(value for value in own if value is not None)])
        sheet.y += 0.1
        sheet.ruler("Total points", *nice_ticks(most), low=least, high=most, own=own)
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
        if self.row is not None:
            shown = ", ".join(
                f"{clipped(str(label), 16)} {p:.3f}"
                for label, p in zip(self.model.classes_, self.probabilities(self.row)[0], strict=True)
            )
            sheet.text(f"This row: {shown}", colour="C3")

    def _pair_points(self, pair: TupleEffect, c: int) -> float:
        places = self.row.places
        cell = interpolate(pair.table, [places.axis(j) for j in pair.columns])[0]
        return float(cell[c] - cell[self.reference]) * self.factor


def _compared(model: Any, n_classes: int, target: Any) -> tuple[list[int], int]:
    """Return the classes that have lanes, and the one that they are compared with."""
    if n_classes == 2:
        own = class_position(model, target)
        return [own], 1 - own
    if n_classes > MOST_LANES + 1:
        raise InputError(
            f"a nomogram has room for {MOST_LANES + 1} classes, the model has {n_classes}: use "
            "effects_table, an EffectDisplay per feature, or the calculator"
        )
    most = int(model.summary_.class_weight.argmax())
    reference = most if target is None else class_position(model, target)
    return [c for c in range(n_classes) if c != reference], reference


def _strongest(effects: Sequence[Any], most: int | None) -> list[Any]:
    """Return the effects that move the log odds most, in their order; all for None."""
    if most is None or most >= len(effects):
        return list(effects)
    order = sorted(range(len(effects)), key=lambda k: -importance(effects[k].deviation))
    return [effects[k] for k in sorted(order[:most])]


def _note(n_features: int, n_tuples: int, banded: bool, deviation: float, factor: float) -> str:
    """Say how far the drawn part is from the whole model."""
    parts = [f"{n_features} weaker features that are not drawn"] if n_features else []
    parts += [f"{n_tuples} weaker pairs and tuples that are not drawn"] if n_tuples else []
    parts += ["bands in place of curves"] if banded else []
    if not parts:
        return "The rulers are the whole model."
    text = " and ".join(parts)
    return (
        f"{text[:1].upper()}{text[1:]} move the log odds by {deviation:.2g} "
        f"({deviation * factor:.1f} points), as a standard deviation over the training rows."
    )


def _against(values: Floats, targets: Any, reference: int) -> Floats:
    own: Floats = values[..., targets] - values[..., [reference]]
    return own
