"""The hybrid of logistic regression and naive Bayes by dependence: Tan and Shenoy's paper, its Table 2.

Features are restricted to the union of Markov blankets, then divided so that no pair of the generative part
depends on each other by 0.05 or more. Rows with missing cells train naive Bayes and never test; logistic
regression drops them. Numbers are cut on the whole table, as in chapter 1 of the dissertation, for naive
Bayes and for the dependences, and enter logistic regression as they are, which is fitted as `multinom` does.
Pure logistic regression and pure naive Bayes have the blanket's features, too. Naive Bayes is that of e1071
in 2016, which found a level of a test row by its number among the levels of the test rows: the deviations
between splits that the paper prints ask for it. Levels found by their names, and one row added to each count,
are reported, too.

The paper says that the blanket is a union over all searches. On two tables of numbers its sizes are those of
one grow-shrink search with Student's t, in which the class is a number: it is used there, and the union is
reported beside it. Tests of factors are made where there is a row for every cell: with the rule of today's
bnlearn (every test is made, and mi-adf says independent below five rows per cell) fewer of the paper's sizes
come out, and that is reported, too. Blankets of numbers are found from complete rows; those of factors leave
a row out of the tests that need its missing cell.
"""

import warnings
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from seminaive.errors import EmptyBlanketWarning, UntestableWarning
from seminaive.evaluate import run_repetitions
from seminaive.structure import (
    GaussianTests,
    MarkovBlanketSelector,
    Partition,
    dependence_partition,
    grow_shrink,
)
from seminaive_experiments.papers.e1071 import log_likelihoods_by_name, log_likelihoods_by_number
from seminaive_experiments.papers.factor_hybrid import FactorModel
from seminaive_experiments.papers.factors import FactorRows, factors_of
from seminaive_experiments.papers.outcomes import t_test_outcome
from seminaive_experiments.papers.real_tables import paper_table, tables_of
from seminaive_experiments.papers.reproduction import Reproduction, RunOptions, published_table

__all__ = ["REPRODUCTIONS", "cells_of", "judge", "pairwise_counts", "searches_of"]

TEST_SHARE = 0.1
BY_NAME, SMOOTHED = "levels by name", "smoothed"
UNION, EVERY_TEST, ONE_SEARCH = "union", "union of every test", "grow-shrink, cor"
_OF_ONE_SEARCH = ("Glass Identification", "Connectionist Bench")
LEVEL = 0.05
SPLITS, MORE_SPLITS = 100, 500
_OF_MORE_SPLITS = (
    "Glass Identification",
    "Breast Tissue",
    "Wine",
    "Chronic Kidney Disease",
    "Blogger",
    "Connectionist Bench",
)
# Where the class of glass enters a correlation, it is the number that UCI gives it.
GLASS_NUMBERS = {
    "build wind float": 1,
    "build wind non-float": 2,
    "vehic wind float": 3,
    "containers": 5,
    "tableware": 6,
    "headlamps": 7,
}


@dataclass(frozen=True)
class _Prepared:
    """A table as the paper's programs had it: as read, as factors, and the classes as numbers."""

    X: pd.DataFrame
    factors: pd.DataFrame
    rows: FactorRows
    class_numbers: npt.NDArray[np.float64]

    @classmethod
    def of(cls, paper_name: str) -> "_Prepared":
        table = paper_table(paper_name)
        factors = factors_of(table.X, table.y)
        classes, labels = np.unique(table.y, return_inverse=True)
        numeric = [name for name in factors if pd.api.types.is_numeric_dtype(table.X[name])]
        raw = {str(name): table.X[name].to_numpy(float) for name in numeric}
        numbers = [GLASS_NUMBERS.get(name, position) for position, name in enumerate(classes)]
        rows = FactorRows.of(factors, labels, len(classes), raw)
        return cls(table.X, factors, rows, np.array(numbers, dtype=np.float64)[labels])

    @property
    def of_numbers(self) -> bool:
        """Whether every feature is a number."""
        return len(self.rows.numbers) == self.X.shape[1]

    def blanket(self, train: npt.NDArray[np.int64], search: str) -> list[int]:
        """Return the features in the Markov blanket of the class; all of them where it is empty."""
        if search == ONE_SEARCH:
            return self._by_one_search(train)
        # bnlearn correlates numbers, and refused missing cells.
        table = self.X if self.of_numbers else self.factors
        selector = MarkovBlanketSelector(
            alpha=LEVEL, one_row_per_cell=search == UNION, complete_rows=self.of_numbers
        )
        with warnings.catch_warnings():
            for kind in (EmptyBlanketWarning, UntestableWarning):
                warnings.simplefilter("ignore", kind)
            selector.fit(table.iloc[train], self.rows.labels[train])
        found = set(np.asarray(table.columns)[selector.support_])
        return [j for j, name in enumerate(self.factors) if name in found]

    def _by_one_search(self, train: npt.NDArray[np.int64]) -> list[int]:
        """Search by grow-shrink and Student's t among numbers, the class being one of them."""
        columns = np.column_stack([self.X.iloc[train], self.class_numbers[train]])
        target = columns.shape[1] - 1
        found = grow_shrink(GaussianTests.of_columns(columns), target, range(target), LEVEL).members
        return sorted(found) or list(range(target))


_prepared = cache(_Prepared.of)


def _is_number(column: "pd.Series[Any]") -> bool:
    return pd.api.types.is_numeric_dtype(column)


def judge(dataset: str, search: str, repetition: int, seed: int) -> Iterable[dict[str, object]]:
    """Run one split of one table: blanket, partition, and the accuracy of the three models.

    Parameters
    ----------
    dataset : str
        The paper's name of the table.
    search : str
        "union" of all searches by tests that have a row for every cell, "union of every test" with the rule
        of today's bnlearn, or "grow-shrink, cor".
    repetition : int
        Decides the split, together with the seed.
    """
    table = _prepared(dataset)
    rng = np.random.default_rng([seed, repetition, zlib.crc32(dataset.encode())])
    complete = np.flatnonzero(table.rows.complete)
    n_test = min(round(TEST_SHARE * len(table.X)), len(complete) - 1)
    test = rng.permutation(complete)[:n_test]
    train = np.setdiff1d(np.arange(len(table.X)), test)
    features = table.blanket(train, search)
    training, testing = (table.rows.keep(features).take(rows) for rows in (train, test))
    found = dependence_partition(training.dependence(), rng)
    every = range(len(features))
    partitions = {
        "HybridLRNB": found,
        "LR": Partition.of_logistic(every, len(features)),
        "NB": Partition.of_logistic((), len(features)),
    }
    yield {
        "n_features": table.X.shape[1],
        "markov_blanket_size": len(features),
        "lr_part_size": len(found.logistic),
        "nb_part_size": len(found.generative),
        **{
            name: accuracy
            for method, partition in partitions.items()
            for name, accuracy in _accuracies(method, training, testing, partition).items()
        },
    }


def _accuracies(
    method: str, training: FactorRows, testing: FactorRows, partition: Partition
) -> dict[str, float]:
    """Return the percentages of the test rows that a model puts into their class, by name of the model."""
    model = FactorModel(training, partition)
    prior, generative = model.log_priors(testing), partition.generative
    scores = {method: prior + log_likelihoods_by_number(training, testing, generative)}
    if method != "LR":
        scores[f"{method}, {BY_NAME}"] = prior + log_likelihoods_by_name(training, testing, generative)
        scores[f"{method}, {SMOOTHED}"] = model.posterior(testing)
    return {
        name: 100 * float((score.argmax(axis=1) == testing.labels).mean()) for name, score in scores.items()
    }


def search_of_sizes(dataset: str) -> str:
    """Return the search that the paper's sizes of a table ask for."""
    return ONE_SEARCH if dataset in _OF_ONE_SEARCH else UNION


def searches_of(dataset: str) -> tuple[str, ...]:
    """Return the searches to run on a table, that of the paper's sizes first."""
    if dataset in _OF_ONE_SEARCH:
        return ONE_SEARCH, UNION
    return (UNION,) if _prepared(dataset).of_numbers else (UNION, EVERY_TEST)


def _run(options: RunOptions) -> pd.DataFrame:
    sizes = {name: len(paper_table(name).y) for name in tables_of("hybrid-table1")}
    taken = sorted((name for name in sizes if options.takes(sizes[name])), key=sizes.__getitem__)
    units = [
        {"dataset": dataset, "search": search, "repetition": repetition, "seed": options.random_state}
        for dataset in taken
        for search in searches_of(dataset)
        for repetition in range(options.repetitions)
    ]
    splits = run_repetitions(
        units, judge, path=options.path, n_jobs=options.n_jobs, progress=options.progress
    )
    found = cells_of(splits)
    found.attrs["notes"] = [
        f"{len(taken)} of 21 data sets, {options.repetitions} x 90/10 each: {', '.join(taken)}",
        *_shape_notes(taken),
        *notes_of(splits),
    ]
    return found


def cells_of(splits: pd.DataFrame) -> pd.DataFrame:
    """Return the means of the sizes and accuracies over the splits, as Table 2 has them.

    The paper prints no errors of sizes. Those of its means follow from our splits and its number of splits.
    """
    splits = _main(splits)
    sizes_of = ["n_features", "markov_blanket_size", "lr_part_size", "nb_part_size"]
    structure = splits.melt(["dataset"], sizes_of, "metric", "value")
    structure["method"] = np.where(structure["metric"].str.endswith("part_size"), "HybridLRNB", "")
    accuracy = splits.melt(["dataset"], ["HybridLRNB", "LR", "NB"], "method", "value")
    long = pd.concat([structure, accuracy.assign(metric="accuracy_pct")], ignore_index=True)
    grouped = long.groupby(["dataset", "metric", "method"], sort=False)["value"]
    found = grouped.agg(ours="mean", se="sem", deviation="std", n="size").reset_index()
    printed = np.where(found["dataset"].isin(_OF_MORE_SPLITS), MORE_SPLITS, SPLITS)
    is_size = found["metric"] != "accuracy_pct"
    return found.assign(
        paper_se=found["deviation"] / np.sqrt(printed), n=found["n"].where(is_size), paper_n=printed
    )


def _main(splits: pd.DataFrame) -> pd.DataFrame:
    """Keep the splits of the search that the paper's sizes ask for."""
    return splits[splits["search"] == splits["dataset"].map(search_of_sizes)]


def _shape_notes(names: Iterable[str]) -> list[str]:
    """Say which of our copies have another shape than the paper's Table 1 gives them."""
    described = published_table("hybrid-table1").set_index("dataset")
    notes = []
    for name in names:
        table = paper_table(name)
        ours = {
            "n_features": table.X.shape[1],
            "n_instances": len(table.y),
            "n_classes": len(np.unique(table.y)),
        }
        printed = {quantity: int(described[quantity].to_dict()[name]) for quantity in ours}
        other = [
            f"{quantity[2:]} {ours[quantity]} ({printed[quantity]} printed)"
            for quantity in ours
            if ours[quantity] != printed[quantity]
        ]
        notes += [f"{name} has another shape than in Table 1: {', '.join(other)}"] if other else []
    return notes


def notes_of(splits: pd.DataFrame) -> list[str]:
    """Give the in-text counts and shares, the other searches, and accuracies without smoothing."""
    columns = ["markov_blanket_size", "lr_part_size", "nb_part_size", "HybridLRNB", "LR", "NB"]
    other = splits.drop(index=_main(splits).index).groupby(["dataset", "search"], sort=False)[columns].mean()
    other_searches = [
        f"{name}, {search}: " + ", ".join(f"{key} {value:.2f}" for key, value in row.items())
        for (name, search), row in zip(other.index.to_list(), other.to_dict("records"), strict=True)
    ]
    main = _main(splits)
    means = main.groupby("dataset", sort=False).mean(numeric_only=True)
    listed = {
        kind: "; ".join(
            f"{name} {row[f'HybridLRNB, {kind}']:.2f}, {row[f'NB, {kind}']:.2f}"
            for name, row in means.iterrows()
        )
        for kind in (BY_NAME, SMOOTHED)
    }
    in_blanket = (means["markov_blanket_size"] / means["n_features"]).mean()
    logistic = (means["lr_part_size"] / means["markov_blanket_size"]).mean()
    return [
        *other_searches,
        f"Accuracies of the hybrid and of naive Bayes with levels by name: {listed[BY_NAME]}",
        f"Accuracies of the hybrid and of naive Bayes with a row added to each count: {listed[SMOOTHED]}",
        f"The blanket has {in_blanket:.0%} of the features (62 % printed)",
        f"The LR part has {logistic:.0%} of the blanket (52 % printed)",
        *(
            f"Hybrid against {row.rival}, paired t tests: {row.win}/{row.draw}/{row.loss}"
            for row in pairwise_counts(main).itertuples()
        ),
    ]


def pairwise_counts(splits: pd.DataFrame) -> pd.DataFrame:
    """Count the tables that the hybrid wins, draws and loses by paired t tests, as section 7.2 does."""
    rows = []
    for rival in ("LR", "NB"):
        # Accuracies: the loss of the hybrid is lower by what its accuracy is higher.
        lower = splits[rival] - splits["HybridLRNB"]
        outcomes = [t_test_outcome(of_table) for _, of_table in lower.groupby(splits["dataset"], sort=False)]
        rows.append({"rival": rival, **{name: outcomes.count(name) for name in ("win", "draw", "loss")}})
    return pd.DataFrame(rows)


REPRODUCTIONS = (
    Reproduction(
        name="hybrid-table2",
        title="Markov blanket, structure and accuracy",
        needs="real tables",
        minutes=120,
        repetitions=100,
        quick_repetitions=2,
        least_repetitions=2,
        run=_run,
        remarks=(
            "The paper has 500 splits of six tables and 100 of the others.",
            "Means agree within three standard errors of the difference.",
            "Numbers are cut on the whole table, test rows included, as the paper's WEKA filter did.",
            "Naive Bayes is R's e1071 of 2016, which found a test row's level by its number in these rows.",
            "Tests of factors need a row for every cell; notes give what today's rule of bnlearn gives.",
        ),
    ),
)
