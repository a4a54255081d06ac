"""Missing cells filled in from their distribution given the class, as the papers on NBRLR do.

Both the paper and chapter 2 of the dissertation draw a missing category from ``P(x_ij | y_i)`` and a missing
number from a normal distribution with the mean and variance of its class, once, before they split the rows.
The labels of test rows therefore shape their own cells: losses on a table with missing cells are optimistic.
That is why this is part of the papers' protocols and no preprocessing of our models.
"""

import numpy as np
import numpy.typing as npt
import pandas as pd

from seminaive.evaluate.datasets import Dataset

__all__ = ["impute_given_class"]


def impute_given_class(dataset: Dataset, random_state: int) -> Dataset:
    """Draw every missing cell from the observed cells of its column and class.

    Categories are drawn by their shares; numbers from the normal distribution of the observed ones, with the
    variance of maximum likelihood. A class in which a column was never observed borrows the whole column,
    and a column that was never observed stays as it is.

    Parameters
    ----------
    dataset : Dataset
    random_state : int
        Seed of the draws.

    Examples
    --------
    >>> X = pd.DataFrame({"vote": ["yes", "yes", None, "no", None], "age": [1.0, 1.0, np.nan, 3.0, 3.0]})
    >>> filled = impute_given_class(Dataset("toy", X, np.array(["d", "d", "d", "r", "r"])), random_state=0)
    >>> filled.X["vote"].tolist(), filled.X["age"].tolist()
    (['yes', 'yes', 'yes', 'no', 'no'], [1.0, 1.0, 1.0, 3.0, 3.0])
    """
    rng = np.random.default_rng(random_state)
    columns = {name: _filled(column, dataset.y, rng) for name, column in dataset.X.items()}
    return Dataset(dataset.name, pd.DataFrame(columns, index=dataset.X.index), dataset.y, dataset.test_rows)


def _filled(column: pd.Series, y: npt.NDArray, rng: np.random.Generator) -> pd.Series:
    missing = column.isna().to_numpy()
    if not missing.any() or missing.all():
        return column
    numeric = pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)
    filled = column.astype(float) if numeric else column.copy()
    for label in np.unique(y[missing]):
        empty = missing & (y == label)
        seen = ~missing & (y == label)
        observed = column[seen if seen.any() else ~missing].to_numpy()
        if numeric:
            drawn = rng.normal(observed.mean(), observed.std(), empty.sum())
        else:
            drawn = rng.choice(observed, empty.sum())
        filled[empty] = drawn
    return filled
