"""Counts and moments: equal to plain sums, and mergeable without a trace."""

from fractions import Fraction
from functools import reduce
from itertools import product
from operator import add

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from seminaive.encode import TableEncoder
from seminaive.errors import InputError
from seminaive.statistics import Moments, TableStatistics, Terms, TupleCounts, class_weights

CARDINALITIES = (2, 3, 4)
# Squares of anything smaller lose digits below the smallest double.
measurements = st.floats(-1e6, 1e6).filter(lambda x: x == 0 or abs(x) > 1e-100) | st.just(np.nan)


@st.composite
def coded_rows(draw, n_classes=3):
    n = draw(st.integers(1, 40))
    codes = np.column_stack(
        [draw(hnp.arrays(np.uint8, n, elements=st.integers(0, k))) for k in CARDINALITIES]
    )
    labels = draw(hnp.arrays(np.int64, n, elements=st.integers(0, n_classes - 1)))
    return codes, labels


def plain_counts(codes, labels, weights, terms, n_classes):
    counts = np.zeros((terms.n_cells, n_classes))
    for row, label, weight in zip(codes.tolist(), labels, weights, strict=True):
        for t, columns in enumerate(terms.features):
            cells = list(product(*(range(terms.cardinalities[j] + 1) for j in columns)))
            cell = cells.index(tuple(row[j] for j in columns))
            counts[terms.offsets[t] + cell, label] += weight
    return counts


@pytest.mark.parametrize("order", [1, 2, 3])
@given(coded_rows(), st.booleans())
def test_counts_equal_the_plain_loop(order, rows, weighted):
    codes, labels = rows
    weights = np.arange(1.0, len(labels) + 1) if weighted else np.ones(len(labels))
    terms = Terms.of_order(CARDINALITIES, order)
    counted = TupleCounts.of(codes, labels, terms, 3, weights if weighted else None)
    assert (counted.counts == plain_counts(codes, labels, weights, terms, 3)).all()
    assert (terms.cells(codes) < terms.offsets[1:]).all()


@pytest.mark.parametrize("order", [1, 2])
@given(coded_rows(), st.randoms(use_true_random=False))
def test_counts_of_parts_add_up_in_any_order(order, rows, random):
    codes, labels = rows
    terms = Terms.of_order(CARDINALITIES, order)
    part = np.array([random.randrange(4) for _ in labels])
    parts = [TupleCounts.of(codes[part == p], labels[part == p], terms, 3) for p in range(4)]
    random.shuffle(parts)
    assert (reduce(add, parts).counts == TupleCounts.of(codes, labels, terms, 3).counts).all()


def test_counts_of_different_terms_do_not_add():
    codes, labels = np.zeros((1, 3), np.uint8), np.zeros(1, np.int64)
    singles, pairs = (TupleCounts.of(codes, labels, Terms.of_order(CARDINALITIES, n), 1) for n in (1, 2))
    with pytest.raises(ValueError, match="different terms"):
        singles + pairs


@given(
    hnp.arrays(float, st.tuples(st.integers(1, 30), st.just(2)), elements=measurements),
    st.data(),
)
def test_moments_equal_exact_sums(numbers, data):
    n = len(numbers)
    labels = data.draw(hnp.arrays(np.int64, n, elements=st.integers(0, 1)))
    weights = data.draw(hnp.arrays(float, n, elements=st.floats(0.125, 8)))
    moments = Moments.of(numbers, labels, 2, weights)
    for j, c in product(range(2), range(2)):
        kept = [
            (Fraction(w), Fraction(x))
            for w, x, label in zip(weights, numbers[:, j], labels, strict=True)
            if label == c and not np.isnan(x)
        ]
        total = sum(w for w, _ in kept)
        mean = sum(w * x for w, x in kept) / total if kept else Fraction(0)
        deviations = sum(w * (x - mean) ** 2 for w, x in kept)
        assert moments.weight[j, c] == pytest.approx(float(total), rel=1e-15)
        assert moments.mean[j, c] == pytest.approx(float(mean), rel=1e-15)
        # Deviations cancel down from the squares, which are kept to 106 bits.
        scale = max((x**2 for _, x in kept), default=0)
        assert moments.squared_deviations[j, c] == pytest.approx(
            float(deviations), rel=1e-13, abs=float(scale) * 1e-28
        )


@pytest.mark.parametrize("offset", [0.0, 1e4, 1e8])
def test_moments_of_parts_equal_those_of_the_whole(offset):
    rng = np.random.default_rng(0)
    numbers = offset + rng.normal(size=(5000, 3))
    labels = rng.integers(0, 2, 5000)
    part = rng.integers(0, 7, 5000)
    whole = Moments.of(numbers, labels, 2)
    merged = reduce(add, (Moments.of(numbers[part == p], labels[part == p], 2) for p in rng.permutation(7)))
    assert (merged.sums[:, 0] == whole.sums[:, 0]).all()
    assert (merged.mean == whole.mean).all()
    np.testing.assert_allclose(merged.squared_deviations, whole.squared_deviations, rtol=1e-13)
    expected = [numbers[labels == c].var(axis=0) * (labels == c).sum() for c in range(2)]
    # numpy's own two-pass variance is good to its mean's rounding, relative to the spread.
    np.testing.assert_allclose(whole.squared_deviations.T, expected, rtol=1e-9)


def test_statistics_of_tables_with_different_categories_merge():
    first, second = [["a"], ["b"], [None]], [["c"], ["a"]]
    labels = [np.array([0, 1, 1]), np.array([1, 0])]
    parts = [
        TableStatistics.of(TableEncoder.learn(X)[1], y, 2)
        for X, y in zip((first, second), labels, strict=True)
    ]
    whole = TableStatistics.of(TableEncoder.learn(first + second)[1], np.concatenate(labels), 2)
    for merged in (parts[0] + parts[1], parts[1] + parts[0]):
        assert merged.schema == whole.schema
        assert (merged.counts.counts == whole.counts.counts).all()
        assert (merged.class_weight == whole.class_weight).all()


def test_class_weights_add_up_row_weights():
    assert class_weights(np.array([0, 2, 2]), 3, np.array([1.0, 2.0, 0.5])).tolist() == [1.0, 0.0, 2.5]


def test_recoding_keeps_rows_of_no_evidence():
    codes, labels = np.array([[0], [2], [2]], np.uint8), np.array([0, 0, 1])
    counts = TupleCounts.of(codes, labels, Terms.singles([2]), 2)
    moved = counts.recoded([np.array([2, 0])], [3])
    assert moved.block(0).tolist() == [[0, 0], [0, 0], [1, 0], [1, 1]]
    assert moved.joint(0).tolist() == [[0, 0], [0, 0], [1, 0]]


@given(st.floats(-1e9, 1e9).filter(lambda x: abs(x) > 1e-9), st.integers(2, 300))
def test_a_constant_does_not_deviate(value, n):
    for weight in (None, np.linspace(0.1, 3, n)):
        moments = Moments.of(np.full((n, 1), value), np.zeros(n, np.int64), 1, weight)
        assert moments.squared_deviations.tolist() == [[0.0]]


@pytest.mark.parametrize("exponent", [-1000, -700, -466, -200, 0, 300, 460])
@pytest.mark.parametrize("weighted", [False, True])
def test_moments_do_not_depend_on_the_unit(exponent, weighted):
    rng = np.random.default_rng(0)
    numbers, labels = 5 + rng.normal(size=(200, 2)), rng.integers(0, 2, 200)
    numbers[::7, 1] = np.nan
    weights = rng.random(200) if weighted else None
    moments = Moments.of(numbers, labels, 2, weights)
    scaled = Moments.of(np.ldexp(numbers, exponent), labels, 2, weights)
    assert (scaled.mean == np.ldexp(moments.mean, exponent)).all()
    # A power of two shifts all sums exactly; units of the power next to the largest number differ by one.
    ratio = scaled.standardised().squared_deviations / moments.squared_deviations
    assert (np.log2(ratio) % 2 == 0).all()


@pytest.mark.parametrize("exponents", [(-700, -700), (-700, 0), (-700, -400), (0, 0)])
def test_small_and_large_chunks_of_moments_equal_the_whole(exponents):
    rng = np.random.default_rng(1)
    chunks = [np.ldexp(rng.normal(size=(50, 1)), exponent) for exponent in exponents]
    chunks.append(np.zeros((3, 1)))
    labels = [rng.integers(0, 2, len(chunk)) for chunk in chunks]
    whole = Moments.of(np.vstack(chunks), np.concatenate(labels), 2)
    parts = [Moments.of(x, y, 2) for x, y in zip(chunks, labels, strict=True)]
    for merged in (parts[0] + parts[1] + parts[2], parts[2] + parts[1] + parts[0]):
        assert (merged.mean == whole.mean).all()
        np.testing.assert_allclose(
            merged.standardised().squared_deviations, whole.standardised().squared_deviations, rtol=1e-13
        )


def statistics_of(X, y, classes, **options):
    _, table = TableEncoder.learn(X, **options)
    return TableStatistics.of(table, np.array(y), len(classes), classes=classes)


def cut_at(*cuts):
    return lambda *_: np.array(cuts)


@pytest.mark.parametrize(
    ("one", "other", "message"),
    [
        ({"cut_rule": cut_at(1.5, 2.5)}, {"cut_rule": cut_at(1.5)}, r"'x0'.*cut at.*1\.5, 2\.5.*1\.5"),
        ({"cut_rule": cut_at(1.5)}, {"cut_rule": cut_at(1.6)}, "cut at"),
        ({"cut_rule": cut_at(1.5)}, {}, "cut at"),
        ({"missing": "value"}, {"missing": "neutral"}, "missing.*'value'.*'neutral'"),
        ({"categorical_features": "all"}, {}, "'x0'.*categories.*numbers"),
        ({}, {"categorical_features": "all"}, "'x0'.*numbers.*categories"),
    ],
)
def test_statistics_of_differently_encoded_tables_do_not_merge(one, other, message):
    X, y = [[1.0], [2.0], [3.0]], [0, 1, 1]
    with pytest.raises(InputError, match=message):
        statistics_of(X, y, ["no", "yes"], **one) + statistics_of(X, y, ["no", "yes"], **other)


def test_statistics_of_different_classes_do_not_merge():
    X, y = [["a"], ["b"]], [0, 1]
    statistics = statistics_of(X, y, ["no", "yes"])
    with pytest.raises(InputError, match=r"classes.*'no', 'yes'.*'left', 'right'"):
        statistics + statistics_of(X, y, ["left", "right"])
    with pytest.raises(InputError, match=r"2 classes.*3"):
        statistics + TableStatistics.of(TableEncoder.learn(X)[1], np.array(y), 3)
    wider = statistics.with_classes(np.array([0, 2]), ["no", "perhaps", "yes"])
    assert (wider + wider).classes == ("no", "perhaps", "yes")
