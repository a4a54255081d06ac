import numpy as np
import pandas as pd
import pytest

from seminaive import HigherOrderLogisticRegression, NaiveBayesLogisticRegression, SemiNaive
from seminaive.encode import EncodedTable
from seminaive.scores.attenuation import Attenuation, unknown_cells, without_evidence
from seminaive.scores.unknown_variance import score_covariance, with_means


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(400, 2))
    X = pd.DataFrame(
        {
            "number": x[:, 0],
            "other": 0.7 * x[:, 0] + x[:, 1],
            "letter": rng.choice(["p", "q", "r"], 400),
            "sign": np.where(x[:, 1] + rng.normal(size=400) > 0, "+", "-"),
        }
    )
    score = 2 * X.number - X.other + 1.5 * (X.letter == "p") + np.where(X.sign == "+", X.number, -X.number)
    return X, score + rng.logistic(size=400)


def two_classes(score):
    return np.where(score > 0, "yes", "no")


def three_classes(score):
    return np.array(["low", "middle", "high"])[np.searchsorted([-1.0, 1.5], score)]


def without(encoded, features):
    """Return the rows with the cells of some features unknown."""
    schema = encoded.schema
    codes, numbers = encoded.codes.copy(), encoded.numbers.copy()
    for feature in features:
        position = schema.features[feature]
        if position in schema.coded:
            codes[:, schema.coded.index(position)] = schema.cardinalities[schema.coded.index(position)]
        if position in schema.numeric:
            numbers[:, schema.numeric.index(position)] = np.nan
    return EncodedTable(codes, numbers, schema)


def variance_of(model, encoded, features):
    """Return v of some columns by its definition: over pairs of classes, of differences of log odds."""
    lost = model.scores_.sums(encoded) - model.scores_.sums(without(encoded, features))
    n_classes = lost.shape[1]
    pairs = [lost[:, a] - lost[:, b] for a in range(n_classes) for b in range(a)]
    return np.mean([np.var(pair) for pair in pairs])


@pytest.mark.parametrize("labels_of", [two_classes, three_classes])
def test_the_covariance_gives_the_variance_of_any_columns_where_terms_have_one(table, labels_of):
    X, score = table
    model = NaiveBayesLogisticRegression().fit(X, labels_of(score))
    encoded = model.encode(X)
    covariance = score_covariance(model.scores_, encoded)
    for features in ([0], [2], [0, 3], [1, 2, 3], [0, 1, 2, 3]):
        summed = covariance[np.ix_(features, features)].sum()
        assert summed == pytest.approx(variance_of(model, encoded, features), rel=1e-9)


@pytest.mark.parametrize("labels_of", [two_classes, three_classes])
@pytest.mark.parametrize(
    "model", [SemiNaive(), HigherOrderLogisticRegression(3, hierarchical=True)], ids=["pairs", "triples"]
)
def test_the_covariance_gives_the_variance_of_two_columns_of_tuples(table, model, labels_of):
    X, score = table
    model.fit(X, labels_of(score))
    encoded = model.encode(X)
    covariance = score_covariance(model.scores_, encoded)
    for features in ([0], [3], [0, 3], [1, 2]):
        summed = covariance[np.ix_(features, features)].sum()
        assert summed == pytest.approx(variance_of(model, encoded, features), rel=1e-9)


def test_whole_weights_count_rows(table):
    X, score = table
    model = HigherOrderLogisticRegression(2).fit(X, two_classes(score))
    counts = np.random.default_rng(0).integers(1, 4, len(X))
    repeated = model.encode(X.loc[X.index.repeat(counts)])
    weighted = score_covariance(model.scores_, model.encode(X), counts.astype(float))
    np.testing.assert_allclose(weighted, score_covariance(model.scores_, repeated), rtol=1e-9, atol=1e-12)


def test_the_answer_is_close_to_the_mean_over_normal_log_odds():
    rng = np.random.default_rng(1)
    mean, deviation = np.array([-2.0, -0.5, 0.0, 1.0, 3.0]), 2.5
    drawn = mean[:, None] + deviation * rng.normal(size=(5, 100_000))
    expected = (1 / (1 + np.exp(-drawn))).mean(axis=1)
    # What a row without any evidence lacks is far away: the shares are those of mean log odds of 0.
    attenuation = Attenuation.of(np.array([[deviation**2]]), np.zeros(2), np.log([0.5, 0.5]))
    scores = np.stack([np.zeros(5), mean], axis=1)
    answered = attenuation.attenuated(scores, np.ones((5, 1), dtype=bool))
    # The probit approximation is off by at most .02 at any variance.
    np.testing.assert_allclose(1 / (1 + np.exp(answered[:, 0] - answered[:, 1])), expected, atol=0.02)


def test_rows_without_an_unknown_cell_keep_their_scores_to_the_bit(table):
    X, score = table
    model = SemiNaive().fit(X, two_classes(score))
    some = X.copy()
    some.loc[::3, "number"] = np.nan
    encoded = model.encode(some)
    answered, sums = model.scores_.joint_log_scores(encoded), model.scores_.sums(encoded)
    complete = ~unknown_cells(encoded).any(axis=1)
    np.testing.assert_array_equal(answered[complete], sums[complete])
    assert (answered[~complete] != sums[~complete]).any(axis=1).all()


def test_more_variance_than_of_the_whole_row_takes_no_more_than_all_that_it_lacks():
    # Two columns that say the opposite of each other: together they say nothing, and each alone much.
    covariance = np.array([[9.0, -8.99], [-8.99, 9.0]])
    attenuation = Attenuation.of(covariance, np.array([0.0, 1.0]), np.log([0.2, 0.8]))
    factors, shares = attenuation.factors_and_shares(np.array([[True, False], [True, True], [False, False]]))
    assert shares.tolist() == [1.0, 1.0, 0.0]
    assert factors[0] < factors[1] < factors[2] == 1.0


def test_columns_that_vary_by_nothing_change_nothing():
    attenuation = Attenuation.of(np.zeros((1, 1)), np.array([0.0, 1.0]), np.log([0.2, 0.8]))
    scores = np.array([[0.0, 2.0]])
    np.testing.assert_array_equal(attenuation.attenuated(scores, np.array([[True]])), scores)


def test_a_missing_number_whose_effect_was_learned_is_evidence(table):
    X, score = table
    some = X.copy()
    some.loc[::4, "number"] = np.nan
    model = SemiNaive(interactions=0).fit(some, two_classes(score))
    blank = model.encode(some.iloc[[0]])
    assert np.isnan(blank.numbers[0, 0])
    np.testing.assert_array_equal(model.scores_.joint_log_scores(blank), model.scores_.sums(blank))


def test_unknown_cells_get_the_mean_of_their_column(table):
    X, score = table
    model = NaiveBayesLogisticRegression().fit(X, three_classes(score))
    encoded = model.encode(X)
    shifted = model.scores_.numeric.coefficients.copy()
    shifted[:, 0] += [[1.0, -3.0, 2.0]]
    generative = type(model.scores_)(
        model.scores_.prior,
        model.scores_.terms,
        model.scores_.tables,
        type(model.scores_.numeric)(model.scores_.numeric.features, model.scores_.numeric.centres, shifted),
    )
    mended = with_means(generative, encoded)
    for feature in range(4):
        lost = mended.sums(encoded) - mended.sums(without(encoded, [feature]))
        lost -= lost.mean(axis=1, keepdims=True)
        np.testing.assert_allclose(lost.mean(axis=0), 0.0, atol=1e-9)
    np.testing.assert_array_equal(mended.sums(encoded), generative.sums(encoded))


def test_a_row_of_which_nothing_is_known_is_all_unknown(table):
    X, score = table
    model = SemiNaive().fit(X, two_classes(score))
    blank = without_evidence(model.schema_)
    assert unknown_cells(blank).all()
    shares = np.unique(two_classes(score), return_counts=True)[1] / len(X)
    scores = model.scores_.joint_log_scores(blank)[0]
    np.testing.assert_allclose(np.exp(scores) / np.exp(scores).sum(), shares, rtol=1e-12)
