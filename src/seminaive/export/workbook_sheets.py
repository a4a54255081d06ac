"""Sheets of a workbook, line by line, and what their cells can hold."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from seminaive.errors import InputError, TooLargeError

if TYPE_CHECKING:
    from collections.abc import Sequence

# What a sheet of Excel has room for, and the longest text of a cell.
MOST_ROWS, MOST_COLUMNS, LONGEST_TEXT = 1 << 20, 1 << 14, 32_767
# Spreadsheets read _x0041_ in a file as the character of that code, and XML cannot hold a carriage return.
ESCAPED = re.compile(r"_(?=x[0-9A-Fa-f]{4}_)|\r")


def _stored(text: str) -> str:
    """Return text as a file stores it; refuse what a cell cannot hold."""
    if len(text) > LONGEST_TEXT or re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]", text):
        raise InputError(
            f"a cell of a workbook cannot hold {text[:40]!r}: it is longer than {LONGEST_TEXT:,} characters "
            "or has control characters. Rename it and fit again"
        )
    return ESCAPED.sub(lambda found: "_x000D_" if found.group() == "\r" else "_x005F_", text)


class LineSheet:
    """A sheet of a workbook that is filled line by line; text is never a formula.

    Parameters
    ----------
    workbook : object
        With a ``book`` of openpyxl, a ``bold`` font and a function ``letter`` of column numbers.
    headings : sequence of str
        The first line.
    """

    def __init__(self, workbook: Any, name: str, headings: Sequence[str]) -> None:
        self.styles = workbook
        self.sheet = workbook.book.create_sheet(name)
        self.name = name
        self.n_rows = 0
        self.add(headings)
        for cell in self.sheet[1]:
            cell.font = workbook.bold
        self.sheet.freeze_panes = "A2"

    def add(self, cells: Sequence[Any]) -> None:
        """Add a line of text, numbers and None."""
        self.n_rows += 1
        if self.n_rows > MOST_ROWS:
            raise TooLargeError(
                f"the sheet {self.name} would have more than {MOST_ROWS:,} lines: keep fewer pairs, fewer "
                "bins or a lower order"
            )
        for k, value in enumerate(cells):
            self.set(self.n_rows, k + 1, value)

    def set(self, row: int, column: int, value: Any) -> None:
        """Write text, a number or a boolean into a cell."""
        if value is None:
            return
        cell = self.sheet.cell(row, column)
        if isinstance(value, str):
            cell.value = _stored(value)
            cell.data_type = "s"
            cell.quotePrefix = True  # it stays text when somebody edits it
        else:
            cell.value = value if isinstance(value, (bool, int)) else float(value)

    def block(self, lines: Sequence[Sequence[Any]]) -> tuple[int, int]:
        """Add lines, and return the numbers of the first and of the last."""
        first = self.n_rows + 1
        for line in lines:
            self.add(line)
        return first, self.n_rows

    def range(self, column: int, lines: tuple[int, int], width: int = 1) -> str:
        """Return the reference of some columns of some lines, from any sheet."""
        return (
            f"{self.name}!${self.styles.letter(column)}${lines[0]}"
            f":${self.styles.letter(column + width - 1)}${lines[1]}"
        )
