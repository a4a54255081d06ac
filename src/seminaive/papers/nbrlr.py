"""Naive Bayes regularised logistic regression: the simulations of the paper and of the dissertation.

Tan, Sherwood and Shenoy, "A naive Bayes regularized logistic regression model for classification", and
chapter 2 of Tan's dissertation. The settings are those of ``simulations``.

What the paper does not say, found by reproducing it: lasso and ridge report the error of the coefficients
at the strength of the one-standard-error rule and the losses at the strength of least deviance; the
elastic net is tuned on 0-1 loss.
"""

import warnings
from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import expit

from seminaive.errors import ConvergenceWarning
from seminaive.evaluate import (
    coefficient_error,
    root_squared_probability_error,
    run_repetitions,
    zero_one_loss,
)
from seminaive.models import NaiveBayesLogisticRegressionCV
from seminaive.papers.acceptance import Bar
from seminaive.papers.factor_hybrid import FactorHybrid
from seminaive.papers.p_values import agreeing_sides, paired_t_p_values
from seminaive.papers.reproduction import Reproduction, RunOptions, Tolerance, published_table
from seminaive.papers.simulations import Simulation

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
]

# A path of 100 strengths that ends where it ends, and the strength of the least mean loss over ten folds.
PATH_OF_THE_PAPERS: dict[str, Any] = {"strengths": 100, "extend": False, "cv": 10, "selection": "min"}
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
TEST_ROWS = 1000
PAPER_CELLS = [(n, p, r) for n in (100, 2000) for p in (10, 50) for r in (0.1, 0.6)]
CHAPTER_CELLS = [(100, p, r) for p in (10, 50) for r in (0.1, 0.6)]

Floats = npt.NDArray[np.float64]


def _estimates(
    X: npt.NDArray[np.number], y: npt.NDArray[np.int64], categorical: list[int]
) -> dict[str, Floats]:
    """Return the coefficients of every method; "Lasso at 1se" and "Ridge at 1se" by the cautious rule."""
    nbrlr = NaiveBayesLogisticRegressionCV(categorical_features=categorical, **PAPERS_PROTOCOL).fit(X, y)
    # The model has the coefficients of numbers before those of categories.
    numbers = [j for j in range(X.shape[1]) if j not in categorical]
    as_given = [0, *(1 + np.argsort([*numbers, *categorical]))]
    fitted = {"NBRLR": nbrlr.coefficients_, "LR": nbrlr.maximum_likelihood_, "NB": nbrlr.target_}
    found = {name: coefficients[as_given] for name, coefficients in fitted.items()}
    for name, penalty, scoring in (
        ("Lasso", "l1", "log-loss"),
        ("Ridge", "l2", "log-loss"),
        ("ElasticNet", 0.5, "zero-one"),
    ):
        model = NaiveBayesLogisticRegressionCV(
            target="zero",
            penalty=penalty,
            scoring=scoring,
            standardize=True,
            penalize_intercept=False,
            **PATH_OF_THE_PAPERS,
        ).fit(X.astype(float), y)
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
    """Average the three losses over repetitions, with standard errors: Tables 1 and 2."""
    long = records.melt(["setting", "n_train", "p", "r", "method"], ["MSE", "L01", "RSPE"], "metric", "loss")
    cells = long.groupby(["setting", "metric", "n_train", "p", "r", "method"], sort=False)["loss"]
    return cells.agg(ours="mean", se="sem").reset_index()


def bias_and_variance(records: pd.DataFrame) -> pd.DataFrame:
    """Squared bias and variance of the coefficients, averaged over them: Tables 3 and 4."""
    rows = []
    keys = ["setting", "n_train", "p", "r", "method"]
    for _, group in records.groupby(keys, sort=False):
        cell = {key: group[key].iloc[0].item() if key != "method" else group[key].iloc[0] for key in keys}
        estimates = np.array([text.split() for text in group["coefficients"]], dtype=float)
        truth = Simulation(cell["setting"], cell["p"], cell["r"]).true_coefficients()
        error = coefficient_error(estimates, truth)
        rows.append({**cell, "bias": error.squared_bias, "variance": error.variance})
    return pd.DataFrame(rows)


def p_value_note(name: str, records: pd.DataFrame) -> str:
    """Say how many printed p-values, paired t tests against NBRLR, are on our side of 0.05."""
    if records["repetition"].nunique() < 2:
        return "One repetition: no paired t tests against NBRLR"
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
    return bias_and_variance(run_cells(settings, cells, options)).rename(columns={moment: "ours"})


_LOSSES = {
    "MSE": Tolerance(relative=0.3),
    "L01": Tolerance(absolute=0.01),
    "RSPE": Tolerance(absolute=0.008),
}
# The mean of 100 estimates is known to a tenth of their standard deviation, which alone adds a hundredth of
# the variance to the squared bias.
_BIAS = {"value": Tolerance(absolute=0.005, relative=0.3)}
_VARIANCE = {"value": Tolerance(relative=0.3)}
_SEPARABLE = (
    "LR at N = 100, p = 50: the classes are separable, and the printed coefficients tell when the authors' "
    "optimiser gave up"
)
_RULES = "MSE of lasso and ridge is taken at the one-standard-error strength, L01 and RSPE at the best one"

_RUN = "nbrlr-simulations"  # every table below reads the same repetitions

REPRODUCTIONS = (
    Reproduction(
        name="nbrlr-table1",
        title="Simulation setting 1, logistic model",
        needs="simulation",
        minutes=20,
        repetitions=100,
        shared_run=_RUN,
        run=partial(_run_losses_with_hybrid, "nbrlr-table1", 1),
        tolerances=_LOSSES,
        remarks=(_SEPARABLE, _RULES),
    ),
    Reproduction(
        name="nbrlr-table2",
        title="Simulation setting 2, generative model",
        needs="simulation",
        minutes=20,
        repetitions=100,
        shared_run=_RUN,
        run=partial(_run_losses_with_hybrid, "nbrlr-table2", 2),
        tolerances=_LOSSES,
        remarks=(_SEPARABLE, _RULES),
    ),
    Reproduction(
        name="nbrlr-table3",
        title="Squared bias of the coefficients",
        needs="simulation",
        minutes=40,
        repetitions=100,
        least_repetitions=2,
        shared_run=_RUN,
        run=partial(_run_moment, "bias", (1, 2), PAPER_CELLS),
        tolerances=_BIAS,
        remarks=(_SEPARABLE,),
    ),
    Reproduction(
        name="nbrlr-table4",
        title="Variance of the coefficients",
        needs="simulation",
        minutes=40,
        repetitions=100,
        least_repetitions=2,
        shared_run=_RUN,
        run=partial(_run_moment, "variance", (1, 2), PAPER_CELLS),
        tolerances=_VARIANCE,
        remarks=(_SEPARABLE,),
    ),
    Reproduction(
        name="dissertation-table2.1",
        title="Simulation setting 1",
        needs="simulation",
        minutes=2,
        repetitions=100,
        shared_run=_RUN,
        run=partial(_run_losses, "dissertation-table2.1", 1, CHAPTER_CELLS),
        tolerances=_LOSSES,
        remarks=(_SEPARABLE, _RULES),
    ),
    Reproduction(
        name="dissertation-table2.2",
        title="Simulation setting 2",
        needs="simulation",
        minutes=2,
        repetitions=100,
        shared_run=_RUN,
        run=partial(_run_losses, "dissertation-table2.2", 2, CHAPTER_CELLS),
        tolerances=_LOSSES,
        remarks=(_SEPARABLE, _RULES),
    ),
    Reproduction(
        name="dissertation-table2.3",
        title="Simulation setting 3, continuous predictors",
        needs="simulation",
        minutes=2,
        repetitions=100,
        shared_run=_RUN,
        run=partial(_run_losses, "dissertation-table2.3", 3, CHAPTER_CELLS),
        tolerances=_LOSSES,
        remarks=(_SEPARABLE, _RULES, "NBRLR's MSE at p = 10 does not reproduce"),
    ),
    Reproduction(
        name="dissertation-table2.4",
        title="Squared bias of the coefficients",
        needs="simulation",
        minutes=6,
        repetitions=100,
        least_repetitions=2,
        shared_run=_RUN,
        run=partial(_run_moment, "bias", (1, 2, 3), CHAPTER_CELLS),
        tolerances=_BIAS,
        remarks=(_SEPARABLE,),
    ),
    Reproduction(
        name="dissertation-table2.5",
        title="Variance of the coefficients",
        needs="simulation",
        minutes=6,
        repetitions=100,
        least_repetitions=2,
        shared_run=_RUN,
        run=partial(_run_moment, "variance", (1, 2, 3), CHAPTER_CELLS),
        tolerances=_VARIANCE,
        remarks=(_SEPARABLE,),
    ),
)


def _judged(cells: pd.DataFrame) -> "pd.Series[bool]":
    """NBRLR, naive Bayes, lasso, ridge, and logistic regression where the classes are not separable."""
    separable = (cells["method"] == "LR") & (cells["n_train"] == 100) & (cells["p"] == 50)
    return cells["method"].isin(["NBRLR", "NB", "LR", "Lasso", "Ridge"]) & ~separable


BARS = (
    Bar(
        name="nbrlr",
        tables=("nbrlr-table1", "nbrlr-table2", "nbrlr-table3", "nbrlr-table4"),
        share=0.9,
        words=(
            "Judged: undamaged cells of NBRLR, NB, Lasso, Ridge, and LR but for N = 100, p = 50 (separable)",
            "A cell agrees within 0.01 on L01, 0.008 on RSPE, 30 % on MSE and variance",
            "On squared bias within 30 % plus 0.005; everywhere half of the last printed digit is granted",
        ),
        judged=_judged,
    ),
)
