"""Forward stagewise naive Bayes: generators, protocols, StarPlus, and what the figures show."""

import numpy as np
import pandas as pd
import pytest
from scipy.io import savemat
from sklearn.base import clone

from seminaive import (
    CorrelationFeatureSelector,
    ForwardStagewiseNaiveBayes,
    NaiveBayes,
    SelectiveNaiveBayes,
)
from seminaive.encode import mdl_cuts
from seminaive.errors import InputError
from seminaive_experiments.papers import fsnb, fsnb_figures
from seminaive_experiments.papers.fsnb import SCENARIOS
from seminaive_experiments.papers.reproduction import (
    RunOptions,
    compare_with_paper,
    published_table,
    runnable,
)
from seminaive_experiments.papers.starplus import starplus_table
from seminaive_experiments.papers.weka import LocallyPredictiveSelector


@pytest.mark.parametrize("name", list(SCENARIOS))
def test_noisy_columns_are_irrelevant_or_repeat_a_relevant_one(name):
    sample = SCENARIOS[name].draw(np.random.default_rng(0), n_train=20_000, n_test=10)
    codes = sample.X.apply(lambda column: column.astype(float)).to_numpy()
    noisy = codes[:, sample.noisy]
    assert noisy.shape[1] == 10
    informative = codes[:, ~sample.noisy]
    nearest = [max(np.mean(np.abs(column - other) < 0.4) for other in informative.T) for column in noisy.T]
    if SCENARIOS[name].redundant:
        assert min(nearest) > 0.89
    else:
        means = np.array([noisy[sample.y == c].mean(axis=0) for c in range(3)])
        assert np.ptp(means, axis=0).max() < 0.06


@pytest.mark.parametrize("name", ["DR", "CR"])
def test_all_redundant_predictors_copy_one_relevant_predictor(name):
    sample = SCENARIOS[name].draw(np.random.default_rng(1), n_train=20_000, n_test=10)
    codes = sample.X.apply(lambda column: column.astype(float)).to_numpy()
    noisy = codes[:, sample.noisy]
    near = [[np.mean(np.abs(one - other) < 0.4) for other in noisy.T] for one in noisy.T]
    # Two copies of one predictor both hold its value in 0.9 x 0.9 of the rows.
    assert np.min(near) > 0.8


def test_the_papers_three_quarters_are_a_variance():
    sample = SCENARIOS["CI"].draw(np.random.default_rng(0), n_train=50_000, n_test=10)
    residual = sample.X - sample.X.groupby(sample.y).transform("mean")
    np.testing.assert_allclose(residual.var(), 0.75, rtol=0.03)


def test_locally_predictive_features_tell_more_about_the_class_than_about_a_feature_kept():
    added = 0
    for seed in range(5):
        sample = SCENARIOS["DI"].draw(np.random.default_rng(seed), n_test=10)
        plain = CorrelationFeatureSelector().fit(sample.X, sample.y)
        more = LocallyPredictiveSelector().fit(sample.X, sample.y)
        assert (more.support_ | ~plain.support_).all()
        shared = plain._encoded(sample.X, sample.y, None, mdl_cuts)
        for j in np.flatnonzero(more.support_ & ~plain.support_):
            assert (shared.between(j)[plain.support_] <= shared.with_class[j]).all()
            added += 1
        for j in np.flatnonzero(~more.support_):
            assert (shared.between(j)[more.support_] > shared.with_class[j]).any()
    assert added > 0


def test_predictors_between_two_others_copy_one_of_them_and_the_ends_of_the_chain_none():
    rng = np.random.default_rng(0)
    drawn = rng.normal(size=(20_000, 7))
    chain = fsnb._copy_neighbours(drawn, rng)
    np.testing.assert_array_equal(chain[:, [0, -1]], drawn[:, [0, -1]])
    np.testing.assert_allclose((chain == drawn).mean(axis=0)[1:-1], 0.5, atol=0.02)
    equal = [[np.mean(chain[:, i] == chain[:, j]) for j in range(7)] for i in range(7)]
    # A cell takes its right neighbour's value, which stays, or the other way round: 2 x 1/4 x 1/2.
    np.testing.assert_allclose([equal[i][i + 1] for i in range(1, 5)], 0.25, atol=0.02)
    assert equal[0][4] < 0.01


def test_relevant_columns_come_first_as_in_the_paper():
    for scenario in SCENARIOS.values():
        sample = scenario.draw(np.random.default_rng(0), 50, 10)
        assert sample.noisy.tolist() == [False] * 10 + [True] * 10


@pytest.mark.parametrize("name", ["SNB", "fsNB"])
def test_ties_go_to_the_leftmost_of_equal_predictors(name):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    telling = np.where(rng.random(200) < 0.8, y, 1 - y)
    X = pd.DataFrame({f"x{j}": telling for j in range(8)}).astype("category")
    model = clone(fsnb.METHODS[name]).fit(X, y)
    assert model.selected_features_ == ["x0"]


def test_diabetes_tables_have_the_papers_class_shares():
    for name, table in fsnb.diabetes_tables().items():
        first = eval(name.split(",")[0][1:])  # noqa: S307 - "(1/4" as a number
        assert np.mean(table.y == 0) == pytest.approx(first, abs=0.01)
        assert table.X.shape == (442, 10)


@pytest.mark.parametrize("name", ["fsnb-table1", pytest.param("fsnb-table2", marks=pytest.mark.slow)])
def test_a_short_run_gives_every_cell_that_the_paper_has(name):
    table = runnable(name)
    cells = table.run(RunOptions(repetitions=2, progress=False))
    comparison = compare_with_paper(table, cells)
    assert comparison.n_without_ours == 0
    assert len(comparison.cells) == (published_table(name)["status"] == "ok").sum()
    assert any("evaluations of SNB" in note for note in comparison.notes)


def write_starplus(path, n_trials=12):
    """A small file in the shape of StarPlus: rest first, then trials of 54 images, 30 voxels in 3 regions."""
    rng = np.random.default_rng(0)
    info = np.zeros(n_trials, dtype=[("cond", float), ("firstStimulus", object)])
    data = np.empty(n_trials, dtype=object)
    for trial in range(n_trials):
        first = "PS"[trial % 2]
        info[trial] = (1 if trial == 0 else 2 + trial % 2, first)
        scans = rng.normal(size=(54, 30))
        picture = slice(0, 8) if first == "P" else slice(16, 24)
        scans[picture, :10] += 2.0
        data[trial] = scans
    rois = np.zeros(3, dtype=[("name", object), ("columns", object)])
    for region in range(3):
        rois[region] = (f"R{region}", np.arange(10 * region, 10 * region + 10) + 1)
    savemat(path, {"info": info, "data": data, "meta": {"rois": rois}})


def test_a_users_copy_of_starplus_is_read_and_judged(tmp_path):
    write_starplus(tmp_path / "data-starplus-04799-v7.mat")
    table = starplus_table(tmp_path / "data-starplus-04799-v7.mat")
    assert table.X.shape == (11 * 16, 3)
    assert sorted(np.unique(table.y, return_counts=True)[1]) == [88, 88]
    means = table.X[table.y == "picture"].mean() - table.X[table.y == "sentence"].mean()
    assert means["R0"] == pytest.approx(2, abs=0.2)
    cells = runnable("fsnb-table3").run(RunOptions(1, folder=tmp_path))
    assert set(cells["subject"]) == {"04799"}
    comparison = compare_with_paper(runnable("fsnb-table3"), cells)
    assert len(comparison.cells) == 6 + 4
    assert cells.query("metric == 'error'")["ours"].max() < 0.1


def test_what_is_no_starplus_is_refused(tmp_path):
    with pytest.raises(InputError, match="no files"):
        runnable("fsnb-table3").run(RunOptions(1, folder=tmp_path))
    with pytest.raises(InputError, match="cannot be bundled"):
        runnable("fsnb-table3").run(RunOptions(1))
    savemat(tmp_path / "other.mat", {"a": 1})
    with pytest.raises(InputError, match="not a StarPlus subject"):
        starplus_table(tmp_path / "other.mat")


@pytest.mark.slow
def test_all_pairs_of_methods_are_compared_by_their_ranks():
    table = runnable("fsnb-table4")
    cells = table.run(RunOptions(2, progress=False))
    assert len(compare_with_paper(table, cells).cells) == 14  # one pair is printed twice
    assert cells["ours"].between(0, 1).all()
    assert cells.attrs["notes"][0].startswith("Mean ranks of the errors on 7 of 13 data sets")


def test_redundant_predictors_harm_naive_bayes_more_than_irrelevant_ones():
    models = {"NB": NaiveBayes(), "SNB": SelectiveNaiveBayes(criterion="training-error")}
    errors = fsnb_figures.noise_and_error(models, n_noisy=30, repetitions=5)
    means = errors.groupby(["method", "kind"])["error"].mean()
    assert means["NB", "30 redundant"] > means["NB", "30 irrelevant"] > means["NB", "no noise"]
    assert means["SNB", "30 redundant"] == pytest.approx(means["SNB", "no noise"], abs=0.01)


def test_errors_by_predictors_are_those_of_naive_bayes_on_the_first_columns():
    curve = fsnb_figures.errors_by_predictors("redundant", n_noisy=5)
    rng = np.random.default_rng(0)
    X, y = fsnb_figures.three_predictors(4000, rng)
    X = np.hstack([X, np.repeat(X[:, :1], 5, axis=1)])[:, :5]
    model = NaiveBayes(categorical_features="all").fit(X[:1000], y[:1000])
    assert curve["all"][4] == pytest.approx(np.mean(model.predict(X[1000:]) != y[1000:]))


@pytest.mark.parametrize("numbers", [False, True])
def test_partly_redundant_predictors_are_best_in_between(numbers):
    apart, together = (fsnb_figures.alpha_surface(share, numbers=numbers) for share in (0.0, 0.9))
    assert apart[-1, -1] <= apart.min() + 0.01
    assert together[-1, -1] > together.min() + 0.005


def test_the_errors_of_a_path_are_those_of_its_models():
    sample = fsnb_figures.noisy_frames()
    model = ForwardStagewiseNaiveBayes(criterion="aic").fit(sample.X, sample.y)
    errors = fsnb_figures.path_errors(model, sample)
    chosen = errors.iloc[model.chosen_step_]
    assert chosen["test error"] == pytest.approx(np.mean(model.predict(sample.X_test) != sample.y_test))
    along = fsnb_figures.errors_along_alpha(model, sample, step=0, feature=0)
    assert along["training error"].iloc[0] == pytest.approx(model.path_.training_error[0])
    assert isinstance(along, pd.DataFrame)
