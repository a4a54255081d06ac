"""The simulations of the paper on shrinking toward naive Bayes."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from scipy.stats import norm

from seminaive.models import NaiveBayesLogisticRegressionCV
from seminaive_experiments.papers.multinom import multinom
from seminaive_experiments.papers.nbrlr import (
    METHODS,
    PAPER_CELLS,
    PATH_OF_THE_PAPERS,
    REPRODUCTIONS,
    _estimates,
    _jackknife_errors,
    bias_and_variance,
    mean_losses,
    simulate,
    toward_zero,
)
from seminaive_experiments.papers.reproduction import (
    RunOptions,
    compare_with_paper,
    published_table,
    runnable,
)
from seminaive_experiments.papers.simulations import Simulation


@pytest.mark.parametrize("setting", [1, 3])
def test_the_latent_correlation_is_that_of_the_paper(setting):
    X, _ = Simulation(setting, 4, 0.6).draw(100_000, np.random.default_rng(0))
    found = np.corrcoef(X.T)[np.triu_indices(4, 1)]
    # Cutting two normals at their means leaves the arc sine of their correlation.
    expected = 0.6 if setting == 3 else 2 / np.pi * np.arcsin(0.6)
    # 100,000 rows: a standard error of 0.003.
    np.testing.assert_allclose(found, expected, atol=0.012)


def test_setting_one_draws_classes_from_its_true_coefficients():
    simulation = Simulation(1, 4, 0.1)
    X, y = simulation.draw(200_000, np.random.default_rng(1))
    truth = simulation.true_coefficients()
    assert truth.tolist() == [0, -1, -1, 1, 1]
    for pattern in ([1, 1, 0, 0], [0, 1, 1, 1]):
        rows = np.array([row == pattern for row in X.tolist()])
        expected = expit(truth[0] + truth[1:] @ pattern)
        assert y[rows].mean() == pytest.approx(expected, abs=4 * np.sqrt(0.25 / rows.sum()))


def test_setting_two_draws_predictors_given_the_class():
    X, y = Simulation(2, 4, 0.6).draw(100_000, np.random.default_rng(2))
    assert y.mean() == pytest.approx(0.5, abs=0.01)
    high, low = norm.cdf(0.2), norm.cdf(-0.2)
    np.testing.assert_allclose(X[y == 1].mean(axis=0), [high, high, low, low], atol=0.01)
    np.testing.assert_allclose(X[y == 0].mean(axis=0), [low, low, high, high], atol=0.01)


def test_setting_four_mixes_binary_and_normal_predictors_of_one_logistic_model():
    simulation = Simulation(4, 6, 0.6)
    X, y = simulation.draw(100_000, np.random.default_rng(3))
    assert simulation.categorical == [0, 2, 4]
    assert np.unique(X[:, [0, 2, 4]]).tolist() == [0, 1]
    np.testing.assert_allclose(X[:, [1, 3, 5]].std(axis=0), 1, atol=0.01)
    # A cut normal keeps sqrt(2 / pi) of its correlation with another one.
    np.testing.assert_allclose(np.corrcoef(X[:, 0], X[:, 1])[0, 1], 0.6 * np.sqrt(2 / np.pi), atol=0.012)
    truth = simulation.true_coefficients()
    expected = expit(X @ truth[1:])
    high = expected > 0.8
    assert y[high].mean() == pytest.approx(expected[high].mean(), abs=4 * np.sqrt(0.25 / high.sum()))


def test_a_repetition_of_mixed_predictors_judges_every_method():
    found = pd.DataFrame(simulate(4, 1000, 6, 0.1, 0)).set_index("method")
    assert list(found.index) == list(METHODS)
    assert found["L01"].between(0.05, 0.5).all()
    slopes = np.array(found.loc["LR", "coefficients"].split(), dtype=float)[1:]
    # A slope of 1,000 rows has a standard error of 0.08 for a normal predictor, 0.15 for a binary one.
    np.testing.assert_allclose(slopes, [-1, -1, -1, 1, 1, 1], atol=0.5)


def test_a_repetition_is_the_same_every_time_and_judges_every_method():
    first, second = (list(simulate(1, 100, 10, 0.6, 3)) for _ in range(2))
    assert first == second
    assert [record["method"] for record in first] == list(METHODS)
    assert list(simulate(1, 100, 10, 0.6, 4)) != first


def test_the_error_of_coefficients_is_bias_plus_variance():
    records = pd.DataFrame(
        [
            {"setting": 1, "n_train": 100, "p": 10, "r": 0.1, "repetition": repetition, **record}
            for repetition in range(3)
            for record in simulate(1, 100, 10, 0.1, repetition)
        ]
    )
    losses = mean_losses(records).query("metric == 'MSE'").set_index("method")["ours"]
    parts = bias_and_variance(records).pivot(index="method", columns="moment", values="ours")
    # Records keep five digits of each coefficient.
    np.testing.assert_allclose(
        losses[list(METHODS)], (parts["bias"] + parts["variance"] * 2 / 3)[list(METHODS)], rtol=1e-3
    )


def test_every_cell_of_the_printed_tables_has_a_counterpart_but_the_hybrid(tmp_path):
    table = runnable("dissertation-table2.1")
    cells = table.run(RunOptions(2, path=tmp_path / "run", progress=False))
    comparison = compare_with_paper(table, cells.assign(se=0.0))
    assert comparison.n_without_ours == 0
    assert len(comparison.cells) == 48
    for name in ("nbrlr-table1", "nbrlr-table2"):
        printed = published_table(name)
        assert set(printed["method"]) - {"HybridLRNB"} == set(METHODS)
        assert {(int(n), int(p), float(r)) for n, p, r in printed[["n_train", "p", "r"]].to_numpy()} == set(
            PAPER_CELLS
        )
    assert {table.name for table in REPRODUCTIONS} >= {f"nbrlr-table{k}" for k in (1, 2, 3, 4)}


def test_errors_of_bias_and_variance_are_those_of_repeated_samples():
    rng = np.random.default_rng(0)
    truth = np.array([0.0, 1.0])
    # Samples of 50 estimates: how much bias and variance vary between them, and what one sample says of it.
    samples = rng.normal(truth + np.array([0.3, -0.2]), size=(400, 50, 2))
    moments = [(((s.mean(axis=0) - truth) ** 2).mean(), s.var(axis=0, ddof=1).mean()) for s in samples]
    jackknifed = [list(_jackknife_errors(s, truth).values()) for s in samples]
    # 400 samples know a deviation to 4 %, and the jackknife errs upward by no more than a tenth here.
    np.testing.assert_allclose(np.mean(jackknifed, axis=0), np.std(moments, axis=0), rtol=0.15)


def test_separable_classes_are_left_where_multinom_stops_and_folds_ignore_the_classes():
    X, y = Simulation(1, 50, 0.1).draw(100, np.random.default_rng(0))
    found = _estimates(X, y, list(range(50)))
    expected = multinom(np.column_stack([np.ones(100), X]), y, 2)[:, 1]
    np.testing.assert_array_equal(found["LR"], expected)
    shares = [y[test].mean() for _, test in PATH_OF_THE_PAPERS["cv"].split(X, y)]
    assert len(shares) == 10
    assert max(shares) - min(shares) > 0.1  # stratified folds of ten rows differ by at most one row


def test_the_papers_path_goes_on_where_classes_are_separated():
    X, y = Simulation(1, 50, 0.1).draw(100, np.random.default_rng(0))
    ours, plain = toward_zero("Lasso"), NaiveBayesLogisticRegressionCV(**toward_zero("Lasso").get_params())
    lengths = [len(model.fit(X.astype(float), y).path_.strengths) for model in (ours, plain)]
    assert lengths[0] > lengths[1]
    deviance = ours.path_.deviance
    assert deviance[-2] > 0.001 * deviance[0] >= deviance[-1]
