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
# Effects are none at this share of the strongest: pairs with a column of one level are 0 up to rounding.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Selection:
    """Which effects have room on a sheet.

    Parameters
    ----------
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
        for effect in tuples_that_matter(effects, PAIR_SHARE):
            height = n_lanes * _pair_height(effect) if len(effect.columns) == 2 else np.inf
            if len(drawn) < pairs and room - height > FOR_FEATURES * (PAGE - FRAME):
                drawn.append(effect)
                room -= height
        shown: list[FeatureEffect] = []
        for effect in strongest([effect for effect in effects.features if importance(effect.deviation) > 0])[
            :features
        ]:
            room -= n_lanes * (CURVE + 0.3 if effect.curve is not None else _categories_height(effect))
            if room < 0 and shown and features is None:
                break
            shown.append(effect)
        every: list[Any] = [*effects.features, *effects.tuples]
        names = {effect.name for effect in shown} | {effect.name for effect in drawn}
        least = ROUNDING * max((importance(effect.deviation) for effect in every), default=0.0)
        left = [effect for effect in every if effect.name not in names]
        rest = [effect for effect in left if importance(effect.deviation) > least]
        return cls(shown, drawn, [] if is_negligible(rest, effects) else rest)


def _pair_height(pair: TupleEffect) -> float:
    return LINE * (min(PAIR_SIDE, int(pair.weight.shape[0])) + 2) + 0.3


def _categories_height(effect: FeatureEffect) -> float:
    return 0.2 + LINE * min(4, 1 + len(effect.weight) // 4)
