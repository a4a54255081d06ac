"""The estimate of a model's loss: what cross-validation says, fairly."""

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB

from seminaive import NaiveBayes
from seminaive.errors import InputError
from seminaive.evaluate import estimate_losses, log_loss


@pytest.fixture
def noise():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(120, 3)), columns=list("abc"))
    return X, rng.choice(["no", "yes"], size=120)


def test_it_is_scikit_learns_cross_validation(noise):
    X, y = noise
    found = estimate_losses(GaussianNB(), X, y, n_splits=4, random_state=3)
    folds = StratifiedKFold(4, shuffle=True, random_state=3)
    said = cross_val_predict(GaussianNB(), X, y, cv=folds, method="predict_proba")
    assert found.log_loss == pytest.approx(log_loss((y == "yes").astype(int), said), rel=1e-12)
    assert found.error == pytest.approx(np.mean((said[:, 1] > 0.5) != (y == "yes")), abs=1e-12)


def test_a_model_of_the_class_shares_is_its_own_bar(noise):
    X, y = noise
    found = estimate_losses(DummyClassifier(), X, y)
    assert found.log_loss == pytest.approx(found.prior_log_loss, rel=1e-12)
    assert found.error == pytest.approx(found.prior_error, rel=1e-12)


def test_a_model_that_learns_noise_by_heart_is_found_out(noise):
    _, y = noise
    wide = pd.DataFrame(np.random.default_rng(1).normal(size=(120, 200)))
    model = LogisticRegression(C=1e6, max_iter=1000)
    assert model.fit(wide, y).score(wide, y) == 1.0
    assert estimate_losses(model, wide, y).error > 0.3


def test_weights_count_in_training_and_in_the_means(noise):
    X, y = noise
    weight = (np.arange(120) < 60).astype(float)
    found = estimate_losses(NaiveBayes(), X, y, weight)
    assert found.log_loss != pytest.approx(estimate_losses(NaiveBayes(), X, y).log_loss, rel=1e-6)
    # A row of weight 0 has no share in the mean, whatever the model says of it.
    strange = X.where(np.repeat(weight[:, None] > 0, 3, axis=1), 1e6)
    assert estimate_losses(NaiveBayes(), strange, y, weight).log_loss == pytest.approx(
        found.log_loss, rel=1e-9
    )


def test_the_standard_error_is_that_of_independent_rows(noise):
    X, y = noise
    found = estimate_losses(GaussianNB(), X, y)
    assert found.error_spread == pytest.approx(np.sqrt(found.error * (1 - found.error) / 120), rel=1e-12)


def test_one_row_cannot_be_cross_validated():
    with pytest.raises(InputError, match="two rows"):
        estimate_losses(GaussianNB(), pd.DataFrame({"a": [1.0]}), ["p"])
