"""Parameters that are not what they should be are refused with a sentence that names them."""

import numpy as np
import pytest

import seminaive
from seminaive.errors import InputError
from seminaive.models import parameters

STRANGE = {
    "number": ["x", None, [], np.nan, np.inf, -1.0, True, 10**400],
    "whole": ["x", None, [], np.nan, 0, -1, 1.5, True, 99999999999999999999],
    "jobs": ["x", [], np.nan, 0, 1.5, True, 10**30],
    "choice": ["x", None, [], 1, True],
}
WIRED = {
    "NaiveBayes": {"smoothing": "number", "variance_floor": "number", "variances": "choice"},
    "AveragedJoinEstimators": {"smoothing": "number", "order": "whole", "estimates": "choice"},
    "AveragedDependenceEstimators": {
        "smoothing": "number",
        "order": "whole",
        "estimates": "choice",
        "min_count": "number",
        "n_jobs": "jobs",
    },
    "AcceleratedLogisticRegression": {"n_jobs": "jobs"},
    "HigherOrderLogisticRegression": {"n_jobs": "jobs"},
    "HigherOrderLogisticRegressionCV": {"n_jobs": "jobs"},
    "NaiveBayesLogisticRegressionCV": {"n_jobs": "jobs"},
}


@pytest.mark.parametrize(
    ("model", "name", "value"),
    [
        (model, name, value)
        for model, checked in WIRED.items()
        for name, kind in checked.items()
        for value in STRANGE[kind]
    ],
)
def test_a_strange_parameter_is_refused_by_its_name(weather, model, name, value):
    with pytest.raises(InputError, match=f"^{name} is .*got "):
        getattr(seminaive, model)(**{name: value}).fit(*weather)


@pytest.mark.parametrize(
    ("check", "arguments"),
    [
        (parameters.check_search, ("x", 5)),
        (parameters.check_search, (0.0, 5)),
        (parameters.check_search, (1e-3, None)),
        (parameters.check_search, (1e-3, 0)),
        (parameters.check_strengths, ("ridge", "x", 2, "a number or two")),
        (parameters.check_strengths, ("ridge", [1.0], 2, "a number or two")),
        (parameters.check_strengths, ("ridge", [1.0, -1.0], 2, "a number or two")),
        (parameters.check_strengths, ("ridge", [1.0, "x"], 2, "a number or two")),
        (parameters.check_strengths, ("ridge", None, 2, "a number or two")),
        (parameters.check_numbers, ("ridges", [], "a list")),
        (parameters.check_numbers, ("ridges", [np.nan], "a list")),
        (parameters.check_numbers, ("ridges", 1.0, "a list")),
        (parameters.check_flag, ("hierarchical", 1)),
    ],
)
def test_checks_refuse(check, arguments):
    with pytest.raises(InputError, match=r"is .*got "):
        check(*arguments)


@pytest.mark.parametrize(
    ("given", "same"),
    [
        ({"tol": np.float32(2**-10)}, {"tol": 2**-10}),
        ({"max_iter": np.int64(7)}, {"max_iter": 7}),
        ({"ridge": np.array([1.0, 2.0])}, {"ridge": (1.0, 2.0)}),
        ({"ridge": 1}, {"ridge": [1.0, np.float64(1.0)]}),
        ({"n_jobs": None}, {"n_jobs": np.int32(1)}),
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_numbers_of_numpy_and_of_python_give_the_same_model(given, same, weather):
    first, second = (
        seminaive.HigherOrderLogisticRegression(order=2, **parameters).fit(*weather).predict_proba(weather[0])
        for parameters in (given, same)
    )
    np.testing.assert_array_equal(first, second)
