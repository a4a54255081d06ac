"""How many rows a model of two classes needs, before there is any: the criteria of Riley and colleagues.

Riley, Ensor, Snell, Harrell, Martin, Reitsma, Moons, Collins and van Smeden, Calculating the sample size
required for developing a clinical prediction model, BMJ 368, 2020, m441. Riley, Van Calster and Collins, A
note on estimating the Cox-Snell R2 from a reported C statistic (AUROC) to inform sample size calculations for
developing a prediction model with a binary outcome, Statistics in Medicine 40, 2021.
"""

from dataclasses import dataclass
from math import ceil

import numpy as np
from scipy.integrate import quad
from scipy.special import entr, log_expit
from scipy.stats import norm

from seminaive.errors import InputError


@dataclass(frozen=True)
class RowsNeeded:
    """Rows by each criterion; the largest number meets all.

    Attributes
    ----------
    shrinkage : int
        For coefficients that have to be shrunk by a tenth at most.
    optimism : int
        For an apparent share of explained variation (Nagelkerke's R2) at most .05 too high.
    intercept : int
        For a share of the class that is known to .05.
    rows : int
        The largest of them.
    events : int
        Rows of the class among these.
    cox_snell : float
        The share of explained variation (Cox and Snell's R2) that was reckoned with.
    """

    shrinkage: int
    optimism: int
    intercept: int
    rows: int
    events: int
    cox_snell: float


def rows_needed(
    n_columns: int,
    prevalence: float,
    expected_auc: float | None = None,
    *,
    cox_snell: float | None = None,
    shrinkage: float = 0.9,
    optimism: float = 0.05,
    margin: float = 0.05,
) -> RowsNeeded:
    """Return how many rows a logistic regression of two classes needs, by the criteria of Riley et al.

    They are for a regression without a penalty whose coefficients were chosen beforehand. A penalty needs
    fewer rows for the same loss on average, but can itself be chosen badly where rows are few.

    Parameters
    ----------
    n_columns : int
        Coefficients that are learned: a number has one, a category one less than its values, and so on.
    prevalence : float
        Expected share of the rarer class, or of either.
    expected_auc : float or None
        The AUC that earlier models of the same thing had, above .5 and below 1.
    cox_snell : float or None
        Cox and Snell's R2, where it is known, instead of the AUC.
    shrinkage : float, default=0.9
        The least factor by which coefficients have to be multiplied for new rows.
    optimism : float, default=0.05
        The most by which the apparent Nagelkerke R2 may be too high.
    margin : float, default=0.05
        Half the 95 % interval of the class's share.

    Returns
    -------
    RowsNeeded

    Examples
    --------
    >>> rows_needed(24, prevalence=0.174, cox_snell=0.288)
    RowsNeeded(shrinkage=623, optimism=662, intercept=221, rows=662, events=116, cox_snell=0.288)
    """
    if not isinstance(n_columns, int | np.integer) or n_columns < 1:
        raise InputError(f"n_columns is a number of 1 or more, got {n_columns!r}")
    for name, value in (
        ("prevalence", prevalence),
        ("shrinkage", shrinkage),
        ("optimism", optimism),
        ("margin", margin),
    ):
        if not 0 < value < 1:
            raise InputError(f"{name} is above 0 and below 1, got {value}")
    if (expected_auc is None) == (cox_snell is None):
        raise InputError("give either expected_auc or cox_snell, whichever is known of earlier models")
    explained = cox_snell or 0.0 if expected_auc is None else cox_snell_of_auc(expected_auc, prevalence)
    # Of a model that is always right: 1 - exp(2 log likelihood of the shares per row).
    most = 1 - float(np.exp(-2 * (entr(prevalence) + entr(1 - prevalence))))
    if not 0 < explained < most:
        raise InputError(
            f"cox_snell is above 0 and below {most:.3f}, its maximum at this prevalence, got {explained}"
        )
    by_shrinkage = _rows_for(shrinkage, n_columns, explained)
    by_optimism = _rows_for(explained / (explained + optimism * most), n_columns, explained)
    by_intercept = ceil((norm.ppf(0.975) / margin) ** 2 * prevalence * (1 - prevalence))
    rows = max(by_shrinkage, by_optimism, by_intercept)
    return RowsNeeded(
        by_shrinkage, by_optimism, by_intercept, rows, ceil(rows * prevalence), round(explained, 6)
    )


def _rows_for(shrinkage: float, n_columns: int, explained: float) -> int:
    """Return the rows for which coefficients are to be multiplied by a factor in expectation."""
    if explained >= shrinkage:  # the formula has no answer beyond: so much is explained that any rows will do
        return n_columns + 1
    return ceil(float(n_columns / ((shrinkage - 1) * np.log(1 - explained / shrinkage))))


def cox_snell_of_auc(auc: float, prevalence: float) -> float:
    """Return Cox and Snell's R2 of a model with an AUC, its scores being normal in both classes.

    With equal variances the means lie ``sqrt(2) * Phi^-1(AUC)`` deviations apart, and the log odds are linear
    in the score: the likelihood per row is an integral, where Riley and colleagues simulate a million rows.

    Parameters
    ----------
    auc : float
        Above .5 and below 1.

    Examples
    --------
    >>> round(cox_snell_of_auc(0.8, 0.2), 3)
    0.183
    """
    if not 0.5 < auc < 1:
        raise InputError(f"expected_auc is above .5 and below 1, got {auc}")
    apart = np.sqrt(2) * norm.ppf(auc)
    shift = np.log(prevalence / (1 - prevalence)) - apart**2 / 2

    def of_event(x: float) -> float:
        return float(norm.pdf(x - apart) * log_expit(shift + apart * x))

    def of_other(x: float) -> float:
        return float(norm.pdf(x) * log_expit(-shift - apart * x))

    ends = (-10.0, 10.0 + float(apart))
    fitted = prevalence * quad(of_event, *ends)[0] + (1 - prevalence) * quad(of_other, *ends)[0]
    alone = -float(entr(prevalence) + entr(1 - prevalence))
    return float(-np.expm1(-2 * (fitted - alone)))
