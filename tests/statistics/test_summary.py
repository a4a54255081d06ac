"""Summaries of training tables: mergeable, weighted, and without any row or extreme of the table."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seminaive.encode import TableEncoder
from seminaive.errors import InputError
from seminaive.statistics import NumberSketch, TableStatistics, Terms, TrainingSummary, number_sketch
from seminaive.statistics.number_sketch import sketch_columns

COLUMNS = {
    "normal": lambda rng, n: rng.normal(size=n),
    "far from zero": lambda rng, n: 1.7e9 + rng.normal(size=n),
    "heavy tail": lambda rng, n: np.exp(3 * rng.normal(size=n)),
    "whole": lambda rng, n: rng.integers(17, 91, n).astype(float),
    "mostly zero": lambda rng, n: np.where(rng.random(n) < 0.9, 0.0, rng.exponential(1e4, n)),
    "both signs": lambda rng, n: rng.choice([-1e-200, -3.0, 0.0, 5.0, 1e100], n) * rng.random(n),
}


def ranks(numbers, quantiles):
    """Return the share of numbers below each quantile, and that of those up to it."""
    ordered = np.sort(numbers)
    sides = [np.searchsorted(ordered, quantiles, side) for side in ("left", "right")]
    return np.array(sides) / len(numbers)


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("n_rows", [50, 2000])
def test_weights_between_edges_are_numbers_of_rows_up_to_bins_at_the_edges(name, n_rows):
    numbers = COLUMNS[name](np.random.default_rng(0), n_rows)
    sketch = NumberSketch.of(numbers)
    edges = np.quantile(numbers, [0.1, 0.25, 0.5, 0.51, 0.9])
    weights = sketch.weights_between(np.unique(edges))
    assert weights.sum() == pytest.approx(n_rows, rel=1e-12)
    counts = np.histogram(numbers, [-np.inf, *np.nextafter(np.unique(edges), np.inf), np.inf])[0]
    # The bins of two edges are split, and the outer ten rows are hidden.
    assert (np.abs(weights - counts) <= 2 * max(sketch.weights.max(), 10)).all()


def test_weights_between_edges_are_exact_for_few_values():
    sketch = NumberSketch.of(np.repeat([-1.0, 0.0, 2.0], [20, 30, 40]))
    assert sketch.weights_between(np.array([-1.0, 1.0])).tolist() == [20.0, 30.0, 40.0]
    assert sketch.weights_between(np.empty(0)).tolist() == [90.0]


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("n_rows", [50, 2000, 30_000])
def test_quantiles_have_their_ranks(name, n_rows):
    numbers = COLUMNS[name](np.random.default_rng(0), n_rows)
    sketch = NumberSketch.of(numbers)
    quantiles = sketch.quantiles()
    assert len(quantiles) == min(101, n_rows // 10 + 1)
    assert (np.diff(quantiles) >= 0).all()
    wanted = np.linspace(0, 1, len(quantiles))
    low, high = ranks(numbers, quantiles)
    # Bins are not split, and the outer ten rows are hidden.
    error = max(sketch.weights.max(), 10) / n_rows
    assert (low - error <= wanted).all()
    assert (wanted <= high + error).all()
    if n_rows == 30_000:
        inner = slice(1, -1)
        exact = np.quantile(numbers, wanted, method="inverted_cdf")
        # A bin of 19 bits is 1/128 of its number wide; neighbours in rank may be another bin apart.
        tolerance = 0.02 * np.abs(exact) + 0.01 * np.std(numbers[np.abs(numbers) <= np.abs(exact).max()])
        assert (np.abs(quantiles - exact)[inner] <= tolerance[inner]).all()


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("n_rows", [1, 9, 30, 400, 30_000])
def test_extremes_and_single_rows_are_not_kept(name, n_rows):
    numbers = COLUMNS[name](np.random.default_rng(1), n_rows)
    sketch = NumberSketch.of(numbers)
    low, high = sketch._edges()
    ordered = np.sort(numbers)
    if n_rows >= 20:
        # At least ten rows lie at or beyond either end.
        assert ordered[9] <= high[0]
        assert low[-1] <= ordered[-10]
        assert sketch.weights[[0, -1]].min() >= 10
    assert len(sketch.bins) <= max(1, n_rows // 10) or sketch.precision == 12
    assert len(sketch.quantiles()) == (min(101, n_rows // 10 + 1) if n_rows >= 10 else 0)
    if len(np.unique(numbers)) == n_rows and n_rows >= 30:
        assert not np.isin([numbers.min(), numbers.max()], [*sketch.quantiles(), *low, *high]).any()


@given(st.integers(0, 1000), st.integers(1, 5))
def test_sketch_of_whole_weights_equals_that_of_repeated_rows(seed, largest):
    rng = np.random.default_rng(seed)
    numbers = np.where(rng.random(200) < 0.1, np.nan, rng.normal(size=200))
    weights = rng.integers(1, largest + 1, 200)
    weighted, repeated = (
        NumberSketch.of(numbers, weights.astype(float)),
        NumberSketch.of(np.repeat(numbers, weights)),
    )
    assert weighted.precision == repeated.precision
    assert (weighted.bins == repeated.bins).all()
    assert (weighted.weights == repeated.weights).all()
    assert weighted.missing == repeated.missing


@pytest.mark.parametrize("name", COLUMNS)
def test_merged_sketches_have_the_quantiles_of_the_whole(name):
    rng = np.random.default_rng(2)
    numbers = COLUMNS[name](rng, 40_000)
    whole = NumberSketch.of(numbers)
    parts = [NumberSketch.of(part) for part in np.array_split(numbers, 4)]
    merged = parts[3] + (parts[0] + (parts[2] + parts[1]))
    assert merged.weight == whole.weight
    wanted = np.linspace(0, 1, 101)
    low, high = ranks(numbers, merged.quantiles())
    error = merged.weights.max() / len(numbers) + 4 * 10 / len(numbers)
    assert (low - error <= wanted).all()
    assert (wanted <= high + error).all()
    nothing = NumberSketch.of(np.full(7, np.nan))
    for same in (merged + nothing, nothing + merged):
        assert same.precision == merged.precision
        assert (same.weights == merged.weights).all()
        assert same.missing == 7


@pytest.mark.parametrize("weighted", [False, True])
def test_a_compiled_pass_makes_the_same_sketches(weighted):
    rng = np.random.default_rng(5)
    numbers = np.column_stack([make(rng, 40_000) for make in COLUMNS.values()])
    numbers[rng.random(numbers.shape) < 0.1] = np.nan
    numbers[::100, 4] = -0.0
    weights = rng.integers(1, 4, 40_000).astype(float) if weighted else None
    for column, sketch in zip(numbers.T, sketch_columns(numbers, weights), strict=True):
        expected = NumberSketch.of(np.ascontiguousarray(column), weights)
        assert (expected.precision, expected.missing) == (sketch.precision, sketch.missing)
        assert (expected.bins == sketch.bins).all()
        assert (expected.weights == sketch.weights).all()


def test_few_values_are_known_exactly_and_merge_exactly():
    rng = np.random.default_rng(3)
    numbers = rng.choice([-2.5, 0.0, 1.0, 1.1], 500)
    whole, parts = NumberSketch.of(numbers), [NumberSketch.of(part) for part in np.array_split(numbers, 3)]
    assert whole.values.tolist() == [-2.5, 0.0, 1.0, 1.1]
    assert whole.weights.tolist() == [(numbers == value).sum() for value in whole.values]
    merged = parts[2] + parts[0] + parts[1]
    assert (merged.values == whole.values).all()
    assert (merged.weights == whole.weights).all()
    assert NumberSketch.of(rng.integers(0, 50, 5000).astype(float)).values is None


def rows(seed, n_rows=300, categories=3):
    rng = np.random.default_rng(seed)
    X = np.empty((n_rows, 3), object)
    X[:, 0] = rng.choice(["a", "b", "c", "d"][:categories], n_rows)
    X[:, 1] = rng.choice(["u", "v"], n_rows)
    X[:, 2] = rng.choice([1.0, 2.0, 4.0], n_rows)
    X[::11, 1] = None
    return X, rng.integers(0, 2, n_rows)


@pytest.mark.parametrize("pairs", [False, True])
def test_merged_summaries_equal_that_of_all_rows(pairs):
    (X, y), (other, z) = rows(0, categories=4), rows(1, categories=2)

    def summary(X, y):
        _, table = TableEncoder.learn(X, categorical_features=[0, 1])
        terms = Terms.up_to_order(table.cardinalities, 2) if pairs else None
        return TrainingSummary.of(table, y, 2, terms=terms, classes=["no", "yes"])

    merged, whole = summary(other, z) + summary(X, y), summary(np.vstack([X, other]), np.concatenate([y, z]))
    assert merged.schema == whole.schema
    assert (merged.class_weight == whole.class_weight).all()
    for column in range(2):
        assert (merged.cell_weights(column) == whole.cell_weights(column)).all()
    if pairs:
        assert (merged.tuples.counts == whole.tuples.counts).all()
    assert (merged.numbers[0].values == whole.numbers[0].values).all()
    assert (merged.numbers[0].weights == whole.numbers[0].weights).all()


def test_a_summary_of_counts_that_were_made_anyway_is_the_same():
    X, y = rows(2)
    weights = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    _, table = TableEncoder.learn(X, categorical_features=[0, 1])
    for order in (1, 2):
        terms = Terms.of_order(table.cardinalities, order)
        statistics = TableStatistics.of(table, y, 2, weights, order)
        counted = TrainingSummary.of_statistics(statistics, table.numbers, weights)
        summary = TrainingSummary.of(table, y, 2, weights, terms if order > 1 else None)
        assert (counted.cells.counts.counts == summary.cells.counts.counts).all()
        assert (counted.tuples is None) == (order == 1)
        if order > 1:
            assert (counted.tuples.counts == summary.tuples.counts).all()
        assert (counted.numbers[0].weights == summary.numbers[0].weights).all()


def test_whole_weights_equal_repeated_rows():
    X, y = rows(3)
    weights = np.random.default_rng(1).integers(1, 4, len(y))
    _, table = TableEncoder.learn(X, categorical_features=[0, 1])
    terms = Terms.of_order(table.cardinalities, 2)
    again = np.repeat(np.arange(len(y)), weights)
    weighted = TrainingSummary.of(table, y, 2, weights.astype(float), terms)
    repeated = TrainingSummary.of(table.rows(again), y[again], 2, terms=terms)
    assert (weighted.cells.counts.counts == repeated.cells.counts.counts).all()
    assert (weighted.tuples.counts == repeated.tuples.counts).all()


def test_summaries_of_different_terms_or_classes_do_not_merge():
    X, y = rows(4)
    _, table = TableEncoder.learn(X, categorical_features=[0, 1])
    plain = TrainingSummary.of(table, y, 2, classes=["no", "yes"])
    with pytest.raises(InputError, match="same terms"):
        plain + TrainingSummary.of(table, y, 2, terms=Terms.of_order(table.cardinalities, 2))
    with pytest.raises(InputError, match="classes"):
        plain + TrainingSummary.of(table, y, 2, classes=["left", "right"])


@pytest.mark.parametrize("kind", ["few values", "normal", "heavy tails", "one value"])
@pytest.mark.parametrize("weighted", [False, True])
def test_few_rows_are_sketched_by_sorting_as_by_counting(kind, weighted, monkeypatch):
    rng = np.random.default_rng(3)
    numbers = {
        "few values": rng.integers(0, 9, 700).astype(float),
        "normal": rng.normal(size=700),
        "heavy tails": rng.standard_cauchy(700) ** 3,
        "one value": np.full(700, 2.5),
    }[kind]
    weight = rng.integers(0, 3, 700).astype(float) if weighted else None
    by_sorting = NumberSketch.of(numbers, weight)
    monkeypatch.setattr(number_sketch, "COMPILED_ROWS", 0)
    by_counting = NumberSketch.of(numbers, weight)
    assert by_sorting.precision == by_counting.precision
    assert (by_sorting.bins == by_counting.bins).all()
    np.testing.assert_allclose(by_sorting.weights, by_counting.weights, rtol=1e-13)
