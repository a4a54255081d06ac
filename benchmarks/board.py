"""Which classifier is first on 20 real tables, and at what time? One line per fold, resumable.

    python benchmarks/board.py run semi-naive [--settings n100,n300,full] [--tables car,adult] [--minutes 30]
    python benchmarks/board.py report semi-naive [--against EBM,RF,...] [--pictures docs/pictures]
    python benchmarks/board.py run MODEL --confirm
    python benchmarks/board.py report semi-naive logistic-cv boosting random-forest --confirm

`run` appends to results/board/NAME.csv and goes on where it stopped. Settings: `full` is stratified 5-fold
cross-validation, large tables sampled; `n300` and `n100` are random training sets of that size, tested on
all other rows. The tables and SCHEMA.json lie in the folder that SEMINAIVE_DATA names; a file of other
classifiers at their defaults on the same splits (EBM with 4 outer bags, one thread, on a busy machine) is
../board/peers.csv.gz beside that folder, or what SEMINAIVE_PEERS names. `--confirm` takes other tables,
on which no choice was made here, two folds of each, and models that this file runs itself. `report` prints
mean ranks, Nemenyi's critical difference and the models that it cannot tell from the first, and draws them.
"""

import argparse
import csv
import importlib.metadata
import json
import os
import sys
import time
import warnings
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegressionCV
from sklearn.model_selection import RepeatedStratifiedKFold, StratifiedShuffleSplit, train_test_split

import seminaive
from seminaive.evaluate.drawing import rank_diagram
from seminaive.evaluate.ranking import critical_difference
from seminaive.evaluate.rivals import RIVALS, for_mixed_tables

RESULTS = Path(__file__).parent.parent / "results" / "board"
DATA = Path(os.environ.get("SEMINAIVE_DATA", "datasets"))
PEERS = Path(os.environ.get("SEMINAIVE_PEERS", DATA.parent / "board" / "peers.csv.gz"))
SAMPLE = {"mushroom": 3000, "splice": 2000, "adult": 10000, "magic": 10000, "nursery": 6000}
FIELDS = ["table", "setting", "model", "repeat", "fold", "error", "log_loss", "fit_s", "cpu_s", "status"]
SETTINGS = ("full", "n300", "n100")
MODELS = {
    "semi-naive": seminaive.SemiNaive,
    "higher-order-cv": seminaive.HigherOrderLogisticRegressionCV,
    "naive-bayes": seminaive.NaiveBayes,
    "logistic-cv": lambda: for_mixed_tables(
        LogisticRegressionCV(
            Cs=10, l1_ratios=(0.0,), scoring="neg_log_loss", max_iter=1000, use_legacy_attributes=False
        )
    ),
    "boosting": RIVALS["sklearn-boosting"],
    "random-forest": RIVALS["sklearn-random-forest"],
}
CONFIRMATION = (
    "australian-credit",
    "balance-scale",
    "blood-transfusion",
    "chronic-kidney-disease",
    "dermatology",
    "ecoli",
    "glass",
    "heart-cleveland",
    "heart-failure",
    "ilpd",
    "liver-disorders-bupa",
    "mammographic-mass",
    "new-thyroid",
    "vertebral-column-3c",
    "wine",
    "zoo",
)
CONFIRMATION_FOLDS = 2
FEWEST = 5
STYLE = (
    "svg{background:#fff}text{font:12px sans-serif;fill:#1b1f24}.grid{stroke:#dfe3e8}.stem{stroke:#57606a}"
    ".group{stroke:#1b1f24;stroke-width:4}.reach{fill:#dfe3e8;opacity:.6}circle{fill:#0b66b5 !important}"
)
PAIRED = ["table", "repeat", "fold"]


def load(table):
    """Return the columns of a table as a frame, and the classes that have at least five rows, as numbers."""
    folder = Path(os.environ["SEMINAIVE_DATA"])
    rows = pd.read_csv(folder / f"{table}.csv.gz", keep_default_na=False, na_values=[""], low_memory=False)
    kinds = json.loads((folder / "SCHEMA.json").read_text())[table]
    labels = rows["class"].astype(str)
    kept = np.flatnonzero(labels.map(labels.value_counts()).to_numpy() >= FEWEST)
    if SAMPLE.get(table, len(kept)) < len(kept):
        sampled = train_test_split(
            kept, train_size=SAMPLE[table], stratify=labels.to_numpy()[kept], random_state=0
        )
        kept = np.sort(sampled[0])
    rows = rows.iloc[kept].reset_index(drop=True)
    columns = {}
    for number, column in enumerate(rows.columns[:-1]):
        cells = rows[column]
        if kinds[column] == "numeric":
            columns[f"f{number}"] = pd.to_numeric(cells).astype(float)
        else:
            columns[f"f{number}"] = cells.astype(object).map(str).where(cells.notna(), None)
    return pd.DataFrame(columns), np.unique(labels.to_numpy()[kept], return_inverse=True)[1]


def splits(y, setting):
    """Yield repeat, fold, training rows and test rows."""
    if setting == "full":
        plan = RepeatedStratifiedKFold(n_splits=5, n_repeats=3, random_state=0)
        for number, (train, test) in enumerate(plan.split(np.zeros(len(y)), y)):
            yield number // 5, number % 5, train, test
        return
    size = int(setting[1:])
    plan = StratifiedShuffleSplit(n_splits=10, train_size=size, random_state=0, test_size=len(y) - size)
    for number, (train, test) in enumerate(plan.split(np.zeros(len(y)), y)):
        yield number, 0, train, test


def judge(make, X, y, train, test):
    """Return losses and times of one fold."""
    wall, cpu = time.perf_counter(), time.process_time()
    model = make().fit(X.iloc[train].reset_index(drop=True), y[train])
    times = {"fit_s": time.perf_counter() - wall, "cpu_s": time.process_time() - cpu}
    found = np.zeros((len(test), y.max() + 1))
    found[:, np.asarray(model.classes_, int)] = model.predict_proba(X.iloc[test].reset_index(drop=True))
    own = found[np.arange(len(test)), y[test]].clip(1e-15, 1)
    return {
        "error": np.mean(found.argmax(axis=1) != y[test]),
        "log_loss": -np.log(own).mean(),
        **times,
        "status": "ok",
    }


def planned(confirm):
    """Return the folds to run, a frame of table, setting, repeat and fold."""
    columns = ["table", "setting", *PAIRED[1:]]
    if confirm:
        folds = [(table, "full", 0, fold) for table in CONFIRMATION for fold in range(CONFIRMATION_FOLDS)]
        return pd.DataFrame(folds, columns=columns)
    peers = pd.read_csv(PEERS)
    return peers[peers.model == "EBM"][columns]


def results_path(model, confirm):
    return RESULTS / f"{'confirmation-' if confirm else ''}{model}.csv"


def run(model, settings, tables, minutes, *, confirm=False):
    wanted = planned(confirm)
    path = results_path(model, confirm)
    done = set()
    if path.exists():
        kept = pd.read_csv(path, comment="#")[["table", "setting", "repeat", "fold"]]
        done = set(map(tuple, kept.to_numpy().tolist()))
    end = time.time() + 60 * minutes
    with path.open("a", newline="") as file:
        out = csv.DictWriter(file, FIELDS)
        if not done and not file.tell():
            versions = ", ".join(
                f"{name} {importlib.metadata.version(name)}" for name in ("numpy", "scikit-learn", "numba")
            )
            told = f"python {' '.join(['benchmarks/board.py', *sys.argv[1:]])}; {versions}"
            file.write(f"# {told}; {datetime.now(UTC):%Y-%m-%d}\n")
            out.writeheader()
        for setting in settings:
            for table in tables or sorted(wanted.table.unique()):
                own = wanted[(wanted.table == table) & (wanted.setting == setting)]
                folds = set(map(tuple, own[["repeat", "fold"]].to_numpy().tolist()))
                if not folds:
                    continue
                X, y = load(table)
                for repeat, fold, train, test in splits(y, setting):
                    if (repeat, fold) not in folds or (table, setting, repeat, fold) in done:
                        continue
                    if time.time() > end:
                        return
                    row = {"table": table, "setting": setting, "model": model, "repeat": repeat, "fold": fold}
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        row |= judge(MODELS[model], X, y, train, test)
                    out.writerow({k: f"{v:.6g}" if isinstance(v, float) else v for k, v in row.items()})
                    file.flush()


def report(models, against, *, confirm=False, pictures=None):
    """Print mean ranks over the tables on which all models have the same folds."""
    peers = pd.read_csv(PEERS)
    own = [pd.read_csv(results_path(model, confirm), comment="#") for model in models]
    rows = pd.concat([peers[peers.model.isin([] if confirm else against)], *own]).query("status == 'ok'")
    for setting in SETTINGS:
        for metric in ("log_loss", "error"):
            folds = rows[rows.setting == setting].pivot_table(index=PAIRED, columns="model", values=metric)
            means = folds.dropna().groupby(level="table").mean().round(6)
            if not len(means):
                continue
            ranks = means.rank(axis=1).mean().sort_values()
            shown = "  ".join(f"{model} {rank:.2f}" for model, rank in ranks.items())
            print(f"{setting:5} {metric:9} {len(means):2} tables  {shown}")
            difference = critical_difference(len(ranks), len(means))
            equal = ranks.index[1:][ranks.iloc[1:] < ranks.iloc[0] + difference]
            print(f"      critical difference {difference:.2f}: {ranks.index[0]} = {', '.join(equal) or '-'}")
            if pictures is not None:
                path = Path(pictures) / f"board-{setting}-{metric.replace('_', '-')}.svg"
                path.write_text(picture(ranks, difference) + "\n")


def picture(ranks, difference):
    """Return the critical-difference diagram of mean ranks, in increasing order, as a file of its own."""
    places = ranks.to_numpy()
    ends = np.searchsorted(places, places + difference) - 1
    groups = [
        (first, int(last))
        for first, last in enumerate(ends)
        if last > first and (first == 0 or last > ends[first - 1])
    ]
    drawn = rank_diagram(list(ranks.index), list(range(len(ranks))), places.tolist(), groups, difference)
    size = ' xmlns="http://www.w3.org/2000/svg" '
    return drawn.replace("<svg ", f"<svg{size}", 1).replace(">", f"><style>{STYLE}</style>", 1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    runs = commands.add_parser("run")
    runs.add_argument("model", choices=MODELS)
    runs.add_argument("--settings", default="n100,n300,full")
    runs.add_argument("--tables", default="")
    runs.add_argument("--minutes", type=float, default=30)
    runs.add_argument("--confirm", action="store_true")
    reports = commands.add_parser("report")
    reports.add_argument("models", nargs="+")
    reports.add_argument(
        "--against",
        default="EBM,LightGBM,HGB,RF,LRcv-l2,LRcv-l1,LR-C1,NB-mdl,NB-q10,AODE,ALR-w1,ALR-w4",
    )
    reports.add_argument("--confirm", action="store_true")
    reports.add_argument("--pictures")
    options = parser.parse_args()
    if options.command == "run":
        tables = [table for table in options.tables.split(",") if table]
        run(options.model, options.settings.split(","), tables, options.minutes, confirm=options.confirm)
    else:
        against = options.against.split(",")
        report(options.models, against, confirm=options.confirm, pictures=options.pictures)
