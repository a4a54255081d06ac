"""The codes by which passes over the rows look up pairs: levels without functions of pairs are one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from seminaive.design.centred_levels import CentredLevels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from seminaive.arrays import Floats
    from seminaive.design.smooth_columns import SmoothColumns
    from seminaive.encode import EncodedTable


@dataclass(frozen=True)
class PairCodes:
    """A table of codes, that of its pairs included, and what they mean.

    A category of many levels has functions of pairs at few of them, and a table of each pair would have a
    cell for all. Its pairs have a further column of codes here, in which the other levels, and no evidence,
    are the last code.

    Parameters
    ----------
    codes : ndarray of shape (n_rows, n_coded)
    coded : dict of int to int
        The column of codes by which pairs look up each smooth column.
    functions : dict of int to ndarray of shape (cardinality + 1, n_pair_functions)
    """

    codes: NDArray[np.unsignedinteger]
    cardinalities: tuple[int, ...]
    coded: dict[int, int]
    functions: dict[int, Floats]

    @classmethod
    def of(cls, columns: SmoothColumns, table: EncodedTable) -> PairCodes:
        """Return the codes of a table under smooth columns."""
        used = sorted({j for pair in columns.pairs for j in pair})
        coded = {j: columns.columns[j].coded or 0 for j in used}
        functions = {j: columns.columns[j].pair for j in used}
        cardinalities, added = list(table.cardinalities), []
        for j in used:
            if isinstance(columns.columns[j].main, CentredLevels):
                with_functions = np.flatnonzero(functions[j].any(axis=1))
                new_code = np.full(len(functions[j]), len(with_functions), dtype=table.codes.dtype)
                new_code[with_functions] = np.arange(len(with_functions))
                added.append(new_code[table.codes[:, coded[j]]])
                functions[j] = np.vstack([functions[j][with_functions], np.zeros((1, functions[j].shape[1]))])
                coded[j] = len(cardinalities)
                cardinalities.append(len(with_functions))
        codes = np.column_stack([table.codes, *added]) if added else table.codes
        return cls(codes, tuple(cardinalities), coded, functions)
