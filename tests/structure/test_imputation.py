"""Missing cells are drawn from the right conditional distributions, and from nothing but the generator."""

import numpy as np
import pytest
from scipy.stats import chi2_contingency, chisquare, kstest

from seminaive.statistics import Moments, Terms, TupleCounts
from seminaive.structure import (
    IncompleteColumns,
    complete,
    draw_codes_given_class,
    draw_numbers_given_class,
    learn_chain,
)
from seminaive.structure.conditional_parents import learn_parents
from seminaive.structure.conditionals import ConditionalTable
from seminaive.structure.kernels.random_draws import draw_from_cells

# A law about chance is broken by chance once in ten thousand tests.
LEVEL = 1e-4


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def test_values_are_the_inverse_of_their_distribution(rng):
    shares = rng.dirichlet(np.ones(5), 3)
    shares[1, [0, 4]] = 0
    cells, uniform = rng.integers(0, 3, 500), rng.random(500)
    drawn = np.empty(500, np.int64)
    draw_from_cells(cells, np.cumsum(shares, axis=1), uniform, drawn)
    for cell in range(3):
        here = cells == cell
        cumulative = np.cumsum(shares[cell]) / shares[cell].sum()
        assert np.array_equal(drawn[here], np.searchsorted(cumulative, uniform[here], side="right"))


def test_draws_given_the_class_have_the_frequencies_of_the_class(rng):
    labels = rng.integers(0, 3, 6000)
    codes = rng.integers(0, 4, (6000, 1)).astype(np.uint8)
    codes[labels == 1] //= 2
    codes[rng.random((6000, 1)) < 0.5] = 4
    counts = TupleCounts.of(codes, labels, Terms.singles([4]), 3)
    drawn = draw_codes_given_class(codes, labels, counts, 0.0, rng)
    known = codes[:, 0] < 4
    assert np.array_equal(drawn[known], codes[known])
    for label in range(3):
        observed = np.bincount(codes[known & (labels == label), 0], minlength=4)
        found = np.bincount(drawn[~known & (labels == label), 0], minlength=4)
        assert not found[observed == 0].any()
        seen = observed > 0
        expected = observed[seen] / observed.sum() * found.sum()
        assert chisquare(found[seen], expected).pvalue > LEVEL


def test_smoothing_lets_a_class_have_values_it_was_never_seen_with(rng):
    codes = np.array([[0]] * 8 + [[2]] * 4000, dtype=np.uint8)
    labels = np.zeros(len(codes), np.int64)
    counts = TupleCounts.of(codes, labels, Terms.singles([2]), 1)
    drawn = draw_codes_given_class(codes, labels, counts, 1.0, rng)[8:]
    assert chisquare([(drawn == 0).sum(), (drawn == 1).sum()], [3600, 400]).pvalue > LEVEL


def test_numbers_given_the_class_are_normal_with_its_moments(rng):
    labels = rng.integers(0, 2, 4000)
    numbers = rng.normal(3.0 * labels, 1.0 + labels)[:, None]
    numbers[rng.random(4000) < 0.5] = np.nan
    moments = Moments.of(numbers, labels, 2)
    drawn = draw_numbers_given_class(numbers, labels, moments, rng)
    missing = np.isnan(numbers[:, 0])
    assert np.array_equal(drawn[~missing], numbers[~missing])
    for label in range(2):
        of_class = drawn[missing & (labels == label), 0]
        observed = numbers[~missing & (labels == label), 0]
        assert kstest((of_class - observed.mean()) / observed.std(), "norm").pvalue > LEVEL


def related(rng, n=8000, missing=0.4):
    """Draw x0 -> x1 -> x2 and the class from x2; cells are missing at random, more in one class."""
    x0 = rng.integers(0, 3, n)
    x1 = np.where(rng.random(n) < 0.7, x0, rng.integers(0, 3, n))
    x2 = (rng.random(n) < 0.2 + 0.3 * x1).astype(int)
    labels = (rng.random(n) < 0.3 + 0.4 * x2).astype(int)
    whole = np.column_stack([x0, x1, x2]).astype(np.uint8)
    lost = rng.random(whole.shape) < missing * (0.5 + labels[:, None])
    codes = np.where(lost, np.array([3, 3, 2], np.uint8), whole)
    return whole, codes, labels


def test_chained_draws_have_the_conditional_frequencies_of_observed_rows(rng):
    """Given a posterior draw, a drawn and an observed frequency differ like those of two samples."""
    whole, codes, labels = related(rng)
    codes[:, [0, 2]] = whole[:, [0, 2]]  # one incomplete column: its conditional is known exactly
    table = complete(codes, labels, (3, 3, 2), 1, rng)[0]
    missing = codes[:, 1] == 3
    assert np.array_equal(table[~missing], codes[~missing])
    for x0 in range(3):
        for x2 in range(2):
            cell = (whole[:, 0] == x0) & (whole[:, 2] == x2) & (labels == 1)
            counts = [np.bincount(table[cell & part, 1], minlength=3) for part in (missing, ~missing)]
            assert chi2_contingency(counts).pvalue > LEVEL


def test_chained_draws_recover_the_pairs_of_a_table_whose_cells_are_all_at_risk(rng):
    whole, codes, labels = related(rng, n=20_000)
    table = complete(codes, labels, (3, 3, 2), 1, rng)[0]
    for one, other in ((0, 1), (1, 2)):
        shares = []
        for cells in (whole, table):
            joint = np.zeros((3, 3, 2))
            np.add.at(joint, (cells[:, one], cells[:, other], labels), 1)
            shares.append(joint / len(cells))
        # Some 0.36 of the pairs are complete; five standard errors of a share estimated from those.
        assert np.abs(shares[0] - shares[1]).max() < 5 * np.sqrt(0.25 / (0.36 * 20_000))


def test_ignoring_other_columns_would_break_the_pairs(rng):
    """The comparison that the law above must be able to fail."""
    whole, codes, labels = related(rng, n=20_000)
    counts = TupleCounts.of(codes, labels, Terms.singles([3, 3, 2]), 2)
    table = draw_codes_given_class(codes, labels, counts, 0.0, rng)
    agree = [(cells[:, 0] == cells[:, 1]).mean() for cells in (whole, table)]
    assert agree[0] - agree[1] > 0.1
    chained = complete(codes, labels, (3, 3, 2), 5, rng)
    # 8,000 complete pairs, and as much again for the draws from the posterior: four standard errors.
    error = 4 * np.sqrt(2 * agree[0] * (1 - agree[0]) / 8000)
    assert (chained[:, :, 0] == chained[:, :, 1]).mean() == pytest.approx(agree[0], abs=error)


def test_the_generator_decides_and_completions_differ_in_missing_cells_only(rng):
    _, codes, labels = related(rng, n=500)
    first, again = (complete(codes, labels, (3, 3, 2), 3, np.random.default_rng(5)) for _ in range(2))
    assert np.array_equal(first, again)
    assert first.dtype == codes.dtype
    known = codes < np.array([3, 3, 2])
    assert (first[:, known] == codes[known]).all()
    assert (first < np.array([3, 3, 2])).all()
    assert not np.array_equal(first[0], first[1])


def test_a_whole_table_has_equal_completions(rng):
    whole, _, labels = related(rng, n=200)
    assert (complete(whole, labels, (3, 3, 2), 4, rng) == whole).all()


def test_columns_without_a_value_stay_missing(rng):
    codes = np.column_stack([np.zeros(50), rng.integers(0, 3, 50)]).astype(np.uint8)
    tables = complete(codes, rng.integers(0, 2, 50), (0, 2), 2, rng)
    assert (tables[:, :, 0] == 0).all()
    assert (tables[:, :, 1] < 2).all()


def test_whole_weights_equal_repeated_rows(rng):
    _, codes, labels = related(rng, n=600)
    weight = rng.integers(1, 4, 600)
    repeated = np.repeat(np.arange(600), weight)
    one = IncompleteColumns.of(codes, (3, 3, 2), labels=labels, n_classes=2)
    other = IncompleteColumns.of(codes[repeated], (3, 3, 2), labels=labels[repeated], n_classes=2)
    for column in range(3):
        parents = learn_parents(one, column, weight.astype(float))
        assert parents == learn_parents(other, column)
    drawn = [
        ConditionalTable.draw_posterior(table, 1, (), np.random.default_rng(0), count).shares
        for table, count in ((one, weight.astype(float)), (other, None))
    ]
    assert np.array_equal(*drawn)


def test_parents_are_those_that_the_table_was_made_of(rng):
    _, codes, labels = related(rng, n=20_000)
    columns = IncompleteColumns.of(codes, (3, 3, 2), labels=labels, n_classes=2)
    assert {3, 1} <= set(learn_parents(columns, 0))
    assert set(learn_parents(columns, 1)) == {3, 0, 2}
    alone = np.column_stack([codes[:, :2], rng.integers(0, 2, (20_000, 6))]).astype(np.uint8)
    noise = IncompleteColumns.of(alone, (3, 3, *[2] * 6), labels=labels, n_classes=2)
    # Of six columns of noise Akaike's criterion lets a sixth or so pass.
    assert len(learn_parents(noise, 0)) < 6


def test_numbers_are_drawn_around_the_regression_on_the_others(rng):
    n = 4000
    labels = rng.integers(0, 2, n)
    codes = rng.integers(0, 2, (n, 1)).astype(np.uint8)
    x = rng.normal(size=n)
    y = 1e6 + 2 * x + 3 * codes[:, 0] - labels + rng.normal(scale=0.5, size=n)
    numbers = np.column_stack([x, np.where(rng.random(n) < 0.4, np.nan, y)])
    missing = np.isnan(numbers[:, 1])
    columns = IncompleteColumns.of(codes, (2,), numbers, labels=labels, n_classes=2)
    learn_chain(columns).run(columns, 3, rng)
    residual = columns.numbers[1] - (1e6 + 2 * x + 3 * codes[:, 0] - labels)
    assert np.array_equal(columns.numbers[1][~missing], numbers[~missing, 1])
    # Drawn residuals are normal with deviation 0.5, up to the error of five coefficients from 2,400 rows.
    assert residual[missing].mean() == pytest.approx(0, abs=4 * 0.5 * np.sqrt(1 / 1600 + 5 / 2400))
    assert residual[missing].std() == pytest.approx(0.5, rel=4 * np.sqrt(0.5 / 1600 + 0.5 / 2400))
    assert np.corrcoef(residual[missing], x[missing])[0, 1] == pytest.approx(0, abs=0.1)


def test_a_fitted_chain_draws_the_class_and_the_cells_of_new_rows(rng):
    whole, codes, labels = related(rng, n=20_000)
    columns = IncompleteColumns.of(codes, (3, 3, 2), labels=labels, n_classes=2)
    fitted = learn_chain(columns).run(columns, 5, rng)
    hidden = np.where(np.arange(3) == 1, 3, whole[:, :]).astype(np.uint8)
    rows = IncompleteColumns.of(hidden, (3, 3, 2), n_classes=2)
    fitted.draw(rows, 10, rng)
    for values in (whole[:, 0], whole[:, 2]):
        joint = [np.zeros((3, 3)) for _ in range(2)]
        for counts, cells in zip(joint, (whole[:, 1], rows.codes[1]), strict=True):
            np.add.at(counts, (values, cells), 1 / len(whole))
        assert np.abs(joint[0] - joint[1]).max() < 0.02
    assert rows.codes[3].mean() == pytest.approx(labels.mean(), abs=0.02)
