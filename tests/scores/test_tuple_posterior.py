"""The posterior of counts of tuples, against draws of these counts and against resampled rows."""

import numpy as np
import pandas as pd
import pytest

from seminaive import AveragedJoinEstimators, NaiveBayes, TreeAugmentedNaiveBayes
from seminaive.errors import ColumnsWarning, TooLargeError, UnavailableError
from seminaive.explain import effects_table
from seminaive.scores import Effects, tree_scores, tuple_posterior
from seminaive.statistics import TupleCounts

N_ROWS, N_DRAWS = 600, 400


def table(n_classes, *, dependent):
    """Return three categories, each of which may depend on the one before, and the classes."""
    rng, shares = np.random.default_rng(n_classes), np.random.default_rng(9)
    labels = rng.integers(0, n_classes, N_ROWS)
    columns, before = [], np.zeros(N_ROWS, dtype=int)
    for n_values in (2, 3, 3):
        given = shares.dirichlet([4.0] * n_values, (n_classes, 3))[labels, before]
        before = (rng.random((N_ROWS, 1)) > given.cumsum(axis=1)).sum(axis=1)
        columns.append(np.array(["u", "v", "w"])[before])
        before = before if dependent else np.zeros(N_ROWS, dtype=int)
    return pd.DataFrame(np.column_stack(columns), columns=["a", "b", "c"]), labels


def shown(values):
    """Return log odds of two classes, or centred scores of more."""
    if values.shape[-1] == 2:
        return values[..., 1:] - values[..., :1]
    return values - values.mean(axis=-1, keepdims=True)


def effects_of(model, scores):
    return Effects.of(scores, model.schema_, model.summary_)


def ratios_of_effects(model, drawn):
    """Yield standard errors over deviations over draws of scores: of the intercept and of each effect."""
    effects, errors = effects_of(model, model.scores_), model.effect_errors()
    of_draws = [effects_of(model, scores) for scores in drawn]
    pairs = [(errors.of_intercept.error, shown(np.stack([draw.intercept for draw in of_draws])))]
    for k, effect in enumerate(effects.features):
        seen = effect.weight > 0
        tables = np.stack([draw.features[k].table for draw in of_draws])
        pairs.append((errors.of_feature(effect).error[seen], shown(tables)[:, seen]))
    for k, effect in enumerate(effects.tuples):
        seen = effect.weight > 0
        tables = np.stack([draw.tuples[k].table for draw in of_draws])
        pairs.append((errors.of_tuple(effect).error[seen], shown(tables)[:, seen]))
    for found, values in pairs:
        yield (found + 1e-6) / (values.std(axis=0) + 1e-6)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_errors_of_a_tree_are_those_of_drawn_counts(n_classes):
    X, y = table(n_classes, dependent=True)
    model = TreeAugmentedNaiveBayes().fit(X, y)
    assert sum(parent is not None for parent in model.parents_.values()) == 2
    counts, rng = model.statistics_.counts, np.random.default_rng(0)
    drawn = []
    for _ in range(N_DRAWS):
        # Gamma variables whose shares have the Dirichlet posterior.
        cells = np.where(counts.terms.known[:, None], rng.gamma(counts.counts + 1.0), 0.0)
        of_classes = rng.gamma(model.statistics_.class_weight)
        drawn.append(tree_scores(TupleCounts(counts.terms, cells), of_classes, model.tree_.parents, 0.0))
    # 400 draws give a deviation to 3.5 % (one standard error), of a hundred of which the worst is 12 % off;
    # the formula is of first order in the errors of the logarithms, and counts are about 30.
    for ratio in ratios_of_effects(model, drawn):
        assert abs(ratio - 1).max() < 0.2
    rows = model.encode(X.iloc[:20])
    found = model.score_posterior(rows)[1]
    scores = np.stack([draw.joint_log_scores(rows) for draw in drawn])
    contrasts = shown(np.eye(n_classes)).T
    deviations = shown(scores).std(axis=0)
    if n_classes == 2:
        np.testing.assert_allclose(np.sqrt(found[:, 0]), deviations, rtol=0.2)
    else:
        variances = np.einsum("kc,ncd,kd->nk", contrasts, found, contrasts)
        np.testing.assert_allclose(np.sqrt(variances), deviations, rtol=0.2)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_errors_of_joined_columns_are_those_of_resampled_rows(n_classes):
    """Weights of an exponential distribution are the Bayesian bootstrap; columns are independent."""
    X, y = table(n_classes, dependent=False)
    model, rng = AveragedJoinEstimators(2, smoothing=0.01).fit(X, y), np.random.default_rng(0)
    drawn = [
        AveragedJoinEstimators(2, smoothing=0.01).fit(X, y, rng.exponential(size=N_ROWS)).scores_
        for _ in range(N_DRAWS)
    ]
    rows = model.encode(X.iloc[:100])
    deviations = shown(np.stack([draw.joint_log_scores(rows) for draw in drawn])).std(axis=0)
    found = model.score_posterior(rows)[1]
    if n_classes == 2:
        errors = np.sqrt(found[:, 0])
    else:
        centre = np.eye(n_classes) - 1 / n_classes
        errors = np.sqrt(np.einsum("kc,ncd,kd->nk", centre, found, centre))
    # Columns are independent in the truth and not in the rows, to the extent of chance: 10 % of the errors.
    ratio = errors / deviations
    assert abs(ratio.mean() - 1) < 0.05
    assert abs(ratio - 1).max() < 0.35
    of_intercept, *of_effects = ratios_of_effects(model, drawn)
    assert abs(of_intercept - 1).max() < 0.35
    for ratio in of_effects:
        assert abs(ratio.mean() - 1) < 0.1
        assert abs(ratio - 1).max() < 0.35


def test_tuples_of_one_column_are_as_uncertain_as_naive_bayes():
    X, y = table(3, dependent=True)
    joined = AveragedJoinEstimators(1, estimates="laplace").fit(X, y)
    naive = NaiveBayes().fit(X, y)
    rows = naive.encode(X)
    # The prior of the one is smoothed by a row.
    np.testing.assert_allclose(joined.score_posterior(rows)[1], naive.score_posterior(rows)[1], atol=2e-4)
    for effect in joined._effects().features:
        of_joined, of_naive = (model.effect_errors().of_feature(effect).error for model in (joined, naive))
        np.testing.assert_allclose(of_joined[:-1], of_naive[:-1], rtol=0.01)


def test_a_tree_without_edges_is_as_uncertain_as_naive_bayes():
    rng = np.random.default_rng(2)
    X, y = pd.DataFrame({"a": rng.choice(["u", "v", "w"], 200)}), rng.integers(0, 2, 200)
    tree, naive = (kind().fit(X, y) for kind in (TreeAugmentedNaiveBayes, NaiveBayes))
    np.testing.assert_allclose(tree.predict_interval(X), naive.predict_interval(X), atol=1e-12)
    np.testing.assert_allclose(
        effects_table(tree, interval=0.9)["upper"][1:4], effects_table(naive, interval=0.9)["upper"][1:4]
    )


@pytest.mark.parametrize(
    "model", [TreeAugmentedNaiveBayes(), AveragedJoinEstimators(2), AveragedJoinEstimators(3)]
)
def test_unseen_values_and_absent_combinations_have_finite_intervals(model):
    X, y = table(2, dependent=True)
    y = np.where(X["a"] == "u", 0, y)  # a value that one class never has
    model.fit(X, y)
    odd = pd.DataFrame({"a": ["never", "u", None], "b": ["u", "never", None], "c": ["v", "w", None]})
    lower, upper = model.predict_interval(odd)
    probability = model.predict_proba(odd)
    assert np.isfinite([lower, upper]).all()
    assert ((lower <= probability) & (probability <= upper)).all()
    # Where nothing is known, the class shares are all there is, and 600 rows tell them.
    assert (upper - lower)[2].max() < 0.1


@pytest.mark.parametrize("model", [TreeAugmentedNaiveBayes(), AveragedJoinEstimators(2)])
def test_a_column_without_values_and_copies_leave_intervals_finite(model):
    X, y = table(2, dependent=True)
    odd = X.assign(empty=None, copied=X["a"], constant="k")
    with pytest.warns(ColumnsWarning):
        model.fit(odd, y)
    assert np.isfinite(model.predict_interval(odd)).all()
    found = effects_table(model, interval=0.95)
    assert np.isfinite(found[["lower", "upper"]].to_numpy()).all()


def test_effects_of_three_columns_together_have_no_errors():
    X, y = table(2, dependent=True)
    with pytest.raises(UnavailableError, match="order 2"):
        effects_table(AveragedJoinEstimators(3).fit(X, y), interval=0.95)


@pytest.mark.parametrize(
    "model", [TreeAugmentedNaiveBayes(smoothing=0), AveragedJoinEstimators(2, smoothing=0)]
)
def test_counts_to_which_nothing_is_added_have_no_posterior(model):
    X, y = table(2, dependent=True)
    with pytest.raises(UnavailableError, match="smoothing"):
        model.fit(X, y).predict_interval(X)


def test_pairs_of_very_many_cells_are_refused(monkeypatch):
    X, y = table(2, dependent=True)
    model = TreeAugmentedNaiveBayes().fit(X, y)
    monkeypatch.setattr(tuple_posterior, "MOST_ENTRIES", 10)
    with pytest.raises(TooLargeError, match="merge"):
        effects_table(model, interval=0.95)
