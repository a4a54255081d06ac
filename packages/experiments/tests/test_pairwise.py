import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from seminaive.errors import InputError
from seminaive_experiments.pairwise_tests import (
    WinDrawLoss,
    corrected_resampled_t_test,
    paired_t_test,
    sign_test,
    wilcoxon_test,
    win_draw_loss,
)

CLOSE = 1e-12  # the same formula, evaluated in another order


def _losses(seed, n=12):
    rng = np.random.default_rng(seed)
    return rng.uniform(size=n), rng.uniform(size=n)


@given(st.integers(0, 2**32 - 1))
def test_tests_equal_those_of_scipy(seed):
    first, second = _losses(seed)
    t = stats.ttest_rel(first, second)
    assert paired_t_test(first, second).statistic == pytest.approx(t.statistic, rel=1e-9)
    assert paired_t_test(first, second).p_value == pytest.approx(t.pvalue, rel=1e-9)
    assert wilcoxon_test(first, second).p_value == stats.wilcoxon(first, second).pvalue
    wins = int(np.sum(first < second))
    assert sign_test(first, second).p_value == pytest.approx(
        min(1.0, 2 * stats.binom.cdf(min(wins, 12 - wins), 12, 0.5)), abs=CLOSE
    )


@given(st.integers(0, 2**32 - 1))
def test_swapping_the_models_changes_only_the_sign(seed):
    first, second = _losses(seed)
    counts, swapped = win_draw_loss(first, second), win_draw_loss(second, first)
    assert (counts.win, counts.draw, counts.loss) == (swapped.loss, swapped.draw, swapped.win)
    assert sign_test(first, second).p_value == sign_test(second, first).p_value
    there = corrected_resampled_t_test(first, second, n_train=90, n_test=10)
    back = corrected_resampled_t_test(second, first, n_train=90, n_test=10)
    assert there.statistic == -back.statistic
    assert there.p_value == back.p_value


def test_sign_test_equals_the_papers_p_values():
    # Tables 2 and 4 of the ALR paper: 7/0/1 has p = 0.070, 39/9/28 has p = 0.221; the last printed
    # digit is cut off, not rounded.
    assert sign_test([0] * 7 + [1], [1] * 7 + [0]).p_value == pytest.approx(0.070, abs=1e-3)
    first = [0] * 39 + [0] * 9 + [1] * 28
    second = [1] * 39 + [0] * 9 + [0] * 28
    assert sign_test(first, second).p_value == pytest.approx(0.221, abs=1e-3)


def test_corrected_t_equals_hand_computed_value():
    difference = np.array([0.01, 0.03, 0.02, 0.04])
    # Mean 0.025, variance 0.0005 / 3; factor 1/4 + 10/90.
    expected = 0.025 / np.sqrt((1 / 4 + 1 / 9) * 0.0005 / 3)
    result = corrected_resampled_t_test(difference, np.zeros(4), n_train=90, n_test=10)
    assert result.statistic == pytest.approx(expected, rel=1e-12)
    assert result.p_value == pytest.approx(2 * stats.t.sf(expected, 3), rel=1e-12)


def test_the_correction_never_finds_more_than_the_plain_t():
    for seed in range(20):
        first, second = _losses(seed)
        assert (
            corrected_resampled_t_test(first, second, n_train=9, n_test=1).p_value
            >= paired_t_test(first, second).p_value
        )


def test_equal_models_are_never_different():
    same = [0.1, 0.2, 0.3]
    assert win_draw_loss(same, same) == WinDrawLoss(0, 3, 0)
    for test in (sign_test, wilcoxon_test, paired_t_test):
        assert test(same, same).p_value == 1.0


def test_differences_within_the_tolerance_are_draws():
    assert str(win_draw_loss([0.10, 0.20], [0.11, 0.40], tolerance=0.05)) == "1/1/0"


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [([1.0], [1.0, 2.0], "equally long"), ([np.nan], [1.0], "finite"), ([], [], "equally long")],
)
def test_losses_that_are_not_pairs_are_refused(first, second, message):
    with pytest.raises(InputError, match=message):
        win_draw_loss(first, second)


def test_one_pair_is_too_few_for_a_t_test():
    with pytest.raises(InputError, match="at least two pairs"):
        paired_t_test([0.1], [0.2])
