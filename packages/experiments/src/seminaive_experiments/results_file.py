"""Results on disk: one line per finished fold, appended at once, put in order at the end.

A results file starts with the description of its experiment. Times stand in a second file,
``PATH.times``: they are the one thing that differs between two runs, and so the results file itself is
the same in both.
"""

import base64
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from seminaive.arrays import Integers
from seminaive.errors import InputError
from seminaive.evaluate.lines import append_line, as_line, replace_lines, whole_lines
from seminaive_experiments.probability_histogram import ProbabilityHistogram
from seminaive_experiments.results_fields import (
    BIAS_VARIANCE,
    TIMES,
    check_description,
    check_fields,
    check_fold,
)

FORMAT = 1
KEY = ("dataset", "model", "repetition", "fold")
FoldKey = tuple[str, str, int, int]
Record = dict[str, Any]
_BEGINNING = '{"kind": "experiment"'
_TIMES_BEGINNING = '{"dataset": '


@dataclass(frozen=True, eq=False)
class ExperimentResults:
    """What an experiment found.

    Attributes
    ----------
    folds : DataFrame
        One row per table, model and split: ``dataset``, ``model``, ``repetition``, ``fold``,
        ``n_train``, ``n_test``, ``status`` (``ok`` or ``failed``), ``message`` (the error), ``warning``
        (the first one), ``n_iter``, one column per metric, ``fit_seconds`` and ``predict_seconds``; of a
        learning curve also ``step``, its number.
    bias_variance : DataFrame
        ``dataset``, ``model``, ``bias`` and ``variance`` where every row was tested in each of two or
        more repetitions; empty otherwise.
    metrics : tuple of str
        The columns of ``folds`` that are measures.
    histograms : dict
        By table and model, how probabilities lay beside the truth over all test rows, as a
        ``ProbabilityHistogram``; calibration and ROC curves are drawn from it.
    """

    folds: pd.DataFrame
    bias_variance: pd.DataFrame
    metrics: tuple[str, ...]
    histograms: dict[tuple[str, str], ProbabilityHistogram] = field(default_factory=dict)


class ResultsFile:
    """The lines of a results file and of its file of times; a path of None keeps them in memory.

    Parameters
    ----------
    path : path or None
        The file; it is read if it is there and belongs to the same experiment.
    description : dict
        What decides the results: models, datasets, resampling, metrics, random_state.
    planned : sequence of keys
        Every fold of the experiment, in order.
    """

    def __init__(self, path: str | Path | None, description: Record, planned: Sequence[FoldKey]) -> None:
        self.path = None if path is None else Path(path)
        self.description = {"kind": "experiment", "format": FORMAT, **description}
        self.planned = planned
        self.records: dict[FoldKey, Record] = {}
        self.times: dict[FoldKey, Record] = {}
        self.summaries: list[Record] = []
        if self.path is not None:
            self._read(self.path)

    def _read(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = list(whole_lines(path, as_line(self.description).rstrip()))
        if lines:
            _check_same_experiment(path, lines[0], self.description)
            check_description(path, lines[0])
        self.records = _folds(path, lines)
        self.times = _times(path)
        if not set(self.planned).issuperset(self.records):
            raise InputError(f"{path} holds folds that this experiment does not plan: use another file.")
        # A kill may have cut the last line short; what is appended must start on a new one.
        self._rewrite()

    def forget_failures(self) -> None:
        """Drop the folds in which a model failed, so that they count as not run."""
        self.records = {key: record for key, record in self.records.items() if record["status"] == "ok"}
        self._rewrite()

    def append(self, record: Record, times: Record) -> None:
        """Keep one fold; its times go to disk first, so that no fold is ever without them."""
        key = fold_key(record)
        self.records[key], self.times[key] = record, times
        if self.path is not None:
            append_line(_times_path(self.path), times)
            append_line(self.path, record)

    def finish(self, summaries: Iterable[Record]) -> None:
        """Add the summaries and put the lines in the order of the plan; some folds may not have been run."""
        self.summaries = list(summaries)
        self.records = {key: self.records[key] for key in self.planned if key in self.records}
        self._rewrite()

    def results(self) -> ExperimentResults:
        """All folds as a frame."""
        return _results(self.description, self.records, self.times, self.summaries)

    def _rewrite(self) -> None:
        if self.path is None:
            return
        replace_lines(self.path, [self.description, *self.records.values(), *self.summaries])
        times = [self.times[key] for key in self.records if key in self.times]
        replace_lines(_times_path(self.path), times)


def load_results(path: str | Path) -> ExperimentResults:
    """Read a results file, of a finished or of an unfinished run."""
    path = Path(path)
    if not path.is_file():
        raise InputError(f"there is no results file {path}.")
    lines = list(whole_lines(path, _BEGINNING))
    if not lines or not _is_description(lines[0]):
        raise InputError(f"{path} is not a results file of this version.")
    check_description(path, lines[0])
    records = _folds(path, lines)
    if not records:
        raise InputError(f"{path} has no finished fold yet.")
    times = _times(path)
    summaries = []
    for number, line in enumerate(lines, start=1):
        if line.get("kind") == "bias_variance":
            check_fields(path, number, line, BIAS_VARIANCE)
            summaries.append(line)
    return _results(lines[0], records, times, summaries)


def pack_predictions(predicted: Integers, truth: Integers, n_classes: int) -> str:
    """Write predictions as distances from the truth: zero where right, which compresses to little."""
    shift = ((predicted - truth) % n_classes).astype("<u2")
    return base64.b85encode(zlib.compress(shift.tobytes(), 9)).decode()


def unpack_predictions(text: str) -> Integers:
    """Read distances from the truth, modulo the number of classes."""
    return np.frombuffer(zlib.decompress(base64.b85decode(text)), dtype="<u2").astype(np.int64)


def _times_path(path: Path) -> Path:
    return path.with_name(path.name + ".times")


def fold_key(record: Mapping[str, Any]) -> FoldKey:
    """Say which fold a line is about."""
    return (record["dataset"], record["model"], record["repetition"], record["fold"])


def _folds(path: Path, lines: Sequence[Record]) -> dict[FoldKey, Record]:
    found = {}
    for number, line in enumerate(lines, start=1):
        if line.get("kind") == "fold":
            check_fold(path, number, line, lines[0]["metrics"])
            found[fold_key(line)] = line
    return found


def _times(path: Path) -> dict[FoldKey, Record]:
    path = _times_path(path)
    found = {}
    for number, line in enumerate(whole_lines(path, _TIMES_BEGINNING), start=1):
        check_fields(path, number, line, TIMES)
        found[fold_key(line)] = line
    return found


def _is_description(line: Record) -> bool:
    return (
        line.get("kind") == "experiment"
        and line.get("format") == FORMAT
        and {"resampling", "metrics", "random_state"} <= line.keys()
        and all(isinstance(line.get(part), dict) for part in ("models", "datasets"))
    )


def _check_same_experiment(path: Path, found: Record, expected: Mapping[str, Any]) -> None:
    """Refuse a file of another experiment; more models or tables than in the file are welcome."""
    if not _is_description(found):
        raise InputError(f"{path} is not a results file of this version: use another path.")
    changes = [
        (f"{part[:-1]} {name!r}", description, expected[part].get(name, "absent"))
        for part in ("models", "datasets")
        for name, description in found[part].items()
    ]
    changes += [(part, found[part], expected[part]) for part in ("resampling", "metrics", "random_state")]
    for what, before, now in changes:
        if before != now:
            raise InputError(
                f"{path} belongs to another experiment: its {what} was {before} and is {now} now. Use "
                "another file, or restore the experiment."
            )


def _results(
    description: Record,
    records: Mapping[FoldKey, Record],
    times: Mapping[FoldKey, Record],
    summaries: Sequence[Record],
) -> ExperimentResults:
    metrics = tuple(description["metrics"])
    seconds = ("fit_seconds", "predict_seconds")
    folds = pd.DataFrame(
        [
            {name: value for name, value in record.items() if name not in {"kind", "shift", "histogram"}}
            | {name: times.get(key, {}).get(name) for name in seconds}
            for key, record in records.items()
        ]
    )
    folds = folds.astype(dict.fromkeys((*metrics, "n_iter", *seconds), float))
    if description.get("learning_curve"):
        folds["step"] = folds["fold"]
    columns = ["dataset", "model", "bias", "variance", "n_repetitions"]
    bias_variance = pd.DataFrame(summaries, columns=columns)
    return ExperimentResults(folds, bias_variance, metrics, _histograms(records))


def _histograms(records: Mapping[FoldKey, Record]) -> dict[tuple[str, str], ProbabilityHistogram]:
    """Add up the histograms of the folds, by table and model."""
    found: dict[tuple[str, str], ProbabilityHistogram] = {}
    for (dataset, model, *_), record in records.items():
        if record.get("histogram") is not None:
            histogram = ProbabilityHistogram.unpacked(record["histogram"])
            found[dataset, model] = (
                found[dataset, model] + histogram if (dataset, model) in found else histogram
            )
    return found
