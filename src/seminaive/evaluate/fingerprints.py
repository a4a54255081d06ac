"""What decides the result of a run, spelled out: models, tables and seeds, the same in every process."""

import hashlib
import re
import zlib
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.base import BaseEstimator

from seminaive.arrays import Floats


def stable_seed(random_state: int, *parts: str | int) -> int:
    """Make a number that depends on the parts alone, not on the process or on the order of tables."""
    words = [zlib.crc32(str(part).encode()) for part in parts]
    return int(np.random.SeedSequence([random_state, *words]).generate_state(1)[0])


def describe(value: Any) -> str:
    """Spell out an estimator with all its parameters, the same in every process."""
    if isinstance(value, BaseEstimator):
        parameters = ", ".join(
            f"{name}={describe(inner)}" for name, inner in sorted(value.get_params(deep=False).items())
        )
        return f"{type(value).__name__}({parameters})"
    if isinstance(value, list | tuple):
        return f"[{', '.join(describe(inner) for inner in value)}]"
    if isinstance(value, np.ndarray):
        checksum = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
        return f"array of {value.shape}, {checksum[:16]}"
    return re.sub(r" at 0x[0-9a-fA-F]+", "", repr(value))


def fingerprint(X: pd.DataFrame, y: npt.ArrayLike, weight: Floats | None = None) -> str:
    """Shape and checksum of a table with its labels and row weights."""
    labels = np.asarray(y)
    digest = hashlib.sha256()
    for name, column in X.items():
        digest.update(str(name).encode())
        digest.update(pd.util.hash_pandas_object(column, index=False, categorize=True).to_numpy().tobytes())
    digest.update(pd.util.hash_array(labels.astype(str).astype(object)).tobytes())
    if weight is not None:
        digest.update(weight.tobytes())
    return f"{len(labels)} rows, {X.shape[1]} columns, {digest.hexdigest()[:16]}"


def set_random_states(model: Any, seed: int) -> None:
    """Give every ``random_state`` that is None a number, inner estimators included."""
    if not hasattr(model, "get_params"):
        return
    unset = {
        name: seed % 2**31
        for name, value in model.get_params(deep=True).items()
        if value is None and (name == "random_state" or name.endswith("__random_state"))
    }
    if unset:
        model.set_params(**unset)
