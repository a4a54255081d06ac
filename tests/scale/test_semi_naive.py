import pickle

import numpy as np
import pandas as pd
import pytest

from seminaive import load_model, save_model, scale
from seminaive.design.projected import ProjectedDesign
from seminaive.design.smooth_columns import SmoothColumns
from seminaive.encode import EqualFrequencyCuts, TableEncoder
from seminaive.errors import ShapeWarning, TooLargeError
from seminaive.models import NaiveBayes, SemiNaive, smooth_rows
from seminaive.objective.empirical_loss import EmpiricalLoss
from seminaive.scale.scratch import joblib
from seminaive.scale.smooth_blocks import SmoothBlockedLoss, smooth_blocks, smooth_columns
from seminaive.scale.work import Work


def features(frame):
    return frame.drop(columns=["outcome"])


def parts(frame):
    return [frame[:400], frame[400:450], frame[450:450], frame[450:]]


@pytest.fixture
def small_sample(monkeypatch):
    monkeypatch.setattr(smooth_rows, "MOST_SEARCHED", 500)


class SixteenBins(SemiNaive):
    def binning_rule(self):
        return EqualFrequencyCuts(16)


def surveyed(frame, **options):
    model = SixteenBins(**options)
    data = scale.from_batches(parts(frame), target="outcome")
    work = Work(model, data, scale.LocalRunner(), None, None)
    survey = work.survey(values=True, sketches=False)
    return work, survey, work.adopt(survey)


@pytest.mark.parametrize("missing", ["value", "neutral"])
def test_functions_of_columns_from_counts_are_those_of_the_rows(mixed, missing):
    _, survey, coding = surveyed(mixed, missing=missing)
    _, table = TableEncoder.learn(features(mixed), cut_rule=EqualFrequencyCuts(16), missing=missing)
    assert coding.schema == table.schema
    expected = SmoothColumns.of(table, np.ones(len(table))).with_all_pairs(2)
    found = smooth_columns(survey, coding).with_all_pairs(2)
    assert (found.slopes, found.mains, found.pairs) == (expected.slopes, expected.mains, expected.pairs)
    for name in ("centres", "spreads", "low", "high"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-12)
    for column, known in zip(found.columns, expected.columns, strict=True):
        np.testing.assert_array_equal(column.knots, known.knots)
        # Eigenfunctions are unique up to their signs, and their kernel altogether.
        np.testing.assert_allclose(column.main @ column.main.T, known.main @ known.main.T, atol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_loss_of_smooth_columns_over_blocks_is_that_in_memory(n_classes, mixed_rows, tmp_path):
    frame = mixed_rows(1500, n_classes=n_classes)
    work, survey, coding = surveyed(frame)
    columns = smooth_columns(survey, coding).with_all_pairs(2)
    labels = np.unique(frame["outcome"], return_inverse=True)[1]
    table = TableEncoder(coding.schema).encode(features(frame))
    whole = EmpiricalLoss(ProjectedDesign(columns, table, n_classes), labels, np.ones(len(labels)), n_classes)
    at, along = np.random.default_rng(0).normal(size=(2, *whole.shape)) / 10
    value, gradient = whole(at)
    product = whole.hessian_product(at)(along)
    for folder in (None, str(tmp_path)):
        held = work.runner.hold(smooth_blocks, list(enumerate(work.data.partitions)), coding, columns, folder)
        loss = SmoothBlockedLoss(work.runner, held, columns, n_classes)
        found = loss(at)
        np.testing.assert_allclose(found[0], value, rtol=1e-13)
        np.testing.assert_allclose(found[1], gradient, atol=1e-12 * np.abs(gradient).max())
        np.testing.assert_allclose(
            loss.hessian_product(at)(along), product, atol=1e-12 * np.abs(product).max()
        )
        some = np.arange(0, whole.shape[0], 3)
        np.testing.assert_allclose(loss.gram(some), whole.gram(some), rtol=1e-10, atol=1e-8)
        np.testing.assert_allclose(loss.squared_columns(), whole.squared_columns(), rtol=1e-10)


def test_a_block_is_sent_without_the_scores_that_it_keeps(mixed_rows):
    work, survey, coding = surveyed(mixed_rows(1500, n_classes=3))
    columns = smooth_columns(survey, coding).with_all_pairs(2)
    block = next(iter(smooth_blocks((0, next(iter(work.data.partitions))), coding, columns, None)))
    at = np.random.default_rng(0).normal(size=block.loss.shape)
    value, gradient = block.loss(at)
    sent = pickle.loads(pickle.dumps(block))  # noqa: S301 - made here
    assert "loss" not in vars(sent)
    np.testing.assert_array_equal(sent.loss(at)[0], value)
    np.testing.assert_array_equal(sent.loss(at)[1], gradient)


@pytest.mark.usefixtures("small_sample")
def test_the_search_sees_a_sample_and_the_fit_all_rows(mixed, tmp_path):
    data = scale.from_batches(parts(mixed), target="outcome")
    model = scale.fit(SemiNaive(), data, scratch=tmp_path)
    assert not any(tmp_path.iterdir())
    expected = SemiNaive().fit(features(mixed), mixed["outcome"])
    assert model.gradient_norm_ <= model.tol
    X, y = features(mixed), mixed["outcome"].to_numpy()

    def log_loss(model_):
        return -np.log(
            model_.predict_proba(X)[np.arange(len(y)), (y == model_.classes_[1]).astype(int)]
        ).mean()

    # The two search on different samples of 500 rows.
    assert log_loss(model) == pytest.approx(log_loss(expected), abs=0.02)
    np.testing.assert_array_equal(model.summary_.cells.counts.counts, expected.summary_.cells.counts.counts)
    assert model.summary_.tuples.counts.sum() == len(mixed) * len(model.scores_.terms.features)
    save_model(model, tmp_path / "model")
    np.testing.assert_array_equal(load_model(tmp_path / "model").predict_proba(X), model.predict_proba(X))
    again = scale.fit(SemiNaive(), scale.from_batches(parts(mixed), target="outcome"))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_few_rows_are_fitted_as_in_memory(mixed):
    frame = mixed[:600]
    data = scale.from_batches([frame[:200], frame[200:]], target="outcome")
    expected = SemiNaive(interactions=1).fit(features(frame), frame["outcome"])
    model = scale.fit(SemiNaive(interactions=1), data)
    X = features(frame)
    np.testing.assert_array_equal(model.predict_proba(X), expected.predict_proba(X))


def test_partitions_may_store_a_column_differently(mixed, tmp_path):
    frame = mixed[:600].assign(rank=pd.Categorical(np.arange(600) % 4))
    others = [
        frame[:200].astype({"sky": "category", "outcome": "category"}),
        frame[200:250].assign(place=None),
        frame[250:],
    ]
    whole = pd.concat([frame[:200], others[1], frame[250:]])
    expected = SemiNaive(interactions=0).fit(features(whole), whole["outcome"])
    for number, part in enumerate(others):
        part.to_parquet(tmp_path / f"{number}.parquet")
    batches = scale.from_batches(others, target="outcome")
    files = scale.from_parquet(tmp_path, target="outcome")
    found = scale.fit(SemiNaive(interactions=0), batches)
    X = features(whole)
    np.testing.assert_array_equal(found.predict_proba(X), expected.predict_proba(X))
    for data in (batches, files):
        model = scale.fit(SemiNaive(interactions=0), data)
        naive = scale.fit(NaiveBayes(), data)
        # Types are those of the values, as in models that need no sample.
        assert model.columns_report_["read_as"].tolist()[:3] == naive.columns_report_["read_as"].tolist()[:3]
        assert model.columns_read_ == naive.columns_read_


@pytest.mark.parametrize("n_rows", [600, 1500])
def test_rare_categories_are_left_out_of_small_tables_as_of_large_ones(mixed, n_rows, monkeypatch):
    monkeypatch.setattr(smooth_rows, "MOST_SEARCHED", 1000)
    frame = mixed[:n_rows]
    model = scale.fit(
        SemiNaive(interactions=0), scale.from_batches(parts(frame), target="outcome"), max_categories=2
    )
    column = model.schema_.columns[0]
    assert (column.name, column.categories) == ("sky", ("dry", "wet"))
    row = features(frame)[:1]
    np.testing.assert_array_equal(
        model.predict_proba(row.assign(sky="fog")), model.predict_proba(row.assign(sky="never seen"))
    )


@pytest.mark.filterwarnings("ignore:held-out rows have a class")
@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.usefixtures("small_sample")
def test_a_class_that_the_sample_lacks_keeps_its_share(mixed, place):
    # Of 1,500 rows a sample of 500 lacks a given one in two of three cases.
    noise = mixed[:1500].assign(outcome=np.where(np.arange(1500) % 2 == 0, "a", "b"))
    noise = noise.sample(frac=1.0, random_state=1).assign(outcome=noise["outcome"].to_numpy())
    noise.iloc[place, noise.columns.get_loc("outcome")] = "rare"
    learned = mixed[:1500].copy()
    learned.iloc[place, learned.columns.get_loc("outcome")] = "rare"
    for frame in (noise, learned):
        fits = [
            SemiNaive(interactions=0).fit(features(frame), frame["outcome"]),
            scale.fit(SemiNaive(interactions=0), scale.from_batches(parts(frame), target="outcome")),
        ]
        for model in fits:
            answer = model.predict_proba(features(frame))
            assert np.isfinite(answer).all()
            assert answer[:, model.classes_ == "rare"].mean() == pytest.approx(1 / 1500, rel=1.0)


@pytest.mark.usefixtures("small_sample")
def test_weights_and_interactions_are_honoured(mixed):
    weighted = mixed.assign(weight=np.arange(len(mixed)) % 3)
    data = scale.from_batches(parts(weighted), target="outcome", weight="weight")
    model = scale.fit(SemiNaive(interactions=2, class_weight="balanced"), data)
    assert len(model.interactions_) == 2
    # Weights are divided by the mean of those that are not 0.
    assert model.summary_.class_weight.sum() == pytest.approx((weighted["weight"] > 0).sum())


@pytest.mark.usefixtures("small_sample")
def test_a_full_disk_is_a_sentence(mixed, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(joblib, "dump", full)
    with pytest.raises(TooLargeError, match="name a folder on a larger disk in scratch"):
        scale.fit(SemiNaive(), scale.from_batches(parts(mixed), target="outcome"), scratch=tmp_path)
    assert not any(tmp_path.iterdir())


@pytest.mark.usefixtures("small_sample")
def test_shapes_hold_in_fits_of_more_rows_than_are_searched(mixed):
    number = features(mixed).select_dtypes("number").columns[0]
    label = np.unique(mixed["outcome"])[0]
    data = scale.from_batches(parts(mixed), target="outcome")
    with pytest.warns(ShapeWarning, match=f"contradict the shape 'increasing for {label}'"):
        model = scale.fit(SemiNaive(interactions=0, shapes={number: ("increasing", label)}), data)
    values = np.linspace(mixed[number].min() - 1, mixed[number].max() + 1, 300)
    rows = features(mixed).iloc[[0] * 300].assign(**{number: values})
    assert np.diff(model.predict_proba(rows)[:, 0]).min() >= -1e-12
    assert model.shapes_[number].startswith("increasing")
    assert model.gradient_norm_ <= model.tol


@pytest.mark.usefixtures("small_sample")
def test_a_shape_that_binds_holds_in_passes_over_blocks_on_disk(write_parts, tmp_path):
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(3000, 3))
    odds = numbers[:, 0] + 2 * np.sin(3 * numbers[:, 0]) + numbers[:, 1] * numbers[:, 2]
    frame = pd.DataFrame(numbers, columns=["wave", "left", "right"])
    frame["outcome"] = np.where(rng.logistic(size=3000) < odds, "yes", "no")
    data = scale.from_parquet(write_parts(frame, tmp_path / "rows", 4, rng), target="outcome")
    grid = pd.concat([frame[:5]] * 400).sort_index(kind="stable").drop(columns="outcome")
    grid["wave"] = np.tile(np.linspace(-5, 5, 400), 5)

    def steepest_fall(shapes):
        model = scale.fit(SemiNaive(shapes=shapes), data, scratch=tmp_path)
        assert model.gradient_norm_ <= model.tol
        assert len(model.interactions_)
        return np.diff(model.decision_function(grid).reshape(5, 400), axis=1).min()

    assert steepest_fall(None) < -0.01
    with pytest.warns(ShapeWarning, match="contradict the shape 'increasing'"):
        fall = steepest_fall({"wave": ("increasing", "yes")})
    # Differences of scores of about 5, to rounding.
    assert fall >= -1e-12
