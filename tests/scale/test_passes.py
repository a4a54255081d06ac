import os
import tempfile

import numpy as np
import pytest
from sklearn.base import clone

from seminaive import load_model, save_model, scale
from seminaive.design.table_design import TableDesign
from seminaive.encode import TableEncoder, mdl_cuts
from seminaive.errors import InputError, TooLargeError
from seminaive.models import (
    AcceleratedLogisticRegression,
    HigherOrderLogisticRegression,
    HigherOrderLogisticRegressionCV,
    NaiveBayes,
    NaiveBayesLogisticRegression,
    NaiveBayesLogisticRegressionCV,
    SelectiveNaiveBayes,
    SemiNaive,
    smooth_rows,
)
from seminaive.objective.empirical_loss import EmpiricalLoss
from seminaive.scale import partitions, searching
from seminaive.scale.blocks import (
    Blocks,
    Plan,
    code_partition,
    distinct_rows,
    joint_values,
    number_blocks,
    number_blocks_in_place,
    positions_among,
)
from seminaive.scale.coding import Coding
from seminaive.scale.work import Work
from seminaive_experiments.papers.variants import SquaredErrorHigherOrder

# Strictly convex by a margin: a gradient of relative norm 1e-10 leaves an error of that norm over the ridge.
MODELS = {
    "order 2": HigherOrderLogisticRegression(2, ridge=10.0),
    "order 1, whitened": HigherOrderLogisticRegression(1),
    "order 1, hierarchical": HigherOrderLogisticRegression(1, hierarchical=True, number_ridge=0.1),
    "order 2, hierarchical": HigherOrderLogisticRegression(2, hierarchical=True, ridge=[10.0, 20.0]),
    "generative share": HigherOrderLogisticRegression(
        2, ridge=10.0, generative_share=0.5, start="generative"
    ),
    "Newton": HigherOrderLogisticRegression(1, solver="newton"),
    "squared error": SquaredErrorHigherOrder(1, ridge=10.0),
    "ALR": AcceleratedLogisticRegression(2, pull_to_generative=1.0),
}


def features(frame):
    return frame.drop(columns=[name for name in ("outcome", "weight") if name in frame])


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_optimum_over_blocks_is_that_in_memory(name, n_classes, mixed_rows, write_parts, tmp_path):
    rng = np.random.default_rng(0)
    frame = mixed_rows(2500, n_classes=n_classes)
    expected = clone(MODELS[name]).set_params(tol=1e-10, max_iter=5000)
    expected.fit(features(frame), frame["outcome"])
    folder = write_parts(frame.iloc[rng.permutation(len(frame))], tmp_path / "parts", 6, rng)
    scratch = tmp_path / "scratch" if n_classes == 3 else None
    (tmp_path / "scratch").mkdir()
    model = scale.fit(
        clone(MODELS[name]).set_params(tol=1e-10, max_iter=5000),
        scale.from_parquet(folder, target="outcome"),
        runner=scale.LocalRunner(2),
        scratch=scratch,
    )
    assert model.objective_ == pytest.approx(expected.objective_, rel=1e-12)
    np.testing.assert_allclose(model.scores_.tables, expected.scores_.tables, atol=1e-7)
    np.testing.assert_allclose(model.scores_.prior, expected.scores_.prior, atol=1e-7)
    assert model.gradient_norm_ <= 1e-10
    summary, known = model.summary_, expected.summary_
    np.testing.assert_array_equal(summary.cells.counts.counts, known.cells.counts.counts)
    np.testing.assert_array_equal(summary.tuples.counts, known.tuples.counts)
    for sketch, other in zip(summary.numbers, known.numbers, strict=True):
        np.testing.assert_array_equal(sketch.bins, other.bins)
        np.testing.assert_array_equal(sketch.weights, other.weights)
    assert not any((tmp_path / "scratch").iterdir())
    if name == "squared error":
        with pytest.raises(InputError, match="only models of this package"):
            save_model(model, tmp_path / "model")
        return
    save_model(model, tmp_path / "model")
    X = features(frame)
    np.testing.assert_array_equal(load_model(tmp_path / "model").predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("hierarchical", [False, True])
def test_a_pass_over_blocks_is_the_pass_in_memory(n_classes, hierarchical, mixed_rows, monkeypatch):
    # Pieces are smaller than partitions here, so that blocks of one partition are added up too.
    monkeypatch.setattr(partitions, "ROWS_AT_ONCE", 300)
    frame = mixed_rows(3000, n_classes=n_classes)
    data = scale.from_batches([frame[:1100], frame[1100:1150], frame[1150:]], target="outcome")
    classes, labels = np.unique(frame["outcome"], return_inverse=True)
    _, table = TableEncoder.learn(features(frame), cut_rule=mdl_cuts, labels=labels)
    weights = np.ones(len(labels))
    design = TableDesign.of(table, weights, n_classes, order=2, hierarchical=hierarchical)
    loss = EmpiricalLoss(design, labels, weights, n_classes)
    coefficients = design.coefficients
    runner = scale.LocalRunner(2)
    coding = Coding(data.reading, table.schema, classes, None)
    plan = Plan.of(
        coding,
        data.partitions,
        runner,
        n_rows=3000,
        order=2,
        standardisation=(coefficients.centres, coefficients.spreads) if hierarchical else None,
    )
    blocks = Blocks(plan, data.partitions, runner, None, lambda: None)
    np.testing.assert_array_equal(blocks.design.coefficients.cells, coefficients.cells)
    estimate, squares = blocks.generative_estimate()
    np.testing.assert_array_equal(
        estimate.cell_weight, design.generative_estimate(labels, weights).cell_weight
    )
    np.testing.assert_allclose(squares, loss.squared_columns(), rtol=1e-13)
    blocked = blocks.loss(squares, "log-likelihood")
    coefficients = np.random.default_rng(0).normal(size=loss.shape)
    value, gradient = blocked(coefficients)
    expected, expected_gradient = loss(coefficients)
    np.testing.assert_allclose(value, expected, rtol=1e-13)
    scaled = np.abs(expected_gradient).max()
    np.testing.assert_allclose(gradient, expected_gradient, rtol=0, atol=1e-13 * scaled)
    again = blocked(coefficients)
    np.testing.assert_array_equal(again[1], gradient)


def test_threads_and_scratch_change_no_bit(mixed, tmp_path):
    data = scale.from_batches([mixed[:900], mixed[900:1000], mixed[1000:]], target="outcome")
    fits = [
        scale.fit(HigherOrderLogisticRegression(2), data, runner=scale.LocalRunner(n_jobs), scratch=scratch)
        for n_jobs, scratch in ((1, None), (3, None), (2, tmp_path))
    ]
    for other in fits[1:]:
        np.testing.assert_array_equal(other.scores_.tables, fits[0].scores_.tables)
    assert not any(tmp_path.iterdir())


def test_weights_count_as_repeated_rows(mixed):
    rng = np.random.default_rng(1)
    mixed["weight"] = rng.integers(0, 4, len(mixed)).astype(float)
    data = scale.from_batches([mixed[:900], mixed[900:]], target="outcome", weight="weight")
    options = {"order": 2, "ridge": 10.0, "tol": 1e-9, "max_iter": 5000}
    model = scale.fit(HigherOrderLogisticRegression(**options), data)
    expected = HigherOrderLogisticRegression(**options)
    expected.fit(features(mixed), mixed["outcome"], sample_weight=mixed["weight"])
    assert model.objective_ == pytest.approx(expected.objective_, rel=1e-12)
    np.testing.assert_allclose(model.scores_.tables, expected.scores_.tables, atol=1e-7)


def test_a_full_scratch_disk_is_a_sentence_and_leaves_nothing(mixed, tmp_path, monkeypatch):
    data = scale.from_batches([mixed[:900], mixed[900:]], target="outcome")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    model = HigherOrderLogisticRegression(1)
    with pytest.raises(TooLargeError, match=r"GB free, and .* name a folder on a larger disk in scratch"):
        scale.fit(model, data, scratch=tmp_path)
    assert not any(tmp_path.iterdir())
    assert not hasattr(model, "classes_")


def test_what_cannot_be_fitted_out_of_core_says_so(mixed, tmp_path):
    data = scale.from_batches([mixed], target="outcome")
    with pytest.raises(InputError, match=r"SelectiveNaiveBayes cannot be fitted out of core.*NaiveBayes"):
        scale.fit(SelectiveNaiveBayes(), data)
    with pytest.raises(InputError, match="solver='sgd' visits single rows"):
        scale.fit(HigherOrderLogisticRegression(solver="sgd"), data)
    for model in (HigherOrderLogisticRegression(), NaiveBayes()):
        with pytest.raises(InputError, match="scratch is an existing folder"):
            scale.fit(model, data, scratch=tmp_path / "none")


def test_strengths_searched_on_all_rows_give_the_answer_of_the_search_in_memory(mixed):
    frame = mixed[:1200]
    # One trial: in memory the answer is an average of those that were tried.
    options = {"order": 1, "cv": 3, "tol": 1e-8, "first_ridges": [1.0], "ridges": [1.0]}
    options |= {"number_shares": [1.0], "generative_shares": [0.25]}
    expected = HigherOrderLogisticRegressionCV(**options).fit(features(frame), frame["outcome"])
    data = scale.from_batches([frame[:500], frame[500:]], target="outcome")
    model = scale.fit(HigherOrderLogisticRegressionCV(**options), data)
    assert model.ridge_ == expected.ridge_
    assert model.generative_share_ == expected.generative_share_
    # The objective is the same; the two solvers stop by their own certificates.
    assert model.objective_ == pytest.approx(expected.objective_, rel=1e-9)
    X = features(frame)
    np.testing.assert_allclose(model.predict_proba(X), expected.predict_proba(X), atol=1e-5)


def test_a_sample_does_not_depend_on_the_partitions_of_the_same_rows(mixed, monkeypatch):
    monkeypatch.setattr(searching, "MOST_SEARCHED", 400)
    options = {"order": 1, "cv": 2, "first_ridges": [1.0, 10.0], "class_weight": "balanced"}
    fits = [
        scale.fit(HigherOrderLogisticRegressionCV(**options), scale.from_batches(parts, target="outcome"))
        for parts in ([mixed], [mixed[:7], mixed[7:7], mixed[7:1300], mixed[1300:]])
    ]
    np.testing.assert_array_equal(fits[0].cv_results_["log_loss"], fits[1].cv_results_["log_loss"])
    assert fits[0].summary_.class_weight.sum() == pytest.approx(len(mixed))


@pytest.mark.parametrize("model", [HigherOrderLogisticRegressionCV(1), NaiveBayesLogisticRegressionCV()])
def test_a_sample_of_one_class_is_a_sentence(model, mixed, monkeypatch):
    monkeypatch.setattr(searching, "MOST_SEARCHED", 20)
    rare = mixed.assign(outcome=np.where(np.arange(len(mixed)) == 7, "yes", "no"))
    with pytest.raises(
        InputError, match=r"its 20 rows are all of one class.*take \w+Regression with a strength"
    ):
        scale.fit(model, scale.from_batches([rare], target="outcome"))


def test_noise_has_the_class_shares_of_all_rows(mixed, tmp_path):
    noise = mixed.assign(outcome=np.where(np.arange(len(mixed)) % 4 == 0, "a", "b"))
    noise = noise.sample(frac=1.0, random_state=1).assign(outcome=noise["outcome"].to_numpy())
    data = scale.from_batches([noise[:1000], noise[1000:]], target="outcome")
    model = scale.fit(HigherOrderLogisticRegressionCV(order=1, cv=3), data)
    assert np.abs(model.predict_proba(features(noise))[:, 0] - 0.25).max() < 0.02
    save_model(model, tmp_path / "model")
    load_model(tmp_path / "model")


@pytest.mark.parametrize("n_columns", [1, 3, 60])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32])
def test_joint_values_are_numbered_as_sorted_rows_however_many_there_are(n_columns, dtype):
    # 3^60 joint values do not fit in 64 bits.
    rng = np.random.default_rng(n_columns)
    rows = rng.integers(0, 3, (500, n_columns)).astype(dtype)
    rows[1::2] = rows[::2]
    rows[:, 0] *= 80
    expected, positions = np.unique(rows, axis=0, return_inverse=True)
    found = distinct_rows(rows)
    np.testing.assert_array_equal(found, expected)
    assert found.dtype == dtype
    np.testing.assert_array_equal(positions_among(rows, found), positions.ravel())
    some = rows[rows[:, 0] == 0]  # fewer values than those among which they are looked up
    np.testing.assert_array_equal(found[positions_among(some, found)], some)


def test_a_scratch_folder_that_cannot_be_written_to_is_a_sentence(mixed, tmp_path, monkeypatch):
    data = scale.from_batches([mixed], target="outcome")

    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    for module, name in ((tempfile, "mkdtemp"), (os, "posix_fallocate")):
        with monkeypatch.context() as patch:
            patch.setattr(module, name, refuse)
            with pytest.raises(
                InputError, match=r"cannot be written to .* Permission denied. Name another folder"
            ):
                scale.fit(HigherOrderLogisticRegression(1), data, scratch=tmp_path)
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("in_place", [False, True])
def test_cells_can_be_numbered_again_unless_they_are_numbered_in_place(in_place, mixed):
    data = scale.from_batches([mixed[:1000], mixed[1000:]], target="outcome")
    work = Work(HigherOrderLogisticRegression(2, bins=4), data, scale.LocalRunner(), None, None)
    survey, coding = work.coded()
    plan = Plan.of(coding, data.partitions, work.runner, n_rows=survey.n_rows, order=2, standardisation=None)
    coded = code_partition((0, data.partitions[1]), plan, None)
    every = [distinct_rows(np.concatenate([values, values + 1])) for values in joint_values(coded)]
    offsets = plan.design(every).fused.offsets
    before = coded[0].cells.copy()
    number = number_blocks_in_place if in_place else number_blocks
    block = number(coded, every, offsets)[0]
    expected = [
        positions_among(values, known)[cells] + first
        for values, known, cells, first in zip(coded[0].examples, every, before, offsets, strict=False)
    ]
    np.testing.assert_array_equal(block.cells, expected)
    assert np.shares_memory(block.cells, coded[0].cells) == in_place
    assert (coded[0].cells == before).all() != in_place


BY_PASSES = {
    "order 2": HigherOrderLogisticRegression(2, ridge=10.0, tol=1e-10, max_iter=5000),
    "NBRLR": NaiveBayesLogisticRegression(strength=3.0, tol=3e-5),
    "SemiNaive": SemiNaive(interactions=0, tol=1e-9),
}


@pytest.mark.parametrize("name", ["order 2", "NBRLR"])
def test_a_class_that_partitions_lack_is_a_class_in_passes(name, mixed_rows):
    frame = mixed_rows(1500, n_classes=3).sort_values("outcome", ignore_index=True)
    expected = clone(BY_PASSES[name]).fit(features(frame), frame["outcome"])
    data = scale.from_batches([frame[:400], frame[400:1100], frame[1100:]], target="outcome")
    model = scale.fit(clone(BY_PASSES[name]), data)
    assert model.classes_.tolist() == ["low", "mid", "top"]
    np.testing.assert_allclose(model.scores_.tables, expected.scores_.tables, atol=1e-7)


# The second reading encodes the rows of NBRLR; the others are planned, or searched on a sample, first.
@pytest.mark.parametrize(
    ("name", "time_of_failure"),
    [("NBRLR", 2), ("order 2", 2), ("order 2", 3), ("SemiNaive", 2), ("SemiNaive", 3)],
)
def test_a_source_that_fails_in_a_later_pass_leaves_no_scratch(
    name, time_of_failure, mixed, tmp_path, monkeypatch
):
    monkeypatch.setattr(smooth_rows, "MOST_SEARCHED", 500)
    calls = []

    def frames():
        calls.append(1)
        if len(calls) == time_of_failure:
            raise InputError("the file is gone")
        yield mixed[1500:]

    model = clone(BY_PASSES[name])
    with pytest.raises(InputError, match="the file is gone"):
        scale.fit(model, scale.from_batches([mixed[:1500], frames], target="outcome"), scratch=tmp_path)
    assert not any(tmp_path.iterdir())
    assert not hasattr(model, "classes_")
