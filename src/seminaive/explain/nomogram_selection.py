"""Which effects have room on the one page of a nomogram."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.explain.nomogram_sheet import CURVE, LINE, PAGE, PAIR_SIDE
from seminaive.explain.what_matters import is_negligible, strongest, tuples_that_matter
from seminaive.scores import importance

if TYPE_CHECKING:
    from seminaive.scores import Effects, FeatureEffect, TupleEffect

# Inches of the sheet that rulers of points, of totals and of others, and the last lines take.
FRAME = 3.0
# A pair is drawn from this share of the score's deviation on: below, most of its points would be written 0.
PAIR_SHARE = 0.05
# The share of the sheet that pairs leave to features.
FOR_FEATURES = 0.7


@dataclass(frozen=True)
class Selection:
    """Which effects have room on a sheet.

    Parameters
    ----------
    features : list of FeatureEffect
    pairs : list of TupleEffect
    rest : list of effects
        What is not drawn one by one; none where it is less than a hundredth of the whole.
    """

    features: list[FeatureEffect]
    pairs: list[TupleEffect]
    rest: list[Any]

    @classmethod
    def of(cls, effects: Effects, features: int | None, pairs: int, n_lanes: int) -> Selection:
        """Choose the strongest pairs that matter and the strongest features, as many as one page holds."""
        room = PAGE - FRAME
        drawn: list[TupleEffect] = []
        for own in tuples_that_matter(effects, PAIR_SHARE):
            height = n_lanes * _pair_height(own) if len(own.columns) == 2 else np.inf
            if len(drawn) < pairs and room - height > FOR_FEATURES * (PAGE - FRAME):
                drawn.append(own)
                room -= height
        shown: list[FeatureEffect] = []
        for own in strongest([own for own in effects.features if importance(own.deviation) > 0])[:features]:
            room -= n_lanes * (CURVE + 0.3 if own.curve is not None else _categories_height(own))
            if room < 0 and shown and features is None:
                break
            shown.append(own)
        every: list[Any] = [*effects.features, *effects.tuples]
        names = {own.name for own in shown} | {own.name for own in drawn}
        rest = [own for own in every if own.name not in names and importance(own.deviation) > 0]
        return cls(shown, drawn, [] if is_negligible(rest, effects) else rest)


def _pair_height(own: TupleEffect) -> float:
    return LINE * (min(PAIR_SIDE, int(own.weight.shape[0])) + 2) + 0.3


def _categories_height(own: FeatureEffect) -> float:
    return 0.2 + LINE * min(4, 1 + len(own.weight) // 4)
