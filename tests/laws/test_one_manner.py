"""Groups, held-out losses and interactions mean the same in every model that has them."""

import inspect

import numpy as np
import pytest
from sklearn.metrics import log_loss
from sklearn.model_selection import GroupKFold

from seminaive import (
    ForwardStagewiseNaiveBayes,
    GroupRegularizedNaiveBayes,
    HigherOrderLogisticRegression,
    HybridLogisticNaiveBayes,
    SelectiveNaiveBayes,
    SemiNaive,
    TreeAugmentedNaiveBayes,
)
from seminaive.errors import InputError, UnavailableError
from seminaive.explain.reading import effects_of
from seminaive.scores.effects import importance

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
SEARCHES_BY_CV = {"criterion": "cv"}


def with_folds(classifier, cv):
    """Return a model that searches by these folds, or skip."""
    known = classifier().get_params()
    if "cv" not in known:
        pytest.skip("no folds")
    return classifier(cv=cv, **{name: value for name, value in SEARCHES_BY_CV.items() if name in known})


def test_every_model_with_folds_takes_groups(classifier, weather):
    X, y = weather
    groups = np.arange(len(y)) // 4
    by_groups = with_folds(classifier, GroupKFold(3)).fit(X, y, groups=groups)
    splits = list(GroupKFold(3).split(X, y, groups))
    by_splits = with_folds(classifier, splits).fit(X, y, groups=groups)
    np.testing.assert_array_equal(by_groups.predict_proba(X), by_splits.predict_proba(X))


def test_groups_are_refused_where_there_are_no_folds(weather):
    X, y = weather
    for model in (
        ForwardStagewiseNaiveBayes(criterion="aic"),
        GroupRegularizedNaiveBayes(criterion="aic"),
        SelectiveNaiveBayes(criterion="training-error"),
        HybridLogisticNaiveBayes(rate=0.1),
    ):
        with pytest.raises(InputError, match="groups keep rows together in folds"):
            model.fit(X, y, groups=np.arange(len(y)))


def test_models_with_folds_and_no_others_have_groups(classifier):
    takes_groups = "groups" in inspect.signature(classifier.fit).parameters
    assert takes_groups == ("cv" in classifier().get_params())


@pytest.mark.parametrize(
    ("classifier_", "criterion"),
    [
        (ForwardStagewiseNaiveBayes, "aic"),
        (GroupRegularizedNaiveBayes, "aic"),
        (SelectiveNaiveBayes, "training-error"),
    ],
)
def test_the_held_out_loss_is_about_that_of_the_chosen_step(classifier_, criterion, weather):
    X, y = weather
    splits = list(GroupKFold(3).split(X, y, np.arange(len(y)) // 4))
    model = classifier_(criterion="cv", cv=splits).fit(X, y)
    # An independent count of rows: the deviances of the folds are twice the summed log losses.
    losses = model.fold_deviances_.sum(axis=0) / 2 / len(y)
    assert losses.argmin() == model.chosen_step_
    low, high = model.cv_log_loss_interval_
    assert low < losses[model.chosen_step_] < high
    assert model.cv_log_loss_ < log_loss(y, np.full((len(y), 3), 1 / 3))
    model.set_params(criterion=criterion).fit(X, y)
    for name in ("cv_log_loss_", "cv_log_loss_interval_"):
        with pytest.raises(UnavailableError, match=f"{name} is of held-out rows: fit with criterion='cv'"):
            getattr(model, name)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("model", [HigherOrderLogisticRegression(), TreeAugmentedNaiveBayes(), SemiNaive()])
def test_interactions_are_the_pairs_of_the_effects(model, n_classes, weather):
    X, y = weather
    model.fit(X, y if n_classes == 3 else np.where(y == "sun", "sun", "wet"))
    found = model.interactions_
    assert list(found.columns) == ["first", "second", "importance"]
    assert found["importance"].is_monotonic_decreasing
    pairs = {effect.name: importance(effect.deviation) for effect in effects_of(model).tuples}
    expected = [pairs[name] for name in found["first"] + " × " + found["second"]]
    # SemiNaive's pairs are pure under the weights of its bins, up to a tenth of a row.
    np.testing.assert_allclose(found["importance"], expected, rtol=0.02, atol=1e-3)
