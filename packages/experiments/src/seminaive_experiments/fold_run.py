"""One fold of an experiment: one model fitted to one split and judged on its test rows."""

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from seminaive.arrays import Integers
from seminaive.errors import InputError
from seminaive.evaluate.fingerprints import set_random_states, stable_seed
from seminaive.evaluate.metrics import Metric, Predictions
from seminaive.evaluate.one_thread import one_thread
from seminaive_experiments.datasets import Dataset
from seminaive_experiments.probability_histogram import ProbabilityHistogram
from seminaive_experiments.resampling import Split
from seminaive_experiments.results_file import KEY, FoldKey, Record, pack_predictions

# What a fold leaves: the record of its losses, and that of its times.
FoldOutcome = tuple[Record, Record]
_MESSAGE_LENGTH = 500


@dataclass(frozen=True, eq=False)
class FoldTask:
    """One model on one split of one table."""

    dataset: str
    model: str
    split: Split

    @property
    def key(self) -> FoldKey:
        """Return what the fold is found by in a results file."""
        return (self.dataset, self.model, self.split.repetition, self.split.fold)

    @property
    def description(self) -> str:
        """Say what is being done, for a progress bar."""
        fold = f"repetition {self.split.repetition + 1}, fold {self.split.fold + 1}"
        return f"{self.dataset}, {fold}: {self.model}"


def run_fold(
    dataset: Dataset, classifier: Any, task: FoldTask, metrics: Sequence[Metric], random_state: int
) -> FoldOutcome:
    """Fit and judge one model on one split; an exception of the model becomes a record."""
    split = task.split
    record, times = empty_records(task, metrics)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model = clone(classifier)
            set_random_states(model, stable_seed(random_state, task.dataset, split.repetition, split.fold))
            start = time.perf_counter()
            with one_thread():
                _fit(model, dataset, split.train)
            times["fit_seconds"] = time.perf_counter() - start
            answers, times["predict_seconds"] = _answers(model, dataset, split)
            record |= {metric.name: _number(metric(answers)) for metric in metrics}
            record["n_iter"] = _iterations(model)
            if answers.probabilities is not None:
                record["histogram"] = ProbabilityHistogram.of(answers).packed()
            record["shift"] = pack_predictions(answers.predicted, answers.truth, len(np.unique(dataset.y)))
        except Exception as error:  # noqa: BLE001 - whatever a model raises costs this fold only
            record["status"] = "failed"
            record["message"] = _one_line(f"{type(error).__name__}: {error}")
    shown = [w for w in caught if not issubclass(w.category, DeprecationWarning | FutureWarning)]
    if shown:
        record["warning"] = _one_line(f"{shown[0].category.__name__}: {shown[0].message}")
    return record, times


def _fit(model: Any, dataset: Dataset, rows: Integers) -> None:
    """Fit a model to some rows of a table, with their weights where the table has them."""
    X, y = dataset.X.iloc[rows], dataset.y[rows]
    if dataset.weight is None:
        model.fit(X, y)
        return
    last = model.steps[-1][0] if hasattr(model, "steps") else None
    if not has_fit_parameter(model if last is None else model.steps[-1][1], "sample_weight"):
        raise InputError(f"{type(model).__name__} takes no row weights: leave the weights or this model out")
    model.fit(X, y, **{"sample_weight" if last is None else f"{last}__sample_weight": dataset.weight[rows]})


def empty_records(task: FoldTask, metrics: Sequence[Metric]) -> FoldOutcome:
    """Make the two lines of a fold, with nothing measured yet."""
    split, key = task.split, dict(zip(KEY, task.key, strict=True))
    record: dict[str, Any] = {"kind": "fold", **key, "n_train": len(split.train), "n_test": len(split.test)}
    record |= {"status": "ok", "message": "", "warning": "", "n_iter": None}
    record |= {**dict.fromkeys((metric.name for metric in metrics), None), "shift": None, "histogram": None}
    return record, {**key, "fit_seconds": None, "predict_seconds": None}


def _answers(model: Any, dataset: Dataset, split: Split) -> tuple[Predictions, float]:
    """Ask the model about the test rows, and time one call of ``predict_proba`` or else ``predict``.

    Classes that were absent from the training rows have probability 0.
    """
    classes, codes = np.unique(dataset.y, return_inverse=True)
    X = dataset.X.iloc[split.test]
    gives_probabilities = hasattr(model, "predict_proba")
    start = time.perf_counter()
    said = model.predict_proba(X) if gives_probabilities else model.predict(X)
    seconds = time.perf_counter() - start
    chosen = model.predict(X) if gives_probabilities else said
    probabilities = None
    if gives_probabilities:
        probabilities = np.zeros((len(split.test), len(classes)))
        known = _positions(classes, model.classes_, "knows the class")
        if np.shape(said) != (len(split.test), len(known)):
            raise InputError(
                f"the model gave probabilities of shape {np.shape(said)} for {len(split.test)} rows and "
                f"{len(known)} classes"
            )
        probabilities[:, known] = said
    predicted = _positions(classes, chosen, "predicted")
    if len(predicted) != len(split.test):
        raise InputError(f"the model predicted {len(predicted)} labels for {len(split.test)} rows")
    weight = None if dataset.weight is None else dataset.weight[split.test]
    return Predictions(codes[split.test], predicted, probabilities, weight), seconds


def _positions(classes: npt.NDArray[Any], labels: Any, what: str) -> Integers:
    """Find labels among the sorted classes of a table; one that is not there is refused."""
    position_of = {label: position for position, label in enumerate(classes.tolist())}
    distinct, codes = np.unique(np.asarray(labels).ravel(), return_inverse=True)
    foreign = [label for label in distinct.tolist() if label not in position_of]
    if foreign:
        raise InputError(
            f"the model {what} {foreign[0]!r}, which is no label of the table: its labels are "
            f"{', '.join(map(repr, classes[:10].tolist()))}{', ...' if len(classes) > 10 else ''}"
        )
    return np.array([position_of[label] for label in distinct.tolist()], dtype=np.int64)[codes]


def _number(value: float) -> float | None:
    """JSON has no NaN."""
    return float(value) if np.isfinite(value) else None


def _one_line(text: str) -> str:
    """Fold white space, cut, and spell out what no file can hold: half of a surrogate pair."""
    writable = text.encode("utf-8", "backslashreplace").decode("utf-8")
    return " ".join(writable.split())[:_MESSAGE_LENGTH]


def _iterations(model: Any) -> int | None:
    """Return the most iterations of the model's solver, of the last step in a pipeline; None if unknown."""
    model = model[-1] if hasattr(model, "named_steps") else model
    count = getattr(model, "n_iter_", None)
    if count is None:
        count = getattr(getattr(model, "solver_", None), "n_iter", None)
    return None if count is None or np.size(count) == 0 else int(np.max(count))
