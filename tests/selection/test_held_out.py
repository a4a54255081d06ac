"""Held-out rows: what trials lose on them and how sure the mean is, by weights, groups and folds."""

import numpy as np
import pytest
from scipy.special import log_softmax, softmax
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import RepeatedKFold, StratifiedKFold

from seminaive.selection.held_out import SCORINGS, HeldOut

N_CLASSES = [2, 3]


def labelled_rows(n_classes, n_rows=60, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(n_rows) % (n_classes + 1) % n_classes)
    return labels, rng.integers(1, 4, n_rows).astype(float)


def folds_of(fold, n_folds=3):
    """Return splits, given the fold of each row."""
    return [(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in range(n_folds)]


def random_scores(held_out, n_trials=4, seed=1):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(len(held_out), n_trials, held_out.share_scores.shape[1]))


def log_posterior(scores):
    """Return the log posterior of each class, given one row's scores."""
    return log_softmax([0.0, scores[0]] if len(scores) == 1 else scores)


@pytest.mark.parametrize("n_classes", N_CLASSES)
def test_class_shares_are_those_of_the_training_rows_of_each_fold(n_classes):
    labels, weight = labelled_rows(n_classes)
    splits = folds_of(np.arange(len(labels)) % 3)
    held_out = HeldOut.of(labels, weight, n_classes, splits)
    assert sorted(held_out.rows) == list(range(len(labels)))
    for position, (row, fold) in enumerate(zip(held_out.rows, held_out.folds, strict=True)):
        train, test = splits[fold]
        assert row in test
        shares = [weight[train][labels[train] == c].sum() / weight[train].sum() for c in range(n_classes)]
        np.testing.assert_allclose(log_posterior(held_out.share_scores[position]), np.log(shares))
    np.testing.assert_array_equal(held_out.weight, weight[held_out.rows])
    np.testing.assert_array_equal(held_out.labels, labels[held_out.rows])


@pytest.mark.parametrize("n_classes", N_CLASSES)
def test_expected_losses_count_one_row_more_of_unknown_label(n_classes):
    labels, weight = labelled_rows(n_classes)
    held_out = HeldOut.of(labels, weight, n_classes, folds_of(np.arange(len(labels)) % 3))
    scores = random_scores(held_out)
    found = held_out.expected_losses(scores)
    shares = [weight[labels == c].sum() / weight.sum() for c in range(n_classes)]
    for row in range(len(held_out)):
        for trial in range(scores.shape[1]):
            logs = log_posterior(scores[row, trial])
            known, unknown = -logs[held_out.labels[row]], -np.dot(shares, logs)
            expected = (weight.sum() * known + unknown) / (weight.sum() + 1)
            assert found[row, trial] == pytest.approx(expected, rel=1e-12)
    # The total of n rows and of one more, over n + 1, is the mean of n.
    by_label = held_out.losses(scores)
    of_unknown = (weight.sum() + 1) * found - weight.sum() * by_label
    total = held_out.weight @ by_label + held_out.mean(of_unknown)
    np.testing.assert_allclose(held_out.mean(found), total / (weight.sum() + 1), rtol=1e-12)


@pytest.mark.parametrize("n_classes", N_CLASSES)
def test_means_and_standard_errors_are_those_of_plain_loops(n_classes):
    labels, weight = labelled_rows(n_classes)
    held_out = HeldOut.of(labels, weight, n_classes, folds_of(np.arange(len(labels)) % 3))
    losses = held_out.losses(random_scores(held_out))[:, 0]
    mean = sum(w * loss for w, loss in zip(held_out.weight, losses, strict=True)) / weight.sum()
    assert float(held_out.mean(losses)) == pytest.approx(mean, rel=1e-12)
    square = sum((w * (loss - mean)) ** 2 for w, loss in zip(held_out.weight, losses, strict=True))
    assert held_out.standard_error(losses) == pytest.approx(np.sqrt(square) / weight.sum(), rel=1e-12)


def test_the_standard_error_of_equal_weights_is_the_usual_one():
    labels, _ = labelled_rows(2)
    held_out = HeldOut.of(labels, np.ones(60), 2, folds_of(np.arange(60) % 3))
    losses = np.random.default_rng(0).exponential(size=60)
    assert held_out.standard_error(losses) == pytest.approx(losses.std() / np.sqrt(60), rel=1e-12)


def merged_and_single(n_classes, splits, grouped=False):
    """Return held-out rows that stand for several, single ones, and the merged row of each single one."""
    labels, weight = labelled_rows(n_classes)
    times = weight.astype(int)
    copied = np.repeat(np.arange(len(labels)), times)
    groups = np.arange(len(labels)) // 4 if grouped else None
    merged = HeldOut.of(labels, weight, n_classes, splits, groups, times)
    positions = [np.flatnonzero(copied == row) for row in range(len(labels))]
    of_copies = [
        tuple(np.concatenate([positions[row] for row in rows]) for rows in split) for split in splits
    ]
    of_groups = None if groups is None else groups[copied]
    repeated = HeldOut.of(labels[copied], np.ones(len(copied)), n_classes, of_copies, of_groups)
    at = {pair: k for k, pair in enumerate(zip(merged.rows, merged.folds, strict=True))}
    back = [at[pair] for pair in zip(copied[repeated.rows], repeated.folds, strict=True)]
    return merged, repeated, np.array(back)


@pytest.mark.parametrize("n_classes", N_CLASSES)
@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("n_repeats", [1, 3])
def test_merged_rows_equal_single_ones(n_classes, grouped, n_repeats):
    splitter = RepeatedKFold(n_splits=3, n_repeats=n_repeats, random_state=0)
    splits = list(splitter.split(np.zeros(60)))
    merged, repeated, back = merged_and_single(n_classes, splits, grouped)
    scores = random_scores(merged)
    for losses in (merged.expected_losses, merged.losses):
        of_copies = getattr(repeated, losses.__name__)(scores[back])
        np.testing.assert_allclose(of_copies, losses(scores)[back], rtol=1e-12)
        np.testing.assert_allclose(repeated.mean(of_copies), merged.mean(losses(scores)), rtol=1e-12)
        for trial in range(scores.shape[1]):
            error = merged.standard_error(losses(scores)[:, trial])
            assert repeated.standard_error(of_copies[:, trial]) == pytest.approx(error, rel=1e-12)
    np.testing.assert_allclose(repeated.share_scores, merged.share_scores[back], rtol=1e-12)
    for scoring in SCORINGS:
        np.testing.assert_allclose(
            repeated.fold_means(scores[back], scoring), merged.fold_means(scores, scoring), rtol=1e-12
        )
    np.testing.assert_allclose(repeated.fold_weights, merged.fold_weights, rtol=1e-12)


def test_rows_of_one_group_are_one_term_of_the_standard_error():
    labels, weight = labelled_rows(2)
    groups = np.random.default_rng(2).integers(0, 9, len(labels))
    held_out = HeldOut.of(labels, weight, 2, folds_of(groups % 3), groups)
    losses = held_out.losses(random_scores(held_out))[:, 0]
    mean = float(held_out.mean(losses))
    of_rows = groups[held_out.rows]
    sums = [(held_out.weight * (losses - mean))[of_rows == group].sum() for group in np.unique(groups)]
    expected = np.sqrt(sum(total**2 for total in sums)) / weight.sum()
    assert held_out.standard_error(losses) == pytest.approx(expected, rel=1e-12)


def test_groups_of_one_row_each_are_rows():
    labels, _ = labelled_rows(2)
    splits = folds_of(np.arange(60) % 3)
    plain, grouped = (HeldOut.of(labels, np.ones(60), 2, splits, groups) for groups in (None, np.arange(60)))
    losses = np.random.default_rng(0).exponential(size=60)
    assert grouped.standard_error(losses) == pytest.approx(plain.standard_error(losses), rel=1e-12)


@pytest.mark.parametrize("n_classes", N_CLASSES)
def test_a_row_that_is_held_out_several_times_counts_once(n_classes):
    labels, weight = labelled_rows(n_classes)
    splits = folds_of(np.arange(len(labels)) % 3)
    once, thrice = (HeldOut.of(labels, weight, n_classes, splits * times) for times in (1, 3))
    assert len(thrice) == 3 * len(once)
    assert thrice.total == pytest.approx(once.total, rel=1e-12)
    scores = random_scores(once)
    losses, again = once.expected_losses(scores), thrice.expected_losses(np.concatenate([scores] * 3))
    np.testing.assert_allclose(thrice.mean(again), once.mean(losses), rtol=1e-12)
    assert thrice.standard_error(again[:, 0]) == pytest.approx(once.standard_error(losses[:, 0]), rel=1e-12)


def test_classes_that_a_fold_lacks_share_the_probability_of_a_label_never_seen():
    labels = np.array([0, 1] * 9 + [2, 2, 3])
    fold = np.arange(21) % 3
    fold[18:] = 1
    held_out = HeldOut.of(labels, np.ones(21), 4, folds_of(fold))
    n_rows = (fold != 1).sum()
    scores = random_scores(held_out)
    for found in (held_out.share_scores[:, None], held_out.completed(scores)):
        posterior = softmax(found[held_out.folds == 1], axis=-1)
        np.testing.assert_allclose(posterior[..., 2:], 0.5 / (n_rows + 1), rtol=1e-12)
    # The odds of the classes that a fold knows stay as they are, and so do folds that know all.
    odds = [s[..., 1] - s[..., 0] for s in (scores, held_out.completed(scores))]
    np.testing.assert_array_equal(*odds)
    other = held_out.folds != 1
    np.testing.assert_array_equal(held_out.completed(scores)[other], scores[other])


def test_of_two_classes_the_one_that_a_fold_lacks_has_the_odds_of_a_label_never_seen():
    labels = np.array([0, 0, 0, 1, 1])
    splits = [(np.arange(3), np.arange(3, 5)), (np.arange(3, 5), np.arange(3))]
    held_out = HeldOut.of(labels, np.ones(5), 2, splits)
    log_odds = held_out.completed(np.zeros((5, 2, 1)))
    np.testing.assert_allclose(log_odds[held_out.folds == 0], -np.log(3))
    np.testing.assert_allclose(log_odds[held_out.folds == 1], np.log(2))
    np.testing.assert_array_equal(held_out.share_scores, log_odds[:, 0])
    assert np.isfinite(held_out.mean(held_out.share_losses))


@pytest.mark.parametrize("n_classes", N_CLASSES)
def test_scores_are_gathered_from_the_fold_that_holds_a_row_out(n_classes):
    labels, weight = labelled_rows(n_classes)
    splits = list(RepeatedKFold(n_splits=3, n_repeats=2, random_state=0).split(labels))
    held_out = HeldOut.of(labels, weight, n_classes, splits)
    by_fold = np.random.default_rng(0).normal(size=(len(splits), len(labels), 2))
    expected = [by_fold[fold, row] for row, fold in zip(held_out.rows, held_out.folds, strict=True)]
    np.testing.assert_array_equal(held_out.gathered(list(by_fold)), expected)


@pytest.mark.parametrize("n_classes", N_CLASSES)
@pytest.mark.parametrize("scoring", SCORINGS)
def test_fold_means_are_those_of_plain_loops_and_of_scikit_learn(n_classes, scoring):
    labels, weight = labelled_rows(n_classes)
    splits = list(StratifiedKFold(3).split(labels, labels))
    held_out = HeldOut.of(labels, weight, n_classes, splits)
    scores = random_scores(held_out)
    found = held_out.fold_means(scores, scoring)
    assert found.shape == (3, scores.shape[1])
    for fold in range(3):
        here = held_out.folds == fold
        for trial in range(scores.shape[1]):
            posterior = np.exp([log_posterior(row) for row in scores[here, trial]])
            expected = scikit_learn_loss(scoring, posterior, held_out.labels[here], held_out.weight[here])
            assert found[fold, trial] == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(held_out.fold_weights, [weight[test].sum() for _, test in splits])


def scikit_learn_loss(scoring, posterior, labels, weight):
    """Return the mean loss of some rows, by scikit-learn for the area under the curve."""
    if scoring == "auc":
        of_two = posterior[:, 1] if posterior.shape[1] == 2 else posterior
        return 1 - roc_auc_score(labels, of_two, multi_class="ovr", sample_weight=weight)
    by_row = {
        "log-loss": -np.log(posterior[np.arange(len(labels)), labels]),
        "brier": np.square(posterior - np.eye(posterior.shape[1])[labels]).sum(axis=1) / 2,
        "zero-one": posterior.argmax(axis=1) != labels,
    }
    return np.average(by_row[scoring], weights=weight)


def test_a_fold_of_one_class_ranks_nothing():
    labels = np.array([0, 1] * 6 + [1] * 4)
    held_out = HeldOut.of(labels, np.ones(16), 2, folds_of(np.repeat([0, 1, 2], [6, 6, 4])))
    assert held_out.fold_means(random_scores(held_out), "auc")[2].tolist() == [0.5] * 4
