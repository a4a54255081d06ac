"""The graph of a Bayesian network: causes on top, the class and its Markov boundary in colour."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from seminaive.displays import Display
from seminaive.errors import InputError
from seminaive.explain.plotting import draw_arrow, write_node

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

CLASS_COLOUR, BOUNDARY_COLOUR, OTHER_COLOUR = "0.15", "#dd8452", "0.7"
# Rounds of ordering the nodes of a row by the mean place of their neighbours.
ROUNDS = 8
# Half the height of a box of text, in points, at which arrows end.
BOX_HEIGHT = 11
# Inches of the figure for each row of nodes, and for each letter and box of the longest row.
ROW_INCHES, LETTER_INCHES, BOX_INCHES = 1.0, 0.085, 0.35


@dataclass(eq=False, repr=False)
class NetworkDisplay(Display):
    """The graph of a network, every node below its parents.

    Make it with `from_estimator`, of a fitted `SparseBayesianNetwork`. Nodes of the Markov boundary of the
    class, on which alone a prediction depends once they are known, have a coloured frame. Nodes without
    edges stand in a last row.

    Parameters
    ----------
    parents : mapping of str to sequence of str
        The parents of each node, the class being called "class".
    boundary : collection of str
        The Markov boundary of the class.

    Attributes
    ----------
    nodes_ : dict of str to matplotlib Text
    arrows_ : list of (str, str)
        From parent to child.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> display = NetworkDisplay({"rain": [], "class": ["rain"]}, ["rain"]).plot()
    >>> display.arrows_
    [('rain', 'class')]
    """

    parents: Mapping[str, Sequence[str]]
    boundary: Collection[str]

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> NetworkDisplay:
        """Draw the graph of a fitted model.

        Parameters
        ----------
        estimator : SparseBayesianNetwork
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure that is large enough.
        """
        if not hasattr(estimator, "markov_boundary_") or not hasattr(estimator, "parents_"):
            raise InputError(
                f"a {type(estimator).__name__} has no network to draw: fit a SparseBayesianNetwork"
            )
        return cls(estimator.parents_, estimator.markov_boundary_).plot(ax=ax)

    def __post_init__(self) -> None:
        self._rows = arranged_rows(self.parents)
        longest = max(sum(LETTER_INCHES * len(name) + BOX_INCHES for name in row) for row in self._rows)
        self.inches = max(4.0, longest), max(2.0, ROW_INCHES * len(self._rows))

    def _draw(self) -> None:
        """Draw the names and the arrows between them."""
        self.nodes_ = {}
        for depth, row in enumerate(self._rows):
            for name, x in zip(row, _middles(row), strict=True):
                self.nodes_[name] = write_node(self.ax_, name, (x, -depth), "center", self._colour(name))
        self.arrows_ = [
            (parent, child) for child, node_parents in self.parents.items() for parent in node_parents
        ]
        for parent, child in self.arrows_:
            strong = "class" in (parent, child)
            # Arrows over several rows are bent, so as not to run through the names between.
            far = self.nodes_[parent].get_position()[1] - self.nodes_[child].get_position()[1] > 1
            style = {
                "color": "0.25" if strong else "0.65",
                "shrinkA": BOX_HEIGHT,
                "shrinkB": BOX_HEIGHT,
                "connectionstyle": f"arc3,rad={0.15 if far else 0.0}",
            }
            draw_arrow(self.ax_, self.nodes_[parent], self.nodes_[child], style)
        self.ax_.set_xlim(0.0, 1.0)
        self.ax_.set_ylim(-len(self._rows) + 0.5, 0.5)
        self.ax_.set_axis_off()

    def _colour(self, name: str) -> str:
        if name == "class":
            return CLASS_COLOUR
        return BOUNDARY_COLOUR if name in self.boundary else OTHER_COLOUR


def arranged_rows(parents: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """Return the nodes in rows, each below its parents, ordered so that few arrows cross.

    A node stands in the row above its first child, one without children below its last parent. Within a row,
    nodes are sorted by the mean place of their neighbours, again and again (the barycentre heuristic). Nodes
    without edges come last.

    >>> arranged_rows({"a": [], "b": [], "c": ["b"], "d": ["a"], "apart": []})
    [['b', 'a'], ['c', 'd'], ['apart']]
    """
    depth: dict[str, int] = {}

    def depth_of(name: str) -> int:
        if name not in depth:
            depth[name] = 1 + max((depth_of(parent) for parent in parents[name]), default=-1)
        return depth[name]

    neighbours: dict[str, list[str]] = {name: list(above) for name, above in parents.items()}
    for child, above in parents.items():
        for parent in above:
            neighbours[parent].append(child)
    linked = [name for name in parents if neighbours[name]]
    for name in sorted(linked, key=depth_of, reverse=True):
        below = [depth[child] for child in linked if name in parents[child]]
        depth[name] = min(below) - 1 if below else depth[name]
    rows: list[list[str]] = [[] for _ in range(1 + max((depth[name] for name in linked), default=-1))]
    for name in linked:
        rows[depth[name]].append(name)
    xs = {name: where for row in rows for name, where in zip(row, _middles(row), strict=True)}
    for _ in range(ROUNDS):
        for row in rows:
            row.sort(key=lambda name: sum(xs[other] for other in neighbours[name]) / len(neighbours[name]))
            xs |= dict(zip(row, _middles(row), strict=True))
    apart = [name for name in parents if not neighbours[name]]
    return [*rows, apart] if apart else rows


def _middles(row: Sequence[str]) -> list[float]:
    """Return the middles of the names of a row, each as wide as its letters, from 0 to 1."""
    widths = [LETTER_INCHES * len(name) + BOX_INCHES for name in row]
    total, middles, left = sum(widths), [], 0.0
    for width in widths:
        middles.append((left + width / 2) / total)
        left += width
    return middles
