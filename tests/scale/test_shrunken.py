"""Logistic regression shrunk toward naive Bayes, over blocks of rows."""

import numpy as np
import pytest
from sklearn.base import clone

from seminaive import load_model, save_model, scale
from seminaive.design.reference import (
    ReferenceDesign,
    means_and_deviations,
    reference_codes,
)
from seminaive.encode import TableEncoder
from seminaive.errors import InputError, TooLargeError
from seminaive.models import (
    NaiveBayesLogisticRegression,
    NaiveBayesLogisticRegressionCV,
)
from seminaive.scale import partitions, searching
from seminaive.scale.reference_blocks import Layout, path_curvature, path_derivatives
from seminaive.scale.work import Work
from seminaive.solvers import PathOptions, blocked_path
from seminaive.solvers.path_columns import Columns
from seminaive.statistics import TableStatistics

MODELS = {
    "L1": NaiveBayesLogisticRegression(strength=3.0),
    "elastic net": NaiveBayesLogisticRegression(strength=5.0, penalty=0.5),
    "L2": NaiveBayesLogisticRegression(strength=20.0, penalty="l2"),
    "half of naive Bayes": NaiveBayesLogisticRegression(strength=3.0, generative_share=0.5),
    "lasso": NaiveBayesLogisticRegression(strength=3.0, target="zero", penalize_intercept=False),
    "raw columns": NaiveBayesLogisticRegression(strength=1.0, standardize=False),
    "no penalty": NaiveBayesLogisticRegression(strength=0.0),
    "neutral": NaiveBayesLogisticRegression(strength=3.0, missing="neutral"),
    "naive Bayes": NaiveBayesLogisticRegression(strength=1e6),
}


# Between the strength_max of 100 of the mixed rows, about 6, and that of all, 67.
HELD = 20.0


def features(frame):
    return frame.drop(columns=[name for name in ("outcome", "weight") if name in frame])


def parts(frame):
    return [frame[:700], frame[700:720], frame[720:720], frame[720:]]


def encoded(model, frame):
    return TableEncoder(model.schema_).encode(features(frame))


def centred(coefficients):
    """Take off what all classes have in common, which no likelihood sees."""
    return (
        coefficients - coefficients.mean(axis=-1, keepdims=True) if coefficients.ndim == 2 else coefficients
    )


def objective(model, moments):
    """Return the penalised loss at the end of a path; with standardised columns, that of centred ones."""
    path = model.path_
    away = path.coefficients[-1] - path.target
    if model.standardize:
        away[0] += moments[0][1:] @ away[1:]
    net = model.penalty_toward(np.zeros_like(away))
    scaled = away * (moments[1][:, None] if net.standardize else 1.0)
    penalties = net.l1_share * np.abs(scaled) + (1 - net.l1_share) * scaled**2 / 2
    return path.deviance[-1] / 2 + path.strengths[-1] * np.sum(net.factors_of(away.shape) * penalties)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_optimum_over_blocks_is_that_in_memory(name, n_classes, mixed_rows, tmp_path, monkeypatch):
    monkeypatch.setattr(partitions, "ROWS_AT_ONCE", 500)
    frame = mixed_rows(2000, n_classes=n_classes)
    model = clone(MODELS[name]).set_params(tol=3e-5)
    expected = clone(model).fit(features(frame), frame["outcome"])
    scratch = tmp_path if n_classes == 3 else None
    data = scale.from_batches(parts(frame), target="outcome")
    scale.fit(model, data, runner=scale.LocalRunner(2), scratch=scratch)
    assert not any(tmp_path.iterdir())
    path, known = model.path_, expected.path_
    assert path.converged.all()
    assert path.gap.max() <= 1e-9
    np.testing.assert_allclose(path.strengths, known.strengths, rtol=1e-12)
    np.testing.assert_allclose(path.deviance, known.deviance, rtol=1e-7)
    statistics = TableStatistics.of(
        encoded(model, frame), np.searchsorted(model.classes_, frame["outcome"]), n_classes
    )
    moments = means_and_deviations(statistics, model.references_)
    assert objective(model, moments) == pytest.approx(objective(expected, moments), rel=1e-12)
    assert model.references_ == expected.references_
    np.testing.assert_allclose(model.coefficients_, expected.coefficients_, atol=1e-7)
    np.testing.assert_allclose(
        centred(model.maximum_likelihood_), centred(expected.maximum_likelihood_), atol=1e-6
    )
    np.testing.assert_allclose(model.scores_.tables, expected.scores_.tables, atol=1e-7)
    summary, its = model.summary_, expected.summary_
    np.testing.assert_array_equal(summary.cells.counts.counts, its.cells.counts.counts)
    X = features(frame)
    save_model(model, tmp_path / "model")
    np.testing.assert_array_equal(load_model(tmp_path / "model").predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("missing", ["value", "neutral"])
def test_moments_from_statistics_are_those_of_the_rows(mixed, missing):
    mixed["constant"] = 0.1
    weight = np.arange(len(mixed)) % 4 + 0.5
    model = NaiveBayesLogisticRegression(missing=missing, strength=1e6).fit(
        features(mixed), mixed["outcome"], sample_weight=weight
    )
    table = encoded(model, mixed)
    labels = np.searchsorted(model.classes_, mixed["outcome"])
    statistics = TableStatistics.of(table, labels, 2, weight)
    found = means_and_deviations(statistics, model.references_)
    centres = model.scores_.numeric.centres
    numbers = np.where(np.isnan(table.numbers), centres, table.numbers)
    design = ReferenceDesign.of(numbers, table.codes, table.cardinalities, model.references_)
    for found_part, known in zip(found, design.means_and_deviations(weight), strict=True):
        np.testing.assert_allclose(found_part, known, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_derivatives_and_what_certifies_them_add_up_over_blocks(n_classes, mixed_rows):
    frame = mixed_rows(2000, n_classes=n_classes)
    model = NaiveBayesLogisticRegression()
    work = Work(model, scale.from_batches([frame], target="outcome"), scale.LocalRunner(), None, None)
    survey, coding = work.coded()
    statistics = work.statistics(survey, coding)
    references = reference_codes(statistics)
    rows = coding.encode(features(frame), frame["outcome"], None)
    linear = model.anchored(rows.table, statistics, 1.0)
    layout = Layout(references, linear.anchor, model.target_of(linear))
    blocks = [
        layout.block(coding.encode(features(part), part["outcome"], None))
        for part in parts(frame)
        if len(part)
    ]
    moments = means_and_deviations(statistics, references)
    design = linear.design
    columns = Columns.of(moments, design.n_coefficients, design.n_numbers, standardize=True, centred=False)
    x = np.random.default_rng(0).normal(size=blocks[0].n_scores * (design.n_coefficients + 1)) / 10
    slot = np.append(np.arange(design.n_coefficients), design.n_coefficients)
    g, facts = path_derivatives(blocks, columns, x)
    expected, known = path_derivatives([layout.block(rows)], columns, x)
    np.testing.assert_allclose(g, expected, atol=1e-12 * np.abs(expected).max())
    np.testing.assert_allclose(facts, known, rtol=1e-12)  # loss, odds and least margin
    found = path_curvature(blocks, columns, x, slot, design.n_coefficients)
    whole = path_curvature([layout.block(rows)], columns, x, slot, design.n_coefficients)
    lower = np.tril_indices(design.n_coefficients * blocks[0].n_scores)
    np.testing.assert_allclose(found[lower], whole[lower], atol=1e-12 * np.abs(whole[lower]).max())


@pytest.mark.filterwarnings("ignore::seminaive.errors.ConvergenceWarning")
@pytest.mark.parametrize("max_steps", [3, 4])
def test_a_free_intercept_has_the_gap_of_the_fit_in_memory_where_steps_run_out(mixed, max_steps, monkeypatch):
    # The residual is small from the first steps on, the gap never.
    options = PathOptions(gap_tol=1e-30, residual_tol=0.1, max_steps=max_steps, stop_early=False)
    monkeypatch.setattr(NaiveBayesLogisticRegression, "_options", lambda *_, **__: options)
    expected = clone(MODELS["lasso"]).fit(features(mixed), mixed["outcome"]).path_
    data = scale.from_batches(parts(mixed), target="outcome")
    found = scale.fit(clone(MODELS["lasso"]), data).path_
    assert not found.converged[-1]
    assert expected.gap[-1] < 1e-3
    np.testing.assert_allclose(found.gap[-1], expected.gap[-1], rtol=1e-3)


def test_threads_and_scratch_change_no_bit(mixed, tmp_path):
    data = scale.from_batches(parts(mixed), target="outcome")
    fits = [
        scale.fit(clone(MODELS["L1"]), data, runner=scale.LocalRunner(n_jobs), scratch=scratch)
        for n_jobs, scratch in ((1, None), (3, None), (2, tmp_path))
    ]
    for other in fits[1:]:
        np.testing.assert_array_equal(other.scores_.tables, fits[0].scores_.tables)
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_weights_count_as_in_memory(mixed, class_weight):
    mixed["weight"] = np.random.default_rng(1).integers(0, 4, len(mixed)).astype(float)
    data = scale.from_batches(parts(mixed), target="outcome", weight="weight")
    model = NaiveBayesLogisticRegression(strength=3.0, tol=3e-5, class_weight=class_weight)
    expected = clone(model).fit(features(mixed), mixed["outcome"], sample_weight=mixed["weight"])
    scale.fit(model, data)
    np.testing.assert_allclose(model.coefficients_, expected.coefficients_, atol=1e-7)


def test_a_path_that_stops_early_ends_where_that_in_memory_does(mixed):
    # The classes are separated by one column: without a penalty the coefficients would grow for ever.
    mixed["place"] = np.where(mixed["outcome"] == "low", "a", "b")
    model = NaiveBayesLogisticRegression(strength=0.0)
    expected = clone(model).fit(features(mixed), mixed["outcome"])
    scale.fit(model, scale.from_batches(parts(mixed), target="outcome"))
    assert len(model.path_) == len(expected.path_)
    np.testing.assert_allclose(model.path_.strengths, expected.path_.strengths, rtol=1e-9)


def test_a_block_of_separated_rows_does_not_end_a_path_of_others(mixed):
    model = NaiveBayesLogisticRegression(strength=0.0)
    expected = clone(model).fit(features(mixed), mixed["outcome"])
    sure = int(expected.predict_proba(features(mixed))[:, 0].argmax())
    data = scale.from_batches([mixed[sure : sure + 1], mixed.drop(index=sure)], target="outcome")
    scale.fit(model, data)
    np.testing.assert_allclose(model.path_.strengths, expected.path_.strengths, rtol=1e-9)


def test_a_working_set_by_the_strong_rule_has_the_same_optimum(mixed_rows, monkeypatch):
    from seminaive.solvers import elastic_net_path

    frame = mixed_rows(2000)
    frame["many"] = [f"value {n}" for n in np.random.default_rng(0).integers(0, 60, len(frame))]
    model = NaiveBayesLogisticRegression(strength=8.0, tol=3e-5)
    expected = clone(model).fit(features(frame), frame["outcome"])
    monkeypatch.setattr(elastic_net_path, "ALWAYS_WHOLE", 0)
    scale.fit(model, scale.from_batches(parts(frame), target="outcome"))
    np.testing.assert_allclose(model.coefficients_, expected.coefficients_, atol=1e-7)
    assert (model.coefficients_ == model.target_).any()


def test_too_many_coefficients_are_refused_with_what_to_do(mixed, monkeypatch):
    monkeypatch.setattr(blocked_path, "WIDEST", 3)
    model = NaiveBayesLogisticRegression(strength=0.1)
    with pytest.raises(TooLargeError, match="more than 3 coefficients leave their targets at a strength of"):
        scale.fit(model, scale.from_batches(parts(mixed), target="outcome"))
    assert not hasattr(model, "classes_")


def test_what_is_wrong_with_parameters_is_said_before_anything_is_read():
    data = scale.from_batches([lambda: 1 / 0], target="outcome")
    with pytest.raises(InputError, match="strength is a finite number, 0 or more, got -1"):
        scale.fit(NaiveBayesLogisticRegression(strength=-1), data)


@pytest.mark.parametrize("selection", ["min", "one-standard-error"])
def test_strengths_searched_on_all_rows_give_the_answer_of_the_search_in_memory(mixed, selection, tmp_path):
    frame = mixed[:1200]
    options = {"strengths": 12, "cv": 3, "tol": 3e-5, "selection": selection}
    expected = NaiveBayesLogisticRegressionCV(**options).fit(features(frame), frame["outcome"])
    model = NaiveBayesLogisticRegressionCV(**options)
    scale.fit(model, scale.from_batches(parts(frame), target="outcome"))
    for name in ("strength_", "best_strength_", "one_standard_error_strength_", "generative_share_"):
        assert getattr(model, name) == pytest.approx(getattr(expected, name), rel=1e-12)
        assert model.coefficients_at(max(model.best_strength_, 1e-9)).shape == model.coefficients_.shape
    np.testing.assert_allclose(model.coefficients_, expected.coefficients_, atol=1e-7)
    np.testing.assert_array_equal(model.fold_losses_.mean, expected.fold_losses_.mean)
    save_model(model, tmp_path / "model")
    assert load_model(tmp_path / "model").strength_ == model.strength_


def test_the_search_sees_a_sample_and_the_path_all_rows(mixed, monkeypatch):
    monkeypatch.setattr(searching, "MOST_SEARCHED", 400)
    options = {"strengths": 10, "cv": 3, "class_weight": "balanced", "selection": "min", "penalty": "l1"}
    fits = [
        scale.fit(NaiveBayesLogisticRegressionCV(**options), scale.from_batches(part, target="outcome"))
        for part in ([mixed], parts(mixed))
    ]
    np.testing.assert_array_equal(fits[0].fold_losses_.mean, fits[1].fold_losses_.mean)
    assert fits[0].summary_.class_weight.sum() == pytest.approx(len(mixed))
    model = fits[0]
    same = NaiveBayesLogisticRegression(
        strength=model.strength_, generative_share=model.generative_share_, class_weight="balanced"
    )
    same.fit(features(mixed), mixed["outcome"])
    np.testing.assert_allclose(model.coefficients_, same.coefficients_, atol=1e-4)


def test_where_the_search_chose_the_target_all_rows_keep_it(mixed, monkeypatch):
    monkeypatch.setattr(searching, "MOST_SEARCHED", 100)
    # Enough to hold all coefficients at the target of the sample, and not at that of all rows.
    options = {"strengths": [HELD], "generative_shares": [1.0], "cv": 2, "selection": "min", "penalty": "l1"}
    free = NaiveBayesLogisticRegression(strength=HELD).fit(features(mixed), mixed["outcome"])
    assert (free.coefficients_ != free.target_).any()
    model = NaiveBayesLogisticRegressionCV(**options)
    scale.fit(model, scale.from_batches(parts(mixed), target="outcome"))
    np.testing.assert_allclose(model.coefficients_, free.target_, rtol=1e-9)


def test_noise_has_the_class_shares_of_all_rows(mixed):
    noise = mixed.sample(frac=1.0, random_state=1).assign(
        outcome=np.where(np.arange(len(mixed)) % 4 == 0, "a", "b")
    )
    model = NaiveBayesLogisticRegressionCV(cv=3, strengths=10)
    scale.fit(model, scale.from_batches(parts(noise), target="outcome"))
    assert np.abs(model.predict_proba(features(noise))[:, 0] - 0.25).max() < 1e-3
