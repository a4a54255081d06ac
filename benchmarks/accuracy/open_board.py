"""Ours and their rivals on tables by OpenML number, or on files, by the same splits: `make board`.

    python benchmarks/accuracy/open_board.py                 27 tables of OpenML on which nothing was chosen
    python benchmarks/accuracy/open_board.py --folder DIR    CSV and Parquet files of DIR, classes in `class`
    python benchmarks/accuracy/open_board.py --suite automl  11 tables and figures of the AutoML benchmark

Tables from OpenML are kept in scikit-learn's cache (SCIKIT_LEARN_DATA). One line per fold is appended to
results/board/openml/MODEL.csv, or to the folder that `--results` names, and a second run goes on where the
first stopped: `--minutes` ends it, `--limit` ends one fold. Each file begins with the versions of libraries.
At the end it prints mean ranks, wins, losses and times, and writes one page per setting beside the results.

Settings: `n100` and `n300` are two random training sets of that size each, tested on at most 5,000 rows;
`full` is two of five folds below 1,000 rows, one above; of more than 20,000 rows so many are drawn. `--suite
automl` has ten folds of all rows. A classifier that is not installed is left out, and named.
"""

import argparse
import sys
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold

from seminaive.errors import SeminaiveError
from seminaive_experiments import Report

sys.path.insert(0, str(Path(__file__).parent.parent))
from accuracy.board_report import LOSSES, report
from accuracy.open_tables import folder_tables, listed_files, listed_tables, load
from board_tables import FEWEST_TEST_ROWS, SMALL_REPEATS, TWO_FOLDS_BELOW, other_rows
from contenders import MODELS
from study import Study, listed, read_results, run

RESULTS = Path(__file__).parent.parent / "results" / "board"
AUTOML = RESULTS / "automl-benchmark.csv"
LIBRARIES = {"ebm": "interpret", "catboost": "catboost", "lightgbm": "lightgbm"}
DEFAULT = (
    *("semi-naive", "naive-bayes", "nbrlr-cv", "higher-order-cv", "logistic-cv", "random-forest"),
    *("hist-boosting", "ebm", "catboost", "lightgbm"),
)
KEY = ("table", "setting", "repeat", "fold")
TEN_FOLDS = 10
RIVALS = ["H2O AutoML", "auto-sklearn", "TPOT", "tuned random forest"]


def measures(judged):
    return {"error": judged.error(), "log_loss": judged.log_loss(), "auc": judged.auc()}


def split(tables, name, setting, repeat, fold):
    """Return a table, its classes, and the training and test rows of one fold."""
    if setting == "ten":
        X, y = load(tables[name], None)
        plan = StratifiedKFold(TEN_FOLDS, shuffle=True, random_state=0)
        return X, y, *list(plan.split(np.zeros(len(y)), y))[fold]
    X, y = load(tables[name])
    return X, y, *other_rows(y, setting, repeat, fold)


def planned(name, n_rows, *, ten):
    """Return the folds of one table."""
    if ten:
        return [(name, "ten", 0, fold) for fold in range(TEN_FOLDS)]
    folds = [
        (name, f"n{size}", repeat, 0)
        for size in (100, 300)
        if n_rows >= size + FEWEST_TEST_ROWS
        for repeat in range(SMALL_REPEATS)
    ]
    return folds + [(name, "full", 0, fold) for fold in range(2 if n_rows < TWO_FOLDS_BELOW else 1)]


def trials(tables, *, ten):
    """Yield the folds of all tables; one that cannot be had is named, and the others are run."""
    for name, table in tables.items():
        try:
            n_rows = len(load(table, None)[1]) if ten else len(load(table)[1])
        except SeminaiveError as error:
            print(f"left out: {error}", file=sys.stderr, flush=True)
            continue
        yield from planned(name, n_rows, ten=ten)


def installed(models):
    """Return the models whose libraries are there, and name the others."""
    missing = [model for model in models if model in LIBRARIES and find_spec(LIBRARIES[model]) is None]
    if missing:
        print(f"not installed, left out: {', '.join(missing)} (pip install '.[bench]')", file=sys.stderr)
    return [model for model in models if model not in missing]


def write_pages(paths, folder):
    """Write a page per setting that the results have."""
    rows = pd.concat([read_results(path) for path in paths], ignore_index=True)
    rows = rows.rename(columns={"table": "dataset", "cpu_s": "fit_seconds", "repeat": "repetition"})
    rows["message"] = rows.status.where(rows.status != "ok", "")
    rows["status"] = rows.status.where(rows.status == "ok", "failed")
    for setting, found in rows.groupby("setting"):
        page = folder / f"board-{setting}.html"
        report_of = Report.of_frame(found.drop(columns="setting"), LOSSES, f"Board: {setting}")
        report_of.write_html(page)
        print(f"wrote {page}")


def beside_automl(path):
    """Return our means over ten folds beside the figures of the AutoML benchmark, best of them first."""
    ours = read_results(path)
    means = ours[(ours.setting == "ten") & (ours.status == "ok")].groupby("table")[["auc", "log_loss"]]
    means, folds = means.mean(), means.size()
    theirs = pd.read_csv(AUTOML, comment="#")
    theirs = theirs[theirs.table.isin(means.index)]
    found = theirs.assign(
        **{"semi-naive": [means.loc[row.table, row.measure] for row in theirs.itertuples()]},
        folds=theirs.table.map(folds),
    )
    larger = found.measure == "auc"
    best = found[RIVALS].max(axis=1).where(larger, found[RIVALS].min(axis=1))
    return found.assign(behind=np.where(larger, best - found["semi-naive"], found["semi-naive"] - best) > 0)


def parse(arguments=None):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--suite", choices=["board", "automl"], default="board")
    parser.add_argument("--folder", type=Path, help="of files, in the place of OpenML")
    parser.add_argument("--tables", type=listed, default=[], help="names, parted by commas; all if left out")
    parser.add_argument("--models", type=listed, help="names, parted by commas")
    parser.add_argument("--minutes", type=float, default=1e9, help="after which no fold begins")
    parser.add_argument("--limit", type=float, default=300, help="processor seconds per fold")
    parser.add_argument("--results", type=Path, help="the folder of the results")
    return parser.parse_args(arguments)


def available(options):
    """Return the tables of the suite or the folder."""
    if options.folder is None:
        return listed_tables(options.suite)
    return (
        listed_files("automl", options.folder) if options.suite == "automl" else folder_tables(options.folder)
    )


def main(arguments=None):
    options = parse(arguments)
    ten = options.suite == "automl"
    tables = {
        table.name: table
        for table in available(options)
        if not options.tables or table.name in options.tables
    }
    if not tables:
        sys.exit("no such table: --tables names rows of accuracy/openml_tables.csv, or files of --folder")
    models = installed(options.models or (["semi-naive"] if ten else DEFAULT))
    folder = options.results or RESULTS / ("folder" if options.folder else "openml")
    paths = {model: folder / f"{'automl-' if ten else ''}{model}.csv" for model in models}
    study = Study(KEY, partial(split, tables), measures, ("error", "log_loss", "auc"))
    run(study, MODELS, paths, trials(tables, ten=ten), options.minutes, options.limit)
    written = [path for path in paths.values() if len(read_results(path))]
    if not written:
        sys.exit("no fold was run: see what was left out above")
    if ten:
        print(beside_automl(paths["semi-naive"]).to_string(index=False, float_format="%.5g"))
        return
    report(written, None, None, "open-board")
    write_pages(written, folder)


if __name__ == "__main__":
    main()
