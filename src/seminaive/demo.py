"""Our models beside scikit-learn's on a small and on a larger table: error, log loss and time."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from seminaive import models
from seminaive.evaluate import Experiment, ExperimentResults, RepeatedHoldout, Report, load_dataset
from seminaive.evaluate.rivals import RIVALS
from seminaive.evaluate.summary import failure_lines
from seminaive.papers.generators import poker_hands

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seminaive.evaluate import Dataset

PAGE = Path("seminaive-demo.html")


@dataclass(frozen=True)
class Scene:
    """A table, how it is cut into training and test rows, and what it shows.

    Parameters
    ----------
    title, lesson : str
        What is printed above and below the results.
    dataset : Dataset
    plan : RepeatedHoldout
    models : dict
        Classifiers by name.
    """

    title: str
    lesson: str
    dataset: Dataset
    plan: RepeatedHoldout
    models: dict[str, Any]

    def play(self) -> ExperimentResults:
        """Fit every model to the same random rows, and judge it on all others."""
        return Experiment(self.models, [self.dataset], self.plan, ("zero_one", "log_loss")).run()


def few_rows() -> Scene:
    """Return a table of which few rows are known: the side of naive Bayes."""
    return Scene(
        "Few rows: iris, 20 training rows, 4 numbers, 3 classes",
        "With 20 rows naive Bayes errs about half as often as logistic regression, and is overconfident. "
        "NaiveBayesLogisticRegressionCV starts from it and goes where the rows pull (docs/nbrlr.md).",
        load_dataset("iris"),
        RepeatedHoldout(1 - 20 / 150, 10, stratified=True),
        {
            "NaiveBayes": models.NaiveBayes(),
            "NaiveBayesLogisticRegressionCV": models.NaiveBayesLogisticRegressionCV(),
            "HigherOrderLogisticRegressionCV": models.HigherOrderLogisticRegressionCV(),
            "scikit-learn naive Bayes": RIVALS["sklearn-naive-bayes"](),
            "scikit-learn logistic regression": RIVALS["sklearn-logistic-regression"](),
            "scikit-learn random forest": RIVALS["sklearn-random-forest"](),
        },
    )


def many_rows() -> Scene:
    """Return a table of many rows where features mean little alone: the side of logistic regression."""
    return Scene(
        "Many rows: 20,000 poker hands, 10 categories, 10 classes",
        "No card says anything alone, so naive Bayes and logistic regression know only the class shares. "
        "Pairs of features say almost all: logistic regression over all pairs reads the hands.",
        poker_hands(25_000),
        RepeatedHoldout(0.2, 1),
        {
            "NaiveBayes": models.NaiveBayes(),
            "HigherOrderLogisticRegression, pairs": models.HigherOrderLogisticRegression(order=2, ridge=0.1),
            # All columns are categories, so that scikit-learn's indicators can stay sparse.
            "scikit-learn logistic regression": make_pipeline(
                OneHotEncoder(handle_unknown="ignore"), LogisticRegression(max_iter=1000)
            ),
            "scikit-learn random forest": RIVALS["sklearn-random-forest"](),
        },
    )


def run_demo(scenes: Sequence[Scene], page: Path = PAGE) -> None:
    """Play scenes, print their results, and write them as one page."""
    import pandas as pd
    from rich.console import Console

    console = Console()
    played = []
    for scene in scenes:
        folds = scene.play().folds
        played.append(folds)
        console.print(_table(scene, folds))
        for line in failure_lines(folds):
            console.print(line, markup=False)
        console.print(scene.lesson + "\n")
    Report.of_frame(pd.concat(played), ("zero_one", "log_loss"), "seminaive: the demo").write_html(page)
    console.print(
        f"The same as a page: {page}\n"
        "Your own table:     seminaive compare TABLE.csv --target COLUMN --report report.html\n"
        "The papers' tables: seminaive reproduce --list"
    )


def _table(scene: Scene, folds: Any) -> Any:
    """Return the mean results of a scene, ours in bold."""
    from rich.table import Table

    table = Table(title=scene.title, title_justify="left", title_style="bold")
    for name in ("model", "error", "log loss", "seconds to fit"):
        table.add_column(name, justify="left" if name == "model" else "right")
    for name, rows in folds.groupby("model", sort=False):
        error, loss = rows[["zero_one", "log_loss"]].mean()
        seconds = rows["fit_seconds"].median()  # the first fit may compile
        style = None if name.startswith("scikit-learn") else "bold"
        table.add_row(name, f"{error:.3f}", f"{loss:.3f}", f"{seconds:.3f}", style=style)
    return table
