"""Shapes of arrays that belong together, for parts of models that are read from a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray


def check_shapes(what: str, shapes: Iterable[tuple[NDArray[Any], tuple[int, ...]]]) -> None:
    """Refuse arrays that do not have the shapes that are listed with them.

    >>> import numpy as np
    >>> check_shapes("the path", [(np.zeros(3), (3,)), (np.zeros(2), (3,))])
    Traceback (most recent call last):
        ...
    ValueError: the path has parts that do not belong together: (2,) for (3,)
    """
    for array, shape in shapes:
        if array.shape != shape:
            raise ValueError(f"{what} has parts that do not belong together: {array.shape} for {shape}")
