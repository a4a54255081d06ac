"""Folds are what the user means: groups stay whole, splitters are followed, no class is left out."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.metrics import log_loss
from sklearn.model_selection import GroupKFold, KFold, TimeSeriesSplit

from seminaive import (
    AttributeWeightedNaiveBayes,
    ForwardStagewiseNaiveBayes,
    GroupRegularizedNaiveBayes,
    HigherOrderLogisticRegressionCV,
    HybridLogisticNaiveBayes,
    NaiveBayesLogisticRegressionCV,
    SelectiveNaiveBayes,
    SemiNaive,
    SparseBayesianNetwork,
)
from seminaive.errors import FoldsWarning, InputError
from seminaive.evaluate import validate

SEARCHING = {
    "stagewise": ForwardStagewiseNaiveBayes(),
    "selective": SelectiveNaiveBayes(),
    "group": GroupRegularizedNaiveBayes(strengths=10),
    "exponents": AttributeWeightedNaiveBayes(),
    "hybrid": HybridLogisticNaiveBayes(),
    "network": SparseBayesianNetwork(strengths=[0.1, 0.03]),
    "semi-naive": SemiNaive(),
    "shrunken": NaiveBayesLogisticRegressionCV(strengths=10),
    "tuples": HigherOrderLogisticRegressionCV(order=1),
}
# Fresh rows lose at most this much more than by a fit with shuffled folds.
ALLOWED = 0.02


def patients(n_patients, seed):
    """Return five visits of each patient, whose numbers hardly change while the outcome does not."""
    rng = np.random.default_rng(seed)
    patient = np.repeat(np.arange(n_patients), 5)
    traits = rng.normal(size=(n_patients, 6))
    outcome = rng.random(n_patients) < 1 / (1 + np.exp(-traits[:, 0]))
    visits = traits[patient] + 0.1 * rng.normal(size=(len(patient), 6))
    return pd.DataFrame(visits, columns=list("abcdef")), outcome[patient].astype(int), patient


def table_of(n_rows, shares, seed):
    """Return four numbers, two of which say something about the class."""
    rng = np.random.default_rng(seed)
    y = rng.choice(len(shares), n_rows, p=shares)
    X = rng.normal(size=(n_rows, 4))
    X[:, 0] += y
    X[:, 1] -= 0.7 * (y == len(shares) - 1)
    return X, y


def fresh_loss(model, shares):
    X, y = table_of(4000, shares, 99)
    return log_loss(y, model.predict_proba(X))


# Groups


@pytest.mark.parametrize("name", SEARCHING)
def test_a_number_of_folds_keeps_groups_whole(name):
    # Held out one by one, visits of a patient in training give the outcome away.
    X, y, patient = patients(40, 0)
    model, leaking = (clone(SEARCHING[name]).fit(X, y, groups=groups) for groups in (patient, None))
    of_groups = clone(SEARCHING[name]).set_params(cv=GroupKFold(5)).fit(X, y, groups=patient)
    assert model.cv_log_loss_ > leaking.cv_log_loss_
    assert model.cv_log_loss_ == pytest.approx(of_groups.cv_log_loss_, abs=0.1)


def test_a_share_of_held_out_rows_keeps_groups_whole():
    X, y, patient = patients(40, 0)
    model = SparseBayesianNetwork(strengths=[0.1, 0.03], cv=0.3)
    whole, leaking = (clone(model).fit(X, y, groups=groups) for groups in (patient, None))
    assert whole.cv_log_loss_ > leaking.cv_log_loss_


def test_groups_that_do_not_fit_are_told():
    X, y, patient = patients(10, 0)
    with pytest.raises(InputError, match="one group per row: expected 50, got shape"):
        SemiNaive().fit(X, y, groups=patient[1:])
    with pytest.raises(InputError, match="are of one group"):
        SemiNaive().fit(X, y, groups=np.zeros(50))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("cv", ["auto", 4], ids=str)
def test_validate_judges_the_fit_with_groups(cv, seed):
    X, y, patient = patients(60, seed)
    fresh, truth, _ = patients(1000, 100 + seed)
    model = SemiNaive(cv=cv)
    fitted = clone(model).fit(X, y, groups=patient)
    # The percentile of 2.5 % of 20 replays is between the two least, and nothing of the tail is seen.
    found = validate(model, X, y, groups=patient, n_replays=40, n_folds=10, n_repeats=1, progress=False)
    np.testing.assert_allclose(found.replays.apparent, fitted.predict_proba(X), atol=1e-6)
    of_loss = found.summary.set_index("measure").loc["log_loss"]
    assert of_loss["low"] <= log_loss(truth, fitted.predict_proba(fresh)[:, 1]) <= of_loss["high"]


@pytest.mark.filterwarnings("ignore:The groups parameter is ignored by KFold")
@pytest.mark.parametrize(
    "cv", [GroupKFold(4), KFold(3, shuffle=True, random_state=0)], ids=["groups", "rows"]
)
def test_validate_replays_a_splitter(cv):
    X, y, patient = patients(40, 0)
    model = NaiveBayesLogisticRegressionCV(strengths=5, cv=cv)
    found = validate(model, X, y, groups=patient, n_replays=10, n_folds=5, n_repeats=1, progress=False)
    assert not found.replays.failures
    fitted = clone(model).fit(X, y, groups=patient)
    np.testing.assert_allclose(found.replays.apparent, fitted.predict_proba(X), atol=1e-6)


# Classes that training rows lack


@pytest.mark.parametrize("shares", [(0.5, 0.5), (0.3, 0.7)], ids=str)
@pytest.mark.parametrize("name", SEARCHING)
def test_rows_sorted_by_class_give_about_the_fit_of_shuffled_folds(name, shares):
    X, y = table_of(300, shares, 1)
    order = np.argsort(y, kind="stable")
    X, y = X[order], y[order]
    splitter = KFold(3)
    lacking = any(set(y[train]) < set(y) for train, _ in splitter.split(X))
    model = clone(SEARCHING[name]).set_params(cv=splitter)
    if lacking:
        with pytest.warns(FoldsWarning, match=r"0 in 1 of 3 folds"):
            model.fit(X, y)
    else:
        model.fit(X, y)
    shuffled = clone(model).set_params(cv=KFold(3, shuffle=True, random_state=0)).fit(X, y)
    assert np.isfinite([model.cv_log_loss_, *model.cv_log_loss_interval_]).all()
    assert fresh_loss(model, shares) <= fresh_loss(shuffled, shares) + ALLOWED


@pytest.mark.parametrize("name", SEARCHING)
def test_a_class_that_comes_late_is_told_and_gives_about_the_fit_of_shuffled_folds(name):
    shares = (0.4, 0.4, 0.2)
    X, y = table_of(300, shares, 1)
    rng = np.random.default_rng(1)
    order = np.argsort(np.where(y == 2, 0.6 + 0.4 * rng.random(300), rng.random(300)))
    X, y = X[order], y[order]
    model = clone(SEARCHING[name]).set_params(cv=TimeSeriesSplit(5))
    if name == "network":
        # Rows of a class that is rare before them lose much at every strength. Their spread makes one
        # standard error so large that the default rule takes the strongest strength.
        model.set_params(selection="min")
    with pytest.warns(FoldsWarning, match=r"2 in 1 of 5 folds"):
        model.fit(X, y)
    shuffled = clone(model).set_params(cv=KFold(3, shuffle=True, random_state=0)).fit(X, y)
    assert np.isfinite([model.cv_log_loss_, *model.cv_log_loss_interval_]).all()
    assert fresh_loss(model, shares) <= fresh_loss(shuffled, shares) + ALLOWED


@pytest.mark.parametrize("name", SEARCHING)
def test_folds_that_know_one_class_only_give_a_finite_loss(name):
    X, y = np.random.default_rng(0).normal(size=(90, 4)), np.repeat([0, 1, 2], 30)
    with pytest.warns(FoldsWarning, match=r"0 in 1 of 3 folds, 1 in 1 of 3 folds, 2 in 1 of 3 folds"):
        model = clone(SEARCHING[name]).set_params(cv=KFold(3)).fit(X, y)
    # Each row is of a class that the 60 training rows of its fold lack.
    assert model.cv_log_loss_ == pytest.approx(np.log(61), rel=1e-6)
    assert np.isfinite(model.predict_proba(X)).all()


@pytest.mark.parametrize("name", SEARCHING)
def test_a_class_of_one_row_is_told_and_has_the_probability_of_a_label_never_seen(name):
    X, y = table_of(150, (0.5, 0.5), 2)
    y = np.array(["no", "yes"], dtype=object)[y]
    plain = clone(SEARCHING[name]).fit(X, y)
    y[7] = "rare"
    with pytest.warns(FoldsWarning, match=r"rare in (1 of 5|1 of 10|6 of 30) folds"):
        model = clone(SEARCHING[name]).fit(X, y)
    assert np.isfinite([model.cv_log_loss_, *model.cv_log_loss_interval_]).all()
    of_shares = -np.sum([share * np.log(share) for share in np.unique(y, return_counts=True)[1] / 150])
    assert model.cv_log_loss_ < of_shares + 0.03
    # Naive Bayes is sure beyond measure that no other row is of a class whose variance is that of one row,
    # and the cut points of a network depend on the number of classes.
    if name in ("semi-naive", "shrunken", "tuples"):
        # One row of 150 loses the logarithm of 121, the others as before.
        assert model.cv_log_loss_ == pytest.approx(plain.cv_log_loss_ + np.log(121) / 150, abs=0.02)
