"""What holds for every classifier of the package: weights, permutations, names of things."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone

import seminaive
from seminaive.errors import InputError
from seminaive.scores import unknown_cells

# Learned by iteration or by folds: equal to the solver's tolerance, not to the last bit.
LOOSE = 1e-4
EXACT = 1e-9

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


# How models that hold rows out do without.
BY_TRAINING_ROWS = {
    "AttributeWeightedNaiveBayes": {"fit_share": 1},
    "ForwardStagewiseNaiveBayes": {"criterion": "aic"},
    "GroupRegularizedNaiveBayes": {"criterion": "aic"},
    "SelectiveNaiveBayes": {"criterion": "training-error"},
}


# A whole search where a short one owes the same law: three strengths instead of twenty-five.
SHORT_SEARCHES = {"SparseBayesianNetwork": {"strengths": [0.1, 0.03, 0.01]}}


def tolerance(classifier):
    return EXACT if hasattr(classifier, "partial_fit") and not hasattr(classifier, "solver") else LOOSE


@pytest.fixture
def model(classifier):
    made = classifier()
    if "random_state" in made.get_params():
        made.set_params(random_state=0)
    return made.set_params(**SHORT_SEARCHES.get(classifier.__name__, {}))


@pytest.fixture(scope="module")
def fits():
    """Keep models that were fitted to the weather, by what they print, for all tests that only read them."""
    return {}


@pytest.fixture
def fitted(model, weather, fits):
    """Return the model fitted to the weather; shared between tests, so that it is not to be changed."""
    key = repr(model)
    if key not in fits:
        fits[key] = clone(model).fit(*weather)
    return fits[key]


@pytest.fixture
def without_folds(model):
    if type(model).__name__ in BY_TRAINING_ROWS:
        return model.set_params(**BY_TRAINING_ROWS[type(model).__name__])
    if "cv" in model.get_params():
        pytest.skip("folds are drawn by row and class order; the model without folds owes this law")
    return model


def test_probabilities_are_finite_and_sum_to_one(fitted, weather):
    proba = fitted.predict_proba(weather[0])
    assert np.isfinite(proba).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1, rtol=1e-12)


def test_integer_weights_equal_repeated_rows(without_folds, weather):
    model, (X, y) = without_folds, weather
    times = np.random.default_rng(1).integers(0, 4, len(y))
    repeated = np.repeat(np.arange(len(y)), times)
    weighted = clone(model).fit(X, y, sample_weight=times)
    plain = clone(model).fit(X.iloc[repeated], y[repeated])
    np.testing.assert_allclose(weighted.predict_proba(X), plain.predict_proba(X), atol=tolerance(model))


def test_row_order_does_not_matter(without_folds, fitted, weather):
    model, (X, y) = without_folds, weather
    order = np.random.default_rng(2).permutation(len(y))
    shuffled = clone(model).fit(X.iloc[order], y[order])
    np.testing.assert_allclose(shuffled.predict_proba(X), fitted.predict_proba(X), atol=tolerance(model))


def test_column_order_does_not_matter(model, fitted, weather):
    X, y = weather
    turned = X[X.columns[::-1]]
    np.testing.assert_allclose(
        clone(model).fit(turned, y).predict_proba(turned),
        fitted.predict_proba(X),
        atol=tolerance(model),
    )


def test_names_of_categories_do_not_matter(model, weather):
    X, y = weather
    if "n_imputations" in model.get_params():
        X = X.fillna({"sky": "dry"})  # the draws of missing cells follow the order of the categories
    renamed = X.assign(sky=X["sky"].map({"dry": "z", "wet": "a", "snow": "m"}))
    np.testing.assert_allclose(
        clone(model).fit(renamed, y).predict_proba(renamed),
        clone(model).fit(X, y).predict_proba(X),
        atol=tolerance(model),
    )


def test_names_of_classes_permute_the_columns(without_folds, fitted, weather):
    model, (X, y) = without_folds, weather
    new = {"sun": "a", "rain": "b", "hail": "c"}
    renamed = clone(model).fit(X, np.array([new[label] for label in y]))
    columns = [list(renamed.classes_).index(new[label]) for label in fitted.classes_]
    np.testing.assert_allclose(
        renamed.predict_proba(X)[:, columns], fitted.predict_proba(X), atol=tolerance(model)
    )


def test_every_frame_library_gives_the_same_model(model, fitted, weather):
    X, y = weather
    expected = fitted.predict_proba(X)
    for table in (pl.from_pandas(X), pa.Table.from_pandas(X)):
        np.testing.assert_allclose(clone(model).fit(table, y).predict_proba(table), expected, atol=EXACT)


def test_a_second_fit_gives_the_same_bits(model, fitted, weather):
    X, y = weather
    assert (clone(model).fit(X, y).predict_proba(X) == fitted.predict_proba(X)).all()


def test_a_pickled_model_predicts_the_same(fitted, weather):
    X, _ = weather
    assert (pickle.loads(pickle.dumps(fitted)).predict_proba(X) == fitted.predict_proba(X)).all()  # noqa: S301


def test_a_saved_model_predicts_the_same(fitted, weather, tmp_path):
    X, _ = weather
    seminaive.save_model(fitted, tmp_path / "model")
    assert (seminaive.load_model(tmp_path / "model").predict_proba(X) == fitted.predict_proba(X)).all()


def test_unseen_and_missing_cells_give_probabilities(fitted):
    strange = pd.DataFrame(
        {
            "sky": ["fog", None],
            "wind": ["storm", None],
            "temperature": [np.nan, 1e6],
            "weekend": [True, False],
            "humidity": [50, 1],
        }
    )
    assert np.isfinite(fitted.predict_proba(strange)).all()


def test_contributions_add_up_to_the_decision(model, fitted, weather):
    X, y = weather
    if not hasattr(model, "contributions"):
        pytest.skip("not an additive model")
    model.fit(X, y == "sun")
    total = model.contributions(X).sum(axis=1)
    # Where cells are unknown, the decision is no sum in models that learn the class given the row.
    known = ~unknown_cells(model.encode(X)).any(axis=1) | (model.scores_.attenuation is None)
    assert known.sum() > 100
    np.testing.assert_allclose(total[known], model.decision_function(X)[known], atol=1e-9)
    sums = model.scores_.sums(model.encode(X))
    np.testing.assert_allclose(total, sums[:, 1] - sums[:, 0], atol=1e-9)
    rows = fitted.contributions(X)
    total = rows.drop(columns=["row", "class"]).sum(axis=1).to_numpy().reshape(len(X), 3)
    np.testing.assert_allclose(total[known], fitted.decision_function(X)[known], atol=1e-9)
    sums = fitted.scores_.sums(fitted.encode(X))
    np.testing.assert_allclose(total, sums - sums.mean(axis=1, keepdims=True), atol=1e-9)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X, y: (X, np.repeat("sun", len(y))), "one class only"),
        (lambda X, y: (X.iloc[:0], y[:0]), "at least one row"),
        (lambda X, y: (X[[]], y), "at least one column"),
        (lambda X, y: (X.assign(temperature=np.inf), y), "Infinite numbers .* 'temperature'"),
        (lambda X, y: (X, y[:-1]), "400 rows and y has 399 labels"),
        (lambda X, y: (X, np.linspace(0, 1, len(y))), "cut it into classes"),
        (lambda X, y: (X, np.where(y == "sun", None, y)), "Every training row needs one"),
    ],
)
def test_bad_training_data_is_refused_with_a_sentence(model, weather, change, message):
    with pytest.raises(InputError, match=message):
        model.fit(*change(*weather))


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (lambda n: np.full(n, -1.0), "Negative values"),
        (lambda n: np.full(n, np.nan), "finite"),
        (np.zeros, "all sample weights are zero"),
        (lambda n: np.ones(n - 1), "one weight per row"),
    ],
)
def test_bad_weights_are_refused_with_a_sentence(model, weather, weights, message):
    X, y = weather
    with pytest.raises(InputError, match=message):
        model.fit(X, y, sample_weight=weights(len(y)))


def test_wrong_columns_at_predict_are_named(fitted, weather):
    X, _ = weather
    with pytest.raises(ValueError, match="of which the table lacks 'wind'"):
        fitted.predict(X.drop(columns="wind"))
    np.testing.assert_array_equal(fitted.predict_proba(X[X.columns[::-1]]), fitted.predict_proba(X))
    with pytest.raises(InputError, match="'sky' held text"):
        fitted.predict(X.assign(sky=1))
    with pytest.raises(InputError, match="'temperature' should hold numbers"):
        fitted.predict(X.assign(temperature="warm"))
