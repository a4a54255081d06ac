"""SemiNaive: fits against dense references, invariances, planted curves and pairs, noise, missing cells."""

import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.special import softmax
from sklearn.metrics import log_loss
from sklearn.model_selection import GroupKFold

from seminaive import SemiNaive
from seminaive.design.projected import ProjectedDesign
from seminaive.design.smooth_column import knots_of
from seminaive.design.smooth_columns import SmoothColumns
from seminaive.design.smooth_scores import smooth_scores
from seminaive.encode import EqualFrequencyCuts, TableEncoder
from seminaive.errors import InputError
from seminaive.models import smooth_rows
from seminaive.objective.empirical_loss import EmpiricalLoss
from seminaive.objective.penalised_loss import PenalisedLoss
from seminaive.objective.ridge import Ridge
from seminaive.selection import coefficient_solver
from seminaive.selection.coefficient_solver import CoefficientSolver
from seminaive.selection.relevance_trials import updated_relevances
from seminaive.selection.row_space_solver import RowSpaceSolver
from seminaive.selection.split_rows import SplitRows
from seminaive.statistics.cell_weights import weigh_cells

STRENGTHS = (2.0, 0.5, 3.0)


def mixed(n_rows=150, n_classes=3, seed=0):
    """Return two numbers, one of them with missing cells, two categories, and labels that depend on them."""
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=(n_rows, 2))
    kinds = rng.integers(0, 3, (n_rows, 2))
    score = np.column_stack([numbers[:, 0], numbers[:, 1] ** 2, kinds[:, 0] - 1.0])[:, :n_classes]
    y = (2 * score + rng.gumbel(size=score.shape)).argmax(axis=1)
    numbers[rng.random(n_rows) < 0.1, 1] = np.nan
    X = pd.DataFrame(
        {"a": numbers[:, 0], "b": numbers[:, 1], "c": kinds[:, 0].astype(str), "d": kinds[:, 1].astype(str)}
    )
    return X, y


def problem(n_classes=3, seed=0):
    """Return the smooth columns, table, labels, weights and splits of a mixed table."""
    X, y = mixed(n_classes=n_classes, seed=seed)
    _, table = TableEncoder.learn(X, cut_rule=EqualFrequencyCuts(4))
    weights = np.random.default_rng(seed).uniform(0.5, 2.0, len(y))
    columns = SmoothColumns.of(table, weights).with_all_pairs(n_classes)
    rows = np.arange(len(y))
    splits = [(rows[rows % 3 != f], rows[rows % 3 == f]) for f in range(3)]
    return columns, table, y, weights, splits


def dense_features(columns, table):
    """Return all features, the intercept first."""
    pairs = [column.pair_features(table) for column in columns.columns]
    parts = [np.ones((len(table), 1)), columns.slope_features(table.numbers)]
    parts += [columns.columns[j].main_features(table) for j in columns.mains]
    parts += [(pairs[j][:, :, None] * pairs[k][:, None]).reshape(len(table), -1) for j, k in columns.pairs]
    return np.hstack(parts)


def relevances_of(columns):
    return np.random.default_rng(3).uniform(0.2, 3.0, (4, columns.n_terms))


def solver_of_tables(*parts):
    """Return the solver of coefficients as it is where a matrix of the features would be too large."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(coefficient_solver, "MOST_DENSE", 0)
        return CoefficientSolver(*parts)


def solver_of_many_scores(*parts):
    """Return the solver of coefficients as it is where passes over the rows take most of the time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(coefficient_solver, "ENTRIES_PER_SCORE", 10**6)
        return solver_of_tables(*parts)


SOLVERS = [RowSpaceSolver, CoefficientSolver, solver_of_tables, solver_of_many_scores]


# Fits


@pytest.mark.parametrize("n_classes", [2, 3])
def test_gradient_equals_finite_differences(n_classes):
    columns, table, y, weights, _ = problem(n_classes)
    design = ProjectedDesign(columns, table, n_classes)
    loss = EmpiricalLoss(design, y, weights, n_classes)
    rng = np.random.default_rng(1)
    objective = PenalisedLoss(loss, Ridge(rng.uniform(0, 2, (design.n_coefficients, 1))))
    at, along = rng.normal(size=(2, *loss.shape)) * 0.3
    slope = np.vdot(objective(at)[1], along)
    ahead, behind = (objective(at + step * along)[0].sum() for step in (1e-5, -1e-5))
    assert slope == pytest.approx((ahead - behind) / 2e-5, rel=1e-6)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_projected_scores_equal_dense_features(n_classes):
    columns, table, _, weights, _ = problem(n_classes)
    design = ProjectedDesign(columns, table, n_classes)
    k = 1 if n_classes == 2 else 3
    coefficients = np.random.default_rng(0).normal(size=(design.n_coefficients, k))
    dense = dense_features(columns, table) @ coefficients
    np.testing.assert_allclose(design.scores(coefficients), dense, atol=1e-12)
    scores, _ = smooth_scores(
        columns, coefficients, table.cardinalities, lambda terms: weigh_cells(terms, table, weights)
    )
    # Beyond the training range slopes and curves are constant.
    far = replace(table, numbers=3 * table.numbers)
    for rows, expected in ((table, dense), (far, dense_features(columns, far) @ coefficients)):
        read = scores.joint_log_scores(rows)
        read = read[:, 1:] - read[:, :1] if n_classes == 2 else read
        np.testing.assert_allclose(read, expected, atol=1e-10)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("solver", SOLVERS)
def test_fits_are_stationary_points_of_the_dense_problem(solver, n_classes):
    columns, table, y, weights, splits = problem(n_classes)
    made = solver(columns, SplitRows(table, y, weights, n_classes, splits))
    relevances = relevances_of(columns)
    prepared = made.prepare(relevances)
    fit = made.fit_all(prepared, STRENGTHS, None, 1e-13, 200)
    coefficients = made.coefficients([(1.0, prepared, STRENGTHS, fit)])
    features = dense_features(columns, table)
    scores = features @ coefficients
    np.testing.assert_allclose(scores, fit.scores, atol=1e-5)
    both = np.hstack([np.zeros_like(scores), scores]) if n_classes == 2 else scores
    residuals = softmax(both, axis=1) - np.eye(n_classes)[y]
    residuals = residuals[:, 1:] if n_classes == 2 else residuals
    strength = np.repeat(np.array(STRENGTHS)[columns.groups] / relevances[-1], columns.sizes)
    gradient = features.T @ (weights[:, None] * residuals)
    gradient[1:] += strength[:, None] * coefficients[1:]
    assert np.abs(gradient).max() < 1e-4


# Relevances


def dense_evidence(columns, table, coefficients, strength, curvature):
    features = dense_features(columns, table)
    hessian = features.T @ (features * curvature[:, None])
    strength = np.concatenate([np.zeros(1), strength])
    inverse = np.linalg.inv(hessian + np.diag(strength))
    degrees = 1 - strength * np.diagonal(inverse)
    term_of = np.repeat(np.arange(columns.n_terms), columns.sizes)
    squares = strength * (coefficients**2).mean(axis=1)
    return np.bincount(term_of, squares[1:]), np.bincount(term_of, degrees[1:])


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("which", [1, 3])
def test_evidence_of_a_fit_equals_a_dense_reference(solver, n_classes, which):
    columns, table, y, weights, splits = problem(n_classes)
    made = solver(columns, SplitRows(table, y, weights, n_classes, splits))
    relevances = relevances_of(columns)
    prepared = made.prepare(relevances)
    fits = made.fit_folds(prepared, STRENGTHS, None, 1e-10, 200)
    fits.append(made.fit_all(prepared, STRENGTHS, None, 1e-10, 200))
    found = made.evidence(prepared, range(len(fits)), STRENGTHS, fits)
    penalties, degrees = (values[which] for values in found)
    row_weight = weights.copy()
    if which < len(splits):
        row_weight[splits[which][1]] = 0.0
    scores = fits[which].scores
    both = np.hstack([np.zeros_like(scores), scores]) if n_classes == 2 else scores
    posterior = softmax(both, axis=1)[:, -scores.shape[1] :]
    curvature = row_weight * (posterior * (1 - posterior)).mean(axis=1)
    strength = np.repeat(np.array(STRENGTHS)[columns.groups] / relevances[which], columns.sizes)
    features = dense_features(columns, table)
    coefficients = np.linalg.lstsq(features, scores, rcond=None)[0]
    if solver is not RowSpaceSolver:
        coefficients = fits[which].coefficients
    expected = dense_evidence(columns, table, coefficients, strength, curvature)
    np.testing.assert_allclose(degrees, expected[1], rtol=1e-5, atol=1e-6)
    if solver is not RowSpaceSolver:
        np.testing.assert_allclose(penalties, expected[0], rtol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_all_solvers_have_the_same_evidence(n_classes):
    columns, table, y, weights, splits = problem(n_classes)
    found = []
    for solver in SOLVERS:
        made = solver(columns, SplitRows(table, y, weights, n_classes, splits))
        prepared = made.prepare(relevances_of(columns))
        fit = made.fit_all(prepared, STRENGTHS, None, 1e-13, 200)
        found.append(made.evidence(prepared, [3], STRENGTHS, [fit]))
    for first, *others in zip(*found, strict=True):
        for other in others:
            # The kernels of pairs are kept in single precision.
            np.testing.assert_allclose(first, other, rtol=1e-4, atol=1e-5)


def test_probed_degrees_estimate_the_exact_ones(monkeypatch):
    columns, table, y, weights, splits = problem(2)
    exact = CoefficientSolver(columns, SplitRows(table, y, weights, 2, splits))
    prepared = exact.prepare(relevances_of(columns))
    fit = exact.fit_all(prepared, STRENGTHS, None, 1e-10, 200)
    expected = exact.evidence(prepared, [3], STRENGTHS, [fit])[1]
    monkeypatch.setattr(coefficient_solver, "MOST_EXACT", 1)
    monkeypatch.setattr(coefficient_solver, "FEW_INVERTED", 1)
    monkeypatch.setattr(coefficient_solver, "ENTRIES_PER_SCORE", 0)
    monkeypatch.setattr(coefficient_solver, "PROBES", 400)
    probed = CoefficientSolver(columns, SplitRows(table, y, weights, 2, splits))
    found = probed.evidence(prepared, [3], STRENGTHS, [fit])[1]
    # 400 probes: relative errors of a few percent.
    np.testing.assert_allclose(found, expected, rtol=0.15, atol=0.02)


def test_terms_that_explain_more_than_their_degrees_become_more_relevant():
    groups = np.array([0, 0, 1])
    new = updated_relevances(np.ones(3), np.array([4.0, 0.0, 1.0]), np.array([1.0, 1.0, 2.0]), groups)
    np.testing.assert_allclose(new, [3.0 / (5 / 3), (1 / 3) / (5 / 3), 1.0])


# Columns


def test_a_frequent_value_has_a_knot_of_its_own():
    values = np.concatenate([np.zeros(500), np.random.default_rng(0).exponential(size=500) + 0.1])
    knots = knots_of(values, np.ones(1000), 32)
    assert knots[0] == 0.0
    assert len(knots) == 32
    assert (np.diff(knots) > 0).all()


# Invariance


def probabilities(X, y, at=None, **parameters):
    return SemiNaive(**parameters).fit(X, y).predict_proba(X if at is None else at)


def test_an_identifier_takes_part_in_no_pair_and_leaves_the_other_pairs_as_they_are():
    X, y = mixed()
    with_id = X.assign(id=[f"row {i}" for i in range(len(X))])
    alone, beside = (
        SmoothColumns.of(
            TableEncoder.learn(rows, cut_rule=EqualFrequencyCuts(4))[1], np.ones(len(y))
        ).with_all_pairs(3)
        for rows in (X, with_id)
    )
    assert beside.pairs == alone.pairs
    assert beside.sizes[beside.groups == 2].tolist() == alone.sizes[alone.groups == 2].tolist()


@pytest.mark.parametrize("n_rows", [150, 1000])
def test_scale_and_shift_of_numbers_do_not_matter(n_rows):
    X, y = mixed(n_rows)
    moved = X.assign(a=1000.0 + 64.0 * X["a"], b=0.25 * X["b"] - 8.0)
    np.testing.assert_allclose(probabilities(moved, y), probabilities(X, y), atol=1e-4)


@pytest.mark.parametrize("n_rows", [150, 1000])
def test_row_order_does_not_matter_given_the_folds(n_rows, before_share):
    X, y = mixed(n_rows)
    fold = np.arange(n_rows) % 4
    order = np.random.default_rng(1).permutation(n_rows)
    splits, moved = (
        [(np.flatnonzero(fold_of != f), np.flatnonzero(fold_of == f)) for f in range(4)]
        for fold_of in (fold, fold[order])
    )
    shuffled = SemiNaive(cv=moved).fit(X.iloc[order], y[order])
    in_order = SemiNaive(cv=splits).fit(X, y)
    for which in ("log_loss", "slopes", "mains", "pairs"):
        np.testing.assert_allclose(shuffled.cv_results_[which], in_order.cv_results_[which], rtol=1e-4)
    # The share is found by draws of rows, which are others in another order.
    np.testing.assert_allclose(before_share(shuffled, X, y), before_share(in_order, X, y), atol=1e-4)


def test_order_of_columns_and_names_of_categories_do_not_matter():
    X, y = mixed(1000)
    expected = probabilities(X, y)
    turned = X[X.columns[::-1]]
    np.testing.assert_allclose(probabilities(turned, y), expected, atol=1e-4)
    renamed = X.assign(c=X["c"].map({"0": "z", "1": "m", "2": "a"}))
    np.testing.assert_allclose(probabilities(renamed, y), expected, atol=1e-4)


@pytest.mark.parametrize("n_rows", [150, 1000])
def test_the_number_of_threads_does_not_change_a_bit(n_rows):
    X, y = mixed(n_rows)
    assert (probabilities(X, y, n_jobs=1) == probabilities(X, y, n_jobs=2)).all()


# What is found


def planted(n_rows, seed=0):
    """Return four numbers and a category: two curves of deviation 1, and two pairs without main effects."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.uniform(-1, 1, (n_rows, 4)), columns=list("abcd"))
    X["e"] = rng.choice(["x", "y", "z"], n_rows)
    curves = {"a": 1.5 * np.sin(3 * X["a"]), "b": 4.0 * np.abs(X["b"]) - 2.0}
    odds = sum(curves.values()) + 4.0 * X["c"] * X["d"] + 2.0 * X["a"] * ((X["e"] == "x") - 1 / 3)
    return X, rng.random(n_rows) < 1 / (1 + np.exp(-odds)), curves


def check_planted(n_rows, tolerance):
    X, y, curves = planted(n_rows)
    model = SemiNaive().fit(X, y)
    found = model.interactions_
    assert set(map(frozenset, found[["first", "second"]].to_numpy()[:2])) == {
        frozenset("cd"),
        frozenset("ae"),
    }
    assert found["importance"].iloc[1] > 3 * found["importance"].iloc[2]
    contributions = model.contributions(X)
    for name, curve in curves.items():
        away = contributions[name] - curve
        assert np.std(away) < tolerance * np.std(curve)


def test_planted_curves_and_the_planted_pairs_are_found():
    check_planted(20_000, 0.1)


@pytest.mark.slow
def test_planted_curves_are_found_to_a_twentieth_on_many_rows():
    check_planted(100_000, 0.05)


def excess_on_noise(n_rows, n_columns, seed, *, categories):
    """Return by how much the log loss of held-out noise exceeds that of the class shares."""
    rng = np.random.default_rng(seed)
    size = (n_rows + 4000, n_columns)
    X = rng.integers(0, 4, size).astype(str) if categories else rng.normal(size=size)
    y = (rng.random(len(X)) < 0.4).astype(int)
    log_proba = SemiNaive().fit(X[:n_rows], y[:n_rows]).predict_log_proba(X[n_rows:])
    shares = np.log(np.bincount(y[:n_rows]) / n_rows)
    return (shares[y[n_rows:]] - log_proba[np.arange(4000), y[n_rows:]]).mean()


@pytest.mark.parametrize(("n_columns", "categories"), [(30, False), (12, True)])
def test_noise_is_answered_by_about_the_class_shares(n_columns, categories):
    excess = [excess_on_noise(200, n_columns, seed, categories=categories) for seed in range(3)]
    assert max(excess) <= 0.02


# Cells, parameters, attributes


@pytest.mark.parametrize("missing", ["value", "neutral"])
@pytest.mark.parametrize("n_rows", [150, 1000])
def test_unseen_and_missing_cells_give_probabilities(n_rows, missing):
    X, y = mixed(n_rows)
    model = SemiNaive(missing=missing).fit(X, y)
    strange = pd.DataFrame(
        {"a": [np.nan, 1e9, -1e9], "b": [np.nan, 0, 1], "c": ["?", None, "0"], "d": [None, "?", "1"]}
    )
    proba = model.predict_proba(strange)
    assert np.isfinite(proba).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1)


def test_numbers_beyond_the_training_range_count_as_its_ends():
    X, y = mixed(400)
    model = SemiNaive().fit(X, y)
    ends = X.iloc[:2].assign(a=[X["a"].min(), X["a"].max()])
    beyond = ends.assign(a=[-1e6, 1e6])
    np.testing.assert_allclose(model.predict_proba(beyond), model.predict_proba(ends), rtol=1e-12)


def test_interactions_may_be_none_some_or_named():
    X, y = mixed(400)
    assert len(SemiNaive(interactions=0).fit(X, y).interactions_) == 0
    assert len(SemiNaive(interactions=2).fit(X, y).interactions_) == 2
    named = SemiNaive(interactions=[("d", "a"), (1, 2)]).fit(X, y).interactions_
    assert {frozenset(pair) for pair in named[["first", "second"]].to_numpy()} == {
        frozenset("ad"),
        frozenset("bc"),
    }


@pytest.mark.parametrize(
    "interactions", [-1, "some", 1.5, [("a", "b", "c")], [("a", "nobody")], [("a", "a")]]
)
def test_strange_interactions_are_refused(interactions):
    with pytest.raises(InputError, match="interactions"):
        SemiNaive(interactions=interactions).fit(*mixed(60))


def test_fitted_attributes_tell_what_was_found():
    X, y = mixed(400)
    model = SemiNaive().fit(X, y)
    terms = model.relevances_
    assert list(terms.columns) == ["term", "relevance", "degrees_of_freedom", "evidence"]
    assert terms["evidence"].sum() == pytest.approx(1)
    assert terms["degrees_of_freedom"].min() >= 0
    assert set(model.strengths_) == {"slopes", "mains", "pairs"}
    assert model.cv_results_["log_loss"].min() >= model.cv_log_loss_ - 0.05
    assert model.gradient_norm_ <= model.tol
    assert 0 <= model.fit_share_ <= 1
    low, high = model.cv_log_loss_interval_
    assert 0 < low < model.cv_log_loss_ < high


def test_groups_are_kept_together_by_a_splitter_and_by_a_number():
    X, y = mixed(200)
    groups = np.arange(200) // 10
    for cv in (GroupKFold(4), 4, "auto"):
        model = SemiNaive(cv=cv).fit(X, y, groups=groups)
        assert np.isfinite(model.predict_proba(X)).all()


def test_the_search_sees_a_sample_of_many_rows(monkeypatch):
    from seminaive.models import smooth_rows

    X, y = mixed(2000)
    monkeypatch.setattr(smooth_rows, "MOST_SEARCHED", 600)
    sampled = SemiNaive().fit(X, y)
    assert sampled.gradient_norm_ <= sampled.tol
    monkeypatch.undo()
    whole = SemiNaive().fit(X, y)
    assert np.abs(sampled.predict_proba(X) - whole.predict_proba(X)).mean() < 0.03


def test_the_sample_of_the_search_has_rows_of_every_fold(monkeypatch):
    X, y = mixed(900)
    # As many samples as folds: drawn by the same permutation, a sample would be one of the folds.
    monkeypatch.setattr(smooth_rows, "MOST_SEARCHED", 180)
    model = SemiNaive(cv=5).fit(X, y)
    assert np.isfinite(model.cv_log_loss_)
    assert np.isfinite(model.predict_proba(X)).all()


@pytest.mark.parametrize("n_rows", [3000, 3100])
def test_a_sample_that_lies_within_one_fold_is_searched_by_folds_of_its_own(n_rows, monkeypatch):
    monkeypatch.setattr(smooth_rows, "MOST_SEARCHED", 500)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 2))
    y = X[:, 0] + rng.logistic(size=n_rows) > 0
    model = SemiNaive(interactions=0).fit(X, y)
    assert model.score(X, y) > 0.6


@pytest.mark.filterwarnings("ignore::seminaive.errors.WeightsWarning")
@pytest.mark.parametrize("weight", [1e4 + 0.5, 1e9 + 0.5])
def test_rows_that_weigh_thousands_each_are_learned_from(weight):
    # Whole numbers would be counts: the same rows in every fold, which are best learned by heart.
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 600)
    X = rng.normal(size=(600, 4)) + y[:, None] * [1.0, 0.5, 0.0, 0.0]
    once = SemiNaive().fit(X[:300], y[:300])
    often = SemiNaive().fit(X[:300], y[:300], sample_weight=np.full(300, weight))
    losses = [log_loss(y[300:], model.predict_proba(X[300:])) for model in (once, often)]
    assert losses[1] < losses[0] + 0.02


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::seminaive.errors.ColumnsWarning")
def test_a_category_of_thousands_of_levels_takes_at_most_three_times_as_long_as_one_of_ten():
    rng = np.random.default_rng(0)
    n_rows, seconds = 20_000, {}
    others = {f"category {j}": rng.integers(0, 10, n_rows).astype(object) for j in range(5)}
    others |= {f"number {j}": rng.normal(size=n_rows) for j in range(6)}
    for n_levels in (10, 4000):
        codes = rng.integers(0, n_levels, n_rows)
        effects = 0.5 * rng.normal(size=n_levels)
        y = others["number 0"] + effects[codes] + rng.logistic(size=n_rows) > 0
        X = pd.DataFrame({**others, "level": [f"level {code}" for code in codes]})
        SemiNaive(interactions=0).fit(X[:2000], y[:2000])  # compiles
        start = time.process_time()
        model = SemiNaive().fit(X, y)
        seconds[n_levels] = time.process_time() - start
        assert "level" in model.feature_names_in_[np.argsort(-model.feature_importances_)[:2]]
    assert seconds[4000] <= 3 * seconds[10]
