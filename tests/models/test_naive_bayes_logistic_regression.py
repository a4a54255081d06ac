"""Laws of logistic regression shrunk toward naive Bayes."""

import numpy as np
import pandas as pd
import pytest
from sklearn import clone, config_context
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, cross_validate

from seminaive import (
    NaiveBayes,
    NaiveBayesLogisticRegression,
    NaiveBayesLogisticRegressionCV,
    load_model,
    save_model,
)
from seminaive.errors import ConvergenceWarning, FoldsWarning, InputError
from seminaive.objective.log_loss import POINTWISE
from seminaive.selection import shrinkage_search
from seminaive.selection.decision import SearchPlan
from seminaive.selection.fold_losses import FoldLosses
from seminaive.selection.folds import stratified_folds

# The rules of the paper: one strength of one penalised fit, instead of an average of ridge fits.
PAPER = {"selection": "min", "penalty": "l1"}


def mixed_table(n_classes=2, n_rows=300, seed=0):
    """Two numbers (one with missing cells), two columns of words (one with missing cells)."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "height": rng.normal(170, 10, n_rows),
            "dose": rng.exponential(size=n_rows),
            "sky": rng.choice(["dry", "wet", "snow"], n_rows, p=[0.5, 0.3, 0.2]),
            "wind": rng.choice(["calm", "storm"], n_rows, p=[0.7, 0.3]),
        }
    )
    score = (X["height"] - 170) / 10 + X["dose"] + (X["sky"] == "wet") + rng.logistic(size=n_rows)
    y = np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))
    X.loc[rng.random(n_rows) < 0.1, "dose"] = np.nan
    X.loc[rng.random(n_rows) < 0.1, "wind"] = None
    return X, np.array(["low", "mid", "top", "peak"])[y]


@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize("missing", ["value", "neutral"])
def test_a_strength_beyond_strength_max_is_naive_bayes(n_classes, missing):
    X, y = mixed_table(n_classes)
    naive = NaiveBayes(missing=missing).fit(X, y)
    model = NaiveBayesLogisticRegression(strength=1e9, missing=missing).fit(X, y)
    # Sums in another order: rounding only.
    np.testing.assert_allclose(model.predict_proba(X), naive.predict_proba(X), atol=1e-10)
    at_max = NaiveBayesLogisticRegression(strength=model.path_.strength_max, missing=missing).fit(X, y)
    np.testing.assert_allclose(at_max.predict_proba(X), naive.predict_proba(X), atol=1e-10)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_strength_zero_is_unpenalised_logistic_regression(n_classes):
    X, y = mixed_table(n_classes)
    X = X.dropna()
    y = y[X.index]
    dummies = pd.get_dummies(X, drop_first=True, dtype=float)
    scaled = (dummies - dummies.mean()) / dummies.std()
    theirs = LogisticRegression(C=np.inf, tol=1e-10, max_iter=5000).fit(scaled, y)
    ours = NaiveBayesLogisticRegression(strength=0).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(scaled), atol=1e-6)


def test_between_the_limits_coefficients_go_from_naive_bayes_to_maximum_likelihood():
    X, y = mixed_table()
    frame = NaiveBayesLogisticRegression(strength=3.0).fit(X, y).shrinkage_
    assert list(frame.columns) == ["coefficient", "target", "fitted", "maximum_likelihood", "share"]
    assert frame["coefficient"].tolist() == [
        "intercept", "height", "dose", "sky=snow", "sky=wet", "wind=storm", "wind=missing",
    ]  # fmt: skip
    assert (frame["fitted"] == frame["target"]).any()
    assert (frame["fitted"] != frame["target"]).any()
    assert frame["share"].between(-1e-9, 1).all()
    many = NaiveBayesLogisticRegression(strength=3.0).fit(*mixed_table(3)).shrinkage_
    assert many["class"].tolist()[:3] == ["low", "mid", "top"]


def test_a_zero_target_with_a_free_intercept_is_the_lasso():
    X, y = mixed_table()
    numbers = X[["height", "dose"]].fillna(1.0)
    ours = NaiveBayesLogisticRegression(
        target="zero", strength=5.0, penalize_intercept=False, standardize=False, tol=3e-5
    )
    ours.fit(numbers, y)
    centred = numbers - numbers.mean()
    theirs = LogisticRegression(
        l1_ratio=1.0, C=1 / 5.0, solver="saga", tol=1e-10, max_iter=100_000, random_state=0
    )
    theirs.fit(centred, y)
    np.testing.assert_allclose(ours.coefficients_[1:], theirs.coef_[0], atol=1e-5)


def test_an_array_target_is_where_a_large_strength_stays():
    X, y = mixed_table()
    last_year = NaiveBayesLogisticRegression(strength=2.0).fit(X, y)
    again = NaiveBayesLogisticRegression(strength=1e9, target=last_year.coefficients_).fit(X, y)
    assert np.array_equal(again.coefficients_, last_year.coefficients_)
    complete = X.dropna()
    np.testing.assert_allclose(again.predict_proba(complete), last_year.predict_proba(complete), atol=1e-10)


@pytest.mark.parametrize("penalty", ["l2", 0.5])
@pytest.mark.parametrize("standardize", [False, True])
def test_other_penalties_and_scales_have_certified_solutions(penalty, standardize):
    X, y = mixed_table(3)
    model = NaiveBayesLogisticRegression(strength=2.0, penalty=penalty, standardize=standardize).fit(X, y)
    assert model.path_.converged.all()
    assert np.isfinite(model.predict_proba(X)).all()


def test_renaming_categories_and_classes_renames_the_answer():
    X, y = mixed_table(3)
    renamed = X.assign(sky=X["sky"].map({"dry": "z", "wet": "a", "snow": "k"}))
    classes = {"low": "c", "mid": "a", "top": "b"}
    other = np.array([classes[label] for label in y])
    a = NaiveBayesLogisticRegression(tol=3e-5).fit(X, y).predict_proba(X)
    b = NaiveBayesLogisticRegression(tol=3e-5).fit(renamed, other).predict_proba(renamed)
    np.testing.assert_allclose(b[:, [2, 0, 1]], a, atol=1e-6)


def test_a_column_of_zeros_and_ones_enters_as_it_is():
    rng = np.random.default_rng(0)
    X = (rng.random((100, 2)) < 0.8).astype(int)
    y = (rng.random(100) < 0.3 + 0.4 * X[:, 0]).astype(int)
    model = NaiveBayesLogisticRegression(categorical_features="all").fit(X, y)
    assert model.coefficient_names_ == ["intercept", "x0=1", "x1=1"]


def test_an_unseen_category_gets_the_mean_contribution_of_its_column():
    X, y = mixed_table()
    model = NaiveBayesLogisticRegression(strength=1.0).fit(X, y)
    seen = model.contributions(X)["sky"].mean()
    unseen = model.contributions(X.head(1).assign(sky="fog"))["sky"].iloc[0]
    assert unseen == pytest.approx(seen, abs=1e-12)


def test_the_fitted_scores_are_the_coefficients_times_the_columns():
    X, y = mixed_table()
    X = X.dropna()
    y = y[X.index]
    model = NaiveBayesLogisticRegression(strength=1.0).fit(X, y)
    columns = {"intercept": 1.0, "height": X["height"], "dose": X["dose"]}
    score = np.zeros(len(X))
    for name, value in zip(model.coefficient_names_, model.coefficients_, strict=True):
        if name in columns:
            score += value * columns[name]
        else:
            column, _, category = name.partition("=")
            score += value * (X[column] == category)
    np.testing.assert_allclose(model.decision_function(X), score, atol=1e-9)


class TestCrossValidation:
    @pytest.mark.parametrize("penalty", ["l1", "l2"])
    def test_it_is_the_plain_model_at_the_chosen_strength(self, penalty):
        X, y = mixed_table()
        chosen = NaiveBayesLogisticRegressionCV(strengths=30, selection="min", penalty=penalty).fit(X, y)
        plain = NaiveBayesLogisticRegression(
            strength=chosen.strength_, generative_share=chosen.generative_share_, penalty=penalty
        ).fit(X, y)
        assert chosen.fit_share_ == 1.0
        np.testing.assert_allclose(chosen.coefficients_, plain.coefficients_, atol=1e-4)

    def test_fold_losses_are_those_of_models_fitted_by_hand(self):
        X, y = mixed_table()
        folds = stratified_folds(np.unique(y, return_inverse=True)[1], 4, np.random.RandomState(3))
        splits = [(np.flatnonzero(folds != f), np.flatnonzero(folds == f)) for f in range(4)]
        options = {"strengths": [1.0, 20.0], "cv": splits, "scoring": "brier", **PAPER}
        model = NaiveBayesLogisticRegressionCV(**options).fit(X, y)
        assert list(model.trials_) == [0.0, 0.5, 1.0]
        for share, trial in model.trials_.items():
            for k, strength in enumerate(trial.strengths):
                for f, (train, test) in enumerate(splits):
                    by_hand = NaiveBayesLogisticRegression(
                        strength=strength * len(train) / len(y), generative_share=share
                    )
                    by_hand.fit(X.iloc[train], y[train])
                    p = by_hand.predict_proba(X.iloc[test])[:, 1]
                    loss = np.mean((p - (y[test] == by_hand.classes_[1])) ** 2)
                    # Folds are solved to 1e-4 of the loss at the target.
                    assert trial.losses[f, k] == pytest.approx(loss, abs=2e-4)

    def test_threads_do_not_change_the_result(self):
        X, y = mixed_table(3)
        one = NaiveBayesLogisticRegressionCV(strengths=20, n_jobs=1).fit(X, y)
        two = NaiveBayesLogisticRegressionCV(strengths=20, n_jobs=2).fit(X, y)
        assert np.array_equal(one.fold_losses_.losses, two.fold_losses_.losses)
        assert np.array_equal(one.coefficients_, two.coefficients_)

    def test_naive_bayes_data_choose_a_strong_pull_and_copied_columns_a_weak_one(self):
        rng = np.random.default_rng(0)
        y = np.arange(400) % 2
        X = (rng.random((400, 8)) < np.where(y, 0.65, 0.35)[:, None]).astype(int)
        model = NaiveBayesLogisticRegressionCV(categorical_features="all", **PAPER)
        naive, copied = clone(model).fit(X, y), clone(model).fit(np.repeat(X, 4, axis=1), y)
        assert naive.strength_ > 0.1 * naive.path_.strength_max
        assert copied.strength_ < 0.1 * copied.path_.strength_max

    @pytest.mark.parametrize("scoring", list(POINTWISE))
    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_every_loss_and_the_one_standard_error_rule(self, scoring, n_classes):
        X, y = mixed_table(n_classes)
        least = NaiveBayesLogisticRegressionCV(strengths=20, scoring=scoring, selection="min").fit(X, y)
        cautious = NaiveBayesLogisticRegressionCV(
            strengths=20, scoring=scoring, selection="one-standard-error"
        ).fit(X, y)
        assert cautious.strength_ >= least.strength_
        # Folds are solved to 1e-4.
        assert least.fold_losses_.mean.min() == pytest.approx(
            least.fold_losses_.mean[list(least.path_.strengths).index(least.strength_)], rel=1e-4
        )

    def test_a_tie_goes_to_the_larger_strength(self):
        folds = FoldLosses(np.array([4.0, 2.0, 1.0]), np.array([[0.3, 0.2, 0.2]]), np.ones(1))
        assert folds.choose("min") == 1

    def test_losses_that_differ_by_less_than_the_folds_were_solved_to_are_a_tie(self):
        losses = np.array([[0.3, 0.200009, 0.2]])
        assert FoldLosses(np.array([4.0, 2.0, 1.0]), losses, np.ones(1), tol=1e-4).choose("min") == 1
        assert FoldLosses(np.array([4.0, 2.0, 1.0]), losses, np.ones(1), tol=1e-5).choose("min") == 2
        X, y = mixed_table()
        assert NaiveBayesLogisticRegressionCV(strengths=5).fit(X, y).fold_losses_.tol == 1e-6

    def test_weights_are_copies_of_rows_at_strengths_divided_by_their_mean(self):
        X, y = mixed_table()
        X = X[["height", "dose"]].fillna(1.0)  # smoothing counts rows, so categories would know the number
        copies = np.random.default_rng(1).integers(1, 4, len(y))
        folds = np.arange(len(y)) % 5
        repeated = np.repeat(np.arange(len(y)), copies)

        def fitted(rows, weights, strengths):
            splits = [(np.flatnonzero(folds[rows] != f), np.flatnonzero(folds[rows] == f)) for f in range(5)]
            model = NaiveBayesLogisticRegressionCV(
                strengths=strengths, cv=splits, tol=3e-5, generative_shares=(1.0,), selection="min"
            )
            # Folds are solved as exactly as the path, so that weights and copies are the same problem.
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(shrinkage_search, "SEARCH", SearchPlan(precision=3e-5))
                return model.fit(X.iloc[rows], y[rows], sample_weight=weights)

        mean, strengths = copies.mean(), np.array([0.5, 5.0, 50.0])
        # Half of whole numbers are not whole, and their scale says nothing.
        weighted = fitted(np.arange(len(y)), copies / 2, strengths / mean)
        copied = fitted(repeated, None, strengths)
        of_folds = weighted.fold_losses_.fold_weights * mean
        np.testing.assert_allclose(of_folds, copied.fold_losses_.fold_weights, rtol=1e-12)
        # Both are solved to 1e-9 of strength_max; the least curvature is of the order of 1e-2 of it.
        np.testing.assert_allclose(weighted.fold_losses_.losses, copied.fold_losses_.losses, atol=1e-7)
        np.testing.assert_allclose(weighted.coefficients_, copied.coefficients_, atol=1e-5)
        assert weighted.strength_ * mean == pytest.approx(copied.strength_, rel=1e-12)

    def test_weights_times_a_number_are_the_same_problem(self):
        X, y = mixed_table()
        weight = np.random.default_rng(1).uniform(0.5, 3.0, len(y))
        one = NaiveBayesLogisticRegressionCV(strengths=30).fit(X, y, sample_weight=weight)
        half = NaiveBayesLogisticRegressionCV(strengths=30).fit(X, y, sample_weight=weight / 2)
        assert half.strength_ == one.strength_
        # Halving is exact.
        np.testing.assert_array_equal(half.fold_losses_.losses, one.fold_losses_.losses)

    def test_the_best_strength_is_never_the_last_one_tried_but_for_no_penalty(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(500, 6))
        y = (X[:, 0] + rng.logistic(size=500) > 0).astype(int)
        X[:, 1:5] = X[:, :1] + 0.1 * rng.normal(size=(500, 4))  # naive Bayes counts these five times
        X[:, 5] = 1e6 * (X[:, 0] + rng.normal(size=500))  # its derivative sets strength_max, far too high
        raw = {"standardize": False, "generative_shares": (1.0,), "selection": "min", "penalty": "l1"}
        short = NaiveBayesLogisticRegressionCV(extend=False, **raw).fit(X, y)
        longer = NaiveBayesLogisticRegressionCV(**raw).fit(X, y)
        assert longer.strength_ < short.path_.strengths[-1]
        assert longer.path_.strengths[-1] == 0.0
        assert longer.fold_losses_.mean.min() < 0.9 * short.fold_losses_.mean.min()
        assert np.array_equal(longer.fold_losses_.strengths, longer.path_.strengths)

    def test_the_target_itself_and_no_penalty_are_candidates(self):
        X, y = mixed_table()
        trials = NaiveBayesLogisticRegressionCV().fit(X, np.random.default_rng(0).permutation(y)).trials_
        shares = np.unique(y, return_counts=True)[1] / len(y)
        # In every fold the strongest trial is the class shares of nine tenths of the rows.
        assert trials[0.0].mean[0] == pytest.approx(-shares @ np.log(shares), abs=1e-3)
        tumours, labels = load_breast_cancer(return_X_y=True)
        free = NaiveBayesLogisticRegressionCV(strengths=[0.0], generative_shares=(1.0,))
        assert free.fit(tumours[:, :3], labels).strength_ == 0.0

    def test_both_choices_of_one_fit_are_kept_with_coefficients_at_any_strength(self):
        X, y = mixed_table()
        model = NaiveBayesLogisticRegressionCV(strengths=30, **PAPER).fit(X, y)
        cautious = clone(model).set_params(selection="one-standard-error").fit(X, y)
        assert model.strength_ == model.best_strength_
        assert cautious.strength_ == cautious.one_standard_error_strength_ >= cautious.best_strength_
        assert cautious.best_strength_ == model.best_strength_
        assert np.array_equal(model.coefficients_at(model.best_strength_), model.coefficients_)
        assert np.array_equal(
            model.coefficients_at(cautious.one_standard_error_strength_), cautious.coefficients_
        )
        high, low = model.path_.strengths[10:12]
        between = model.coefficients_at((high + low) / 2)
        exact = NaiveBayesLogisticRegression(
            strength=(high + low) / 2, generative_share=model.generative_share_
        ).fit(X, y)
        np.testing.assert_allclose(between, exact.coefficients_, atol=0.02)  # neighbours differ by up to 0.1
        with pytest.raises(InputError, match="the path goes down to a strength of"):
            model.coefficients_at(-1.0)

    def test_groups_reach_the_splitter(self):
        X, y = mixed_table()
        groups = np.repeat(np.arange(6), 50)
        model = NaiveBayesLogisticRegressionCV(strengths=5, cv=GroupKFold(3)).fit(X, y, groups=groups)
        by_hand = list(GroupKFold(3).split(X, y, groups))
        again = NaiveBayesLogisticRegressionCV(strengths=5, cv=by_hand).fit(X, y)
        assert np.array_equal(model.fold_losses_.losses, again.fold_losses_.losses)
        with config_context(enable_metadata_routing=True):
            routed = NaiveBayesLogisticRegressionCV(strengths=5, cv=GroupKFold(3))
            routed.set_fit_request(groups=True)
            found = cross_validate(routed, X, y, cv=2, params={"groups": groups}, error_score="raise")
        assert np.isfinite(found["test_score"]).all()

    def test_a_class_of_one_row_is_no_obstacle(self):
        X, y = load_iris(return_X_y=True)
        y = y.copy()
        y[0] = 7
        with pytest.warns(FoldsWarning, match=r"\(7 in 1 of 5 folds\)"):
            model = NaiveBayesLogisticRegressionCV(strengths=10).fit(X, y)
        assert np.isfinite(model.fold_losses_.losses).all()
        assert np.isfinite(model.predict_proba(X)).all()


class TestTrust:
    @staticmethod
    def excesses(kind, n_rows, n_columns):
        """Return by how much the log loss on new rows of pure noise exceeds that of the class shares."""
        found = []
        for seed in range(10):
            rng = np.random.default_rng(seed)
            shape = (n_rows + 2000, n_columns)
            X = rng.normal(size=shape) if kind == "numbers" else rng.integers(0, 4, shape).astype(str)
            y = rng.integers(0, 2, len(X))
            model = NaiveBayesLogisticRegressionCV().fit(X[:n_rows], y[:n_rows])
            shares = np.bincount(y[:n_rows]) / n_rows
            new = y[n_rows:]
            loss = -model.predict_log_proba(X[n_rows:])[np.arange(len(new)), new].mean()
            found.append(loss + np.log(shares)[new].mean())
        return np.array(found)

    @pytest.mark.parametrize("table", [("numbers", 200, 30), ("categories", 200, 12)], ids=str)
    def test_noise_costs_at_most_five_thousandths_over_the_class_shares(self, table):
        found = self.excesses(*table)
        assert found.mean() <= 0.005
        assert found.max() <= 0.02

    @pytest.mark.slow
    @pytest.mark.parametrize("table", [("numbers", 1000, 30), ("numbers", 2000, 60)], ids=str)
    def test_noise_of_a_thousand_rows_costs_at_most_five_thousandths_in_the_worst_case(self, table):
        assert self.excesses(*table).max() <= 0.005

    @pytest.mark.parametrize("estimator", [NaiveBayesLogisticRegression, NaiveBayesLogisticRegressionCV])
    @pytest.mark.parametrize(("factor", "shift"), [(1000.0, 0.0), (1e-3, 0.0), (1.0, 1e4), (-7.0, 3.0)])
    def test_units_of_a_number_change_no_probability(self, estimator, factor, shift):
        X, y = mixed_table()
        plain = estimator().fit(X, y).predict_proba(X)
        moved = X.assign(height=X["height"] * factor + shift)
        # Solved to 1e-6 of the loss at the target.
        np.testing.assert_allclose(estimator().fit(moved, y).predict_proba(moved), plain, atol=1e-5)

    def test_a_share_of_naive_bayes_is_the_target_of_a_large_strength(self):
        X, y = mixed_table(3)
        none = NaiveBayesLogisticRegression(strength=1e9, generative_share=0.0).fit(X, y).predict_proba(X)
        shares = np.unique(y, return_counts=True)[1] / len(y)
        np.testing.assert_allclose(none, np.tile(shares, (len(y), 1)), atol=1e-10)
        half = NaiveBayesLogisticRegression(strength=1e9, generative_share=0.5).fit(X, y)
        naive = NaiveBayes().fit(X, y)
        evidence = naive.predict_log_proba(X) - np.log(shares)
        expected = np.exp(np.log(shares) + evidence / 2)
        expected /= expected.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(half.predict_proba(X), expected, atol=1e-10)

    def test_a_share_of_the_way_is_given_only_between_target_and_maximum_likelihood(self):
        X, y = load_breast_cancer(return_X_y=True)
        frame = NaiveBayesLogisticRegression(strength=20.0).fit(X[:, :8], y).shrinkage_
        low = frame[["target", "maximum_likelihood"]].min(axis=1)
        high = frame[["target", "maximum_likelihood"]].max(axis=1)
        inside = frame["fitted"].between(low - 1e-9, high + 1e-9)
        assert 0 < inside.sum() < len(frame)
        assert frame["share"].notna().equals(inside)


def test_a_saved_model_predicts_the_same(tmp_path):
    X, y = mixed_table(3)
    for model in (NaiveBayesLogisticRegression(), NaiveBayesLogisticRegressionCV(strengths=5)):
        model.fit(X, y)
        save_model(model, tmp_path / "model.skops")
        again = load_model(tmp_path / "model.skops")
        assert np.array_equal(again.predict_proba(X), model.predict_proba(X))


def test_path_curves_are_the_path_and_the_test_losses():
    X, y = mixed_table()
    model = NaiveBayesLogisticRegressionCV(strengths=10).fit(X, y)
    curves, positive = model.path_curves(), model.path_.strengths > 0
    assert curves.names == tuple(model.coefficient_names_)
    np.testing.assert_array_equal(curves.curves, model.path_.coefficients[positive, :, -1])
    losses, positive = model.path_curves("test loss"), model.fold_losses_.strengths > 0
    np.testing.assert_array_equal(losses.curves[:, 0], model.fold_losses_.mean[positive])
    np.testing.assert_array_equal(losses.error, model.fold_losses_.standard_error[positive])
    assert losses.y_label == "test loss (log-loss)"
    assert curves.chosen == losses.chosen == max(model.strength_, curves.x.min())
    with pytest.raises(InputError, match="what is one of coefficients, test loss"):
        model.path_curves("alphas")
    with pytest.raises(InputError, match="what is one of coefficients, got 'test loss'"):
        NaiveBayesLogisticRegression().fit(X, y).path_curves("test loss")


def test_bad_parameters_are_refused_with_a_sentence():
    X, y = mixed_table()
    for parameters, words in (
        ({"strength": -1}, "strength is a finite number"),
        ({"penalty": "l3"}, "penalty is 'l1', 'l2'"),
        ({"target": "mean"}, "target is 'naive-bayes', 'zero'"),
        ({"target": np.ones(3)}, "one finite value per coefficient"),
        ({"smoothing": 0}, "smoothing is a positive count"),
        ({"tol": 0}, "tol is a positive share"),
        ({"max_steps": 0}, "max_steps is a whole number"),
        ({"variance_floor": 2}, "variance_floor is a share"),
        ({"standardize": "no"}, "standardize is True or False, got 'no'"),
        ({"penalize_intercept": 1}, "penalize_intercept is True or False"),
    ):
        with pytest.raises(InputError, match=words):
            NaiveBayesLogisticRegression(**parameters).fit(X, y)
    for parameters, words in (
        ({"scoring": "auc"}, "scoring is one of"),
        ({"selection": "max"}, "selection is one of 'average'"),
        ({"scoring": "brier"}, "an average is weighted by the likelihood of held-out rows"),
        ({"cv": 1}, "at least 2 folds"),
        ({"strengths": 0}, "positive number of them"),
        ({"generative_shares": 1.0}, "generative_shares is a sequence"),
        ({"generative_shares": (0.0, 2.0)}, "each of generative_shares is a share"),
    ):
        with pytest.raises(InputError, match=words):
            NaiveBayesLogisticRegressionCV(**parameters).fit(X, y)


def test_weights_too_large_are_refused_with_what_to_do_about_the_strength():
    X, y = mixed_table()
    with pytest.raises(InputError, match="by one number, and a penalty's strength"):
        NaiveBayesLogisticRegression().fit(X, y, sample_weight=np.full(len(y), 1e16))


def test_stopping_short_is_a_warning_with_numbers():
    X, y = mixed_table()
    with pytest.warns(ConvergenceWarning, match="strengths stopped short"):
        NaiveBayesLogisticRegression(strength=0.1, max_steps=1).fit(X, y)


@pytest.mark.parametrize("options", [{}, PAPER], ids=["average", "paper"])
def test_classes_that_naive_bayes_separates_beyond_rounding_are_no_reason_to_warn(options):
    rng = np.random.default_rng(1)
    X, labels = rng.normal(size=(100, 3)), np.repeat([0, 1], 50)
    X[:, 0] += 12 * labels
    # Warnings are errors here.
    model = NaiveBayesLogisticRegressionCV(generative_shares=(1.0,), **options).fit(X, labels)
    assert model.path_.deviance.max() < 1e-12
    assert model.path_.converged.all()
    assert np.isfinite(model.path_.gap).all()
    assert model.score(X, labels) == 1.0


@pytest.mark.parametrize("seed", [0, 8, 11])
def test_a_search_over_numbers_of_many_magnitudes_tries_and_chooses_solved_strengths_alone(seed):
    rng = np.random.default_rng([seed, 600, 3])
    X = rng.standard_cauchy((600, 3))
    labels = (X[:, 0] + 0.3 * rng.normal(size=600) > 0).astype(int)
    model = NaiveBayesLogisticRegressionCV(strengths=20, cv=5).fit(X**3, labels)  # warnings are errors here
    assert model.path_.converged.all()
    assert model.strength_ in model.path_.strengths


def test_a_strength_that_stopped_short_is_no_reason_to_warn_unless_it_is_chosen():
    X, y = mixed_table()
    search = {"strengths": [1e6, 1e-3], "max_steps": 1, "cv": 3, "target": "zero", **PAPER}
    with pytest.warns(ConvergenceWarning, match="strengths stopped short"):
        warned = NaiveBayesLogisticRegressionCV(**search).fit(X, y)
    assert warned.strength_ == 1e-3
    rng = np.random.default_rng(0)
    quiet = NaiveBayesLogisticRegressionCV(**search).fit(X, rng.permutation(y))  # warnings are errors here
    assert quiet.strength_ == 1e6
    assert not quiet.path_.converged.all()
    # An average leaves it out.
    averaged = NaiveBayesLogisticRegressionCV(**(search | {"selection": "average"})).fit(X, y)
    assert averaged.strength_ == 1e6
    assert not averaged.path_.converged.all()
