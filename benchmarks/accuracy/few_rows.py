"""Which model of ours beats cross-validated logistic regression on few rows? One line per sample, resumable.

    python benchmarks/accuracy/few_rows.py run logistic-cv [--sizes 50,100,200] [--samples 3] [--minutes 30]
    python benchmarks/accuracy/few_rows.py run semi-naive [--tables car,adult] [--limit 60] [--results DIR]
    python benchmarks/accuracy/few_rows.py report [semi-naive,nbrlr-cv] [--results DIR] [--before DIR]

From every table with at least 150 rows more than the sample, stratified samples are drawn for training.
Classes with fewer than five sampled rows are dropped for all models, from the sample and from the rest; a
sample with fewer than two classes left has the status `TooFewClassesError` and is in no report. The remaining
rows judge, at most 5,000 of them, drawn by the number of the sample; of a table with more than 20,000 rows,
stratified 20,000 take part. The tables and SCHEMA.json lie in the folder that SEMINAIVE_DATA names.

`run` appends to DIR/NAME.csv (results/few_rows by default) and goes on where it stopped. A sample that takes
more than `--limit` processor seconds is ended and counts as lost, as does one that fails. `report` prints,
for each size and for all, on how many tables a model has a smaller log loss than the rival `logistic-cv` (the
mean of the samples that both have), mean losses, and where it is most behind. The rival's results are read
from results/few_rows where DIR has none; `--before` compares with the same models in another folder.
"""

import sys
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

sys.path.insert(0, str(Path(__file__).parent.parent))
from accuracy.few_rows_report import report
from board_tables import DATA, FEWEST_OF_A_CLASS, MOST_TEST_ROWS, frequent, load, tables_of
from contenders import MODELS
from study import Study, listed
from study_commands import commands, perform

RESULTS = Path(__file__).parent.parent / "results" / "few_rows"
FEWEST_ROWS_LEFT = 150


class TooFewClassesError(ValueError):
    """Fewer than two classes have five rows in a sample."""


def split(table, size, sample):
    """Return a table, its classes, the training rows of one sample, and the rows that judge it."""
    X, y = load(table)
    train, rest = train_test_split(np.arange(len(y)), train_size=size, stratify=y, random_state=sample)
    train = frequent(y, train, FEWEST_OF_A_CLASS)
    classes = np.unique(y[train])
    if len(classes) < 2:
        raise TooFewClassesError(f"{len(classes)} classes have {FEWEST_OF_A_CLASS} of {size} rows")
    judges = rest[np.isin(y[rest], classes)]
    if len(judges) > MOST_TEST_ROWS:
        judges = np.random.default_rng(sample).choice(judges, MOST_TEST_ROWS, replace=False)
    return X, y, train, judges


def measure(judged):
    return {
        "n_train": len(judged.y_train),
        "n_test": len(judged.y_test),
        "n_classes": len(np.unique(judged.y_train)),
        "log_loss": judged.log_loss(),
        "auc": judged.auc(),
        "error": judged.error(),
        "shares_log_loss": judged.shares_log_loss(),
    }


FEW_ROWS = Study(
    ("table", "size", "sample"),
    split,
    measure,
    ("n_train", "n_test", "n_classes", "log_loss", "auc", "error", "shares_log_loss"),
)


def plan(sizes, n_samples, tables):
    """Return table, size and sample of each trial: size by size, small tables first."""
    manifest = pd.read_csv(DATA / "MANIFEST.tsv", sep="\t")
    if tables:
        manifest = manifest[manifest.name.isin(tables)]
    cells = (manifest.features * manifest.classes).to_numpy()
    manifest = manifest.iloc[np.argsort(cells, kind="stable")]
    return [
        (table, size, sample)
        for size in sizes
        for table in manifest.name[manifest.rows >= size + FEWEST_ROWS_LEFT]
        for sample in range(n_samples)
    ]


def chosen(options):
    """Return the tables that are named, or those of a role; none stands for all."""
    return options.tables or sorted(tables_of(options.role) if options.role else [])


if __name__ == "__main__":
    parser, runs, reports = commands(__doc__, RESULTS)
    runs.add_argument("--samples", type=int, default=3)
    reports.add_argument("--before", type=Path, help="the folder of an earlier version's results")
    for command in (runs, reports):
        command.add_argument("--sizes", type=partial(listed, kind=int), default="50,100,200")
        command.add_argument("--tables", type=listed, default=[], help="all if left out")
        command.add_argument("--role", help="take the tables of this role, by table_roles.csv")
    perform(
        parser,
        FEW_ROWS,
        MODELS,
        lambda given: plan(given.sizes, given.samples, chosen(given)),
        lambda given: report(given.models, given.results, RESULTS, given.before, given.sizes, chosen(given)),
    )
