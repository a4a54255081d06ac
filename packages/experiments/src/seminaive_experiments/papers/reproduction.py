"""A published table, run again: our cells beside the paper's, and a count of what agrees.

A paper's module lists the tables that it can run in ``REPRODUCTIONS``; ``catalogue`` finds them. Tables
that no module runs yet are listed with the reason.
"""

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from seminaive.errors import InputError
from seminaive.evaluate.jobs import check_jobs
from seminaive_experiments.datasets import DATA_FOLDER, real_table_names
from seminaive_experiments.papers import check_published, check_runnable, published_names

__all__ = [
    "QUICK_ROWS",
    "Comparison",
    "NotReproduced",
    "Reproduction",
    "RunOptions",
    "Tolerance",
    "catalogue",
    "check_run",
    "companions",
    "compare_with_paper",
    "declared",
    "published_names",
    "published_table",
    "reproduce",
    "runnable",
]

# Columns of a published table that describe the print and do not identify a cell.
_NOT_KEYS = frozenset({"value", "win", "draw", "loss", "p_value", "se", "sd"}) | {
    "status",
    "raw",
    "note",
    "damaged_part",
}
# What our cells may say of errors besides their own.
_OF_ERRORS = ("n", "paper_n", "draw_deviation")
_STANDARD_ERRORS_THAT_AGREE = 3.0
QUICK_ROWS = 1000


@dataclass(frozen=True)
class RunOptions:
    """How to run a table.

    Attributes
    ----------
    repetitions : int
        Repetitions of the paper's protocol.
    path : Path or None
        Results file that finished work is appended to and that a run continues.
    n_jobs : int
        Processes.
    random_state : int
        Seed of everything.
    progress : bool
        Show a bar on a terminal.
    quick : bool
        Leave out data sets of more than ``QUICK_ROWS`` rows, and whatever else a table finds too long for
        a first look.
    max_rows : int or None
        Leave out data sets of more rows than this; it goes before the limit of ``quick``.
    folder : Path or None
        The user's copy of files that the package cannot carry.
    """

    repetitions: int
    path: Path | None = None
    n_jobs: int = 1
    random_state: int = 0
    progress: bool = True
    quick: bool = False
    max_rows: int | None = None
    folder: Path | None = None

    def __post_init__(self) -> None:
        if self.max_rows is not None and self.max_rows < 1:
            raise InputError(f"expected data sets of a row or more, got max_rows={self.max_rows}.")
        if self.repetitions < 1:
            raise InputError(f"expected a repetition or more, got {self.repetitions}.")
        if self.random_state < 0:
            raise InputError(f"the seed must be 0 or a positive integer, got {self.random_state}.")
        check_jobs(self.n_jobs)

    def takes(self, n_rows: int) -> bool:
        """Whether a data set with this number of rows is run."""
        quick_rows = QUICK_ROWS if self.quick else None
        most = quick_rows if self.max_rows is None else self.max_rows
        return most is None or n_rows <= most


@dataclass(frozen=True)
class Tolerance:
    """A difference that still counts as agreement: ``absolute + relative * |paper|``."""

    absolute: float = 0.0
    relative: float = 0.0


@dataclass(frozen=True)
class Reproduction:
    """A table that can be run.

    Attributes
    ----------
    name : str
        The published table's file name without its ending, for example ``nbrlr-table1``.
    title : str
        What the table shows, in a line.
    needs : str
        ``simulation``, ``bundled tables``, ``real tables`` (in ``SEMINAIVE_DATA``), ``StarPlus files`` (in
        the run's folder) or ``nothing``.
    minutes : float
        Rough time of the full run on one core.
    repetitions, quick_repetitions, least_repetitions : int
        Repetitions of the paper's protocol, of a quick look, and without which there is no result.
    run : callable
        Gives our cells for ``RunOptions``: the published table's key columns, ``ours``, the standard
        error ``se`` where there is one, ``cell`` where the table has several values per row, and
        ``paper_se`` where the print has no error of its value and it can be told from our repetitions. The
        frame's ``attrs`` may tell more: ``notes``, a list of what happened in the run, and ``data_sets``,
        records of the losses on single data sets that the cells sum up.
    values : tuple of str
        The published columns that are compared.
    tolerances : mapping of str to Tolerance
        By the row's ``metric`` or else by the compared column. A cell without one agrees within three
        standard errors of the difference. Half of the last printed digit is granted on top.
    remarks : tuple of str
        What does not reproduce, and why.
    printed_deviations_over : int or None
        The number of repetitions that the printed standard deviations are taken over: where the table has no
        standard errors, they follow from it.
    shared_run : str or None
        Name of the work that the table rests on, where other tables rest on it too: they keep it in one
        file, and what one of them has run the others need not run again.
    """

    name: str
    title: str
    needs: str
    minutes: float
    repetitions: int
    run: Callable[[RunOptions], pd.DataFrame]
    quick_repetitions: int = 5
    least_repetitions: int = 1
    values: tuple[str, ...] = ("value",)
    tolerances: Mapping[str, Tolerance] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    printed_deviations_over: int | None = None
    shared_run: str | None = None

    @property
    def run_file(self) -> str:
        """Name of the file of finished work."""
        return f"{self.shared_run or self.name}.jsonl"


@dataclass(frozen=True)
class NotReproduced:
    """A published table that is not run, and the reason."""

    name: str
    title: str
    reason: str


@dataclass(frozen=True, eq=False)
class Comparison:
    """Our cells beside the paper's.

    Attributes
    ----------
    cells : DataFrame
        The key columns, ``cell``, ``paper``, ``paper_se`` (as printed, or from our repetitions), ``ours``,
        ``se``, ``difference``, ``standard_errors`` (of the difference; NaN where there is none), ``agrees``.
    n_damaged : int
        Cells left out because the printed value is damaged or not applicable.
    n_without_ours : int
        Cells of the paper that we do not have, for want of a data set or of a model.
    notes : tuple of str
        What happened in this run: models that failed, data sets that were left out.
    data_sets : DataFrame
        The losses on single data sets that the cells sum up; empty where there are none.
    """

    cells: pd.DataFrame
    n_damaged: int
    n_without_ours: int
    notes: tuple[str, ...] = ()
    data_sets: pd.DataFrame = field(default_factory=pd.DataFrame)

    @property
    def n_agree(self) -> int:
        """How many cells agree."""
        return int(self.cells["agrees"].sum())

    def __str__(self) -> str:
        left_out = [
            f"{count} {kind}"
            for count, kind in (
                (self.n_damaged, "damaged or inapplicable"),
                (self.n_without_ours, "without a counterpart here"),
            )
            if count
        ]
        listed = f"; left out: {', '.join(left_out)}" if left_out else ""
        return f"{self.n_agree} of {len(self.cells)} cells agree{listed}"


def published_table(name: str) -> pd.DataFrame:
    """Read a published table as transcribed, every cell as text."""
    check_published(name)
    source = resources.files("seminaive_experiments.papers") / "published" / f"{name}.csv"
    with source.open(encoding="utf-8") as file:
        return pd.read_csv(file, keep_default_na=False, dtype=str)


def declared(attribute: str) -> list[Any]:
    """Gather what the papers' modules list under a name, such as ``REPRODUCTIONS``."""
    import seminaive_experiments.papers

    modules = [
        importlib.import_module(f"seminaive_experiments.papers.{module.name}")
        for module in pkgutil.iter_modules(seminaive_experiments.papers.__path__)
    ]
    return [entry for module in modules for entry in getattr(module, attribute, ())]


def catalogue() -> dict[str, Reproduction | NotReproduced]:
    """Every published table: how to run it, or why it is not run."""
    from seminaive_experiments.papers.not_reproduced import REASONS

    found: dict[str, Reproduction | NotReproduced] = {
        reproduction.name: reproduction for reproduction in declared("REPRODUCTIONS")
    }
    for name, (title, reason) in REASONS.items():
        found.setdefault(name, NotReproduced(name, title, reason))
    return {name: found[name] for name in published_names()}


def runnable(name: str) -> Reproduction:
    """Find a table that can be run; say why where it cannot."""
    check_runnable(name)
    found: Reproduction = next(table for table in declared("REPRODUCTIONS") if table.name == name)
    return found


def companions(table: Reproduction) -> list[str]:
    """Name the other tables that rest on the same run."""
    return [
        name
        for name, other in catalogue().items()
        if isinstance(other, Reproduction) and name != table.name and other.run_file == table.run_file
    ]


def check_run(table: Reproduction, options: RunOptions) -> None:
    """Refuse, before any work, options that the table cannot use, or a table whose data sets are not here."""
    from seminaive_experiments.papers.real_tables import PAPER_NAMES

    if options.repetitions < table.least_repetitions:
        raise InputError(
            f"{table.name} needs {table.least_repetitions} repetitions or more, got {options.repetitions}."
        )

    if options.max_rows is not None and table.needs != "real tables":
        raise InputError(f"{table.name} has no data sets to leave out: drop the limit on their rows.")
    if table.needs == "real tables" and not set(PAPER_NAMES.values()) & set(real_table_names()):
        raise InputError(
            f"{table.name} needs real tables that the package does not carry: set {DATA_FOLDER} to the "
            "folder that holds them with their SCHEMA.json."
        )


def reproduce(name: str, options: RunOptions) -> Comparison:
    """Run a published table again and compare cell by cell."""
    table = runnable(name)
    check_run(table, options)
    return compare_with_paper(table, table.run(options))


def compare_with_paper(reproduction: Reproduction, ours: pd.DataFrame) -> Comparison:
    """Set our cells beside the paper's, leaving damaged and inapplicable ones out.

    Parameters
    ----------
    reproduction : Reproduction
    ours : DataFrame
        The key columns and ``ours``. Optional: ``se``; ``paper_se``, where none is printed;
        ``draw_deviation``, by which a single draw of missing cells moves the printed value; and for means of
        whole numbers ``n`` and ``paper_n``, over how many of them the two means are.
    """
    notes, data_sets = tuple(ours.attrs.get("notes", ())), pd.DataFrame(ours.attrs.get("data_sets", []))
    published = published_table(reproduction.name)
    keys = [str(name) for name in published if name not in _NOT_KEYS | set(reproduction.values)]
    missing = [name for name in keys if name not in ours]
    if missing:
        raise InputError(f"{reproduction.name}: our cells lack the columns {', '.join(missing)}.")
    undamaged = published["status"] == "ok"
    if "damaged_part" in published:
        undamaged |= (published["status"] == "damaged") & (published["damaged_part"] == "p_value")
    if reproduction.printed_deviations_over is not None:
        deviation = pd.to_numeric(published["sd"], errors="coerce")
        published = published.assign(se=deviation / reproduction.printed_deviations_over**0.5)
    paper = _long(published[undamaged], keys, reproduction.values)
    ours = _canonical_keys(ours, keys).assign(
        cell=ours["cell"] if "cell" in ours else reproduction.values[0],
        se=ours["se"].astype(float) if "se" in ours else np.nan,
        inferred_se=ours["paper_se"].astype(float) if "paper_se" in ours else np.nan,
        **{name: ours[name].astype(float) if name in ours else np.nan for name in _OF_ERRORS},
    )
    columns = [*keys, "cell", "ours", "se", "inferred_se", *_OF_ERRORS]
    cells = _whole_errors(paper.merge(ours[columns], on=[*keys, "cell"], how="inner", sort=False))
    cells["difference"] = cells["ours"] - cells["paper"]
    error = (cells["se"].fillna(0) ** 2 + cells["paper_se"].fillna(0) ** 2) ** 0.5
    cells["standard_errors"] = (cells["difference"] / error.where(error > 0)).astype(float)
    metric = cells["metric"] if "metric" in cells else cells["cell"]
    allowed = [
        _allowed(reproduction.tolerances.get(name), abs(value), deviation)
        for name, value, deviation in zip(metric, cells["paper"], error, strict=True)
    ]
    cells["agrees"] = cells["difference"].abs() <= np.array(allowed) + cells["half_digit"] + 1e-12
    return Comparison(
        cells.drop(columns="half_digit"),
        n_damaged=int((~undamaged).sum()) * len(reproduction.values),
        n_without_ours=len(paper) - len(cells),
        notes=notes,
        data_sets=data_sets,
    )


def _whole_errors(cells: pd.DataFrame) -> pd.DataFrame:
    """Complete the standard errors by what the print itself tells of them.

    A whole number whose mean is 3.14 deviates by sqrt(0.14 * 0.86) at least.
    """
    cells["paper_se"] = cells["paper_se"].fillna(cells.pop("inferred_se"))
    part = cells["paper"] % 1
    least = (part * (1 - part)) ** 0.5
    for error, n in (("se", "n"), ("paper_se", "paper_n")):
        cells[error] = cells[error].clip(lower=(least / cells.pop(n) ** 0.5).fillna(0))
    drawn = cells.pop("draw_deviation").fillna(0)
    both = (cells["paper_se"].fillna(0) ** 2 + drawn**2) ** 0.5
    cells["paper_se"] = both.where(drawn > 0, cells["paper_se"])
    return cells


def _allowed(tolerance: Tolerance | None, paper: float, standard_error: float) -> float:
    if tolerance is None:
        return _STANDARD_ERRORS_THAT_AGREE * standard_error
    return tolerance.absolute + tolerance.relative * paper


def _long(published: pd.DataFrame, keys: list[str], values: tuple[str, ...]) -> pd.DataFrame:
    """One row per compared value, with half of its last printed digit."""
    frames = []
    for value in values:
        printed = published[value]
        number = pd.to_numeric(printed, errors="coerce")
        error = pd.to_numeric(published["se"], errors="coerce") if "se" in published else np.nan
        frame = published[keys].assign(cell=value, paper=number, paper_se=error)
        frame["half_digit"] = [
            0.5 * 10.0 ** -len(text.partition(".")[2]) if "." in text else 0.0 for text in printed
        ]
        frames.append(frame[number.notna()])
    return _canonical_keys(pd.concat(frames, ignore_index=True), keys)


def _canonical_keys(frame: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Write keys the same way whether they came as text or as numbers: 0.10 and 0.1 are one cell."""
    return frame.assign(**{key: [_canonical(value) for value in frame[key]] for key in keys})


def _canonical(value: object) -> str:
    try:
        return f"{float(str(value)):g}"
    except ValueError:
        return str(value)
