"""Accelerated logistic regression on real tables: wins over AnJE, AnDE and random forest (Tables 2 to 4).

The paper runs 5 rounds of 2-fold cross-validation on 77 data sets, of which this package knows copies of
61 with fewer than 100,000 rows; its counts are compared with ours scaled to its number of data sets. The
rows for data sets above 100,000 rows need originals that are not here.
"""

from functools import partial
from typing import Any

import pandas as pd

from seminaive.evaluate import Experiment, RepeatedKFold
from seminaive.evaluate.pairwise import win_draw_loss
from seminaive.evaluate.rivals import RIVALS
from seminaive.evaluate.summary import failure_lines
from seminaive.models import (
    AcceleratedLogisticRegression,
    AveragedDependenceEstimators,
    AveragedJoinEstimators,
)
from seminaive.papers.real_tables import paper_table, tables_of
from seminaive.papers.reproduction import (
    QUICK_ROWS,
    Reproduction,
    RunOptions,
    Tolerance,
    published_table,
)

__all__ = ["METHODS", "REPRODUCTIONS"]

_accelerated = partial(AcceleratedLogisticRegression, ridge=0.0, scaling="generative")
METHODS: dict[str, Any] = {
    "ALR2": _accelerated(order=2),
    "ALR3": _accelerated(order=3),
    "A2JE": AveragedJoinEstimators(order=2),
    "A3JE": AveragedJoinEstimators(order=3),
    "A1DE": AveragedDependenceEstimators(order=1),
    "A2DE": AveragedDependenceEstimators(order=2),
    "RF": RIVALS["sklearn-random-forest"](),
}
"""The paper's methods: no penalty, numbers cut by description length inside every fold."""

_BIG = 100_000
_QUICK_COLUMNS = 20
_LOSSES = {"zero_one": "L01", "rmse": "RMSE"}


def _measures(published: str, options: RunOptions) -> pd.DataFrame:
    """Judge the methods of a table: one row per data set, metric and method."""
    names = published_table(published)
    wanted = dict.fromkeys([*names["method_a"], *names["method_b"]])
    tables = [paper_table(name) for name in tables_of("alr-table1")]
    tables = [table for table in tables if len(table.y) < _BIG and options.takes(len(table.y))]
    if options.quick:
        tables = [table for table in tables if table.X.shape[1] <= _QUICK_COLUMNS]
    experiment = Experiment(
        {method: METHODS[method] for method in wanted},
        tables,
        RepeatedKFold(2, options.repetitions),
        list(_LOSSES),
        options.random_state,
        n_jobs=options.n_jobs,
    )
    results = experiment.run(options.path, progress=options.progress)
    losses = (
        results.folds.groupby(["dataset", "model"], sort=False)[list(_LOSSES)].mean().rename(columns=_LOSSES)
    )
    split = results.bias_variance.set_index(["dataset", "model"])[["bias", "variance"]]
    measures = losses.join(split).rename_axis(["dataset", "method"])
    long = measures.melt(var_name="metric", ignore_index=False).reset_index()
    long.attrs["notes"] = failure_lines(results.folds)
    return long


def _run(name: str, options: RunOptions) -> pd.DataFrame:
    """Win, draw and loss of ALR, scaled to the paper's number of data sets."""
    measures = _measures(name, options)
    published = published_table(name)
    cells = []
    counted = ("win", "draw", "loss")
    for row in published[published["subset"] != "big"].to_dict("records"):
        chosen = measures[measures["metric"] == row["metric"]]
        pair = chosen.pivot_table(index="dataset", columns="method", values="value")
        pair = pair.reindex(columns=[row["method_a"], row["method_b"]]).dropna()
        if len(pair):
            counts = win_draw_loss(*pair.round(4).to_numpy().T)
            scale = sum(float(row[cell] or 0) for cell in counted) / len(pair)
            keys = {key: row[key] for key in ("metric", "subset", "method_a", "method_b")}
            cells += [{**keys, "cell": cell, "ours": getattr(counts, cell) * scale} for cell in counted]
    found = pd.DataFrame(cells)
    found.attrs["notes"] = measures.attrs["notes"]
    return found


def _wins(name: str, title: str) -> Reproduction:
    return Reproduction(
        name=name,
        title=title,
        needs="real tables",
        minutes=600,
        repetitions=5,
        quick_repetitions=2,
        run=partial(_run, name),
        values=("win", "draw", "loss"),
        tolerances=dict.fromkeys(("L01", "RMSE", "bias", "variance"), Tolerance(8)),
        remarks=(
            "Our counts are over the data sets that we have, scaled to the paper's 76.",
            f"A quick run takes data sets of at most {QUICK_ROWS} rows and {_QUICK_COLUMNS} columns.",
            "The paper's rows called little sum to 76 too, the number of all data sets.",
            "Rows called big need data sets that are not here.",
            "Counts agree if they differ by eight or fewer; means equal to four decimals are draws.",
        ),
    )


REPRODUCTIONS = (
    _wins("alr-table2", "ALR against AnJE"),
    _wins("alr-table3", "ALR against AnDE"),
    _wins("alr-table4", "ALR against random forest"),
)
