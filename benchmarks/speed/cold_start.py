"""What compiles in the first fit of each model, and for how long.

``python benchmarks/speed/cold_start.py`` fits each model in a process of its own, with nothing compiled
before, to a made table of 300 rows and 8 columns, and prints its seconds and the kernels that take longest;
with ``--write`` it keeps the table in ``results/cold_start.csv``. Seconds are those of the processor, one
thread.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

MODELS = (
    "NaiveBayes",
    "NaiveBayesLogisticRegression",
    "NaiveBayesLogisticRegressionCV",
    "AveragedJoinEstimators",
    "AveragedDependenceEstimators",
    "AcceleratedLogisticRegression",
    "HigherOrderLogisticRegressionCV",
    "ForwardStagewiseNaiveBayes",
    "SelectiveNaiveBayes",
    "GroupRegularizedNaiveBayes",
    "HybridLogisticNaiveBayes",
    "SparseBayesianNetwork",
    "SemiNaive",
)


def first_fit(name):
    """Fit one model, and print what was compiled as JSON: seconds of the fit, and of each kernel."""
    import numpy as np
    import pandas as pd
    from numba.core import event

    class Clock(event.Listener):
        """Takes the time of each kernel without that of those it calls."""

        def __init__(self):
            self.open = []
            self.seconds = {}

        def on_start(self, began):
            self.open.append([began.data["dispatcher"].py_func, time.process_time(), 0.0])

        def on_end(self, _event):
            function, begin, inside = self.open.pop()
            taken = time.process_time() - begin
            key = f"{function.__module__.rpartition('.')[2]}.{function.__name__}"
            self.seconds[key] = self.seconds.get(key, 0.0) + taken - inside
            if self.open:
                self.open[-1][2] += taken

    clock = Clock()
    event.register("numba:compile", clock)
    import seminaive

    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(300, 8))).rename(columns=str)
    X["4"] = rng.integers(0, 5, 300).astype(str)
    X["5"] = rng.integers(0, 3, 300).astype(str)
    y = rng.random(300) < 1 / (1 + np.exp(-X["0"] - (X["4"] == "2")))
    warnings.simplefilter("ignore")
    begin = time.process_time()
    getattr(seminaive, name)().fit(X, y)
    print(json.dumps({"fit": time.process_time() - begin, "kernels": clock.seconds}))


def measure(name):
    """Return what the first fit of a model says, in a new process with an empty cache."""
    with tempfile.TemporaryDirectory() as cache:
        env = {**os.environ, "NUMBA_CACHE_DIR": cache, "OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
        run = subprocess.run(
            [sys.executable, __file__, "--model", name], env=env, capture_output=True, text=True, check=True
        )
    return json.loads(run.stdout.splitlines()[-1])


def main():
    """Measure every model, print the table, and keep it on demand."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", help=argparse.SUPPRESS)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    if arguments.model:
        return first_fit(arguments.model)
    lines = []
    print(f"{'first fit of':34}{'seconds':>8}{'kernels':>9}  longest")
    for name in MODELS:
        found = measure(name)
        kernels = sorted(found["kernels"].items(), key=lambda item: -item[1])
        longest = ", ".join(f"{kernel} {seconds:.1f}" for kernel, seconds in kernels[:4])
        lines.append([name, f"{found['fit']:.1f}", len(kernels), longest])
        print(f"{name:34}{found['fit']:8.1f}{len(kernels):9}  {longest}", flush=True)
    if arguments.write:
        sys.path.insert(0, str(Path(__file__).parent.parent))
        from race import keep  # here: a child that measures must not import the package before

        keep("cold_start", ["model", "seconds", "kernels", "longest"], lines, arguments="--write")
    return None


if __name__ == "__main__":
    main()
