"""Information of all pairs: against scikit-learn and against the function for one pair."""

import numpy as np
import pytest
from sklearn.metrics import mutual_info_score

from seminaive.statistics import (
    PairwiseInformation,
    Terms,
    TupleCounts,
    conditional_mutual_information,
    normalized_conditional_mutual_information,
)

CARDINALITIES = (2, 3, 4, 5, 1)


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 600)
    codes = rng.integers(0, CARDINALITIES, (600, 5))
    codes[:, 1] = (codes[:, 0] + labels) % 3
    return codes.astype(np.uint8), labels


def test_information_is_the_class_weighted_mean_of_scikit_learns(table):
    codes, labels = table
    ours = PairwiseInformation.of(codes, labels, CARDINALITIES, 3)
    for i in range(5):
        for j in range(5):
            within = [mutual_info_score(codes[labels == c, i], codes[labels == c, j]) for c in range(3)]
            expected = np.average(within, weights=np.bincount(labels))
            assert ours.information[i, j] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("missing", [False, True])
def test_pairs_equal_the_function_for_one_pair(table, weighted, missing):
    codes, labels = table
    if missing:
        codes[::3, 0] = 2
        codes[::5, 3] = 5
    weight = np.random.default_rng(1).random(600) if weighted else None
    ours = PairwiseInformation.of(codes, labels, CARDINALITIES, 3, weight)
    counts = TupleCounts.of(codes, labels, Terms.up_to_order(CARDINALITIES, 2), 3, weight)
    for term, columns in enumerate(counts.terms.features):
        if len(columns) == 2:
            joint = counts.joint(term)
            assert ours.information[columns] == pytest.approx(
                conditional_mutual_information(joint), abs=1e-12
            )
            assert ours.normalized[columns] == pytest.approx(
                normalized_conditional_mutual_information(joint), abs=1e-12
            )
    of_counts = PairwiseInformation.of_counts(counts)
    np.testing.assert_allclose(of_counts.information, ours.information, atol=1e-12)
    np.testing.assert_allclose(of_counts.normalized, ours.normalized, atol=1e-12)
    np.testing.assert_array_equal(ours.information, ours.information.T)


def test_few_cells_at_a_time_give_the_same(table, monkeypatch):
    codes, labels = table
    whole = PairwiseInformation.of(codes, labels, CARDINALITIES, 3)
    # The largest pair has 90 cells, so that no pair is counted by rows.
    monkeypatch.setattr("seminaive.statistics.pairwise.CELLS_AT_ONCE", 100)
    np.testing.assert_array_equal(
        PairwiseInformation.of(codes, labels, CARDINALITIES, 3).information, whole.information
    )


@pytest.mark.parametrize("weighted", [False, True])
def test_pairs_counted_by_rows_equal_pairs_counted_in_tables(table, monkeypatch, weighted):
    codes, labels = table
    codes[::3, 0], codes[::5, 3] = 2, 5
    weight = np.random.default_rng(1).random(600) if weighted else None
    whole = PairwiseInformation.of(codes, labels, CARDINALITIES, 3, weight)
    monkeypatch.setattr("seminaive.statistics.pairwise.CELLS_AT_ONCE", 0)
    by_rows = PairwiseInformation.of(codes, labels, CARDINALITIES, 3, weight)
    # The same terms, summed in another order.
    np.testing.assert_allclose(by_rows.information, whole.information, atol=1e-12)
    np.testing.assert_allclose(by_rows.entropy, whole.entropy, atol=1e-12)


def test_two_columns_with_a_value_for_every_row_need_no_table_of_all_pairs():
    n_rows = 50_000  # a table of pairs would have five thousand million cells
    codes = np.arange(n_rows, dtype=np.uint16)[:, None].repeat(2, axis=1)
    found = PairwiseInformation.of(codes, np.arange(n_rows) % 2, (n_rows, n_rows), 2)
    np.testing.assert_allclose(found.information, np.log(n_rows / 2))
    np.testing.assert_allclose(found.normalized, 1.0)
