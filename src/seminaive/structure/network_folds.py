"""Sparse networks of the training part of each fold, and what held-out rows decide about them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri

from seminaive.design.rounding import ROUNDING
from seminaive.selection.decision import COVERAGE, Decision, decide
from seminaive.structure.sparse_network import KEPT_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from seminaive.arrays import Floats, Integers
    from seminaive.selection.decision import Rule
    from seminaive.selection.held_out import HeldOut
    from seminaive.structure import Network
    from seminaive.structure.network_search import NetworkPath, NetworkTable, SearchOptions


@dataclass(frozen=True)
class NetworkPlan:
    """The numbers of the search.

    Parameters
    ----------
    relaxed : float
        The strength of a refit, as a share of the one that chose the graph: so small that the penalty no
        longer shrinks, and large enough that separable rows have an optimum. Ten times more or less moves
        probabilities of the planted tables by less than .01 (tests/selection/test_network_search.py).
    patience, patience_share : int, float
        A path ends once ``patience`` strengths after the best one did not lower the loss and the last is at
        most ``patience_share`` of the best. Both only save time: with ten times the patience the tables above
        choose the same strength.
    negligible : float
        A path ends, too, where the loss has left that of the class shares by a standard error, and these
        strengths together changed it by less than this share of one; likewise.
    """

    relaxed: float = 1e-4
    patience: int = 3
    patience_share: float = 0.25
    negligible: float = 0.02


PLAN = NetworkPlan()


class NetworkFold:
    """One split of the rows: sparse networks of its training part, and scores of the rows held out.

    The training part is completed separately. Held-out rows keep their missing cells. Where they have
    none, the posterior of the class has the factors of the class and of the nodes after it alone: the nodes
    before it are not fitted.

    Parameters
    ----------
    train, held : ndarray
        Rows that train, and rows that are held out.
    n_splits : int
        How many are searched side by side, and share the memory for problems.
    """

    def __init__(
        self,
        table: NetworkTable,
        train: Integers,
        held: Integers,
        n_imputations: int,
        options: SearchOptions,
        generator: np.random.Generator,
        n_splits: int,
    ) -> None:
        training, self.rows = table.rows(train), table.rows(held)
        self.networks = training.sparse_networks(n_imputations, generator, options, KEPT_BYTES // n_splits)
        self.has_missing = self.rows.has_missing

    def scores(self, order: Sequence[int], strength: float) -> Floats:
        """Return the scores of the held-out rows under the network of an ordering at one strength."""
        network = self._network(order, strength)
        self.networks.forget(strength)
        return self.rows.class_scores(network)

    def refitted_scores(self, order: Sequence[int], strength: float) -> Floats:
        """Return the scores where the edges that a strength chose are fitted again, hardly penalised."""
        network = self._network(order, strength)
        return self.rows.class_scores(self.networks.refitted(network, PLAN.relaxed * strength))

    def _network(self, order: Sequence[int], strength: float) -> Network:
        first = 0 if self.has_missing else list(order).index(self.rows.target)
        return self.networks.network(order, strength, fitted=frozenset(order[first:]))


@dataclass
class HeldOutNetworks:
    """Scores of the held-out rows at the strengths so far, and their squared errors.

    Parameters
    ----------
    scores : list of ndarray of shape (n_held_out, n_columns)
        One for each strength.
    mean, standard_error : list of float
        The squared error of each strength.
    """

    held_out: HeldOut
    folds: Sequence[NetworkFold]
    scores: list[Floats] = field(default_factory=list)
    mean: list[float] = field(default_factory=list)
    standard_error: list[float] = field(default_factory=list)

    @classmethod
    def of(
        cls,
        tables: Iterable[NetworkTable],
        held_out: HeldOut,
        splits: Sequence[tuple[Integers, Integers]],
        n_imputations: int,
        options: SearchOptions,
        generator: np.random.Generator,
    ) -> HeldOutNetworks:
        """Complete the training part of each split, of whose coding there is one table each."""
        held = [held_out.rows[held_out.folds == number] for number in range(len(splits))]
        folds = [
            NetworkFold(table, train, rows, n_imputations, options, generator, len(splits))
            for table, (train, _), rows in zip(tables, splits, held, strict=True)
        ]
        return cls(held_out, folds)

    def add(self, order: Sequence[int], strength: float) -> None:
        """Judge the networks of the folds at one more strength."""
        scores = np.concatenate([fold.scores(order, strength) for fold in self.folds])
        scores = self.held_out.completed(scores)
        losses = self.held_out.losses(scores, "brier")
        self.scores.append(scores)
        # Without held-out rows no strength is better than another.
        self.mean.append(float(np.nan_to_num(self.held_out.mean(losses))))
        # Rows of a class that their fold lacks lose the same whatever the strength.
        known = self.held_out.known
        error = self.held_out.part(known).standard_error(losses[known])
        self.standard_error.append(float(np.nan_to_num(error)))

    def are_past_their_least(self, strengths: Sequence[float]) -> bool:
        """Tell whether weaker penalties no longer help: the loss has risen, or stays as it is."""
        mean = np.array(self.mean)
        best = int(np.flatnonzero(mean <= mean.min() * (1.0 + ROUNDING))[-1])
        risen = (
            len(mean) - 1 - best >= PLAN.patience and strengths[-1] <= PLAN.patience_share * strengths[best]
        )
        if risen or len(mean) <= PLAN.patience:
            return risen
        gain = mean[-PLAN.patience - 1] - mean[-1]
        has_fallen = mean.min() < mean[0] - self.standard_error[0]
        return bool(has_fallen and abs(gain) <= PLAN.negligible * self.standard_error[0])

    def decide(
        self,
        path: NetworkPath,
        chosen: int,
        options: DecisionOptions,
        generator: np.random.Generator,
    ) -> tuple[Decision, bool]:
        """Return how far to believe the network at the chosen strength, and whether to refit it."""
        trials = list(self.scores)
        losses = [self.held_out.losses(scores, "brier") for scores in trials]
        refits = options.refit is True
        if options.refit is not False:
            refitted = self._refitted_scores(path, chosen)
            # Squared errors choose the strength; whether its refit is too sure, only log losses show.
            change = self.held_out.losses(refitted) - self.held_out.losses(trials[chosen])
            if refits:
                trials[chosen], losses[chosen] = refitted, self.held_out.losses(refitted, "brier")
            elif self._surely_falls(change):
                refits = True
                trials.append(refitted)
                losses.append(losses[chosen] + change)
        allowed = path.allowance(options.selection) * self.held_out.total
        rule = strength_and_refit(len(self.scores), chosen, allowed)
        scores, by_row = np.stack(trials, axis=1), np.stack(losses, axis=1)
        return decide(self.held_out, scores, rule, generator, by_row, options.fit_share), refits

    def _surely_falls(self, change: Floats) -> bool:
        """Tell whether the 95 % interval of a mean change of losses lies below 0.

        The losses of a network without shrinkage have long tails, of which few rows show little.
        """
        bound = float(ndtri((1 + COVERAGE) / 2)) * self.held_out.standard_error(change)
        return bool(self.held_out.mean(change) < -bound)

    def _refitted_scores(self, path: NetworkPath, position: int) -> Floats:
        order, strength = path.orders[position].tolist(), float(path.strengths[position])
        scores = np.concatenate([fold.refitted_scores(order, strength) for fold in self.folds])
        return self.held_out.completed(scores)


@dataclass(frozen=True)
class DecisionOptions:
    """What held-out rows decide.

    Parameters
    ----------
    selection : {"one-standard-error", "min"}
    refit : bool or "auto"
        Whether the chosen graph is fitted again; "auto" does so where held-out rows surely lose less.
    fit_share : float or None
        A share that is given; None finds it.
    """

    selection: str
    refit: Any
    fit_share: float | None


def strength_and_refit(n_strengths: int, chosen: int, allowed: float) -> Rule:
    """Return the rule that takes the largest strength whose total loss is within an allowance of the least.

    A trial beyond the strengths is the refit of the chosen one, and takes its place where it loses less.
    """

    def weights(total_losses: Floats) -> Floats:
        of_path, of_refit = np.split(total_losses, [n_strengths], axis=-1)
        position = np.argmax(of_path <= of_path.min(axis=-1, keepdims=True) + allowed, axis=-1)
        if of_refit.shape[-1]:
            better = (position == chosen) & (of_refit[..., 0] < of_path[..., chosen])
            position = np.where(better, n_strengths, position)
        return np.asarray(np.eye(total_losses.shape[-1])[position])

    return weights
