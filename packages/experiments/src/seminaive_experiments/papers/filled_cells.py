"""Missing cells filled in from their distribution given the class, as the papers on NBRLR do.

Both the paper and chapter 2 of the dissertation draw a missing category from ``P(x_ij | y_i)`` and a missing
number from a normal distribution with the mean and variance of its class, once, before they split the rows.
The labels of test rows therefore shape their own cells: losses on a table with missing cells are optimistic.
That is why this is part of the papers' protocols and no preprocessing of our models.
"""

from seminaive.structure import ClassConditionalImputer
from seminaive_experiments.datasets import Dataset

__all__ = ["impute_given_class"]


def impute_given_class(dataset: Dataset, random_state: int) -> Dataset:
    """Draw every missing cell of a whole table given its class, by `ClassConditionalImputer`.

    A class in which a column was never observed borrows the whole column, and a column that was never
    observed stays as it is.

    Parameters
    ----------
    random_state : int
        Seed of the draws.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> X = pd.DataFrame({"vote": ["yes", "yes", None, "no", None], "age": [1.0, 1.0, np.nan, 3.0, 3.0]})
    >>> filled = impute_given_class(Dataset("toy", X, np.array(["d", "d", "d", "r", "r"])), random_state=0)
    >>> filled.X["vote"].tolist(), filled.X["age"].tolist()
    (['yes', 'yes', 'yes', 'no', 'no'], [1.0, 1.0, 1.0, 3.0, 3.0])
    """
    imputer = ClassConditionalImputer(random_state=random_state)
    X = imputer.fit_transform(dataset.X, dataset.y)
    return Dataset(dataset.name, X, dataset.y, dataset.test_rows)
