"""The search for a sparse network: completions, an ordering per strength, and held-out rows to choose by."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from seminaive.statistics import complete
from seminaive.structure import SparseNetworks, bic_network

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from seminaive.scores import Network
    from seminaive.statistics.terms import Codes

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]
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
        best = int(np.argmin(self.loss))
        allowed = self.standard_error[best] if selection == "one-standard-error" else 0.0
        return int(np.argmax(self.loss <= self.loss[best] + allowed))


@dataclass(frozen=True)
class NetworkTable:
    """A coded training table whose last column is the class.

    Parameters
    ----------
    codes : ndarray of shape (n_rows, n_nodes)
        The code of a missing cell is the cardinality of its column. The class is never missing.
    cardinalities : tuple of int
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

    def completed(self, n_imputations: int, generator: np.random.Generator) -> tuple[Codes, Network]:
        """Return completions of the table, one where no cell is missing, and a dense network of the first.

        Missing cells are drawn by chained equations given a row's observed cells and its class. The chapter
        draws them given the class, learns a dense network from that by hill climbing on BIC, and draws again
        from it: what the first draws leave out, the second cannot bring back, and the sparse network then has
        edges from columns that matter through incomplete ones only.
        """
        features, labels = self.codes[:, :-1], self.codes[:, -1].astype(np.int64)
        tables = self.codes[None]
        if (features >= np.array(self.cardinalities[:-1])).any():
            drawn = complete(
                features,
                labels,
                self.cardinalities[:-1],
                n_imputations,
                generator,
                row_weight=self.row_weight,
            )
            last = np.broadcast_to(self.codes[:, -1:], (n_imputations, len(labels), 1))
            tables = np.concatenate([drawn, last], axis=2)
        return tables, bic_network(tables[0], self.cardinalities, self.row_weight, allowed=self._may_point)

    def _may_point(self, start: int, end: int) -> bool:
        return self.layers[start] <= self.layers[end]

    def squared_errors(self, network: Network) -> Floats:
        """Return half the squared distance between posterior and class of each row."""
        scores = network.joint_log_scores(self.codes, self.target)
        posterior = np.exp(scores - np.logaddexp.reduce(scores, axis=1)[:, None])
        posterior[np.arange(len(posterior)), self.codes[:, -1].astype(np.int64)] -= 1.0
        return np.asarray(0.5 * np.square(posterior).sum(axis=1))


@dataclass(frozen=True)
class SearchOptions:
    """How orderings are searched for, and how exactly each node is solved.

    Parameters
    ----------
    order : tuple of int or None
        A fixed ordering; None searches.
    searched : frozenset of int or None
        Layers in which neighbours are swapped; None is all.
    tabu : int
    tol : float
    max_iter : int
    """

    order: tuple[int, ...] | None
    searched: frozenset[int] | None
    tabu: int
    tol: float
    max_iter: int


def search_path(
    networks: SparseNetworks,
    strengths: Floats,
    start: Sequence[int],
    layers: Sequence[int],
    options: SearchOptions,
    step: Step,
) -> tuple[NetworkPath, list[Network], float]:
    """Return the networks at decreasing strengths, each search starting from the ordering before it.

    Returns
    -------
    path : NetworkPath
        Without losses.
    found : list of Network
    gap : float
        The largest duality gap of a node.
    """
    order = tuple(start)
    orders, objectives, found, gap = [], [], [], 0.0
    for strength in strengths.tolist():
        # A fixed ordering has no layer in which to swap.
        searched = options.searched if options.order is None else frozenset()
        result = networks.search(strength, order, layers=layers, searched=searched, tabu=options.tabu)
        order = result.order
        orders.append(order)
        objectives.append(result.objective)
        found.append(networks.network(order, strength))
        gap = max(gap, networks.largest_gap(order, strength))
        networks.forget(strength)
        step(f"{len(found[-1].edges)} edges")
    nothing = np.full(len(strengths), np.nan)
    path = NetworkPath(
        strengths,
        np.array(orders, dtype=np.int64),
        np.array([len(network.edges) for network in found], dtype=np.int64),
        np.array(objectives),
        nothing,
        nothing,
    )
    return path, found, gap


def held_out_losses(
    table: NetworkTable,
    splits: Sequence[tuple[Integers, Integers]],
    path: NetworkPath,
    n_imputations: int,
    options: SearchOptions,
    generator: np.random.Generator,
    step: Step,
) -> NetworkPath:
    """Return the path with losses on the held-out rows of every split, under the path's orderings.

    Each part of training rows has its own completions. Held-out rows keep their missing cells.
    """
    losses: list[list[Floats]] = [[] for _ in path.strengths]
    weights = []
    for train, test in splits:
        own, held_out = table.rows(train), table.rows(test)
        completions, _ = own.completed(n_imputations, generator)
        networks = SparseNetworks(
            completions, own.cardinalities, own.row_weight, tol=options.tol, max_iter=options.max_iter
        )
        weights.append(np.ones(len(test)) if held_out.row_weight is None else held_out.row_weight)
        for place, (strength, order) in enumerate(zip(path.strengths.tolist(), path.orders, strict=True)):
            network = networks.network(order.tolist(), strength)
            losses[place].append(held_out.squared_errors(network))
            networks.forget(strength)
            step(f"squared error {losses[place][-1].mean():.4g}")
    weight = np.concatenate(weights)
    by_row = np.array([np.concatenate(own) for own in losses])
    mean = by_row @ weight / weight.sum()
    spread = np.square(by_row - mean[:, None]) @ weight / weight.sum()
    # The weights of equal rows add up, so that their sum is the number of rows.
    return replace(path, loss=mean, standard_error=np.sqrt(spread / max(weight.sum() - 1.0, 1.0)))
