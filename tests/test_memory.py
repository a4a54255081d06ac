"""How much memory may be taken: every limit counts, and what exceeds it is refused with a sentence."""

import subprocess
import sys

import numpy as np
import pytest

from seminaive import AveragedDependenceEstimators, HigherOrderLogisticRegressionCV, memory
from seminaive.errors import TooLargeError
from seminaive.statistics import Terms
from seminaive.statistics.sizes import child_cells, dense_cells, dependence_parts, n_terms, stream_parts

GB = 1 << 30


@pytest.fixture
def linux(tmp_path):
    """Return a function that builds /proc and /sys/fs/cgroup, and asks."""

    def ask(membership, groups, available=64 * GB):
        proc, cgroups = tmp_path / "proc", tmp_path / "cgroup"
        (proc / "self").mkdir(parents=True)
        (proc / "meminfo").write_text(f"MemTotal: 1 kB\nMemAvailable: {available // 1024} kB\n")
        (proc / "self" / "cgroup").write_text(membership)
        for path, files in groups.items():
            (cgroups / path).mkdir(parents=True, exist_ok=True)
            for name, content in files.items():
                (cgroups / path / name).write_text(f"{content}\n")
        return memory.available_bytes(proc, cgroups)

    return ask


def version_2(limit, used=0, cache=0):
    stat = f"anon 5\nfile 9\ninactive_file {cache}"
    return {"memory.max": limit, "memory.current": used, "memory.stat": stat}


def version_1(limit, used=0, cache=0):
    stat = f"inactive_file 1\ntotal_inactive_file {cache}"
    return {"memory.limit_in_bytes": limit, "memory.usage_in_bytes": used, "memory.stat": stat}


def test_without_limits_the_machine_answers(linux):
    assert linux("0::/user\n", {"user": version_2("max", 5 * GB)}, available=3 * GB) == 3 * GB


def test_the_own_group_of_version_2_limits(linux):
    assert linux("0::/a/b\n", {"a/b": version_2(4 * GB, 3 * GB), "a": version_2("max", 9 * GB)}) == GB


def test_a_group_further_up_limits_too(linux):
    groups = {"a/b/c": version_2(8 * GB, 1 * GB), "a/b": version_2("max"), "a": version_2(3 * GB, 2 * GB)}
    assert linux("0::/a/b/c\n", groups) == GB


def test_the_page_cache_of_a_group_can_be_taken_back(linux):
    assert linux("0::/a\n", {"a": version_2(4 * GB, 3 * GB, cache=2 * GB)}) == 3 * GB


def test_the_memory_controller_of_version_1_limits_with_all_groups_above(linux):
    membership = "5:cpu,cpuacct:/x\n4:memory:/a/b\n0::/\n"
    groups = {
        "memory/a/b": version_1(2**63 - 4096, 1 * GB),
        "memory/a": version_1(6 * GB, 4 * GB, cache=GB),
        "cpu/x": version_1(1),
    }
    assert linux(membership, groups) == 3 * GB


def test_in_a_container_the_mount_is_the_own_group(linux):
    membership = "4:memory:/docker/0123/../x\n"
    assert linux(membership, {"memory": version_1(2 * GB, GB)}) == GB


def test_a_group_that_is_over_its_limit_leaves_nothing(linux):
    assert linux("0::/a\n", {"a": version_2(GB, 2 * GB)}) == 0


def test_a_system_that_does_not_tell_is_assumed_to_have_some(tmp_path):
    assert memory.available_bytes(tmp_path, tmp_path) == memory.ASSUMED_BYTES


def test_what_is_refused_is_listed_with_its_size_and_advice(monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda: 2 * GB)
    memory.refuse_beyond_memory({"tables": 2 * GB}, "drop columns")
    with pytest.raises(
        TooLargeError, match=r"needs 2\.15 GB and 2\.15 GB .*1e-09 GB for scores.*drop columns"
    ):
        memory.refuse_beyond_memory({"tables": 2 * GB, "scores": 1}, "drop columns")


@pytest.mark.parametrize("order", [1, 2, 3, 4, 7])
def test_cells_are_counted_without_building_terms(order):
    cardinalities = (2, 3, 5, 4)
    cells = [Terms.of_order(cardinalities, size).sizes.sum() for size in range(1, 5)]
    assert dense_cells(cardinalities, order) == cells[min(order, 4) - 1]
    assert dense_cells(cardinalities, order, hierarchical=True) == sum(cells[: min(order, 4)])
    assert n_terms(4, order) == len(Terms.of_order(cardinalities, min(order, 4)).features)
    assert n_terms(4, order, hierarchical=True) == len(
        Terms.up_to_order(cardinalities, min(order, 4)).features
    )


def test_sizes_beyond_64_bits_do_not_wrap():
    assert dense_cells([2**40] * 3, 3) == (2**40 + 1) ** 3
    terms = Terms.of_order((2**15,) * 4, 4)
    assert sum(stream_parts(terms, 2**70, 10, 2).values()) > 8 * 12 * 2 * 2**60
    assert sum(stream_parts(terms, 7, 10, 2).values()) == 8 * 12 * 2 * 17 + 120
    assert sum(dependence_parts([100_000, 100_000], 1, 2).values()) > 2 * 100_000**2 * 16


@pytest.mark.parametrize("order", [1, 2, 3])
def test_cells_of_children_are_those_of_the_tables(order):
    cardinalities, rng = (2, 1, 3, 4), np.random.default_rng(0)
    X, y = np.column_stack([rng.integers(0, k, 60) for k in cardinalities]), rng.integers(0, 2, 60)
    X[: len(X) // 2] = [k - 1 for k in cardinalities]
    model = AveragedDependenceEstimators(order, categorical_features="all").fit(X, y)
    assert len(model.tables_.child_log) == child_cells(cardinalities, order)


# Limits of the process itself, in a child.

LIMIT = """
import resource, sys
import numpy as np
import seminaive, seminaive.memory
from seminaive.kernels import counting, parent_averages  # what is imported is mapped before the limit is set
pages = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (pages + {gigabytes} * 2**30,) * 2)
"""


def under_a_limit(code, gigabytes=4):
    pytest.importorskip("resource")
    script = LIMIT.format(gigabytes=gigabytes) + code
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)


def test_a_limit_on_address_space_counts_what_is_mapped():
    done = under_a_limit("print(seminaive.memory.available_bytes())", gigabytes=1)
    assert done.returncode == 0, done.stderr
    assert 0.8 * GB < int(done.stdout) <= GB


REFUSED = """
rng = np.random.default_rng(0)
{table}
try:
    {model}.fit(X, y)
except seminaive.errors.TooLargeError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("model", "table"),
    [
        (
            "seminaive.AveragedDependenceEstimators(categorical_features=[0, 1])",
            "y = np.arange(100_000); X = np.column_stack([y, y[::-1]]); y = y % 2",
        ),
        (
            "seminaive.AveragedJoinEstimators(order=3, categorical_features='all')",
            "X = rng.integers(0, 60, (5000, 20)); y = np.arange(5000) % 2",
        ),
        (
            "seminaive.AveragedJoinEstimators(order=12, categorical_features='all')",
            "X = rng.integers(0, 200, (5000, 25)); y = np.arange(5000) % 2",
        ),
    ],
    ids=["two columns of 100,000 categories", "order 3", "more than 64 bits of cells"],
)
def test_a_model_beyond_the_limit_is_refused_with_a_sentence(model, table):
    done = under_a_limit(REFUSED.format(model=model, table=table))
    assert done.returncode == 0, done.stderr
    assert "the fit needs" in done.stdout
    assert "lower the order" in done.stdout


def test_a_column_of_100_000_categories_is_not_stored_given_itself():
    done = under_a_limit(
        """
rng = np.random.default_rng(0)
y = np.arange(100_000)
X = np.column_stack([y, rng.integers(0, 3, (100_000, 2))])
model = seminaive.AveragedDependenceEstimators(categorical_features="all").fit(X, y % 2)
print(np.isfinite(model.predict_proba(X[:100])).all())
"""
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "True\n"


def test_memory_that_runs_out_all_the_same_is_a_sentence(monkeypatch, weather):
    from seminaive import NaiveBayes
    from seminaive.models import naive_bayes

    def no_memory(*_args, **_options):
        return np.empty(1 << 50)

    monkeypatch.setattr(naive_bayes.TableStatistics, "of", no_memory)
    with pytest.raises(TooLargeError, match=r"memory ran out .*fewer rows"):
        NaiveBayes().fit(*weather)


@pytest.mark.parametrize("call", ["partial_fit(X, y, classes=[0, 1])", "set_params(solver='sgd').fit(X, y)"])
@pytest.mark.parametrize(
    ("shape", "answer"), [((300, 12), "True"), ((40_000, 30), "GB are available")], ids=["fits", "does not"]
)
def test_stochastic_descent_at_order_three_keeps_observed_cells_only(call, shape, answer):
    code = f"""
rng = np.random.default_rng(0)
X, y = rng.integers(0, 60, {shape}), rng.integers(0, 2, {shape[0]})
try:
    model = seminaive.HigherOrderLogisticRegression(order=3, max_iter=2, categorical_features="all").{call}
    print(np.isfinite(model.predict_proba(X)).all())
except seminaive.errors.TooLargeError as error:
    print(error)
"""
    done = under_a_limit("import seminaive.errors\n" + code, gigabytes=2)
    assert done.returncode == 0, done.stderr[-2000:]
    assert answer in done.stdout


def test_folds_of_a_search_are_counted_before_they_are_fitted(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 30, (2000, 3)), rng.integers(0, 2, 2000)
    monkeypatch.setattr(memory, "SMALL_BYTES", 0)
    monkeypatch.setattr(memory, "available_bytes", lambda: 1_300_000)
    with pytest.raises(TooLargeError, match=r"scores of 2,000 rows in 20 folds.*lower the number of folds"):
        HigherOrderLogisticRegressionCV(1, cv=20, categorical_features="all").fit(X, y)
