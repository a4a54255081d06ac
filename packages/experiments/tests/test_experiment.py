import contextlib
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from seminaive.errors import InputError
from seminaive_experiments.bias_variance import bias_variance
from seminaive_experiments.datasets import Dataset, load_dataset
from seminaive_experiments.experiment import Experiment
from seminaive_experiments.resampling import FIVE_BY_TWO, Prequential, RepeatedKFold
from seminaive_experiments.results_file import load_results

MODELS = {"naive Bayes": GaussianNB(), "tree": DecisionTreeClassifier(), "prior": DummyClassifier()}
QUICK = RepeatedKFold(3, 2)


class FailsOnSomeFolds(ClassifierMixin, BaseEstimator):
    """Raises where the first training row is odd, warns otherwise."""

    def fit(self, X, y):
        if int(X.index[0]) % 2:
            raise RuntimeError("odd start,\n no fit")
        warnings.warn("even start", UserWarning, stacklevel=1)
        self.classes_ = np.unique(y)
        self.n_iter_ = np.array([3, 5])
        return self

    def predict(self, X):
        return np.repeat(self.classes_[:1], len(X))


def _shuffled_iris(n_rows=150):
    iris = load_dataset("iris")
    order = np.random.default_rng(0).permutation(150)[:n_rows]
    return Dataset("iris", iris.X.iloc[order].reset_index(drop=True), iris.y[order])


@pytest.mark.parametrize(
    ("n_rows", "message"), [(5, "every row is of the class yes"), (0, "there is no row")]
)
def test_a_table_without_two_classes_is_refused(n_rows, message):
    table = Dataset("mine", pd.DataFrame({"a": np.zeros(n_rows)}), np.repeat("yes", n_rows))
    with pytest.raises(InputError, match=f"mine: {message}"):
        Experiment(MODELS, [table]).run()


def test_the_bar_names_the_model_that_is_being_fitted(monkeypatch):
    shown = []

    class Bar(contextlib.nullcontext):
        def add_task(self, *_, **__):
            return 0

        def update(self, *_, description="one more", **__):
            shown.append(description)

    bar = Bar()
    bar.enter_result = bar
    monkeypatch.setattr("seminaive_experiments.experiment.progress_bar", lambda **_: bar)
    Experiment({"prior": DummyClassifier()}, ["iris"], RepeatedKFold(2)).run()
    fitted = [f"iris, repetition 1, fold {number}: prior" for number in (1, 2)]
    assert shown == [fitted[0], "one more", fitted[1], "one more"]


def test_all_models_see_the_same_splits_and_each_fold_is_one_row():
    folds = Experiment(MODELS, ["iris", "wine"], QUICK).run().folds
    assert len(folds) == 3 * 2 * 6
    sizes = folds.groupby(["dataset", "repetition", "fold"])["n_test"].nunique()
    assert (sizes == 1).all()
    assert (folds["status"] == "ok").all()
    assert folds["fit_seconds"].gt(0).all()


def test_losses_equal_those_of_scikit_learn_on_the_same_splits():
    dataset = _shuffled_iris()
    experiment = Experiment({"nb": GaussianNB()}, [dataset], RepeatedKFold(4), ("zero_one", "log_loss"))
    from seminaive_experiments.experiment import _Plan

    splits = [(task.split.train, task.split.test) for task in _Plan.of(experiment).tasks]
    folds = experiment.run().folds
    accuracy = cross_val_score(GaussianNB(), dataset.X, dataset.y, cv=splits)
    log_loss = -cross_val_score(GaussianNB(), dataset.X, dataset.y, cv=splits, scoring="neg_log_loss")
    np.testing.assert_allclose(1 - folds["zero_one"], accuracy, atol=1e-12)  # a mean of 37 rows
    np.testing.assert_allclose(folds["log_loss"], log_loss, rtol=1e-9)


def test_two_runs_give_identical_files_whatever_the_number_of_processes(tmp_path):
    models = {**MODELS, "forest": RandomForestClassifier(n_estimators=5)}
    frames = [
        Experiment(models, ["iris"], QUICK, n_jobs=n_jobs).run(tmp_path / name).folds
        for name, n_jobs in (("first", 1), ("second", 1), ("parallel", 2))
    ]
    losses = [frame.drop(columns=["fit_seconds", "predict_seconds"]) for frame in frames]
    pd.testing.assert_frame_equal(losses[0], losses[1])
    pd.testing.assert_frame_equal(losses[0], losses[2])
    first = (tmp_path / "first").read_bytes()
    assert first == (tmp_path / "second").read_bytes()
    assert first == (tmp_path / "parallel").read_bytes()


def test_bias_plus_variance_of_an_experiment_is_its_loss():
    results = Experiment(MODELS, [_shuffled_iris()], FIVE_BY_TWO).run()
    split = results.bias_variance.set_index("model")
    loss = results.folds.groupby("model")["zero_one"].mean()  # two folds of 75 rows each: a plain mean
    np.testing.assert_allclose(split["bias"] + split["variance"], loss[split.index], atol=1e-12)
    assert split.loc["tree", "variance"] > split.loc["naive Bayes", "variance"]
    assert (split["n_repetitions"] == 5).all()


def test_bias_and_variance_equal_those_of_the_predictions_themselves():
    dataset = _shuffled_iris(60)
    experiment = Experiment({"nb": GaussianNB()}, [dataset], FIVE_BY_TWO)
    from seminaive_experiments.experiment import _Plan

    predicted = np.empty((60, 5), dtype=dataset.y.dtype)
    for task in _Plan.of(experiment).tasks:
        train, test = task.split.train, task.split.test
        model = GaussianNB().fit(dataset.X.iloc[train], dataset.y[train])
        predicted[test, task.split.repetition] = model.predict(dataset.X.iloc[test])
    expected = bias_variance(dataset.y, predicted)
    found = experiment.run().bias_variance.iloc[0]
    assert found["bias"] == pytest.approx(expected.bias, abs=1e-12)
    assert found["variance"] == pytest.approx(expected.variance, abs=1e-12)


def test_a_model_that_raises_costs_its_own_folds_only(tmp_path):
    models = {"naive Bayes": GaussianNB(), "fragile": FailsOnSomeFolds()}
    results = Experiment(models, [_shuffled_iris()], RepeatedKFold(4, 3)).run(tmp_path / "results")
    folds = results.folds.set_index("model")
    assert (folds.loc["naive Bayes", "status"] == "ok").all()
    fragile = folds.loc["fragile"]
    assert set(fragile["status"]) == {"ok", "failed"}
    failed = fragile[fragile["status"] == "failed"]
    assert (failed["message"] == "RuntimeError: odd start, no fit").all()
    assert failed["zero_one"].isna().all()
    worked = fragile[fragile["status"] == "ok"]
    assert (worked["warning"] == "UserWarning: even start").all()
    assert (worked["n_iter"] == 5).all()
    pd.testing.assert_frame_equal(load_results(tmp_path / "results").folds, results.folds)


def test_a_model_that_ends_its_process_costs_its_own_folds_only():
    # A class of a function is sent to other processes by value: they need not find this file.
    class EndsItsProcess(GaussianNB):
        """Ends the process that runs it where the first training row is odd, as a lack of memory would."""

        def fit(self, X, y):
            if int(X.index[0]) % 2:
                os._exit(1)
            return super().fit(X, y)

    dataset = _shuffled_iris()
    dataset = Dataset("iris", dataset.X.sample(frac=1, random_state=1), dataset.y)
    models = {"naive Bayes": GaussianNB(), "deadly": EndsItsProcess()}
    folds = Experiment(models, [dataset], RepeatedKFold(3), n_jobs=2).run().folds.set_index("model")
    assert (folds.loc["naive Bayes", "status"] == "ok").all()
    assert set(folds.loc["deadly", "status"]) == {"ok", "failed"}
    failed = folds[folds["status"] == "failed"]
    assert failed["message"].str.startswith("the process that ran it ended").all()


class Mendable(GaussianNB):
    broken = True

    def fit(self, X, y):
        if Mendable.broken:
            raise RuntimeError("not yet")
        return super().fit(X, y)


def test_failed_folds_are_run_again_only_if_asked_for(tmp_path):
    experiment = Experiment({"mendable": Mendable(), **MODELS}, ["iris"], QUICK)
    Mendable.broken = False
    experiment.run(tmp_path / "whole")
    Mendable.broken = True
    experiment.run(tmp_path / "results")
    Mendable.broken = False
    kept = experiment.run(tmp_path / "results").folds
    assert (kept.query("model == 'mendable'")["status"] == "failed").all()
    mended = experiment.run(tmp_path / "results", retry_failed=True).folds
    assert (mended["status"] == "ok").all()
    assert (tmp_path / "results").read_bytes() == (tmp_path / "whole").read_bytes()


def test_a_model_without_probabilities_is_judged_by_its_choices():
    folds = Experiment({"svm": LinearSVC()}, ["iris"], RepeatedKFold(2)).run().folds
    assert folds["zero_one"].between(0, 0.3).all()
    assert folds["log_loss"].isna().all()


def test_classes_absent_from_training_have_probability_zero():
    y = np.array(["a"] * 20 + ["b"] * 19 + ["once"])
    dataset = Dataset("rare", pd.DataFrame({"x": np.arange(40.0)}), y)
    folds = Experiment({"nb": GaussianNB()}, [dataset], RepeatedKFold(4), ["squared_error"]).run().folds
    assert (folds["status"] == "ok").all()


def test_iterations_are_recorded_also_inside_a_pipeline():
    model = make_pipeline(StandardScaler(), LogisticRegression())
    folds = Experiment({"lr": model}, ["wine"], RepeatedKFold(2)).run().folds
    assert folds["n_iter"].ge(1).all()


def test_learning_curves_have_a_loss_for_every_training_size():
    results = Experiment(MODELS, ["iris"], Prequential(20, 2.0, 3)).run()
    assert sorted(results.folds["n_train"].unique()) == [20, 40, 80]
    assert results.bias_variance.empty


def test_a_results_file_remembers_that_it_is_a_learning_curve(tmp_path):
    experiment = Experiment(MODELS, ["iris"], Prequential(20, 2.0, 2))
    folds = experiment.run(tmp_path / "curve").folds
    assert folds["step"].tolist() == folds["fold"].tolist()
    pd.testing.assert_frame_equal(load_results(tmp_path / "curve").folds, folds)
    assert "step" not in Experiment(MODELS, ["iris"], QUICK).run().folds


class SaysSomethingElse(ClassifierMixin, BaseEstimator):
    """Knows one label, which is not among those that it was told, and has no probabilities."""

    def __init__(self, label="zzz"):
        self.label = label

    def fit(self, X, y):
        assert len(X) == len(y)
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.repeat(self.label, len(X))


class ThinksInNumbers(SaysSomethingElse):
    def predict_proba(self, X):
        return np.full((len(X), 3), 1 / 3)

    def fit(self, X, y):
        return super().fit(X, np.unique(y, return_inverse=True)[1])


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (SaysSomethingElse("zzz"), "predicted 'zzz', which is no label of the table"),
        (SaysSomethingElse("aaa"), "predicted 'aaa', which is no label of the table"),
        (SaysSomethingElse("t"), "predicted 't', which is no label of the table"),
        (SaysSomethingElse(0), "predicted 0, which is no label of the table"),
        (ThinksInNumbers(), "knows the class 0, which is no label of the table"),
    ],
)
def test_a_label_that_the_table_lacks_fails_its_fold_and_is_never_right(model, message):
    folds = Experiment({"foreign": model}, ["iris"], QUICK, ("zero_one",)).run().folds
    assert (folds["status"] == "failed").all()
    assert folds["message"].str.contains(message, regex=False).all()
    assert folds["zero_one"].isna().all()


def test_a_finished_file_is_read_and_not_run_again(tmp_path):
    path = tmp_path / "results"
    first = Experiment(MODELS, ["iris"], QUICK).run(path)
    before = path.read_bytes(), path.with_name("results.times").read_bytes()
    again = Experiment(MODELS, ["iris"], QUICK).run(path)
    assert before == (path.read_bytes(), path.with_name("results.times").read_bytes())
    pd.testing.assert_frame_equal(first.folds, again.folds)
    pd.testing.assert_frame_equal(first.bias_variance, again.bias_variance)


@pytest.mark.parametrize("keep_bytes", [0.0, 0.31, 0.77])
def test_a_file_cut_anywhere_resumes_to_the_unbroken_one(tmp_path, keep_bytes):
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    Experiment(MODELS, ["iris"], QUICK).run(whole)
    cut.write_bytes(whole.read_bytes()[: int(keep_bytes * whole.stat().st_size)])
    Experiment(MODELS, ["iris"], QUICK).run(cut)
    assert cut.read_bytes() == whole.read_bytes()


class Interrupted(GaussianNB):
    """Stops the program in the middle of an experiment, once."""

    stopped = False

    def fit(self, X, y):
        if not Interrupted.stopped and int(X.index[0]) > 0:
            Interrupted.stopped = True
            raise KeyboardInterrupt
        return super().fit(X, y)


def test_a_run_may_be_interrupted_more_than_once(tmp_path):
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    experiment = Experiment({**MODELS, "stops": Interrupted()}, ["iris"], RepeatedKFold(3, 2))
    Interrupted.stopped = True
    experiment.run(whole)
    cut.write_bytes(whole.read_bytes()[: whole.stat().st_size // 4])
    Interrupted.stopped = False
    with pytest.raises(KeyboardInterrupt):
        experiment.run(cut)
    experiment.run(cut)
    assert cut.read_bytes() == whole.read_bytes()


def test_models_and_tables_can_join_a_finished_experiment(tmp_path):
    path = tmp_path / "results"
    Experiment({"prior": DummyClassifier()}, ["iris"], QUICK).run(path)
    Experiment(MODELS, ["iris", "wine"], QUICK).run(path)
    whole = tmp_path / "whole"
    Experiment(MODELS, ["iris", "wine"], QUICK).run(whole)
    assert path.read_bytes() == whole.read_bytes()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"random_state": 1}, "random_state was 0 and is 1"),
        ({"resampling": RepeatedKFold(4)}, "resampling was"),
        ({"metrics": ("zero_one",)}, "metrics was"),
        ({"models": {**MODELS, "tree": DecisionTreeClassifier(max_depth=1)}}, "model 'tree' was"),
        ({"models": {"prior": DummyClassifier()}}, "is absent now"),
        ({"datasets": [_shuffled_iris()]}, "dataset 'iris' was"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_file_of_another_experiment_is_refused(tmp_path, changed, message):
    plan = {"models": MODELS, "datasets": ["iris"], "resampling": QUICK}
    Experiment(**plan).run(tmp_path / "results")
    with pytest.raises(InputError, match=message):
        Experiment(**{**plan, **changed}).run(tmp_path / "results")


def test_files_that_are_not_results_are_refused(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("not JSON\n")
    with pytest.raises(InputError, match="not a results file"):
        Experiment(MODELS, ["iris"], QUICK).run(path)
    with pytest.raises(InputError, match="no results file"):
        load_results(tmp_path / "absent")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (({}, ["iris"]), "at least one model"),
        (({"nb": GaussianNB}, ["iris"]), "classifier object"),
        ((MODELS, []), "at least one table"),
        ((MODELS, ["iris", "iris"]), "share a name"),
        ((MODELS, ["iris"], QUICK, ["luck"]), "no metric 'luck'"),
        ((MODELS, ["iris"], QUICK, []), "at least one metric"),
        ((MODELS, ["iris"], QUICK, ["zero_one"], None), "random_state must be"),
    ],
)
def test_experiments_that_make_no_sense_are_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        Experiment(*arguments).run()


_SLOW_RUN = textwrap.dedent(
    """
    import sys, time
    from sklearn.naive_bayes import GaussianNB
    from sklearn.dummy import DummyClassifier
    from seminaive_experiments.experiment import Experiment
    from seminaive_experiments.resampling import RepeatedKFold

    class SlowNaiveBayes(GaussianNB):
        def fit(self, X, y):
            time.sleep(float(sys.argv[2]))
            return super().fit(X, y)

    if __name__ == "__main__":
        models = {"slow": SlowNaiveBayes(), "prior": DummyClassifier()}
        Experiment(models, ["iris"], RepeatedKFold(5, 4), n_jobs=int(sys.argv[3])).run(sys.argv[1])
    """
)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL")
@pytest.mark.parametrize("n_jobs", ["1", pytest.param("2", marks=pytest.mark.slow)])
def test_a_killed_run_resumes_to_exactly_the_results_of_an_unbroken_one(tmp_path, n_jobs):
    script = tmp_path / "run.py"
    script.write_text(_SLOW_RUN)
    killed, unbroken = tmp_path / "killed", tmp_path / "unbroken"
    process = subprocess.Popen([sys.executable, script, killed, "0.3", n_jobs], start_new_session=True)
    deadline = time.monotonic() + 300  # a busy machine is slow to start processes
    while not (killed.exists() and killed.read_bytes().count(b"\n") >= 6):
        assert time.monotonic() < deadline, "the run wrote nothing"
        assert process.poll() is None, "the run ended before it could be killed"
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    done = sum(json.loads(line)["kind"] == "fold" for line in killed.read_text().splitlines() if line)
    assert 0 < done < 40
    for path in (killed, unbroken):
        subprocess.run([sys.executable, script, path, "0", "1"], check=True)
    assert killed.read_bytes() == unbroken.read_bytes()
    assert load_results(killed).folds["fit_seconds"].notna().all()


class FailsUnwritably(SaysSomethingElse):
    def fit(self, X, y):
        raise RuntimeError(f"{len(X)} rows, {len(y)} labels and half a pair: \udc80")


def test_a_message_that_no_file_can_hold_is_spelled_out(tmp_path):
    folds = Experiment({"bad": FailsUnwritably()}, ["iris"], QUICK).run(tmp_path / "results").folds
    assert folds["message"].str.endswith(r"half a pair: \udc80").all()
    assert (tmp_path / "results").read_text(encoding="utf-8")


def test_models_that_are_named_by_numbers_can_be_resumed(tmp_path):
    experiment = Experiment({1: GaussianNB(), 2: DummyClassifier()}, ["iris"], QUICK)
    first = experiment.run(tmp_path / "results").folds
    assert first["model"].unique().tolist() == ["1", "2"]
    pd.testing.assert_frame_equal(experiment.run(tmp_path / "results").folds, first)
    with pytest.raises(InputError, match="two models share a name"):
        Experiment({1: GaussianNB(), "1": GaussianNB()}, ["iris"], QUICK).run()
