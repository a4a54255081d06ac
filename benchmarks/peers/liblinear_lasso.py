"""liblinear through scikit-learn: the lasso with a penalised intercept, one fit per strength."""

import warnings

import numpy as np
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV


def liblinear_path(X, y, strengths, tol):
    """Solve for every strength on its own: liblinear has no warm start. (S, d) coefficients."""
    found = []
    for strength in strengths:
        model = LogisticRegression(l1_ratio=1.0, solver="liblinear", C=1 / strength, tol=tol, max_iter=20_000)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X, y)
        found.append(np.concatenate([model.intercept_, model.coef_[0]]))
    return np.array(found)


def liblinear_cv(X, y, strengths, folds):
    """Cross-validate the same strengths at scikit-learn's default tolerance."""
    model = LogisticRegressionCV(
        Cs=1 / np.asarray(strengths),
        cv=folds,
        l1_ratios=(1.0,),
        solver="liblinear",
        scoring="neg_log_loss",
        use_legacy_attributes=False,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, y)
