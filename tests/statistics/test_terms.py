"""Cells of terms: numbers in mixed radix, no evidence being a code like any other, dense or observed."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seminaive.statistics import ObservedTerms, Terms

cardinalities_of_columns = st.lists(st.integers(1, 4), min_size=1, max_size=4)


def every_code(cardinalities):
    return np.array(list(product(*(range(k + 1) for k in cardinalities))), dtype=np.uint8)


def observed_terms(cardinalities, order, seed):
    """Return terms of the combinations of ten random rows, and these rows."""
    dense = Terms.up_to_order(cardinalities, order)
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, cardinalities, (10, len(cardinalities))).astype(np.uint8)
    kept = np.unique(dense.cells(codes))
    return ObservedTerms.of_combinations(dense.features, dense.cardinalities, kept), codes


@given(cardinalities_of_columns, st.integers(1, 3))
def test_cells_are_numbers_in_mixed_radix(cardinalities, order):
    terms = Terms.up_to_order(cardinalities, order)
    codes = every_code(cardinalities)
    cells = terms.cells(codes)
    for term, columns in enumerate(terms.features):
        shape = terms.shape(term)
        expected = terms.offsets[term] + np.ravel_multi_index(tuple(codes[:, columns].T), shape)
        assert (cells[:, term] == expected).all()
        assert (terms.cells_of(term, codes) == expected).all()
        known = (codes[:, columns] < np.array(cardinalities)[list(columns)]).all(axis=1)
        assert (terms.known[expected] == known).all()
        assert terms.known[terms.block(term)].sum() == terms.n_combinations[term]
        assert terms.sizes[term] == np.prod(shape)
    assert terms.n_cells == terms.sizes.sum()


@given(cardinalities_of_columns, st.integers(1, 3))
def test_margins_are_the_cells_of_codes_replaced_by_no_evidence(cardinalities, order):
    terms = Terms.up_to_order(cardinalities, order)
    codes = every_code(cardinalities)
    found = {(axes, *pair) for axes, *arrays in terms.margins() for pair in zip(*arrays, strict=True)}
    expected = set()
    for term, columns in enumerate(terms.features):
        for n in range(1, 2 ** len(columns)):
            axes = tuple(axis for axis in range(len(columns)) if n >> axis & 1)
            silenced = codes.copy()
            for axis in axes:
                silenced[:, columns[axis]] = cardinalities[columns[axis]]
            others = [j for axis, j in enumerate(columns) if axis not in axes]
            known = (codes[:, others] < np.array(cardinalities)[others]).all(axis=1)
            pairs = zip(
                terms.cells_of(term, codes[known]), terms.cells_of(term, silenced[known]), strict=True
            )
            expected |= {(axes, *pair) for pair in pairs}
    assert found == expected


@given(cardinalities_of_columns, st.integers(1, 3), st.integers(0, 1000))
def test_observed_terms_keep_what_occurred_and_its_margins(cardinalities, order, seed):
    terms, seen = observed_terms(cardinalities, order, seed)
    codes = every_code(cardinalities)
    cells = terms.cells(codes)
    dense = Terms(terms.features, terms.cardinalities)
    used = set()
    for term, columns in enumerate(terms.features):
        assert (terms.cells_of(term, codes) == cells[:, term]).all()
        unknown = codes[:, columns] == np.array(cardinalities)[list(columns)]
        for row, cell, silent in zip(codes[:, columns], cells[:, term], unknown, strict=True):
            occurred = ((seen[:, columns] == row) | silent).all(axis=1).any()
            assert (cell != terms.elsewhere[term]) == occurred
            assert terms.known[cell] == (occurred and not silent.any())
        elsewhere = cells[:, term] != terms.elsewhere[term]
        # Different combinations have different cells, in the order of the dense ones.
        pairs = {
            (d, c)
            for d, c in zip(dense.cells_of(term, codes[elsewhere]), cells[elsewhere, term], strict=True)
        }
        assert [c for _, c in sorted(pairs)] == sorted({c for _, c in pairs})
        used |= {c for _, c in pairs} | {terms.elsewhere[term]}
    assert used == set(range(terms.n_cells))
    some = list(range(0, len(terms.features), 2))
    smaller = terms.subset(some)
    for position, term in enumerate(some):
        shift = smaller.offsets[position] - terms.offsets[term]
        assert (smaller.cells_of(position, codes) == cells[:, term] + shift).all()


def test_numbers_of_cells_do_not_wrap_around():
    terms = Terms(((0,) * 70,), (1,))
    assert terms.n_cells == 2**70
    with pytest.raises(OverflowError):
        _ = terms.offsets


def test_strides_are_the_products_of_the_widths_behind():
    terms = Terms(((2,), (0, 1, 2), (), (1, 3), (0, 3)), (2, 1, 4, 3))
    # Widths are cardinalities and one: 3, 2, 5, 4.
    assert terms.strides.tolist() == [1, 2 * 5, 5, 1, 4, 1, 4, 1]


def test_cells_that_are_kept_lie_where_a_search_finds_them():
    rng = np.random.default_rng(0)
    features = ((0,), (1,), (2,), (0, 1), (0, 2), (1, 2))
    dense = Terms(features, (3, 4, 2))
    combinations = np.unique(rng.integers(dense.offsets[1], dense.n_cells, 12))  # none of the first term
    observed = ObservedTerms.of_combinations(features, (3, 4, 2), combinations)
    found = {
        int(cell): int(place)
        for cell, place in zip(observed.kept, observed.cells_from_dense(observed.kept), strict=True)
    }
    for _, cells, margins in observed.margins():
        assert set(cells.tolist()) <= set(found.values())
        assert set(margins.tolist()) <= set(found.values())
    known = [found[int(cell)] for cell in observed.kept if dense.known[cell]]
    assert np.flatnonzero(observed.known).tolist() == sorted(known)
