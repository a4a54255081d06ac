"""A cluster of processes on the loopback interface; it ends with the tests."""

import os
import re
import signal
import time
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

import seminaive
from seminaive import scale
from seminaive.errors import InputError
from seminaive.models import (
    GroupRegularizedNaiveBayes,
    HigherOrderLogisticRegression,
    NaiveBayesLogisticRegression,
    SemiNaive,
    TreeAugmentedNaiveBayes,
    smooth_rows,
)
from seminaive.scale import dask_runner

distributed = pytest.importorskip("distributed")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]  # what Dask warns about is its own

MODELS = {
    "TAN": TreeAugmentedNaiveBayes(),
    "SemiNaive": SemiNaive(interactions=[("sky", "height")]),
    "SemiNaive, one pair": SemiNaive(interactions=1),
    "group": GroupRegularizedNaiveBayes(strengths=8, criterion="aic"),
    "order 2": HigherOrderLogisticRegression(2, ridge=50.0, tol=1e-3),
    "order 1, whitened": HigherOrderLogisticRegression(1, hierarchical=True),
    "order 1, Newton": HigherOrderLogisticRegression(1, solver="newton"),
    "NBRLR": NaiveBayesLogisticRegression(strength=3.0),
}


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None, processes=True
        ) as cluster,
        distributed.Client(cluster) as connected,
    ):
        yield connected


@pytest.fixture(autouse=True)
def small_sample(monkeypatch):
    monkeypatch.setattr(smooth_rows, "MOST_SEARCHED", 500)


@pytest.fixture
def rows(mixed, tmp_path, write_parts):
    return write_parts(mixed, tmp_path / "rows", 6, np.random.default_rng(0))


def same_model(model, expected, X):
    assert model.schema_ == expected.schema_
    np.testing.assert_array_equal(model.predict_log_proba(X), expected.predict_log_proba(X))


@pytest.mark.parametrize("name", MODELS)
def test_a_cluster_gives_bitwise_the_model_of_one_machine(name, client, rows, mixed):
    data = scale.from_parquet(rows, target="outcome")
    expected = scale.fit(clone(MODELS[name]), data)
    model = scale.fit(clone(MODELS[name]), data, runner=scale.DaskRunner(client))
    same_model(model, expected, mixed.drop(columns="outcome"))


def test_a_dask_frame_gives_the_model_of_its_rows(client, mixed):
    dd = pytest.importorskip("dask.dataframe")
    frame = dd.from_pandas(mixed, npartitions=4, sort=False)
    data = scale.from_dask(frame, target="outcome")
    X = mixed.drop(columns="outcome")
    expected = TreeAugmentedNaiveBayes().fit(X, mixed["outcome"])
    same_model(scale.fit(TreeAugmentedNaiveBayes(), data, runner=scale.DaskRunner(client)), expected, X)
    same_model(scale.fit(TreeAugmentedNaiveBayes(), data), expected, X)


def test_predictions_of_a_cluster_are_those_of_one_machine(client, rows, tmp_path):
    import pandas as pd

    data = scale.from_parquet(rows, target="outcome")
    model = scale.fit(clone(MODELS["TAN"]), data)
    here = scale.predict_proba(model, data, out=tmp_path / "here")
    there = scale.predict_proba(model, data, out=tmp_path / "there", runner=scale.DaskRunner(client))
    pd.testing.assert_frame_equal(pd.read_parquet(here), pd.read_parquet(there))


# Every kind of task, with the model that has it and the task after which a worker is killed.
KINDS = {
    "_survey_work": ("TAN", 3),
    "_count_work": ("TAN", 3),
    "_judge_work": ("group", 3),
    "sample_codes": ("order 2", 3),
    "code_partition": ("order 2", 3),
    "joint_values": ("order 2", 3),
    "number_blocks": ("order 2", 3),
    "class_sums": ("order 2", 3),
    "block_gram": ("order 1, whitened", 3),
    "loss_and_sums": ("order 2", 3),
    "_sample_work": ("SemiNaive", 3),
    "smooth_blocks": ("SemiNaive", 3),
    "block_losses": ("SemiNaive", 3),
    "block_products": ("SemiNaive", 3),
    "_tuples_work": ("SemiNaive", 3),
    "block_hessian": ("order 1, Newton", 3),
    "reference_blocks": ("NBRLR", 3),
    "path_derivatives": ("NBRLR", 3),
    "path_curvature": ("NBRLR", 3),
    "path_derivatives in a later pass": ("NBRLR", 40),
    "loss_and_sums in a later pass": ("order 2", 27),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_killed_worker_changes_no_bit_and_nothing_hangs(kind, client, rows, mixed, monkeypatch):
    data = scale.from_parquet(rows, target="outcome")
    name, number = KINDS[kind]
    expected = scale.fit(clone(MODELS[name]), data)
    seen = []
    submit = dask_runner.DaskRunner._submit

    def kill_after_submitting(self, work, item, given):
        future = submit(self, work, item, given)
        if work.__name__ == kind.split()[0]:
            seen.append(work)
            if len(seen) == number:
                kill_one(self.client)
        return future

    monkeypatch.setattr(dask_runner.DaskRunner, "_submit", kill_after_submitting)
    model = clone(MODELS[name])
    signal.signal(signal.SIGALRM, too_late)
    signal.alarm(300)  # a hang fails the test instead of stopping the suite
    try:
        scale.fit(model, data, runner=scale.DaskRunner(client))
    finally:
        signal.alarm(0)
    assert len(seen) >= number
    same_model(model, expected, mixed.drop(columns="outcome"))


def test_every_kind_of_task_has_a_killed_worker():
    """Whatever the package gives a runner to do is named above, or is a prediction, which is tested below."""
    package = Path(seminaive.__file__).parent
    files = [*(package / "scale").glob("*.py"), package / "objective" / "blocked_loss.py"]
    given = re.compile(r"\.(?:each|hold|over|_over|_sum|_over_blocks)\(\s*([a-z_]+),")
    tasks = {name for file in files for name in given.findall(file.read_text())} - {"work"}
    # ``number`` is number_blocks on a cluster, and number_blocks_in_place where no worker can be lost.
    tasks = {"number_blocks" if name == "number" else name for name in tasks}
    assert "path_curvature" in tasks
    # Gram matrices and products of losses over blocks: the protocol has them, and no fit takes them so far.
    of_no_fit = {"block_grams", "block_product"}
    assert tasks == {kind.split()[0] for kind in KINDS} | {"_predict_partition"} | of_no_fit


def test_a_worker_killed_while_it_predicts_changes_no_bit(client, rows, tmp_path, monkeypatch):
    data = scale.from_parquet(rows, target="outcome")
    model = scale.fit(clone(MODELS["TAN"]), data)
    here = scale.predict_proba(model, data, out=tmp_path / "here")
    submit = dask_runner.DaskRunner._submit
    seen = []

    def kill_after_submitting(self, work, item, given):
        future = submit(self, work, item, given)
        seen.append(work)
        if len(seen) == 3:
            kill_one(self.client)
        return future

    monkeypatch.setattr(dask_runner.DaskRunner, "_submit", kill_after_submitting)
    there = scale.predict_proba(model, data, out=tmp_path / "there", runner=scale.DaskRunner(client))
    for file in sorted(here.iterdir()):
        assert (there / file.name).read_bytes() == file.read_bytes()
    assert len(list(there.iterdir())) == len(list(here.iterdir()))


def too_late(*_):
    raise TimeoutError


def kill_one(client):
    """Kill the first worker, and wait until it is gone."""
    pid = min(client.run(os.getpid).values())
    os.kill(pid, signal.SIGKILL)
    for _ in range(200):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.02)


def test_what_a_worker_refuses_is_said_here_and_at_once(client, rows, mixed):
    content = bytearray((rows / "part-002.parquet").read_bytes())
    content[200:1500] = bytes(1300)
    (rows / "part-002.parquet").write_bytes(content)
    with pytest.raises(InputError, match=r"part-002.parquet' cannot be read as a Parquet file"):
        scale.fit(
            TreeAugmentedNaiveBayes(),
            scale.from_parquet(rows, target="outcome"),
            runner=scale.DaskRunner(client),
        )
    with pytest.raises(InputError, match=r"client is a distributed.Client, got DataFrame"):
        scale.DaskRunner(mixed)
