"""Targets that are probably no classes, and weights that are probably no counts, are questioned once."""

import re

import numpy as np
import pytest

from seminaive import NaiveBayes
from seminaive.encode import question_target, question_weights
from seminaive.errors import TargetWarning, WeightsWarning


@pytest.mark.parametrize(
    ("classes", "message"),
    [
        (np.arange(18, 90), "72 different numbers, from 18 to 89.*regression"),
        (np.arange(0.0, 100.0, 4.0), "25 different numbers, from 0 to 96"),
        (np.arange(51), "51 different numbers, from 0 to 50"),
        (np.array([f"kind {k:02}" for k in range(51)]), "51 classes, such as 'kind 00'"),
    ],
)
def test_a_quantity_or_a_name_is_questioned(classes, message):
    assert re.search(message, question_target(classes))


@pytest.mark.parametrize(
    "classes",
    [
        np.array([False, True]),
        np.arange(50),
        np.arange(1, 27),
        np.arange(5, 25),
        np.array([f"kind {k:02}" for k in range(50)]),
    ],
)
def test_classes_are_not_questioned(classes):
    assert question_target(classes) is None


def test_a_fit_names_regression_before_it_begins():
    X = np.arange(300.0)[:, None] % 7
    with pytest.warns(TargetWarning, match="NaiveBayes: the target has 60 different numbers.*regression"):
        NaiveBayes().fit(X, np.arange(300) % 60 + 20)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.full(500, 1 / 500), "sums to 1 over 500 rows.*shrinks its effects.*multiply the weights by 500"),
        (np.full(500, 12.5), "sums to 6250 over 500 rows.*surer.*multiply the weights by 0.08"),
        (np.repeat([0.0, 0.01], 250), "sums to 2.5 over 250 rows"),
    ],
)
def test_weights_far_from_counts_are_told_with_what_they_do(weight, message):
    X, y = np.arange(500.0)[:, None] % 7, np.arange(500) % 2
    with pytest.warns(WeightsWarning, match=message) as warned:
        NaiveBayes().fit(X, y, sample_weight=weight)
    assert len(warned) == 1


@pytest.mark.parametrize(
    "weight",
    [None, np.ones(40), np.full(40, 0.11), np.full(40, 9.5), np.full(40, 1000.0), np.repeat([0.0, 1.5], 20)],
)
def test_counts_and_weights_near_one_are_not_talked_about(weight):
    assert question_weights(weight) is None
