"""Race the shrink-to-target paths against glum, liblinear and glmnet, each at the accuracy it is given.

Every path is checked afterwards: the worst optimality residual over its points, ours and the peer's, as
a share of the largest strength, stands in the question. A peer runs at the loosest tolerance, by powers of
ten, at which its residual is at most 1e-6; glmnet also at its default. Times are CPU seconds of one thread,
so that a busy machine slows both alike. Names on the command line run those questions only, and print
instead of writing the results file. Peers are imported by the questions, so that a process whose memory is
measured holds none of them.
"""

import json
import signal
import subprocess
import sys
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

from seminaive import NaiveBayes, NaiveBayesLogisticRegression, NaiveBayesLogisticRegressionCV
from seminaive.design.reference import ReferenceDesign
from seminaive.objective.penalties import ElasticNet
from seminaive.solvers import PathOptions, logistic_path
from seminaive_experiments.papers.nbrlr import PAPERS_PROTOCOL
from seminaive_experiments.papers.simulations import Simulation

sys.path.insert(0, str(Path(__file__).parent.parent))
from race import Ratio, best_time, report

RATIO = 1e-4
MOST_SECONDS = 60  # that a peer may take for the question on categories
WHOLE_PATH = PathOptions(stop_early=False)
FREE_INTERCEPT = ElasticNet(penalize_intercept=False)


def worst_residual(columns, y, deviations, offset, strengths, *, free_intercept=False):
    """Return the worst violation of stationarity along a path, as a share of the largest strength."""
    worst = 0.0
    for deviation, strength in zip(deviations, strengths, strict=True):
        if np.isnan(deviation).any():
            continue
        gradient = columns.T @ (y - 1 / (1 + np.exp(-(offset + columns @ deviation))))
        limit = np.full(len(deviation), strength)
        limit[0] *= not free_intercept
        moved = np.abs(gradient - limit * np.sign(deviation))
        still = np.maximum(0, np.abs(gradient) - limit)
        worst = max(worst, np.where(deviation == 0, still, moved).max())
    return worst / max(strengths)


def accurate_enough(solve, residual_of, tolerances):
    """Return the time and residual of the loosest tolerance that reaches 1e-6, or of the tightest."""
    for tol in tolerances:
        start = process_time()
        found = solve(tol)
        seconds = process_time() - start
        residual = residual_of(found)
        if residual <= 1e-6:
            break
    return min(seconds, best_time(lambda: solve(tol), 1)), residual


def naive_bayes_problem(X, y, categorical):
    """Return design, target and the ones-and-columns matrix of a table."""
    kind = "all" if categorical else "from_dtype"
    model = NaiveBayesLogisticRegression(strength=1e12, categorical_features=kind).fit(X, y)
    columns = np.column_stack([np.ones(len(X)), X]).astype(float)
    return ReferenceDesign.of(columns[:, 1:]), model.target_, columns


def paths_of_a_middling_table():
    """Middling: n = 2,000, p = 50, r = 0.6: the paper's setting 1."""
    X, y = Simulation(1, 50, 0.6).draw(2000, np.random.default_rng(0))
    design, target, columns = naive_bayes_problem(X, y, categorical=True)
    yield path_toward_naive_bayes(design, y, target, columns)
    yield path_toward_zero(design, y, columns)
    yield from path_with_a_free_intercept(design, y, columns)


def path_toward_naive_bayes(design, y, target, columns):
    """Against glum, which has no target but takes an offset."""
    from peers.glum_lasso import glum_path

    def ours():
        return logistic_path(design, y, ElasticNet(target), ratio=RATIO, options=WHOLE_PATH)

    offset = columns @ target
    path = ours()
    residual = worst_residual(columns, y, path.coefficients[:, :, 0] - target, offset, path.strengths)
    theirs, other = accurate_enough(
        lambda tol: glum_path(columns, y, path.strengths, offset, tol),
        lambda found: worst_residual(columns, y, found, offset, path.strengths),
        (1e-5, 1e-6, 1e-7, 1e-8),
    )
    return Ratio(
        f"path of 100 toward naive Bayes, n = 2,000, p = 50 (residuals {residual:.0e}, {other:.0e})",
        "glum with an offset",
        best_time(ours, 10),
        theirs,
        bar=3,
    )


def path_toward_zero(design, y, columns):
    """Against liblinear, which penalises the intercept."""
    from peers.liblinear_lasso import liblinear_path

    def ours():
        return logistic_path(design, y, ratio=RATIO, options=WHOLE_PATH)

    path = ours()
    residual = worst_residual(columns, y, path.coefficients[:, :, 0], 0.0, path.strengths)
    theirs, other = accurate_enough(
        lambda tol: liblinear_path(columns[:, 1:], y, path.strengths, tol),
        lambda found: worst_residual(columns, y, found, 0.0, path.strengths),
        (1e-4, 1e-5, 1e-6, 1e-7),
    )
    return Ratio(
        f"path of 100 toward zero, n = 2,000, p = 50 (residuals {residual:.0e}, {other:.0e})",
        "liblinear",
        best_time(ours, 10),
        theirs,
        bar=3,
    )


def path_with_a_free_intercept(design, y, columns):
    """Against glmnet, at its default threshold and at one as accurate as ours."""
    from peers.glmnet_lasso import glmnet_path

    def ours():
        return logistic_path(design, y, FREE_INTERCEPT, ratio=RATIO, options=WHOLE_PATH)

    path = ours()
    residual = worst_residual(
        columns, y, path.coefficients[:, :, 0], 0.0, path.strengths, free_intercept=True
    )
    seconds = best_time(ours, 10)
    for threshold in (1e-7, 1e-13):
        theirs, found, version = glmnet_path(columns[:, 1:], y, path.strengths, threshold)
        other = worst_residual(columns, y, found, 0.0, path.strengths, free_intercept=True)
        yield Ratio(
            f"lasso path of 100, free intercept, n = 2,000, p = 50 (residuals {residual:.0e}, {other:.0e})",
            f"glmnet {version}, thresh {threshold:g}",
            seconds,
            theirs,
            bar=1,
        )


def cross_validation():
    from peers.liblinear_lasso import liblinear_cv

    X, y = Simulation(1, 50, 0.6).draw(2000, np.random.default_rng(0))
    numbers = X.astype(float)
    model = NaiveBayesLogisticRegressionCV(
        categorical_features="all", **(PAPERS_PROTOCOL | {"scoring": "log-loss"})
    )
    ours = min(best_time(lambda: model.fit(X, y), 3) for _ in range(2))
    folds = list(StratifiedKFold(10, shuffle=True, random_state=0).split(X, y))
    start = process_time()
    liblinear_cv(numbers, y, model.path_.strengths, folds)
    yield Ratio(
        "10 folds x 100 strengths, n = 2,000, p = 50",
        "LogisticRegressionCV (liblinear, L1, default tol)",
        ours,
        process_time() - start,
        bar=10,
    )


def folds_in_parallel():
    """Seconds on the clock: two threads on a machine with less than two idle cores gain less."""
    X, y = Simulation(1, 50, 0.6).draw(2000, np.random.default_rng(0))
    seconds = {1: [], 2: []}
    for _ in range(4):
        for n_jobs, times in seconds.items():
            model = NaiveBayesLogisticRegressionCV(
                categorical_features="all", n_jobs=n_jobs, **PAPERS_PROTOCOL
            )
            start = perf_counter()
            model.fit(X, y)
            times.append(perf_counter() - start)
    yield Ratio(
        "10 folds x 100 strengths, n = 2,000, p = 50, n_jobs = 2, on the clock",
        "n_jobs = 1",
        min(seconds[2]),
        min(seconds[1]),
        bar=1,
    )


def small_table():
    X, y = Simulation(3, 10, 0.6).draw(200, np.random.default_rng(0))
    model = NaiveBayesLogisticRegressionCV(**PAPERS_PROTOCOL).fit(X, y)
    ours, theirs = [], []
    for _ in range(10):
        ours.append(best_time(lambda: model.fit(X, y), 5))
        theirs.append(best_time(lambda: LogisticRegression().fit(X, y), 20))
    yield Ratio(
        "whole cross-validated fit, n = 200, p = 10",
        "one LogisticRegression fit",
        min(ours),
        min(theirs),
        bar=15,
        smaller=True,
    )


def large_table():
    from peers.glum_lasso import glum_path

    X, y = Simulation(3, 100, 0.6).draw(100_000, np.random.default_rng(0))
    design, target, columns = naive_bayes_problem(X, y, categorical=False)
    offset = columns @ target
    path = logistic_path(design, y, ElasticNet(target), ratio=RATIO, options=WHOLE_PATH)
    residual = worst_residual(columns, y, path.coefficients[:, :, 0] - target, offset, path.strengths)
    some = path.strengths[::10]  # glum takes minutes for all hundred
    ours = best_time(
        lambda: logistic_path(design, y, ElasticNet(target), strengths=some, options=WHOLE_PATH), 3
    )
    start = process_time()
    found = glum_path(columns, y, some, offset, 1e-7)
    theirs = process_time() - start
    other = worst_residual(columns, y, found, offset, some)
    yield Ratio(
        f"every tenth of 100 strengths, n = 100,000, p = 100 (residuals {residual:.0e}, {other:.0e})",
        "glum with an offset",
        ours,
        theirs,
        bar=2,
    )
    peak = in_new_process("large")["peak"]
    yield Ratio("its memory, the whole process", "500 MB", peak, 500.0, bar=1, unit="MB", smaller=True)


def many_categories():
    measured = in_new_process("categories")
    yield Ratio(
        f"memory of a path of 10 ({measured['seconds']:.0f} s), 1,000,000 rows, 10 columns of 1,000 values: "
        "beyond the encoded table",
        "the encoded table",
        measured["extra"],
        measured["table"],
        bar=4,
        unit="MB",
        smaller=True,
    )
    question, peer = "three strengths on 100,000 of those rows", "glum with categoricals"
    try:
        theirs = in_new_process("glum on categories")["seconds"]
    except subprocess.CalledProcessError as error:
        if error.returncode not in (-signal.SIGXCPU, -signal.SIGKILL):
            raise
        theirs, peer = MOST_SECONDS, f"{peer}, stopped after {MOST_SECONDS} s"
    yield Ratio(question, peer, in_new_process("ours on categories")["seconds"], theirs, bar=1)


def in_new_process(what):
    """Run one of the measurements below in a process of its own and return what it prints."""
    done = subprocess.run(
        [sys.executable, __file__, "--measure", what], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout.splitlines()[-1])


def peak_megabytes():
    """Return the most memory this process held; getrusage would count the process that started it, too."""
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(status["VmHWM"].split()[0]) / 1024


def forget_peak():
    """Let the most memory held count from now on."""
    Path("/proc/self/clear_refs").write_text("5")


def measure_large():
    X, y = Simulation(3, 100, 0.6).draw(100_000, np.random.default_rng(0))
    model = NaiveBayes().fit(X, y)
    slope = model.scores_.numeric.coefficients[:, 2]
    target = np.concatenate([[0.0], slope[:, 1] - slope[:, 0]])
    logistic_path(ReferenceDesign.of(X), y, ElasticNet(target), ratio=RATIO, options=WHOLE_PATH)
    return {"peak": peak_megabytes()}


def categories(n_rows):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 1000, (n_rows, 10), dtype=np.uint16)
    effects = rng.normal(scale=0.5, size=(10, 1000))
    score = sum(effects[f][codes[:, f]] for f in range(10))
    return codes, (rng.random(n_rows) < 1 / (1 + np.exp(-score))).astype(np.int64)


def measure_categories():
    codes, y = categories(1_000_000)
    few = ReferenceDesign.of(codes=codes[:20_000], cardinalities=[1000] * 10)
    logistic_path(few, y[:20_000], n_strengths=5)  # compiles both solvers
    forget_peak()
    before = peak_megabytes()
    start = process_time()
    logistic_path(ReferenceDesign.of(codes=codes, cardinalities=[1000] * 10), y, n_strengths=10, ratio=0.03)
    seconds = process_time() - start
    return {
        "extra": peak_megabytes() - before,
        "table": codes.nbytes / 2**20,
        "seconds": seconds,
    }


def strengths_on_categories():
    """Return the design and labels of 100,000 rows, three strengths, and the options of our path."""
    codes, y = categories(100_000)
    design = ReferenceDesign.of(codes=codes, cardinalities=[1000] * 10)
    top = logistic_path(design, y, FREE_INTERCEPT, n_strengths=1, options=WHOLE_PATH).strength_max
    return codes, design, y, top * np.array([1.0, 0.3, 0.1])


def measure_ours_on_categories():
    _, design, y, strengths = strengths_on_categories()
    logistic_path(design, y, FREE_INTERCEPT, strengths=strengths, options=WHOLE_PATH)  # compiles
    return {
        "seconds": best_time(
            lambda: logistic_path(design, y, FREE_INTERCEPT, strengths=strengths, options=WHOLE_PATH), 3
        )
    }


def measure_glum_on_categories():
    import resource

    from peers.glum_lasso import glum_on_categories

    codes, _, y, strengths = strengths_on_categories()
    spent = int(process_time())
    resource.setrlimit(resource.RLIMIT_CPU, (spent + MOST_SECONDS, spent + MOST_SECONDS))
    return {"seconds": best_time(lambda: glum_on_categories(codes, y, strengths, 1e-6), 1)}


QUESTIONS = {
    "middling": paths_of_a_middling_table,
    "cv": cross_validation,
    "threads": folds_in_parallel,
    "small": small_table,
    "large": large_table,
    "categories": many_categories,
}
MEASUREMENTS = {
    "large": measure_large,
    "categories": measure_categories,
    "ours on categories": measure_ours_on_categories,
    "glum on categories": measure_glum_on_categories,
}

if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        print(json.dumps(MEASUREMENTS[sys.argv[2]]()))
    else:
        rows = []
        for name in sys.argv[1:] or QUESTIONS:
            for row in QUESTIONS[name]():
                print(row, f"ratio {row.ratio:.2f}", flush=True)
                rows.append(row)
        if not sys.argv[1:]:
            report("nbrlr", rows, ["scikit-learn", "glum"])
