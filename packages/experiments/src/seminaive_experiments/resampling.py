"""How a table is cut into rows to learn from and rows to be judged on.

Every rule gives the same splits for the same table and seed, whoever asks.
"""

import warnings
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, Protocol

import numpy as np
from sklearn.model_selection import KFold, ShuffleSplit, StratifiedKFold, StratifiedShuffleSplit

from seminaive.arrays import Integers
from seminaive.errors import InputError
from seminaive_experiments.datasets import Dataset


@dataclass(frozen=True, eq=False)
class Split:
    """Positions of training and test rows, and the place of the split in its plan."""

    repetition: int
    fold: int
    train: Integers
    test: Integers


class Resampling(Protocol):
    """A rule that turns a table into splits.

    A rule whose folds are steps of growing training sets has an attribute ``learning_curve`` that is True.
    """

    def splits(self, dataset: Dataset, seed: int) -> list[Split]:
        """Cut one table."""
        ...


@dataclass(frozen=True)
class RepeatedKFold:
    """k folds, each tested once per repetition.

    Parameters
    ----------
    n_splits : int, default=10
        Folds; ``1 - 1 / n_splits`` of the rows train.
    n_repeats : int, default=1
        How often the rows are dealt anew; two or more give bias and variance.
    stratified : bool, default=True
        Keep the class shares in every fold.
    """

    n_splits: int = 10
    n_repeats: int = 1
    stratified: bool = True

    def splits(self, dataset: Dataset, seed: int) -> list[Split]:
        """All folds of all repetitions."""
        if self.n_splits < 2 or self.n_repeats < 1:
            raise InputError(
                f"expected two folds or more and a repetition or more, got {self.n_splits} and "
                f"{self.n_repeats}."
            )
        if len(dataset.y) < self.n_splits:
            raise InputError(
                f"{dataset.name}: {len(dataset.y)} rows cannot make {self.n_splits} folds. Take fewer folds, "
                "or add rows."
            )
        counts = np.unique(dataset.y, return_counts=True)[1]
        # Stratification is impossible where every class is smaller than the number of folds.
        rule = StratifiedKFold if self.stratified and counts.max() >= self.n_splits else KFold
        found = []
        for repetition in range(self.n_repeats):
            folds = rule(self.n_splits, shuffle=True, random_state=_seed(seed, repetition))
            with warnings.catch_warnings():
                # A class rarer than the number of folds is simply absent from some of them.
                warnings.filterwarnings("ignore", message="The least populated class")
                found += [
                    Split(repetition, fold, train, test)
                    for fold, (train, test) in enumerate(folds.split(dataset.y, dataset.y))
                ]
        return found


FIVE_BY_TWO = RepeatedKFold(n_splits=2, n_repeats=5)
"""Five repetitions of two folds, the plan of the ALR paper."""


@dataclass(frozen=True)
class RepeatedHoldout:
    """A random share of the rows is tested, again and again.

    Parameters
    ----------
    test_share : float, default=0.1
        Share of the rows that test.
    n_repeats : int, default=100
        Number of splits.
    stratified : bool, default=False
        Keep the class shares; the papers do not.
    """

    test_share: float = 0.1
    n_repeats: int = 100
    stratified: bool = False

    def splits(self, dataset: Dataset, seed: int) -> list[Split]:
        """One split per repetition."""
        if not 0 < self.test_share < 1 or self.n_repeats < 1:
            raise InputError(
                f"expected a test share in (0, 1) and a repetition or more, got {self.test_share} and "
                f"{self.n_repeats}."
            )
        rule = StratifiedShuffleSplit if self.stratified else ShuffleSplit
        dealt = rule(self.n_repeats, test_size=self.test_share, random_state=_seed(seed, 0))
        try:
            return [
                Split(repetition, 0, train, test)
                for repetition, (train, test) in enumerate(dealt.split(dataset.y, dataset.y))
            ]
        except ValueError as error:
            raise InputError(
                f"{dataset.name}: its {len(dataset.y)} rows cannot be cut in two parts. {error}"
            ) from error


@dataclass(frozen=True)
class GivenSplit:
    """The test rows that a table brings, once."""

    def splits(self, dataset: Dataset, seed: int) -> list[Split]:
        """Give the one split; the seed has nothing to decide."""
        del seed
        if dataset.test_rows is None or len(dataset.test_rows) == 0:
            raise InputError(f"{dataset.name} brings no test rows: set test_rows or cross-validate.")
        test = np.asarray(dataset.test_rows)
        return [Split(0, 0, np.setdiff1d(np.arange(len(dataset.y)), test), test)]


@dataclass(frozen=True)
class Prequential:
    """A learning curve: learn from the rows so far, test on the next ones, go on.

    Parameters
    ----------
    first : int, default=50
        Training rows of the first step.
    growth : float, default=2.0
        Each step trains on this many times the rows of the one before and tests on the rows in between.
    n_repeats : int, default=10
        Random orders of the rows.
    """

    learning_curve: ClassVar[bool] = True

    first: int = 50
    growth: float = 2.0
    n_repeats: int = 10

    def splits(self, dataset: Dataset, seed: int) -> list[Split]:
        """One split per step and order; every row is tested at most once per order."""
        n_rows = len(dataset.y)
        if self.first < 2 or self.growth <= 1 or self.n_repeats < 1:
            raise InputError(
                "expected two first rows or more, a growth above 1 and a repetition or more, got "
                f"{self.first}, {self.growth} and {self.n_repeats}."
            )
        if n_rows <= self.first:
            raise InputError(
                f"{dataset.name}: {n_rows} rows leave none to test after the first {self.first}. "
                "Cross-validate instead, or add rows."
            )
        ends = [self.first]
        while ends[-1] < n_rows:
            ends.append(min(n_rows, max(ends[-1] + 1, round(ends[-1] * self.growth))))
        found = []
        for repetition in range(self.n_repeats):
            order = np.random.default_rng(_seed(seed, repetition)).permutation(n_rows)
            found += [
                Split(repetition, step, order[:start], order[start:end])
                for step, (start, end) in enumerate(pairwise(ends))
            ]
        return found


def _seed(seed: int, repetition: int) -> int:
    return int(np.random.SeedSequence([seed, repetition]).generate_state(1)[0])
