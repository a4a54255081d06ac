"""Tables by name: bundled, simulated, from a folder, from a file, or from OpenML.

``load_dataset`` looks for a name in this order: a CSV or Parquet file of that path; ``openml:NAME`` or
``openml:NUMBER``; a registered table (scikit-learn's bundled ones, the generators of ``papers``); a
table ``NAME.csv.gz`` in the folder that the environment variable ``SEMINAIVE_DATA`` names.
"""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from seminaive import encode
from seminaive.arrays import Floats, Integers
from seminaive.delimited import TextFormat
from seminaive.errors import InputError, TableTypeError
from seminaive.files import CSV, PARQUET

DATA_FOLDER = "SEMINAIVE_DATA"
"""The environment variable that names a folder of ``NAME.csv.gz`` files with a ``SCHEMA.json``."""

_SUFFIXES = CSV + PARQUET
# The description of the folder calls this column a survey weight and not a predictor.
_NOT_PREDICTORS = {"census-income-kdd-test": ["instance_weight"]}


@dataclass(frozen=True, eq=False)
class Dataset:
    """A named table with its labels.

    Attributes
    ----------
    name : str
        How results refer to it.
    X : DataFrame
        The features; strings and categories are categorical, numbers numeric.
    y : ndarray of shape (n_rows,)
        The labels; a Series or a list becomes an array, row by row.
    test_rows : ndarray of int or None
        Positions of the rows that the table's authors set aside for testing.
    weight : ndarray of shape (n_rows,) or None
        How much each row counts, in fits and in losses; None counts all the same.
    """

    name: str
    X: pd.DataFrame
    y: npt.NDArray[Any]
    test_rows: Integers | None = None
    weight: Floats | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.X, pd.DataFrame):
            raise TableTypeError(
                f"{self.name}: expected a pandas DataFrame, got {type(self.X).__name__}. Convert it with "
                "pandas.DataFrame(X) or X.to_pandas()."
            )
        # A Series would be indexed by its labels; rows are taken by position.
        y = np.asarray(self.y)
        if y.ndim != 1:
            raise InputError(f"{self.name}: expected one label per row, got an array of shape {y.shape}.")
        if len(self.X) != len(y):
            raise InputError(f"{self.name}: {len(self.X)} rows but {len(y)} labels.")
        missing = int(pd.isna(y).sum())
        if missing:
            raise InputError(f"{self.name}: {missing} rows have no label. Remove them or fill the labels in.")
        object.__setattr__(self, "y", y)
        if self.weight is not None:
            object.__setattr__(self, "weight", self._checked_weight(self.weight))

    def _checked_weight(self, weight: Any) -> Floats:
        numbers = pd.to_numeric(pd.Series(np.asarray(weight)), errors="coerce").to_numpy(dtype=np.float64)
        if numbers.shape != self.y.shape or not (np.isfinite(numbers) & (numbers >= 0)).all():
            raise InputError(
                f"{self.name}: row weights are one number for each of the {len(self.y)} rows, finite and not "
                "below 0. Fill missing ones in, or remove their rows."
            )
        return numbers


@dataclass(frozen=True)
class _Registered:
    load: Callable[[], Dataset]
    description: str


_REGISTRY: dict[str, _Registered] = {}


def register_dataset(name: str, load: Callable[[], Dataset], description: str) -> None:
    """Make a table available by name; ``load`` is called each time somebody asks for it.

    Parameters
    ----------
    name : str
        Lower case with hyphens; a name that is taken is refused.
    load : callable
        Returns the ``Dataset``.
    description : str
        One line for the list of tables.
    """
    if name in _REGISTRY:
        raise InputError(f"a table named {name!r} is registered already: choose another name.")
    _REGISTRY[name] = _Registered(load, description)


def _bundled(name: str, loader_name: str) -> Callable[[], Dataset]:
    def load() -> Dataset:
        import sklearn.datasets

        bunch = getattr(sklearn.datasets, loader_name)(as_frame=True)
        return Dataset(name, bunch.data, np.asarray(bunch.target_names).astype(str)[bunch.target.to_numpy()])

    return load


for _name, _loader, _description in (
    ("iris", "load_iris", "150 flowers, 4 numbers, 3 species (scikit-learn)"),
    ("wine", "load_wine", "178 wines, 13 numbers, 3 growers (scikit-learn)"),
    ("breast-cancer", "load_breast_cancer", "569 tumours, 30 numbers, 2 diagnoses (scikit-learn)"),
    ("digits", "load_digits", "1797 images, 64 numbers, 10 digits (scikit-learn)"),
):
    register_dataset(_name, _bundled(_name, _loader), _description)


def available_datasets() -> pd.DataFrame:
    """All names that ``load_dataset`` knows without a path or a network, with a line on each."""
    rows = [(name, entry.description) for name, entry in _REGISTRY.items()]
    rows += [(name, f"real table from {DATA_FOLDER}") for name in real_table_names()]
    return pd.DataFrame(rows, columns=["name", "description"]).drop_duplicates("name", ignore_index=True)


def load_dataset(name: str, *, target: str | None = None, text_format: TextFormat | None = None) -> Dataset:
    """Find a table by name, path or OpenML number.

    Parameters
    ----------
    name : str
        ``"iris"``, ``"tables/credit.csv"``, ``"openml:31"``, ``"openml:credit-g"``.
    target : str, optional
        The column that holds the class; needed for files, and for OpenML tables that name none.
    text_format : TextFormat, optional
        How CSV files are written, as far as that is known; the rest is read off the file.

    Examples
    --------
    >>> load_dataset("iris").X.shape
    (150, 4)
    """
    if _is_file(name):
        return read_table(name, target=target, text_format=text_format)
    if name.startswith("openml:"):
        return _from_openml(name.removeprefix("openml:"), target)
    if target is not None and (name in _REGISTRY or name in real_table_names()):
        raise InputError(f"{name} has a class column already: leave the target {target!r} out.")
    if name in _REGISTRY:
        return _REGISTRY[name].load()
    if name in real_table_names():
        return real_table(name)
    where = (
        f"or in {os.environ[DATA_FOLDER]}" if os.environ.get(DATA_FOLDER) else f"({DATA_FOLDER} is not set)"
    )
    raise InputError(
        f"no table named {name!r} is known here {where}. Known without a folder: "
        f"{', '.join(sorted(_REGISTRY))}. Or pass a path that ends in .csv, .tsv or .parquet, or "
        "openml:NAME."
    )


def _is_file(name: str) -> bool:
    return name.lower().endswith(_SUFFIXES)


def takes_target(name: str) -> bool:
    """Whether ``load_dataset`` takes the name of the column that holds the class of this table."""
    return _is_file(name) or name.startswith("openml:")


def read_table(path: str | Path, *, target: str | None, text_format: TextFormat | None = None) -> Dataset:
    """Read a CSV or Parquet file whose column ``target`` holds the class.

    In a CSV an empty cell is a missing value, and nothing else is unless ``text_format`` says so: a column
    may hold the text ``NA``.
    """
    path = Path(path)
    table = encode.read_table(path, text_format=text_format)
    ending = max((s for s in _SUFFIXES if path.name.lower().endswith(s)), key=len, default="")
    return _from_frame(path.name[: len(path.name) - len(ending)], table, target)


def _from_frame(name: str, table: pd.DataFrame, target: str | None) -> Dataset:
    columns = ", ".join(map(str, table.columns[:20])) + (", ..." if table.shape[1] > 20 else "")
    if target is None:
        raise InputError(f"{name}: say which column holds the class. The columns are {columns}.")
    if target not in table.columns:
        raise InputError(f"{name}: there is no column {target!r}. The columns are {columns}.")
    if table.shape[1] < 2:
        raise InputError(f"{name}: only the target column is there; at least one feature is needed.")
    labels = table[target]
    if pd.api.types.is_float_dtype(labels) and not np.all(labels.dropna() == np.floor(labels.dropna())):
        raise InputError(
            f"{name}: column {target!r} holds fractions, so it is a number to be predicted and not a "
            "class. Name another column, or cut it into classes first."
        )
    return Dataset(name, table.drop(columns=target), _labels(name, labels))


def _labels(name: str, labels: pd.Series) -> npt.NDArray[Any]:
    """Integers and booleans stay, everything else becomes text; a missing one is refused."""
    missing = int(labels.isna().sum())
    if missing:
        raise InputError(
            f"{name}: {missing} rows have no value in {labels.name!r}. Remove them or fill them in."
        )
    if pd.api.types.is_integer_dtype(labels) or pd.api.types.is_bool_dtype(labels):
        return labels.to_numpy()
    return labels.astype(str).to_numpy().astype(str)


def _data_folder() -> Path | None:
    folder = os.environ.get(DATA_FOLDER)
    return Path(folder) if folder else None


def _schemas() -> dict[str, dict[str, str]]:
    folder = _data_folder()
    if folder is None or not (folder / "SCHEMA.json").is_file():
        return {}
    path = folder / "SCHEMA.json"
    try:
        schemas = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(f"{path} is not valid JSON: {error}. Mend it, or unset {DATA_FOLDER}.") from error
    if not isinstance(schemas, dict) or not all(isinstance(schema, dict) for schema in schemas.values()):
        raise InputError(
            f"{path} must hold an object that gives each table an object of column kinds. Mend it, or unset "
            f"{DATA_FOLDER}."
        )
    return schemas


def real_table_names() -> list[str]:
    """Names of the tables in the folder that ``SEMINAIVE_DATA`` names; empty where it is not set."""
    return sorted(_schemas())


def real_table(name: str) -> Dataset:
    """Read a table of the ``SEMINAIVE_DATA`` folder, with column types from the folder's schema file.

    Columns of digits that the schema calls categorical become categories.
    """
    folder, schemas = _data_folder(), _schemas()
    if folder is None:
        raise InputError(
            f"{name} is a real table that the package does not carry: set {DATA_FOLDER} to the folder "
            "that holds it."
        )
    if name not in schemas:
        raise InputError(f"{folder} has no table {name!r} in its SCHEMA.json.")
    schema = schemas[name]
    categorical = [column for column, kind in schema.items() if kind == "categorical"]
    path = folder / f"{name}.csv.gz"
    try:
        table = pd.read_csv(
            path,
            keep_default_na=False,
            na_values=[""],
            dtype=dict.fromkeys([*categorical, "class"], str),
        )
    except (ValueError, EOFError) as error:
        raise InputError(f"{path} cannot be read as a table: {error}") from error
    if "class" not in table:
        raise InputError(f"{path} has no column 'class', which a table of {DATA_FOLDER} needs.")
    dropped = _NOT_PREDICTORS.get(name, [])
    X = table.drop(columns=["class", *dropped])
    X = X.astype({column: "category" for column in categorical if column in X.columns})
    return Dataset(name, X, _labels(name, table["class"]))


def _from_openml(wanted: str, target: str | None) -> Dataset:
    from sklearn.datasets import fetch_openml

    number = {"data_id": int(wanted)} if wanted.isdigit() else {"name": wanted}
    try:
        bunch = fetch_openml(**number, as_frame=True, parser="auto", target_column=target or "default-target")
    except (OSError, ValueError) as error:
        raise InputError(
            f"OpenML's table {wanted!r} could not be fetched ({type(error).__name__}: {error}). Without "
            "a network, download the table elsewhere and pass the path of its CSV or Parquet file."
        ) from error
    if bunch.target is None or isinstance(bunch.target, pd.DataFrame):
        raise InputError(
            f"OpenML's table {wanted!r} names no single target: say which column holds the class."
        )
    frame = bunch.data.assign(**{str(bunch.target.name): bunch.target})
    return _from_frame(f"openml-{wanted}", frame, str(bunch.target.name))
