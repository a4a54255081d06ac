"""Race fits from partitions against decoding alone, and passes over blocks against the pass in memory.

    python benchmarks/speed/scale.py [rows]
    python benchmarks/speed/scale.py spark PYTHON [rows]
    python benchmarks/speed/scale.py threads [rows]

The rows, 20 million unless said otherwise, are 10 columns of text and 10 numbers in Parquet files of 500,000,
written to the folder for temporary files and removed at the end. Whatever measures memory runs in a process
of its own. The part `spark` compares with Spark MLlib, run by a PYTHON that has pyspark (and a Java). The
part `threads` compares two threads with one, by the clock: run it on a machine that does nothing else.
"""

import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from seminaive import HigherOrderLogisticRegression, NaiveBayes, scale
from seminaive.design.table_design import TableDesign
from seminaive.objective.empirical_loss import EmpiricalLoss
from seminaive.scale import blocks
from seminaive.scale.coding import Coding
from seminaive.scale.work import Work
from seminaive_experiments import load_dataset

sys.path.insert(0, str(Path(__file__).parent.parent))
from race import Ratio, report

ROWS = 20_000_000
FILE_ROWS = 500_000
# Rows of the passes: those of one table that fits in memory.
PASS_ROWS = 2_000_000
SPARK = Path(__file__).parent.parent / "peers" / "spark.py"
# Covertype, below itself five times; and the rows of it that Spark is given, as 1,431 one-hot pairs each.
COPIES, SPARK_ROWS = 5, 10_000
BAR_SPARK_STATISTICS, BAR_SPARK_PASS, BAR_THREADS = 10.0, 20.0, 1.7
BAR_DECODING, BAR_MEMORY, BAR_MAPPED, BAR_DASK, BAR_GIGABYTES = 2.5, 1.15, 1.35, 2.0, 1.0
ROUNDS = 5


def make(folder, n_rows):
    rng = np.random.default_rng(0)
    words = [pa.array([f"value {j}-{v}" for v in range(4 + 3 * j)]) for j in range(10)]
    for number in range(-(-n_rows // FILE_ROWS)):
        n = min(FILE_ROWS, n_rows - number * FILE_ROWS)
        y = rng.integers(0, 2, n)
        columns = {
            f"c{j}": pa.DictionaryArray.from_arrays(
                ((rng.random(n) ** 2 * len(levels)).astype(np.int32) + y) % len(levels), levels
            ).cast(pa.string())
            for j, levels in enumerate(words)
        }
        columns |= {f"n{j}": rng.normal(size=n).astype(np.float32).astype(float) + y / 4 for j in range(10)}
        columns["outcome"] = pa.array(np.array(["no", "yes"])[y])
        pq.write_table(pa.table(columns), folder / f"part-{number:04d}.parquet")


def in_child(task, folder):
    """Run a task of this file in a process of its own; return its processor seconds and peak memory."""
    found = subprocess.run(
        [sys.executable, __file__, "--task", task, str(folder)], check=True, capture_output=True, text=True
    )
    return json.loads(found.stdout.splitlines()[-1])


def decode(data):
    """Read all columns, text as dictionaries, and do nothing with them."""
    rows = 0
    for partition in data.partitions:
        for piece in partition.tables(None):
            rows += piece.num_rows
    return rows


TASKS = {
    "decode": decode,
    "naive Bayes": lambda data: scale.fit(NaiveBayes(), data),
    "naive Bayes without summary": lambda data: scale.fit(NaiveBayes(keep_summary=False), data),
}


def run_task(task, folder):
    data = scale.from_parquet(Path(folder), target="outcome")
    if task != "decode":  # compile on one partition
        TASKS[task](scale.Source(data.partitions[:1], "outcome", None, ()))
    start = process_time()
    TASKS[task](data)
    seconds = process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(json.dumps({"seconds": seconds, "gigabytes": peak}))


def from_parquet(folder, n_rows):
    turns = [{task: in_child(task, folder) for task in TASKS} for _ in range(2)]
    best = {task: min(turn[task]["seconds"] for turn in turns) for task in TASKS}
    what = f"{n_rows:,} x 20 mixed rows from Parquet"
    for task in TASKS:
        if task != "decode":
            question = f"{task} of {what}"
            yield Ratio(question, "decoding", best[task], best["decode"], BAR_DECODING, smaller=True)
    peak = max(turn["naive Bayes"]["gigabytes"] for turn in turns)
    yield Ratio(
        f"peak memory of naive Bayes of {what}", "one gigabyte", peak, 1.0, BAR_GIGABYTES, "GB", smaller=True
    )


def planned(data, runner):
    """Return how rows are encoded and fused for pairs of columns."""
    model = HigherOrderLogisticRegression(2, bins=8)
    work = Work(model, data, runner, None, None)
    survey, coding = work.coded()
    plan = blocks.Plan.of(
        coding, data.partitions, runner, n_rows=survey.n_rows, order=2, standardisation=None
    )
    return coding, plan


def passes(folder):
    """Compare a pass in memory with passes over blocks: in memory, mapped from a disk, and on a cluster."""
    data = scale.from_parquet(sorted(folder.glob("*.parquet"))[: PASS_ROWS // FILE_ROWS], target="outcome")
    coding, plan = planned(data, scale.LocalRunner())
    plain = plain_loss(data, coding)
    coefficients = np.random.default_rng(0).normal(size=plain.shape)
    with tempfile.TemporaryDirectory() as scratch:
        kinds = {
            "blocks in memory": blocked(plan, data, None),
            "memory-mapped blocks": blocked(plan, data, scratch),
        }
        times = {name: [] for name in ("plain", *kinds)}
        for _ in range(ROUNDS + 1):  # the first round compiles
            for name, loss in {"plain": plain, **kinds}.items():
                times[name].append(seconds(lambda loss=loss: loss(coefficients)))
        best = {name: min(seconds[1:]) for name, seconds in times.items()}
        for name, bar in zip(kinds, (BAR_MEMORY, BAR_MAPPED), strict=True):
            yield Ratio(
                f"a pass of order 2, {name}",
                "the pass in memory",
                best[name],
                best["plain"],
                bar,
                smaller=True,
            )
        spent = dask_seconds(plan, data, coefficients)
        yield Ratio(
            "a pass of order 2, Dask", "the pass in memory", spent, best["plain"], BAR_DASK, smaller=True
        )


def seconds(call):
    start = process_time()
    call()
    return process_time() - start


def plain_loss(data, coding: Coding):
    parts = [rows for partition in data.partitions for rows in coding.training_sets(partition)]
    table = type(parts[0].table)(
        np.concatenate([rows.table.codes for rows in parts]),
        np.concatenate([rows.table.numbers for rows in parts]),
        coding.schema,
    )
    labels = np.concatenate([rows.labels for rows in parts])
    weights = np.ones(len(labels))
    design = TableDesign.of(table, weights, 2, order=2, hierarchical=False)
    print(design.describe())
    return EmpiricalLoss(design, labels, weights, 2)


def blocked(plan, data, folder, runner=None):
    made = blocks.Blocks(plan, data.partitions, runner or scale.LocalRunner(), folder, lambda: None)
    _, squares = made.generative_estimate()
    return made.loss(squares, "log-likelihood")


def dask_seconds(plan, data, coefficients):
    """Return the processor seconds of a pass, of the driver and of both workers together."""
    from distributed import Client, LocalCluster

    options = {"n_workers": 2, "threads_per_worker": 1, "host": "127.0.0.1", "dashboard_address": None}
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        loss = blocked(plan, data, None, scale.DaskRunner(client))
        loss(coefficients)

        def total():
            return process_time() + sum(client.run(process_time).values())

        found = []
        for _ in range(ROUNDS):
            start = total()
            loss(coefficients)
            found.append(total() - start)
        return min(found)


def spark(python, folder, n_rows):
    """Compare naive Bayes from Parquet, and a pass of order 2, with Spark MLlib."""
    theirs = spark_task(python, "naive-bayes", folder)
    ours = min(in_child("naive Bayes", folder)["seconds"] for _ in range(2))
    peer = f"Spark MLlib {theirs['spark']}"
    yield Ratio(
        f"naive Bayes of {n_rows:,} x 20 mixed rows from Parquet",
        peer,
        ours,
        theirs["seconds"],
        BAR_SPARK_STATISTICS,
    )
    table = load_dataset("covertype")
    frame = table.X.assign(outcome=table.y)
    data = scale.from_batches([frame] * COPIES, target="outcome")
    coding, plan = planned(data, scale.LocalRunner())
    loss = blocked(plan, data, None)
    coefficients = np.random.default_rng(0).normal(size=loss.shape) / 100
    loss(coefficients)
    ours = min(seconds(lambda: loss(coefficients)) for _ in range(ROUNDS)) / (COPIES * len(frame))
    path = folder / "pairs.libsvm"
    write_pairs(coding, frame.sample(SPARK_ROWS, random_state=0), path)
    theirs = spark_task(python, "logistic-regression", path)
    yield Ratio(
        f"a pass of order 2 over Covertype x {COPIES}, per row; Spark's over {SPARK_ROWS:,} rows, per row",
        peer,
        1e6 * ours,
        1e6 * theirs["seconds"] / theirs["rows"],
        BAR_SPARK_PASS,
        "us",
    )


def spark_task(python, task, path):
    found = subprocess.run(
        [python, str(SPARK), task, str(path)], check=True, stdout=subprocess.PIPE, text=True
    )
    return json.loads(found.stdout.splitlines()[-1])


def write_pairs(coding, frame, path):
    """Write rows as Spark reads sparse vectors: the label, and the column of each pair's joint value."""
    rows = coding.encode(frame.drop(columns="outcome"), frame["outcome"], None)
    design = TableDesign.of(rows.table, rows.weights, rows.n_classes, order=2, hierarchical=False)
    places = design.fused.positions_of(range(len(design.coefficients.terms.features)))
    with path.open("w") as file:
        for label, places_of_row in zip(rows.labels, places, strict=True):
            file.write(f"{label} " + " ".join(f"{place + 1}:1" for place in places_of_row.tolist()) + "\n")


def threads(folder, n_rows):
    """Compare two threads with one, by the clock, for encoding, statistics and passes."""
    data = scale.from_parquet(folder, target="outcome")
    part = scale.from_parquet(sorted(folder.glob("*.parquet"))[: PASS_ROWS // FILE_ROWS], target="outcome")
    _, plan = planned(part, scale.LocalRunner())
    tasks = {
        f"statistics, {n_rows:,} rows": lambda runner: scale.fit(NaiveBayes(), data, runner=runner),
        f"encoding and fusing, {PASS_ROWS:,} rows": lambda runner: blocked(plan, part, None, runner),
    }
    for name, task in tasks.items():
        yield by_threads(name, task)
    by_runner = {n: blocked(plan, part, None, scale.LocalRunner(n)) for n in (1, 2)}
    coefficients = np.random.default_rng(0).normal(size=by_runner[1].shape)
    yield by_threads(
        f"a pass of order 2, {PASS_ROWS:,} rows", lambda runner: by_runner[runner.n_jobs](coefficients)
    )


def by_threads(name, task):
    times = {1: [], 2: []}
    for _ in range(ROUNDS):
        for n_jobs, seconds in times.items():
            start = perf_counter()
            task(scale.LocalRunner(n_jobs))
            seconds.append(perf_counter() - start)
    return Ratio(name, "one thread", min(times[2]), min(times[1]), BAR_THREADS)


def main(part, n_rows, *arguments):
    with tempfile.TemporaryDirectory(prefix="scale-") as name:
        folder = Path(name)
        make(folder, n_rows)
        if part == "spark":
            rows = list(spark(*arguments, folder, n_rows))
            report("scale_spark", rows, ["pyarrow"], f"spark PYTHON {n_rows}")
        elif part == "threads":
            rows = list(threads(folder, n_rows))
            report("scale_threads", rows, ["pyarrow"], f"threads {n_rows}")
        else:
            rows = [*from_parquet(folder, n_rows), *passes(folder)]
            report("scale", rows, ["pyarrow", "distributed"], f"{n_rows}")


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if not word.isdigit()]
    rows = next((int(word) for word in sys.argv[1:] if word.isdigit()), ROWS)
    if words[:1] == ["--task"]:
        run_task(*words[1:])
    else:
        main(words[0] if words else "all", rows, *words[1:])
