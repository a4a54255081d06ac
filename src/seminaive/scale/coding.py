"""How the rows of any partition are encoded once the schema and the classes of all rows are known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.encode import TableEncoder, encode_target, encode_weights
from seminaive.models.training_set import TrainingSet
from seminaive.scale.survey import training_pieces

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    from numpy.typing import NDArray

    from seminaive.arrays import Floats
    from seminaive.encode import Schema
    from seminaive.scale.partitions import TablePartition
    from seminaive.scale.sources import Reading


@dataclass(frozen=True)
class Coding:
    """The schema and the classes of all rows.

    Parameters
    ----------
    classes : ndarray of shape (n_classes,)
    class_factors : ndarray of shape (n_classes,) or None
        What the weights of rows are multiplied by, class by class.
    """

    reading: Reading
    schema: Schema
    classes: NDArray[Any]
    class_factors: Floats | None

    def training_sets(self, partition: TablePartition) -> Iterator[TrainingSet]:
        """Yield the rows of a partition, encoded, a piece at a time."""
        return (self.encode(*piece) for piece in training_pieces(partition, self.reading))

    def encode(self, features: pa.Table, y: pa.ChunkedArray, weight: Floats | None) -> TrainingSet:
        """Encode some rows."""
        target = encode_target(y, "scale")
        labels = np.searchsorted(self.classes, target.classes)[target.labels]
        weights = encode_weights(weight, len(labels))
        if self.class_factors is not None:
            factors = self.class_factors[labels]
            weights = factors if weights is None else weights * factors
        table = TableEncoder(self.schema).encode(features)
        return TrainingSet(table, labels, self.classes, weights)
