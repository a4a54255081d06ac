"""Tables for strangers: by OpenML number, or the files of a folder, written alike for every classifier."""

import functools
import os
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from board_tables import FEWEST_OF_A_CLASS, MOST_ROWS, frequent
from sklearn.model_selection import train_test_split

from seminaive.files import CSV, PARQUET
from seminaive_experiments import load_dataset
from seminaive_experiments.datasets import DATA_FOLDER, real_table_names

LISTED = Path(__file__).parent / "openml_tables.csv"
TARGET = "class"


@dataclass(frozen=True)
class Table:
    """A table by its name in results, and what `load_dataset` takes.

    Attributes
    ----------
    name : str
    source : str
        `openml:NUMBER`, the path of a file, or a name of the folder that SEMINAIVE_DATA names.
    target : str or None
        The column of the classes; None takes the one that OpenML names.
    choices : bool
        Whether a constant of a model may have been chosen on it; True where that is not known.
    """

    name: str
    source: str
    target: str | None = None
    choices: bool = True


def listed_tables(suite):
    """Return the tables of a suite of openml_tables.csv, in the order of the list."""
    rows = _rows(suite).itertuples(index=False)
    return [Table(row.name, f"openml:{row.number}", choices=row.choices == "yes") for row in rows]


def folder_tables(folder):
    """Return the CSV and Parquet files of a folder, each with its classes in the column `class`.

    A folder with a SCHEMA.json says by it which columns of digits are categories.
    """
    ends = (*CSV, *PARQUET)
    files = sorted(path for path in Path(folder).iterdir() if path.name.lower().endswith(ends))
    if not (folder / "SCHEMA.json").exists():
        return [Table(path.name.partition(".")[0], str(path), TARGET) for path in files]
    os.environ[DATA_FOLDER] = str(folder)
    return [Table(name, name) for name in real_table_names()]


def listed_files(suite, folder):
    """Return the tables of a suite that a folder holds, by the names of the suite."""
    names = _rows(suite).set_index("file")["name"]
    return [replace(table, name=names[table.name]) for table in folder_tables(folder) if table.name in names]


def _rows(suite):
    listed = pd.read_csv(LISTED)
    return listed[listed.suite == suite]


@functools.lru_cache(maxsize=1)
def load(table, most_rows=MOST_ROWS):
    """Return the columns of a table, numbers or text, and the classes with at least five rows as numbers.

    Of more than ``most_rows`` rows so many are drawn, stratified; None keeps all. Columns have neutral names:
    some libraries refuse names with brackets.
    """
    found = load_dataset(table.source, target=table.target)
    labels = found.y.astype(str)
    kept = frequent(labels, np.arange(len(labels)), FEWEST_OF_A_CLASS)
    if most_rows is not None and len(kept) > most_rows:
        drawn = train_test_split(kept, train_size=most_rows, stratify=labels[kept], random_state=0)[0]
        kept = frequent(labels, np.sort(drawn), FEWEST_OF_A_CLASS)
    rows = found.X.iloc[kept].reset_index(drop=True)
    columns = {f"f{number}": _plain(rows[name]) for number, name in enumerate(rows.columns)}
    return pd.DataFrame(columns), np.unique(labels[kept], return_inverse=True)[1]


def _plain(cells):
    """Return a column of numbers as floats, any other as text with None where a cell is missing."""
    if pd.api.types.is_numeric_dtype(cells) and not pd.api.types.is_bool_dtype(cells):
        return cells.astype(float)
    return cells.astype(object).map(str).where(cells.notna(), None)
