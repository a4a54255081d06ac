"""The strengths that a search over ridges and generative shares tries, and how it goes beyond its lists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from seminaive.selection.decision import SEARCH

if TYPE_CHECKING:
    from collections.abc import Sequence


# A weaker ridge of numbers must lower the log loss by this share: it is one more choice on the same rows, and
# numbers without a ridge can fit single rows.
NUMBER_MARGIN = 0.03


@dataclass(frozen=True)
class Strengths:
    """What a trial tries.

    Parameters
    ----------
    ridge : tuple of float
        The ridge of each order, from 1 on.
    number_ridge : float
        The ridge of numbers.
    share : float
        The share of the generative estimate in the target of the ridge.
    """

    ridge: tuple[float, ...]
    number_ridge: float
    share: float


@dataclass(frozen=True)
class Choice:
    """One value of each coordinate of the search.

    Parameters
    ----------
    first, tuples : float
        The ridge of single features, and that of tuples of two and more.
    number_share : float
        The ridge of numbers over that of single features, at most 1.
    share : float
        The share of the generative estimate in the target, between 0 and 1.
    """

    first: float
    tuples: float
    number_share: float
    share: float


@dataclass(frozen=True)
class Grid:
    """The strengths that a search tries: values of each coordinate of `Choice`, increasing.

    Parameters
    ----------
    values : dict of str to list of float
    hierarchical : bool
        Whether there are single features beside tuples.
    """

    values: dict[str, list[float]]
    order: int
    hierarchical: bool

    @classmethod
    def of(
        cls,
        first_ridges: Sequence[float],
        ridges: Sequence[float],
        number_shares: Sequence[float],
        shares: Sequence[float],
        order: int,
        *,
        hierarchical: bool,
    ) -> Grid:
        """Sort what a user has listed."""
        values = {
            "first": sorted(first_ridges) if hierarchical else [1.0],
            "tuples": sorted(ridges),
            "number_share": sorted(number_shares),
            "share": sorted(shares),
        }
        return cls(values, order, hierarchical)

    def strengths(self, choice: Choice) -> Strengths:
        """Return the strengths of a choice."""
        first = choice.first if self.hierarchical else choice.tuples
        ridge = (first, *(choice.tuples,) * (self.order - 1))
        return Strengths(ridge, choice.number_share * choice.first, choice.share)

    @property
    def middle(self) -> Choice:
        """Return where a search starts: ridges in the middle, numbers penalised as others, no target."""
        values = self.values
        return Choice(
            values["first"][len(values["first"]) // 2],
            values["tuples"][len(values["tuples"]) // 2],
            values["number_share"][-1],
            values["share"][0],
        )

    def beyond(self, choice: Choice, name: str) -> list[float]:
        """Return the values, increasing, that follow a choice at an end of its list.

        A list of one value is taken as given. Ridges go on by factors of ten, those of numbers only below
        that of single features; the weakest of all is no penalty.
        """
        values, chosen = self.values[name], getattr(choice, name)
        decades = np.logspace(1, SEARCH.most_decades, SEARCH.most_decades)
        if len(values) == 1 or chosen == 0 or name == "share":
            return [chosen]
        if chosen == values[0]:
            return [0.0, *(chosen / decades[::-1]).tolist(), chosen]
        if chosen == values[-1] and name != "number_share":
            return [chosen, *(chosen * decades).tolist()]
        return [chosen]
