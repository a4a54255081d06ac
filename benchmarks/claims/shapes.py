"""Whether shapes of columns lower the error of curves that have them, and what they cost in time.

``python benchmarks/claims/shapes.py error`` draws tables whose three curves increase and prints, for each
number of rows, the mean error of free and of constrained curves; ``python benchmarks/claims/shapes.py time``
the processor seconds of free and of constrained fits.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
import pandas as pd

from seminaive import SemiNaive
from seminaive.errors import ShapeWarning

CURVES = {
    "saturating": lambda x: 1.5 * np.tanh(2 * x),
    "logarithmic": lambda x: 1.2 * np.log1p(3 * x) - 1.2,
    "step": lambda x: 1.5 * (x > 0.5) - 0.5,
}
SHAPES = dict.fromkeys(CURVES, "increasing")


def planted(n_rows, seed):
    """Return a table of three increasing curves and noise, and its classes."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "saturating": rng.normal(size=n_rows),
            "logarithmic": rng.exponential(size=n_rows),
            "step": rng.uniform(-2, 2, n_rows),
            "noise": rng.normal(size=n_rows),
        }
    )
    odds = sum(curve(X[name]) for name, curve in CURVES.items())
    return X, rng.random(n_rows) < 1 / (1 + np.exp(-odds))


def curve_error(model, X, name):
    """Return the root mean square error of a centred curve over values of its column."""
    values = planted(2000, 10_000)[0][name].to_numpy()
    rows = X.iloc[np.zeros(len(values), dtype=int)].assign(**{name: values})
    away = model.decision_function(rows) - CURVES[name](values)
    return float(np.std(away))


def report_errors(seeds):
    """Print mean errors of free and constrained curves."""
    print(f"{'rows':>6} {'curve':<12} {'free':>7} {'shaped':>7} {'smaller in':>11}")
    for n_rows in (100, 300, 1000):
        errors = np.empty((2, len(seeds), len(CURVES)))
        for k, seed in enumerate(seeds):
            X, y = planted(n_rows, seed)
            for way, shapes in enumerate((None, SHAPES)):
                model = SemiNaive(interactions=0, shapes=shapes).fit(X, y)
                errors[way, k] = [curve_error(model, X, name) for name in CURVES]
        for j, name in enumerate(CURVES):
            free, shaped = errors[:, :, j]
            smaller = f"{(shaped < free).sum()} of {len(seeds)}"
            print(f"{n_rows:>6} {name:<12} {free.mean():7.3f} {shaped.mean():7.3f} {smaller:>11}")


def process_seconds(shapes, X, y):
    """Return the processor seconds of a fit, the better of two."""
    found = []
    for _ in range(2):
        start = time.process_time()
        SemiNaive(shapes=shapes).fit(X, y)
        found.append(time.process_time() - start)
    return min(found)


def report_times(seeds):
    """Print processor seconds of fits with pairs, one column or three of four having shapes."""
    process_seconds(SHAPES, *planted(60, 0))
    print(f"{'rows':>6} {'shapes':>6} {'free':>7} {'shaped':>7} {'times':>6}")
    for n_rows in (100, 300, 1000, 3000, 10_000):
        for shapes in ({"saturating": "increasing"}, SHAPES):
            seconds = np.empty((2, len(seeds)))
            for k, seed in enumerate(seeds):
                X, y = planted(n_rows, seed)
                seconds[:, k] = process_seconds(None, X, y), process_seconds(shapes, X, y)
            free, shaped = seconds.mean(axis=1)
            print(f"{n_rows:>6} {len(shapes):>6} {free:7.2f} {shaped:7.2f} {shaped / free:6.2f}", flush=True)


def main():
    """Run one of the two reports."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["error", "time"])
    parser.add_argument("--seeds", type=int, default=20)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ShapeWarning)
    {"error": report_errors, "time": report_times}[arguments.what](range(arguments.seeds))


if __name__ == "__main__":
    main()
