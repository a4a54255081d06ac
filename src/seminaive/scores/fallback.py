"""Shim."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from seminaive.statistics import Terms

    Floats = NDArray[np.float64]


def fill_unknown(terms: Terms, tables: Floats, cell_weight: Floats) -> None:
    """Shim."""
    if not terms.features:
        return
    means = np.add.reduceat(tables * cell_weight[:, None], terms.offsets[:-1], axis=0)
    total = np.add.reduceat(cell_weight, terms.offsets[:-1])
    means /= np.maximum(total, 1e-300)[:, None]
    means[cell_weight[terms.no_evidence] > 0] = 0.0
    tables[terms.no_evidence] = means
