"""Why one row has its probability: the effects of its values, one after the other."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.displays import Display
from seminaive.encode import CategoricalColumn, EmptyColumn
from seminaive.explain.bands import reach_of_row
from seminaive.explain.plotting import draw_steps
from seminaive.explain.reading import class_position, clipped, effects_of, short_numbers
from seminaive.explain.tables import one_row
from seminaive.explain.unknown import unknown_note

if TYPE_CHECKING:
    from seminaive.arrays import Floats
    from seminaive.scores import Effects


# Ticks of the probability axis: their least number, and their least distance as a share of it.
FEWEST_TICKS, MIN_GAP = 3, 0.09
PROBABILITIES = np.array([0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999])


@dataclass(eq=False, repr=False)
class WaterfallDisplay(Display):
    """The log odds of one row from the intercept to the end, with the probability on a second axis.

    With more than two classes, these are the odds of a class against one other; the second axis is then the
    probability given that the row belongs to one of the two.

    Parameters
    ----------
    start : float
        The intercept.
    names : list of str
        Of the effects, the largest first; the last may gather the small ones.
    values : ndarray of shape (n_effects,)
        In log odds; ``start`` plus all of them is the row's log odds.
    name : str
        What the log odds are called.
    probability : str
        What the second axis is called.
    note : str, default=""
        What is written below: the strongest of the effects that are gathered.
    reach : (float, float) or None, default=None
        How far the interval of the row's log odds reaches below and above them.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from sklearn.datasets import load_breast_cancer
    >>> from seminaive import NaiveBayes
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = NaiveBayes().fit(X, y)
    >>> display = WaterfallDisplay.from_estimator(model, X.iloc[[0]])
    >>> bool(abs(display.start + display.values.sum() - model.decision_function(X.iloc[[0]])[0]) < 1e-9)
    True
    """

    start: float
    names: list[str]
    values: Floats
    name: str
    probability: str
    note: str = ""
    reach: tuple[float, float] | None = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        row: Any,
        *,
        target: Any = None,
        against: Any = None,
        max_effects: int = 12,
        interval: float | None = None,
        effects: Effects | None = None,
        ax: Any = None,
    ) -> WaterfallDisplay:
        """Draw one row.

        Parameters
        ----------
        estimator : a fitted additive model
        row : mapping of column to cell, list of cells, or table of one row
        target : label, default=None
            The class whose log odds are drawn; None is the second of two, or the most probable of more.
        against : label, default=None
            With more than two classes, the class to compare with; None is the most probable other one.
        max_effects : int, default=12
            Effects that are drawn, the largest; the others are added up in one line, which names two of them.
        interval : float or None, default=None
            The coverage of an interval, such as .95, that is drawn at the end as a bar.
        effects : Effects, default=None
            Of the estimator, where they are at hand; None takes it apart.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        """
        effects = effects or effects_of(estimator)
        table = one_row(estimator, row)
        parts = effects.breakdown(table)[0]
        ranking = np.argsort(-parts.sum(axis=0), kind="stable")
        several = effects.n_classes > 2
        position = int(ranking[0]) if several and target is None else class_position(estimator, target)
        other = (
            next(int(c) for c in ranking if c != position)
            if against is None
            else class_position(estimator, against)
        )
        log_odds = parts[:, position] - parts[:, other]
        cells = _cells(estimator.schema_, table)
        names = [
            *(f"{effect.name} = {cells[effect.position]}" for effect in effects.features),
            *(effect.name for effect in effects.tuples),
        ]
        order = np.argsort(-np.abs(log_odds[1:]), kind="stable")
        shown, rest = order[:max_effects], order[max_effects:]
        values = log_odds[1:][shown]
        labels = [names[k] for k in shown]
        if len(rest):
            values = np.append(values, log_odds[1:][rest].sum())
            labels.append(f"{len(rest):,} others")
        first = [f"{clipped(names[k], 36)} {log_odds[1 + k]:+.2f}" for k in rest[:2]]
        notes = [f"strongest of the others: {', '.join(first)}"] if first else []
        unknown = unknown_note(estimator, table, position)
        note = "; ".join([*notes, unknown] if unknown else notes)
        classes = estimator.classes_
        name = f"log odds of {classes[position]}" + (f" against {classes[other]}" if several else "")
        probability = f"probability of {classes[position]}" + (
            f" rather than {classes[other]}" if several else ""
        )
        reach = reach_of_row(estimator, table, interval, position, other)
        return cls(float(log_odds[0]), labels, values, name, probability, note, reach).plot(ax=ax)

    def _draw(self) -> None:
        """Draw the effects from top to bottom."""
        names = ["average of training", *(clipped(name, 40) for name in self.names), "this row"]
        draw_steps(self.ax_, self.start, self.values, names)
        if self.reach is not None:
            end = self.start + float(self.values.sum())
            reach = [[side] for side in self.reach]
            self.ax_.errorbar([end], [len(names) - 1], xerr=reach, color="0.4", capsize=4, lw=1.5)
        self.ax_.set_xlabel("\n".join([clipped(self.name, 60), *wrap(self.note, 60)]), fontsize="small")
        self._draw_probabilities()
        self.ax_.spines[["right"]].set_visible(False)

    def _draw_probabilities(self) -> None:
        """Mark probabilities on the upper side, those that have room."""
        top = self.ax_.secondary_xaxis("top")
        low, high = self.ax_.get_xlim()
        ticks = probability_ticks(low, high)
        top.set_xticks(np.log(ticks / (1 - ticks)), short_numbers(ticks.tolist(), 2), fontsize="small")
        top.set_xlabel(clipped(self.probability, 60))


def probability_ticks(low: float, high: float) -> Floats:
    """Return probabilities between two log odds that have room on an axis: round ones, at least three.

    >>> probability_ticks(-0.1, 0.1).round(3).tolist()
    [0.48, 0.5, 0.52]
    """
    from matplotlib.ticker import MaxNLocator

    ends = 1 / (1 + np.exp(-np.array([low, high])))
    tried: list[Floats] = [PROBABILITIES]
    tried += [np.asarray(MaxNLocator(most, steps=[1, 2, 5, 10]).tick_values(*ends)) for most in (4, 6, 9)]
    for candidates in (*tried, np.linspace(ends[0], ends[1], 5)[1:-1]):
        inside = candidates[(candidates > ends[0]) & (candidates < ends[1])]
        marks = np.log(inside / (1 - inside))
        kept: list[int] = []
        for k in np.argsort(np.abs(inside - 0.5), kind="stable"):
            if all(abs(marks[k] - marks[j]) > MIN_GAP * (high - low) for j in kept):
                kept.append(int(k))
        if len(kept) >= FEWEST_TICKS:
            break
    ticks: Floats = np.sort(inside[kept])
    return ticks


def _cells(schema: Any, table: Any) -> dict[int, str]:
    """Return what each column holds in the first row of an encoded table, as text."""
    cells = {}
    coded, numeric = schema.coded_index, schema.numeric_index
    for position, column in enumerate(schema.columns):
        if isinstance(column, EmptyColumn):
            continue
        if isinstance(column, CategoricalColumn):
            code = int(table.codes[0, coded[position]])
            known = code < column.n_present
            cells[position] = str(column.categories[code]) if known else "missing or unseen"
        else:
            number = float(table.numbers[0, numeric[position]])
            cells[position] = "missing" if np.isnan(number) else short_numbers([number], column=column)[0]
    return cells
