"""Runs models over the trials of a benchmark: one CSV line per trial, appended, resumable."""

import csv
import importlib.metadata
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

import pandas as pd
from race import script
from worker import Worker

import seminaive

PACKAGES = ("seminaive", "numpy", "scikit-learn", "numba", "interpret-core", "catboost", "lightgbm")


@dataclass(frozen=True)
class Study:
    """What one benchmark measures.

    Attributes
    ----------
    key : tuple of str
        The columns that name a trial.
    split : callable
        Takes a trial; returns a frame, its classes as numbers, the training rows and the test rows.
    measure : callable
        Takes a `Judged`; returns a dict of measures, whose names are `measures`.
    """

    key: tuple[str, ...]
    split: Callable
    measure: Callable
    measures: tuple[str, ...]

    def fields(self):
        """Return the columns of the results."""
        return [*self.key, "model", *self.measures, "fit_s", "cpu_s", "status"]


class Results:
    """A CSV file of one line per trial, begun by the command, the versions and the date."""

    def __init__(self, study, path):
        self.path, self.fields, self.done = path, study.fields(), set()
        if path.exists():
            found = read_results(path)
            self.fields = list(found)
            self.done = set(found[list(study.key)].itertuples(index=False, name=None))
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"# {provenance()}\n{','.join(self.fields)}\n")

    def append(self, row):
        """Add a line to the end of the file."""
        with self.path.open("a", newline="") as file:
            out = csv.DictWriter(file, self.fields, lineterminator="\n")
            out.writerow({k: f"{v:.6g}" if isinstance(v, float) else v for k, v in row.items()})


def read_results(path):
    return pd.read_csv(path, comment="#")


def provenance():
    """Return the command, the versions of the libraries that are installed, and the date."""
    installed = {package.name: package.version for package in importlib.metadata.distributions()}
    installed["seminaive"] = seminaive.__version__
    versions = ", ".join(f"{name} {installed[name]}" for name in PACKAGES if name in installed)
    command = f"python benchmarks/{' '.join([script(), *sys.argv[1:]])}"
    return f"{command}; {versions}; {datetime.now(UTC):%Y-%m-%d}"


def run(study, makers, paths, trials, minutes, limit):
    """Fit the trials in their order, each by every model that does not have it yet.

    Parameters
    ----------
    makers, paths : dict
        From a model's name to a function that makes it, and to the file of its results.
    trials : iterable of tuple
        What `study.key` names.
    minutes, limit : float
        No trial starts after these minutes; one that takes more processor seconds than the limit is ended.
    """
    unknown = sorted(set(paths) - set(makers))
    if unknown:
        sys.exit(f"no model named {', '.join(unknown)}: there are {', '.join(makers)}")
    results = {model: Results(study, path) for model, path in paths.items()}
    end = time.time() + 60 * minutes
    worker = Worker(makers, study, limit)
    for trial in trials:
        for model, known in results.items():
            if trial in known.done:
                continue
            if time.time() > end:
                return worker.close()
            row = dict(zip(study.key, trial, strict=True)) | {"model": model} | worker.run(model, trial)
            known.append(row)
    return worker.close()


def listed(text, kind=str):
    """Return the items of a list parted by commas."""
    return [kind(item) for item in text.split(",") if item]


def numbered(text):
    """Return the numbers of a range such as 0:100, whose end is left out."""
    first, last = text.split(":")
    return range(int(first), int(last))
