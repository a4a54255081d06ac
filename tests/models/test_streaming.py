"""partial_fit of the higher-order models: one stochastic step per row."""

import numpy as np
import pytest

from seminaive import AcceleratedLogisticRegression, HigherOrderLogisticRegression
from seminaive.errors import InputError
from seminaive_experiments.papers.variants import SquaredErrorAccelerated, SquaredErrorHigherOrder

BOTH = [HigherOrderLogisticRegression, AcceleratedLogisticRegression]
SQUARED = {
    HigherOrderLogisticRegression: SquaredErrorHigherOrder,
    AcceleratedLogisticRegression: SquaredErrorAccelerated,
}


def exclusive_or(n_rows, seed=0):
    X = np.random.default_rng(seed).integers(0, 2, (n_rows, 3))
    return X, X[:, 0] ^ X[:, 1]


@pytest.mark.parametrize("estimator", BOTH)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_stream_learns_what_a_fit_learns(estimator, n_classes):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (6000, 3))
    scores = rng.normal(size=(3, 3, n_classes))[X[:, 0], X[:, 1]] + rng.gumbel(size=(6000, n_classes))
    y = scores.argmax(axis=1)
    stream = estimator(order=2, categorical_features="all")
    for start in range(0, 6000, 500):
        stream.partial_fit(X[start : start + 500], y[start : start + 500], classes=range(n_classes))
    whole = estimator(order=2, categorical_features="all").fit(X, y)
    losses = [-m.predict_log_proba(X)[np.arange(6000), y].mean() for m in (stream, whole)]
    # One pass over the rows is not the optimum, but near.
    assert losses[0] < losses[1] + 0.02


@pytest.mark.parametrize("estimator", BOTH)
def test_cutting_a_stream_into_chunks_without_new_categories_keeps_the_direction(estimator):
    X, y = exclusive_or(2000)
    model = estimator(order=2, categorical_features="all")
    for rows in np.array_split(np.arange(2000), 10):
        model.partial_fit(X[rows], y[rows], classes=[0, 1])
    assert model.score(X, y) == 1.0


def test_new_categories_move_old_coefficients_to_their_new_cells():
    X, y = exclusive_or(2000)
    model = HigherOrderLogisticRegression(order=2, categorical_features="all")
    model.partial_fit(X + 5, y, classes=[0, 1])
    before = model.predict_proba(X + 5)
    late = np.array([[3, 3, 3], [3, 9, 3]])
    model.partial_fit(late, [0, 1])
    np.testing.assert_allclose(model.predict_proba(X + 5), before, atol=0.02)
    assert model.scores_.terms.cardinalities == (3, 4, 3)


def test_numbers_stream_into_a_hierarchy():
    rng = np.random.default_rng(0)
    x = rng.normal(3.0, 2.0, (3000, 2))
    y = (x[:, 0] > 3.0).astype(int)
    model = AcceleratedLogisticRegression(order=1, hierarchical=True, bins=4)
    for rows in np.array_split(np.arange(3000), 6):
        model.partial_fit(x[rows], y[rows], classes=[0, 1])
    # Without the numbers, four bins of which two are cut at random would leave more errors.
    assert model.score(x, y) > 0.9


@pytest.mark.parametrize("estimator", BOTH)
def test_what_a_stream_cannot_do_is_said(estimator):
    X, y = exclusive_or(50)
    with pytest.raises(InputError, match="needs classes"):
        estimator(categorical_features="all").partial_fit(X, y)
    with pytest.raises(InputError, match="not among the classes"):
        estimator(categorical_features="all").partial_fit(X, y + 1, classes=[0, 1])
    with pytest.raises(InputError, match="minimises the log loss"):
        SQUARED[estimator](categorical_features="all").partial_fit(X, y, classes=[0, 1])


def stream(model, X, y, n_chunks=40):
    """Pass over the rows in chunks."""
    for rows in np.array_split(np.arange(len(y)), n_chunks):
        model.partial_fit(X[rows], y[rows], classes=np.unique(y))
    return model


def noisy_table(n_rows=8000):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 3, (n_rows, 2)), rng.normal(size=n_rows)])
    y = (X[:, 0] + X[:, 1] + X[:, 2] + rng.logistic(size=n_rows) > 2).astype(int)
    return X, y


@pytest.mark.parametrize(
    "options",
    [
        {"ridge": 1e4, "generative_share": 1.0},
        {"ridge": 1.0, "number_ridge": 1e4},
        {"ridge": 1.0, "scaling": "generative"},
        {"ridge": 1.0, "scaling": "none"},
        {"ridge": 1.0},
    ],
    ids=str,
)
def test_a_stream_honours_what_a_fit_honours(options):
    X, y = noisy_table()
    options = {"order": 1, "hierarchical": True, "bins": 3, "categorical_features": [0, 1], **options}
    streamed = stream(HigherOrderLogisticRegression(**options), X, y)
    # Cut points come from the first chunk, the rest is the same model less exactly solved.
    fitted = HigherOrderLogisticRegression(**options).fit(X, y)
    slopes = [model.scores_.numeric.coefficients[0, 2, 1] for model in (streamed, fitted)]
    assert slopes[0] == pytest.approx(slopes[1], abs=0.1)
    categories = slice(0, 8)  # two columns of three values and no evidence; bins have other cut points
    tables = [model.scores_.tables[categories] for model in (streamed, fitted)]
    np.testing.assert_allclose(*tables, atol=0.1)


def test_an_unseen_category_carries_the_mean_contribution_after_a_stream():
    X, y = noisy_table()
    X = X[:, :2].astype(int)
    model = stream(HigherOrderLogisticRegression(order=1, categorical_features="all"), X, y)
    tables, terms = model.scores_.tables, model.scores_.terms
    counts = np.bincount(X[:, 0], minlength=3)
    block = tables[terms.block(0)]
    np.testing.assert_allclose(block[3], counts @ block[:3] / counts.sum(), rtol=1e-10)


def test_rows_without_weight_change_nothing():
    X, y = noisy_table(400)
    X = X[:, :2].astype(int)
    strange = np.vstack([X, [[7, 7], [8, 1]]])
    options = {"order": 2, "categorical_features": "all"}
    plain = HigherOrderLogisticRegression(**options).partial_fit(X, y, classes=[0, 1])
    weighed = HigherOrderLogisticRegression(**options).partial_fit(
        strange, np.append(y, [0, 1]), classes=[0, 1], sample_weight=np.append(np.ones(400), [0, 0])
    )
    np.testing.assert_allclose(weighed.predict_proba(X), plain.predict_proba(X), rtol=1e-12)


@pytest.mark.parametrize("estimator", BOTH)
def test_neither_a_stream_nor_a_fit_leaves_stale_attributes(estimator):
    X, y = exclusive_or(400)
    model = estimator(categorical_features="all").fit(X, y)
    fitted = {"objective_", "gradient_norm_", "passes_", "history_", "n_iter_"}
    assert fitted <= set(vars(model))
    model.partial_fit(X, y)
    assert not fitted & set(vars(model))
    if estimator is AcceleratedLogisticRegression:
        assert model.weights_.shape == model.scores_.tables.shape
    streamed = {"statistics_", "coefficients_", "squares_", "centres_", "spreads_"}
    assert streamed <= set(vars(model))
    model.fit(X, y)
    assert not streamed & set(vars(model))


@pytest.mark.parametrize("estimator", BOTH)
def test_a_generative_start_of_a_stream_is_refused(estimator):
    X, y = exclusive_or(50)
    with pytest.raises(InputError, match="starts from zero"):
        estimator(categorical_features="all", start="generative").partial_fit(X, y, classes=[0, 1])
