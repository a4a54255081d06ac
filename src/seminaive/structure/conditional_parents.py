"""The parents of a coded column, chosen greedily by Akaike's criterion on the rows where it is observed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import xlogy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from seminaive.arrays import Codes, Floats
    from seminaive.structure.incomplete_columns import IncompleteColumns

# Cells of a table of probabilities, at most.
MOST_CELLS = 2**20


def learn_parents(
    columns: IncompleteColumns, column: int, row_weight: Floats | None = None
) -> tuple[int, ...]:
    """Choose the parents of a column greedily by Akaike's criterion; the class always comes first.

    Rows where the column is missing do not count. Here a missing cell of a candidate is a value like others,
    so that what the observed ones tell is not diluted.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.integers(0, 2, (2, 500))
    >>> from seminaive.structure import IncompleteColumns
    >>> codes = np.column_stack([a, b, a ^ (rng.random(500) < 0.1)]).astype(np.uint8)
    >>> table = IncompleteColumns.of(codes, (2, 2, 2))
    >>> learn_parents(table, 2)
    (0,)
    """
    rows = columns.observed(("coded", column))
    forced = [] if columns.label in (None, column) else [columns.label]
    if not len(rows):
        return tuple(forced)
    weight = None if row_weight is None else row_weight[rows]
    candidates = _Candidates(
        np.ascontiguousarray(columns.codes[:, rows]), columns.cardinalities, column, weight
    )
    parents = list(forced)
    score = candidates.criterion(candidates.counts(parents))
    while True:
        gains = {
            other: candidates.criterion(counts) - score
            for other, counts in candidates.counts_beside(
                parents, [j for j in range(len(columns.codes)) if j not in (column, *parents)]
            ).items()
        }
        best = max(gains, key=gains.__getitem__, default=None)
        if best is None or gains[best] <= 0:
            return tuple(parents)
        parents.append(best)
        score += gains[best]


@dataclass(frozen=True)
class _Candidates:
    """The rows where a column is observed, and how well others predict it there.

    Parameters
    ----------
    codes : ndarray of shape (n_columns, n_rows)
    column : int
        The column to be predicted.
    weight : ndarray of shape (n_rows,) or None
    """

    codes: Codes
    cardinalities: tuple[int, ...]
    column: int
    weight: Floats | None

    def _lead(self, parents: list[int]) -> tuple[NDArray[np.uint32], int]:
        """Return each row's combination of parents and value, and how many there are."""
        n_values = self.cardinalities[self.column]
        lead = np.zeros(self.codes.shape[1], dtype=np.uint32)
        width = 1
        for j in parents:
            lead *= np.uint32(self.cardinalities[j] + 1)
            lead += self.codes[j]
            width *= self.cardinalities[j] + 1
        lead *= np.uint32(n_values)
        lead += self.codes[self.column]
        return lead, width * n_values

    def counts(self, parents: list[int]) -> Floats:
        """Return counts of shape (combinations of parents, values)."""
        lead, width = self._lead(parents)
        counts = np.bincount(lead, self.weight, minlength=width).astype(np.float64)
        return counts.reshape(-1, self.cardinalities[self.column])

    def counts_beside(self, parents: list[int], others: list[int]) -> dict[int, Floats]:
        """Return counts of shape (codes of another column, combinations of parents, values), by column.

        Columns that would make a table too large are left out.
        """
        from seminaive.kernels.counting import count_last_columns, count_last_columns_weighted

        lead, width = self._lead(parents)
        n_codes = {j: self.cardinalities[j] + 1 for j in others}
        others = [j for j in others if n_codes[j] * width <= MOST_CELLS]
        if not others:
            return {}
        offsets = np.concatenate([[0], np.cumsum([n_codes[j] * width for j in others])]).astype(np.int64)
        columns = np.ascontiguousarray(self.codes[others])
        if self.weight is None:
            whole = np.zeros(offsets[-1], dtype=np.int64)
            count_last_columns(columns, lead, width, 0, offsets, whole)
            cells = whole.astype(np.float64)
        else:
            cells = np.zeros(offsets[-1])
            count_last_columns_weighted(columns, lead, self.weight, width, 0, offsets, cells)
        blocks = np.split(cells, offsets[1:-1])
        n_values = self.cardinalities[self.column]
        return {j: block.reshape(n_codes[j], -1, n_values) for j, block in zip(others, blocks, strict=True)}

    def criterion(self, counts: Floats) -> float:
        """Return the log likelihood less one for every free probability (Akaike)."""
        totals = counts.sum(axis=-1)
        likelihood = xlogy(counts, counts).sum() - xlogy(totals, totals).sum()
        return float(likelihood - np.count_nonzero(totals) * (counts.shape[-1] - 1))
