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

    from numpy.typing import NDArray

    from seminaive.selection.held_out import HeldOut

    Floats = NDArray[np.float64]
    Indices = NDArray[np.int64]
    Split = tuple[Indices, Indices]

# The name of the search without an earlier model.
NOTHING = "nothing"
# The name of the earlier model as it is.
UNCHANGED = "unchanged"
# Around which baselines new terms are searched.
SEARCHED = ("recalibrated", "shifted")


@dataclass(frozen=True)
class Baseline:
    """What new terms are added to: a recalibration for each fold's training rows and, last, for all rows.

    Parameters
    ----------
    earlier : ndarray of shape (n_rows, n_columns)
        The earlier score of all rows.
    parts : tuple of Recalibration
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
        UNCHANGED: Baseline.constant(earlier, 1.0, len(splits) + 1),
    }


@dataclass(frozen=True)
class Combination:
    """The answers of searches around several baselines, and the earlier model as it is, averaged.

    Each is weighted by what it loses on rows that neither fitted nor chose it, as trials of one search are
    by what they lose on held-out rows: `averaged` says why by half of it.

    Parameters
    ----------
    baselines : dict of str to Baseline
    decisions : dict of str to Decision
        For each baseline, and for the search around nothing.
    total : float
        The weight of the held-out rows.
    """

    baselines: dict[str, Baseline]
    decisions: dict[str, Decision]
    total: float

    @classmethod
    def of(
        cls,
        baselines: dict[str, Baseline],
        held_out: HeldOut,
        decisions: dict[str, Decision],
        generator: np.random.Generator,
    ) -> Combination:
        """Add the earlier model as it is to the decisions of searches."""
        unchanged = baselines[UNCHANGED].left_of(held_out)
        alone = decide(
            unchanged, unchanged.share_scores[:, None], averaged(np.zeros(1)), generator, fit_share=0.0
        )
        return cls(baselines, {**decisions, UNCHANGED: alone}, held_out.total)

    @cached_property
    def weights(self) -> dict[str, float]:
        """The weight of each answer; equal where no row is held out."""
        losses = np.array([decision.log_loss for decision in self.decisions.values()])
        found = averaged(np.zeros(len(losses)))(self.total * np.nan_to_num(losses))
        found = np.where(weighty(found), found, 0.0)
        return dict(zip(self.decisions, (found / found.sum()).tolist(), strict=True))

    @property
    def best(self) -> str:
        """The search of most weight."""
        return max((kind for kind in self.decisions if kind != UNCHANGED), key=self.weights.__getitem__)

    @property
    def decision(self) -> Decision:
        """The decision of all: the loss of an average is at most the average of the losses."""
        weights, parts = np.array(list(self.weights.values())), list(self.decisions.values())
        low, high = weights @ np.array([part.log_loss_interval for part in parts])
        return Decision(
            weights,
            float(weights @ np.array([part.fit_share for part in parts])),
            float(weights @ np.array([part.log_loss for part in parts])),
            (float(low), float(high)),
        )

    @property
    def recalibration(self) -> Recalibration:
        """The average of the baselines: the intercept and slope of the earlier score in the answer."""
        parts = [(self.weights[kind], baseline.of_all) for kind, baseline in self.baselines.items()]
        intercept = sum(weight * part.intercept for weight, part in parts)
        return Recalibration(np.asarray(intercept), sum(weight * part.slope for weight, part in parts))

    def coefficients(self, fitted: dict[str, Floats]) -> Floats:
        """Return the average of the answers' coefficients, plus the intercept of the baselines."""
        found = np.asarray(sum(self.weights[kind] * coefficients for kind, coefficients in fitted.items()))
        found[0] += self.recalibration.intercept
        return found
