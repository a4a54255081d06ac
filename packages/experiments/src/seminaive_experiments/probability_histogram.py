"""What a model's probabilities looked like beside the truth, in few numbers: counts in bins of probability.

Every row gives one point per class, its probability and whether the row has that class; with two classes
only the second is used, since the first repeats it in the mirror. Counts of folds add up, and calibration
and ROC curves are read off them.
"""

import base64
import zlib
from dataclasses import dataclass

import numpy as np

from seminaive.arrays import Integers
from seminaive.errors import InputError
from seminaive.evaluate.metrics import Predictions

N_BINS = 100
"""The number of bins of equal width, and of the thresholds from which a curve is drawn."""
# Bins of a calibration curve: as wide as people draw them.
_WIDE_BINS = 10


@dataclass(frozen=True, eq=False)
class ProbabilityHistogram:
    """Points per bin of probability, and how many of them are hits.

    Attributes
    ----------
    points, hits : ndarray of shape (N_BINS,)
        Rows (and classes) whose probability lies in a bin, and those of them that have the class.
    """

    points: Integers
    hits: Integers

    @classmethod
    def of(cls, predictions: Predictions) -> "ProbabilityHistogram":
        """Count what a model said about some rows."""
        said = predictions.probabilities
        if said is None:
            raise InputError("a model without probabilities has no histogram of them.")
        hit = predictions.truth[:, None] == np.arange(said.shape[1])
        if said.shape[1] == 2:
            said, hit = said[:, 1:], hit[:, 1:]
        which = np.minimum((np.clip(said, 0, 1) * N_BINS).astype(np.int64), N_BINS - 1).ravel()
        return cls(np.bincount(which, minlength=N_BINS), np.bincount(which[hit.ravel()], minlength=N_BINS))

    def __add__(self, other: "ProbabilityHistogram") -> "ProbabilityHistogram":
        return ProbabilityHistogram(self.points + other.points, self.hits + other.hits)

    def packed(self) -> str:
        """Write the counts as text."""
        counts = np.concatenate([self.points, self.hits]).astype("<u4")
        return base64.b85encode(zlib.compress(counts.tobytes(), 9)).decode()

    @classmethod
    def unpacked(cls, text: str) -> "ProbabilityHistogram":
        """Read the counts that ``packed`` wrote; anything else is a ``ValueError``."""
        length = 2 * N_BINS * 4
        try:
            raw = zlib.decompressobj().decompress(base64.b85decode(text), length + 1)
        except zlib.error as error:
            raise ValueError(str(error)) from error
        if len(raw) != length:
            raise ValueError(f"expected {length} bytes, got {len(raw)}")
        counts = np.frombuffer(raw, dtype="<u4").astype(np.int64)
        return cls(counts[:N_BINS], counts[N_BINS:])

    def calibration(self) -> tuple[list[float], list[float]]:
        """Return mean probability and share of hits in ten bins of equal width, without the empty ones.

        The mean is that of the middles of the hundred bins, at most 0.005 off.
        """
        middles = (np.arange(N_BINS) + 0.5) / N_BINS
        by_ten = (_WIDE_BINS, N_BINS // _WIDE_BINS)
        points = self.points.reshape(by_ten).sum(axis=1)
        used = points > 0
        said = (self.points * middles).reshape(by_ten).sum(axis=1)[used] / points[used]
        return said.tolist(), (self.hits.reshape(by_ten).sum(axis=1)[used] / points[used]).tolist()

    def roc(self) -> tuple[list[float], list[float]]:
        """Return false-positive and true-positive shares from the highest threshold to the lowest."""
        hits, misses = self.hits[::-1], (self.points - self.hits)[::-1]
        if not hits.sum() or not misses.sum():
            return [], []
        false = np.concatenate([[0.0], np.cumsum(misses) / misses.sum()])
        true = np.concatenate([[0.0], np.cumsum(hits) / hits.sum()])
        return false.tolist(), true.tolist()
