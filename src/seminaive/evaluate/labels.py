"""The classes of rows, as every way of judging models reads them."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from seminaive.arrays import Integers
from seminaive.errors import InputError


def classes_of(y: Any) -> tuple[npt.NDArray[Any], npt.NDArray[Any], Integers]:
    """Return the labels, the sorted classes, and the position of each row's class among them."""
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise InputError(f"expected one label per row, got an array of shape {labels.shape}")
    missing = int(pd.isna(labels).sum())
    if missing:
        raise InputError(f"{missing} rows have no label: leave them out, or fill the labels in")
    classes, truth = np.unique(labels, return_inverse=True)
    return labels, classes, truth
