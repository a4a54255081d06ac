"""What two features say together beyond what each says alone, as a heat map."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.displays import Display
from seminaive.encode.nodes import at_codes, between_nodes, read_axis
from seminaive.errors import InputError
from seminaive.explain.bands import Bands, of_class
from seminaive.explain.reading import (
    axis_labels,
    class_position,
    clipped,
    effects_of,
    evidence,
    evidence_name,
)
from seminaive.explain.what_matters import largest_effect

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seminaive.scores import Effects, TupleEffect

# Values of a feature that are drawn: those of the largest training weight.
MOST_VALUES = 20
# Numbers at which a surface is drawn along an axis: finer than a screen shows.
NUMBERS_DRAWN = 200
# Training rows from which a cell has its full colour.
FULL_COLOUR = 20.0


def pair_named(effects: Effects, pair: Sequence[str] | None) -> TupleEffect:
    """Return the effect of a pair by the names of its columns; None is the pair that says most."""
    pairs = [effect for effect in effects.tuples if len(effect.columns) == 2]
    if not pairs:
        raise InputError(
            "the model has no pairs: fit one of order 2, such as a HigherOrderLogisticRegression"
        )
    if pair is None:
        return max(pairs, key=lambda effect: float(np.sum(effect.deviation**2)))
    for effect in pairs:
        if sorted(effect.names) == sorted(pair):
            return effect
    raise InputError(f"the model has no pair {' × '.join(pair)}: {len(pairs)} others, see summary(model)")


@dataclass(eq=False, repr=False)
class PairDisplay(Display):
    """The pure effect of a pair, cell by cell.

    Cells with few training rows are pale, those without any are grey; white says nothing. Along a number that
    the model reads between nodes the surface is drawn as it is, from the first node to the last; small marks
    are the nodes, and missing numbers are not drawn. With an interval, cells of which the interval holds zero
    are hatched.

    Parameters
    ----------
    effect : TupleEffect
    labels : list of two lists of str
    nodes : list of two tuples of float or None
        Between which numbers the model reads each column, None where it reads codes.
    target : int
        The class that is drawn, by position.
    name : str
        What the values are called.
    limit : float
        The effect that has the full colour, for one scale over several pictures.
    bands : Bands or None, default=None
        The intervals of the cells.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from seminaive import HigherOrderLogisticRegression
    >>> X = [["wet", "cold"], ["wet", "warm"], ["dry", "cold"], ["dry", "warm"]] * 20
    >>> model = HigherOrderLogisticRegression(order=2).fit(X, ["slip", "hold", "hold", "slip"] * 20)
    >>> PairDisplay.from_estimator(model).ax_.get_ylabel()
    'x0'
    """

    effect: TupleEffect
    labels: list[list[str]]
    nodes: list[tuple[float, ...] | None]
    target: int
    name: str
    limit: float
    bands: Bands | None = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        pair: Sequence[str] | None = None,
        *,
        target: Any = None,
        limit: float | None = None,
        interval: float | None = None,
        effects: Effects | None = None,
        ax: Any = None,
    ) -> PairDisplay:
        """Draw a pair.

        Parameters
        ----------
        estimator : a fitted additive model with pairs
        pair : two names of columns, default=None
            None is the pair whose effect varies most over the training rows.
        target : label, default=None
            The class whose log odds or score is drawn; None is the last one.
        limit : float, default=None
            The effect that has the full colour; None is the largest of the pair.
        interval : float or None, default=None
            The coverage of intervals, such as .95: cells whose interval holds zero are hatched.
        effects : Effects, default=None
            Of the estimator, where they are at hand; None takes it apart.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        """
        effects = effects or effects_of(estimator)
        effect = pair_named(effects, pair)
        position = class_position(estimator, target)
        positions = [effects.schema.coded[j] for j in effect.columns]
        labels = [axis_labels(effects, k) for k in positions]
        nodes = [effects.schema.nodes_of(j) for j in effect.columns]
        if limit is None:
            limit = largest_effect(effect, position)
        name, bands = evidence_name(estimator, position), Bands.of(estimator, interval)
        return cls(effect, labels, nodes, position, name, limit, bands).plot(ax=ax)

    def _draw(self) -> None:
        """Draw the pair."""
        from matplotlib.ticker import MaxNLocator

        effect = self.effect
        axes = [
            _CodeAxis(_heaviest(effect.weight.sum(axis=1 - axis))) if nodes is None else _NodeAxis(nodes)
            for axis, nodes in enumerate(self.nodes)
        ]
        values = _surface(evidence(effect.table, self.target), axes)
        weight = _surface(effect.weight, axes)
        shown = np.where(weight > 0, values, np.nan)
        limit = max(self.limit, 1e-12)
        self.ax_.set_facecolor("0.88")
        image = self.ax_.pcolormesh(
            axes[1].edges, axes[0].edges, shown, cmap="RdBu_r", vmin=-limit, vmax=limit,
            alpha=np.clip(weight / FULL_COLOUR, 0.15, 1.0),
            rasterized=True,  # thousands of cells as paths would make a page of many megabytes
        )  # fmt: skip
        if self.bands is not None:
            reach = of_class(self.bands.of_tuple(self.effect), self.target)
            below, above = (_surface(end, axes) for end in reach)
            self._hatch(axes, (values <= below) & (-values <= above) & (weight > 0))
        for axis, set_ticks in ((0, self.ax_.set_yticks), (1, self.ax_.set_xticks)):
            drawn = axes[axis]
            if isinstance(drawn, _NodeAxis):
                set_ticks(drawn.ticks, minor=True)
                if all(node == round(node) for node in drawn.ticks):
                    (self.ax_.yaxis, self.ax_.xaxis)[axis].set_major_locator(MaxNLocator(6, integer=True))
                continue
            names = [_in_lines(self.labels[axis][code]) for code in drawn.codes]
            set_ticks(drawn.ticks, names, fontsize="small" if len(names) < 12 else "x-small")
            if axis == 1 and sum(map(len, names)) > 50:
                self.ax_.tick_params(axis="x", labelrotation=90)
        if self.nodes[0] is None:
            self.ax_.invert_yaxis()
        self.ax_.set_ylabel(clipped(effect.names[0], 40))
        self.ax_.set_xlabel(clipped(effect.names[1], 40))
        self.figure_.colorbar(image, ax=self.ax_, label=clipped(self.name, 40))
        self._draw_key(weight)

    def _hatch(self, axes: Sequence[_CodeAxis | _NodeAxis], undecided: Any) -> None:
        """Hatch the cells of which the interval holds zero."""
        if not undecided.any():
            return
        down, across = (np.repeat(axis.edges, 2)[1:-1] for axis in axes)
        shown = np.repeat(np.repeat(undecided.astype(float), 2, axis=0), 2, axis=1)
        drawn = self.ax_.contourf(across, down, shown, levels=[0.5, 1.5], colors="none", hatches=["///"])
        drawn.set_edgecolor("0.6")
        drawn.set_linewidth(0.0)

    def _draw_key(self, weight: Any) -> None:
        """Say what grey and pale cells are, where there are some."""
        from matplotlib.patches import Patch

        keys = []
        if (weight == 0).any():
            keys.append(Patch(color="0.88", label="no training rows"))
        if ((weight > 0) & (weight < FULL_COLOUR)).any():
            pale = f"pale: fewer than {FULL_COLOUR:.0f} rows"
            keys.append(Patch(facecolor="white", edgecolor="0.6", label=pale))
        if self.bands is not None:
            held = Patch(facecolor="none", edgecolor="0.6", hatch="///", label=f"{self.bands.name} holds 0")
            keys.append(held)
        if keys:
            self.ax_.legend(
                handles=keys, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, frameon=False,
                fontsize="small",
            )  # fmt: skip


def _in_lines(name: str) -> str:
    """Return a label in at most two lines; what would start a formula is escaped."""
    return "\n".join(clipped(line, 22) for line in wrap(name, 22)[:2])


class _CodeAxis:
    """An axis of codes side by side.

    Parameters
    ----------
    codes : ndarray of shape (n_codes,)
    """

    def __init__(self, codes: Any) -> None:
        self.codes = codes
        self.ticks = np.arange(len(codes))
        self.edges = np.arange(len(codes) + 1) - 0.5
        self.coordinates = at_codes(codes)


class _NodeAxis:
    """An axis of numbers from the first node to the last, at which the surface is drawn in small steps."""

    def __init__(self, nodes: tuple[float, ...]) -> None:
        low, high = (nodes[0], nodes[-1]) if len(nodes) > 1 else (nodes[0] - 0.5, nodes[0] + 0.5)
        self.ticks = np.array(nodes)
        self.edges = np.linspace(low, high, NUMBERS_DRAWN + 1)
        self.coordinates = between_nodes(np.array(nodes), (self.edges[:-1] + self.edges[1:]) / 2)


def _surface(table: Any, axes: Sequence[_CodeAxis | _NodeAxis]) -> Any:
    """Return what a table, (codes, codes), says at every pair of coordinates on its axes."""
    first, second = (axis.coordinates for axis in axes)
    return read_axis(read_axis(table, 0, first), 1, second)


def _heaviest(weight: Any) -> Any:
    """Return the values with training rows, in order, at most as many as can be drawn."""
    order = np.argsort(-weight, kind="stable")[:MOST_VALUES]
    return np.sort(order[weight[order] > 0])
