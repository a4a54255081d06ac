"""Why each row is predicted as it is: the columns that speak most for and against, in words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.encode import frame_like
from seminaive.errors import InputError
from seminaive.explain.column_shares import ColumnShares
from seminaive.explain.reading import class_position
from seminaive.explain.tables import one_row
from seminaive.explain.unknown import answered_outputs
from seminaive.explain.wording import cell_texts, odds_factors
from seminaive.scores import unknown_cells

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from seminaive.arrays import Floats, Indices
    from seminaive.encode import EncodedTable

# Shares (rows times columns times outputs) that are kept at once: they stay in the second-level cache.
AT_ONCE = 1 << 17
# A share of zero with the number of a column in its last bits is a denormal double, below this.
NOTHING = 1e-300
TRAINING_MEAN = "the mean of training"


@dataclass(frozen=True)
class Reasons:
    """What each column of some rows adds to the log odds of a class against another one.

    ``base`` plus all of a row's ``shares`` are its log odds, that of ``target`` against ``against``; where
    cells are unknown, before the answer allows for what they may hold (`note`).

    Parameters
    ----------
    names : tuple of str
        The columns that the model looks at.
    target : ndarray of shape (n_rows,)
        The class that reasons speak for, by default the predicted one.
    against : ndarray of shape (n_rows,)
        The class that it is compared with: the other one, or the most probable other one of several.
    base : ndarray of shape (n_rows,)
        The log odds of the reference.
    shares : ndarray of shape (n_rows, n_columns)
        In log odds; positive ones speak for the target.
    strongest : ndarray of shape (n_rows, 2, n)
        The columns that speak most for the target, then those that speak most against it, the strongest
        first; -1 where there are fewer.
    reference : str
        What the rows are compared with.
    table : EncodedTable
        The rows, for their cells.
    positions : tuple of int
        The columns of the table that ``names`` are.
    classes : ndarray of shape (n_classes,)
        All classes of the model.
    answered : ndarray of shape (n_rows,)
        The log odds of the model's answer: another number than ``log_odds`` where cells are unknown.
    """

    names: tuple[str, ...]
    target: NDArray[Any]
    against: NDArray[Any]
    base: Floats
    shares: Floats
    strongest: Indices
    reference: str
    table: EncodedTable
    positions: tuple[int, ...]
    classes: NDArray[Any]
    answered: Floats

    def __len__(self) -> int:
        return len(self.base)

    @property
    def log_odds(self) -> Floats:
        """Return the log odds of each row: the base and all shares."""
        log_odds: Floats = self.base + self.shares.sum(axis=1)
        return log_odds

    @property
    def rest(self) -> Floats:
        """Return what the columns add up to that are not among the strongest."""
        named = np.zeros((len(self), len(self.names) + 1), dtype=bool)
        np.put_along_axis(named, self.strongest.reshape(len(self), -1), True, axis=1)
        rest: Floats = np.where(named[:, :-1], 0.0, self.shares).sum(axis=1)
        return rest

    def frame(self) -> Any:
        """Return one line per row and reason.

        Returns
        -------
        frame
            With columns ``row``, ``class``, ``against``, ``side`` ("for" or "against"), ``rank`` (1 is the
            strongest of its side), ``column``, ``value`` (the cell as text), ``log_odds`` and ``words``.
        """
        rows, sides, ranks = np.nonzero(self.strongest >= 0)
        columns = self.strongest[rows, sides, ranks]
        shares = self.shares[rows, columns]
        values, words = np.empty((2, len(rows)), dtype=object)
        for column, (name, position) in enumerate(zip(self.names, self.positions, strict=True)):
            lines = np.flatnonzero(columns == column)
            texts, inverse = cell_texts(self.table, position, rows[lines])
            values[lines] = texts[inverse]
            words[lines] = np.array([f"{name} {text}: " for text in texts], dtype=object)[inverse]
        side = np.array(["for", "against"], dtype=object)[sides]
        target = self.target[rows]
        distinct, inverse = np.unique(2 * np.searchsorted(self.classes, target) + sides, return_inverse=True)
        ends = [f" times the odds {('for', 'against')[k % 2]} {self.classes[k // 2]}" for k in distinct]
        words = words + odds_factors(shares) + np.array(ends, dtype=object)[inverse]
        return frame_like(
            None,
            {
                "row": rows,
                "class": target,
                "against": self.against[rows],
                "side": side,
                "rank": ranks + 1,
                "column": np.array(self.names, dtype=object)[columns],
                "value": values,
                "log_odds": shares,
                "words": words,
            },
        )

    def words(self, row: int = 0) -> list[str]:
        """Return the reasons of one row as sentences, those for the class first.

        Parameters
        ----------
        row : int, default=0
            The position of the row.
        """
        one = [self._checked(row)]
        selected = replace(
            self,
            **{
                name: getattr(self, name)[one]
                for name in ("target", "against", "base", "shares", "strongest", "answered")
            },
            table=self.table.rows(one),
        )
        words: list[str] = selected.frame()["words"].tolist()
        return words

    def note(self, row: int = 0) -> str:
        """Return a sentence on the unknown cells of one row; empty where the reasons add up to the answer.

        Parameters
        ----------
        row : int, default=0
            The position of the row.
        """
        row = self._checked(row)
        before, after = float(self.log_odds[row]), float(self.answered[row])
        silent = unknown_cells(self.table.rows([row]))[0]
        features = self.table.schema.features
        unknown = [
            name
            for name, position in zip(self.names, self.positions, strict=True)
            if silent[features.index(position)]
        ]
        if not unknown or np.isclose(before, after, rtol=1e-9, atol=1e-9):
            return ""
        are = "is" if len(unknown) == 1 else "are"
        return (
            f"{', '.join(unknown)} {are} unknown: the reasons add up to log odds of {before:.2f}, and those "
            f"of the answer, about its mean over what may stand there, are {after:.2f}"
        )

    def _checked(self, row: int) -> int:
        if not -len(self) <= row < len(self):
            raise InputError(f"there are {len(self)} rows, none at position {row}: count them from 0")
        return row % len(self)


def reasons(
    model: Any, rows: Any, n: int = 3, *, target: Any = None, against: Any = None, reference: Any = None
) -> Reasons:
    """Return the columns that speak most for and against the predicted class of each row.

    A pair that the model has learned is shared out among its columns, so that reasons add up: the log odds of
    the reference plus all shares are the log odds of the row, before unknown cells are allowed for; `Reasons`
    has a `note` on rows that have some. Against the mean of training a pair's effect
    beyond those of its columns is shared equally; against a reference row shares are Shapley values, and a
    column that has the reference's value gets nothing.

    Parameters
    ----------
    model : a fitted additive model
    rows : table with the training columns, or a mapping of column to cell
    n : int, default=3
        How many reasons for, and how many against, are named.
    target : label, default=None
        The class that reasons speak for; None is the predicted class of each row.
    against : label, default=None
        The class that it is compared with; None is the most probable other class of each row.
    reference : mapping of column to cell, list of cells, or table of one row, default=None
        What the rows are compared with; None is the mean of training.

    Returns
    -------
    Reasons

    Examples
    --------
    >>> from seminaive import NaiveBayes
    >>> X = [["wet", "cold"], ["wet", "warm"], ["dry", "warm"], ["dry", "cold"]] * 5
    >>> y = ["slip", "slip", "hold", "hold"] * 5
    >>> reasons(NaiveBayes().fit(X, y), [["wet", "warm"]]).words()
    ['x0 wet: 11 times the odds for slip']
    """
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
        raise InputError(f"n is how many reasons are named on either side, 1 or more, got {n!r}")
    shares = ColumnShares.of(model)
    table = model.encode(rows)
    compared = None if reference is None else one_row(model, reference)
    chosen = tuple(None if label is None else class_position(model, label) for label in (target, against))
    if chosen[0] is not None and chosen[0] == chosen[1]:
        raise InputError(f"target and against are both {target!r}: compare a class with another one")
    at_once = max(1, AT_ONCE // max(1, len(shares.positions) * shares.n_outputs))
    blocks = [
        _reasons_of(model, shares, table.rows(slice(start, start + at_once)), compared, chosen, int(n))
        for start in range(0, len(table), at_once)
    ]
    targets, others, base, parts, strongest, answered = (
        np.concatenate(part) for part in zip(*blocks, strict=True)
    )
    return Reasons(
        shares.names,
        model.classes_[targets],
        model.classes_[others],
        base,
        parts,
        strongest,
        TRAINING_MEAN if compared is None else "the reference row",
        table,
        shares.positions,
        model.classes_,
        answered,
    )


def _reasons_of(
    model: Any,
    shares: ColumnShares,
    table: EncodedTable,
    reference: EncodedTable | None,
    chosen: tuple[int | None, ...],
    n: int,
) -> tuple[Indices, Indices, Floats, Floats, Indices, Floats]:
    """Return the fields of `Reasons` that depend on rows, of some rows; classes by their positions."""
    if reference is None:
        base, parts = shares.intercept, shares.from_mean(table)
    else:
        base, parts = shares.score(reference)[0], shares.from_row(table, reference)
    scores = answered_outputs(model, base + parts.sum(axis=0), table)
    targets, others = _compared_classes(scores, *chosen)
    by_column = _log_odds(parts, targets, others)
    base_of_row = _log_odds(np.broadcast_to(base, (len(table), len(base))), targets, others)
    by_row, strongest = np.ascontiguousarray(by_column.T), _strongest(by_column, n)
    return targets, others, base_of_row, by_row, strongest, _log_odds(scores, targets, others)


def _compared_classes(scores: Floats, target: int | None, against: int | None) -> tuple[Indices, Indices]:
    """Return the class that reasons speak for and the one it is compared with, of each row."""
    if scores.shape[1] == 1:
        fixed = target if against is None else 1 - against
        second = (scores[:, 0] > 0).astype(np.int64) if fixed is None else np.full(len(scores), fixed)
        return second, 1 - second
    rows = np.arange(len(scores))
    left = scores.copy()
    if against is not None:
        left[:, against] = -np.inf
    targets = left.argmax(axis=1) if target is None else np.full(len(scores), target)
    if against is not None:
        return targets, np.full(len(scores), against)
    left[rows, targets] = -np.inf
    return targets, left.argmax(axis=1)


def _log_odds(values: Floats, targets: Indices, others: Indices) -> Floats:
    """Return the log odds of one class of each row against another, from outputs on the last axis."""
    if values.shape[-1] == 1:
        return values[..., 0] * np.where(targets == 1, 1.0, -1.0)
    rows = np.arange(values.shape[-2])
    log_odds: Floats = values[..., rows, targets] - values[..., rows, others]
    return log_odds


def _strongest(shares: Floats, n: int) -> Indices:
    """Return the columns with the largest and with the smallest shares of each row, (n_rows, 2, n).

    The last bits of each share are replaced by the column, so that sorting shares sorts columns: an insertion
    into a sorted list is one maximum and one minimum for all rows. Shares that agree in all other bits, a
    relative 1e-12 for up to 2,048 columns, are equal here; of equals the first column is ahead.

    Parameters
    ----------
    shares : ndarray of shape (n_columns, n_rows)
    """
    n_columns, n_rows = shares.shape
    mask = (1 << n_columns.bit_length()) - 1
    strongest = np.empty((2, n, n_rows), dtype=np.int64)
    for side, signed in enumerate((shares, -shares)):
        largest = np.zeros((n, n_rows))
        for column in range(n_columns):
            value = ((signed[column].view(np.int64) & ~mask) | (mask - column)).view(np.float64)
            for rank in range(min(n, column + 1)):
                behind = np.minimum(value, largest[rank])
                np.maximum(value, largest[rank], out=largest[rank])
                value = behind
        columns = mask - (largest.view(np.int64) & mask)
        strongest[side] = np.where(largest > NOTHING, columns, -1)
    return strongest.transpose(2, 0, 1)
