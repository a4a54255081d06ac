"""Every error and warning that the package raises on purpose.

A message says what was expected, what came and what to do next. Bad input raises ``InputError``, a
``ValueError``, so that code written for scikit-learn keeps working.
"""

from sklearn.exceptions import ConvergenceWarning, NotFittedError

__all__ = [
    "ColumnsWarning",
    "ConvergenceWarning",
    "EmptyBlanketWarning",
    "InputError",
    "MissingExtraError",
    "ModelFileError",
    "NotFittedError",
    "SeminaiveError",
    "TableTypeError",
    "TooLargeError",
    "UntestableWarning",
]


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


class ModelFileError(SeminaiveError):
    """A saved model that is damaged, foreign, unsafe or from a newer version."""


class ColumnsWarning(UserWarning):
    """A column that was probably meant otherwise than it was read; the message says what to do about it."""


class EmptyBlanketWarning(UserWarning):
    """No feature was found to depend on the class, so that all were kept."""


class UntestableWarning(UserWarning):
    """Tests of independence that would need more cells than there are rows were not made."""
