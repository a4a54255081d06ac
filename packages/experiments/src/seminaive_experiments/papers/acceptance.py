"""A bar over several published tables: how many of the judged cells agree, and which do not.

The cells come from kept results, the files that ``seminaive reproduce`` writes. A paper's module lists its
bars in ``BARS``.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from seminaive.errors import InputError
from seminaive_experiments.papers.reproduction import declared

__all__ = ["Acceptance", "Bar", "bar_named", "gather"]


@dataclass(frozen=True)
class Bar:
    """What a reproduction of several tables has to reach.

    Attributes
    ----------
    name : str
        How the command line calls it.
    tables : tuple of str
        The published tables that count.
    share : float
        Part of the judged cells that has to agree.
    words : tuple of str
        Which cells are judged and when they agree, in sentences.
    judged : callable
        Tells of every row of a comparison's cells whether it counts.
    """

    name: str
    tables: tuple[str, ...]
    share: float
    words: tuple[str, ...]
    judged: Callable[[pd.DataFrame], "pd.Series[bool]"]


@dataclass(frozen=True, eq=False)
class Acceptance:
    """The judged cells of a bar's tables.

    Attributes
    ----------
    bar : Bar
    cells : DataFrame
        The cells of the kept results that count, with ``table`` in front.
    sources : tuple of str
        The heads of the kept results: the command and the date and versions of each table.
    """

    bar: Bar
    cells: pd.DataFrame
    sources: tuple[str, ...]

    @property
    def misses(self) -> pd.DataFrame:
        """The cells that do not agree."""
        return self.cells[~self.cells["agrees"]]

    @property
    def met(self) -> bool:
        """Whether enough cells agree."""
        return bool(self.cells["agrees"].mean() >= self.bar.share)

    def __str__(self) -> str:
        agree, judged = int(self.cells["agrees"].sum()), len(self.cells)
        verdict = f"the bar of {self.bar.share:.0%} is {'met' if self.met else 'missed'}"
        return f"{agree} of {judged} cells agree, {agree / judged:.1%}: {verdict}"


def bar_named(name: str) -> Bar:
    """Find a bar by its name."""
    bars: dict[str, Bar] = {bar.name: bar for bar in declared("BARS")}
    if name not in bars:
        raise InputError(f"there is no bar {name!r}: it is one of {', '.join(bars)}")
    return bars[name]


def gather(bar: Bar, folder: Path) -> Acceptance:
    """Read the kept results of a bar's tables and take the cells that count."""
    frames, sources = [], []
    for table in bar.tables:
        path = folder / f"{table}.csv"
        if not path.is_file():
            raise InputError(
                f"{folder} has no result of {table}: run seminaive reproduce {table} --out {folder} first."
            )
        heads = [line[2:] for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("# ")]
        sources.append("; ".join(heads[:2]))
        cells = pd.read_csv(path, comment="#")
        frames.append(cells[bar.judged(cells)].assign(table=table))
    # A column that one table lacks, such as the setting, keeps its whole numbers.
    found = pd.concat(frames, ignore_index=True).convert_dtypes()
    if found.empty:
        raise InputError(f"no cell of {', '.join(bar.tables)} in {folder} counts for the bar {bar.name!r}.")
    return Acceptance(bar, found[["table", *found.columns.drop("table")]], tuple(sources))
