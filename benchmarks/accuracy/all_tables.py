"""How long do fits to all rows of each real table take, and what are they worth? One line each, resumable.

    python benchmarks/accuracy/all_tables.py run semi-naive [--tables letter] [--limit 300] [--results DIR]
    python benchmarks/accuracy/all_tables.py report [semi-naive] [--above 20] [--over ebm-4] [--before DIR]

A model is fitted to four fifths of the rows of a table, stratified, without any limit on their number; the
rest judges it, at most 5,000 rows. The tables and SCHEMA.json lie in the folder that SEMINAIVE_DATA names.

`run` appends to DIR/NAME.csv (results/all_tables by default), the smallest tables first, and goes on where it
stopped. A fit that takes more than `--limit` processor seconds is ended. `report` lists the tables that take
more than `--above` processor seconds, and all that were ended; `--before` compares seconds and log loss with
those of an earlier version on the tables that both have; `--over` divides seconds by those of another model.
"""

import sys
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

sys.path.insert(0, str(Path(__file__).parent.parent))
from board_tables import DATA, MOST_TEST_ROWS, REPEATED, read_table
from contenders import MODELS
from study import Study, listed, read_results
from study_commands import commands, perform

RESULTS = Path(__file__).parent.parent / "results" / "all_tables"
TESTED = 0.2


@lru_cache(maxsize=1)
def whole_table(table):
    return read_table(table, most_rows=None)


def split(table):
    """Return a table, its classes, the training rows, and the rows that judge."""
    X, y = whole_table(table)
    train, rest = train_test_split(np.arange(len(y)), test_size=TESTED, stratify=y, random_state=0)
    return X, y, train, rest[:MOST_TEST_ROWS]


def measure(judged):
    return {
        "n_train": len(judged.y_train),
        "n_classes": judged.probabilities.shape[1],
        "log_loss": judged.log_loss(),
        "error": judged.error(),
    }


ALL_TABLES = Study(("table",), split, measure, ("n_train", "n_classes", "log_loss", "error"))


def plan(tables):
    """Return the tables, the smallest first: by rows times columns times classes."""
    manifest = pd.read_csv(DATA / "MANIFEST.tsv", sep="\t")
    wanted = manifest.name.isin(tables) if tables else ~manifest.name.isin(REPEATED)
    size = (manifest.rows * manifest.features * manifest.classes)[wanted]
    return [(name,) for name in manifest.name[size.sort_values(kind="stable").index]]


def report(given):
    """Print the slow tables of each model, and what changed since an earlier version."""
    models = given.models or [path.stem for path in sorted(given.results.glob("*.csv"))]
    for model in models:
        found = read_results(given.results / f"{model}.csv").set_index("table")
        slow = found[(found.cpu_s > given.above) | (found.status != "ok")]
        print(f"{model}: {len(found)} tables, {len(slow)} of them above {given.above:g} s or ended")
        print(slow.sort_values("cpu_s")[["n_train", "n_classes", "cpu_s", "log_loss", "status"]].to_string())
        if given.over and given.over != model:
            report_ratio(found, given.results / f"{given.over}.csv")
        if given.before is None:
            continue
        before = read_results(given.before / f"{model}.csv").set_index("table")
        both = found.merge(before, on="table", suffixes=("", "_before"))
        both = both[(both.status == "ok") & (both.status_before == "ok")]
        worse = both.log_loss - both.log_loss_before
        faster = np.exp(np.log(both.cpu_s / both.cpu_s_before).mean())
        print(
            f"{len(both)} tables of both: {faster:.2f} of the time, log loss {worse.mean():+.4f} in the mean"
        )
        changed = both.assign(worse=worse)[["n_train", "n_classes", "cpu_s_before", "cpu_s", "worse"]]
        print(changed[worse.abs() > given.changed].sort_values("worse").to_string())


def report_ratio(found, path):
    """Print the time of a model over that of another one, whose results lie elsewhere."""
    both = found.merge(read_results(path).set_index("table"), on="table", suffixes=("", "_other"))
    both = both[(both.status == "ok") & (both.status_other == "ok")]
    ratio = (both.cpu_s / both.cpu_s_other).sort_values()
    n_both = f"{len(ratio)} tables"
    print(f"time over {path.stem}: median {ratio.median():.3f}, at most {ratio.max():.3f} ({n_both})")
    columns = ["n_train", "n_classes", "cpu_s", "cpu_s_other", "log_loss", "log_loss_other"]
    print(both.assign(ratio=ratio).sort_values("ratio")[[*columns, "ratio"]].to_string())


if __name__ == "__main__":
    parser, runs, reports = commands(__doc__, RESULTS)
    runs.set_defaults(limit=300.0)
    runs.add_argument("--tables", type=listed, default=[], help="all if left out")
    reports.add_argument("--above", type=float, default=20.0, help="processor seconds")
    reports.add_argument("--over", help="the name of another model in the folder")
    reports.add_argument("--before", type=Path, help="the folder of an earlier version's results")
    reports.add_argument(
        "--changed", type=float, default=0.001, help="log losses that differ by more are listed"
    )
    perform(parser, ALL_TABLES, MODELS, lambda given: plan(given.tables), report)
