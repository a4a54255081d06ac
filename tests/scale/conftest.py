"""Tables of mixed columns, and the same rows as Parquet files of random sizes."""

import numpy as np
import pandas as pd
import pytest


def make_mixed_rows(n_rows, seed=0, n_classes=2):
    """Return a frame with text, booleans, whole numbers, numbers, missing cells and a target."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "sky": rng.choice(["wet", "dry", "fog"], n_rows, p=[0.5, 0.4, 0.1]),
            "place": rng.choice(np.array(["a", "b", "c", "d", None], dtype=object), n_rows),
            "flag": rng.random(n_rows) < 0.3,
            "height": rng.normal(size=n_rows),
            "age": np.where(rng.random(n_rows) < 0.1, np.nan, rng.integers(0, 90, n_rows)),
        }
    )
    score = 1.5 * frame["height"] + (frame["sky"] == "wet") + 0.02 * frame["age"].fillna(40)
    score += rng.logistic(size=n_rows)
    edges = np.quantile(score, np.arange(1, n_classes) / n_classes)
    frame["outcome"] = np.array(["low", "mid", "top", "very"])[np.searchsorted(edges, score)]
    return frame


def write_parquet_parts(frame, folder, n_parts, rng, **options):
    """Write rows as a number of Parquet files of random sizes, empty ones among them."""
    folder.mkdir(parents=True, exist_ok=True)
    edges = np.sort(rng.integers(0, len(frame) + 1, n_parts - 1))
    for number, rows in enumerate(np.split(np.arange(len(frame)), edges)):
        frame.iloc[rows].to_parquet(folder / f"part-{number:03d}.parquet", index=False, **options)
    return folder


@pytest.fixture(name="mixed_rows")
def _mixed_rows():
    return make_mixed_rows


@pytest.fixture(name="write_parts")
def _write_parts():
    return write_parquet_parts


@pytest.fixture
def mixed():
    """Return 3,000 mixed rows."""
    return make_mixed_rows(3000)
