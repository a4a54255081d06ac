"""Some hundred odd inputs: each is fitted and predicted, or refused by an error of this package."""

import warnings

import numpy as np
import pytest
from odd_inputs import odd_inputs
from sklearn.base import BaseEstimator
from sklearn.utils.validation import has_fit_parameter

import seminaive
from seminaive.errors import SeminaiveError

INPUTS = odd_inputs()
ESTIMATORS = [
    made
    for made in (getattr(seminaive, name) for name in seminaive.__all__)
    if isinstance(made, type) and issubclass(made, BaseEstimator)
]
# Every estimator meets an input of each of this many in a row; the slow test has all of them.
STEP = 23
WARNINGS = (RuntimeWarning, DeprecationWarning, FutureWarning)


def use(estimator, X, y, sample_weight):
    """Fit, and ask for answers; none may be infinite."""
    takes_weights = has_fit_parameter(estimator, "sample_weight") and sample_weight is not None
    weighted = {"sample_weight": sample_weight} if takes_weights else {}
    estimator.fit(X, y, **weighted)
    if not hasattr(estimator, "predict_proba"):
        estimator.transform(X)
        return
    probabilities = estimator.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, rtol=1e-12)
    estimator.predict(X)
    if hasattr(X, "iloc"):
        estimator.predict_proba(X.iloc[:2])
    if hasattr(estimator, "predict_interval"):
        assert np.isfinite(estimator.predict_interval(X)).all()


def check_no_bare_error(estimator, name, strict=WARNINGS):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        X, y, sample_weight = INPUTS[name]()
        for kind in strict:
            warnings.simplefilter("error", kind)
        try:
            use(estimator(), X, y, sample_weight)
        except SeminaiveError as error:
            assert len(str(error)) > 20, "the error is no sentence"  # noqa: PT017 - of many inputs
        except Exception as error:
            error.add_note(f"{estimator.__name__} with {name}")
            raise


@pytest.mark.parametrize("kind", sorted({name.split(":")[0] for name in INPUTS}))
def test_odd_inputs_raise_no_bare_error(kind):
    for name in INPUTS:
        if name.split(":")[0] == kind:
            check_no_bare_error(seminaive.NaiveBayes, name)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda made: made.__name__)
def test_no_estimator_lets_odd_inputs_through(estimator):
    for name in list(INPUTS)[ESTIMATORS.index(estimator) % STEP :: STEP]:
        check_no_bare_error(estimator, name, strict=())


@pytest.mark.slow
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda made: made.__name__)
def test_no_estimator_raises_a_bare_error_at_any_input(estimator):
    for name in INPUTS:
        check_no_bare_error(estimator, name, strict=())
