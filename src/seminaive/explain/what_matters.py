"""Which effects are worth a line or a picture, and what those that are not amount to together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.explain.reading import evidence
from seminaive.scores import importance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seminaive.arrays import Floats
    from seminaive.scores import Effects, TupleEffect

# A tuple whose deviation is below this share of the score's is not shown: its values would be written 0.0.
NEGLIGIBLE = 0.01


def together(effects: Sequence[Any]) -> float:
    """Return the deviation of the sum of effects over the training rows, taking them as uncorrelated."""
    return float(np.sqrt(sum(importance(effect.deviation) ** 2 for effect in effects)))


def strongest(effects: Sequence[Any]) -> list[Any]:
    """Return effects, the one that moves the scores most first."""
    return sorted(effects, key=lambda effect: -importance(effect.deviation))


def tuples_that_matter(effects: Effects, share: float = NEGLIGIBLE) -> list[TupleEffect]:
    """Return the tuples that move the scores by more than a share of their deviation, strongest first."""
    least = share * together((*effects.features, *effects.tuples))
    return [effect for effect in strongest(effects.tuples) if importance(effect.deviation) > max(least, 1e-9)]


def largest_effect(effect: TupleEffect, target: int) -> float:
    """Return the largest effect of a tuple on a class among cells with training rows."""
    seen = np.abs(evidence(effect.table, target))[effect.weight > 0]
    return float(seen.max(initial=0.0))


def is_negligible(some: Sequence[Any], effects: Effects) -> bool:
    """Tell whether some effects together move the scores by less than a hundredth of their deviation."""
    return together(some) <= NEGLIGIBLE * together((*effects.features, *effects.tuples))


def column_importances(effects: Effects) -> tuple[Floats, Floats]:
    """Return what each column of the schema moves the scores by alone, and its share of its tuples.

    A tuple is divided equally among its columns, as in ``Effects.column_shares``.
    """
    alone, shared = np.zeros((2, len(effects.schema.columns)))
    for effect in effects.features:
        alone[effect.position] += importance(effect.deviation)
    for pair in effects.tuples:
        for j in pair.columns:
            shared[effects.schema.coded[j]] += importance(pair.deviation) / len(pair.columns)
    return alone, shared


def joint_sentence(rest: Sequence[Any], about: str, what: str = "pairs") -> str:
    """Say in one sentence what effects that are not shown amount to, and name the strongest two.

    Parameters
    ----------
    rest : sequence of effects
    about : str
        "log odds" or "scores".
    what : str
        What the effects are called.
    """
    if not rest:
        return ""
    first = [f"{effect.name} ({importance(effect.deviation):.2g})" for effect in strongest(rest)[:2]]
    named = first[0] if len(rest) == 1 else f"the strongest {' and '.join(first)}"
    return f"{len(rest):,} {what} move the {about} by {together(rest):.2g} together: {named}"
