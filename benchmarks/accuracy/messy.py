"""What messy columns cost: each model's fit to a messy table, over that to ten-level columns in their place.

    python benchmarks/accuracy/messy.py run [--rows 3100 20000]
    python benchmarks/accuracy/messy.py report

Processor seconds of one thread, the better of two fits in a process of its own that has compiled before, and
the peak of its memory. Bars: at most 3 times the time, at most 1 GB.
"""

import argparse
import json
import resource
import subprocess
import sys
import time
import warnings
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.base import clone

import seminaive

RESULTS = Path(__file__).parent.parent / "results" / "messy" / "lines.csv"
MODELS = {
    "NaiveBayes": {},
    "NaiveBayesLogisticRegression": {},
    "NaiveBayesLogisticRegressionCV": {"random_state": 0},
    "HigherOrderLogisticRegression": {"order": 2},
    "HybridLogisticNaiveBayes": {"random_state": 0},
    "TreeAugmentedNaiveBayes": {},
    "AveragedDependenceEstimators": {},
    "SelectiveNaiveBayes": {},
    "SemiNaive": {"random_state": 0},
}


def table(n_rows, *, messy):
    """Return a table of four plain columns and eight messy ones, or ten-level ones in their place."""
    rng = np.random.default_rng(0)
    plain = {f"x{k}": rng.normal(size=n_rows) for k in range(3)}
    plain["region"] = rng.choice(["north", "south", "west"], n_rows)
    risk = plain["x0"] - 0.5 * plain["x1"] + (plain["region"] == "west") + rng.logistic(size=n_rows)
    days = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n_rows), unit="D")
    columns = {
        "id": [f"C-{k:07}" for k in rng.permutation(n_rows)],
        "phone": [f"+1 555 {k // 10000:03}-{k % 10000:04}" for k in rng.permutation(n_rows)],
        "spent": [f"${value:,.2f}" for value in rng.lognormal(7, 1, n_rows)],
        "rate": [f"{value:.1f}%" for value in rng.uniform(0, 40, n_rows)],
        "since": days.strftime("%Y-%m-%d").to_numpy(),
        "remark": [f"{rng.integers(10**9)} {k}" for k in range(n_rows)],
        "levels": [f"v{k}" for k in rng.integers(0, 5000, n_rows)],
        "mixed": np.array(
            [f"{v} kg" if v % 2 else int(v) for v in rng.integers(1, 90, n_rows)], dtype=object
        ),
    }
    if not messy:
        columns = {name: [f"k{k}" for k in rng.integers(0, 10, n_rows)] for name in columns}
    return pd.DataFrame({**plain, **columns}), np.where(risk > 0, "late", "paid")


def measure(name, n_rows, *, messy):
    """Return the seconds of a fit and the peak of memory, in MB."""
    X, y = table(n_rows, messy=messy)
    model = getattr(seminaive, name)(**MODELS[name])
    seconds = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(2):
            start = time.process_time()
            clone(model).fit(X, y)
            seconds.append(time.process_time() - start)
    return min(seconds), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def run(sizes):
    """Measure every model that is not there yet; a stopped run goes on where it ended."""
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    lines = pd.read_csv(RESULTS).to_dict("records") if RESULTS.exists() else []
    done = {(line["model"], line["rows"]) for line in lines}
    for n_rows in sizes:
        for name in MODELS:
            if (name, n_rows) in done:
                continue
            found = {}
            for messy in (False, True):
                command = [sys.executable, __file__, "one", name, str(n_rows), str(int(messy))]
                answer = subprocess.run(command, capture_output=True, text=True, check=True)
                found[messy] = json.loads(answer.stdout.splitlines()[-1])
            line = {
                "model": name, "rows": n_rows, "plain_s": round(found[False][0], 3),
                "messy_s": round(found[True][0], 3), "ratio": round(found[True][0] / found[False][0], 2),
                "messy_mb": round(found[True][1]), "version": seminaive.__version__,
                "date": datetime.now(tz=UTC).date().isoformat(),
            }  # fmt: skip
            print(line, flush=True)
            lines.append(line)
            pd.DataFrame(lines).to_csv(RESULTS, index=False)


def main():
    """Run, report, or measure one fit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["run", "report", "one"])
    parser.add_argument("given", nargs="*")
    parser.add_argument("--rows", type=int, nargs="+", default=[3100, 20000])
    given = parser.parse_args()
    if given.what == "one":
        name, n_rows, messy = given.given
        print(json.dumps(measure(name, int(n_rows), messy=bool(int(messy)))))
    elif given.what == "run":
        run(given.rows)
    else:
        print(pd.read_csv(RESULTS).to_string(index=False))


if __name__ == "__main__":
    main()
