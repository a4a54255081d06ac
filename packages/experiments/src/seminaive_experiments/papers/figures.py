"""The papers' figures, drawn again: from kept results, or from a run.

A paper's module lists the figures that it can draw in ``FIGURES``. A figure is drawn from a table of numbers,
which the package carries where a run takes long, under comment lines that say how they came about.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Any

import pandas as pd

from seminaive.errors import InputError, MissingExtraError
from seminaive.pages import picture_address, write_page
from seminaive_experiments.papers.reproduction import declared

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from seminaive_experiments.papers.reproduction import RunOptions

__all__ = ["DrawnFigure", "PaperFigure", "draw_figure", "figure_named", "figures", "kept_numbers", "panels"]


@dataclass(frozen=True)
class PaperFigure:
    """A figure of a paper that can be drawn.

    Attributes
    ----------
    name : str
        The paper and the figure's number, for example ``nbrlr-figure1``.
    title : str
        What it shows, in a line.
    kept : str or None
        Name of the kept results that it is drawn from; None where the numbers take no time.
    draw : callable
        Makes a figure of matplotlib from the numbers.
    compute : callable or None
        Makes the numbers where nothing is kept.
    run : callable or None
        Makes the numbers anew by ``RunOptions``; None where only kept results are drawn.
    remarks : tuple of str
        How it differs from the printed one.
    """

    name: str
    title: str
    kept: str | None
    draw: Callable[[pd.DataFrame], Any]
    compute: Callable[[], pd.DataFrame] | None = None
    run: Callable[[RunOptions], pd.DataFrame] | None = None
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class DrawnFigure:
    """A figure with the numbers in it and where they come from.

    Attributes
    ----------
    figure : matplotlib Figure
    numbers : DataFrame
    source : tuple of str
        The command that made the numbers, date and versions.
    """

    described: PaperFigure
    figure: Any
    numbers: pd.DataFrame
    source: tuple[str, ...]

    def save(self, folder: Path, *, page: bool = False) -> list[Path]:
        """Write the picture as SVG and its numbers as CSV, or both as one HTML page; return the paths."""
        folder.mkdir(parents=True, exist_ok=True)
        name, title = self.described.name, self.described.title
        if page:
            return [
                write_page(
                    folder / f"{name}.html",
                    "seminaive_experiments.papers",
                    "figure_page",
                    title=f"{name}: {title}",
                    picture=picture_address(self.figure),
                    remarks=self.described.remarks,
                    source=self.source,
                    columns=list(self.numbers),
                    rows=self.numbers.round(4).astype(object).to_numpy().tolist(),
                )
            ]
        paths = [folder / f"{name}.svg", folder / f"{name}-numbers.csv"]
        self.figure.savefig(paths[0], metadata={"Date": None})
        head = "".join(f"# {line}\n" for line in self.source)
        paths[1].write_text(head + self.numbers.round(6).to_csv(index=False), encoding="utf-8")
        return paths


def figures() -> dict[str, PaperFigure]:
    """Return every figure that can be drawn, by its name."""
    return {figure.name: figure for figure in declared("FIGURES")}


def figure_named(name: str) -> PaperFigure:
    """Find a figure by its name."""
    found = figures()
    if name not in found:
        raise InputError(f"there is no figure {name!r} to draw: it is one of {', '.join(found)}")
    return found[name]


def kept_numbers(name: str) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Read kept results, and the lines that say how they came about."""
    path = resources.files("seminaive_experiments.papers") / "kept" / f"{name}.csv"
    with path.open(encoding="utf-8") as file:
        source = tuple(line[2:].rstrip("\n") for line in file if line.startswith("# "))
    with path.open(encoding="utf-8") as file:
        return pd.read_csv(file, comment="#"), source


def draw_figure(name: str, options: RunOptions | None = None) -> DrawnFigure:
    """Draw a figure from kept results, or from a run where there are options for one."""
    described = figure_named(name)
    numbers: pd.DataFrame
    source: tuple[str, ...]
    if options is not None:
        if described.run is None:
            raise InputError(f"{name} is drawn from kept results only: leave --repetitions out.")
        command = f"seminaive reproduce {name} --repetitions {options.repetitions}"
        numbers, source = described.run(options), (f"{command} --seed {options.random_state}",)
    elif described.compute is not None:
        numbers, source = described.compute(), (f"seminaive reproduce {name}",)
    else:
        numbers, source = kept_numbers(str(described.kept))
    return DrawnFigure(described, described.draw(numbers), numbers, source)


def panels(n_panels: int, width: float = 5.2, height: float = 3.6, *, columns: int = 2) -> tuple[Any, Any]:
    """Return a figure with panels in rows of two or as many as said, and the axes of those that are used."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise MissingExtraError("pictures need matplotlib: pip install 'seminaive[plot]'") from error
    columns = min(columns, n_panels)
    rows = -(-n_panels // columns)
    size = (width * columns, height * rows)
    figure, axes = plt.subplots(rows, columns, figsize=size, layout="constrained", squeeze=False)
    for ax in axes.ravel()[n_panels:]:
        ax.set_visible(False)
    return figure, axes.ravel()[:n_panels]
