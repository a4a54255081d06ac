"""Importances add up, follow the columns, and serve scikit-learn's selectors, in every additive model."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.feature_selection import RFE, SelectFromModel

import seminaive
from seminaive import NaiveBayes, NaiveBayesLogisticRegression, SemiNaive
from seminaive.errors import UnavailableError
from seminaive.explain.reading import effects_of
from seminaive.scores.effects import importance

NOT_ADDITIVE = {"AveragedDependenceEstimators", "SparseBayesianNetwork"}
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(params=[2, 3], ids=["two classes", "three classes"])
def labelled(request, weather):
    X, y = weather
    return X, y if request.param == 3 else np.where(y == "sun", "sun", "wet")


def test_importances_are_the_shares_of_the_effects(classifier, labelled):
    X, y = labelled
    model = classifier().fit(X, y)
    if classifier.__name__ in NOT_ADDITIVE:
        assert not hasattr(model, "feature_importances_")
        return
    effects = effects_of(model)
    expected = dict.fromkeys(X.columns, 0.0)
    for effect in (*effects.features, *effects.tuples):
        names = effect.name.split(" × ")
        for name in names:
            expected[name] += importance(effect.deviation) / len(names)
    shares = np.array(list(expected.values())) / sum(expected.values())
    np.testing.assert_allclose(model.feature_importances_, shares, atol=1e-12)
    np.testing.assert_allclose(model.feature_importances_.sum(), 1.0)


def test_importances_move_with_their_columns(classifier, weather):
    if classifier.__name__ in NOT_ADDITIVE:
        pytest.skip("not additive")
    X, y = weather
    order = [3, 1, 4, 0, 2]
    moved = classifier().fit(X.iloc[:, order], y)
    # Searches stop within their tolerance of the optimum, at another point for another order.
    np.testing.assert_allclose(
        moved.feature_importances_, classifier().fit(X, y).feature_importances_[order], atol=0.02
    )


def test_a_column_without_evidence_has_no_importance():
    X = pd.DataFrame({"sky": ["wet", "dry"] * 50, "key": [f"k{k}" for k in range(100)], "same": 1.0})
    with pytest.warns(seminaive.errors.ColumnsWarning, match="'key'"):
        model = NaiveBayes().fit(X, ["rain", "sun"] * 50)
    assert model.feature_importances_.tolist() == [1.0, 0.0, 0.0]


def test_scores_that_are_the_same_for_every_row_have_no_importance():
    model = NaiveBayes().fit([["a"], ["a"], ["b"], ["b"]], [0, 1, 0, 1])
    assert model.feature_importances_.tolist() == [0.0]


def test_importances_need_the_summary():
    model = NaiveBayes(keep_summary=False).fit([["a"], ["b"]], [0, 1])
    with pytest.raises(UnavailableError, match="keep_summary=True"):
        model.feature_importances_  # noqa: B018 - asking is the test
    assert not hasattr(model, "feature_importances_")


def test_selectors_of_scikit_learn_keep_the_columns_that_matter():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 5))
    y = X[:, 1] - 2 * X[:, 3] + rng.normal(size=300) > 0
    for selector in (
        SelectFromModel(SemiNaive(), max_features=2, threshold=-np.inf),
        RFE(NaiveBayes(), n_features_to_select=2),
        RFE(NaiveBayes(variances="class"), n_features_to_select=2),
    ):
        assert selector.fit(X, y).get_support().tolist() == [False, True, False, True, False]


# Coefficients


@pytest.mark.parametrize(
    "model", [NaiveBayes(), NaiveBayesLogisticRegression(strength=0.1)], ids=["NB", "NBRLR"]
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_lines_have_coefficients_that_give_the_decision(model, n_classes):
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, :6]
    y = y if n_classes == 2 else np.digitize(X[:, 0], np.quantile(X[:, 0], [0.3, 0.7]))
    model.fit(X[:, 1:], y)
    assert model.coef_.shape == (1 if n_classes == 2 else 3, 5)
    found = X[:, 1:] @ model.coef_.T + model.intercept_
    decision = model.decision_function(X[:, 1:])
    np.testing.assert_allclose(found.ravel(), decision.ravel(), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    "model", [NaiveBayes(variances="class"), SemiNaive(), NaiveBayes(categorical_features=[0])]
)
def test_curves_and_categories_have_no_coefficients(model):
    X = np.arange(60.0)[:, None] % 7
    model.fit(X, X[:, 0] > 3)
    with pytest.raises(UnavailableError, match="one coefficient per column"):
        model.coef_  # noqa: B018 - asking is the test
