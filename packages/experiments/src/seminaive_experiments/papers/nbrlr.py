"""Naive Bayes regularised logistic regression: the simulations of the paper and of the dissertation.

Tan, Sherwood and Shenoy, "A naive Bayes regularized logistic regression model for classification", and
chapter 2 of Tan's dissertation. The settings are those of ``simulations``.

What the paper does not say, found by reproducing it: folds are drawn without regard to the classes, as
`cv.glmnet` draws them. The lasso is tuned on squared error, as NBRLR is, and the ridge on deviance. Both
report the error of the coefficients at the strength of the one-standard-error rule and the losses at the best
one. The elastic net is tuned on 0-1 loss. Logistic regression is R's `multinom`: where classes are separable,
its coefficients tell where it stopped.
"""

import warnings
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import expit
from sklearn.model_selection import KFold

from seminaive.arrays import Floats
from seminaive.errors import ConvergenceWarning
from seminaive.evaluate import (
    coefficient_error,
    root_squared_probability_error,
    run_repetitions,
    zero_one_loss,
)
from seminaive.models import NaiveBayesLogisticRegressionCV
from seminaive_experiments.papers.acceptance import Bar
from seminaive_experiments.papers.factor_hybrid import FactorHybrid
from seminaive_experiments.papers.multinom import multinom
from seminaive_experiments.papers.p_values import agreeing_sides, paired_t_p_values
from seminaive_experiments.papers.reproduction import Reproduction, RunOptions, published_table
from seminaive_experiments.papers.simulations import Simulation
from seminaive_experiments.papers.variants import GlmnetPath

__all__ = [
    "BARS",
    "METHODS",
    "REPRODUCTIONS",
    "bias_and_variance",
    "hybrid_records",
    "mean_losses",
    "run_cells",
    "simulate",
    "simulate_hybrid",
    "toward_zero",
]

# A path of 100 strengths that ends where it ends, and the strength of the least mean loss over ten folds.
PATH_OF_THE_PAPERS: dict[str, Any] = {
    "strengths": 100,
    "extend": False,
    "cv": KFold(10, shuffle=True, random_state=0),
    "selection": "min",
}
# Raw coefficients, all of naive Bayes as the target, squared error.
PAPERS_PROTOCOL: dict[str, Any] = {
    "target": "naive-bayes",
    "penalty": "l1",
    "standardize": False,
    "penalize_intercept": True,
    "smoothing": 1.0,
    "generative_shares": (1.0,),
    "scoring": "brier",
    **PATH_OF_THE_PAPERS,
}
METHODS = ("NBRLR", "LR", "NB", "Lasso", "Ridge", "ElasticNet")
# Penalties of glmnet, and what each is tuned on.
TOWARD_ZERO: dict[str, dict[str, Any]] = {
    "Lasso": {"penalty": "l1", "scoring": "brier"},
    "Ridge": {"penalty": "l2", "scoring": "log-loss"},
    "ElasticNet": {"penalty": 0.5, "scoring": "zero-one"},
}
TEST_ROWS, REPETITIONS = 1000, 100
PAPER_CELLS = [(n, p, r) for n in (100, 2000) for p in (10, 50) for r in (0.1, 0.6)]
CHAPTER_CELLS = [(100, p, r) for p in (10, 50) for r in (0.1, 0.6)]


def toward_zero(method: str, **changes: Any) -> GlmnetPath:
    """Return the lasso, the ridge or the elastic net as the simulations tuned them, or with changes."""
    return GlmnetPath(
        target="zero",
        standardize=True,
        penalize_intercept=False,
        **{**TOWARD_ZERO[method], **PATH_OF_THE_PAPERS, **changes},
    )


def _estimates(
    X: npt.NDArray[np.number], y: npt.NDArray[np.int64], categorical: list[int]
) -> dict[str, Floats]:
    """Return the coefficients of every method; "Lasso at 1se" and "Ridge at 1se" by the cautious rule."""
    nbrlr = NaiveBayesLogisticRegressionCV(categorical_features=categorical, **PAPERS_PROTOCOL).fit(X, y)
    # The model has the coefficients of numbers before those of categories.
    numbers = [j for j in range(X.shape[1]) if j not in categorical]
    as_given = [0, *(1 + np.argsort([*numbers, *categorical]))]
    columns = np.column_stack([np.ones(len(X)), X])
    found = {"LR": multinom(columns, y, 2)[:, 1]}
    for name, coefficients in (("NBRLR", nbrlr.coefficients_), ("NB", nbrlr.target_)):
        found[name] = coefficients[as_given]
    for name in TOWARD_ZERO:
        model = toward_zero(name).fit(X.astype(float), y)
        found[name] = model.coefficients_
        cautious = model.fold_losses_.choose("one-standard-error")
        found[f"{name} at 1se"] = model.path_.coefficients[cautious, :, 0]
    return found


def simulate(
    setting: int, n_train: int, p: int, r: float, repetition: int, seed: int = 0
) -> Iterable[dict[str, object]]:
    """Run one repetition: every method on one training and one test sample."""
    simulation = Simulation(setting, p, r)
    rng = np.random.default_rng([seed, setting, n_train, p, int(10 * r), repetition])
    X, y = simulation.draw(n_train, rng)
    X_test, y_test = simulation.draw(TEST_ROWS, rng)
    truth = simulation.true_coefficients()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = _estimates(X, y, simulation.categorical)
    for method in METHODS:
        probability = expit(found[method][0] + X_test @ found[method][1:])
        posterior = np.column_stack([1 - probability, probability])
        compared = found[f"{method} at 1se"] if method in ("Lasso", "Ridge") else found[method]
        yield {
            "method": method,
            "MSE": float(np.mean(np.square(compared - truth))),
            "L01": zero_one_loss(y_test, (probability >= 0.5).astype(np.int64)),
            "RSPE": root_squared_probability_error(y_test, posterior),
            "coefficients": " ".join(f"{value:.5g}" for value in compared),
        }


def simulate_hybrid(
    setting: int, n_train: int, p: int, r: float, method: str, repetition: int, seed: int = 0
) -> Iterable[dict[str, object]]:
    """Run one repetition of the hybrid of LR and naive Bayes in setting 1 or 2, on the samples of `simulate`.

    The authors used R: the logistic part is fitted as in chapter 1 of the dissertation.
    """
    del method  # tells the unit from one of `simulate`
    simulation = Simulation(setting, p, r)
    rng = np.random.default_rng([seed, setting, n_train, p, int(10 * r), repetition])
    X, y = simulation.draw(n_train, rng)
    X_test, y_test = simulation.draw(TEST_ROWS, rng)
    levels = pd.CategoricalDtype([0, 1])
    model = FactorHybrid(random_state=repetition).fit(pd.DataFrame(X).astype(levels), y)
    posterior = model.predict_proba(pd.DataFrame(X_test).astype(levels))
    yield {
        "L01": zero_one_loss(y_test, posterior.argmax(axis=1)),
        "RSPE": root_squared_probability_error(y_test, posterior),
        "lr_part_size": len(model.logistic_features_),
    }


def run_cells(
    settings: Iterable[int], cells: list[tuple[int, int, float]], options: RunOptions
) -> pd.DataFrame:
    """Run every method in cells of the simulations; one record for each method and repetition."""
    units = [
        {
            "setting": setting,
            "n_train": n,
            "p": p,
            "r": r,
            "repetition": repetition,
            "seed": options.random_state,
        }
        for setting in settings
        for n, p, r in cells
        for repetition in range(options.repetitions)
    ]
    return run_repetitions(
        units, simulate, path=options.path, n_jobs=options.n_jobs, progress=options.progress
    )


def mean_losses(records: pd.DataFrame) -> pd.DataFrame:
    """Average the three losses over repetitions, with standard errors: Tables 1 and 2.

    The texts print no errors. Those of their means follow from our repetitions and their hundred.
    """
    long = records.melt(["setting", "n_train", "p", "r", "method"], ["MSE", "L01", "RSPE"], "metric", "loss")
    cells = long.groupby(["setting", "metric", "n_train", "p", "r", "method"], sort=False)["loss"]
    found = cells.agg(ours="mean", se="sem", deviation="std").reset_index()
    return found.assign(paper_se=found["deviation"] / REPETITIONS**0.5)


def bias_and_variance(records: pd.DataFrame) -> pd.DataFrame:
    """Squared bias and variance of the coefficients, averaged over them, in rows: Tables 3 and 4."""
    rows = []
    keys = ["setting", "n_train", "p", "r", "method"]
    for _, group in records.groupby(keys, sort=False):
        cell = {key: group[key].iloc[0].item() if key != "method" else group[key].iloc[0] for key in keys}
        estimates = np.array([text.split() for text in group["coefficients"]], dtype=float)
        truth = Simulation(cell["setting"], cell["p"], cell["r"]).true_coefficients()
        error = coefficient_error(estimates, truth)
        moments = {"bias": error.squared_bias, "variance": error.variance}
        of_print = (len(estimates) / REPETITIONS) ** 0.5
        rows += [
            {**cell, "moment": moment, "ours": moments[moment], "se": spread, "paper_se": spread * of_print}
            for moment, spread in _jackknife_errors(estimates, truth).items()
        ]
    return pd.DataFrame(rows)


def _jackknife_errors(estimates: Floats, truth: Floats) -> dict[str, float]:
    """Return the standard errors of squared bias and variance, each repetition left out in turn."""
    n = len(estimates)
    total, squares = estimates.sum(axis=0), np.square(estimates).sum(axis=0)
    means = (total - estimates) / (n - 1)
    variances = ((squares - np.square(estimates)) - (n - 1) * np.square(means)) / max(n - 2, 1)
    without = {"bias": np.square(means - truth).mean(axis=1), "variance": variances.mean(axis=1)}
    return {name: float(np.sqrt((n - 1) * np.var(values))) for name, values in without.items()}


def p_value_note(name: str, records: pd.DataFrame) -> str:
    """Say how many printed p-values, paired t tests against NBRLR, are on our side of 0.05."""
    keys, pairs = ["n_train", "p", "r"], []
    printed = published_table(name).query("status == 'ok' and p_value != ''")
    for (metric, method), rows in printed.groupby(["metric", "method"], sort=False):
        if method not in set(records["method"]):
            continue
        ours = paired_t_p_values(records, keys, str(metric), str(method))
        for row in rows[[*keys, "p_value"]].to_numpy():
            cell = (int(row[0]), int(row[1]), float(row[2]))
            if cell in ours.index:
                pairs.append((float(ours.loc[cell]), str(row[3])))
    same, n_pairs = agreeing_sides(pairs)
    return f"p-values of paired t tests against NBRLR on the printed side of 0.05: {same} of {n_pairs}"


def _run_losses(
    name: str, setting: int, cells: list[tuple[int, int, float]], options: RunOptions
) -> pd.DataFrame:
    records = run_cells([setting], cells, options)
    found = mean_losses(records)
    found.attrs["notes"] = [p_value_note(name, records)]
    return found


def hybrid_records(setting: int, cells: list[tuple[int, int, float]], options: RunOptions) -> pd.DataFrame:
    """Run the hybrid on the samples of the other methods."""
    units = [
        {**cell, "method": "HybridLRNB", "repetition": repetition, "seed": options.random_state}
        for n, p, r in cells
        for cell in [{"setting": setting, "n_train": n, "p": p, "r": r}]
        for repetition in range(options.repetitions)
    ]
    return run_repetitions(
        units, simulate_hybrid, path=options.path, n_jobs=options.n_jobs, progress=options.progress
    )


def _run_losses_with_hybrid(name: str, setting: int, options: RunOptions) -> pd.DataFrame:
    """Run the paper's cells with the hybrid beside the methods that have coefficients."""
    others = run_cells([setting], PAPER_CELLS, options)
    hybrid = hybrid_records(setting, PAPER_CELLS, options)
    # Its error of coefficients is not defined.
    found = mean_losses(pd.concat([others, hybrid], ignore_index=True)).dropna(subset="ours")
    found.attrs["notes"] = [p_value_note(name, others)]
    return found


def _run_moment(
    moment: str, settings: tuple[int, ...], cells: list[tuple[int, int, float]], options: RunOptions
) -> pd.DataFrame:
    moments = bias_and_variance(run_cells(settings, cells, options))
    return moments[moments["moment"] == moment]


_RULES = "MSE of lasso and ridge is taken at the one-standard-error strength, L01 and RSPE at the best one"
_ERRORS = "Cells agree within three standard errors; those of the print follow from our samples"

_RUN = "nbrlr-simulations"  # every table below reads the same repetitions


def _table(name: str, title: str, minutes: float, run: Callable[[RunOptions], pd.DataFrame]) -> Reproduction:
    return Reproduction(
        name=name,
        title=title,
        needs="simulation",
        minutes=minutes,
        repetitions=REPETITIONS,
        least_repetitions=2,
        shared_run=_RUN,
        run=run,
        remarks=(_RULES, _ERRORS),
    )


def _losses_table(name: str, title: str, setting: int) -> Reproduction:
    return _table(name, title, 2, partial(_run_losses, name, setting, CHAPTER_CELLS))


def _hybrid_table(name: str, title: str, setting: int) -> Reproduction:
    return _table(name, title, 20, partial(_run_losses_with_hybrid, name, setting))


_BIAS, _VARIANCE = "Squared bias of the coefficients", "Variance of the coefficients"
REPRODUCTIONS = (
    _hybrid_table("nbrlr-table1", "Simulation setting 1, logistic model", 1),
    _hybrid_table("nbrlr-table2", "Simulation setting 2, generative model", 2),
    _table("nbrlr-table3", _BIAS, 40, partial(_run_moment, "bias", (1, 2), PAPER_CELLS)),
    _table("nbrlr-table4", _VARIANCE, 40, partial(_run_moment, "variance", (1, 2), PAPER_CELLS)),
    _losses_table("dissertation-table2.1", "Simulation setting 1", 1),
    _losses_table("dissertation-table2.2", "Simulation setting 2", 2),
    _losses_table("dissertation-table2.3", "Simulation setting 3, continuous predictors", 3),
    _table("dissertation-table2.4", _BIAS, 6, partial(_run_moment, "bias", (1, 2, 3), CHAPTER_CELLS)),
    _table("dissertation-table2.5", _VARIANCE, 6, partial(_run_moment, "variance", (1, 2, 3), CHAPTER_CELLS)),
)


def _judged(cells: pd.DataFrame) -> "pd.Series[bool]":
    """All methods but the elastic net, whose tuning is not known."""
    return cells["method"].isin(["NBRLR", "NB", "LR", "Lasso", "Ridge"])


BARS = (
    Bar(
        name="nbrlr",
        tables=("nbrlr-table1", "nbrlr-table2", "nbrlr-table3", "nbrlr-table4"),
        share=0.9,
        words=(
            "Judged: undamaged cells of NBRLR, NB, LR, Lasso and Ridge",
            "A cell agrees within three standard errors; half of the last printed digit is granted",
        ),
        judged=_judged,
    ),
)
