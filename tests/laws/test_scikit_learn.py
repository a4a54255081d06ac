"""scikit-learn's own checks, over every public estimator: a new one cannot be forgotten."""

import pytest
from sklearn.base import BaseEstimator
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

import seminaive

# What the checks ask of an estimator does not depend on how long it searches, and some have a class per row.
# They compare scores to 1e-7, and fits to the default `tol` differ from each other by that much.
OPTIONS = {
    "AcceleratedLogisticRegression": {"max_iter": 50, "tol": 1e-7},
    "HigherOrderLogisticRegression": {"max_iter": 50, "tol": 1e-7},
    "SparseBayesianNetwork": {"strengths": 5},
}
ESTIMATORS = [
    getattr(seminaive, name)(**OPTIONS.get(name, {}))
    for name in seminaive.__all__
    if isinstance(getattr(seminaive, name), type) and issubclass(getattr(seminaive, name), BaseEstimator)
]

# Check -> reason, for every estimator that takes sparse tables.
WITH_SPARSE_TABLES = {
    "check_sample_weight_equivalence_on_sparse_data": "sparse cells are indicators, the check has counts"
}


# The same for every estimator that chooses by held-out rows.
WITH_HELD_OUT_ROWS = {
    "check_sample_weight_equivalence_on_dense_data": "a weight says how much a row matters, not how many "
    "rows it is: see test_weights.py"
}


def expected_failures(estimator):
    found = WITH_SPARSE_TABLES if get_tags(estimator).input_tags.sparse else {}
    return found | WITH_HELD_OUT_ROWS if "cv" in estimator.get_params() else found


def test_estimators_were_discovered():
    assert "NaiveBayes" in {type(estimator).__name__ for estimator in ESTIMATORS}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # the checks fit absurd data
@pytest.mark.filterwarnings("ignore::seminaive.errors.EmptyBlanketWarning")
@pytest.mark.filterwarnings("ignore::seminaive.errors.FoldsWarning")  # some data have a class of one row
@pytest.mark.filterwarnings("ignore::seminaive.errors.WeightsWarning")  # some have whole weights
@pytest.mark.filterwarnings("ignore:Estimator's parameters changed:UserWarning")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_estimator_passes_scikit_learns_checks(estimator, check):
    check(estimator)
