"""The search over strengths: what it prefers, that its two ways agree, where its answers are found again."""

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold

from seminaive import HigherOrderLogisticRegression, HigherOrderLogisticRegressionCV
from seminaive.errors import FoldsWarning, InputError
from seminaive.selection import fold_table, strength_search
from seminaive.selection.decision import SEARCH, SearchPlan
from seminaive.selection.strength_grid import NUMBER_MARGIN, Grid, Strengths
from seminaive.selection.strength_search import StrengthSearch, StrengthTrial

# One trial: the strengths are given, so that fits can be compared.
GIVEN = {"first_ridges": (1.0,), "ridges": (5.0,), "number_shares": (0.1,), "generative_shares": (0.25,)}


def mixed_table(n_classes=2, n_rows=300, seed=0):
    """Two categories that interact, two numbers, and noise; some cells are missing."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.integers(0, 3, (n_rows, 3)), rng.normal(size=(n_rows, 2))]).astype(float)
    scores = rng.normal(size=(3, 3, n_classes))[X[:, 0].astype(int), X[:, 1].astype(int)]
    scores = scores + X[:, 3:4] * rng.normal(size=n_classes) + rng.gumbel(size=(n_rows, n_classes))
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, scores.argmax(axis=1)


def fit(X, y, sample_weight=None, **options):
    model = HigherOrderLogisticRegressionCV(**{"categorical_features": [0, 1, 2], **options})
    return model.fit(X, y, sample_weight)


def search_of(X, y, splits, **options):
    """Return a search before it has tried anything."""
    model = HigherOrderLogisticRegressionCV(**options)
    rows = model._encode_training(X, y, None)
    whole = model._fold_table(rows, rows.table, tuple(splits))
    return StrengthSearch(whole, [whole], max_iter=500)


def test_the_search_prefers_pairs_where_they_matter_and_not_where_they_do_not():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (600, 4))
    noisy = rng.random(600) < 0.1
    exclusive = ((X[:, 0] == X[:, 1]) ^ noisy).astype(int)
    single = ((X[:, 0] == 1) ^ noisy).astype(int)
    models = [
        HigherOrderLogisticRegressionCV(categorical_features="all").fit(X, y) for y in (exclusive, single)
    ]
    assert models[0].ridge_[1] < models[1].ridge_[1]
    assert models[0].score(X, exclusive) > 0.85


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_chosen_strengths_have_the_least_log_loss_of_all_tried(n_classes):
    # Losses are known up to a precision, and a weaker ridge of numbers must win by a margin.
    X, y = mixed_table(n_classes)
    model = fit(X, y)
    results = model.cv_results_
    chosen = (results["ridge"] == model.ridge_).all(axis=1)
    chosen &= results["number_ridge"] == model.number_ridge_
    chosen &= results["generative_share"] == model.generative_share_
    slack = 1 + NUMBER_MARGIN + SEARCH.precision
    assert results["log_loss"][chosen].item() <= slack * results["log_loss"].min()


def test_numbers_with_large_opposite_coefficients_get_a_weaker_ridge():
    rng = np.random.default_rng(0)
    common = rng.normal(size=400)
    X = np.column_stack([common + 0.05 * rng.normal(size=400), common])
    y = (X[:, 0] - X[:, 1] > 0).astype(int)
    # The ridge of single features is given, or the search would weaken both.
    model = HigherOrderLogisticRegressionCV(first_ridges=(1.0,)).fit(X, y)
    assert model.number_ridge_ < model.ridge_[0]
    held_back = HigherOrderLogisticRegressionCV(first_ridges=(1.0,), number_shares=(1.0,)).fit(X, y)
    assert held_back.number_ridge_ == held_back.ridge_[0]
    assert model.cv_results_["log_loss"].min() < held_back.cv_results_["log_loss"].min()


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("order", [1, 2, 3])
def test_coefficients_of_rows_and_of_cells_find_the_same_model(monkeypatch, n_classes, order, before_share):
    X, y = mixed_table(n_classes, n_rows=200)
    options = {"order": order, "tol": 1e-8, **GIVEN}
    few = fit(X, y, **options)
    monkeypatch.setattr(fold_table, "FEW_ROWS", 0)
    many = fit(X, y, **options)
    assert few.objective_ == pytest.approx(many.objective_, rel=1e-8)
    # One trial has no rival, so that its folds, which find the share, are not fitted to the end.
    np.testing.assert_allclose(before_share(few, X, y), before_share(many, X, y), atol=1e-5)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("hierarchical", [True, False])
def test_the_model_without_a_search_finds_the_same_with_the_same_strengths(
    n_classes, hierarchical, before_share
):
    X, y = mixed_table(n_classes, n_rows=1500)
    searched = fit(X, y, hierarchical=hierarchical, bins=5, tol=1e-8, **GIVEN)
    plain = HigherOrderLogisticRegression(
        ridge=searched.ridge_,
        number_ridge=searched.number_ridge_,
        generative_share=searched.generative_share_,
        hierarchical=hierarchical,
        bins=5,
        tol=1e-8,
        categorical_features=[0, 1, 2],
    ).fit(X, y)
    assert searched.objective_ == pytest.approx(plain.objective_, rel=1e-8)
    np.testing.assert_allclose(before_share(searched, X, y), plain.predict_proba(X), atol=1e-5)


def test_held_out_losses_are_those_of_models_that_never_saw_the_rows():
    X, y = mixed_table(3, n_rows=1500)
    X = X[:, :3]  # no cut points, which folds share
    splits = list(StratifiedKFold(3).split(X, y))
    searched = fit(X, y, cv=splits, **(GIVEN | {"generative_shares": (0.0,)}))
    losses = []
    for train, test in splits:
        model = HigherOrderLogisticRegression(
            ridge=(1.0, 5.0), hierarchical=True, categorical_features="all", tol=1e-6
        ).fit(X[train], y[train])
        losses.append(-model.predict_log_proba(X[test])[np.arange(len(test)), y[test]])
    # Fits of folds end a millionth of their loss above its minimum.
    assert searched.cv_results_["log_loss"].item() == pytest.approx(np.concatenate(losses).mean(), rel=1e-3)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("n_rows", [300, 1500])
@pytest.mark.parametrize("share", [0.0, 0.5])
def test_folds_are_pulled_to_the_estimate_of_their_training_rows_alone(monkeypatch, n_rows, n_classes, share):
    monkeypatch.setattr(strength_search, "SEARCH", SearchPlan(precision=1e-6))
    rng = np.random.default_rng(0)
    # Frequent and rare values, so that some pairs of values are in held-out rows alone; classes of unequal
    # size, for which an estimate of such pairs would speak.
    X = np.minimum(rng.geometric(0.3, (n_rows, 3)) - 1, 8)
    y = ((X[:, 0] + X[:, 1]) % 4 % n_classes) * (rng.random(n_rows) < 0.8)
    splits = list(StratifiedKFold(3).split(X, y))
    losses, pairs_held_out_alone = [], 0
    for train, test in splits:
        assert all(set(X[train, j]) == set(X[:, j]) for j in range(3))
        pairs_held_out_alone += len({*map(tuple, X[test, :2])} - {*map(tuple, X[train, :2])})
        model = HigherOrderLogisticRegression(
            ridge=(1.0, 5.0), generative_share=share, hierarchical=True, categorical_features="all", tol=1e-8
        ).fit(X[train], y[train])
        losses.append(-model.predict_log_proba(X[test])[np.arange(len(test)), y[test]])
    assert pairs_held_out_alone
    search = search_of(X, y, splits, categorical_features="all")
    assert (search.whole.space is not search.whole.design) == (n_rows == 300)
    # An excess of 1e-12 of the loss leaves coefficients right to about six digits.
    trial = search.trial(Strengths((1.0, 5.0), 1.0, share))
    found = float(search.held_out.mean(search.held_out.losses(trial.scores)))
    assert found == pytest.approx(np.concatenate(losses).mean(), rel=1e-6)


@pytest.mark.parametrize(("margins", "number_share"), [(0.5, 1.0), (2.0, 0.1)])
def test_a_weaker_ridge_of_numbers_must_win_by_the_margin(monkeypatch, margins, number_share):
    X, y = mixed_table(n_rows=60)
    saved = margins * NUMBER_MARGIN

    def known_trial(self, strengths):
        weaker = strengths.number_ridge < strengths.ridge[0]
        made = StrengthTrial(strengths, None, None, loss=1 - saved if weaker else 1.0)
        return self.trials.setdefault(strengths, made)

    monkeypatch.setattr(StrengthSearch, "trial", known_trial)
    search = search_of(X, y, list(StratifiedKFold(3).split(X, y)), categorical_features=[0, 1, 2])
    search.run(Grid.of((0.1, 1.0, 10.0), (1.0, 5.0), (0.1, 1.0), (0.0, 0.5), 2, hierarchical=True))
    # The climb over shares follows, from the ridge of numbers that won.
    chosen = next(strengths for strengths in search.trials if strengths.share == 0.5)
    assert chosen.number_ridge == pytest.approx(number_share * chosen.ridge[0])


@pytest.mark.parametrize("n_rows", [300, 1500])
def test_the_search_does_not_depend_on_threads(n_rows):
    X, y = mixed_table(3, n_rows)
    one, two = (fit(X, y, n_jobs=jobs) for jobs in (1, 2))
    assert one.ridge_ == two.ridge_
    assert np.array_equal(one.scores_.tables, two.scores_.tables)


@pytest.mark.parametrize("n_rows", [60, 1200])
def test_separable_classes_and_a_class_of_one_row_have_an_answer(n_rows):
    X = np.arange(n_rows)[:, None] % 4
    y = (X[:, 0] > 1).astype(int)
    y[0] = 2
    with pytest.warns(FoldsWarning, match=r"\(2 in (6 of 30|2 of 10) folds\)"):
        model = HigherOrderLogisticRegressionCV(categorical_features="all").fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()
    assert model.score(X, y) > 0.9


def test_zero_weights_shift_no_split():
    X, y = mixed_table()
    weight = np.ones(len(y))
    weight[::7] = 0
    kept = weight > 0
    splits = list(StratifiedKFold(3).split(X, y))
    moved = np.cumsum(kept) - 1
    among_kept = [(moved[train[kept[train]]], moved[test[kept[test]]]) for train, test in splits]
    with_zeros = fit(X, y, weight, cv=splits)
    without = fit(X[kept], y[kept], cv=among_kept)
    np.testing.assert_allclose(
        with_zeros.cv_results_["log_loss"], without.cv_results_["log_loss"], rtol=1e-10
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cv": 1}, "at least 2 folds"),
        ({"cv": 2.5}, "at least 2 folds"),
        ({"cv": "five"}, "cv is 'auto', a number of folds"),
        ({"cv": object()}, "a splitter or splits"),
        ({"cv": []}, "cv gives no fold"),
        ({"ridges": ()}, "ridges is a list of numbers"),
        ({"first_ridges": (-1.0,)}, "first_ridges is a list of numbers"),
        ({"number_shares": (-1.0,)}, "number_shares is a list of numbers"),
        ({"tol": 0}, "tol is a positive number"),
    ],
)
def test_bad_parameters_of_the_search_are_refused_with_a_sentence(options, message):
    X, y = mixed_table(n_rows=50)
    with pytest.raises(InputError, match=message):
        fit(X, y, **options)


@pytest.mark.parametrize("number_ridge", [-1.0, "weak"])
def test_a_ridge_of_numbers_is_no_negative_number(number_ridge):
    X, y = mixed_table(n_rows=50)
    with pytest.raises(InputError, match="number_ridge is None or a number"):
        HigherOrderLogisticRegression(number_ridge=number_ridge, hierarchical=True).fit(X, y)
