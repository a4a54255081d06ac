"""Fusing terms changes the speed of a pass, never its result."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seminaive.design import fusion
from seminaive.design.fusion import FusedTerms, Group, plan_groups
from seminaive.statistics import Terms


@pytest.fixture(autouse=True, scope="module")
def _small_tables_are_planned_too():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fusion, "FEW_ROWS", 1)
        yield


@st.composite
def coded_tables(draw):
    """Draw random codes, no-evidence codes among them, and terms of one order or of all up to it."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    cardinalities = draw(st.lists(st.integers(1, 7), min_size=3, max_size=6))
    n_rows = draw(st.integers(1, 200))
    codes = rng.integers(0, np.array(cardinalities) + 1, (n_rows, len(cardinalities))).astype(np.uint8)
    order = draw(st.integers(1, 3))
    build = draw(st.sampled_from([Terms.of_order, Terms.up_to_order]))
    return codes, build(cardinalities, order), rng


@settings(max_examples=60, deadline=None)
@given(coded_tables(), st.sampled_from([1, 8, 64, 100_000]), st.sampled_from([0.0, 0.5, 1e9]))
def test_fused_sums_equal_the_sums_over_terms(case, cell_budget, expansion_share):
    codes, terms, rng = case
    fused = FusedTerms.of(codes, terms, cell_budget=cell_budget, expansion_share=expansion_share)
    _check_sums(fused, codes, terms, rng)


@settings(max_examples=40, deadline=None)
@given(coded_tables(), st.sampled_from([0, 1 << 22]))
def test_sums_of_terms_that_are_not_fused_are_the_same(case, most_slots):
    codes, terms, rng = case
    groups = [Group(columns, (term,)) for term, columns in enumerate(terms.features)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fusion, "MOST_SLOTS", most_slots)  # with none, joint values are sorted
        fused = FusedTerms.of_groups(codes, terms, groups)
    assert fused.groups == terms.features
    assert fused.group_terms == tuple((term,) for term in range(len(terms.features)))
    assert [len(members) for members in fused.members] == np.diff(fused.offsets).tolist()
    _check_sums(fused, codes, terms, rng)


def _check_sums(fused, codes, terms, rng):
    """Compare sums over fused cells with sums over the terms' own cells, in both directions."""
    cells = terms.cells(codes)
    assert np.array_equal(fused.observed, np.unique(cells))

    parameters = rng.integers(-9, 9, (fused.n_parameters, 4)).astype(float)
    tables = np.empty((fused.n_fused_cells, 4))
    fused.expand(parameters, tables)
    # Whole numbers: both orders of summation are exact.
    plain = parameters[np.searchsorted(fused.observed, cells)].sum(axis=1)
    assert np.array_equal(tables[fused.cells.astype(int)].sum(axis=0), plain)

    residuals = rng.integers(-9, 9, (len(codes), 4)).astype(float)
    scattered = np.zeros_like(tables)
    for cells_of_group in fused.cells:
        np.add.at(scattered, cells_of_group, residuals)
    gradient = np.zeros_like(parameters)
    fused.marginalise(scattered, gradient)
    expected = np.zeros((terms.n_cells, 4))
    for column in cells.T:
        np.add.at(expected, column, residuals)
    assert np.array_equal(gradient, expected[fused.observed])


@settings(max_examples=40, deadline=None)
@given(coded_tables())
def test_every_term_belongs_to_exactly_one_group_that_has_its_columns(case):
    codes, terms, _ = case
    groups = plan_groups(codes, terms, cell_budget=64, expansion_share=0.5)
    covered = sorted(term for group in groups for term in group.terms)
    assert covered == list(range(len(terms.features)))
    for group in groups:
        for term in group.terms:
            assert set(terms.features[term]) <= set(group.columns)


def test_columns_that_exclude_each_other_share_one_group():
    # The indicator columns of one 30-valued feature have 30 joint values, not 2**30.
    soil = np.random.default_rng(0).integers(0, 30, 5000)
    codes = (soil[:, None] == np.arange(30)).astype(np.uint8)
    fused = FusedTerms.of(codes, Terms.of_order([2] * 30, 2), expansion_share=3.0)
    assert len(fused.groups) == 1
    assert fused.n_fused_cells == 30


def test_values_too_many_for_a_table_of_slots_are_numbered_by_sorting():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 10_000, (500, 2)).astype(np.uint16)
    terms = Terms.of_order([10_000, 10_000], 2)
    fused = FusedTerms.of(codes, terms)
    assert np.array_equal(fused.observed[fused.members[0][fused.cells[0], 0]], terms.cells(codes)[:, 0])


@pytest.mark.parametrize("n_columns", [0, 1, 2])
def test_terms_beyond_the_columns_leave_nothing_to_fuse(n_columns):
    codes = np.zeros((4, n_columns), dtype=np.uint8)
    fused = FusedTerms.of(codes, Terms.of_order([2] * n_columns, 3))
    assert fused.n_parameters == 0
    assert fused.cells.shape == (0, 4)
