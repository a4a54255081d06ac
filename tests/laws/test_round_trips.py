"""What ``save_model`` writes, ``load_model`` reads: every model, fitted to any table, to the last bit."""

import json
import zipfile

import numpy as np
import pytest

from seminaive import (
    AttributeWeightedNaiveBayes,
    ForwardStagewiseNaiveBayes,
    GroupRegularizedNaiveBayes,
    NaiveBayes,
    SelectiveNaiveBayes,
    WeightedNaiveBayes,
    load_model,
    save_model,
)

CLASS_VARIANCES = [
    NaiveBayes(variances="class"),
    WeightedNaiveBayes(),
    SelectiveNaiveBayes(),
    ForwardStagewiseNaiveBayes(),
    GroupRegularizedNaiveBayes(),
    AttributeWeightedNaiveBayes(),
]


def members_of(path):
    with zipfile.ZipFile(path) as archive:
        return json.loads(archive.read("seminaive.json")), archive.read("arrays")


def check_round_trip(model, X, path):
    """Compare a saved model with what comes back: the file, the probabilities and the schema."""
    save_model(model, path)
    again = load_model(path)
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert again.schema_ == model.schema_
    written = members_of(path)
    save_model(again, path)
    assert str(members_of(path)) == str(written)  # as text, in which NaN equals NaN


def check_round_trips(models, odd_table, tmp_path):
    for seed, model in models:
        try:
            check_round_trip(model, odd_table(seed).X, tmp_path / "model")
        except Exception as error:
            error.add_note(f"the table of seed {seed}, {model!r}")
            raise


def test_a_saved_model_comes_back_whatever_its_table(classifier, odd_models, odd_table, tmp_path):
    check_round_trips(odd_models(classifier, range(12)), odd_table, tmp_path)


@pytest.mark.slow
def test_a_saved_model_comes_back_from_two_hundred_tables(classifier, odd_models, odd_table, tmp_path):
    check_round_trips(odd_models(classifier, range(12, 200)), odd_table, tmp_path)


@pytest.mark.parametrize("model", CLASS_VARIANCES, ids=lambda model: type(model).__name__)
def test_a_number_that_is_constant_in_one_class_comes_back(model, tmp_path):
    rng = np.random.default_rng(0)
    y = np.arange(100) % 2
    share = np.where(y == 1, rng.uniform(0, 0.3, 100), 0.0)[:, None]
    check_round_trip(model.fit(share, y), share, tmp_path / "model")


@pytest.mark.parametrize("model", CLASS_VARIANCES, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("size", [1e-100, 1e-99, 1e-160, 5e-324, 1e130])
def test_numbers_of_any_size_come_back(model, size, tmp_path):
    rng = np.random.default_rng(1)
    y = np.arange(100) % 2
    X = rng.normal(y[:, None], 1.0, (100, 2)) * size
    check_round_trip(model.fit(X, y), X, tmp_path / "model")


@pytest.mark.filterwarnings("ignore::seminaive.errors.ColumnsWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_an_empty_column_comes_back_and_has_a_place_in_what_is_listed_by_column(classifier, tmp_path):
    rng = np.random.default_rng(2)
    y = np.arange(60) % 2
    X = np.column_stack([np.full(60, np.nan), rng.normal(y, 1.0)])
    model = classifier().fit(X, y)
    check_round_trip(model, X, tmp_path / "model")
    assert "x0" not in getattr(model, "selected_features_", [])
    for name in ("alphas_", "exponents_"):
        if name in vars(model) and classifier is not AttributeWeightedNaiveBayes:  # one exponent per term
            assert getattr(model, name).shape == (2,)
            assert getattr(model, name)[0] == 0.0
