"""What a frame of fold results says: losses per table, ranks, wins and failures."""

from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from seminaive.errors import InputError
from seminaive.evaluate.metrics import greater_is_better
from seminaive_experiments.pairwise_tests import (
    WinDrawLoss,
    corrected_resampled_t_test,
    sign_test,
    win_draw_loss,
)
from seminaive_experiments.ranking import (
    PairwiseRankTests,
    average_ranks,
    compare_ranks,
    critical_difference,
    holm,
    iman_davenport_test,
)

# Significant digits of a mean: the order of a sum changes the sixteenth, and that is no win.
_DIGITS = 12


@dataclass(frozen=True, eq=False)
class LossSummary:
    """One measure of several models over several tables: a loss, or accuracy, AUC or F1.

    Attributes
    ----------
    metric : str
        The column that was summarised.
    mean : DataFrame of shape (n_tables, n_models)
        Mean loss over the finished folds, to twelve significant digits, so that equal losses are equal.
    error : DataFrame of shape (n_tables, n_models)
        Its standard error. Where the frame has ``n_train`` and ``n_test``, it allows for training rows
        that folds share (Nadeau and Bengio); it is NaN for a single fold.
    count : DataFrame of shape (n_tables, n_models)
        Number of finished folds.
    """

    metric: str
    mean: pd.DataFrame
    error: pd.DataFrame
    count: pd.DataFrame

    @property
    def models(self) -> list[str]:
        """The models, in the order of the results."""
        return list(self.mean.columns)

    @property
    def complete(self) -> pd.DataFrame:
        """Mean losses on the tables where every model has one."""
        return self.mean.dropna()

    @property
    def sign(self) -> int:
        """1 where less is better, -1 where more is: times this, every measure is a loss."""
        return -1 if greater_is_better(self.metric) else 1

    def best(self, values: pd.Series) -> float:
        """Return the best of some means, NaN if there is none."""
        return float(self.sign * (self.sign * values).min())

    def order(self) -> list[str]:
        """Return the models, best first: by average rank over several tables, else by the mean."""
        if min(self.complete.shape) >= 2:
            return list(self.ranks().index)
        return list((self.sign * self.mean.mean()).sort_values(kind="stable", na_position="last").index)

    def in_order(self, models: list[str]) -> "LossSummary":
        """Return the same with the models in another order."""
        return replace(self, mean=self.mean[models], error=self.error[models], count=self.count[models])

    def ranks(self) -> pd.Series:
        """Average the ranks over the complete tables, best first."""
        losses = self.sign * self.complete
        if len(losses) >= 2 and losses.shape[1] >= 2:
            return average_ranks(losses).sort_values(kind="stable")
        return losses.rank(axis=1).mean(axis=0).sort_values(kind="stable")

    def equality(self) -> tuple[float, float] | None:
        """Iman and Davenport's F and its p-value; None with fewer than three models or two tables."""
        if self.complete.shape[0] < 2 or self.complete.shape[1] < 3:
            return None
        test = iman_davenport_test(self.sign * self.complete)
        return test.statistic, test.p_value

    def pairs(self) -> PairwiseRankTests | None:
        """All pairs of models by average ranks; None with fewer than two models or tables."""
        if min(self.complete.shape) < 2:
            return None
        return compare_ranks(self.sign * self.complete)

    def critical_difference(self) -> float | None:
        """Nemenyi's critical difference at 0.05; None with fewer than two models or tables."""
        if min(self.complete.shape) < 2:
            return None
        return critical_difference(self.complete.shape[1], len(self.complete))

    def groups(self) -> list[tuple[int, int]]:
        """Give the runs of models, as positions in ``ranks()``, that Nemenyi's test cannot tell apart."""
        difference = self.critical_difference()
        if difference is None:
            return []
        ranks = self.ranks().to_numpy()
        ends = [int(np.searchsorted(ranks, rank + difference, side="left")) - 1 for rank in ranks]
        groups = [(start, end) for start, end in enumerate(ends) if end > start]
        return [
            group
            for position, group in enumerate(groups)
            if not any(start <= group[0] and group[1] <= end for start, end in groups[:position])
        ]

    def against(self, first: str, second: str) -> tuple[WinDrawLoss, float] | None:
        """Wins of the first model over the second, with the sign test; None without common tables."""
        losses = self.sign * self.mean[first].to_numpy(), self.sign * self.mean[second].to_numpy()
        both = np.isfinite(losses[0]) & np.isfinite(losses[1])
        if not both.any():
            return None
        pair = losses[0][both], losses[1][both]
        return win_draw_loss(*pair), sign_test(*pair).p_value


def is_learning_curve(folds: pd.DataFrame) -> bool:
    """Whether the folds are steps of growing training sets: a column ``step`` says so, and only that.

    Sizes alone do not tell: folds that keep groups of rows together differ in size too.
    """
    return {"step", "n_train"} <= set(folds.columns)


def final_folds(folds: pd.DataFrame) -> pd.DataFrame:
    """Of a learning curve, the last step of each table; of anything else, all folds."""
    if not is_learning_curve(folds):
        return folds
    return folds[folds["n_train"] == folds.groupby("dataset")["n_train"].transform("max")]


def fit_seconds(folds: pd.DataFrame) -> pd.Series | None:
    """Return the seconds that each model takes to fit; None where no fold has a time.

    The mean over the tables of the median over a table's folds: a fold during which the machine was busy, or
    numba compiled, does not count as a slow model.
    """
    if "fit_seconds" not in folds or folds["fit_seconds"].isna().all():
        return None
    by_table = final_folds(folds).groupby(["dataset", "model"], sort=False, observed=True)["fit_seconds"]
    return by_table.median().groupby("model", sort=False, observed=True).mean()


def same_models(folds: pd.DataFrame) -> list[pd.DataFrame]:
    """Part results by which models were entered: tables with the same ones belong together.

    A mean over tables, or a rank, says something only about models that met on all of them.
    """
    entered = {
        dataset: tuple(group.unique()) for dataset, group in folds.groupby("dataset", sort=False)["model"]
    }
    sets = dict.fromkeys(frozenset(models) for models in entered.values())
    return [
        folds[folds["dataset"].map(lambda dataset, models=models: frozenset(entered[dataset]) == models)]
        for models in sets
    ]


def summarise(folds: pd.DataFrame, metric: str) -> LossSummary:
    """Average a loss over folds, per table and model.

    Parameters
    ----------
    folds : DataFrame
        Columns ``dataset``, ``model`` and the metric; ``n_train`` and ``n_test`` if known. A loss that is
        missing (a failed fold) is left out of its mean. With a column ``step`` it is a learning curve,
        and only the largest ``n_train`` of each table counts.
    metric : str
        The column to average.
    """
    for column in ("dataset", "model", metric):
        if column not in folds:
            raise InputError(
                f"results need the columns dataset, model and {metric}; there is no {column!r} among "
                f"{', '.join(map(str, folds.columns))}."
            )
    if not pd.api.types.is_numeric_dtype(folds[metric]):
        raise InputError(f"the column {metric} must hold numbers, got {folds[metric].dtype}.")
    infinite = int(np.isinf(folds[metric].to_numpy(dtype=float, na_value=np.nan)).sum())
    if infinite:
        raise InputError(
            f"{infinite} values of {metric} are infinite, and such means cannot be compared. Keep "
            "probabilities away from 0, or mark those folds as failed with a missing loss."
        )
    folds = final_folds(folds)
    datasets, models = folds["dataset"].unique(), folds["model"].unique()
    grouped = folds.groupby(["dataset", "model"], sort=False, observed=True)
    table = grouped[metric].agg(["mean", "var", "count"])
    table["mean"] = [float(f"{mean:.{_DIGITS}g}") for mean in table["mean"]]
    if {"n_train", "n_test"} <= set(folds.columns) and "fold" in folds:
        table["shared"] = grouped["n_test"].mean() / grouped["n_train"].mean()
    else:
        table["shared"] = 0.0
    table["error"] = (table["var"] * (1 / table["count"] + table["shared"])) ** 0.5

    def wide(column: str) -> pd.DataFrame:
        return table[column].unstack("model").reindex(index=datasets, columns=models)

    return LossSummary(metric, wide("mean"), wide("error"), wide("count").fillna(0).astype(int))


def failures(folds: pd.DataFrame) -> pd.DataFrame:
    """Failed folds per table and model, with their number and the first message."""
    columns = ["dataset", "model", "failed", "folds", "message"]
    if "status" not in folds or (folds["status"] == "ok").all():
        return pd.DataFrame(columns=columns)
    grouped = folds.assign(bad=folds["status"] != "ok").groupby(["dataset", "model"], sort=False)
    rows: list[tuple[Any, ...]] = [
        (*key, int(group["bad"].sum()), len(group), _first_message(group[group["bad"]]))
        for key, group in grouped
        if group["bad"].any()
    ]
    return pd.DataFrame(rows, columns=columns)


def _first_message(failed: pd.DataFrame) -> str:
    return str(failed["message"].iloc[0]) if "message" in failed else "no message"


def failure_lines(folds: pd.DataFrame) -> list[str]:
    """Say of each model and table in how many folds it failed, and how."""
    return [
        f"{row.model} failed in {row.failed} of {row.folds} folds of {row.dataset}: {row.message}"
        for row in failures(folds).itertuples()
    ]


def pairs_on_one_table(folds: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Compare all pairs of models on one table by the corrected resampled t test.

    Parameters
    ----------
    folds : DataFrame
        Results on a single table, with ``repetition``, ``fold``, ``n_train`` and ``n_test``.
    metric : str
        The loss.

    Returns
    -------
    DataFrame
        ``first``, ``second``, ``difference`` (of mean losses over the folds that both finished; negative
        where the first is better),
        ``p_value`` and ``holm``; empty with fewer than two common folds.
    """
    folds = final_folds(folds)
    losses = folds.pivot_table(index=["repetition", "fold"], columns="model", values=metric, sort=False)
    losses = -losses if greater_is_better(metric) else losses
    sizes = {name: round(folds[name].mean()) for name in ("n_train", "n_test")}
    rows = []
    for first, second in combinations(losses.columns, 2):
        both = losses[[first, second]].dropna()
        if len(both) >= 2:
            test = corrected_resampled_t_test(both[first], both[second], **sizes)
            rows.append((first, second, float((both[first] - both[second]).mean()), test.p_value))
    pairs = pd.DataFrame(rows, columns=["first", "second", "difference", "p_value"])
    return pairs.assign(holm=holm(pairs["p_value"]) if len(pairs) else [])


def learning_curves(folds: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Mean loss per table, model and number of training rows."""
    return (
        folds.groupby(["dataset", "model", "n_train"], sort=False, observed=True)[metric].mean().reset_index()
    )
