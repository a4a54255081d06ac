"""A table by columns, with the rows in which each is missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from seminaive.arrays import Codes, Floats, Integers

    Target = tuple[Literal["coded", "number"], int]

# The number of bins of equal frequency in which a number is a parent of coded columns.
BINS = 4


@dataclass(frozen=True)
class IncompleteColumns:
    """A table by columns, in which missing cells are drawn: coded columns, bins of the numbers, the class.

    Parameters
    ----------
    codes : ndarray of shape (n_coded, n_rows)
        The coded columns, then the bins of the numbers, then the class where there is one.
    cardinalities : tuple of int
        Of the rows of ``codes``; as a code, a missing cell.
    numbers : ndarray of shape (n_numbers, n_rows)
        NaN where missing.
    cuts : tuple of ndarray
        Borders of the bins of each number.
    label : int or None
        Which row of ``codes`` is the class.
    missing : dict
        The rows in which a column is missing: keys ``(kind, position)``.
    """

    codes: Codes
    cardinalities: tuple[int, ...]
    numbers: Floats
    cuts: tuple[Floats, ...]
    label: int | None
    missing: dict[Target, Integers]

    @classmethod
    def of(
        cls,
        codes: Codes,
        cardinalities: Sequence[int],
        numbers: Floats | None = None,
        *,
        labels: Integers | None = None,
        n_classes: int = 0,
        cuts: tuple[Floats, ...] | None = None,
    ) -> IncompleteColumns:
        """Lay out a table by columns.

        Parameters
        ----------
        codes : ndarray of shape (n_rows, n_coded)
        numbers : ndarray of shape (n_rows, n_numbers) or None
        labels : ndarray of shape (n_rows,) or None
            The class of each row; ``n_classes`` where it is not known.
        n_classes : int
            0 where the table has no class.
        cuts : tuple of ndarray or None
            Borders of the bins, from an earlier table; None takes the quartiles.
        """
        n_rows = len(codes)
        by_number = np.empty((0, n_rows)) if numbers is None else np.ascontiguousarray(numbers.T)
        if cuts is None:
            cuts = tuple(_quantiles(number) for number in by_number)
        known = [int(cardinality) for cardinality in cardinalities]
        rows: list[NDArray[np.integer]] = [codes[:, j] for j in range(codes.shape[1])]
        rows += [_bins(number, borders) for number, borders in zip(by_number, cuts, strict=True)]
        known += [len(borders) + 1 for borders in cuts]
        label = None
        if n_classes:
            label = len(rows)
            rows.append(np.full(n_rows, n_classes) if labels is None else labels)
            known.append(n_classes)
        by_column = np.empty((len(rows), n_rows), dtype=np.min_scalar_type(max(known, default=0)))
        for position, row in enumerate(rows):
            by_column[position] = row
        missing: dict[Target, Integers] = {
            ("number", number): np.flatnonzero(np.isnan(values)) for number, values in enumerate(by_number)
        }
        for column in (*range(codes.shape[1]), *([] if label is None else [label])):
            if known[column]:
                missing["coded", column] = np.flatnonzero(by_column[column] == known[column])
        found = {target: rows for target, rows in missing.items() if len(rows)}
        return cls(by_column, tuple(known), by_number, cuts, label, found)

    @property
    def n_rows(self) -> int:
        """Return the number of rows."""
        return int(self.codes.shape[1])

    @property
    def n_coded(self) -> int:
        """Return the number of coded columns, bins and class left out."""
        return len(self.codes) - len(self.numbers) - (self.label is not None)

    @property
    def coded(self) -> tuple[int, ...]:
        """Return the rows of ``codes`` that are no bins of numbers; the class, where there is one, last."""
        categorical = range(self.n_coded)
        return (*categorical,) if self.label is None else (*categorical, self.label)

    def missing_cells(self) -> int:
        """Return how many cells are missing."""
        return sum(map(len, self.missing.values()))

    def observed(self, target: Target) -> Integers:
        """Return the rows in which a column is not missing."""
        mask = np.ones(self.n_rows, dtype=bool)
        mask[self.missing.get(target, [])] = False
        return np.flatnonzero(mask)

    def copy(self) -> IncompleteColumns:
        """Return columns whose cells can be drawn without touching these."""
        return IncompleteColumns(
            self.codes.copy(), self.cardinalities, self.numbers.copy(), self.cuts, self.label, self.missing
        )

    def cells(self, parents: Iterable[int], rows: Integers) -> Integers:
        """Return the combination of the parents' values in some rows, the last parent varying fastest."""
        joint = np.zeros(len(rows), dtype=np.int64)
        for parent in parents:
            joint *= self.cardinalities[parent]
            joint += self.codes[parent, rows]
        return joint

    def set_numbers(self, number: int, rows: Integers, values: Floats) -> None:
        """Write numbers, and their bins."""
        self.numbers[number, rows] = values
        self.codes[self.n_coded + number, rows] = _bins(values, self.cuts[number])


def _quantiles(number: Floats) -> Floats:
    present = number[~np.isnan(number)]
    if not len(present):
        return np.empty(0)
    return np.unique(np.quantile(present, np.arange(1, BINS) / BINS))


def _bins(number: Floats, cuts: Floats) -> Integers:
    bins = np.searchsorted(cuts, number, side="left")
    bins[np.isnan(number)] = len(cuts) + 1
    return bins
