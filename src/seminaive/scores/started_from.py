"""The record of an earlier model that a fit started from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class StartedFrom:
    """Which model a fit started from, and how much of it is left.

    Parameters
    ----------
    model : str
        The name of its class.
    slope : float
        The weight of its score in the new one: 1 is all of it, 0 nothing.
    columns : tuple of str
        The columns that it had.
    not_in_table : tuple of str
        Those of them that the new rows lack: they carry no evidence any more.
    n_rows : int
        How many rows the fit that started from it had.
    """

    model: str
    slope: float
    columns: tuple[str, ...]
    not_in_table: tuple[str, ...]
    n_rows: int

    def __str__(self) -> str:
        away = f", without {', '.join(self.not_in_table)}" if self.not_in_table else ""
        return f"{self.slope:.2f} times the score of an earlier {self.model}{away}, and {self.n_rows:,} rows"

    def check_consistent(self) -> None:
        """Refuse a record that no fit has written."""
        if not np.isfinite(self.slope) or self.n_rows < 0 or not set(self.not_in_table) <= set(self.columns):
            raise ValueError("the record of an earlier model is not consistent")
