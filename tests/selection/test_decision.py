"""The decision of a search: averages over trials, the share of the fit, and the price of choosing."""

import numpy as np
import pytest
from scipy.special import log_softmax
from scipy.stats import norm

from seminaive.selection.decision import (
    SEARCH,
    Decision,
    Draws,
    _draw,
    averaged,
    cost_of_weakness,
    decide,
    least,
)
from seminaive.selection.held_out import HeldOut

EVEN = averaged(np.zeros(3))


def rows_held_out(n_rows=60, n_classes=2, weight=None, groups=None, copies=None, seed=0, n_draws=1):
    """Return held-out rows of two folds whose classes have equal shares, several times over."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(n_rows) % n_classes)
    fold = np.argsort(np.argsort(labels, kind="stable")) // n_classes % 2
    splits = [(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in range(2)]
    weight = np.ones(n_rows) if weight is None else weight
    return HeldOut.of(labels, weight, n_classes, n_draws * splits, groups, copies)


def signs(held_out):
    """Return for each row and column what a score that speaks for the class of the row adds."""
    n_columns = held_out.share_scores.shape[1]
    if n_columns == 1:
        return np.where(held_out.labels == 1, 1.0, -1.0)[:, None]
    return np.eye(n_columns)[held_out.labels] - 1 / n_columns


def trials_of(held_out, signal=1.0, noise=1.0, n_trials=3, seed=1):
    """Return scores of trials that speak for the class of each row, more or less, beside noise."""
    rng = np.random.default_rng(seed)
    shape = (len(held_out), n_trials, held_out.share_scores.shape[1])
    strengths = signal * np.linspace(0.5, 1.0, n_trials)[:, None]
    return (
        held_out.share_scores[:, None] + strengths * signs(held_out)[:, None] + noise * rng.normal(size=shape)
    )


def fresh(seed=0):
    return np.random.default_rng(seed)


# Rules


def test_weights_of_an_average_sum_to_one_however_large_the_losses_are():
    losses = np.random.default_rng(0).exponential(1e4, (7, 5))
    weights = averaged(np.arange(5.0))(losses)
    assert (weights >= 0).all()
    np.testing.assert_allclose(weights.sum(axis=-1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(weights[3], averaged(np.arange(5.0))(losses[3]), rtol=1e-12)


def test_two_units_of_loss_count_as_one_of_cost():
    cost, losses = np.array([0.3, 0.0, 2.0]), np.array([10.0, 12.5, 9.0])
    weights = averaged(cost)(losses)
    for one in range(3):
        for other in range(3):
            ratio = np.exp((losses[other] - losses[one]) / 2 + cost[other] - cost[one])
            assert weights[one] / weights[other] == pytest.approx(ratio, rel=1e-12)


def test_an_average_goes_from_the_prior_to_the_best_trial():
    prior = np.array([0.5, 0.3, 0.2])
    rule, gains = averaged(-np.log(prior)), np.array([0.0, 0.0, 1.0])
    np.testing.assert_allclose(rule(np.full(3, 40.0)), prior, rtol=1e-12)
    np.testing.assert_allclose(rule(-1e-9 * gains), prior, rtol=1e-8)
    np.testing.assert_allclose(rule(-1e3 * gains), [0, 0, 1], atol=1e-12)
    np.testing.assert_array_equal(averaged(np.array([0.0, np.inf]))(np.array([5.0, 1.0])), [1, 0])


def test_the_least_loss_takes_all_and_the_first_of_equal_ones():
    losses = np.array([[3.0, 1.0, 2.0], [2.0, 1.0, 1.0]])
    np.testing.assert_array_equal(least(losses), [[0, 1, 0], [0, 1, 0]])
    np.testing.assert_array_equal(least(losses[0]), [0, 1, 0])


def test_weaker_strengths_cost_what_a_normal_deviate_does_and_stronger_ones_nothing():
    decades = np.array([-3.0, -0.1, 0.0, 1.0, 2.5])
    expected = np.where(decades > 0, norm.logpdf(0) - norm.logpdf(decades), 0.0)
    np.testing.assert_allclose(cost_of_weakness(decades), expected, rtol=1e-12)


# The share of the fit


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("signal", [-1.0, 0.0, 0.3, 1.0, 3.0])
@pytest.mark.parametrize("rule", [EVEN, least], ids=["averaged", "least"])
def test_shares_and_weights_are_shares(n_classes, signal, rule):
    held_out = rows_held_out(60, n_classes)
    decision = decide(held_out, trials_of(held_out, signal), rule, fresh())
    assert 0.0 <= decision.fit_share <= 1.0
    assert decision.weights.sum() == pytest.approx(1.0, rel=1e-12)
    low, high = decision.log_loss_interval
    assert 0.0 < low < decision.log_loss < high


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("signal", [-1.0, 0.0])
def test_the_share_is_nothing_where_no_share_gains(n_classes, signal):
    held_out = rows_held_out(60, n_classes)
    scores = trials_of(held_out, signal, noise=0.0)
    decision = decide(held_out, scores, EVEN, fresh())
    assert decision.fit_share == 0.0
    # The answer is the class shares, whatever the trials say.
    of_shares = held_out.losses(held_out.share_scores)
    assert decision.log_loss == pytest.approx(float(held_out.mean(of_shares)), rel=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_strong_signal_is_believed(n_classes):
    held_out = rows_held_out(600, n_classes)
    decision = decide(held_out, trials_of(held_out, 2.0, noise=0.5), EVEN, fresh())
    assert decision.fit_share > 0.95


def test_a_fit_that_is_too_sure_is_taken_back_to_the_share_of_least_loss():
    held_out = rows_held_out(2000)
    rng = np.random.default_rng(3)
    # Right in three rows of four: the log odds are log 3.
    right = np.where(rng.permutation(2000) % 4 > 0, 1.0, -1.0)
    scores = held_out.share_scores[:, None] + (4 * np.log(3) * right[:, None] * signs(held_out))[:, None]
    decision = decide(held_out, scores, averaged(np.zeros(1)), fresh())
    # Both gains, over 1 and over 0, are many of their standard errors.
    assert decision.fit_share == pytest.approx(0.25, abs=0.02)


def test_the_share_is_continuous_in_the_scores():
    held_out = rows_held_out(60)
    scores = trials_of(held_out, 0.0, noise=0.7)
    toward = signs(held_out)[:, None]
    signals = np.linspace(-0.2, 2.0, 45)
    shares = np.array([decide(held_out, scores + s * toward, EVEN, fresh()).fit_share for s in signals])
    assert shares[0] == 0.0
    assert shares[-1] > 0.9
    # A jump would be in one part of the steepest step; a slope is in all of them.
    steps = np.abs(np.diff(shares))
    parts = np.linspace(*signals[steps.argmax() :][:2], 11)
    within = np.array([decide(held_out, scores + s * toward, EVEN, fresh()).fit_share for s in parts])
    assert np.abs(np.diff(within)).max() < 0.3 * steps.max() + 2 * SEARCH.precision


def test_a_share_that_is_given_is_taken():
    held_out = rows_held_out(60)
    scores = trials_of(held_out)
    for share in (0.0, 0.4, 1.0):
        assert decide(held_out, scores, EVEN, fresh(), fit_share=share).fit_share == share
    none = decide(held_out, scores, EVEN, fresh(), fit_share=0.0)
    of_shares = held_out.losses(held_out.share_scores)
    assert none.log_loss == pytest.approx(float(held_out.mean(of_shares)), rel=1e-12)


def test_losses_that_are_given_choose_and_log_losses_price():
    held_out = rows_held_out(60)
    scores = trials_of(held_out)
    given = np.tile([2.0, 1.0, 3.0], (60, 1))
    decision = decide(held_out, scores, least, fresh(), losses=given, fit_share=1.0)
    np.testing.assert_array_equal(decision.weights, [0, 1, 0])
    alone = decide(held_out, scores[:, 1:2], least, fresh(), fit_share=1.0)
    assert decision.log_loss == pytest.approx(alone.log_loss, rel=1e-12)


# The price


def plain_price(held_out, scores, rule, share, generator):
    """Return what an answer loses on rows not drawn, and its error, by loops over draws and rows."""
    losses, weight = held_out.expected_losses(scores), held_out.weight
    n_rows = len(held_out)
    sums, totals, by_draw = np.zeros(n_rows), np.zeros(n_rows), []
    by_row = np.argsort(held_out.rows)
    for _ in range(100):
        counts = np.empty(n_rows)
        counts[by_row] = generator.poisson(1.0, n_rows)
        weights = rule(sum(weight[i] * counts[i] * losses[i] for i in range(n_rows)))
        of_draw, left_of_draw = 0.0, 0.0
        for i in range(n_rows):
            left = weight[i] if counts[i] == 0 else 0.0
            away = weights @ scores[i] - held_out.share_scores[i]
            logs = log_softmax(held_out.share_scores[i] + share * away)
            loss = -logs[held_out.labels[i]]
            sums[i], totals[i] = sums[i] + left * loss, totals[i] + left
            of_draw, left_of_draw = of_draw + left * loss, left_of_draw + left
        by_draw.append(of_draw / left_of_draw)
    by_row = sums / totals
    mean = weight @ by_row / weight.sum()
    variance = ((weight * (by_row - mean)) ** 2).sum() / weight.sum() ** 2 + np.var(by_draw)
    return mean, np.sqrt(variance)


@pytest.mark.parametrize("rule", [EVEN, least], ids=["averaged", "least"])
def test_the_price_is_that_of_a_plain_loop_over_the_same_draws(rule):
    weight = np.random.default_rng(5).uniform(0.2, 5.0, 30)
    held_out = rows_held_out(30, 3, weight)
    scores = trials_of(held_out, 0.5)
    decision = decide(held_out, scores, rule, fresh(), fit_share=0.7)
    mean, error = plain_price(held_out, scores, rule, 0.7, fresh())
    assert decision.log_loss == pytest.approx(mean, rel=1e-12)
    low, high = decision.log_loss_interval
    assert np.log(high / mean) == pytest.approx(norm.ppf(0.975) * error / mean, rel=1e-9)
    assert low * high == pytest.approx(mean**2, rel=1e-12)


def test_a_search_among_trials_of_noise_pays_for_its_optimism():
    naive, priced, of_many = [], [], []
    for seed in range(40):
        held_out = rows_held_out(40, seed=seed)
        scores = trials_of(held_out, 0.0, noise=0.3, n_trials=30, seed=1000 + seed)
        of_shares = float(held_out.mean(held_out.share_losses))
        losses = held_out.mean(held_out.expected_losses(scores))
        naive.append(of_shares - losses.min())
        decisions = [
            decide(held_out, scores[:, :n_trials], least, fresh(seed), fit_share=1.0) for n_trials in (2, 30)
        ]
        priced.append(of_shares - decisions[1].log_loss)
        few, many = (decision.log_loss for decision in decisions)
        of_many.append((many - losses.min()) - (few - losses[:2].min()))
    naive, priced, of_many = map(np.array, (naive, priced, of_many))
    error = priced.std() / np.sqrt(len(priced))
    assert naive.mean() > 10 * naive.std() / np.sqrt(len(naive))
    assert priced.mean() < 2 * error
    # The more trials, the further is the price above the least of their losses.
    assert of_many.mean() > 5 * of_many.std() / np.sqrt(len(of_many))


def test_the_same_generator_gives_the_same_decision():
    held_out = rows_held_out(60)
    scores = trials_of(held_out, 0.5)
    one, again, other = (decide(held_out, scores, EVEN, fresh(seed)) for seed in (7, 7, 8))
    np.testing.assert_array_equal(one.weights, again.weights)
    assert (one.fit_share, one.log_loss) == (again.fit_share, again.log_loss)
    assert one.log_loss_interval == again.log_loss_interval
    assert one.fit_share != other.fit_share


# Draws


def test_rows_of_one_group_are_drawn_together():
    groups = np.random.default_rng(2).integers(0, 12, 60)
    weight = np.random.default_rng(3).integers(1, 4, 60).astype(float)
    held_out = rows_held_out(60, weight=weight, groups=groups)
    generator, n_left = fresh(), 0
    for _ in range(20):
        drawn, left = _draw(held_out, generator)
        times = drawn / held_out.weight
        for group in np.unique(groups):
            members = groups[held_out.rows] == group
            assert np.unique(times[members]).size == 1
            expected = held_out.weight[members] * (times[members] == 0)
            np.testing.assert_array_equal(left[members], expected)
        n_left += np.unique(groups[held_out.rows][left > 0]).size
    # A group is left in exp(-1) of the draws.
    assert n_left / (20 * 12) == pytest.approx(np.exp(-1), abs=0.1)


def test_occurrences_of_one_row_are_drawn_together():
    labels = np.arange(40) % 2
    splits = [(np.arange(20), np.arange(20, 40)), (np.arange(20, 40), np.arange(20))] * 3
    held_out = HeldOut.of(labels, np.ones(40), 2, splits)
    drawn, left = _draw(held_out, fresh())
    for row in range(40):
        here = held_out.rows == row
        assert np.unique(drawn[here]).size == np.unique(left[here]).size == 1
        # All occurrences of a row together are one row.
        assert drawn[here].sum() == pytest.approx(round(drawn[here].sum()))
        assert left[here].sum() == pytest.approx(float(drawn[here].sum() == 0))


def test_draws_of_merged_rows_have_the_moments_of_draws_of_single_ones():
    weight = np.repeat([1.0, 2.0, 5.0], 20)
    held_out = rows_held_out(60, weight=weight, copies=weight.astype(int))
    generator = fresh()
    draws = np.array([_draw(held_out, generator) for _ in range(1000)])
    for w in (1.0, 2.0, 5.0):
        drawn, left = (draws[:, part, held_out.weight == w].ravel() for part in (0, 1))
        # The number drawn is a Poisson number, and every copy is left with a probability of exp(-1).
        kept = np.exp(-1)
        for found, mean, variance in ((drawn, w, w), (left, w * kept, w * kept * (1 - kept))):
            assert abs(found.mean() - mean) < 4 * found.std() / np.sqrt(found.size)
            assert found.var() == pytest.approx(variance, rel=0.05)
        # Copies that are left are drawn no time: their numbers are those of one copy, times w.
        assert np.cov(drawn, left)[0, 1] == pytest.approx(-w * kept, rel=0.05)


def test_merged_rows_equal_single_ones_in_distribution():
    times = np.random.default_rng(4).integers(1, 4, 40)
    weighted = rows_held_out(40, weight=times.astype(float), copies=times)
    scores = trials_of(weighted, 0.6)
    copied = np.repeat(np.arange(40), times)
    by_row = np.argsort(weighted.rows)
    labels, fold = weighted.labels[by_row][copied], weighted.folds[by_row][copied]
    splits = [(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in range(2)]
    repeated = HeldOut.of(labels, np.ones(len(copied)), 2, splits)
    again = scores[by_row][copied][repeated.rows]
    found = np.array(
        [
            [
                (decision.fit_share, decision.log_loss, np.ptp(np.log(decision.log_loss_interval)))
                for decision in (
                    decide(weighted, scores, EVEN, fresh(seed)),
                    decide(repeated, again, EVEN, fresh(1000 + seed)),
                )
            ]
            for seed in range(60)
        ]
    )
    means, errors = found.mean(axis=0), found.std(axis=0) / np.sqrt(len(found))
    assert (np.abs(means[0] - means[1]) < 4 * np.hypot(*errors)).all()
    # What is not drawn is the same.
    of_each = decide(weighted, scores, EVEN, fresh()), decide(repeated, again, EVEN, fresh())
    np.testing.assert_allclose(of_each[0].weights, of_each[1].weights, rtol=1e-9)


def test_few_rows_are_drawn_often_and_many_seldom():
    draws = Draws(most=100, least=20, scores=1000)
    assert [draws.number(n) for n in (0, 1, 10, 20, 50, 10**9)] == [100, 100, 100, 50, 20, 20]


# Few rows


def test_without_rows_there_is_nothing_to_believe():
    labels = np.array([0, 1])
    every, none = np.arange(2), np.arange(0)
    held_out = HeldOut.of(labels, np.ones(2), 2, [(every, none), (every, none)])
    decision = decide(held_out, np.zeros((0, 3, 1)), averaged(np.array([0.0, 1.0, 2.0])), fresh())
    assert decision.fit_share == 0.0
    assert np.isnan(decision.log_loss)
    np.testing.assert_allclose(decision.weights, averaged(np.arange(3.0))(np.zeros(3)), rtol=1e-12)
    assert decide(held_out, np.zeros((0, 3, 1)), EVEN, fresh(), fit_share=1.0).fit_share == 1.0


@pytest.mark.parametrize("n_rows", [1, 2, 3])
def test_few_rows_have_a_finite_answer(n_rows):
    labels = np.array([0, 1] * 5)
    held_out = HeldOut.of(labels, np.ones(10), 2, [(np.arange(n_rows, 10), np.arange(n_rows))])
    decision = decide(held_out, trials_of(held_out), EVEN, fresh())
    assert 0.0 <= decision.fit_share <= 1.0
    assert np.isfinite([decision.log_loss, *decision.log_loss_interval]).all()


def test_a_row_that_every_draw_has_is_judged_by_the_class_shares():
    weight = np.ones(20)
    weight[3] = 1e4
    held_out = rows_held_out(20, weight=weight, groups=np.arange(20))
    heavy = held_out.rows == 3

    class Always:
        """Draws one group every time, and the others as usual."""

        def __init__(self):
            self.generator = fresh()

        def poisson(self, mean, size):
            counts = self.generator.poisson(mean, size)
            counts[held_out.units[heavy]] = 1
            return counts

    scores = trials_of(held_out, 1.0)
    decision = decide(held_out, scores, EVEN, Always(), fit_share=1.0)
    expected = held_out.losses(held_out.share_scores)[heavy].item()
    # It has nearly all of the weight.
    assert decision.log_loss == pytest.approx(expected, abs=20 * 10 / 1e4)


def test_trials_of_negligible_weight_are_left_out_and_the_others_keep_their_odds():
    below, above = SEARCH.negligible * np.array([0.9, 1.1])
    weights = np.array([1.0, below, 0.5, above])
    kept = Decision(weights / weights.sum(), 1.0, 0.3, (0.2, 0.4)).without_negligible().weights
    assert kept.sum() == pytest.approx(1.0, rel=1e-12)
    np.testing.assert_allclose(kept / kept[0], [1.0, 0.0, 0.5, above], rtol=1e-12)


# Rows that are held out several times


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("rule", [EVEN, least], ids=["averaged", "least"])
def test_a_row_that_is_held_out_several_times_decides_as_once(n_classes, rule):
    once, thrice = (rows_held_out(60, n_classes, n_draws=n) for n in (1, 3))
    scores = trials_of(once, 0.5)
    found, expected = (
        decide(held_out, np.tile(scores, (len(held_out) // 60, 1, 1)), rule, fresh())
        for held_out in (thrice, once)
    )
    np.testing.assert_allclose(found.weights, expected.weights, rtol=1e-9)
    assert found.fit_share == pytest.approx(expected.fit_share, rel=1e-9)
    assert found.log_loss == pytest.approx(expected.log_loss, rel=1e-9)
    np.testing.assert_allclose(found.log_loss_interval, expected.log_loss_interval, rtol=1e-9)


def test_a_row_is_drawn_or_left_out_with_all_its_copies():
    held_out = rows_held_out(60, n_draws=3)
    drawn, left = _draw(held_out, fresh())
    for row in range(60):
        copies = held_out.rows == row
        assert copies.sum() == 3
        assert len(np.unique(drawn[copies])) == 1
        assert len(np.unique(left[copies])) == 1
        assert (drawn[copies][0] == 0) == (left[copies][0] > 0)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_loss_to_expect_is_that_of_labels_without_the_unknown_row(n_classes):
    held_out = rows_held_out(60, n_classes)
    scores = trials_of(held_out, 3.0, n_trials=1)
    decision = decide(held_out, scores, averaged(np.zeros(1)), fresh(), fit_share=1.0)
    expected = float(held_out.mean(held_out.losses(scores[:, 0])))
    assert decision.log_loss == pytest.approx(expected, rel=1e-9)
    assert decision.log_loss < float(held_out.mean(held_out.expected_losses(scores[:, 0])))
