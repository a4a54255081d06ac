"""What new terms are added to where a fit starts from an earlier model, and what is left without them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from seminaive.selection.decision import averaged
from seminaive.selection.recalibration import Recalibration, class_shares, recalibrate, shifted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from seminaive.selection.held_out import HeldOut

    Floats = NDArray[np.float64]
    Indices = NDArray[np.int64]
    Split = tuple[Indices, Indices]

NOTHING = "nothing"


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
        parts = (recalibration(earlier[own], labels[own], row_weight[own], n_classes) for own in trains)
        return cls(earlier, tuple(parts))

    @classmethod
    def constant(cls, earlier: Floats, slope: float, n_parts: int) -> Baseline:
        """Return a number times the earlier score, without an intercept: 1 leaves it, 0 is no baseline."""
        return cls(earlier, (Recalibration(np.zeros(earlier.shape[1]), slope),) * n_parts)

    @property
    def of_all(self) -> Recalibration:
        """Return the recalibration of all rows."""
        return self.parts[-1]

    @property
    def offsets(self) -> list[Floats]:
        """Return the scores of all rows in each fold and, last, by the fit of all rows."""
        return [own.scores(self.earlier) for own in self.parts]


def baselines_of(
    earlier: Floats,
    labels: Indices,
    row_weight: Floats,
    n_classes: int,
    splits: Sequence[Split],
) -> dict[str, Baseline]:
    """Return what an earlier score can be made into, on the training rows of each fold and on all rows."""
    rows = (earlier, labels, row_weight, n_classes, splits)
    return {
        "recalibrated": Baseline.of(recalibrate, *rows),
        "shifted": Baseline.of(shifted, *rows),
        "unchanged": Baseline.constant(earlier, 1.0, len(splits) + 1),
        "class shares": Baseline.of(lambda _, *own: class_shares(*own), *rows),
        NOTHING: Baseline.constant(earlier, 0.0, len(splits) + 1),
    }


def weighted_sum(parts: Iterable[tuple[float, Recalibration]]) -> Recalibration:
    """Return the sum of recalibrations times their weights."""
    listed = list(parts)
    intercept = sum(weight * own.intercept for weight, own in listed)
    return Recalibration(np.asarray(intercept), sum(weight * own.slope for weight, own in listed))


@dataclass(frozen=True)
class Alone:
    """Each baseline without any new term, and their average: the rest of an answer.

    Parameters
    ----------
    baselines : dict of str to Baseline
    of_shares : HeldOut
        The held-out rows, with the class shares as what is left of an answer.
    """

    baselines: dict[str, Baseline]
    of_shares: HeldOut

    @cached_property
    def scores(self) -> dict[str, Floats]:
        """The scores of held-out rows by each baseline that is no search's own beginning."""
        return {
            kind: self.of_shares.gathered(own.offsets[:-1])
            for kind, own in self.baselines.items()
            if kind != NOTHING
        }

    @cached_property
    def losses(self) -> dict[str, float]:
        """The mean loss of each of them."""
        held_out = self.of_shares
        return {
            kind: float(held_out.mean(held_out.expected_losses(own))) for kind, own in self.scores.items()
        }

    @cached_property
    def weights(self) -> dict[str, float]:
        """The weight of each in their average."""
        totals = self.of_shares.total * np.array(list(self.losses.values()))
        return dict(zip(self.losses, averaged(np.zeros(len(totals)))(totals).tolist(), strict=True))

    @cached_property
    def held_out(self) -> HeldOut:
        """The held-out rows, with the average as what is left of an answer."""
        rest = sum(weight * self.scores[kind] for kind, weight in self.weights.items())
        return replace(self.of_shares, share_scores=np.asarray(rest))

    def rest(self, baselines: dict[str, Baseline]) -> Recalibration:
        """Return the average of baselines, these or those of more rows, by the fit of all rows."""
        return weighted_sum((weight, baselines[kind].of_all) for kind, weight in self.weights.items())


def completed(
    coefficients: Floats, base: Recalibration, rest: Recalibration, fit_share: float
) -> tuple[Floats, float]:
    """Return ``fit_share`` times coefficients and their baseline, the rest being another baseline.

    The intercept of the baselines is added to that of the coefficients; their slope is returned.
    """
    total = weighted_sum([(fit_share, base), (1 - fit_share, rest)])
    found = fit_share * coefficients
    found[0] += total.intercept
    return found, total.slope
