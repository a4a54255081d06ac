"""Kernels of interpolated tables: against hat functions written out in numpy, and as each other's adjoint.

These tests also run without compilation (see test_without_compilation.py), where numpy checks every bound.
"""

import numpy as np
import pytest

from seminaive.kernels import node_interpolation as interpolation
from seminaive.statistics import Terms

# Two numbers with nodes, a category; more rows than a block has.
NODES = (np.array([-1.0, 0.0, 0.5, 2.0]), np.array([-0.3, 0.4]))
CARDINALITIES = (4, 3, 2)
N_ROWS = interpolation.ROWS_OF_BLOCK + 30


def made_rows():
    """Return codes, numbers and, for each column, the shares of every row in each of its codes."""
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(N_ROWS, 2)) * 2
    numbers[:3, 0] = NODES[0][0], NODES[0][-1], NODES[0][1]
    numbers[::9, 1] = np.nan
    codes = np.empty((N_ROWS, 3), np.uint8)
    hats = []
    for j, nodes in enumerate(NODES):
        middles = (nodes[1:] + nodes[:-1]) / 2
        missing = np.isnan(numbers[:, j])
        codes[:, j] = np.where(missing, len(nodes), np.searchsorted(middles, numbers[:, j]))
        units = np.eye(CARDINALITIES[j] + 1)
        hat = np.stack([np.interp(numbers[:, j], nodes, column[: len(nodes)]) for column in units], axis=1)
        hats.append(np.where(missing[:, None], units[len(nodes)], hat))
    codes[:, 2] = rng.integers(0, 3, N_ROWS)
    return codes, numbers, [*hats, np.eye(3)[codes[:, 2]]]


def layout(terms):
    starts = np.cumsum([0, *map(len, NODES), 0])
    return (np.array([0, 1, -1]), starts, np.concatenate(NODES)), (
        terms.columns,
        terms.strides,
        terms.starts,
        terms.offsets,
    )


def shares_in_cells(terms, hats):
    """Return the share of every row in every cell, (n_rows, n_cells)."""
    blocks = []
    for columns in terms.features:
        share = np.ones((N_ROWS, 1))
        for j in columns:
            share = (share[:, :, None] * hats[j][:, None]).reshape(N_ROWS, -1)
        blocks.append(share)
    return np.concatenate(blocks, axis=1)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_scores_are_sums_of_hat_functions_times_cells(n_classes):
    codes, numbers, hats = made_rows()
    terms = Terms.up_to_order(CARDINALITIES, 2)
    nodes, places = layout(terms)
    tables = np.random.default_rng(1).normal(size=(terms.n_cells, n_classes))
    scores = np.ones((N_ROWS, n_classes))
    interpolation.add_interpolated_scores(codes, numbers, *nodes, *places, tables, scores)
    np.testing.assert_allclose(scores, 1 + shares_in_cells(terms, hats) @ tables, atol=1e-12)


def test_weights_of_cells_are_sums_of_hat_functions():
    codes, numbers, hats = made_rows()
    terms = Terms.up_to_order(CARDINALITIES, 2)
    nodes, places = layout(terms)
    row_weight = np.random.default_rng(2).random(N_ROWS)
    weights = np.zeros(terms.n_cells)
    interpolation.weigh_interpolated_cells(codes, numbers, *nodes, *places, row_weight, weights)
    np.testing.assert_allclose(weights, row_weight @ shares_in_cells(terms, hats), atol=1e-12)


def test_a_place_is_the_node_below_and_the_share_of_the_way_to_the_next():
    codes, numbers, hats = made_rows()
    nodes, _ = layout(Terms.singles(CARDINALITIES))
    places, along = np.empty((3, 40), np.int64), np.empty((3, 40))
    interpolation.place_rows(codes, numbers, *nodes, 5, places, along)
    for j, hat in enumerate(hats):
        rows = np.arange(5, 45)
        np.testing.assert_allclose(hat[rows, places[j]], 1 - along[j], atol=1e-14)
        following = np.minimum(places[j] + 1, CARDINALITIES[j])
        np.testing.assert_allclose(np.where(along[j] > 0, hat[rows, following], 0.0), along[j], atol=1e-14)


def test_pairs_by_codes_and_between_codes_agree_where_rows_stand_at_codes():
    rng = np.random.default_rng(3)
    tables, (left, right) = rng.normal(size=(2 + 12, 3)), rng.integers(0, [[3], [4]], (2, 50))
    by_code, between = np.zeros((50, 3)), np.zeros((50, 3))
    interpolation.add_cells(tables, 2, 4, left, right, by_code)
    interpolation.add_bilinear(tables, 2, 4, left, np.zeros(50), right, np.zeros(50), between)
    assert (by_code == tables[2 + 4 * left + right]).all()
    assert (by_code == between).all()
