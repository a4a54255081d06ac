"""LR^n and ALR^n: limits, equivalences, certificates, and answers at the edges."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import OneHotEncoder

from seminaive import (
    AcceleratedLogisticRegression,
    HigherOrderLogisticRegression,
    HigherOrderLogisticRegressionCV,
    memory,
)
from seminaive.design import coefficients as coefficients_module
from seminaive.design.table_design import TableDesign
from seminaive.errors import InputError, LongFitWarning, TooLargeError
from seminaive.objective.coordinates import ScaledObjective
from seminaive.objective.empirical_loss import EmpiricalLoss
from seminaive.objective.penalised_loss import PenalisedLoss
from seminaive.objective.ridge import Ridge
from seminaive.scores import m_estimate_tables
from seminaive.solvers.search_coordinates import search_coordinates
from seminaive.statistics import Terms, TupleCounts
from seminaive_experiments.papers.variants import (
    AveragedWeights,
    HigherOrderBySolver,
    SquaredErrorAccelerated,
    SquaredErrorHigherOrder,
)

BOTH = [HigherOrderLogisticRegression, AcceleratedLogisticRegression]


def table(n_classes=3, n_rows=600, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, [2, 3, 4, 3], (n_rows, 4))
    scores = rng.normal(size=(2, 3, n_classes))[X[:, 0], X[:, 1]] + rng.gumbel(size=(n_rows, n_classes))
    return X, scores.argmax(axis=1)


def fit(estimator, X, y, **options):
    return estimator(**{"categorical_features": "all", "tol": 1e-9, "max_iter": 3000, **options}).fit(X, y)


def sklearn_objective(X, y, ridge):
    """Return the minimum that scikit-learn finds on indicator columns, polished far below 1e-8."""
    hot = OneHotEncoder(sparse_output=False).fit_transform(X)
    model = LogisticRegression(C=1 / ridge, solver="newton-cg", tol=1e-12, max_iter=1000).fit(hot, y)
    loss = -model.predict_log_proba(hot)[np.arange(len(y)), y].sum()
    return loss + 0.5 * ridge * (model.coef_**2).sum()


@pytest.mark.parametrize(
    ("estimator", "solver"),
    [*((kind, solver) for kind in BOTH for solver in ("lbfgs", "newton")), (HigherOrderBySolver, "cg")],
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_order_one_equals_scikit_learn_on_indicators(estimator, n_classes, solver):
    X, y = table(n_classes)
    model = fit(estimator, X, y, order=1, ridge=0.7, solver=solver)
    assert model.objective_ == pytest.approx(sklearn_objective(X, y, 0.7), rel=1e-8)


def test_weights_on_averaged_terms_change_the_search_and_not_the_optimum():
    X, y = table(3)
    options = {"order": 2, "ridge": 1.0, "scaling": "generative", "tol": 1e-8}
    plain = fit(AcceleratedLogisticRegression, X, y, **options)
    averaged = fit(AveragedWeights, X, y, **options)
    assert averaged.objective_ == pytest.approx(plain.objective_, rel=1e-6)
    assert not np.array_equal(averaged.history_[:5], plain.history_[:5])


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_both_parameterisations_reach_the_same_objective_and_posterior(n_classes, order):
    X, y = table(n_classes)
    models = [
        fit(estimator, X, y, order=order, ridge=1.0, scaling=scaling, start=start)
        for estimator, scaling, start in [
            (HigherOrderLogisticRegression, "none", "zero"),
            (HigherOrderLogisticRegression, "curvature", "generative"),
            (AcceleratedLogisticRegression, "curvature", "zero"),
        ]
    ]
    # The paper's scaling converges slowly under a ridge, hence its looser tolerance.
    models.append(fit(AcceleratedLogisticRegression, X, y, order=order, scaling="generative", tol=1e-6))
    for model in models[1:]:
        assert model.objective_ == pytest.approx(models[0].objective_, rel=1e-6)
        np.testing.assert_allclose(model.predict_proba(X), models[0].predict_proba(X), atol=1e-3)


@pytest.mark.parametrize("ridge", [0.0, 1.0])
def test_whitened_coefficients_curve_by_one_at_the_start(ridge):
    X, y = table(2)
    model = HigherOrderLogisticRegression(1, categorical_features="all")
    rows = model._encode_training(X.astype(object), y, None)
    design = TableDesign.of(rows.table, rows.weights, 2, order=1, hierarchical=False)
    estimate = design.generative_estimate(rows.labels, rows.weights)
    strength = design.coefficients.strengths(np.array([ridge]))
    penalised = PenalisedLoss(EmpiricalLoss(design, rows.labels, rows.weights, 2), Ridge(strength))
    coordinates, first_step = search_coordinates("curvature", penalised, design, estimate, whiten=True)
    members = coordinates.whitening.members
    assert len(members) == 1 + 2 + 3 + 4 + 3
    objective = ScaledObjective(penalised, coordinates)
    step = 1e-4
    rise = [
        (objective(step * unit)[1] - objective(-step * unit)[1])[members] / (2 * step)
        for unit in np.eye(strength.size)[members]
    ]
    curvature = np.linalg.eigvalsh(rise)
    # All but the four directions in which a column's indicators trade with the intercept, which only a ridge
    # bends; the curvature that holds flat directions back is 1e-5 of the mean.
    np.testing.assert_allclose(curvature[4 if ridge == 0 else 0 :], 1.0, atol=1e-2)
    assert first_step == 1


def test_counting_pairs_is_counted_as_a_pass():
    X, y = table()
    single, pairs = (fit(HigherOrderLogisticRegression, X, y, order=order) for order in (1, 2))
    for model in (single, pairs):
        assert len(model.history_) == model.passes_
    assert single.history_[0] == single.history_[1]
    assert pairs.history_[0] > pairs.history_[1]


@pytest.mark.parametrize("estimator", BOTH)
def test_order_two_solves_exclusive_or(estimator):
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 20)
    y = X[:, 0] ^ X[:, 1]
    assert fit(estimator, X, y, order=2).score(X, y) == 1.0
    np.testing.assert_allclose(fit(estimator, X, y, order=1).predict_proba(X), 0.5, atol=1e-6)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_weights_times_log_estimates_are_the_tables(n_classes):
    X, y = table(n_classes)
    model = fit(AcceleratedLogisticRegression, X, y, order=2)
    terms = model.scores_.terms
    counts = TupleCounts.of(X.astype(np.uint8), y, terms, n_classes)
    logs = m_estimate_tables(counts)
    seen = counts.counts.sum(axis=1) > 0
    np.testing.assert_allclose(model.weights_[seen] * logs[seen], model.scores_.tables[seen], atol=1e-10)


@pytest.mark.parametrize("weight", ["one", "average"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_an_infinite_pull_leaves_the_generative_model(n_classes, weight):
    X, y = table(n_classes)
    model = fit(
        AcceleratedLogisticRegression,
        X,
        y,
        order=2,
        ridge=0.0,
        pull_to_generative=1e9,
        generative_weight=weight,
    )
    expected = 1.0 if weight == "one" else 1 / 3
    seen = model.weights_ != 0
    np.testing.assert_allclose(model.weights_[seen], expected, atol=1e-5)
    np.testing.assert_allclose(model.prior_weights_, 1.0, atol=1e-5)


def test_no_pull_is_plain_logistic_regression():
    X, y = table()
    pulled = fit(AcceleratedLogisticRegression, X, y, pull_to_generative=1e-12, ridge=1.0)
    plain = fit(HigherOrderLogisticRegression, X, y, ridge=1.0)
    np.testing.assert_allclose(pulled.predict_proba(X), plain.predict_proba(X), atol=1e-5)


def test_an_infinite_ridge_on_pairs_leaves_order_one():
    X, y = table()
    both = fit(HigherOrderLogisticRegression, X, y, order=2, ridge=(1.0, 1e9), hierarchical=True)
    single = fit(HigherOrderLogisticRegression, X, y, order=1, ridge=1.0)
    np.testing.assert_allclose(both.predict_proba(X), single.predict_proba(X), atol=1e-5)


def test_an_infinite_ridge_toward_the_generative_estimate_arrives_there():
    X, y = table()
    model = fit(HigherOrderLogisticRegression, X, y, order=1, ridge=1e9, generative_share=1.0)
    terms = Terms.singles([2, 3, 4, 3])
    logs = m_estimate_tables(TupleCounts.of(X.astype(np.uint8), y, terms, 3))
    centred = logs - logs.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(model.scores_.tables[terms.known], centred[terms.known], atol=1e-5)


@pytest.mark.parametrize(
    "estimators",
    [
        (SquaredErrorHigherOrder, HigherOrderLogisticRegression),
        (SquaredErrorAccelerated, AcceleratedLogisticRegression),
    ],
)
def test_squared_error_is_lower_where_it_is_the_objective(estimators):
    X, y = table(2, n_rows=300)
    truth = np.eye(2)[y]
    errors = [
        ((fit(estimator, X, y, order=2, ridge=0.01, tol=1e-6).predict_proba(X) - truth) ** 2).mean()
        for estimator in estimators
    ]
    assert errors[0] < errors[1]


def test_stochastic_descent_comes_near_the_optimum_and_says_how_near():
    X, y = table(n_rows=3000)
    exact = fit(HigherOrderLogisticRegression, X, y, order=2)
    with pytest.warns(ConvergenceWarning, match=r"stopped after 30 iterations at .* above tol=1e-12"):
        model = fit(
            HigherOrderLogisticRegression, X, y, order=2, solver="sgd", max_iter=30, tol=1e-12, random_state=0
        )
    assert exact.objective_ <= model.objective_ < 1.01 * exact.objective_
    assert model.gradient_norm_ > 1e-12


@pytest.mark.parametrize("n_classes", [2, 5])
def test_results_do_not_depend_on_threads(n_classes):
    X, y = table(n_classes, n_rows=20_000)
    one, two = (fit(HigherOrderLogisticRegression, X, y, tol=1e-3, n_jobs=jobs) for jobs in (1, 2))
    assert np.array_equal(one.scores_.tables, two.scores_.tables)


def test_numbers_of_a_hierarchy_enter_as_numbers_and_as_bins():
    rng = np.random.default_rng(0)
    x = rng.normal(5.0, 3.0, (500, 1))
    y = (rng.random(500) < 1 / (1 + np.exp(-x[:, 0]))).astype(int)
    model = HigherOrderLogisticRegression(1, hierarchical=True, ridge=1e-3, bins=2, tol=1e-8).fit(x, y)
    assert model.scores_.numeric.features == (0,)
    far = np.array([[50.0], [-50.0]])
    np.testing.assert_allclose(model.predict_proba(far)[:, 1], [1.0, 0.0], atol=1e-6)


def test_separable_classes_without_a_penalty_stop_with_a_warning():
    X = np.array([[0], [1]] * 10)
    with pytest.warns(ConvergenceWarning, match="separable"):
        model = fit(HigherOrderLogisticRegression, X, X[:, 0], order=1, ridge=0.0, max_iter=3, tol=1e-30)
    assert model.score(X, X[:, 0]) == 1.0


def test_a_feature_of_one_value_has_no_weight():
    X, y = table()
    X[:, 3] = 0
    model = fit(AcceleratedLogisticRegression, X, y, order=1, ridge=0.0, scaling="generative", tol=1e-5)
    assert (model.weights_[model.scores_.terms.block(3)] == 0).all()
    assert np.isfinite(model.predict_proba(X)).all()


@pytest.mark.filterwarnings("ignore:.*most of them occur once:seminaive.errors.ColumnsWarning")  # on purpose
def test_ten_thousand_values_cost_memory_only_for_those_that_occur_together():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 10_000, (3000, 2)), np.arange(3000) % 2])
    model = fit(HigherOrderLogisticRegression, X, X[:, 2] == 1, order=3, tol=1e-3)
    assert model.scores_.terms.n_cells < 20_000
    assert model.score(X, X[:, 2] == 1) > 0.99


def test_keeping_observed_cells_only_predicts_the_same(monkeypatch):
    X, y = table()
    X[:5, 0] = 7
    strange = np.vstack([X, [[9, 9, 9, 9], [0, 9, 1, 1]]])
    dense = fit(HigherOrderLogisticRegression, X, y, order=3, hierarchical=True)
    monkeypatch.setattr(coefficients_module, "MOST_DENSE_BYTES", 0)
    sparse_ = fit(HigherOrderLogisticRegression, X, y, order=3, hierarchical=True)
    assert sparse_.scores_.terms.n_cells < dense.scores_.terms.n_cells
    np.testing.assert_allclose(sparse_.predict_proba(strange), dense.predict_proba(strange), atol=1e-12)
    few, codes = [1, 8], dense.encode(strange)
    np.testing.assert_allclose(
        sparse_.scores_.restrict(few).joint_log_scores(codes),
        dense.scores_.restrict(few).joint_log_scores(codes),
        atol=1e-12,
    )


def test_an_order_above_the_number_of_columns_takes_them_all():
    X, y = table()
    np.testing.assert_allclose(
        fit(HigherOrderLogisticRegression, X, y, order=9).predict_proba(X),
        fit(HigherOrderLogisticRegression, X, y, order=4).predict_proba(X),
        atol=1e-12,
    )


def test_two_rows_are_enough():
    model = fit(HigherOrderLogisticRegression, [["a", "b"], ["c", "d"]], ["x", "y"])
    assert list(model.predict([["a", "b"], ["c", "d"]])) == ["x", "y"]


def test_too_little_memory_is_refused_with_the_sizes(monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda: 1000)
    monkeypatch.setattr(memory, "SMALL_BYTES", 0)
    X, y = table()
    with pytest.raises(
        TooLargeError,
        match=r"needs .* GB and 1e-06 GB are available: .*observed cells by 3 classes.*lower the order",
    ):
        fit(HigherOrderLogisticRegression, X, y)


def test_too_many_terms_are_refused_with_their_number():
    X = np.zeros((4, 400), dtype=int)
    with pytest.raises(InputError, match="10,586,800 terms of order 3"):
        fit(HigherOrderLogisticRegression, X, [0, 1, 0, 1], order=3)


def test_newton_refuses_what_it_cannot_factor():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 100, (5000, 2))
    with pytest.raises(InputError, match="takes at most"):
        fit(HigherOrderLogisticRegression, X, rng.integers(0, 3, 5000), order=2, solver="newton")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"order": 0}, "order is the number of features"),
        ({"order": 1.5}, "order is the number of features"),
        ({"ridge": -1.0}, "ridge is a number"),
        ({"ridge": (1.0, 1.0, 1.0)}, "each of the 2 orders"),
        ({"solver": "adam"}, "solver is one of"),
        ({"scaling": "log"}, "scaling is one of"),
        ({"start": "random"}, "start is one of"),
        ({"bins": 1}, "bins is"),
        ({"tol": 0}, "tol is a positive number"),
    ],
)
@pytest.mark.parametrize("estimator", BOTH)
def test_bad_parameters_are_refused_with_a_sentence(estimator, options, message):
    X, y = table()
    with pytest.raises(InputError, match=message):
        fit(estimator, X, y, **options)


def test_sparse_numbers_are_refused_with_what_to_pass():
    with pytest.raises(TypeError, match=r"X.toarray\(\)"):
        HigherOrderLogisticRegression().fit(2.5 * sparse.eye_array(4), [0, 1, 0, 1])


@pytest.mark.filterwarnings("ignore::seminaive.errors.WeightsWarning")
def test_a_search_is_solved_where_weights_outweigh_the_ridge(before_share):
    # Weights as surveys have them: the rows are fitted so well that little curvature is left.
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (200, 4)).astype(str)
    y = (X[:, 0] == X[:, 1]).astype(int) + rng.integers(0, 2, 200) > 1
    weight = rng.gamma(2, 1e5, 200)
    searched = HigherOrderLogisticRegressionCV().fit(X, y, weight)
    exact = HigherOrderLogisticRegression(
        2, hierarchical=True, ridge=searched.ridge_, solver="newton", tol=1e-9, max_iter=500
    ).fit(X, y, weight / weight.mean())
    # The certificate is relative to the loss at zero; this is the loss of a near perfect fit.
    assert searched.objective_ <= exact.objective_ * (1 + 1e-4)
    # One trial is no average, and its fit is that of all rows.
    of_singles, of_pairs = searched.ridge_
    one = HigherOrderLogisticRegressionCV(
        first_ridges=(of_singles,), ridges=(of_pairs,), number_shares=(1.0,), generative_shares=(0.0,)
    ).fit(X, y, weight)
    np.testing.assert_allclose(before_share(one, X, y, weight), exact.predict_proba(X), atol=1e-3)


def test_newton_ends_where_there_is_no_curvature():
    y = np.arange(200) % 2
    X = np.repeat(y[:, None], 400, axis=1)
    y[0] = 1
    model = HigherOrderLogisticRegression(
        1, ridge=0, solver="newton", start="generative", scaling="none", categorical_features="all"
    ).fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()


def test_a_fit_of_very_many_terms_is_announced_or_shows_its_progress(monkeypatch, capsys):
    monkeypatch.setattr("seminaive.models.term_layout.MANY_TERMS", 10)
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (1200, 6)).astype(str), rng.integers(0, 2, 1200)
    with pytest.warns(LongFitWarning, match="20 terms.*order=2 has 15 terms"):
        HigherOrderLogisticRegression(order=3, tol=0.1).fit(X, y)
    assert capsys.readouterr().err == ""
    HigherOrderLogisticRegression(order=3, tol=0.1, verbose=True).fit(X, y)
    shown = capsys.readouterr().err
    assert "order 3 of 6 columns, 20 terms, 1,200 rows" in shown
    assert "terms laid out 20/20" in shown
    with pytest.warns(LongFitWarning, match="15 terms"):
        HigherOrderLogisticRegressionCV(order=2, hierarchical=False, tol=0.1).fit(X, y)
