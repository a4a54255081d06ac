import numpy as np
import pytest

from seminaive_experiments.datasets import available_datasets, load_dataset
from seminaive_experiments.papers.generators import register_generators
from seminaive_experiments.poker import _hand, poker_hands


@pytest.mark.parametrize(
    ("cards", "value"),
    [
        ("1-10 1-11 1-13 1-12 1-1", 9),
        ("2-3 2-4 2-5 2-6 2-7", 8),
        ("1-9 2-9 3-9 4-9 1-2", 7),
        ("1-9 2-9 3-9 4-2 1-2", 6),
        ("3-1 3-4 3-6 3-9 3-13", 5),
        ("1-1 2-10 3-11 4-12 1-13", 4),
        ("1-1 2-2 3-3 4-4 1-5", 4),
        ("1-11 2-12 3-13 4-1 1-2", 0),
        ("1-9 2-9 3-9 4-2 1-3", 3),
        ("1-9 2-9 3-2 4-2 1-3", 2),
        ("1-9 2-9 3-2 4-4 1-3", 1),
    ],
)
def test_hands_are_named_by_the_rules_of_poker(cards, value):
    dealt = np.array([[int(part) for part in card.split("-")] for card in cards.split()])
    assert _hand(dealt[None, :, 0], dealt[None, :, 1])[0] == value


def test_hands_are_as_frequent_as_combinatorics_says():
    dataset = poker_hands(100_000)
    shares = np.bincount(dataset.y, minlength=10) / 100_000
    exact = np.array([1302540, 1098240, 123552, 54912, 10200, 5108, 3744, 624, 36, 4]) / 2598960
    error = np.sqrt(exact * (1 - exact) / 100_000)
    assert np.all(np.abs(shares - exact) <= 5 * error)
    codes = dataset.X.astype(int).to_numpy()
    cards = codes[:, ::2] * 13 + codes[:, 1::2]
    assert all(len(set(hand)) == 5 for hand in cards[:1000])


def test_generated_tables_are_found_by_name_and_are_the_same_each_time():
    register_generators()
    register_generators()
    names = available_datasets()["name"].tolist()
    for name in ("poker-hands", "nbrlr-setting1", "nbrlr-setting2", "nbrlr-setting3", "nbrlr-setting4"):
        assert name in names
        first, again = load_dataset(name), load_dataset(name)
        assert first.name == name
        assert first.X.equals(again.X)
        assert np.array_equal(first.y, again.y)
