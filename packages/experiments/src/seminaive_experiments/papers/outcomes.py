"""Who wins a table: a paired t test over the splits, as Tan's texts count wins, draws and losses."""

from typing import TYPE_CHECKING, Any

from scipy.stats import ttest_1samp

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["t_test_outcome"]

LEVEL, ROUNDING = 0.05, 1e-12


def t_test_outcome(difference: "pd.Series[Any]") -> str:
    """Return "win" where a two-tailed test finds the losses of the first method lower; else "draw" or "loss".

    Parameters
    ----------
    difference : Series
        Loss of the first method less that of the second, split by split.
    """
    varies = difference.std() > ROUNDING
    if not varies and abs(difference.mean()) <= ROUNDING:
        return "draw"
    if varies and ttest_1samp(difference, 0.0).pvalue >= LEVEL:
        return "draw"
    return "win" if difference.mean() < 0 else "loss"
