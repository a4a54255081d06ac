"""Two scenes: with few rows a model in between is best, with many rows pairs of features are.

Each scene is one table, one sentence and one picture; both are written as a page, and the first model as a
calculator.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from seminaive import export, models
from seminaive.evaluate.progress import progress_bar
from seminaive_experiments import Experiment, ExperimentResults, RepeatedHoldout, Report, load_dataset
from seminaive_experiments.poker import poker_hands
from seminaive_experiments.rivals import RIVALS
from seminaive_experiments.summary import failure_lines, fit_seconds
from seminaive_experiments.terminal import NO_RESULT, plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seminaive_experiments import Dataset

PAGE, CALCULATOR = "seminaive-demo.html", "seminaive-calculator.html"
METRICS = ("log_loss", "accuracy")
# Characters of the longest bar.
BAR = 20
# Rows on which every model is fitted once before the scenes, so that they are compiled.
WARM_UP_ROWS = 60


@dataclass(frozen=True)
class Scene:
    """A table, how it is cut into training and test rows, and what it shows.

    Parameters
    ----------
    title, lesson : str
        What is printed above and below the results.
    models : dict
        Classifiers by name; those of scikit-learn say so.
    """

    title: str
    lesson: str
    dataset: Dataset
    plan: RepeatedHoldout
    models: dict[str, Any]

    def play(self) -> ExperimentResults:
        """Fit every model to the same random rows, and judge it on all others."""
        return Experiment(self.models, [self.dataset], self.plan, METRICS).run()


def few_rows() -> Scene:
    """Return a table of which few rows are known, where a model between the two ends is best."""
    return Scene(
        "Few rows: 30 wines to learn from, 13 numbers, 3 growers",
        "With 30 rows neither end is right: the probabilities of naive Bayes are too near to 0 and 1, and "
        "logistic regression has more weights than rows to learn them from. SemiNaive chooses by "
        "cross-validation how far to go from one to the other, and its mean log loss is the lowest.",
        load_dataset("wine"),
        RepeatedHoldout(1 - 30 / 178, 10, stratified=True),
        {
            "SemiNaive": models.SemiNaive(),
            "NaiveBayes": models.NaiveBayes(),
            "scikit-learn naive Bayes": RIVALS["sklearn-naive-bayes"](),
            "scikit-learn logistic regression": RIVALS["sklearn-logistic-regression"](),
            "scikit-learn random forest": RIVALS["sklearn-random-forest"](),
        },
    )


def many_rows() -> Scene:
    """Return a table of many rows where single features say nothing: the side of pairs."""
    return Scene(
        "Many rows: 20,000 poker hands to learn from, 10 categories, 10 classes",
        "A single card says nothing about a hand, so naive Bayes and logistic regression predict only how "
        "often each hand occurs. With many rows, weights for all pairs of features can be learned, and "
        "they tell most hands apart.",
        poker_hands(25_000),
        RepeatedHoldout(0.2, 1),
        {
            "SemiNaive": models.SemiNaive(),
            "HigherOrderLogisticRegression, pairs": models.HigherOrderLogisticRegression(order=2, ridge=0.1),
            "NaiveBayes": models.NaiveBayes(),
            # All columns are categories, so that scikit-learn's indicators can stay sparse.
            "scikit-learn logistic regression": make_pipeline(
                OneHotEncoder(handle_unknown="ignore"), LogisticRegression(max_iter=1000)
            ),
            "scikit-learn random forest": RIVALS["sklearn-random-forest"](),
        },
    )


def run_demo(scenes: Sequence[Scene], folder: Path = Path()) -> None:
    """Play scenes, print a table and a picture of each, and write a page and a calculator."""
    from rich.console import Console

    console = Console()
    console.print(
        f"{len(scenes)} scenes, about a minute. The first run on a machine compiles for half a minute more.\n"
    )
    _warm_up(scenes)
    played = []
    for scene in scenes:
        console.print(f"[bold]{scene.title}")
        results = scene.play()
        played.append(results)
        console.print(_picture(results.folds))
        for line in failure_lines(results.folds):
            console.print(line, markup=False)
        console.print(scene.lesson + "\n")
    notes = {scene.dataset.name: scene.lesson for scene in scenes}
    Report(_together(played), "seminaive: the demo", notes).write_html(folder / PAGE)
    _write_calculator(scenes[0], folder / CALCULATOR)
    endings = {
        "The same with all measures, curves and tests": folder / PAGE,
        "The first model as a page that calculates": folder / CALCULATOR,
        "To fit a table of yours": "seminaive fit TABLE.csv --target COLUMN --out MODEL",
        "To compile the other models beforehand": "seminaive warm-up --models all",
    }
    for what, where in endings.items():
        console.print(f"{what + ':':<46}{where}", soft_wrap=True)


def _warm_up(scenes: Sequence[Scene]) -> None:
    """Fit every model to a few rows: numba compiles at the first fit, which would look like slow models."""
    with progress_bar(shown=True) as bar:
        fits = bar.add_task("compiling", total=sum(len(scene.models) for scene in scenes))
        for scene in scenes:
            rows = scene.plan.splits(scene.dataset, 0)[0].train[:WARM_UP_ROWS]
            for name, model in scene.models.items():
                bar.update(fits, description=f"compiling, once per machine: {name}")
                with suppress(Exception):  # the scene itself reports what a model raises
                    clone(model).fit(scene.dataset.X.iloc[rows], scene.dataset.y[rows])
                bar.update(fits, advance=1)


def _together(played: Sequence[ExperimentResults]) -> ExperimentResults:
    """Join the results of scenes."""
    import pandas as pd

    return ExperimentResults(
        pd.concat([results.folds for results in played], ignore_index=True),
        pd.concat([results.bias_variance for results in played], ignore_index=True),
        METRICS,
        {place: histogram for results in played for place, histogram in results.histograms.items()},
    )


def _write_calculator(scene: Scene, path: Path) -> None:
    """Fit the first model of a scene to all rows of its table and write it as a page."""
    name, model = next(iter(scene.models.items()))
    fitted = clone(model).fit(scene.dataset.X, scene.dataset.y)
    note = f"{name}, fitted to the {len(scene.dataset.y)} rows of the table {scene.dataset.name}."
    export.calculator(fitted, path, title=f"seminaive: {scene.dataset.name}", note=note)


def _picture(folds: Any) -> Any:
    """Return the mean results of a scene with a bar for the log loss, best first, ours in bold."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    means = folds.groupby("model", sort=False)[[*METRICS]].mean().sort_values("log_loss")
    seconds = fit_seconds(folds)
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("model", overflow="fold")
    table.add_column("log loss, less is better")
    for name in ("accuracy", "seconds"):
        table.add_column(name, justify="right")
    for name, loss, right in means.itertuples():
        bar = "█" * max(1, round(BAR * loss / means["log_loss"].max())) if loss == loss else ""
        style = None if name.startswith("scikit-learn") else "bold"
        took = NO_RESULT if seconds is None else plain(seconds[name], 3)
        table.add_row(name, f"{bar} {plain(loss, 3)}", plain(right, 3), took, style=style)
    return table
