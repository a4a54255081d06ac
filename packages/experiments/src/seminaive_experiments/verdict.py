"""Which model is best, and which ones cannot be told apart from it: one sentence."""

import pandas as pd

from seminaive_experiments.pairwise_tests import corrected_resampled_t_test
from seminaive_experiments.ranking import holm
from seminaive_experiments.summary import LossSummary, final_folds
from seminaive_experiments.terminal import title_of

_LEVEL = 0.05


def verdict(summary: LossSummary, folds: pd.DataFrame) -> str:
    """Name the best model of a comparison and those that tie with it.

    On one table the best is compared with each other model by the corrected resampled t test; over several,
    by the z test of average ranks. P-values are adjusted by Holm's procedure; above 0.05 two models tie.
    """
    if summary.mean.shape[1] < 2:
        return ""
    best, *others = summary.order()
    name = title_of(summary.metric)
    way = "highest" if summary.sign < 0 else "lowest"
    if min(summary.complete.shape) >= 2:
        rank, n_tables = summary.ranks()[best], len(summary.complete)
        said = f"{best} has the best average rank in {name}, {rank:.2f}, over {n_tables} tables"
        return f"{said}{_ties(_by_rank(summary, best, others), others)}."
    if len(summary.mean) > 1:
        return f"No mean over the {len(summary.mean)} tables: no two of them have results of every model."
    error = summary.error.iloc[0][best]
    spread = "" if pd.isna(error) else f" ± {error:.4f}"
    said = f"{best} has the {way} {name}, {summary.mean.iloc[0][best]:.4f}{spread}"
    return f"{said}{_ties(_by_folds(summary, folds, best, others), others)}."


def _ties(p_values: dict[str, float] | None, others: list[str]) -> str:
    if p_values is None:
        return "; one fold cannot say whether the others are worse"
    tied = [str(model) for model in others if p_values.get(model, 1.0) > _LEVEL]
    if not tied:
        return f"; {'the other is' if len(others) == 1 else 'all others are'} worse beyond chance"
    listed = tied[0] if len(tied) == 1 else f"{', '.join(tied[:-1])} and {tied[-1]}"
    if len(tied) == len(others):
        return f"; {listed} cannot be told apart from it"
    rest = "the other is" if len(others) == len(tied) + 1 else "the others are"
    return f"; {listed} cannot be told apart from it, {rest} worse beyond chance"


def _by_rank(summary: LossSummary, best: str, others: list[str]) -> dict[str, float] | None:
    tests = summary.pairs()
    if tests is None:
        return None
    pairs = tests.pairs
    with_best = pairs[(pairs["first"] == best) | (pairs["second"] == best)]
    raw = {
        second if first == best else first: p
        for first, second, p in with_best[["first", "second", "p_value"]].itertuples(index=False)
    }
    return dict(zip(others, holm([raw[model] for model in others]), strict=True))


def _by_folds(
    summary: LossSummary, folds: pd.DataFrame, best: str, others: list[str]
) -> dict[str, float] | None:
    folds = final_folds(folds)
    if not {"repetition", "fold", "n_train", "n_test"} <= set(folds.columns):
        return None
    losses = summary.sign * folds.pivot_table(
        index=["repetition", "fold"], columns="model", values=summary.metric, sort=False
    )
    sizes = {name: round(folds[name].mean()) for name in ("n_train", "n_test")}
    raw = {}
    for model in others:
        both = losses[[best, model]].dropna() if model in losses else losses.iloc[:0]
        if len(both) >= 2:
            raw[model] = corrected_resampled_t_test(both[best], both[model], **sizes).p_value
    if not raw:
        return None
    return dict(zip(raw, holm(list(raw.values())), strict=True))
