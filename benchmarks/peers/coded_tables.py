"""Real tables and poker hands as codes, the same for every contestant."""

import json
import os
from pathlib import Path

import numpy as np
import pandas as pd

from seminaive_experiments.poker import poker_hands


def coded_table(name, n_rows=None, n_bins=10):
    """Return codes, cardinalities, labels and the number of classes; numbers are cut into quantile bins."""
    if name == "poker":
        hands = poker_hands(n_rows, random_state=0)
        codes = np.column_stack([hands.X[column].cat.codes for column in hands.X]).astype(np.uint8)
        return codes, codes.max(axis=0).astype(int) + 1, hands.y.astype(np.int64), 10
    folder = Path(os.environ["SEMINAIVE_DATA"])
    kinds = json.loads((folder / "SCHEMA.json").read_text())[name]
    frame = pd.read_csv(folder / f"{name}.csv.gz", keep_default_na=False, na_values=[""], low_memory=False)
    if n_rows is not None and n_rows < len(frame):
        frame = frame.sample(n_rows, random_state=0)
    labels = pd.factorize(frame.pop("class"), sort=True)[0].astype(np.int64)
    columns = []
    for column, kind in kinds.items():
        values = frame[column]
        if kind == "numeric":
            values = pd.qcut(values.astype(float), n_bins, duplicates="drop").cat.codes
        columns.append(pd.factorize(values, use_na_sentinel=False)[0])
    codes = np.stack(columns, axis=1)
    cardinalities = codes.max(axis=0) + 1
    return codes.astype(np.min_scalar_type(cardinalities.max())), cardinalities, labels, labels.max() + 1
