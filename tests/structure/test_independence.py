"""Tests of conditional independence: against scipy, hand-written sums, and numbers of R's bnlearn."""

import shutil
import subprocess
from itertools import product

import numpy as np
import pytest
from scipy import stats

from seminaive.structure import (
    CORRELATION_TESTS,
    COUNTS_TESTS,
    CodedTests,
    GaussianTests,
    adjusted_mutual_information_test,
    correlation_test,
    fisher_z_test,
    gaussian_information_test,
    mutual_information_test,
    pearson_test,
    shrinkage_mutual_information_test,
    shrunken_covariance,
)
from seminaive.structure.coded_tests import Strata

# Perches of 409 lizards (Schoener, 1968): species (Sagrei, Distichus), diameter (narrow, wide), height (low,
# high).
LIZARDS = np.array([[[86, 32], [35, 11]], [[73, 61], [70, 41]]], dtype=float)
# Marks of 88 students (Mardia, Kent and Bibby, 1979): mechanics, vectors, algebra, analysis, statistics.
MARKS_ROWS = """
77,82,67,67,81 63,78,80,70,81 75,73,71,66,81 55,72,63,70,68 63,63,65,70,63 53,61,72,64,73 51,67,65,65,68
59,70,68,62,56 62,60,58,62,70 64,72,60,62,45 52,64,60,63,54 55,67,59,62,44 50,50,64,55,63 65,63,58,56,37
31,55,60,57,73 60,64,56,54,40 44,69,53,53,53 42,69,61,55,45 62,46,61,57,45 31,49,62,63,62 44,61,52,62,46
49,41,61,49,64 12,58,61,63,67 49,53,49,62,47 54,49,56,47,53 54,53,46,59,44 44,56,55,61,36 18,44,50,57,81
46,52,65,50,35 32,45,49,57,64 30,69,50,52,45 46,49,53,59,37 40,27,54,61,61 31,42,48,54,68 36,59,51,45,51
56,40,56,54,35 46,56,57,49,32 45,42,55,56,40 42,60,54,49,33 40,63,53,54,25 23,55,59,53,44 48,48,49,51,37
41,63,49,46,34 46,52,53,41,40 46,61,46,38,41 40,57,51,52,31 49,49,45,48,39 22,58,53,56,41 35,60,47,54,33
48,56,49,42,32 31,57,50,54,34 17,53,57,43,51 49,57,47,39,26 59,50,47,15,46 37,56,49,28,45 40,43,48,21,61
35,35,41,51,50 38,44,54,47,24 43,43,38,34,49 39,46,46,32,43 62,44,36,22,42 48,38,41,44,33 34,42,50,47,29
18,51,40,56,30 35,36,46,48,29 59,53,37,22,19 41,41,43,30,33 31,52,37,27,40 17,51,52,35,31 34,30,50,47,36
46,40,47,29,17 10,46,36,47,39 46,37,45,15,30 30,34,43,46,18 13,51,50,25,31 49,50,38,23,9 18,32,31,45,40
8,42,48,26,40 23,38,36,48,15 30,24,43,33,25 3,9,51,47,40 7,51,43,17,22 15,40,43,23,18 15,38,39,28,17
5,30,44,36,18 12,30,32,35,21 5,26,15,20,20 0,40,21,9,14
"""
MARKS = np.array([row.split(",") for row in MARKS_ROWS.split()], dtype=float)
MECH, VECT, ALG, ANL, STAT = range(5)


@pytest.fixture
def counts():
    return np.random.default_rng(0).integers(0, 12, (3, 4, 5)).astype(float)


def test_the_g_test_of_a_two_way_table_equals_scipys(counts):
    table = counts.sum(axis=2)
    expected = stats.chi2_contingency(table, lambda_="log-likelihood", correction=False)
    ours = mutual_information_test(table)
    assert ours.statistic == pytest.approx(expected.statistic, rel=1e-12)
    assert ours.degrees_of_freedom == expected.dof
    assert ours.p_value == pytest.approx(expected.pvalue, rel=1e-10)


def test_pearsons_test_of_a_two_way_table_equals_scipys(counts):
    table = counts.sum(axis=2)
    expected = stats.chi2_contingency(table, correction=False)
    ours = pearson_test(table)
    assert (ours.statistic, ours.p_value) == pytest.approx((expected.statistic, expected.pvalue), rel=1e-10)


def test_a_stratified_statistic_is_the_sum_over_cells(counts):
    total = 0.0
    for x, y, z in product(*map(range, counts.shape)):
        if counts[x, y, z]:
            within = counts[:, :, z]
            expected = within[x].sum() * within[:, y].sum() / within.sum()
            total += 2 * counts[x, y, z] * np.log(counts[x, y, z] / expected)
    ours = mutual_information_test(counts)
    assert ours.statistic == pytest.approx(total, rel=1e-12)
    assert ours.degrees_of_freedom == 2 * 3 * 5
    assert ours.p_value == pytest.approx(stats.chi2.sf(total, 30), rel=1e-10)


def test_strata_that_never_occurred_count_for_the_degrees_of_freedom_only(counts):
    with_empty = np.concatenate([counts, np.zeros((3, 4, 2))], axis=2)
    for test in COUNTS_TESTS.values():
        assert test(counts, 7).statistic == pytest.approx(test(with_empty, None).statistic, rel=1e-12)
        assert test(counts, 7).degrees_of_freedom == test(with_empty, None).degrees_of_freedom


def test_adjusted_degrees_of_freedom_are_those_of_occupied_rows_and_columns(counts):
    counts[0, :, 0] = 0
    counts[:, 1, 1] = 0
    counts[1:, :, 2] = 0
    ours = adjusted_mutual_information_test(counts)
    assert ours.degrees_of_freedom == 1 * 3 + 2 * 2 + 0 + 6 + 6
    assert ours.statistic == mutual_information_test(counts).statistic


def test_the_shrinkage_statistic_is_written_out_by_hand(counts):
    n, m = counts.sum(), counts.size
    p = counts / n
    intensity = (1 - (p**2).sum()) / ((n - 1) * ((1 / m - p) ** 2).sum())
    assert 0 < intensity < 1
    q = intensity / m + (1 - intensity) * p
    information = sum(
        q[x, y, z] * np.log(q[x, y, z] * q[:, :, z].sum() / q[x, :, z].sum() / q[:, y, z].sum())
        for x, y, z in product(*map(range, counts.shape))
    )
    assert shrinkage_mutual_information_test(counts).statistic == pytest.approx(
        2 * n * information, rel=1e-10
    )


def test_equal_cells_are_shrunk_all_the_way_and_independent():
    assert shrinkage_mutual_information_test(np.ones((2, 3))).p_value == 1


def test_the_t_test_of_a_correlation_equals_scipys():
    x, y = MARKS[:, MECH], MARKS[:, STAT]
    expected = stats.pearsonr(x, y)
    ours = correlation_test(expected.statistic, len(x), 0)
    assert ours.p_value == pytest.approx(expected.pvalue, rel=1e-10)


def test_fishers_z_and_the_gaussian_information_are_their_formulas():
    assert fisher_z_test(0.3, 50, 2).statistic == pytest.approx(np.arctanh(0.3) * np.sqrt(45), rel=1e-12)
    assert fisher_z_test(0.3, 50, 2).p_value == pytest.approx(
        2 * stats.norm.sf(np.arctanh(0.3) * np.sqrt(45)), rel=1e-12
    )
    assert gaussian_information_test(0.3, 50, 2).p_value == pytest.approx(
        stats.chi2.sf(-50 * np.log(1 - 0.09), 1), rel=1e-12
    )


# https://www.bnlearn.com/examples/ci.test/: ci.test("Height", "Diameter", "Species", data = lizards, test =
# "mi") and ci.test(lizards, test = "mi"), which is Species ~ Diameter | Height.
@pytest.mark.parametrize(
    ("axes", "statistic", "p_value"), [((2, 1, 0), 2.0256, 0.3632), ((0, 1, 2), 14.024, 0.0009009)]
)
def test_the_lizards_of_bnlearns_manual(axes, statistic, p_value):
    ours = mutual_information_test(LIZARDS.transpose(axes))
    assert ours.statistic == pytest.approx(statistic, abs=5e-4)
    assert ours.degrees_of_freedom == 2
    assert ours.p_value == pytest.approx(p_value, rel=2e-4)


# bnlearn 5.2.1, R 4.6.1: arc.strength(hc(marks), marks, criterion = "cor"), the p-value of an arc given the
# other parents of its head; R's output as the fixtures of the pybnlearn project have it.
@pytest.mark.parametrize(
    ("x", "y", "given", "p_value"),
    [
        (MECH, VECT, (), 2.2457736235777296e-08),
        (MECH, ALG, (VECT,), 0.00276474280951633),
        (VECT, ALG, (MECH,), 1.9750097174592875e-05),
        (ALG, ANL, (), 8.6247897623649367e-15),
        (ALG, STAT, (ANL,), 5.8269286909574123e-05),
        (ANL, STAT, (ALG,), 0.016570852046221145),
    ],
)
def test_the_marks_of_bnlearn(x, y, given, p_value):
    assert GaussianTests.of_columns(MARKS)(x, y, given).p_value == pytest.approx(p_value, rel=1e-9)


# ci.test(...) on the tables above, in R: runs where Rscript and the package bnlearn exist.
@pytest.mark.parametrize("test", [*COUNTS_TESTS, *CORRELATION_TESTS])
def test_r_bnlearn_gives_the_same_statistic(test, tmp_path):
    ask = shutil.which("Rscript")
    if ask is None:
        pytest.skip("no Rscript")
    (tmp_path / "marks.csv").write_text("\n".join(",".join(map(str, row)) for row in MARKS.astype(int)))
    rows = [cell for cell in np.ndindex(2, 2, 2) for _ in range(int(LIZARDS[cell]))]
    (tmp_path / "lizards.csv").write_text("\n".join(",".join(map(str, row)) for row in rows))
    table, kind = ("lizards", "'factor'") if test in COUNTS_TESTS else ("marks", "'numeric'")
    program = (
        "if (!requireNamespace('bnlearn', quietly = TRUE)) quit(status = 3);"
        f"d = read.csv('{tmp_path / table}.csv', header = FALSE, colClasses = {kind});"
        f"r = bnlearn::ci.test('V1', 'V2', 'V3', data = d, test = '{test}');"
        "cat(sprintf('%.15g %.15g', r$statistic, r$p.value))"
    )
    done = subprocess.run([ask, "-e", program], capture_output=True, text=True, check=False)
    if done.returncode == 3:
        pytest.skip("Rscript has no package bnlearn")
    statistic, p_value = map(float, done.stdout.split())
    if test in COUNTS_TESTS:
        ours = COUNTS_TESTS[test](LIZARDS, None)
    else:
        ours = GaussianTests.of_columns(MARKS, test)(0, 1, (2,))
    assert (ours.statistic, ours.p_value) == pytest.approx((statistic, p_value), rel=1e-9)


def test_partial_correlations_are_those_of_regression_residuals():
    given = [ALG, ANL]
    design = np.column_stack([np.ones(len(MARKS)), MARKS[:, given]])
    residual = MARKS - design @ np.linalg.lstsq(design, MARKS, rcond=None)[0]
    expected = np.corrcoef(residual[:, MECH], residual[:, STAT])[0, 1]
    ours = GaussianTests.of_columns(MARKS)(MECH, STAT, given)
    assert ours.statistic == pytest.approx(expected, rel=1e-10)
    assert ours.degrees_of_freedom == 88 - 2 - 2


def test_shrinkage_of_covariances_is_written_out_by_hand():
    marks = MARKS[:, [MECH, STAT, ALG]]
    n = len(marks)
    centred = marks - marks.mean(axis=0)
    covariance = np.cov(marks, rowvar=False)
    above = below = 0.0
    for i in range(3):
        for j in range(i):
            products = centred[:, i] * centred[:, j]
            above += n / (n - 1) ** 3 * ((products - products.mean()) ** 2).sum()
            below += covariance[i, j] ** 2
    shrunken = covariance * (1 - above / below)
    np.fill_diagonal(shrunken, np.diag(covariance))
    inverse = np.linalg.inv(shrunken)
    expected = -n * np.log(1 - inverse[0, 1] ** 2 / inverse[0, 0] / inverse[1, 1])
    ours = GaussianTests.of_columns(MARKS, "mi-g-sh")(MECH, STAT, (ALG,))
    assert ours.statistic == pytest.approx(expected, rel=1e-9)
    np.testing.assert_allclose(shrunken_covariance(covariance, np.zeros((3, 3)), n), covariance)


# Tables


def coded_table(n_rows=2000, seed=0):
    rng = np.random.default_rng(seed)
    cardinalities = (2, 3, 4, 3)
    columns = [rng.integers(0, k, n_rows) for k in cardinalities]
    columns[1] = (columns[0] + (rng.random(n_rows) < 0.3)) % 3
    return np.array(columns, dtype=np.uint8), cardinalities


@pytest.mark.parametrize("test", list(COUNTS_TESTS))
@pytest.mark.parametrize("given", [(), (2,), (3, 2)])
def test_tests_of_a_table_count_what_a_plain_loop_counts(test, given):
    columns, cardinalities = coded_table()
    columns[1, ::7] = 3  # missing
    columns[2, ::11] = 4
    columns[3, ::13] = 3
    sizes = [cardinalities[j] for j in (1, 0, *given)]
    counts = np.zeros(sizes)
    for row in columns[[1, 0, *given]].T:
        if (row < sizes).all():
            counts[tuple(row)] += 1
    expected = COUNTS_TESTS[test](counts.reshape(3, 2, -1), None)
    ours = CodedTests(columns, cardinalities, test)(0, 1, given)
    assert ours.statistic == pytest.approx(expected.statistic, rel=1e-9)
    assert (ours.degrees_of_freedom, ours.n_rows) == (expected.degrees_of_freedom, counts.sum())


@pytest.mark.parametrize("test", list(COUNTS_TESTS))
def test_many_candidates_at_once_give_what_each_gives_alone(test, monkeypatch):
    columns, cardinalities = coded_table()
    tests = CodedTests(columns, cardinalities, test)
    assert tests.each(0, (1, 2), (3,)) == [tests(0, 1, (3,)), tests(0, 2, (3,))]
    monkeypatch.setattr("seminaive.structure.coded_tests.CELLS_AT_ONCE", 1)
    assert tests.each(0, (1, 2), (3,)) == [tests(0, 1, (3,)), tests(0, 2, (3,))]


@pytest.mark.parametrize("test", [*COUNTS_TESTS, *CORRELATION_TESTS])
def test_integer_weights_equal_repeated_rows(test):
    columns, cardinalities = coded_table(300)
    times = np.random.default_rng(1).integers(0, 4, 300)
    repeated = np.repeat(columns, times, axis=1)
    weight = times.astype(float)
    if test in COUNTS_TESTS:
        weighted = CodedTests(columns, cardinalities, test, weight)
        plain = CodedTests(repeated, cardinalities, test)
    else:
        weighted = GaussianTests.of_columns(columns.T.astype(float), test, weight)
        plain = GaussianTests.of_columns(repeated.T.astype(float), test)
    ours, expected = weighted(0, 1, (2, 3)), plain(0, 1, (2, 3))
    assert (ours.statistic, ours.p_value) == pytest.approx((expected.statistic, expected.p_value), rel=1e-9)


def test_strata_of_forty_wide_columns_do_not_overflow():
    rng = np.random.default_rng(0)
    columns = rng.integers(0, 200, (42, 500)).astype(np.uint8)
    columns[0] = columns[1] = np.arange(500) % 2
    tests = CodedTests(columns, (2, 2, *(200,) * 40), declare_untestable=False)
    result = tests(0, 1, tuple(range(2, 42)))
    # Every row has a stratum of its own, within which nothing varies.
    assert result.statistic == pytest.approx(0, abs=1e-9)
    assert result.n_rows == 500


def test_more_cells_than_rows_are_untestable_unless_that_is_switched_off():
    columns, cardinalities = coded_table(50)
    strict = CodedTests(columns, cardinalities)(0, 1, (2, 3))
    assert not strict.testable
    assert not strict.dependent(1.0)
    assert str(strict) == "mi untestable: 72 cells for 50 rows"
    assert CodedTests(columns, cardinalities, declare_untestable=False)(0, 1, (2, 3)).testable


@pytest.mark.parametrize(("n_rows", "made"), [(119, False), (120, True)])
def test_every_test_is_made_as_bnlearn_does_and_mi_adf_needs_five_rows_per_cell(n_rows, made):
    columns = np.tile(np.array([[0, 1], [0, 1], [0, 0]], np.uint8), n_rows)[:, :n_rows]
    cardinalities = (2, 2, 6)  # 24 cells, of which two hold rows: target and candidate are equal
    for test in COUNTS_TESTS:
        result = CodedTests(columns, cardinalities, test, declare_untestable=False)(0, 1, (2,))
        assert result.testable
        assert result.dependent(0.05) == (made or test != "mi-adf"), test
    sparse = CodedTests(columns, cardinalities, "mi-adf")(0, 1, (2,))
    assert sparse.dependent(0.05)  # one row per cell is enough where sparser tests are declared untestable


@pytest.mark.parametrize("test", list(CORRELATION_TESTS))
def test_rows_with_missing_numbers_are_left_out_of_the_tests_that_need_them(test):
    marks = MARKS.copy()
    marks[::5, VECT] = np.nan
    present = ~np.isnan(marks[:, VECT])
    ours, alone = GaussianTests.of_columns(marks, test), GaussianTests.of_columns(marks[present], test)
    assert ours(MECH, STAT, (VECT,)).statistic == pytest.approx(alone(MECH, STAT, (VECT,)).statistic)
    whole = GaussianTests.of_columns(MARKS, test)
    assert ours(MECH, STAT, (ALG,)) == whole(MECH, STAT, (ALG,))


def test_indicators_of_a_class_are_corrected_for_their_number():
    labels = np.arange(88) % 3
    numbers = np.column_stack([MARKS, *(labels == c for c in range(3))])
    tests = GaussianTests(numbers, (*((j,) for j in range(5)), (5, 6, 7)))
    single = [GaussianTests.of_columns(numbers)(j, MECH, (ALG,)) for j in (5, 6, 7)]
    best = min(single, key=lambda result: result.p_value)
    assert tests(5, MECH, (ALG,)).statistic == best.statistic
    assert tests(5, MECH, (ALG,)).p_value == pytest.approx(min(3 * best.p_value, 1))


def test_a_variable_determined_by_the_others_is_independent_of_the_rest():
    numbers = np.column_stack([MARKS, MARKS[:, ALG] + MARKS[:, ANL]])
    assert GaussianTests.of_columns(numbers)(STAT, 5, (ALG, ANL)).p_value == 1
    assert GaussianTests.of_columns(np.column_stack([MARKS, np.ones(88)]))(STAT, 5, ()).p_value == 1


@pytest.mark.parametrize(
    ("test", "weak", "strong"), [("mi", 2000, 2100), ("cor", 0.95, 0.96), ("zf", 0.95, 0.96)]
)
def test_p_values_too_small_for_a_double_are_still_ordered(test, weak, strong):
    if test == "mi":
        results = [mutual_information_test(np.diag([n, n]).astype(float)) for n in (weak, strong)]
    else:
        results = [CORRELATION_TESTS[test](r, 20_000, 1) for r in (weak, strong)]
    assert results[0].p_value == results[1].p_value == 0
    assert results[1].log_p_value < results[0].log_p_value < -700


def test_log_p_values_of_the_far_tail_join_those_of_the_near_one():
    near = [mutual_information_test(np.diag([n, n]).astype(float)) for n in (238, 239, 240, 241, 242)]
    steps = np.diff([result.log_p_value for result in near])
    assert np.ptp(steps) < 0.02
    t = [correlation_test(r, 20_000, 0).log_p_value for r in np.linspace(0.253, 0.259, 7)]
    assert np.ptp(np.diff(t, 2)) < 0.05


def test_the_far_tail_of_four_degrees_of_freedom_is_its_closed_form():
    # P(chi-square of 4 > s) = exp(-s / 2) (1 + s / 2)
    result = mutual_information_test(1000 * np.eye(3))
    assert result.p_value == 0
    expected = -result.statistic / 2 + np.log1p(result.statistic / 2)
    assert result.log_p_value == pytest.approx(expected, abs=2e-3)  # the leading term leaves out 2 / s


def test_strata_of_many_values_are_those_of_few_where_cells_are_missing():
    rng = np.random.default_rng(0)
    column = rng.integers(0, 3, 60)
    # Cardinality 1000: more combinations than four per row, which are numbered by sorting.
    few = Strata.whole(60).refined(np.where(column == 2, 3, column), 3)
    many = Strata.whole(60).refined(np.where(column == 2, 1000, column), 1000)
    assert few.n_strata == many.n_strata == 2
    np.testing.assert_array_equal(few.of_row, many.of_row)


def test_a_corrected_p_value_and_its_logarithm_agree():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 200)
    numbers = np.column_stack([rng.normal(size=200) + 0.2 * labels, labels[:, None] == np.arange(3)])
    result = GaussianTests(numbers, ((0,), (1, 2, 3)))(1, 0, ())
    assert 0 < result.p_value < 1
    assert result.log_p_value == pytest.approx(np.log(result.p_value))
