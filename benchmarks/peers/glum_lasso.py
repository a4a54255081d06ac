"""glum: the lasso path of a logistic model, warm-started, with an offset."""

import warnings

import numpy as np
import pandas as pd
from glum import GeneralizedLinearRegressor


def glum_path(columns, y, strengths, offset, gradient_tol):
    """Solve for every strength, the largest first; columns include the ones column. (S, d) coefficients."""
    model = GeneralizedLinearRegressor(
        family="binomial",
        l1_ratio=1.0,
        alpha=list(np.asarray(strengths) / len(y)),
        alpha_search=True,
        fit_intercept=False,
        gradient_tol=gradient_tol,
        max_iter=500,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(columns, y, offset=offset)
    return model.coef_path_


def glum_on_categories(codes, y, strengths, tol):
    """Solve the lasso with a free intercept on columns of categories, the first of each dropped."""
    frame = pd.DataFrame(
        {
            f"c{f}": pd.Categorical(column, categories=range(column.max() + 1))
            for f, column in enumerate(codes.T)
        }
    )
    model = GeneralizedLinearRegressor(
        family="binomial",
        l1_ratio=1.0,
        alpha=list(np.asarray(strengths) / len(y)),
        alpha_search=True,
        drop_first=True,
        gradient_tol=tol * max(strengths) / len(y),
        max_iter=100,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(frame, y)
    return model.coef_path_
