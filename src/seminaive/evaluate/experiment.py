"""Many models on many tables, on the same splits, in a file that survives a kill."""

import tempfile
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import numpy.typing as npt
from joblib.externals.loky import ProcessPoolExecutor
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from seminaive.arrays import Integers
from seminaive.errors import InputError
from seminaive.evaluate.bias_variance import bias_variance
from seminaive.evaluate.datasets import Dataset, load_dataset
from seminaive.evaluate.fingerprints import describe, fingerprint, set_random_states, stable_seed
from seminaive.evaluate.jobs import check_jobs
from seminaive.evaluate.metrics import METRICS, Metric, Predictions
from seminaive.evaluate.probability_histogram import ProbabilityHistogram
from seminaive.evaluate.progress import progress_bar
from seminaive.evaluate.resampling import RepeatedKFold, Resampling, Split
from seminaive.evaluate.results_file import (
    KEY,
    ExperimentResults,
    FoldKey,
    Record,
    ResultsFile,
    fold_key,
    pack_predictions,
    unpack_predictions,
)
from seminaive.evaluate.time_limit import TimeLimit, of_whole_splits

__all__ = ["Experiment"]

_MESSAGE_LENGTH = 500


class Experiment:
    """Judge classifiers on tables: same splits for all, failures recorded, results kept as they come.

    Parameters
    ----------
    models : mapping of str to classifier
        Any scikit-learn classifiers, by the names that results show. They are cloned for every fold, and
        a ``random_state`` that is None is set from ``random_state`` below.
    datasets : sequence of Dataset or str
        Tables, or names for ``load_dataset``.
    resampling : Resampling, default=RepeatedKFold()
        The splits; see ``seminaive.evaluate.resampling``.
    metrics : sequence of str or Metric, default=("zero_one", "rspe", "log_loss")
        Losses, by their names in ``METRICS`` or as objects.
    random_state : int, default=0
        Seed of the splits and of the models: the same number gives the same results file, byte for byte.
    n_jobs : int, default=1
        Processes; -1 uses every core. Losses do not depend on it, times do. With two or more, a model that
        ends its process (out of memory, a crash of compiled code) costs its fold only.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.dummy import DummyClassifier
    >>> experiment = Experiment({"naive Bayes": GaussianNB(), "prior": DummyClassifier()}, ["iris"])
    >>> results = experiment.run()
    >>> results.folds.groupby("model")["zero_one"].mean().round(2).to_dict()
    {'naive Bayes': 0.04, 'prior': 0.67}
    """

    def __init__(
        self,
        models: Mapping[str, Any],
        datasets: Sequence[Dataset | str],
        resampling: Resampling | None = None,
        metrics: Sequence[str | Metric] = ("zero_one", "rspe", "log_loss"),
        random_state: int = 0,
        *,
        n_jobs: int = 1,
    ) -> None:
        self.models = models
        self.datasets = datasets
        self.resampling = resampling
        self.metrics = metrics
        self.random_state = random_state
        self.n_jobs = n_jobs

    def run(
        self,
        path: str | Path | None = None,
        *,
        progress: bool = True,
        retry_failed: bool = False,
        time_limit: float | None = None,
    ) -> ExperimentResults:
        """Run every model on every split, or what a results file lacks of it.

        Parameters
        ----------
        path : path, optional
            Results file, one JSON object per line. Each finished fold is appended at once, and a file
            of the same experiment is continued: a killed run loses only the folds that were under way.
            Times go to ``PATH.times``, since they are the one thing that differs between two runs. None
            keeps the results in memory.
        progress : bool, default=True
            Show a bar on a terminal's standard error.
        retry_failed : bool, default=False
            Run folds of the file again that failed, say after a model was mended.
        time_limit : float, default=None
            Seconds per table after which no further fold begins. The results are then of the splits that
            every model finished, or, where there is none, of all folds that were run; a results file keeps
            all of them, and the same experiment goes on from there. None runs everything.
        """
        plan = _Plan.of(self)
        file = ResultsFile(path, plan.description, [task.key for task in plan.tasks])
        if retry_failed:
            file.forget_failures()
        missing = [task for task in plan.tasks if task.key not in file.records]
        for record, times in _executed(plan, missing, self.n_jobs, TimeLimit(time_limit), progress=progress):
            file.append(record, times)
        file.finish(_bias_variance_lines(plan, file.records))
        return file.results() if time_limit is None else of_whole_splits(file.results())


@dataclass(frozen=True, eq=False)
class _Task:
    dataset: str
    model: str
    split: Split

    @property
    def key(self) -> FoldKey:
        return (self.dataset, self.model, self.split.repetition, self.split.fold)

    @property
    def description(self) -> str:
        """Say what is being done, for a progress bar."""
        fold = f"repetition {self.split.repetition + 1}, fold {self.split.fold + 1}"
        return f"{self.dataset}, {fold}: {self.model}"


# What a fold leaves: the record of its losses, and that of its times.
_Outcome = tuple[Record, Record]
# A fold for another process: file of the table, model, task, metrics, seed.
_Call = tuple[str, Any, _Task, tuple[Metric, ...], int]


@dataclass(frozen=True, eq=False)
class _Plan:
    """Everything that decides the results, checked and spelled out."""

    models: dict[str, Any]
    datasets: dict[str, Dataset]
    metrics: tuple[Metric, ...]
    tasks: list[_Task]
    description: dict[str, Any]
    random_state: int

    @classmethod
    def of(cls, experiment: Experiment) -> "_Plan":
        check_jobs(experiment.n_jobs)
        models = _checked_models(experiment.models)
        datasets = _checked_datasets(experiment.datasets)
        metrics = tuple(_metric(metric) for metric in experiment.metrics)
        if not metrics:
            raise InputError(f"name at least one metric of {', '.join(METRICS)}.")
        if not isinstance(experiment.random_state, int) or experiment.random_state < 0:
            raise InputError(
                f"random_state must be 0 or a positive integer, got {experiment.random_state!r}: without a "
                "seed an experiment could not be resumed."
            )
        resampling = experiment.resampling or RepeatedKFold()
        tasks = [
            _Task(dataset.name, model, split)
            for dataset in datasets.values()
            for split in resampling.splits(dataset, stable_seed(experiment.random_state, dataset.name))
            for model in models
        ]
        description = {
            "models": {name: describe(model) for name, model in models.items()},
            "datasets": {
                name: fingerprint(dataset.X, dataset.y, dataset.weight) for name, dataset in datasets.items()
            },
            "resampling": repr(resampling),
            "metrics": [metric.name for metric in metrics],
            "random_state": experiment.random_state,
        }
        if getattr(resampling, "learning_curve", False):
            description["learning_curve"] = True
        return cls(models, datasets, metrics, tasks, description, experiment.random_state)


def _checked_models(models: Mapping[str, Any]) -> dict[str, Any]:
    if not models:
        raise InputError("name at least one model.")
    for name, model in models.items():
        if not (hasattr(model, "fit") and hasattr(model, "predict")) or isinstance(model, type):
            raise InputError(f"model {name!r} is {model!r}: pass a classifier object with fit and predict.")
    named = {str(name): model for name, model in models.items()}
    if len(named) < len(models):
        raise InputError(f"two models share a name: {', '.join(map(str, models))}.")
    return named


def _checked_datasets(datasets: Sequence[Dataset | str]) -> dict[str, Dataset]:
    loaded = [load_dataset(dataset) if isinstance(dataset, str) else dataset for dataset in datasets]
    named = {dataset.name: dataset for dataset in loaded}
    if not named:
        raise InputError("name at least one table.")
    if len(named) < len(loaded):
        raise InputError(f"two tables share a name: {', '.join(dataset.name for dataset in loaded)}.")
    for dataset in loaded:
        classes = np.unique(dataset.y)
        if len(classes) < 2:
            found = f"every row is of the class {classes[0]!s}" if len(classes) else "there is no row"
            raise InputError(
                f"{dataset.name}: {found}, and classifiers need rows of at least two classes. Name another "
                "column as the target, or add rows."
            )
    return named


def _metric(metric: str | Metric) -> Metric:
    if isinstance(metric, Metric):
        return metric
    if metric not in METRICS:
        raise InputError(f"there is no metric {metric!r}: choose among {', '.join(METRICS)}.")
    return METRICS[metric]


# One fold.


def _executed(
    plan: _Plan, tasks: list[_Task], n_jobs: int, limit: TimeLimit, *, progress: bool
) -> Iterator[_Outcome]:
    """Run the tasks, yielding each outcome as soon as it is there."""
    with progress_bar(shown=progress) as bar:
        shown = bar.add_task("folds", total=len(tasks))
        for record, times in _outcomes(
            plan, tasks, n_jobs, limit, lambda task: bar.update(shown, description=task.description)
        ):
            bar.update(shown, advance=1)
            yield record, times


def _outcomes(
    plan: _Plan, tasks: list[_Task], n_jobs: int, limit: TimeLimit, announce: Callable[[_Task], None]
) -> Iterator[_Outcome]:
    """Run the tasks here or in several processes, announcing each, while their table has time."""

    def begun(waiting: Iterable[_Task]) -> Iterator[_Task]:
        for task in waiting:
            if limit.allows(task.dataset):
                announce(task)
                yield task

    if not tasks:
        return
    if joblib.effective_n_jobs(n_jobs) == 1:
        for task in begun(tasks):
            yield _run_fold(
                plan.datasets[task.dataset], plan.models[task.model], task, plan.metrics, plan.random_state
            )
        return
    with tempfile.TemporaryDirectory(prefix="seminaive-") as folder:
        # Workers read a table from disk once, instead of receiving it with every fold.
        stored = {}
        for number, (name, dataset) in enumerate(plan.datasets.items()):
            stored[name] = str(Path(folder) / f"{number}.joblib")
            joblib.dump(dataset, stored[name])

        def call(task: _Task) -> _Call:
            return stored[task.dataset], plan.models[task.model], task, plan.metrics, plan.random_state

        waiting = {task.key: task for task in tasks}
        while waiting:
            try:
                for record, times in _in_parallel(map(call, begun(list(waiting.values()))), n_jobs):
                    del waiting[fold_key(record)]
                    yield record, times
                waiting.clear()
            except BrokenProcessPool:
                # A fold under way has ended its process; one by one, each shows whether it was that one.
                suspects = list(waiting)[: 3 * joblib.effective_n_jobs(n_jobs)]
                yield from _one_by_one([call(waiting.pop(key)) for key in suspects])


def _in_parallel(calls: Iterable[_Call], n_jobs: int) -> Iterator[_Outcome]:
    parallel = joblib.Parallel(n_jobs=n_jobs, return_as="generator_unordered", pre_dispatch="2*n_jobs")
    yield from parallel(joblib.delayed(_run_stored_fold)(*call) for call in calls)


def _one_by_one(calls: Sequence[_Call]) -> Iterator[_Outcome]:
    """Run folds in another process, one after the other; the end of that process is a failure."""
    executor = ProcessPoolExecutor(max_workers=1)
    for call in calls:
        try:
            yield executor.submit(_run_stored_fold, *call).result()
        except BrokenProcessPool:
            _, _, task, metrics, _ = call
            record, times = _empty_records(task, metrics)
            message = (
                "the process that ran it ended without an answer: out of memory, or a crash of compiled code"
            )
            yield record | {"status": "failed", "message": message}, times
            executor.shutdown()
            executor = ProcessPoolExecutor(max_workers=1)
    executor.shutdown()


@lru_cache(maxsize=2)
def _stored_dataset(path: str) -> Dataset:
    dataset: Dataset = joblib.load(path)
    return dataset


def _run_stored_fold(path: str, *arguments: Any) -> _Outcome:
    return _run_fold(_stored_dataset(path), *arguments)


def _run_fold(
    dataset: Dataset, classifier: Any, task: _Task, metrics: Sequence[Metric], random_state: int
) -> _Outcome:
    """Fit and judge one model on one split; an exception of the model becomes a record."""
    split = task.split
    record, times = _empty_records(task, metrics)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model = clone(classifier)
            set_random_states(model, stable_seed(random_state, task.dataset, split.repetition, split.fold))
            start = time.perf_counter()
            with threadpool_limits(1):  # a fit is one thread's work, whichever library does it
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


def _empty_records(task: _Task, metrics: Sequence[Metric]) -> _Outcome:
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


# The whole.


def _bias_variance_lines(
    plan: _Plan, records: Mapping[FoldKey, Mapping[str, Any]]
) -> Iterator[dict[str, Any]]:
    """Bias and variance of each model on each table whose rows are all tested in every repetition."""
    shifts: dict[tuple[str, str], Integers] = {}
    n_repetitions = 1 + max(task.split.repetition for task in plan.tasks)
    for task in plan.tasks:
        n_rows = len(plan.datasets[task.dataset].y)
        shift = shifts.setdefault((task.dataset, task.model), np.full((n_rows, n_repetitions), -1))
        packed = records[task.key]["shift"] if task.key in records else None
        if packed is not None:
            shift[task.split.test, task.split.repetition] = unpack_predictions(packed)
    for (dataset, model), shift in shifts.items():
        whole = np.all(shift >= 0, axis=0)
        if whole.sum() >= 2:
            # Seen from the truth, the true class of every row is 0.
            split = bias_variance(np.zeros(len(shift), dtype=int), shift[:, whole])
            yield {
                "kind": "bias_variance",
                "dataset": dataset,
                "model": model,
                "bias": split.bias,
                "variance": split.variance,
                "n_repetitions": int(whole.sum()),
            }
