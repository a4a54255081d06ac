"""Compares a fit that starts from an earlier model with recalibrating it, and with fitting anew.

    python benchmarks/claims/start.py run [--draws 20] [--sizes 50,200] [--splits "pima by age"]
    python benchmarks/claims/start.py report

Tables are split in time, place or kind (start_tables.py). `SemiNaive` is fitted to the earlier rows. Of the
others, stratified samples are drawn, and the rest, at most 5,000 rows, judges: the earlier model as it is,
the earlier model recalibrated on the sample (intercept and slope of its log odds, without a penalty, by
scikit-learn), `SemiNaive` fitted to the sample alone, and `SemiNaive(start=earlier)` fitted to the sample. A
size is left out where fewer than 80 rows would judge.

`run` appends one line per sample to results/start/start.csv and goes on where it stopped. `report` prints the
mean log losses of each split and size, and over the splits.
"""

import argparse
import functools
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

from seminaive import SemiNaive

sys.path.insert(0, str(Path(__file__).parent.parent))
from board_tables import MOST_TEST_ROWS
from claims.start_tables import SPLITS, split
from judged import log_loss
from study import listed, provenance, read_results

RESULTS = Path(__file__).parent.parent / "results" / "start" / "start.csv"
WAYS = ("earlier", "recalibrated", "fresh", "start")
FIELDS = ("split", "size", "draw", *WAYS, "slope", "fit_share", "fresh_s", "start_s")
FEWEST_JUDGES = 80


@functools.lru_cache(maxsize=1)
def earlier_model(name):
    X, y, _, _ = split(name)
    return SemiNaive().fit(X, y)


def draw_rows(name, size, draw):
    """Return the sampled rows and those that judge, with their classes."""
    _, _, X, y = split(name)
    train, judges = train_test_split(np.arange(len(y)), train_size=size, stratify=y, random_state=draw)
    judges = judges[:MOST_TEST_ROWS]
    return X.iloc[train], y[train], X.iloc[judges], y[judges]


def recalibrated(model, X, y, new):
    """Return the probabilities of new rows by the log odds of a model, recalibrated on some rows."""
    fit = LogisticRegression(C=np.inf, tol=1e-8, max_iter=1000)
    odds, others = (model.decision_function(rows)[:, None] for rows in (X, new))
    return fit.fit(odds, y).predict_proba(others)


def measure(name, size, draw):
    X, y, new, labels = draw_rows(name, size, draw)
    earlier = earlier_model(name)
    began = time.process_time()
    fresh = SemiNaive().fit(X, y)
    between = time.process_time()
    started = SemiNaive(start=earlier).fit(X, y)
    ended = time.process_time()
    probabilities = (
        earlier.predict_proba(new),
        recalibrated(earlier, X, y, new),
        fresh.predict_proba(new),
        started.predict_proba(new),
    )
    losses = [log_loss(probability, labels) for probability in probabilities]
    slope = started.started_from_[-1].slope
    return *losses, slope, started.fit_share_, between - began, ended - between


def run(splits, sizes, n_draws, minutes, path):
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# {provenance()}\n{','.join(FIELDS)}\n")
    done = set(read_results(path)[["split", "size", "draw"]].itertuples(index=False, name=None))
    end = time.time() + 60 * minutes
    for name in splits:
        n_rows = len(split(name)[3])
        for size in filter(lambda size: size + FEWEST_JUDGES <= n_rows, sizes):
            for draw in range(n_draws):
                if (name, size, draw) in done:
                    continue
                if time.time() > end:
                    return
                row = (name, size, draw, *(f"{value:.6g}" for value in measure(name, size, draw)))
                with path.open("a") as file:
                    file.write(",".join(map(str, row)) + "\n")


def report(path):
    results = read_results(path)
    means = results.groupby(["split", "size"])[list(WAYS)].mean()
    means["behind the better"] = means["start"] - means[["recalibrated", "fresh"]].min(axis=1)
    means["draws"] = results.groupby(["split", "size"]).size()
    with pd.option_context("display.width", 160, "display.max_rows", None, "display.max_columns", None):
        print(means.round(4))
        print(means.groupby("size")[list(WAYS)].mean().round(4))
    print(f"most behind the better of the two: {means['behind the better'].max():.4f} (bar .01)")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=("run", "report"))
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--sizes", default="50,200,1000")
    parser.add_argument("--splits", default="", help="all if left out")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args()
    if options.command == "run":
        chosen = listed(options.splits) or list(SPLITS)
        run(chosen, listed(options.sizes, int), options.draws, options.minutes, options.results)
    else:
        report(options.results)
