import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from sklearn.exceptions import NotFittedError
from typer.testing import CliRunner

from seminaive import (
    AcceleratedLogisticRegression,
    HigherOrderLogisticRegression,
    NaiveBayes,
    SemiNaive,
    save_model,
)
from seminaive.cli import app
from seminaive.errors import InputError, UnavailableError
from seminaive.explain import influence
from seminaive.models.ridge_problems import ridge_problem
from seminaive.solvers.leave_one_out import RidgeProblem

N_ROWS = 150


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {"a": rng.normal(size=N_ROWS), "b": rng.normal(size=N_ROWS), "kind": rng.choice(["u", "v"], N_ROWS)}
    )
    y = np.where(rng.random(N_ROWS) < expit(2 * X["a"] + (X["kind"] == "u")), "yes", "no")
    return X, y


@pytest.fixture(scope="module")
def three(table):
    X, _ = table
    rng = np.random.default_rng(1)
    y = np.array(["p", "q", "r"])[(X["a"] + rng.normal(size=N_ROWS) > 0).astype(int) + (X["b"] > 0.5)]
    return X, y


@pytest.fixture(scope="module")
def models(table, three):
    makers = {
        "semi": SemiNaive(),
        "order 1": HigherOrderLogisticRegression(order=1, solver="newton", tol=1e-8),
        "to generative": HigherOrderLogisticRegression(
            order=1, generative_share=1.0, solver="newton", tol=1e-8
        ),
        "accelerated": AcceleratedLogisticRegression(
            order=2, pull_to_generative=1.0, solver="newton", tol=1e-8
        ),
    }
    return {
        **{name: (model.fit(*table), table) for name, model in makers.items()},
        "semi, 3 classes": (SemiNaive(interactions=0).fit(*three), three),
        "order 1, 3 classes": (HigherOrderLogisticRegression(order=1).fit(*three), three),
    }


NAMES = ("semi", "order 1", "to generative", "accelerated", "semi, 3 classes", "order 1, 3 classes")


def centred(scores):
    return scores - scores.mean(axis=1, keepdims=True) if scores.shape[1] > 1 else scores


@pytest.mark.parametrize("name", NAMES)
def test_rows_are_left_out_as_by_refits_to_a_hundredth_of_the_change(models, name):
    model, rows = models[name]
    problem = ridge_problem(model, *rows)
    found = problem.leave_one_out()
    whole = problem.solve()
    change, exact = [], []
    for row in range(0, N_ROWS, 5):
        weight = np.where(np.arange(N_ROWS) == row, 0.0, problem.row_weight)
        exact.append(problem.scores(problem.solve(weight, whole))[row] - found.scores[row])
        change.append(found.left_out[row] - found.scores[row])
    change, exact = centred(np.array(change)), centred(np.array(exact))
    error = np.linalg.norm(change - exact, axis=1) / np.linalg.norm(exact, axis=1)
    assert np.mean(error < 0.01) >= 0.95


@pytest.mark.parametrize("name", ["order 1", "to generative", "accelerated"])
def test_the_fit_that_rows_are_taken_out_of_is_that_of_the_model(models, name):
    model, rows = models[name]
    scores = ridge_problem(model, *rows).leave_one_out().scores
    assert np.abs(scores[:, 0] - model.decision_function(rows[0])).max() < 1e-4


def test_influence_is_what_the_penalised_loss_gains_from_the_row(models):
    model, rows = models["order 1"]
    problem = ridge_problem(model, *rows)
    found, objective = problem.leave_one_out(), problem.objective()
    whole = problem.solve()
    least = float(objective(whole)[0].sum())
    row = int(np.argmax(found.influence))
    without = problem.solve(np.where(np.arange(N_ROWS) == row, 0.0, problem.row_weight), whole)
    excess = 2 * (float(objective(without)[0].sum()) - least)
    assert found.influence[row] == pytest.approx(excess, rel=0.1)  # quadratic to first order


def test_more_features_than_rows_are_the_same_problem_through_their_products():
    rng = np.random.default_rng(0)
    features = np.column_stack([np.ones(30), rng.normal(size=(30, 80))])
    labels = rng.integers(0, 2, 30)
    strength = np.append(0.0, rng.uniform(5, 20, 80))[:, None]
    whole = RidgeProblem(features, strength, labels, np.ones(30), 2)
    small = whole.reduced()
    assert small.features.shape[1] <= 31
    for one, other in zip(
        (whole.leave_one_out().left_out, whole.leave_one_out().influence),
        (small.leave_one_out().left_out, small.leave_one_out().influence),
        strict=True,
    ):
        assert np.abs(one - other).max() < 1e-6


@pytest.mark.parametrize("name", ["semi", "order 1"])
def test_flipped_labels_come_first(table, name):
    X, y = table[0].assign(a=10 * table[0]["a"]), None
    y = np.where(X["a"] > 0, "yes", "no")
    flipped = np.flatnonzero(np.abs(X["a"]) > 5)[:7]
    y[flipped] = np.where(y[flipped] == "yes", "no", "yes")
    model = SemiNaive(interactions=0) if name == "semi" else HigherOrderLogisticRegression(order=1)
    first = influence(model.fit(X, y), X, y).head(7)
    assert np.isin(first["row"], flipped).mean() >= 0.5
    assert (first["label"] != first["likelier"]).all()


def test_what_has_no_hessian_or_other_rows_is_refused(table, models):
    X, y = table
    with pytest.raises(UnavailableError, match="NaiveBayes is not the minimum of a smooth penalised loss"):
        influence(NaiveBayes().fit(X, y), X, y)
    with pytest.raises(InputError, match="pass the rows that it was fitted to"):
        influence(models["order 1"][0], X[:100], y[:100])
    with pytest.raises(InputError, match="leave such rows out"):
        influence(models["order 1"][0], X, y, np.zeros(N_ROWS))
    shaped = SemiNaive(interactions=0, shapes={"a": "increasing"}).fit(X, y)
    with pytest.raises(UnavailableError, match="shapes or smoothness"):
        influence(shaped, X, y)
    started = SemiNaive(start=NaiveBayes().fit(X, y)).fit(X, y)
    with pytest.raises(UnavailableError, match="started from an earlier one"):
        influence(started, X, y)


def test_the_command_lists_doubtful_rows(table, models, tmp_path):
    X, y = table
    X.assign(y=y).to_csv(tmp_path / "rows.csv", index=False)
    save_model(models["order 1"][0], tmp_path / "m.model")
    given = ["explain", tmp_path / "m.model", "--rows", tmp_path / "rows.csv", "--truth", "y", "--most", "3"]
    shown = CliRunner().invoke(app, [str(part) for part in given], catch_exceptions=False).output
    assert "rows have another class by the fit to all others" in shown
    assert str(influence(models["order 1"][0], X, y)["row"].iloc[0]) in shown
    with pytest.raises(InputError, match="give both"):
        CliRunner().invoke(app, [str(part) for part in given[:4]], catch_exceptions=False)


def test_a_model_that_is_not_fitted_is_refused():
    with pytest.raises(NotFittedError):
        influence(SemiNaive(), [[0.0], [1.0]], [0, 1])
