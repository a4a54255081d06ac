"""Scores under a joined schema, and their sums, say what they said before."""

import numpy as np
import pandas as pd
import pytest

from seminaive import HigherOrderLogisticRegression, NaiveBayes, SemiNaive
from seminaive.encode import TableEncoder
from seminaive.encode.joined_schema import joined_schema, recoded_table
from seminaive.errors import InputError
from seminaive.scores.joined_scores import recoded_scores, summed_terms

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def draw(n_rows, levels, seed, n_classes=3):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n_rows)
    X = pd.DataFrame(
        {
            "a": rng.normal(y, 2.0),
            "b": rng.choice(levels, n_rows),
            "c": rng.normal(size=n_rows) + seed,
            "d": rng.choice(["u", "v"], n_rows),
        }
    )
    X.loc[rng.random(n_rows) < 0.1, "b"] = None
    X.loc[rng.random(n_rows) < 0.1, "a"] = np.nan
    return X, y


KINDS = [
    NaiveBayes(variances="class"),
    HigherOrderLogisticRegression(order=2, hierarchical=True),
    SemiNaive(),
]


@pytest.fixture(scope="module", params=KINDS, ids=lambda kind: type(kind).__name__)
def pair_of_models(request):
    one = request.param.fit(*draw(200, ["p", "q", "r"], 0))
    other = SemiNaive().fit(*draw(150, ["q", "s"], 1))
    return one, other


def centred(scores, table):
    """Return sums less their mean over the classes: joined scores are sums, which are not attenuated."""
    found = scores.sums(table)
    return found - found.mean(axis=1, keepdims=True)


def score_of(model, rows):
    return centred(model.scores_, model.encode(rows))


def test_a_joined_coding_gives_every_row_the_same_score(pair_of_models):
    rows, _ = draw(400, ["p", "q", "r", "s", "t"], 2)
    for model, other in (pair_of_models, pair_of_models[::-1]):
        joined = joined_schema(other.schema_, model.schema_)
        found = recoded_scores(model.scores_, model.schema_, joined)
        found.check_fits(joined.cardinalities, len(joined.numeric), 3)
        table = TableEncoder(joined).encode(rows)
        assert found.attenuation is None
        np.testing.assert_allclose(centred(found, table), score_of(model, rows), atol=1e-12)


def test_a_sum_has_one_table_or_curve_per_term_and_is_the_sum(pair_of_models):
    one, other = pair_of_models
    rows, _ = draw(400, ["p", "q", "r", "s", "t"], 2)
    joined = joined_schema(other.schema_, one.schema_)
    parts = [recoded_scores(model.scores_, model.schema_, joined) for model in (one, other)]
    both = summed_terms(parts[0] + parts[1])
    both.check_fits(joined.cardinalities, len(joined.numeric), 3)
    assert len(set(both.terms.features)) == len(both.terms.features)
    assert len(set(both.curves.features)) == len(both.curves.features)
    table = TableEncoder(joined).encode(rows)
    expected = score_of(one, rows) + score_of(other, rows)
    np.testing.assert_allclose(centred(both, table), expected, atol=1e-12)


def test_a_column_that_is_away_counts_as_unseen(pair_of_models):
    model, _ = pair_of_models
    rows, _ = draw(300, ["p", "q", "r", "t"], 2)
    for away in ("a", "b"):
        X, y = draw(150, ["q"], 1)
        other = NaiveBayes().fit(X.drop(columns=away), y)
        joined = joined_schema(other.schema_, model.schema_)
        found = recoded_scores(model.scores_, model.schema_, joined)
        table = TableEncoder(model.schema_).encode(rows)
        j = model.schema_.names.index(away)
        codes, numbers = table.codes.copy(), table.numbers.copy()
        if j in model.schema_.coded:
            k = model.schema_.coded.index(j)
            codes[:, k] = model.schema_.cardinalities[k]
        if j in model.schema_.numeric:
            numbers[:, model.schema_.numeric.index(j)] = np.nan
        expected = centred(model.scores_, type(table)(codes, numbers, table.schema))
        table = TableEncoder(joined).encode(rows.drop(columns=away))
        np.testing.assert_allclose(centred(found, table), expected, atol=1e-12)


def test_rows_are_recoded_as_if_they_were_encoded_anew(pair_of_models):
    one, other = pair_of_models
    X, _ = draw(150, ["q", "s"], 1)
    joined = joined_schema(other.schema_, one.schema_)
    found = recoded_table(TableEncoder(other.schema_).encode(X), joined)
    expected = TableEncoder(joined).encode(X)
    np.testing.assert_array_equal(found.codes, expected.codes)
    np.testing.assert_array_equal(found.numbers, expected.numbers)


def test_polynomials_about_different_centres_become_one():
    one = NaiveBayes(variances="class").fit(*draw(200, ["p", "q"], 0))
    other = NaiveBayes(variances="class").fit(*draw(200, ["p", "q"], 5))
    rows, _ = draw(300, ["p", "q"], 2)
    both = summed_terms(one.scores_ + recoded_scores(other.scores_, other.schema_, one.schema_))
    assert both.numeric.features == one.scores_.numeric.features
    table = TableEncoder(one.schema_).encode(rows)
    expected = one.decision_function(rows) + other.decision_function(rows)
    np.testing.assert_allclose(centred(both, table), expected, atol=1e-11)


def test_columns_that_changed_their_kind_are_refused_by_name():
    X, y = draw(100, ["p", "q"], 0)
    one, other = NaiveBayes().fit(X, y), NaiveBayes().fit(X.assign(c=X["b"], b=X["c"]), y)
    with pytest.raises(InputError, match="column 'b' holds categories here and held numbers"):
        joined_schema(one.schema_, other.schema_)
    with pytest.raises(InputError, match="missing is 'value' here and 'neutral'"):
        joined_schema(one.schema_, NaiveBayes(missing="neutral").fit(X, y).schema_)
    with pytest.raises(InputError, match="merge_spellings"):
        joined_schema(one.schema_, NaiveBayes(merge_spellings=True).fit(X, y).schema_)
