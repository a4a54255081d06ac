"""Time greedy searches and the group path of naive Bayes against NumPy, scikit-learn and naive Bayes.

Times are processor seconds of one thread. Names on the command line run those questions only, and print
instead of writing the results file.
"""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np

from seminaive import ForwardStagewiseNaiveBayes, NaiveBayes, SelectiveNaiveBayes
from seminaive.encode import TableEncoder
from seminaive.scores import Interpolation
from seminaive.solvers.group_path import entry_strengths, geometric_strengths, group_alphas
from seminaive.solvers.stagewise import GridSettings, stagewise_path
from seminaive.statistics import TableStatistics
from seminaive_experiments.papers.fsnb import SCENARIOS

sys.path.insert(0, str(Path(__file__).parent.parent))
from race import Ratio, best_time, report


def numbers(n_rows, n_columns=50, n_classes=3):
    """Draw numbers of which the first ten tell the class."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, n_classes, n_rows)
    means = rng.normal(scale=0.5, size=(n_columns, n_classes)) * (np.arange(n_columns) < 10)[:, None]
    return rng.normal(size=(n_rows, n_columns)) + means[:, y].T, y


def one_candidate():
    from peers.plain_stagewise import PlainCategories, PlainNumbers

    for name in ("CI", "DI"):
        sample = SCENARIOS[name].draw(np.random.default_rng(0))
        table = TableEncoder.learn(sample.X)[1]
        ends = Interpolation.of(TableStatistics.of(table, sample.y, 3))
        settings = GridSettings(40, np.arange(20))

        def search(ends=ends, table=table, y=sample.y, settings=settings):
            return stagewise_path(ends, table, y, None, settings, look_ahead=20, patience=5)

        n_evaluations = search().n_evaluations
        ours = min(best_time(search, 5) for _ in range(3)) / n_evaluations
        plain = (
            PlainCategories(table.codes, sample.y)
            if name == "DI"
            else PlainNumbers(sample.X.to_numpy(), sample.y)
        )
        alphas = np.random.default_rng(0).random(20)

        def candidates(plain=plain, alphas=alphas):
            return [plain.error(alphas) for _ in range(200)]

        theirs = best_time(candidates, 5) / 200
        yield Ratio(
            f"one candidate, N = 300, p = 20, J = 3, {'numbers' if name == 'CI' else 'categories'}"
            f" ({n_evaluations} in one search)",
            "all scores anew in NumPy",
            1e6 * ours,
            1e6 * theirs,
            bar=50,
            unit="us",
        )


def paper_size():
    for name in SCENARIOS:
        sample = SCENARIOS[name].draw(np.random.default_rng(0))
        model = ForwardStagewiseNaiveBayes(criterion="aic").fit(sample.X, sample.y)

        def fit(model=model, sample=sample):
            model.fit(sample.X, sample.y)

        ours = min(best_time(fit, 5) for _ in range(3))
        yield Ratio(
            f"whole fsNB fit, scenario {name}, N = 300, p = 20, {model.n_evaluations_} evaluations",
            "20 ms",
            1e3 * ours,
            20.0,
            bar=1,
            unit="ms",
            smaller=True,
        )


def large_table():
    measured = in_new_process()
    question = f"whole fsNB fit, 20,000 x 50 x 3, {measured['evaluations']} evaluations"
    yield Ratio(question, "10 s", measured["seconds"], 10.0, bar=1, smaller=True)
    yield Ratio(
        "its memory, the whole process", "500 MB", measured["peak"], 500.0, bar=1, unit="MB", smaller=True
    )


def group_path():
    for kind in ("numbers", "categories"):
        X, y = numbers(100_000)
        if kind == "categories":
            X = np.digitize(X, [-1.0, -0.3, 0.3, 1.0])
        categorical = "all" if kind == "categories" else "from_dtype"
        naive = NaiveBayes(variances="class", categorical_features=categorical)

        def path(X=X, y=y, categorical=categorical):
            table = TableEncoder.learn(X, categorical_features=categorical)[1]
            ends = Interpolation.of(TableStatistics.of(table, y, 3))
            largest = entry_strengths(ends, adaptive=True).max()
            return group_alphas(ends, geometric_strengths(largest, 40, 1e-4), adaptive=True)

        path()

        def fit(X=X, y=y, naive=naive):
            naive.fit(X, y)

        fit()
        times = [(best_time(path, 3), best_time(fit, 3)) for _ in range(3)]
        yield Ratio(
            f"path of 40 strengths, without the passes of its criterion, 100,000 x 50 {kind}",
            "one NaiveBayes fit",
            min(ours for ours, _ in times),
            min(theirs for _, theirs in times),
            bar=5,
            smaller=True,
        )


def forward_selection():
    from sklearn.feature_selection import SequentialFeatureSelector
    from sklearn.naive_bayes import GaussianNB

    X, y = numbers(20_000)
    every = np.arange(len(y))
    selector = SequentialFeatureSelector(
        GaussianNB(), n_features_to_select="auto", tol=1e-12, scoring="accuracy", cv=[(every, every)]
    )
    theirs = best_time(lambda: selector.fit(X, y), 1)
    model = SelectiveNaiveBayes(criterion="training-error").fit(X, y)
    ours = min(best_time(lambda: model.fit(X, y), 3) for _ in range(2))
    # Both take the same features up to the first tie, which they break differently.
    found = f"{len(model.selected_features_)} features, theirs {selector.get_support().sum()}"
    yield Ratio(
        f"forward selection on training error, 20,000 x 50 ({found})",
        "SequentialFeatureSelector around GaussianNB",
        ours,
        theirs,
        bar=20,
    )


def in_new_process():
    """Run the fit of the large table in a process of its own and return what it prints."""
    done = subprocess.run([sys.executable, __file__, "--measure"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def measure_large():
    X, y = numbers(20_000)
    model = ForwardStagewiseNaiveBayes(criterion="aic")
    seconds = best_time(lambda: model.fit(X, y), 2)
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    peak = int(status["VmHWM"].split()[0]) / 1024
    return {"seconds": seconds, "peak": peak, "evaluations": model.n_evaluations_}


QUESTIONS = {
    "candidate": one_candidate,
    "paper": paper_size,
    "large": large_table,
    "group": group_path,
    "selection": forward_selection,
}


if __name__ == "__main__":
    if sys.argv[1:] == ["--measure"]:
        print(json.dumps(measure_large()))
    elif sys.argv[1:]:
        for row in [row for name in sys.argv[1:] for row in QUESTIONS[name]()]:
            print(row, row.ratio, row.reached)
    else:
        report("fsnb", [row for question in QUESTIONS.values() for row in question()], ["scikit-learn"])
