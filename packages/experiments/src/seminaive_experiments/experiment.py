"""Many models on many tables, on the same splits, in a file that survives a kill."""

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import KW_ONLY, dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import joblib
import numpy as np
from joblib.externals.loky import ProcessPoolExecutor

from seminaive.errors import InputError
from seminaive.evaluate.fingerprints import describe, fingerprint, stable_seed
from seminaive.evaluate.jobs import check_jobs
from seminaive.evaluate.metrics import METRICS, Metric
from seminaive.evaluate.progress import progress_bar
from seminaive_experiments.bias_variance import bias_variance
from seminaive_experiments.datasets import Dataset, load_dataset
from seminaive_experiments.fold_run import FoldOutcome, FoldTask, empty_records, run_fold
from seminaive_experiments.resampling import RepeatedKFold, Resampling
from seminaive_experiments.results_file import (
    ExperimentResults,
    FoldKey,
    ResultsFile,
    fold_key,
    unpack_predictions,
)
from seminaive_experiments.time_limit import TimeLimit, of_whole_splits

if TYPE_CHECKING:
    from seminaive.arrays import Integers


@dataclass(eq=False, repr=False)
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
        The splits; see ``seminaive_experiments.resampling``.
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

    models: Mapping[str, Any]
    datasets: Sequence[Dataset | str]
    resampling: Resampling | None = None
    metrics: Sequence[str | Metric] = ("zero_one", "rspe", "log_loss")
    random_state: int = 0
    _: KW_ONLY
    n_jobs: int = 1

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


# A fold for another process: file of the table, model, task, metrics, seed.
_Call = tuple[str, Any, FoldTask, tuple[Metric, ...], int]


@dataclass(frozen=True, eq=False)
class _Plan:
    """Everything that decides the results, checked and spelled out."""

    models: dict[str, Any]
    datasets: dict[str, Dataset]
    metrics: tuple[Metric, ...]
    tasks: list[FoldTask]
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
            FoldTask(dataset.name, model, split)
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
    plan: _Plan, tasks: list[FoldTask], n_jobs: int, limit: TimeLimit, *, progress: bool
) -> Iterator[FoldOutcome]:
    """Run the tasks, yielding each outcome as soon as it is there."""
    with progress_bar(shown=progress) as bar:
        shown = bar.add_task("folds", total=len(tasks))
        for record, times in _outcomes(
            plan, tasks, n_jobs, limit, lambda task: bar.update(shown, description=task.description)
        ):
            bar.update(shown, advance=1)
            yield record, times


def _outcomes(
    plan: _Plan, tasks: list[FoldTask], n_jobs: int, limit: TimeLimit, announce: Callable[[FoldTask], None]
) -> Iterator[FoldOutcome]:
    """Run the tasks here or in several processes, announcing each, while their table has time."""

    def begun(waiting: Iterable[FoldTask]) -> Iterator[FoldTask]:
        for task in waiting:
            if limit.allows(task.dataset):
                announce(task)
                yield task

    if not tasks:
        return
    if joblib.effective_n_jobs(n_jobs) == 1:
        for task in begun(tasks):
            yield run_fold(
                plan.datasets[task.dataset], plan.models[task.model], task, plan.metrics, plan.random_state
            )
        return
    with tempfile.TemporaryDirectory(prefix="seminaive-") as folder:
        # Workers read a table from disk once, instead of receiving it with every fold.
        stored = {}
        for number, (name, dataset) in enumerate(plan.datasets.items()):
            stored[name] = str(Path(folder) / f"{number}.joblib")
            joblib.dump(dataset, stored[name])

        def call(task: FoldTask) -> _Call:
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


def _in_parallel(calls: Iterable[_Call], n_jobs: int) -> Iterator[FoldOutcome]:
    parallel = joblib.Parallel(n_jobs=n_jobs, return_as="generator_unordered", pre_dispatch="2*n_jobs")
    yield from parallel(joblib.delayed(_run_stored_fold)(*call) for call in calls)


def _one_by_one(calls: Sequence[_Call]) -> Iterator[FoldOutcome]:
    """Run folds in another process, one after the other; the end of that process is a failure."""
    executor = ProcessPoolExecutor(max_workers=1)
    for call in calls:
        try:
            yield executor.submit(_run_stored_fold, *call).result()
        except BrokenProcessPool:
            _, _, task, metrics, _ = call
            record, times = empty_records(task, metrics)
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


def _run_stored_fold(path: str, *arguments: Any) -> FoldOutcome:
    return run_fold(_stored_dataset(path), *arguments)


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
