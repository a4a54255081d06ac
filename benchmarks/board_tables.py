"""The tables of the board, how they are split, and which folds are asked for."""

import functools
import json
import os
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.model_selection import RepeatedStratifiedKFold, StratifiedShuffleSplit, train_test_split

DATA = Path(os.environ.get("SEMINAIVE_DATA", "datasets"))
PEERS = Path(__file__).parent / "results" / "board" / "peers.csv.gz"
ROLES = Path(__file__).parent / "table_roles.csv"
SETTINGS = ("full", "n300", "n100")
FOLD = ["table", "setting", "repeat", "fold"]
BOARD_SAMPLES = {"adult": 10000, "magic": 10000}
MOST_ROWS = 20_000
FEWEST_OF_A_CLASS = 5
# Tables that hold rows of another one: of htru2, of bank-marketing-small, and of three tables of the board.
REPEATED = {
    "pulsar-kaggle-stars",
    "pulsar-kaggle-train",
    "bank-marketing-additional",
    "bank-marketing-full",
    "australian-credit",
    "heart-cleveland",
    "vertebral-column-3c",
}
# Other tables: training sets of 100 and of 300 rows, tested on at most 5,000 rows, and of the five folds of
# all rows two below a number of rows, then one.
SMALL_REPEATS = 2
MOST_TEST_ROWS = 5000
FEWEST_TEST_ROWS = 100
TWO_FOLDS_BELOW = 1000


@functools.cache
def tables_of(role):
    """Return the tables on which choices were made (`board`, `chosen`), or not (`not chosen`)."""
    roles = pd.read_csv(ROLES, comment="#")
    return frozenset(roles.table[roles.role == role])


def board_tables():
    return tables_of("board")


def peer_results():
    """Return the folds of classifiers that were run on the 20 tables once."""
    return pd.read_csv(PEERS, comment="#")


def board_plan():
    """Return the folds of the 20 tables on which EBM was run, a frame."""
    peers = peer_results()
    return peers[peers.model == "EBM"][FOLD]


def others_plan():
    """Return the folds of all other tables, a frame, by increasing cells of the table times classes."""
    manifest = pd.read_csv(DATA / "MANIFEST.tsv", sep="\t")
    others = manifest[~manifest.name.isin(board_tables() | REPEATED)]
    folds = []
    for table, rows in zip(others.name, others.rows, strict=True):
        for size in (100, 300):
            if rows >= size + FEWEST_TEST_ROWS:
                folds += [(table, f"n{size}", repeat, 0) for repeat in range(SMALL_REPEATS)]
        if rows <= MOST_ROWS:
            folds += [(table, "full", 0, fold) for fold in range(2 if rows < TWO_FOLDS_BELOW else 1)]
    plan = pd.DataFrame(folds, columns=FOLD)
    cells = plan.table.map((others.features * others.classes).set_axis(others.name))
    rows = plan.table.map(others.set_index("name").rows).where(plan.setting == "full", 1)
    return plan.loc[(cells * rows).sort_values(kind="stable").index]


@functools.lru_cache(maxsize=1)
def load(table):
    """Return a table and its classes as `read_table` does, of a large table stratified rows."""
    return read_table(table, BOARD_SAMPLES.get(table, MOST_ROWS))


def read_table(table, most_rows):
    """Return the columns of a table as a frame, and the classes that have at least five rows, as numbers.

    A number to predict, in diabetes-sklearn, is replaced by whether it is above its median. Of more than
    ``most_rows`` rows that number is drawn, stratified; None keeps all.
    """
    rows = pd.read_csv(DATA / f"{table}.csv.gz", keep_default_na=False, na_values=[""], low_memory=False)
    kinds = json.loads((DATA / "SCHEMA.json").read_text())[table]
    if table == "diabetes-sklearn":
        rows["class"] = rows["class"] > rows["class"].median()
    labels = rows["class"].astype(str).to_numpy()
    kept = frequent(labels, np.arange(len(labels)), FEWEST_OF_A_CLASS)
    if most_rows is not None and most_rows < len(kept):
        sampled = train_test_split(kept, train_size=most_rows, stratify=labels[kept], random_state=0)[0]
        kept = frequent(labels, np.sort(sampled), FEWEST_OF_A_CLASS)
    rows = rows.iloc[kept].reset_index(drop=True)
    columns = {}
    for number, column in enumerate(rows.columns[:-1]):
        cells = rows[column]
        if kinds[column] == "numeric":
            columns[f"f{number}"] = pd.to_numeric(cells).astype(float)
        else:
            columns[f"f{number}"] = cells.astype(object).map(str).where(cells.notna(), None)
    return pd.DataFrame(columns), np.unique(labels[kept], return_inverse=True)[1]


def frequent(labels, rows, fewest):
    """Return those of the rows whose class has at least a number of them."""
    found = pd.Series(labels[rows])
    return rows[found.map(found.value_counts()).to_numpy() >= fewest]


def split(table, setting, repeat, fold):
    """Return the table, its classes, and the training and test rows of one fold."""
    X, y = load(table)
    if setting == "full" or table not in board_tables():
        return X, y, *other_rows(y, setting, repeat, fold)
    return X, y, *drawn_rows(y, np.arange(len(y)), int(setting[1:]), repeat, len(y))


def other_rows(y, setting, repeat, fold):
    """Return the training and test rows of one fold of a table that is not of the 20."""
    if setting == "full":
        plan = RepeatedStratifiedKFold(n_splits=5, n_repeats=3, random_state=0)
        return list(plan.split(np.zeros(len(y)), y))[5 * repeat + fold]
    size = int(setting[1:])
    # At least two training rows of a class, so that cross-validation inside a model trains on each class.
    return drawn_rows(y, frequent(y, np.arange(len(y)), 2 * len(y) / size), size, repeat, MOST_TEST_ROWS)


def drawn_rows(y, kept, size, repeat, most_test_rows):
    """Return training rows drawn from those kept, stratified, and at most so many of the others to test."""
    plan = StratifiedShuffleSplit(
        n_splits=10, train_size=size, random_state=0, test_size=min(len(kept) - size, most_test_rows)
    )
    train, test = list(plan.split(np.zeros(len(kept)), y[kept]))[repeat]
    return kept[train], kept[test]
