"""Wins of accelerated regression over AnJE, AnDE and random forest, as far as they are run (Tables 2 to 4).

    SEMINAIVE_DATA=... python runs/alr_wins.py --minutes 60

appends one line per data set and method to results/alr/wins-raw.jsonl, cheapest first, continues where it was
stopped, begins nothing after some minutes, and writes results/alr/wins.csv: wins, draws and losses over
the data sets that both methods have finished, beside the paper's, and the cells of the three tables to
results/alr/alr-table2.csv and so on. ``--minutes 0`` only counts. Order 3 is run where it stays within the
limits of time and memory of `seminaive_experiments.papers.alr_real`. Whole tables are run by ``seminaive
reproduce alr-table2``; the two share their protocol.
"""

import argparse
import datetime as dt
import json
import platform
import time
from importlib.metadata import version
from pathlib import Path

import pandas as pd

from seminaive.evaluate import run_repetitions
from seminaive_experiments.pairwise_tests import sign_test, win_draw_loss
from seminaive_experiments.papers.alr_real import (
    METHODS,
    compared,
    counted_cells,
    in_long_form,
    judge,
    left_out_notes,
    planned,
    taken_data_sets,
)
from seminaive_experiments.papers.reproduction import (
    RunOptions,
    compare_with_paper,
    published_table,
    runnable,
)
from seminaive_experiments.papers.show import keep_comparison

RESULTS = Path(__file__).parents[1] / "results" / "alr"
TABLES = ("alr-table2", "alr-table3", "alr-table4")
ROUNDS = 5
# The paper counts its data sets by these numbers of rows.
BY_ROWS = {"under 1,000 rows": (0, 1000), "1,000 to 10,000": (1000, 10_001), "over 10,000": (10_001, 10**9)}

# The two orders are compared as well; the paper draws them in its Figure 3 and counts nothing.
ORDERS = [
    {"metric": metric, "subset": "all", "method_a": "ALR3", "method_b": "ALR2"}
    for metric in ("bias", "variance", "L01", "RMSE")
]


def finished(path, units):
    if not path.exists():
        return []
    lines = [json.loads(line)["unit"] for line in path.read_text(encoding="utf-8").splitlines()]
    return [unit for unit in units if unit in lines]


def run(path, units, minutes):
    """Judge what is missing, one data set and method after the other, until the time is up."""
    end = time.monotonic() + 60 * minutes
    done = finished(path, units)
    for unit in units:
        if unit not in done and time.monotonic() < end:
            start = time.process_time()
            run_repetitions([unit], judge, path=path, progress=False)
            print(f"{unit['dataset']}, {unit['method']}: {time.process_time() - start:.1f} s", flush=True)


def counted(measures, row, subset):
    """Count a comparison over some data sets: ours, the sign test, and what the paper prints, if anything."""
    pair = compared(measures, row)
    if pair.empty:
        return []
    counts = win_draw_loss(*pair.to_numpy().T)
    keys = {"metric": row["metric"], "subset": subset}
    keys |= {"method_a": row["method_a"], "method_b": row["method_b"], "data_sets": len(pair)}
    ours = {"win": counts.win, "draw": counts.draw, "loss": counts.loss}
    ours["p"] = round(sign_test(*pair.to_numpy().T).p_value, 4)
    printed = {f"paper_{name}": row.get(name) for name in ("win", "draw", "loss", "p_value")}
    return [keys | ours | (printed if subset == row["subset"] else {})]


def wins(measures):
    """Count every row of the three tables, then the two orders; all data sets once more by their rows."""
    found = []
    printed = [row for table in TABLES for row in published_table(table).to_dict("records")]
    for row in [*printed, *ORDERS]:
        found += counted(measures, row, row["subset"])
        if row["subset"] != "big":
            for subset, (least, end) in BY_ROWS.items():
                chosen = measures[(measures["n_rows"] >= least) & (measures["n_rows"] < end)]
                found += counted(chosen, row | {"subset": "all"}, subset)
    return pd.DataFrame(found)


def count_of_done(units, done, method):
    """Say on how many data sets a method has finished, and which few are missing."""
    of_method = [unit for unit in units if unit["method"] == method]
    missing = [unit["dataset"] for unit in of_method if unit not in done]
    names = f", without {', '.join(missing)}" if 0 < len(missing) < len(of_method) else ""
    return f"{len(of_method) - len(missing)} of {len(of_method)} data sets{names}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60)
    minutes = parser.parse_args().minutes
    options = RunOptions(ROUNDS, progress=False)
    taken = taken_data_sets(options)
    units = planned(METHODS, taken, options)
    path = RESULTS / "wins-raw.jsonl"
    run(path, units, minutes)
    done = finished(path, units)
    measures = in_long_form(run_repetitions(done, judge, path=path, progress=False), taken)
    packages = ", ".join(f"{name} {version(name)}" for name in ("seminaive", "numpy", "scikit-learn"))
    head = [
        "python runs/alr_wins.py",
        f"{dt.datetime.now(tz=dt.UTC):%Y-%m-%d}, Python {platform.python_version()}, {packages}",
        f"{ROUNDS} x 2-fold cross-validation, 2 x 2-fold on data sets that the paper calls big",
        *left_out_notes(taken),
        *(f"{method}: {count_of_done(units, done, method)}" for method in METHODS),
    ]
    lines = "".join(f"# {line}\n" for line in head)
    (RESULTS / "wins.csv").write_text(lines + wins(measures).to_csv(index=False), encoding="utf-8")
    for name in TABLES:
        cells = counted_cells(name, measures)
        del cells.attrs["data_sets"]  # the raw lines have them
        keep_comparison(compare_with_paper(runnable(name), cells), RESULTS / f"{name}.csv", head[0])


if __name__ == "__main__":
    main()
