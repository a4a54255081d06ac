"""The search over strengths and targets: its average, what it is an average of, and its limits."""

import numpy as np
import pytest

from seminaive import NaiveBayesLogisticRegression, NaiveBayesLogisticRegressionCV
from seminaive.models.decided import generator_of
from seminaive.selection.decision import SEARCH
from seminaive.selection.held_out import HeldOut
from seminaive.selection.shrinkage_search import ShrinkageSearch
from seminaive.selection.shrinkage_targets import Shrinkage, n_leading


def mixed_table(n_classes=2, n_rows=120, signal=1.0, seed=0):
    """Two numbers and a category; the first number and the category speak for the class.

    One value of the category is so frequent that it is the reference in every fold.
    """
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=(n_rows, 2)), rng.choice(3, n_rows, p=[0.2, 0.2, 0.6])])
    score = signal * (1.5 * X[:, 0] + (X[:, 2] == 1)) + rng.logistic(size=n_rows)
    return X, np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))


def splits_of(y, n_folds=3):
    fold = np.argsort(np.argsort(y, kind="stable")) % n_folds
    return [(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in range(n_folds)]


def fitted(X, y, sample_weight=None, **options):
    options = {"categorical_features": [2], "cv": splits_of(y), **options}
    return NaiveBayesLogisticRegressionCV(**options).fit(X, y, sample_weight)


def search_of(X, y, **options):
    """Return a search, as the model lays it, before it has tried anything."""
    model = NaiveBayesLogisticRegressionCV(categorical_features=[2], **options)
    rows = model._encode_training(X, y, None)
    return ShrinkageSearch(
        Shrinkage(model._naive_bayes, model._anchor_of, model._options, model._path),
        rows.table,
        rows.labels,
        rows.weights,
        rows.n_classes,
        splits_of(y),
        "log-loss",
        standardized=True,
        n_threads=1,
    )


def averaged_search(X, y, strengths, shares=(0.0, 0.5, 1.0)):
    search = search_of(X, y)
    targets = [search.along(share, strengths) for share in shares]
    return search, targets, search.average(targets, generator_of(0))


def class_shares(y):
    return np.bincount(y) / len(y)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_total_losses_of_trials_are_those_of_models_fitted_by_hand(n_classes):
    X, y = mixed_table(n_classes)
    _, targets, _ = averaged_search(X, y, [30.0, 1.0])
    held_out = HeldOut.of(y, np.ones(len(y)), n_classes, splits_of(y))
    for target in targets:
        for k, strength in enumerate(target.path.strengths):
            scores = np.empty((len(y), n_classes))
            for train, test in splits_of(y):
                by_hand = NaiveBayesLogisticRegression(
                    strength=strength * len(train) / len(y),
                    generative_share=target.share,
                    penalty="l2",
                    categorical_features=[2],
                ).fit(X[train], y[train])
                scores[test] = by_hand.predict_log_proba(X[test])
            columns = scores[:, 1:] - scores[:, :1] if n_classes == 2 else scores
            total = held_out.weight @ held_out.expected_losses(columns[held_out.rows])
            # Folds are solved to 1e-4 of the loss at the target.
            assert target.totals[k] == pytest.approx(total, rel=3e-4)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_trials_and_class_shares_are_weighted_by_their_losses_and_their_prior(n_classes):
    X, y = mixed_table(n_classes, signal=0.3)
    search, targets, answer = averaged_search(X, y, [30.0, 1.0, 0.1])
    held_out = search.held_out
    of_shares = np.exp(-0.5 * held_out.weight @ held_out.share_losses)
    by_trial = {}
    for target in targets:
        for k, strength in enumerate(target.path.strengths):
            # A third of a target's prior each; a decade below 1 is one deviation.
            prior = np.exp(-0.5 * max(-np.log10(strength), 0.0) ** 2) / 3
            by_trial[target.share, k] = prior * np.exp(-0.5 * target.totals[k])
    total = of_shares + sum(by_trial.values())
    most = max(by_trial.values())
    kept = {trial: weight for trial, weight in by_trial.items() if weight >= SEARCH.negligible * most}
    assert {(target.share, k) for target, k in answer.parts} == set(kept)
    for (target, k), weight in zip(answer.parts, answer.decision.weights, strict=True):
        expected = kept[target.share, k] / sum(kept.values())
        assert weight == pytest.approx(expected, rel=1e-6)
    assert (answer.best.share, answer.position) == max(kept, key=kept.get)
    # Trials whose weight is the square of what is negligible are left out before.
    assert answer.decision.fit_share == pytest.approx(1 - of_shares / total, abs=SEARCH.negligible**2)
    assert 0.0 < answer.decision.fit_share < 1.0


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_answer_is_the_mean_of_coefficients_times_the_share(n_classes, before_share):
    X, y = mixed_table(n_classes, signal=0.3)
    strengths = [30.0, 1.0]
    _, _, answer = averaged_search(X, y, strengths)
    model = fitted(X, y, strengths=strengths)
    assert model.fit_share_ == pytest.approx(answer.decision.fit_share, rel=1e-12)
    by_hand = 0.0
    for (target, k), weight in zip(answer.parts, answer.decision.weights, strict=True):
        plain = NaiveBayesLogisticRegression(
            strength=strengths[k], generative_share=target.share, penalty="l2", categorical_features=[2]
        ).fit(X, y)
        by_hand = by_hand + weight * plain.predict_log_proba(X)
    by_hand = np.exp(by_hand) / np.exp(by_hand).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(before_share(model, X, y), by_hand, atol=1e-4)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_fits_held_at_the_class_shares_answer_the_class_shares(n_classes):
    X, y = mixed_table(n_classes)
    model = fitted(X, y, strengths=[1e9], generative_shares=(0.0,))
    np.testing.assert_allclose(model.predict_proba(X), np.tile(class_shares(y), (len(y), 1)), atol=1e-6)


def test_a_strong_signal_leaves_nothing_to_the_class_shares_and_noise_does():
    X, y = mixed_table(n_rows=300, signal=3.0)
    assert fitted(X, y).fit_share_ > 1 - 1e-6
    noise = [fitted(X, np.random.default_rng(seed).permutation(y)).fit_share_ for seed in range(3)]
    assert max(noise) < 0.99


def test_no_penalty_alone_is_averaged_as_it_is():
    X, y = mixed_table()
    model = fitted(X, y, strengths=[0.0], generative_shares=(1.0,))
    free = NaiveBayesLogisticRegression(strength=0.0, categorical_features=[2]).fit(X, y)
    assert model.strength_ == 0.0
    assert model.fit_share_ > 0.99
    np.testing.assert_allclose(model.predict_proba(X), free.predict_proba(X), atol=0.01)


def test_a_target_that_fits_beyond_rounding_is_not_too_weakly_held():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(100, 3)), np.repeat([0, 1], 50)
    X[:, 0] += 12 * y
    model = fitted(X, y, categorical_features=[], generative_shares=(1.0,))
    # There is nothing to leave the target for: strengths of all sizes are far below 1, and fit the same.
    assert model.path_.strength_max < 1e-9
    assert model.fit_share_ > 0.99
    assert model.score(X, y) == 1.0


@pytest.mark.parametrize("selection", ["min", "one-standard-error"])
def test_the_rules_of_the_paper_take_one_trial_whole(selection):
    X, y = mixed_table()
    model = fitted(X, y, selection=selection, penalty="l1", strengths=20)
    assert model.fit_share_ == 1.0
    np.testing.assert_array_equal(model.coefficients_at(model.strength_), model.coefficients_)
    low, high = model.cv_log_loss_interval_
    assert low < model.cv_log_loss_ < high


def test_the_same_seed_gives_the_same_price_and_another_the_same_answer():
    X, y = mixed_table()
    one, again, other = (fitted(X, y, strengths=[30.0, 1.0], random_state=seed) for seed in (3, 3, 4))
    assert one.cv_log_loss_interval_ == again.cv_log_loss_interval_ != other.cv_log_loss_interval_
    np.testing.assert_array_equal(one.coefficients_, other.coefficients_)


def test_strengths_that_were_not_solved_have_no_part_in_an_average():
    X, y = mixed_table()
    search = search_of(X, y, max_steps=1, penalty="l1", target="zero")
    target = search.along(1.0, [1e6, 1e-3])
    assert target.n_solved == 1
    assert not target.is_solved
    assert target.solved_part().is_solved
    assert np.isfinite(search._cost(target)).tolist() == [True, False]
    answer = search.average([target], generator_of(0))
    assert [position for _, position in answer.parts] == [0]


def test_a_path_that_goes_on_has_the_trials_of_both_parts():
    X, y = mixed_table()
    search = search_of(X, y)
    whole = search.along(0.5, [10.0, 1.0, 0.1])
    begin, rest = (search.along(0.5, strengths) for strengths in ([10.0], [1.0, 0.1]))
    joined = begin.then(rest)
    np.testing.assert_array_equal(joined.path.strengths, whole.path.strengths)
    # Solved to 1e-4 from other starts.
    np.testing.assert_allclose(joined.totals, whole.totals, rtol=3e-4)
    assert joined.n_solved == whole.n_solved == 3
    assert all(len(of_fold) == 3 for of_fold in joined.of_folds)


def test_strengths_count_until_the_first_that_was_not_solved():
    for converged, expected in (([True, True], 2), ([True, False, True], 1), ([False], 0), ([], 0)):
        assert n_leading(np.array(converged, dtype=bool)) == expected
