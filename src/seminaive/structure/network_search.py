"""The search for a sparse network: completions, an ordering per strength, and held-out rows to choose by."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from seminaive.design.classes import log_odds
from seminaive.structure import SparseNetworks, bic_network, complete
from seminaive.structure.sparse_network import KEPT_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from seminaive.arrays import Codes, Floats, Integers
    from seminaive.structure import Network
    from seminaive.structure.network_folds import HeldOutNetworks

    Step = Callable[[str], None]


@dataclass(frozen=True)
class NetworkPath:
    """Networks along decreasing strengths, and their squared error on held-out rows.

    Parameters
    ----------
    strengths : ndarray of shape (n_strengths,)
    orders : ndarray of shape (n_strengths, n_nodes)
    n_edges : ndarray of shape (n_strengths,)
    objectives : ndarray of shape (n_strengths,)
        The minimum of the mean over the nodes of log loss and penalty.
    loss : ndarray of shape (n_strengths,)
        Mean over the held-out rows of half the squared distance between the posterior and the class; with two
        classes the squared error of a probability. NaN where no rows were held out.
    standard_error : ndarray of shape (n_strengths,)
        Of that mean, from the spread between rows.
    """

    strengths: Floats
    orders: Integers
    n_edges: Integers
    objectives: Floats
    loss: Floats
    standard_error: Floats

    def check_fits(self, n_nodes: int) -> None:
        """Refuse a path, read from a file, whose parts do not belong together."""
        shape = self.strengths.shape
        parts = (self.n_edges, self.objectives, self.loss, self.standard_error)
        if len(shape) != 1 or not shape[0] or any(part.shape != shape for part in parts):
            raise ValueError("the path has parts of different lengths")
        if self.orders.shape != (*shape, n_nodes):
            raise ValueError("the path has orderings of other nodes")

    def choose(self, selection: str) -> int:
        """Return the position of the chosen strength: of the least loss, the largest of equal ones.

        "one-standard-error" takes the largest strength within one standard error of the least loss.
        """
        if np.isnan(self.loss).all():
            return len(self.strengths) - 1
        return int(np.argmax(self.loss <= self.loss.min() + self.allowance(selection)))

    def allowance(self, selection: str) -> float:
        """Return by how much the loss of the chosen strength may exceed the least."""
        return float(self.standard_error[self.loss.argmin()]) if selection == "one-standard-error" else 0.0


@dataclass(frozen=True)
class NetworkTable:
    """A coded training table whose last column is the class.

    Parameters
    ----------
    codes : ndarray of shape (n_rows, n_nodes)
        The code of a missing cell is the cardinality of its column. The class is never missing.
    row_weight : ndarray of shape (n_rows,) or None
    layers : tuple of int
        The layer of each node; parents come from the same layer or an earlier one.
    """

    codes: Codes
    cardinalities: tuple[int, ...]
    row_weight: Floats | None
    layers: tuple[int, ...]

    @property
    def target(self) -> int:
        """Return the node of the class."""
        return len(self.cardinalities) - 1

    def rows(self, index: Integers) -> NetworkTable:
        """Return some of the rows."""
        weight = None if self.row_weight is None else self.row_weight[index]
        return replace(self, codes=self.codes[index], row_weight=weight)

    @property
    def has_missing(self) -> bool:
        """Return whether a cell of a feature is missing."""
        return bool((self.codes[:, :-1] >= np.array(self.cardinalities[:-1])).any())

    def completed(self, n_imputations: int, generator: np.random.Generator) -> Codes:
        """Return completions of the table, one where no cell is missing.

        Missing cells are drawn by chained equations given a row's observed cells and its class. The chapter
        draws them given the class, learns a dense network from that by hill climbing on BIC, and draws again
        from it: what the first draws leave out, the second cannot bring back, and the sparse network then has
        edges from columns that matter through incomplete ones only.
        """
        if not self.has_missing:
            return self.codes[None]
        features, labels = self.codes[:, :-1], self.codes[:, -1].astype(np.int64)
        drawn = complete(
            features, labels, self.cardinalities[:-1], n_imputations, generator, row_weight=self.row_weight
        )
        last = np.broadcast_to(self.codes[:, -1:], (n_imputations, len(labels), 1))
        return np.concatenate([drawn, last], axis=2)

    def sparse_networks(
        self,
        n_imputations: int,
        generator: np.random.Generator,
        options: SearchOptions,
        kept_bytes: int = KEPT_BYTES,
    ) -> SparseNetworks:
        """Return the sparse networks of completions of the table."""
        return SparseNetworks(
            self.completed(n_imputations, generator),
            self.cardinalities,
            self.row_weight,
            tol=options.tol,
            max_iter=options.max_iter,
            kept_bytes=kept_bytes,
        )

    def dense_order(self, completion: Codes) -> tuple[int, ...]:
        """Return the ordering of a dense network (hill climbing on BIC) of one completion."""
        return bic_network(completion, self.cardinalities, self.row_weight, allowed=self._may_point).order

    def _may_point(self, start: int, end: int) -> bool:
        return self.layers[start] <= self.layers[end]

    def class_scores(self, network: Network) -> Floats:
        """Return the scores of the classes of each row: one log odds of two classes."""
        return log_odds(network.joint_log_scores(self.codes, self.target))


@dataclass(frozen=True)
class SearchOptions:
    """How orderings are searched for, and how exactly each node is solved.

    Parameters
    ----------
    order : tuple of int or None
        A fixed ordering; None searches.
    searched : frozenset of int or None
        Layers in which neighbours are swapped; None is all.
    """

    order: tuple[int, ...] | None
    searched: frozenset[int] | None
    tabu: int
    tol: float
    max_iter: int


@dataclass(frozen=True)
class NetworkStrengths:
    """The strengths of a path, from the largest on.

    Parameters
    ----------
    laid : ndarray of shape (n_strengths,)
    open : bool
        Whether the path ends before the last one where held-out losses have risen, and goes on beyond it, by
        the same factor and as far again, while they fall.
    """

    laid: Floats
    open: bool

    def after(self, tried: Sequence[float], held_out: HeldOutNetworks | None) -> float | None:
        """Return the next strength, None at the end of the path."""
        count = len(tried)
        if self.open and tried and held_out is not None and held_out.are_past_their_least(tried):
            return None
        if count < len(self.laid):
            return float(self.laid[count])
        if not self.open or held_out is None or len(self.laid) < 2 or count >= 2 * len(self.laid):
            return None
        return tried[-1] * float(self.laid[-1] / self.laid[-2])


def search_path(
    networks: SparseNetworks,
    strengths: NetworkStrengths,
    start: Sequence[int],
    layers: Sequence[int],
    options: SearchOptions,
    held_out: HeldOutNetworks | None,
    step: Step,
) -> tuple[NetworkPath, list[Network], float]:
    """Return the networks at decreasing strengths, each search starting from the ordering before it.

    Returns
    -------
    path : NetworkPath
        With losses on the held-out rows of every split, under the path's orderings.
    found : list of Network
    gap : float
        The largest duality gap of a node.
    """
    order = tuple(start)
    # A fixed ordering has no layer in which to swap.
    searched = options.searched if options.order is None else frozenset()
    tried: list[float] = []
    orders, objectives, found, gap = [], [], [], 0.0
    while (strength := strengths.after(tried, held_out)) is not None:
        result = networks.search(strength, order, layers=layers, searched=searched, tabu=options.tabu)
        order = result.order
        tried.append(strength)
        orders.append(order)
        objectives.append(result.objective)
        found.append(networks.network(order, strength))
        gap = max(gap, networks.largest_gap(order, strength))
        networks.forget(strength)
        note = f"{len(found[-1].edges)} edges"
        if held_out is not None:
            held_out.add(order, strength)
            note += f", squared error {held_out.mean[-1]:.4g}"
        step(note)
    nothing = [np.nan] * len(tried)
    path = NetworkPath(
        np.array(tried),
        np.array(orders, dtype=np.int64),
        np.array([len(network.edges) for network in found], dtype=np.int64),
        np.array(objectives),
        np.array(nothing if held_out is None else held_out.mean),
        np.array(nothing if held_out is None else held_out.standard_error),
    )
    return path, found, gap
