"""A classifier as a Bayesian network: the class, its parents to the left and its children to the right."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from seminaive.displays import Display
from seminaive.errors import InputError
from seminaive.explain.plotting import draw_arrow, write_node

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LOGISTIC_COLOUR, GENERATIVE_COLOUR, CLASS_COLOUR = "#dd8452", "#4c72b0", "0.25"
# Where the parents end, the class stands and the children begin, and how far a child in a tree is indented.
PARENTS, CLASS, CHILDREN, INDENT = 0.30, 0.46, 0.62, 0.045


class StructureDisplay(Display):
    """The graph of a model: features of the logistic part point to the class, the class to the others.

    Make it with `from_estimator`, of a fitted `HybridLogisticNaiveBayes` or `TreeAugmentedNaiveBayes`. A
    feature that depends on another one in a tree has an arrow from it, too.

    Parameters
    ----------
    parents, children : sequence of str
        The features of the logistic and of the generative part.
    tree : mapping of str to str or None, default=None
        The parent of each child among the children.

    Attributes
    ----------
    nodes_ : dict of str to matplotlib Text
        The features' names.
    arrows_ : list of (str, str)
        From and to, the class being called "class".

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from sklearn.datasets import load_iris
    >>> from seminaive import HybridLogisticNaiveBayes
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = HybridLogisticNaiveBayes(partition=["petal length (cm)"]).fit(X, y)
    >>> StructureDisplay.from_estimator(model).arrows_[0]
    ('petal length (cm)', 'class')
    """

    def __init__(
        self, parents: Sequence[str], children: Sequence[str], tree: Mapping[str, str | None] | None = None
    ) -> None:
        self.parents = parents
        self.children = children
        self.tree = tree or {}

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> StructureDisplay:
        """Draw the structure of a fitted model.

        Parameters
        ----------
        estimator : HybridLogisticNaiveBayes or TreeAugmentedNaiveBayes
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        """
        tree = getattr(estimator, "parents_", None)
        if hasattr(estimator, "partition_"):
            made = cls(estimator.logistic_features_, estimator.generative_features_, tree)
        elif tree is not None:
            made = cls([], list(tree), tree)
        else:
            raise InputError(
                f"a {type(estimator).__name__} has no structure to draw: fit a hybrid model or a tree"
            )
        return made.plot(ax=ax)

    def _draw(self) -> None:
        """Draw the names and the arrows between them."""
        order = _depth_first(self.children, self.tree)
        self.nodes_ = {"class": write_node(self.ax_, "class", (CLASS, 0.0), "center", CLASS_COLOUR)}
        for name, height in zip(self.parents, _heights(len(self.parents)), strict=True):
            self.nodes_[name] = write_node(self.ax_, name, (PARENTS, height), "right", LOGISTIC_COLOUR)
        for (name, depth), height in zip(order.items(), _heights(len(order)), strict=True):
            at = (CHILDREN + INDENT * depth, height)
            self.nodes_[name] = write_node(self.ax_, name, at, "left", GENERATIVE_COLOUR)
        parts = [(name, "class") for name in self.parents] + [("class", name) for name in self.children]
        edges = [(parent, child) for child, parent in self.tree.items() if parent is not None]
        self.arrows_ = parts + edges
        for start, end in parts:
            self._draw_arrow(start, end, {"color": "0.7"})
        for start, end in edges:
            # Down from the left end of the parent's name, then right to the child's.
            bent = {"connectionstyle": "angle,angleA=-90,angleB=180", "shrinkA": 0}
            self._draw_arrow(start, end, {"color": GENERATIVE_COLOUR, **bent})
        self._write_headings(tree=bool(edges))
        half = 0.5 * max(len(self.parents), len(self.children), 3)
        self.ax_.set_xlim(0.0, 1.0)
        self.ax_.set_ylim(-half - 0.3, half + 0.9)
        self.ax_.set_axis_off()

    def _write_headings(self, *, tree: bool) -> None:
        """Write above each part what it is."""
        titles = (
            (self.parents, PARENTS, "right", "logistic regression"),
            (self.children, CHILDREN, "left", "tree-augmented naive Bayes" if tree else "naive Bayes"),
        )
        for names, x, side, title in titles:
            if names:
                height = _heights(len(names))[0] + 0.85
                self.ax_.text(x, height, title, ha=side, va="center", color="0.4", fontsize="small")
        if not self.parents and not self.children:
            alone = "no features: the shares of the classes"
            self.ax_.text(CLASS, 0.85, alone, ha="center", va="center", color="0.4", fontsize="small")

    def _draw_arrow(self, start: str, end: str, style: dict[str, Any]) -> None:
        # Arrows end beside the name of the class, which is centred, and before those of features.
        ends = {"shrinkA": 6, "shrinkB": 22 if end == "class" else 6}
        draw_arrow(self.ax_, self.nodes_[start], self.nodes_[end], {**ends, **style})


def _heights(count: int) -> list[float]:
    """Return the heights of a column of names, one unit apart around 0, the first one on top."""
    return [0.5 * (count - 1) - k for k in range(count)]


def _depth_first(names: Sequence[str], tree: Mapping[str, str | None]) -> dict[str, int]:
    """Return the depth of each name in the tree, every parent being followed by its children."""
    depths: dict[str, int] = {}

    def visit(name: str, depth: int) -> None:
        depths[name] = depth
        for child in names:
            if tree.get(child) == name:
                visit(child, depth + 1)

    for name in names:
        if tree.get(name) is None:
            visit(name, 0)
    return depths
