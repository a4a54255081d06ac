"""Kernels of counting, moments, sketches, scoring and dependence: against plain Python and against formulas.

These tests also run without compilation (see test_without_compilation.py), where numpy checks every bound.
"""

from itertools import permutations, product

import numpy as np
import pytest

from seminaive.kernels import counting, scoring, sketching
from seminaive.kernels import moment_sums as moments
from seminaive.kernels import parent_averages as dependence
from seminaive.scores import CurveTerms
from seminaive.statistics import VETO, Terms, TupleCounts, log_shares
from seminaive.statistics.number_sketch import ordered_bits
from seminaive.statistics.observed_counts import cells_of_rows

N_ROWS, N_CLASSES, CARDINALITIES = 70, 3, (2, 3, 4)
# Where the children given each column begin: 4 + 5 codes given 2 values, 3 + 5 given 3, 3 + 4 given 4.
CHILD_OFFSETS = np.array([0, 18, 42, 70])


def plain(kernel):
    """Return the Python function that a kernel was compiled from."""
    return getattr(kernel, "py_func", kernel)


def made_rows():
    rng = np.random.default_rng(0)
    codes = np.column_stack([rng.integers(0, k + 1, N_ROWS) for k in CARDINALITIES]).astype(np.uint8)
    numbers = rng.normal(size=(N_ROWS, 2))
    numbers[::9, 1] = np.nan
    numbers[3, 0] = -0.0
    return rng, codes, numbers, rng.integers(0, N_CLASSES, N_ROWS), rng.random(N_ROWS)


def arguments_of_every_kernel():
    """Yield each kernel with arguments, one of which it fills or adds to."""
    rng, codes, numbers, labels, weights = made_rows()
    singles, terms = Terms.singles(CARDINALITIES), Terms.up_to_order(CARDINALITIES, 3)
    by_column = np.ascontiguousarray(codes.T)
    yield counting.count_singles, (codes, labels, singles.offsets, np.zeros((12, N_CLASSES), np.int64))
    yield (
        counting.count_singles_weighted,
        (codes, labels, weights, singles.offsets, np.zeros((12, N_CLASSES))),
    )
    layout = (terms.columns, terms.strides, terms.starts, terms.offsets)
    yield counting.fill_cells, (codes, *layout, np.empty((N_ROWS, len(terms.features)), np.int64))
    yield counting.join_labels, (labels.astype(np.uint32), by_column[1], 4)
    lead = labels.astype(np.uint32)
    for first in (0, 1):
        widths = [0, *(N_CLASSES * (k + 1) * (j >= first) for j, k in enumerate(CARDINALITIES))]
        offsets = np.cumsum(widths)
        yield (
            counting.count_last_columns,
            (by_column, lead, N_CLASSES, first, offsets, np.zeros(offsets[-1], np.int64)),
        )
        yield (
            counting.count_last_columns_weighted,
            (by_column, lead, weights, N_CLASSES, first, offsets, np.zeros(offsets[-1])),
        )
    yield moments.add_moments, (numbers, labels, np.zeros((N_CLASSES, 6, 2)))
    yield moments.add_weighted_moments, (numbers, labels, weights, np.zeros((N_CLASSES, 6, 2)))
    for row_weights in (weights, np.ones(1)):
        yield (
            sketching.count_leading_bits,
            (numbers.view(np.uint64), row_weights, np.uint64(50), np.zeros((2, 1 << 14))),
        )
    for n_classes in (2, 3, 13):
        scores, tables = rng.normal(size=(N_ROWS, n_classes)), rng.normal(size=(terms.n_cells, n_classes))
        yield scoring.add_table_scores, (codes, *layout, tables, scores)
        ranges = np.array([[-1.0, 1.0, 0.2, 0.5], [-np.inf, np.inf, 0.0, 1.0]])
        coefficients = rng.normal(size=(2, 4, n_classes))
        yield scoring.add_number_scores, (numbers, np.array([1, 0]), ranges, coefficients, scores)
        knots, gaps = np.array([-1.0, 0.0, 2.0, 0.5]), np.array([1.0, 2.0, 1.0, 1.0])
        values, rises = rng.normal(size=(2, 4, n_classes))
        curves = (np.array([0, 1]), np.array([0, 3, 4]), knots, gaps, values, rises)
        grid = np.array([2 / 3, 0.0]), np.array([[0, 2, 3], [0, 1, 1]])
        yield scoring.add_curve_scores, (numbers, *curves, rng.normal(size=(2, n_classes)), *grid, scores)
        yield scoring.normalize_log_scores, (scores * 300,)
    for n_classes in (2, 3):
        yield from arguments_of_dependence(codes, labels % n_classes, n_classes)


def arguments_of_dependence(codes, labels, n_classes):
    singles, terms = Terms.singles(CARDINALITIES), Terms.up_to_order(CARDINALITIES, 2)
    counts = TupleCounts.of(codes, labels, terms, n_classes)
    families = np.full((3, 3), -1)
    for term, columns in enumerate(terms.features):
        if len(columns) == 2:
            families[columns], families[columns[::-1]] = terms.offsets[term], terms.offsets[term]
    parents, cardinalities = np.arange(3)[:, None], np.array(CARDINALITIES)
    parent_offsets, added = np.array([0, 2, 5, 9]), np.array([0.5, 0.0, 0.25])
    child_log = np.zeros((CHILD_OFFSETS[-1], n_classes))
    layout = (parents, cardinalities, parent_offsets)
    fill = (counts.counts, families, *layout, singles.offsets, CHILD_OFFSETS, added, VETO, child_log)
    yield dependence.fill_children, (*fill[:-1], np.zeros_like(child_log))
    plain(dependence.fill_children)(*fill)
    parent_weight = np.concatenate([counts.joint(j).sum(axis=1) for j in range(3)])
    parent_log = np.log(np.concatenate([counts.joint(j) for j in range(3)]) + 1)
    tables = (parent_weight, parent_log, singles.offsets, CHILD_OFFSETS, child_log.copy(), 3.0)
    yield dependence.average_parents, (codes, *layout, *tables, np.zeros((len(codes), n_classes)))


@pytest.mark.parametrize("position", range(len(list(arguments_of_every_kernel()))))
def test_compiled_kernels_equal_plain_python(position):
    kernel, arguments = list(arguments_of_every_kernel())[position]
    results = []
    for run in (kernel, plain(kernel)):
        copies = [array.copy() if isinstance(array, np.ndarray) else array for array in arguments]
        run(*copies)
        results.append(copies)
    for compiled, python in zip(*results, strict=True):
        # Exponentials and logarithms of the two differ by a unit in the last place.
        np.testing.assert_allclose(compiled, python, rtol=1e-13, atol=1e-13)
    assert any(not np.array_equal(a, b) for a, b in zip(results[0], arguments, strict=True))


def test_every_kernel_is_among_them():
    tested = {kernel.__name__ for kernel, _ in arguments_of_every_kernel()}
    public = {
        name
        for module in (counting, dependence, moments, scoring, sketching)
        for name, member in vars(module).items()
        if callable(member)
        and getattr(member, "__module__", "") == module.__name__
        and not name.startswith("_")
    }
    # These are inlined into the others.
    assert public - {"accumulate", "split", "log_share"} == tested


@pytest.mark.parametrize("n_classes", [2, 4])
def test_curves_equal_their_formula(n_classes):
    rng, codes, numbers, *_ = made_rows()
    curves = CurveTerms.of(
        [(1, [-1.0, 0.0, 2.0], rng.normal(size=(3, n_classes)), rng.normal(size=n_classes))]
    )
    scores = np.zeros((N_ROWS, n_classes))
    table = type("Table", (), {"numbers": numbers, "codes": codes})()
    curves.add_compiled(table, scores)
    expected = np.column_stack([np.interp(numbers[:, 1], curves.knots, values) for values in curves.values.T])
    expected[np.isnan(numbers[:, 1])] = curves.missing[0]
    np.testing.assert_allclose(scores, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_compiled_curves_equal_the_others_wherever_the_knots_lie(n_classes):
    rng = np.random.default_rng(0)
    knots = [
        np.arange(40.0),
        np.append(np.sort(rng.random(40)), 1e140),  # all but one in the same cell of the grid
        np.sort(rng.normal(size=60)) ** 3,
        1e9 + np.sort(rng.random(50)),
        np.array([5e-324, 1e-323, 3e-323]),  # too close for a grid
        np.array([0.5]),
    ]
    curves = CurveTerms.of(
        [(j, at, rng.normal(size=(len(at), n_classes)), np.ones(n_classes)) for j, at in enumerate(knots)]
    )
    # The knots, numbers between them, the nearest numbers on both sides, numbers beyond, missing ones.
    columns = []
    for knots_of in knots:
        beyond = [-np.inf, knots_of[0] - 1, knots_of[-1] + 1, np.inf, np.nan]
        near = [np.nextafter(knots_of, -np.inf), np.nextafter(knots_of, np.inf)]
        columns.append(
            rng.choice(np.concatenate([knots_of, knots_of[:-1] + np.diff(knots_of) / 3, *near, beyond]), 2000)
        )
    table = type("Table", (), {"numbers": np.column_stack(columns)})()
    scores, expected = np.zeros((2, 2000, n_classes))
    curves.add_compiled(table, scores)
    for contribution in curves.at(table.numbers).swapaxes(0, 1):
        expected += contribution
    assert (scores == expected).all()


def test_leading_bits_are_counted_in_the_order_of_numbers():
    numbers = np.array([[-3.0], [-0.0], [0.0], [np.nan], [1e-300], [2.5]])
    counts = np.zeros((1, 1 << 12))
    sketching.count_leading_bits(numbers.view(np.uint64), np.ones(1), np.uint64(52), counts)
    present = numbers[~np.isnan(numbers)]
    expected = np.bincount((ordered_bits(present) >> np.uint64(52)).astype(np.int64), minlength=1 << 12)
    assert (counts[0] == expected).all()
    assert counts.max() == 2


def test_cells_of_rows_are_those_of_the_terms():
    _, codes, _, _, _ = made_rows()
    terms = Terms.up_to_order(CARDINALITIES, 3)
    assert (cells_of_rows(codes, terms) == terms.cells(codes)).all()


def test_children_are_smoothed_shares_given_their_parents():
    _, codes, _, labels, _ = made_rows()
    kernel, arguments = next(arguments_of_dependence(codes, labels, N_CLASSES))
    kernel(*arguments)
    child_log = arguments[-1]
    widths = np.array(CARDINALITIES) + 1
    for parent, child in permutations(range(3), 2):
        for value, c in product(range(CARDINALITIES[parent]), range(N_CLASSES)):
            others = [j for j in range(3) if j != parent]
            begin = (
                CHILD_OFFSETS[parent]
                + value * widths[others].sum()
                + widths[others][: others.index(child)].sum()
            )
            child_table = child_log[begin : begin + widths[child], c]
            assert child_table[-1] == 0
            here = (codes[:, parent] == value) & (labels == c)
            counts = np.bincount(codes[here, child], minlength=CARDINALITIES[child] + 1)[:-1]
            added = [0.5, 0.0, 0.25][child]
            expected = log_shares(counts, counts.sum(), len(counts), added)
            np.testing.assert_allclose(child_table[:-1], expected, rtol=1e-13)
            assert child_table[-1] == 0
