"""Cells of no evidence: what a tuple contributes when some of its columns are unseen."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seminaive.scores import fill_unknown, laplace_tables, m_estimate_tables
from seminaive.statistics import ObservedTerms, Terms, TupleCounts


def plain_fill(terms, tables, weight):
    """Fill cell by cell from the definition, for dense terms."""
    filled = tables.copy()
    for term, columns in enumerate(terms.features):
        codes = list(product(*(range(size) for size in terms.shape(term))))
        known = [all(c < terms.cardinalities[j] for c, j in zip(row, columns, strict=True)) for row in codes]
        first = terms.offsets[term]
        for cell, row in enumerate(codes):
            if known[cell] or weight[first + cell] > 0:
                continue
            agreeing = [
                first + other
                for other, its in enumerate(codes)
                if known[other]
                and all(a in (b, terms.cardinalities[j]) for a, b, j in zip(row, its, columns, strict=True))
            ]
            total = weight[agreeing].sum()
            filled[first + cell] = weight[agreeing] @ tables[agreeing] / total if total > 0 else 0.0
    return filled


@given(st.lists(st.integers(1, 4), min_size=1, max_size=3), st.integers(1, 3), st.integers(0, 10_000))
def test_unknown_cells_get_the_weighted_mean_of_those_that_agree(cardinalities, order, seed):
    rng = np.random.default_rng(seed)
    terms = Terms.up_to_order(cardinalities, order)
    tables = rng.normal(size=(terms.n_cells, 3))
    weight = rng.integers(0, 3, terms.n_cells).astype(float)
    expected = plain_fill(terms, tables, weight)
    fill_unknown(terms, tables, weight)
    np.testing.assert_allclose(tables, expected, rtol=1e-12, atol=1e-14)


@given(st.integers(0, 1000))
def test_observed_terms_are_filled_like_dense_ones(seed):
    rng = np.random.default_rng(seed)
    dense = Terms.up_to_order((3, 4, 2), 3)
    codes = rng.integers(0, (3, 4, 2), (8, 3)).astype(np.uint8)
    occurred = np.unique(dense.cells(codes))
    terms = ObservedTerms.of_combinations(dense.features, dense.cardinalities, occurred)
    weight, tables = np.zeros(dense.n_cells), np.zeros((dense.n_cells, 2))
    weight[occurred] = rng.integers(1, 5, len(occurred))
    tables[occurred] = rng.normal(size=(len(occurred), 2))
    places = terms.cells_from_dense(occurred)
    own_weight, own_tables = np.zeros(terms.n_cells), np.zeros((terms.n_cells, 2))
    own_weight[places], own_tables[places] = weight[occurred], tables[occurred]
    fill_unknown(dense, tables, weight)
    fill_unknown(terms, own_tables, own_weight)
    every = np.array(list(product(range(4), range(5), range(3))), dtype=np.uint8)
    np.testing.assert_allclose(own_tables[terms.cells(every)], tables[dense.cells(every)], atol=1e-14)
    assert (own_tables[terms.elsewhere] == 0).all()


@pytest.mark.parametrize("estimate", [laplace_tables, m_estimate_tables])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_generative_tuple_without_evidence_on_some_axes_is_the_tuple_of_the_others(estimate, weighted):
    rng = np.random.default_rng(0)
    cardinalities = (2, 3, 4)
    codes = rng.integers(0, np.array(cardinalities) + 1, (200, 3)).astype(np.uint8)
    labels = rng.integers(0, 3, 200)
    weights = rng.integers(0, 5, 200) / 2 if weighted else None
    terms = Terms.up_to_order(cardinalities, 3)
    tables = estimate(TupleCounts.of(codes, labels, terms, 3, weights), 0.7)
    blocks = {
        columns: tables[terms.block(term)].reshape(*terms.shape(term), 3)
        for term, columns in enumerate(terms.features)
    }
    for columns, block in blocks.items():
        assert (block[tuple(cardinalities[j] for j in columns)] == 0).all()
        for silent in columns:
            others = tuple(j for j in columns if j != silent)
            if others:
                margin = np.take(block, cardinalities[silent], axis=columns.index(silent))
                np.testing.assert_allclose(margin, blocks[others], rtol=1e-12)
