"""Hands of poker: a table of interactions alone, made instead of fetched."""

import numpy as np
import pandas as pd

from seminaive.arrays import Integers
from seminaive_experiments.datasets import Dataset

POKER_ROWS = 25_000


def poker_hands(n_rows: int = POKER_ROWS, random_state: int = 0) -> Dataset:
    """Deal hands of five cards and name them, as in UCI's Poker Hand table.

    Parameters
    ----------
    n_rows : int, default=25000
        Hands, each from a full deck.
    random_state : int, default=0
        Seed of the dealer.

    Examples
    --------
    Half of all hands are worth nothing, and two in five are one pair:

    >>> np.bincount(poker_hands(10_000).y, minlength=10)[:3] / 10_000
    array([0.4971, 0.4243, 0.0463])
    """
    rng = np.random.default_rng(random_state)
    cards = np.argpartition(rng.random((n_rows, 52)), 5, axis=1)[:, :5]
    suits, ranks = cards // 13 + 1, cards % 13 + 1
    columns = {}
    for card in range(5):
        columns[f"suit{card + 1}"] = suits[:, card]
        columns[f"rank{card + 1}"] = ranks[:, card]
    return Dataset("poker-hands", pd.DataFrame(columns).astype("category"), _hand(suits, ranks))


def _hand(suits: Integers, ranks: Integers) -> Integers:
    """Name hands, as UCI does: 0 nothing, 1 pair, 2 two pairs, 3 three, ... 8 straight flush, 9 royal."""
    in_order = np.sort(ranks, axis=1)
    # Of the ten pairs of cards, equal in rank: 1 for a pair, 2 for two, 3 for three, 4 full house, 6 four.
    equal = sum((ranks[:, i] == ranks[:, j]).astype(int) for i in range(5) for j in range(i))
    flush = np.all(suits == suits[:, :1], axis=1)
    royal = np.all(in_order == [1, 10, 11, 12, 13], axis=1)
    straight = royal | ((equal == 0) & (in_order[:, 4] - in_order[:, 0] == 4))
    return np.select(
        [
            flush & royal,
            flush & straight,
            equal == 6,
            equal == 4,
            flush,
            straight,
            equal == 3,
            equal == 2,
            equal == 1,
        ],
        [9, 8, 7, 6, 5, 4, 3, 2, 1],
        0,
    )
