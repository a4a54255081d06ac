"""Kernels of the greedy searches against NumPy formulas."""

import numpy as np
import pytest

from seminaive.kernels import stagewise_errors as stagewise


@pytest.fixture
def state():
    """Two tables and two numbers, three classes, six grid positions; rows sorted by class."""
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2], [9, 4, 7])
    cells = np.array([rng.integers(0, 3, 20), rng.integers(0, 4, 20)], dtype=np.int32)
    z = rng.normal(size=(2, 20))
    z[1, [2, 11]] = np.nan
    return {
        "labels": labels,
        "starts": np.array([0, 9, 13, 20]),
        "weights": rng.integers(1, 4, 20).astype(float),
        "cells": cells,
        "offsets": np.array([0, 3, 7]),
        "tables": rng.normal(size=(7, 3, 6)),
        "z": z,
        "polynomials": rng.normal(size=(2, 3, 3, 6)),
        "scores": rng.normal(size=(20, 3)).round(1),  # rounded: some are equal
    }


def contribution(state, feature, position):
    if feature < 2:
        return state["tables"][state["offsets"][feature] + state["cells"][feature], :, position]
    x = state["z"][feature - 2][:, None]
    q = state["polynomials"][feature - 2, :, :, position]
    return np.nan_to_num(q[0] + x * (q[1] + x * q[2]))


def errors_of(state, now, first, last, width):
    expected = np.full((4, width), np.inf)
    for feature in range(4):
        for t, position in enumerate(range(first[feature], last[feature] + 1)):
            scores = state["scores"] - contribution(state, feature, now[feature])
            scores = scores + contribution(state, feature, position)
            expected[feature, t] = state["weights"] @ (scores.argmax(axis=1) != state["labels"])
    return expected


@pytest.mark.parametrize(("first", "last"), [((1, 2, 3, 1), (5, 3, 5, 4)), ((4, 4, 4, 4), (4, 4, 4, 4))])
def test_candidate_errors_equal_scores_computed_anew(state, first, last):
    now, first, last = np.array([0, 1, 2, 0]), np.array(first), np.array(last)
    errors = np.empty((4, (last - first).max() + 1))
    stagewise.candidate_errors(
        np.arange(4),
        now,
        first,
        last,
        *(
            state[name]
            for name in ("cells", "offsets", "tables", "z", "polynomials", "scores", "starts", "weights")
        ),
        errors,
    )
    np.testing.assert_array_equal(errors, errors_of(state, now, first, last, errors.shape[1]))


def test_equal_scores_go_to_the_first_class(state):
    for name in ("tables", "polynomials", "scores"):
        state[name][:] = 0.0
    errors = np.empty((4, 2))
    zeros = np.zeros(4, dtype=np.int64)
    stagewise.candidate_errors(
        np.arange(4),
        zeros,
        zeros + 1,
        zeros + 2,
        *(
            state[name]
            for name in ("cells", "offsets", "tables", "z", "polynomials", "scores", "starts", "weights")
        ),
        errors,
    )
    assert (errors == state["weights"][9:].sum()).all()


def test_moves_change_the_scores_by_the_contributions(state):
    for feature in range(4):
        expected = state["scores"] - contribution(state, feature, 1) + contribution(state, feature, 4)
        moved = state["scores"].copy()
        if feature < 2:
            table = state["tables"][state["offsets"][feature] : state["offsets"][feature + 1]]
            stagewise.move_table(state["cells"][feature], table, 1, 4, moved)
        else:
            polynomial = state["polynomials"][feature - 2]
            stagewise.move_number(state["z"][feature - 2], polynomial, 1, 4, moved)
        np.testing.assert_allclose(moved, expected, atol=1e-14)
