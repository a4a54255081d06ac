"""Fit 8 GB of rows within 2 GB of address space: run by test_memory.py in a process of its own."""

import resource
import sys
import warnings

import numpy as np
import pyarrow as pa

from seminaive import scale
from seminaive.models import HigherOrderLogisticRegression, NaiveBayes

ROWS = 500_000
LIMIT = 2 << 30


RNG = np.random.default_rng(0)
LABELS = RNG.integers(0, 2, ROWS // 2)
CODES = (RNG.integers(0, 4, (10, len(LABELS))).astype(np.int8) + LABELS.astype(np.int8)) % 5
NUMBERS = RNG.normal(size=(10, len(LABELS))).round(2) + LABELS


class Rows:
    """Half a million rows of 20 columns, the same each time and different for each number."""

    def __init__(self, number):
        self.number = number

    def __call__(self):
        for half in range(2):
            shift = 2 * self.number + half
            columns = {
                f"c{j}": pa.DictionaryArray.from_arrays(np.roll(codes, shift), list("abcde"))
                for j, codes in enumerate(CODES)
            }
            columns |= {f"n{j}": np.roll(numbers, shift) for j, numbers in enumerate(NUMBERS)}
            yield pa.table({**columns, "outcome": np.roll(LABELS, shift)})


def main():
    warnings.simplefilter("ignore")
    models = {"statistics": NaiveBayes(), "passes": HigherOrderLogisticRegression(2, bins=4, max_iter=3)}
    model, n_parts = models[sys.argv[1]], int(sys.argv[2])
    data = scale.from_batches([Rows(number) for number in range(n_parts)], target="outcome")
    resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT))
    scale.fit(model, data, scratch=sys.argv[3])
    weight = model.summary_.class_weight.sum()
    assert weight == ROWS * n_parts, weight
    sys.stdout.write(f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6}\n")


if __name__ == "__main__":
    main()
