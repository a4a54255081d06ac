"""Warnings as notes on standard error, each printed once and as soon as it is given."""

from __future__ import annotations

import sys
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING

from seminaive.errors import ColumnsWarning, InputError, TargetWarning

if TYPE_CHECKING:
    from collections.abc import Iterator

REMEDIES = (
    "on the command line, --drop COLUMN leaves a column out, --na-values NA,? says which cells are missing, "
    "--dates day-first reads 1.2.2024 as a day of February, and --merge-spellings reads Yes and yes as one"
)


@contextmanager
def notes_at_once(*, classes: bool = True) -> Iterator[None]:
    """Print the warnings of a block as notes, before the work that they are about goes on.

    Models warn about columns and target as soon as they have looked at them, so that a note comes before a
    long fit. A target that is probably no class is refused, unless the user insists on ``classes``.
    """
    printed: set[str] = set()

    def print_note(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
        if issubclass(category, TargetWarning) and not classes:
            raise InputError(f"{message}. --classes fits it all the same")
        sentences = list(getattr(message, "sentences", None) or [str(message)])
        sentences += [REMEDIES] * issubclass(category, ColumnsWarning)
        for sentence in sentences:
            if sentence not in printed:
                printed.add(sentence)
                sys.stderr.write(f"note: {sentence}\n")
        sys.stderr.flush()

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = print_note
        yield
