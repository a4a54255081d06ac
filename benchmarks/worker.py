"""Fits one trial after another in another process, which the operating system ends at a time limit."""

import multiprocessing
import resource
import signal
import time
import warnings

import numpy as np
import pandas as pd
from judged import Judged
from threadpoolctl import threadpool_limits


def score(make, study, trial):
    """Return measures and times of one trial."""
    X, y, train, test = study.split(*trial)
    wall, cpu = time.perf_counter(), time.process_time()
    model = make().fit(X.iloc[train].reset_index(drop=True), y[train])
    times = {"fit_s": time.perf_counter() - wall, "cpu_s": time.process_time() - cpu}
    found = np.zeros((len(test), y.max() + 1))
    found[:, np.asarray(model.classes_, int)] = model.predict_proba(X.iloc[test].reset_index(drop=True))
    return study.measure(Judged(trial, model, found, y[train], y[test])) | times | {"status": "ok"}


def warm_up(make):
    """Fit two and three classes of a small table and of a larger one.

    No trial's time then includes imports, or the compilation or loading of what few or many rows need.
    """
    rng = np.random.default_rng(0)
    for n_rows, n_columns in ((90, 1), (1500, 4)):
        columns = {f"number {j}": rng.normal(size=n_rows) for j in range(n_columns)}
        columns |= {f"text {j}": rng.choice(["a", "b"], n_rows).astype(object) for j in range(n_columns)}
        for n_classes in (2, 3):
            X, y = pd.DataFrame(columns), np.arange(n_rows) % n_classes
            make().fit(X, y).predict_proba(X)


def serve(parent, pipe, makers, study, limit):
    """Answer trials from a pipe until None comes; the process ends where one takes more processor seconds."""
    parent.close()
    warm = set()
    threadpool_limits(1)
    while (job := pipe.recv()) is not None:
        model, trial = job
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                if model not in warm:
                    warm_up(makers[model])
                    warm.add(model)
                study.split(*trial)
                end = int(time.process_time() + limit) + 1
                resource.setrlimit(resource.RLIMIT_CPU, (end, resource.RLIM_INFINITY))
                answer = score(makers[model], study, trial)
            except Exception as error:  # noqa: BLE001, a model that fails is a result
                answer = {"status": f"{type(error).__name__}: {error}".splitlines()[0][:200]}
        resource.setrlimit(resource.RLIMIT_CPU, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        pipe.send(answer)


class Worker:
    """A process that fits trials, started again after one that took too long."""

    def __init__(self, makers, study, limit):
        self.makers, self.study, self.limit, self.process = makers, study, limit, None

    def run(self, model, trial):
        """Return the measures of one trial; their status is `timeout` where the time limit was reached."""
        if self.process is None:
            # A fork has the makers and the table at hand; they need not be pickled.
            fork = multiprocessing.get_context("fork")
            self.pipe, other = fork.Pipe()
            self.process = fork.Process(
                target=serve, args=(self.pipe, other, self.makers, self.study, self.limit), daemon=True
            )
            self.process.start()
            other.close()
        self.pipe.send((model, trial))
        try:
            return self.pipe.recv()
        except EOFError:
            self.process.join()
            late = self.process.exitcode == -signal.SIGXCPU
            status = "timeout" if late else f"exit code {self.process.exitcode}"
            self.process = None
            return {"status": status}

    def close(self):
        """End the process."""
        if self.process is not None:
            self.pipe.send(None)
            self.process.join()
