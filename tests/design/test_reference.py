"""Laws of the reference-coded design: products against dense columns, and scores there and back."""

import numpy as np
import pandas as pd
import pytest

from seminaive import NaiveBayesLogisticRegression
from seminaive.design.reference import AnchoredDesign, ReferenceDesign, no_effect, reference_codes
from seminaive.encode import TableEncoder, open_table
from seminaive.scores import generative_scores
from seminaive.statistics import TableStatistics


def random_design(n_rows=200, seed=0):
    rng = np.random.default_rng(seed)
    codes = np.column_stack([rng.integers(0, 5, n_rows), rng.integers(0, 3, n_rows)])  # code 4: no evidence
    return ReferenceDesign.of(rng.normal(size=(n_rows, 3)), codes, [4, 3], [1, 2]), rng


def test_the_adjoint_has_the_inner_products_of_the_scores():
    design, rng = random_design()
    B, R = rng.normal(size=(design.n_coefficients, 3)), rng.normal(size=(design.n_rows, 3))
    one, other = np.sum(design.scores(B) * R), np.sum(B * design.adjoint(R))
    assert one == pytest.approx(other, rel=1e-12)
    np.testing.assert_allclose(design.adjoint(R), design.dense().T @ R, rtol=1e-12, atol=1e-12)


def test_gram_is_the_dense_product_and_rows_add_up():
    design, rng = random_design(5000)
    weight = rng.random(design.n_rows)
    dense = design.dense()
    np.testing.assert_allclose(
        design.gram(weight), dense.T @ (weight[:, None] * dense), rtol=1e-12, atol=1e-9
    )
    columns = np.array([0, 2, 5])
    np.testing.assert_allclose(design.gram(weight, columns), design.gram(weight)[np.ix_(columns, columns)])
    first, rest = slice(0, 1234), slice(1234, None)
    parts = design.rows(first).gram(weight[first]) + design.rows(rest).gram(weight[rest])
    np.testing.assert_allclose(parts, design.gram(weight), rtol=1e-12, atol=1e-9)
    R = rng.normal(size=(design.n_rows, 2))
    parts = design.rows(first).adjoint(R[first]) + design.rows(rest).adjoint(R[rest])
    np.testing.assert_allclose(parts, design.adjoint(R), rtol=1e-12, atol=1e-10)


def mixed_frame(n_rows=300, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "height": rng.normal(170, 10, n_rows),
            "sky": rng.choice(["dry", "snow", "wet"], n_rows),
            "wind": rng.choice(["calm", "storm"], n_rows),
        }
    )
    X.loc[::11, "height"] = np.nan
    X.loc[::7, "wind"] = None
    return X, rng.integers(0, 3, n_rows), rng


@pytest.mark.parametrize("missing", ["value", "neutral"])
@pytest.mark.parametrize("anchored", [True, False])
def test_coefficients_to_scores_to_coefficients_is_the_identity(missing, anchored):
    X, labels, rng = mixed_frame()
    _, table = TableEncoder.learn(
        open_table(X), categorical_features="from_dtype", missing=missing, labels=labels, row_weight=None
    )
    weight = np.ones(len(labels))
    statistics = TableStatistics.of(table, labels, 3, weight)
    anchor = generative_scores(statistics)
    anchor = anchor if anchored else no_effect(anchor)
    design = AnchoredDesign.of(table, reference_codes(statistics), anchor)
    B = rng.normal(size=(design.design.n_coefficients, 3))
    scores = design.to_scores(B, design.cell_weight(weight))
    np.testing.assert_allclose(design.coefficients_of(scores), B, atol=1e-9)
    # And the rows have the scores of the products, up to what is the same for all classes.
    ours = scores.joint_log_scores(table)
    theirs = design.design.scores(B) + design.offset
    difference = ours - theirs
    np.testing.assert_allclose(difference - difference[:, :1], 0, atol=1e-9)


def test_relabelled_classes_have_the_same_reference_where_categories_tie():
    # "a" and "b" are equally frequent; "a" is more frequent among the rows of one class.
    X = pd.DataFrame({"letter": ["a"] * 30 + ["b"] * 30 + ["c"] * 10, "x": np.arange(70) % 7})
    y = np.array([0] * 20 + [1] * 10 + [0] * 10 + [1] * 20 + [0, 1] * 5)
    weight = np.tile([0.1, 0.2, 0.3, 0.7, 1.1], 14)
    for weights in (None, weight):
        one = NaiveBayesLogisticRegression(strength=3.0, tol=1e-9).fit(X, y, sample_weight=weights)
        other = NaiveBayesLogisticRegression(strength=3.0, tol=1e-9).fit(X, 1 - y, sample_weight=weights)
        assert one.references_ == other.references_ == (0,)
        np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X)[:, ::-1], atol=1e-6)


def test_medians_leave_at_most_half_of_the_weight_on_either_side():
    design, rng = random_design()
    weight = rng.integers(0, 4, design.n_rows).astype(float)
    medians = design.medians(weight)
    assert (weight @ (design.numbers < medians) <= weight.sum() / 2).all()
    assert (weight @ (design.numbers > medians) <= weight.sum() / 2).all()
