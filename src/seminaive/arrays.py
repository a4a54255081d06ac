"""The types of arrays that annotations name."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Singles: TypeAlias = NDArray[np.float32]
Booleans: TypeAlias = NDArray[np.bool_]
Integers: TypeAlias = NDArray[np.int64]
# Integers that count from 0: rows or columns, classes of rows, places in an order.
Indices: TypeAlias = Integers
Labels: TypeAlias = Integers
Positions: TypeAlias = Integers
# Of cells, in the smallest type that holds them.
Codes: TypeAlias = NDArray[np.unsignedinteger]
