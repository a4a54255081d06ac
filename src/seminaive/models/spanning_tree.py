"""The tree over features that keeps most of their dependence within the classes (Chow and Liu)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seminaive.arrays import Floats

# Information below this share of the largest entropy-like scale is the rounding of its sum.
ROUNDING = 1e-12
NO_PARENT = -1


@dataclass(frozen=True)
class FeatureTree:
    """A parent for every feature but the roots.

    Parameters
    ----------
    parents : tuple of int
        The parent of each feature, -1 for a root.
    information : tuple of float
        What each edge from the parent keeps, in nats; 0 for a root.
    order : tuple of int
        The features in the order in which they joined, parents before children.
    """

    parents: tuple[int, ...]
    information: tuple[float, ...]
    order: tuple[int, ...]

    @property
    def edges(self) -> tuple[tuple[int, int], ...]:
        """Return (parent, child) pairs in the order in which the children joined."""
        return tuple((self.parents[j], j) for j in self.order if self.parents[j] != NO_PARENT)

    def describe(self, names: Sequence[str]) -> str:
        """Return one line per feature, in the order in which they joined."""
        return "\n".join(
            f"{names[j]} is a root"
            if self.parents[j] == NO_PARENT
            else f"{names[self.parents[j]]} -> {names[j]}: {self.information[j]:.4g} nats"
            for j in self.order
        )


def chow_liu_tree(information: Floats, preference: Floats) -> FeatureTree:
    """Return the maximum spanning tree of a matrix of information, directed away from a root.

    Prim's algorithm: the feature joins that shares most with one already in the tree. An edge that carries
    no information is left out, so that a constant feature stands alone: the tree may be a forest.

    Parameters
    ----------
    information : ndarray of shape (p, p)
        Symmetric; conditional mutual information given the class for TAN. The diagonal is not read.
    preference : ndarray of shape (p,)
        The root is the feature with the largest, such as its information about the class: no property of
        the order of the columns.

    Examples
    --------
    >>> chow_liu_tree(np.array([[0, 3, 2], [3, 0, 1], [2, 1, 0]]), np.array([0, 1, 0])).parents
    (1, -1, 0)
    """
    n_features = len(information)
    carries = np.array(information, dtype=np.float64)
    carries[carries <= ROUNDING * max(1.0, float(carries.max(initial=0.0)))] = 0.0
    parents = [NO_PARENT] * n_features
    kept = [0.0] * n_features
    order: list[int] = []
    best = np.zeros(n_features)
    via = np.full(n_features, NO_PARENT)
    outside = np.ones(n_features, dtype=bool)
    for _ in range(n_features):
        reachable = np.where(outside, best, -1.0)
        joining = int(np.argmax(reachable))
        if reachable[joining] <= 0:  # nothing that shares information with the tree: a new root
            joining = int(np.argmax(np.where(outside, preference, -np.inf)))
        else:
            parents[joining], kept[joining] = int(via[joining]), float(best[joining])
        outside[joining] = False
        order.append(joining)
        closer = outside & (carries[joining] > best)
        best[closer], via[closer] = carries[joining][closer], joining
    return FeatureTree(tuple(parents), tuple(kept), tuple(order))
