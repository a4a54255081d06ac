"""What new terms are added to where a fit starts from an earlier model, and what is left without them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from seminaive.selection.decision import Decision, averaged, decide, weighty
from seminaive.selection.recalibration import Recalibration, recalibrate, shifted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from seminaive.arrays import Floats, Indices
    from seminaive.selection.held_out import HeldOut

    Split = tuple[Indices, Indices]

# The name of the search without an earlier model.
NOTHING = "nothing"
# Around which baselines new terms are searched.
SEARCHED = ("recalibrated", "shifted")


@dataclass(frozen=True)
class Baseline:
    """What new terms are added to: a recalibration for each fold's training rows and, last, for all rows.

    Parameters
    ----------
    earlier : ndarray of shape (n_rows, n_columns)
        The earlier score of all rows.
    """

    earlier: Floats
    parts: tuple[Recalibration, ...]

    @classmethod
    def of(
        cls,
        recalibration: Callable[[Floats, Indices, Floats, int], Recalibration],
        earlier: Floats,
        labels: Indices,
        row_weight: Floats,
        n_classes: int,
        splits: Sequence[Split],
    ) -> Baseline:
        """Recalibrate on the training rows of each fold, and on all rows."""
        trains = [train for train, _ in splits] + [np.arange(len(labels))]
        parts = (
            recalibration(earlier[train], labels[train], row_weight[train], n_classes) for train in trains
        )
        return cls(earlier, tuple(parts))

    @classmethod
    def constant(cls, earlier: Floats, slope: float, n_parts: int) -> Baseline:
        """Return a number times the earlier score, without an intercept: 1 leaves it as it is."""
        return cls(earlier, (Recalibration(np.zeros(earlier.shape[1]), slope),) * n_parts)

    def left_of(self, held_out: HeldOut) -> HeldOut:
        """Return held-out rows for which what is left of an answer is the baseline of their fold."""
        return replace(held_out, share_scores=held_out.gathered(self.offsets[:-1]))

    @property
    def of_all(self) -> Recalibration:
        """Return the recalibration of all rows."""
        return self.parts[-1]

    @property
    def offsets(self) -> list[Floats]:
        """Return the scores of all rows in each fold and, last, by the fit of all rows."""
        return [part.scores(self.earlier) for part in self.parts]


def baselines_of(
    earlier: Floats,
    labels: Indices,
    row_weight: Floats,
    n_classes: int,
    splits: Sequence[Split],
) -> dict[str, Baseline]:
    """Return what an earlier score is made into, on the training rows of each fold and on all rows."""
    rows = (earlier, labels, row_weight, n_classes, splits)
    return {
        "recalibrated": Baseline.of(recalibrate, *rows),
        "shifted": Baseline.of(shifted, *rows),
        "unchanged": Baseline.constant(earlier, 1.0, len(splits) + 1),
    }


@dataclass(frozen=True)
class Combination:
    """The answers of searches around several baselines, and each baseline without new terms, averaged.

    Each is weighted by what it loses on rows that neither fitted nor chose it, as trials of one search are
    by what they lose on held-out rows: `averaged` says why by half of it. Before any row is seen, each is as
    likely as the others.

    Parameters
    ----------
    baselines : dict of str to Baseline
    searched : dict of str to Decision
        Those of the searches around baselines, and of that around nothing.
    alone : dict of str to Decision
        What each baseline loses.
    total : float
        The weight of the held-out rows.
    """

    baselines: dict[str, Baseline]
    searched: dict[str, Decision]
    alone: dict[str, Decision]
    total: float

    @classmethod
    def of(
        cls,
        baselines: dict[str, Baseline],
        held_out: HeldOut,
        searched: dict[str, Decision],
        generator: np.random.Generator,
    ) -> Combination:
        """Decide on each baseline alone, beside the decisions of the searches."""

        def decision_of(baseline: Baseline) -> Decision:
            rows = baseline.left_of(held_out)
            rule = averaged(np.zeros(1))
            return decide(rows, rows.share_scores[:, None], rule, generator, fit_share=0.0)

        alone = {kind: decision_of(baseline) for kind, baseline in baselines.items()}
        return cls(baselines, searched, alone, held_out.total)

    @cached_property
    def decision(self) -> Decision:
        """The decision of all: the loss of an average is at most the average of the losses.

        Without held-out rows the weights are equal.
        """
        parts = [*self.searched.values(), *self.alone.values()]
        losses = np.array([part.log_loss for part in parts])
        weights = averaged(np.zeros(len(losses)))(self.total * np.nan_to_num(losses))
        weights = np.where(weighty(weights), weights, 0.0) / weights[weighty(weights)].sum()
        low, high = weights @ np.array([part.log_loss_interval for part in parts])
        fit_share = float(weights @ np.array([part.fit_share for part in parts]))
        return Decision(weights, fit_share, float(weights @ losses), (float(low), float(high)))

    @cached_property
    def _weights(self) -> tuple[dict[str, float], dict[str, float]]:
        """The weights of the searches, and of the baselines alone."""
        listed = self.decision.weights.tolist()
        n_searched = len(self.searched)
        return (
            dict(zip(self.searched, listed[:n_searched], strict=True)),
            dict(zip(self.alone, listed[n_searched:], strict=True)),
        )

    @property
    def best(self) -> str:
        """The search of most weight."""
        return max(self.searched, key=self._weights[0].__getitem__)

    @property
    def recalibration(self) -> Recalibration:
        """The average of the baselines: the intercept and slope of the earlier score in the answer."""
        searched, alone = self._weights
        parts = [
            (searched.get(kind, 0.0) + alone[kind], baseline.of_all)
            for kind, baseline in self.baselines.items()
        ]
        intercept = sum(weight * part.intercept for weight, part in parts)
        return Recalibration(np.asarray(intercept), sum(weight * part.slope for weight, part in parts))

    def coefficients(self, fitted: dict[str, Floats]) -> Floats:
        """Return the average of the searches' coefficients, plus the intercept of the baselines."""
        weights, _ = self._weights
        found = np.asarray(sum(weights[kind] * coefficients for kind, coefficients in fitted.items()))
        found[0] += self.recalibration.intercept
        return found
