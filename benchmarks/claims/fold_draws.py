"""Does the answer depend on the draw of folds? A line per table and number of draws, resumable.

    python benchmarks/claims/fold_draws.py run semi-naive [--draws 1,auto] [--seeds 3] [--minutes 30]
    python benchmarks/claims/fold_draws.py report

The claim: over 36 tables of 75 to 300 training rows, another `random_state` moves a probability by at most
.009, the mean standard deviation between seeds, and the log loss is no larger than with one draw.

The tables are the smallest 36 of at least 90 rows, without those that hold rows of another one and without
classes of fewer than 5 rows. A stratified 6/7 of the rows, at most 300, train; the others judge. "auto" draws
as often as the package does. `run` appends to benchmarks/results/fold_draws.csv, whose columns are the mean
log loss over the seeds, `cv_log_loss_`, the mean and the largest standard deviation of a probability between
seeds, and the least processor seconds of a fit. Run with another version on PYTHONPATH and ``--label``, it
compares versions ("auto" only).
"""

import argparse
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parent.parent))
from board_tables import DATA, FEWEST_OF_A_CLASS, REPEATED, frequent, load
from contenders import SEARCHING, with_state
from sklearn.model_selection import train_test_split
from study import listed, provenance
from threadpoolctl import threadpool_limits

RESULTS = Path(__file__).parent.parent / "results" / "fold_draws.csv"
FEWEST_ROWS, MOST_TRAINING_ROWS, N_TABLES = 90, 300, 36
FIELDS = [
    "model",
    "draws",
    "label",
    "table",
    "rows",
    "seeds",
    "log_loss",
    "cv_log_loss",
    "spread",
    "largest",
    "cpu_s",
]
KEY = ["model", "draws", "label", "table"]


def tables():
    """Return the names of the tables, fewest rows first."""
    manifest = pd.read_csv(DATA / "MANIFEST.tsv", sep="\t")
    manifest = manifest[(manifest.rows >= FEWEST_ROWS) & ~manifest.name.isin(REPEATED)]
    return manifest.sort_values("rows", kind="stable").name.head(N_TABLES).tolist()


def split(table):
    """Return the training rows of a table with their classes, and those that judge."""
    X, y = load(table)
    rows = frequent(y, np.arange(len(y)), FEWEST_OF_A_CLASS)
    n_train = min(MOST_TRAINING_ROWS, len(rows) * 6 // 7)
    train, test = train_test_split(rows, train_size=n_train, stratify=y[rows], random_state=0)
    return X.iloc[train], y[train], X.iloc[test], y[test]


def drawn(draws):
    """Let folds be drawn some times, or, by "auto", as often as the package does."""
    if draws != "auto":
        from seminaive.selection import folds

        folds.draws_by_size = lambda *_: int(draws)


def measure(make, table, n_seeds):
    """Return the measures of one table."""
    X, y, X_test, y_test = split(table)
    found, seconds, expected = [], [], []
    for seed in range(n_seeds):
        before = time.process_time()
        model = with_state(make, seed)().fit(X, y)
        seconds.append(time.process_time() - before)
        found.append(model.predict_proba(X_test))
        expected.append(model.cv_log_loss_)
    probabilities = np.array(found)
    of_labels = probabilities[:, np.arange(len(y_test)), np.searchsorted(model.classes_, y_test)]
    spread = probabilities.std(axis=0, ddof=1)
    log_loss = -np.log(np.maximum(of_labels, np.finfo(float).tiny)).mean()
    return len(y), n_seeds, log_loss, np.mean(expected), spread.mean(), spread.max(), min(seconds)


def run(options):
    """Append what the file lacks, until time is over."""
    warnings.simplefilter("ignore")
    if not RESULTS.exists():
        RESULTS.write_text(f"# {provenance()}\n{','.join(FIELDS)}\n")
    done = set(
        pd.read_csv(RESULTS, comment="#", dtype=str)[KEY].fillna("").itertuples(index=False, name=None)
    )
    end = time.time() + 60 * options.minutes
    for draws in options.draws:
        drawn(draws)
        for model in options.models:
            for table in tables():
                if (key := (model, draws, options.label, table)) in done or time.time() > end:
                    continue
                with threadpool_limits(1):
                    measures = measure(SEARCHING[model], table, options.seeds)
                shown = [f"{value:.4g}" if isinstance(value, float) else str(value) for value in measures]
                with RESULTS.open("a") as file:
                    file.write(",".join([*key, *shown]) + "\n")


def report():
    """Print means over the tables that all numbers of draws of a model have; seconds as geometric means."""
    results = pd.read_csv(RESULTS, comment="#", keep_default_na=False)
    for model, of_model in results.groupby("model"):
        settings = of_model.groupby(["draws", "label"]).ngroups
        common = of_model.groupby("table").table.transform("size") == settings
        found = of_model[common].groupby(["draws", "label"])
        means = found[["log_loss", "cv_log_loss", "spread", "largest"]].mean()
        means["seconds"] = found.cpu_s.agg(lambda seconds: np.exp(np.log(seconds).mean()))
        print(f"\n{model}: {of_model[common].table.nunique()} tables\n{means.to_string(float_format='%.4f')}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parts = parser.add_subparsers(dest="command", required=True)
    runs = parts.add_parser("run")
    parts.add_parser("report")
    runs.add_argument("models", type=listed, help="names, parted by commas")
    runs.add_argument("--draws", type=listed, default=["1", "auto"], help="numbers, or auto")
    runs.add_argument("--seeds", type=int, default=3)
    runs.add_argument("--minutes", type=float, default=30)
    runs.add_argument("--label", default="", help="a name of the version")
    options = parser.parse_args()
    run(options) if options.command == "run" else report()
