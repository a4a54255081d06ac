"""Experiments that end in time, and that compare models on the splits which all of them finished."""

import time
from dataclasses import replace

from seminaive_experiments.results_file import ExperimentResults


class TimeLimit:
    """Seconds that each table may take before no further fold of it begins.

    The clock of a table starts with its first fold, which is always allowed.

    Parameters
    ----------
    seconds : float or None
        None is no limit.
    """

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds
        self._started: dict[str, float] = {}

    def allows(self, dataset: str) -> bool:
        """Tell whether another fold of a table may begin."""
        if dataset not in self._started:
            self._started[dataset] = time.monotonic()
            return True
        return self.seconds is None or time.monotonic() - self._started[dataset] < self.seconds


def of_whole_splits(results: ExperimentResults) -> ExperimentResults:
    """Keep, of each table, the splits that the most models finished: all saw the same rows.

    Histograms and the split into bias and variance are those of all folds.
    """
    folds = results.folds
    finished = folds.groupby(["dataset", "repetition", "fold"], sort=False)["model"].transform("count")
    most = finished.groupby(folds["dataset"], sort=False).transform("max")
    return replace(results, folds=folds[finished == most].reset_index(drop=True))
