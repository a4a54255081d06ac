"""Compare ways of filling missing cells in by what logistic regression then says, and how surely.

500 rows: a class, a category that is complete, and a number that is missing more often in one class and for
one category. The coefficients of number and category are 1. For each way: the mean of the number's
coefficient, and the share of 95 % intervals that contain the truth, over 80 tables.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import norm, t
from sklearn.experimental import enable_iterative_imputer  # noqa: F401 - scikit-learn asks for it
from sklearn.impute import IterativeImputer

from seminaive import ClassConditionalImputer, MultipleImputer, NaiveBayesLogisticRegression
from seminaive.structure import PooledClassifier

sys.path.insert(0, str(Path(__file__).parent.parent))
from race import keep

N_ROWS, TABLES, TRUTH = 500, 80, 1.0


def draw(rng):
    """Return a table with missing cells, and its classes."""
    group = rng.integers(0, 2, N_ROWS)
    dose = rng.normal(size=N_ROWS) + group
    y = rng.random(N_ROWS) < 1 / (1 + np.exp(0.5 - group - TRUTH * dose))
    lost = rng.random(N_ROWS) < 0.2 + 0.3 * y + 0.2 * group
    X = pd.DataFrame({"group": np.where(group, "b", "a"), "dose": np.where(lost, np.nan, dose)})
    return X, y.astype(int)


def single(X, y):
    """Return estimate, standard error and degrees of freedom of the coefficient from a complete table."""
    model = NaiveBayesLogisticRegression(strength=0.0).fit(X, y)
    place = model.coefficient_names_.index("dose")
    return model.coefficients_[place], np.sqrt(model.coefficient_covariance(X)[place, place]), np.inf


def complete_rows(X, y, seed):  # noqa: ARG001 - nothing is drawn
    kept = X["dose"].notna().to_numpy()
    return single(X[kept], y[kept])


def mean(X, y, seed):  # noqa: ARG001 - nothing is drawn
    return single(X.fillna({"dose": X["dose"].mean()}), y)


def iterative(X, y, seed):
    numbers = np.column_stack([X["group"] == "b", X["dose"]]).astype(float)
    filled = IterativeImputer(sample_posterior=True, random_state=seed).fit_transform(numbers)
    return single(X.assign(dose=filled[:, 1]), y)


def given_class(X, y, seed):
    return single(ClassConditionalImputer(random_state=seed).fit_transform(X, y), y)


def once(X, y, seed):
    return single(MultipleImputer(1, random_state=seed).fit_transform(X, y), y)


def pooled(X, y, seed, labels=True):
    imputer = MultipleImputer(10, random_state=seed)
    fitted = PooledClassifier(NaiveBayesLogisticRegression(strength=0.0), imputer=imputer)
    if labels:
        report = fitted.fit(X, y).coefficients_report_.set_index("coefficient").loc["dose"]
        return report["mean"], report["standard_error"], report["degrees_of_freedom"]
    tables = list(imputer.fit(X).completions(X))
    found = np.array([single(table, y)[:2] for table in tables])
    between = found[:, 0].var(ddof=1)
    total = (found[:, 1] ** 2).mean() + 1.1 * between
    return found[:, 0].mean(), np.sqrt(total), 9 * (total / (1.1 * between)) ** 2


def unlabelled(X, y, seed):
    return pooled(X, y, seed, labels=False)


WAYS = {
    "complete rows only": complete_rows,
    "the mean": mean,
    "scikit-learn's IterativeImputer, one draw": iterative,
    "ClassConditionalImputer": given_class,
    "MultipleImputer, one completion": once,
    "MultipleImputer, ten completions, labels left out": unlabelled,
    "MultipleImputer, ten completions": pooled,
}


if __name__ == "__main__":
    n_tables = int(sys.argv[1]) if len(sys.argv) > 1 else TABLES
    found = {name: [] for name in WAYS}
    for seed in range(n_tables):
        X, y = draw(np.random.default_rng(seed))
        for name, way in WAYS.items():
            estimate, error, freedom = way(X, y, seed)
            reach = norm.ppf(0.975) if np.isinf(freedom) else t(freedom).ppf(0.975)
            found[name].append((estimate, error, abs(estimate - TRUTH) < reach * error))
    table = []
    for name, rows in found.items():
        estimates, errors, covered = np.array(rows, dtype=float).T
        cells = (estimates.mean(), estimates.std(ddof=1), errors.mean(), covered.mean())
        table.append([name, *(f"{cell:.3f}" for cell in cells)])
        print(*table[-1], flush=True)
    heads = ["way", "mean coefficient", "deviation", "mean standard error", "coverage"]
    keep("imputation", heads, table, ["scikit-learn"], f"{n_tables}")
