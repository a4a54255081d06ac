"""AnJE and AnDE: against naive Bayes, against hand-written loops, against scikit-bayes, and in chunks."""

from itertools import combinations

import numpy as np
import pytest

from seminaive import AveragedDependenceEstimators, AveragedJoinEstimators, NaiveBayes
from seminaive.errors import InputError
from seminaive.statistics import VETO


def table(n_rows=300, n_classes=3, cardinalities=(2, 3, 4, 3), seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n_rows)
    return (rng.integers(0, cardinalities, (n_rows, len(cardinalities))) + y[:, None]) % cardinalities, y


def test_joins_of_one_are_naive_bayes_with_m_estimates():
    X, y = table(cardinalities=(3, 3, 3))
    joined = AveragedJoinEstimators(order=1, categorical_features="all").fit(X, y)
    # One third of a row in each of three cells is one row shared by them.
    naive = NaiveBayes(smoothing=1 / 3, priors=np.exp(joined.scores_.prior), categorical_features="all").fit(
        X, y
    )
    np.testing.assert_allclose(joined.predict_log_proba(X), naive.predict_log_proba(X), atol=1e-12)


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_joins_equal_the_weighted_product_of_equation_9(order):
    X, y = table()
    model = AveragedJoinEstimators(order=order, categorical_features="all").fit(X, y)
    cardinalities = X.max(axis=0) + 1
    scores = np.zeros((len(X), 3))
    terms = list(combinations(range(4), order))
    for c in range(3):
        of_class = X[y == c]
        scores[:, c] = np.log((len(of_class) + 1 / 3) / (len(X) + 1))
        for term in terms:
            matches = (of_class[None, :, term] == X[:, None, term]).all(axis=2).sum(axis=1)
            size = np.prod(cardinalities[list(term)])
            # Every column is in `order` of 4 times the number of terms, and should count once.
            scores[:, c] += np.log((matches + 1 / size) / (len(of_class) + 1)) * 4 / (order * len(terms))
    expected = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
    np.testing.assert_allclose(model.predict_log_proba(X), expected, atol=1e-10)


def reference_ande(X, y, order, min_count, smoothing=1.0):
    """Add up joint probabilities by plain loops over rows, parents and children."""
    n_classes, (n_rows, n_columns) = y.max() + 1, X.shape
    cardinalities = X.max(axis=0) + 1
    result = np.zeros((n_rows, n_classes))
    for i, x in enumerate(X):
        for c in range(n_classes):
            parts = []
            for parents in combinations(range(n_columns), order):
                same = (X[:, parents] == x[list(parents)]).all(axis=1)
                if same.sum() < min_count:
                    continue
                of_class = same & (y == c)
                states = n_classes * np.prod(cardinalities[list(parents)])
                joint = (of_class.sum() + smoothing / states) / (n_rows + smoothing)
                for j in set(range(n_columns)) - set(parents):
                    both = (of_class & (X[:, j] == x[j])).sum()
                    joint *= (both + smoothing / cardinalities[j]) / (of_class.sum() + smoothing)
                parts.append(joint)
            result[i, c] = np.mean(parts)
    return result / result.sum(axis=1, keepdims=True)


@pytest.mark.parametrize(("order", "min_count"), [(1, 1), (1, 30), (2, 1), (2, 5)])
def test_dependence_equals_plain_loops(order, min_count):
    X, y = table(n_rows=150)
    model = AveragedDependenceEstimators(order, min_count=min_count, categorical_features="all").fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), reference_ande(X, y, order, min_count), atol=1e-12)


@pytest.mark.parametrize("order", [1, 2])
def test_dependence_equals_scikit_bayes_with_laplace_smoothing(order):
    skbn = pytest.importorskip("skbn")
    X, y = table()
    columns = list(range(X.shape[1]))
    theirs = skbn.AnDE(n_dependence=order, categorical_features=columns, alpha=1.0).fit(X.astype(float), y)
    ours = AveragedDependenceEstimators(order, estimates="laplace", categorical_features="all").fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X.astype(float)), atol=1e-10)


def test_rows_without_a_frequent_parent_are_left_to_naive_bayes():
    X, y = table(cardinalities=(3, 3, 3))
    model = AveragedDependenceEstimators(min_count=1e9, categorical_features="all").fit(X, y)
    priors = (np.bincount(y) + 1 / 3) / (len(y) + 1)
    naive = NaiveBayes(smoothing=1 / 3, priors=priors, categorical_features="all").fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), naive.predict_proba(X), atol=1e-12)


def test_many_features_do_not_underflow():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (60, 400))
    y = np.arange(60) % 2
    proba = AveragedDependenceEstimators(categorical_features="all").fit(X, y).predict_proba(X)
    assert np.isfinite(proba).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)


def test_predictions_do_not_depend_on_threads():
    X, y = table(n_rows=10_000)
    one = AveragedDependenceEstimators(categorical_features="all").fit(X, y)
    two = AveragedDependenceEstimators(categorical_features="all", n_jobs=2).fit(X, y)
    assert np.array_equal(one.predict_proba(X), two.predict_proba(X))


@pytest.mark.parametrize("model", [AveragedJoinEstimators(2), AveragedDependenceEstimators(1)])
def test_chunks_of_categories_equal_one_fit(model):
    X, y = table()
    model.set_params(categorical_features="all")
    order = np.argsort(y, kind="stable")
    for rows in np.array_split(order, 7):
        model.partial_fit(X[rows], y[rows])
    in_chunks = model.predict_log_proba(X)
    np.testing.assert_allclose(in_chunks, model.fit(X, y).predict_log_proba(X), atol=1e-12)


@pytest.mark.parametrize("model", [AveragedJoinEstimators(2), AveragedDependenceEstimators(1)])
def test_undeclared_classes_and_bad_parameters_are_refused(model):
    X, y = table()
    model.set_params(categorical_features="all")
    model.partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(InputError, match="not among the declared classes"):
        model.partial_fit(X, y + 1)
    with pytest.raises(InputError, match="estimates is one of"):
        model.set_params(estimates="none").fit(X, y)


def test_without_smoothing_an_unseen_pair_of_parent_and_class_is_vetoed_and_stays_finite():
    X, y = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 5), np.array([0, 0, 1, 1] * 5)
    model = AveragedDependenceEstimators(smoothing=0.0, categorical_features="all").fit(X, y)
    proba = model.predict_proba(X)
    assert np.isfinite(proba).all()
    np.testing.assert_allclose(proba[np.arange(20), y], 1.0)


def test_without_smoothing_a_class_never_seen_with_the_parent_expects_any_child_alike():
    # Class 0 was never seen with value 2, class 2 never with value 0: rows that join them veto every class.
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 8)
    X = np.array([0, 1, 1])[y][:, None] + rng.integers(0, 2, (24, 3))
    X[y == 1] = 1
    model = AveragedDependenceEstimators(smoothing=0.0, categorical_features="all").fit(X, y)
    rows = np.array(np.meshgrid(*[range(3)] * 3)).reshape(3, -1).T
    scores = np.empty((len(rows), 3))
    for i, x in enumerate(rows):
        for c in range(3):
            parts = []
            for parent in range(3):
                of_class = (X[:, parent] == x[parent]) & (y == c)
                log_joint = np.log(of_class.mean()) if of_class.any() else VETO
                for child in {0, 1, 2} - {parent}:
                    both = (of_class & (X[:, child] == x[child])).sum()
                    if not of_class.any():
                        log_joint += np.log(1 / 3)
                    else:
                        log_joint += np.log(both / of_class.sum()) if both else VETO
                parts.append(log_joint)
            scores[i, c] = np.logaddexp.reduce(parts)
    expected = scores - np.logaddexp.reduce(scores, axis=1)[:, None]
    assert (scores.max(axis=1) < VETO / 2).any()
    np.testing.assert_allclose(model.predict_log_proba(rows), expected, rtol=1e-12, atol=1e-9)
