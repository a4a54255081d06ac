"""Records like those of chapter 3 of Tan's dissertation: 15 variables of veterans, most of them incomplete.

The records themselves are confidential. Here is a distribution whose marginal frequencies and missing rates
are those of Table 3.1, and in which post-traumatic stress disorder has the Markov boundary that the chapter
found. The text names only the first layer ("born with") and says that TBI precedes PTSD; the other layers,
and every odds ratio, are ours. Odds ratios lie between 1.2 and 3, or are the inverse of such a number.

Cells are missing at random: more often among old veterans and among men, whose age and sex are always known,
so that a missing cell tells nothing about the disorder that age and sex do not tell.
"""

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.special import expit, softmax

from seminaive.arrays import Floats
from seminaive.errors import InputError
from seminaive_experiments.datasets import Dataset
from seminaive_experiments.papers.reproduction import published_table

__all__ = [
    "LABEL",
    "LAYERS",
    "MARKOV_BOUNDARY",
    "joint_distribution",
    "prevalence",
    "true_posterior",
    "veterans",
]


LABEL = "PTSD"
LAYERS = (
    ("Age", "Gender", "Race", "Ethnicity"),
    (
        "MaritalStatus",
        "Religion",
        "CombatFlag",
        "AgentOrange",
        "IonizingRadiation",
        "SWAsiaConditions",
        "MilitarySexualTrauma",
        "ServiceConnected",
    ),
    ("TBI",),
    (LABEL,),
    ("PC-PTSD-5",),
)
"""The variables in the order of causes: parents stand to the left in the same layer, or in an earlier one."""

MARKOV_BOUNDARY = frozenset(
    {
        "Age",
        "AgentOrange",
        "MaritalStatus",
        "MilitarySexualTrauma",
        "Race",
        "ServiceConnected",
        "TBI",
        "PC-PTSD-5",
    }
)
"""The variables given which all others are independent of the disorder: its parents and its one child."""

MOST_ROWS = 1_113_676

# For each variable and parent: the odds ratio of a value given the parent's value, against the first value of
# the variable that is not listed and the other values of the parent.
_ODDS_RATIOS: dict[str, dict[str, dict[tuple[str, str], float]]] = {
    "Gender": {"Age": {("Young", "F"): 2.0, ("Old", "F"): 1 / 2}},
    "Race": {"Age": {("Young", "Black"): 1.3, ("Young", "Other"): 1.5, ("Old", "Black"): 1 / 1.5}},
    "Ethnicity": {
        "Age": {("Young", "Hispanic/Latino"): 1.5},
        "Race": {("Other", "Hispanic/Latino"): 3.0, ("Black", "Hispanic/Latino"): 1 / 2},
    },
    "MaritalStatus": {
        "Age": {("Young", "Single"): 3.0, ("Old", "Single"): 1 / 1.5, ("Old", "Divorced"): 1 / 1.5},
        "Gender": {("F", "Single"): 1.5, ("F", "Divorced"): 1.5},
    },
    "Religion": {"Age": {("Young", "Other"): 2.0}, "Race": {("Other", "Other"): 2.0}},
    "CombatFlag": {"Age": {("Young", "Y"): 2.0}, "Gender": {("F", "Y"): 1 / 2}},
    "AgentOrange": {
        "Age": {("Young", "Y"): 1 / 3, ("Old", "Y"): 1.5},
        "CombatFlag": {("Y", "Y"): 2.0},
    },
    "IonizingRadiation": {"Age": {("Old", "Y"): 3.0}, "AgentOrange": {("Y", "Y"): 1.5}},
    "SWAsiaConditions": {
        "Age": {("Young", "Y"): 2.5, ("Old", "Y"): 1 / 3},
        "CombatFlag": {("Y", "Y"): 2.0},
    },
    "MilitarySexualTrauma": {"Gender": {("F", "Y"): 3.0}},
    "ServiceConnected": {"CombatFlag": {("Y", "Y"): 1.8}, "SWAsiaConditions": {("Y", "Y"): 1.5}},
    "TBI": {"Age": {("Young", "Y"): 1.8}, "CombatFlag": {("Y", "Y"): 2.5}},
    LABEL: {
        "Age": {("Young", "Y"): 2.0, ("Old", "Y"): 1 / 2},
        "AgentOrange": {("Y", "Y"): 2.0},
        "MaritalStatus": {("Divorced", "Y"): 1.8, ("Single", "Y"): 1.5},
        "MilitarySexualTrauma": {("Y", "Y"): 2.5},
        "Race": {("Black", "Y"): 1.8, ("Other", "Y"): 1.5},
        "ServiceConnected": {("Y", "Y"): 3.0},
        "TBI": {("Y", "Y"): 3.0},
    },
    "PC-PTSD-5": {LABEL: {("Y", "Median"): 2.0, ("Y", "High"): 3.0}},
}
# Odds ratios of a cell being missing.
_MISSING_ODDS = {("Age", "Old"): 1.5, ("Gender", "F"): 1 / 1.5}


@cache
def _variables() -> dict[str, dict[str, float]]:
    """Return the shares of each variable's values among the observed cells, and of missing ones as "NA"."""
    table = published_table("dissertation-table3.1")
    return {
        str(name): dict(zip(rows["category"], rows["frequency"].astype(float) / MOST_ROWS, strict=True))
        for name, rows in table.groupby("variable", sort=False)
    }


def _order() -> list[str]:
    return [name for layer in LAYERS for name in layer]


def _values(name: str) -> list[str]:
    return [value for value in _variables()[name] if value != "NA"]


@cache
def joint_distribution() -> Floats:
    """Return the probability of every combination of values, one axis per variable in the order of `LAYERS`.

    Variable by variable, the intercepts of a multinomial logistic regression on the parents are set such that
    the values have the frequencies of Table 3.1 among the rows in which the cell is not missing.
    """
    joint: Floats = np.ones(())
    for name in _order():
        joint = joint[..., None] * _calibrated(name, joint)
    return joint


def _calibrated(name: str, joint: Floats) -> Floats:
    """Return the variable's probabilities given the earlier ones."""
    logits = _effects(name, joint.ndim)
    target = np.array([_variables()[name][value] for value in _values(name)])
    observed = joint * (1 - _missing_share(name, joint)) if "NA" in _variables()[name] else joint
    target = target / target.sum()
    intercept = np.log(target)
    while True:
        given: Floats = softmax(logits + intercept, axis=-1)
        share = (observed[..., None] * given).sum(axis=tuple(range(joint.ndim))) / observed.sum()
        if np.abs(share - target).max() < 1e-12:
            return given
        intercept += np.log(target / share)


def _effects(name: str, n_earlier: int) -> Floats:
    """Return log odds of the variable's values given the earlier variables, without intercepts."""
    order, values = _order(), _values(name)
    logits = np.zeros((*([1] * n_earlier), len(values)))
    for parent, ratios in _ODDS_RATIOS.get(name, {}).items():
        log_odds = np.zeros((len(_values(parent)), len(values)))
        for (given, value), ratio in ratios.items():
            log_odds[_values(parent).index(given), values.index(value)] = np.log(ratio)
        shape = [1] * n_earlier + [len(values)]
        shape[order.index(parent)] = len(_values(parent))
        logits = logits + log_odds.reshape(shape)
    return logits


def _missing_share(name: str, joint: Floats) -> Floats:
    """Return the probability that a variable is missing, given age and sex, broadcast over the others."""
    ages_and_sexes = joint.sum(axis=tuple(range(2, joint.ndim)))
    log_odds = np.zeros(ages_and_sexes.shape)
    for (given, value), ratio in _MISSING_ODDS.items():
        position = _values(given).index(value)
        index: tuple[Any, ...] = (position,) if given == "Age" else (slice(None), position)
        log_odds[index] += np.log(ratio)
    rate = _variables()[name]["NA"]
    intercept = brentq(lambda level: (ages_and_sexes * expit(level + log_odds)).sum() - rate, -20, 20)
    share: Floats = expit(intercept + log_odds)
    return share.reshape(*share.shape, *([1] * (joint.ndim - 2)))


def veterans(n_rows: int = 20_000, random_state: int = 0) -> Dataset:
    """Draw records.

    Parameters
    ----------
    n_rows : int, default=20000
        The chapter has 1,113,676, which is also the most here.
    random_state : int, default=0
        Seed of the draws.

    Examples
    --------
    >>> records = veterans(50_000)
    >>> (records.y == "Y").mean().round(2), records.X["CombatFlag"].isna().mean().round(1)
    (np.float64(0.23), np.float64(0.9))
    """
    if not 1 <= n_rows <= MOST_ROWS:
        raise InputError(f"expected 1 to {MOST_ROWS:,} rows, got {n_rows}.")
    rng = np.random.default_rng(random_state)
    joint = joint_distribution()
    drawn = np.searchsorted(np.cumsum(joint.ravel()), rng.random(n_rows), side="right")
    codes = dict(zip(_order(), np.unravel_index(np.minimum(drawn, joint.size - 1), joint.shape), strict=True))
    columns = {}
    for name in _variables():
        cells = np.asarray(codes[name]).copy()
        if "NA" in _variables()[name]:
            share = np.squeeze(_missing_share(name, joint))[codes["Age"], codes["Gender"]]
            cells[rng.random(n_rows) < share] = -1
        columns[name] = pd.Categorical.from_codes(cells, pd.Index(_values(name)))
    label = np.asarray(columns.pop(LABEL), dtype=object).astype(str)
    return Dataset("veterans", pd.DataFrame(columns), label)


def prevalence() -> pd.DataFrame:
    """Return the share of veterans with the disorder in every category of every other variable."""
    joint, order = joint_distribution(), _order()
    label, rows = order.index(LABEL), []
    for axis, name in enumerate(order):
        if name == LABEL:
            continue
        others = tuple(set(range(joint.ndim)) - {axis, label})
        table = joint.sum(axis=others)
        by_value = table if axis < label else table.T
        share = by_value[:, _values(LABEL).index("Y")] / by_value.sum(axis=1)
        rows += [
            {"variable": name, "category": value, "prevalence": float(found)}
            for value, found in zip(_values(name), share, strict=True)
        ]
    return pd.DataFrame(rows)


def true_posterior(X: pd.DataFrame) -> Floats:
    """Return the probability of the disorder given the observed cells, under the generator itself.

    No model that is fitted to the records can have a smaller expected squared error.

    Parameters
    ----------
    X : DataFrame
        Records as `veterans` draws them.
    """
    order = _order()
    names = [name for name in order if name in MARKOV_BOUNDARY]
    # Given the boundary the others tell nothing, but where a cell of the boundary is missing they do.
    incomplete = X[names].isna().any(axis=1).to_numpy()
    joint = joint_distribution()
    posterior = np.empty(len(X))
    for rows, kept in ((~incomplete, names), (incomplete, [name for name in order if name != LABEL])):
        posterior[rows] = _posterior(joint, X[rows], kept)
    return posterior


def _posterior(joint: Floats, X: pd.DataFrame, names: list[str]) -> Floats:
    """Return the posterior of records by summing the joint distribution over what each of them lacks."""
    order = _order()
    axes = [order.index(name) for name in names]
    others = tuple(set(range(joint.ndim)) - {*axes, order.index(LABEL)})
    table = joint.sum(axis=others)
    table = np.moveaxis(table, sorted([*axes, order.index(LABEL)]).index(order.index(LABEL)), -1)
    codes = np.column_stack([pd.Categorical(X[name], categories=_values(name)).codes for name in names])
    posterior = np.empty(len(X))
    patterns, pattern_of_row = np.unique(codes < 0, axis=0, return_inverse=True)
    for pattern, missing in enumerate(patterns):
        rows = pattern_of_row.ravel() == pattern
        known = table.sum(axis=tuple(np.flatnonzero(missing)))
        cell = known[tuple(codes[rows][:, ~missing].T)]
        posterior[rows] = cell[:, 1] / cell.sum(axis=1)
    return posterior
