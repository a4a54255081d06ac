"""Every error and warning that the package raises on purpose.

A message says what was expected, what came and what to do next. Bad input raises ``InputError``, a
``ValueError``, so that code written for scikit-learn keeps working.
"""

from __future__ import annotations

import inspect
import os
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from sklearn.exceptions import ConvergenceWarning, NotFittedError

__all__ = [
    "ColumnsWarning",
    "ConvergenceWarning",
    "EmptyBlanketWarning",
    "ExportWarning",
    "FoldsWarning",
    "InputError",
    "LongFitWarning",
    "MissingExtraError",
    "ModelFileError",
    "NotFittedError",
    "SeminaiveError",
    "ShapeWarning",
    "TableTypeError",
    "TargetWarning",
    "TooLargeError",
    "UnavailableError",
    "UntestableWarning",
    "UnwritableError",
    "WeightsWarning",
    "check_unicode",
    "refused_as",
    "warn_caller",
]

# How the paths of the files of this package begin.
PACKAGE = f"{Path(__file__).parent}{os.sep}"


class SeminaiveError(Exception):
    """Anything that this package refuses to do, with the reason."""


class InputError(SeminaiveError, ValueError):
    """A table, a target, weights or a parameter that cannot be used."""


class TableTypeError(SeminaiveError, TypeError):
    """A column, cell or container of a type that is not understood."""


class TooLargeError(SeminaiveError, MemoryError):
    """A model that would not fit into memory; the message says how large it is and what to lower."""


class MissingExtraError(SeminaiveError, ImportError):
    """A part of the package whose libraries are not installed; the message says how to install them."""


class UnavailableError(SeminaiveError, AttributeError):
    """An attribute that a fitted model does not have; the message says which models or parameters do."""


class ModelFileError(SeminaiveError):
    """A saved model that is damaged, foreign, unsafe or from a newer version."""


class UnwritableError(SeminaiveError, OSError):
    """A file that cannot be written: a full disk, no permission, or a name that is too long."""


class ColumnsWarning(UserWarning):
    """Columns that were probably meant otherwise than they were read; the message says what to do about it.

    Parameters
    ----------
    message : str
    sentences : sequence of str
        The same, one sentence per column.
    """

    def __init__(self, message: str, sentences: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.sentences = tuple(sentences)


class EmptyBlanketWarning(UserWarning):
    """No feature was found to depend on the class, so that all were kept."""


class ExportWarning(UserWarning):
    """An export that reads some columns less freely than the model; the message says how to write them."""


class FoldsWarning(UserWarning):
    """Folds whose training rows lack a class that their held-out rows have; the message names it."""


class LongFitWarning(UserWarning):
    """A fit that is going to take minutes; the message says why, and how to see its progress."""


class ShapeWarning(UserWarning):
    """A shape of a column that the rows contradict; the message says what it costs."""


class TargetWarning(UserWarning):
    """A target that looks like a quantity, or an identifier, rather than like classes."""


class WeightsWarning(UserWarning):
    """Row weights that may be meant otherwise than they are used; the message says what to do about it.

    Whole numbers may count rows, a sum may be far from the number of rows, and one row may have more weight
    than a fold should hold out.
    """


class UntestableWarning(UserWarning):
    """Tests of independence that would need more cells than there are rows were not made."""


def warn_caller(message: str | Warning, category: type[Warning] | None = None) -> None:
    """Warn at the line that called this package, however many of its functions lie between."""
    level, frame = 1, inspect.currentframe()
    while frame is not None and frame.f_code.co_filename.startswith(PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


@contextmanager
def refused_as(refusal: Callable[[Exception], SeminaiveError]) -> Iterator[None]:
    """Turn what NumPy, pandas and arrow raise at values that they cannot read into one of our errors.

    Arrow's errors are kinds of Python's.
    """
    try:
        yield
    except SeminaiveError:
        raise
    except (
        TypeError,
        ValueError,
        ArithmeticError,
        NotImplementedError,
    ) as error:
        raise refusal(error) from error


def check_unicode(what: str, texts: Iterable[Any]) -> None:
    """Refuse text with half a character in it, which no file, frame of arrow or page can hold."""
    texts = [text for text in texts if isinstance(text, str)]
    try:
        "".join(texts).encode()
    except UnicodeEncodeError as error:
        broken = next(text for text in texts if error.object[error.start] in text)
        raise InputError(
            f"{what} {broken[:40]!a} has a character that is half of one: read the table with the encoding "
            "that it was written in, or replace the character"
        ) from error


def __getattr__(name: str) -> Any:
    """Look the classes of scikit-learn up when they are needed: importing it takes a second."""
    if name not in {"ConvergenceWarning", "NotFittedError"}:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import sklearn.exceptions

    return getattr(sklearn.exceptions, name)
