"""What every model that searches says of its decision, and what groups and weights mean to it."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GroupKFold

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
    load_model,
    save_model,
)

KIN = [
    ForwardStagewiseNaiveBayes(),
    SelectiveNaiveBayes(),
    GroupRegularizedNaiveBayes(strengths=10),
    AttributeWeightedNaiveBayes(),
    HybridLogisticNaiveBayes(cv=4),
    SparseBayesianNetwork(strengths=[0.2, 0.1, 0.05, 0.02], cv=4),
]
SEARCHING = [
    *KIN,
    SemiNaive(),
    NaiveBayesLogisticRegressionCV(strengths=10, cv=4),
    HigherOrderLogisticRegressionCV(cv=4),
]
WHOLE = {
    "ForwardStagewiseNaiveBayes": {"criterion": "aic"},
    "GroupRegularizedNaiveBayes": {"criterion": "aic"},
    "SelectiveNaiveBayes": {"criterion": "training-error"},
}


def name_of(model):
    return type(model).__name__


def table(n_rows=150, seed=0):
    """Return three categories about the class, and two that are noise."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n_rows)
    about = np.where(rng.random((n_rows, 3)) < 0.4, y[:, None], rng.integers(0, 3, (n_rows, 3)))
    X = np.hstack([about, rng.integers(0, 3, (n_rows, 2))])
    return pd.DataFrame(X).add_prefix("c").astype(str), y


@pytest.mark.parametrize("model", SEARCHING, ids=name_of)
def test_every_search_tells_its_share_and_the_loss_to_expect(model, tmp_path):
    X, y = table()
    model = clone(model).fit(X, y)
    assert 0 < model.fit_share_ <= 1
    low, high = model.cv_log_loss_interval_
    assert 0 < low < model.cv_log_loss_ < high
    new_X, new_y = table(4000, seed=1)
    loss = -model.predict_log_proba(new_X)[np.arange(len(new_y)), new_y].mean()
    # Four standard errors, on the scale of logarithms; the interval has two.
    assert low**2 / model.cv_log_loss_ < loss < high**2 / model.cv_log_loss_
    save_model(model, tmp_path / "model")
    again = load_model(tmp_path / "model")
    assert again.fit_share_ == model.fit_share_
    assert again.cv_log_loss_ == model.cv_log_loss_
    assert again.cv_log_loss_interval_ == model.cv_log_loss_interval_


@pytest.mark.parametrize("model", KIN, ids=name_of)
def test_the_fit_may_be_believed_to_the_full(model):
    X, y = table(60)
    whole = clone(model).set_params(**WHOLE.get(name_of(model), {"fit_share": 1})).fit(X, y)
    assert whole.fit_share_ == 1


@pytest.mark.parametrize("model", KIN, ids=name_of)
def test_copies_of_noise_in_one_group_are_not_believed(model):
    """Without groups a held-out copy has been seen by the fit."""
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.integers(0, 3, (40, 12))).add_prefix("c").astype(str)
    y, groups = rng.integers(0, 2, 40), np.arange(40)
    X, y, groups = X.loc[X.index.repeat(8)], y.repeat(8), groups.repeat(8)
    grouped = clone(model).set_params(cv=GroupKFold(5)).fit(X, y, groups=groups)
    apart = clone(model).set_params(cv=5).fit(X, y)
    assert grouped.fit_share_ < 0.2
    assert apart.fit_share_ > grouped.fit_share_ + 0.1
    assert apart.cv_log_loss_ < grouped.cv_log_loss_
