"""Tables that can be made instead of fetched: the papers' simulations, and poker hands.

``register_generators`` makes them available by name, as ``seminaive compare poker-hands`` needs.
"""

from functools import cache, partial

import numpy as np
import pandas as pd

from seminaive_experiments.datasets import Dataset, register_dataset
from seminaive_experiments.papers.simulations import Simulation
from seminaive_experiments.poker import POKER_ROWS, poker_hands

__all__ = ["register_generators"]

_SIMULATED_ROWS = 2000
_N_PREDICTORS = 10


@cache
def register_generators() -> None:
    """Make the generated tables known to ``load_dataset``; calling it again does nothing."""
    register_dataset(
        "poker-hands", poker_hands, f"{POKER_ROWS} poker hands, 10 categories, 10 classes (generated)"
    )
    kinds = {
        1: "logistic model, binary",
        2: "generative model, binary",
        3: "logistic model, normal",
        4: "logistic model, binary and normal",
    }
    for setting, kind in kinds.items():
        register_dataset(
            f"nbrlr-setting{setting}",
            partial(_simulated, setting),
            f"{_SIMULATED_ROWS} rows, {_N_PREDICTORS} predictors, {kind} (generated, NBRLR paper)",
        )


def _simulated(setting: int) -> Dataset:
    simulation = Simulation(setting, _N_PREDICTORS, 0.1)
    X, y = simulation.draw(_SIMULATED_ROWS, np.random.default_rng(setting))
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(_N_PREDICTORS)])
    binary = frame.columns[simulation.categorical]
    return Dataset(f"nbrlr-setting{setting}", frame.astype(dict.fromkeys(binary, "category")), y)
