"""Spark MLlib, in an environment of its own: run by scale.py with the Python that has pyspark.

    python benchmarks/peers/spark.py naive-bayes FOLDER
    python benchmarks/peers/spark.py logistic-regression FILE.libsvm

Prints processor seconds of the Java process, all of its threads and children included, as JSON. Its start and
a first fit that warms it up are not counted. Nothing listens beyond the loopback interface.
"""

import json
import os
import sys
from pathlib import Path

from pyspark.ml import Pipeline
from pyspark.ml.classification import LogisticRegression, NaiveBayes
from pyspark.ml.feature import StringIndexer, VectorAssembler
from pyspark.sql import SparkSession

TICKS = os.sysconf("SC_CLK_TCK")


def session():
    options = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.driver.memory": "6g",
        "spark.sql.shuffle.partitions": "4",
    }
    builder = SparkSession.builder.master("local[1]").appName("benchmark")
    for name, value in options.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def java_seconds(spark):
    """Return the processor seconds that the Java process has used so far, with those of its children."""
    java = spark.sparkContext._gateway.proc.pid  # noqa: SLF001 - pyspark has no public name for it
    fields = Path(f"/proc/{java}/stat").read_text().rsplit(")", 1)[1].split()
    return sum(map(int, fields[11:15])) / TICKS


def naive_bayes(spark, folder):
    """Index text, put 20 columns in a vector, fit; Gaussian, since no type of MLlib's takes both kinds."""
    files = sorted(str(file) for file in Path(folder).glob("*.parquet"))
    text, numbers = [f"c{j}" for j in range(10)], [f"n{j}" for j in range(10)]
    indexed = [f"{name} index" for name in text]
    pipeline = Pipeline(
        stages=[
            StringIndexer(inputCols=[*text, "outcome"], outputCols=[*indexed, "label"]),
            VectorAssembler(inputCols=[*indexed, *numbers], outputCol="features"),
            NaiveBayes(modelType="gaussian"),
        ]
    )
    pipeline.fit(spark.read.parquet(files[0]))
    start = java_seconds(spark)
    pipeline.fit(spark.read.parquet(*files))
    return {"seconds": java_seconds(spark) - start}


def logistic_regression(spark, path):
    """Return the seconds of a pass over rows in memory: the difference between a long and a short fit."""
    rows = spark.read.format("libsvm").load(path).cache()
    n_rows = rows.count()

    def spent(iterations):
        spark.sparkContext.setJobGroup(f"{iterations} iterations", "")
        start = java_seconds(spark)
        LogisticRegression(maxIter=iterations, tol=0.0, regParam=1e-4, standardization=False).fit(rows)
        jobs = spark.sparkContext.statusTracker().getJobIdsForGroup(f"{iterations} iterations")
        return java_seconds(spark) - start, len(jobs)

    spent(3)
    short, few = spent(5)
    long, many = spent(25)
    # Every evaluation of loss and gradient is one job.
    return {"seconds": (long - short) / (many - few), "rows": n_rows, "passes": many - few}


TASKS = {"naive-bayes": naive_bayes, "logistic-regression": logistic_regression}


if __name__ == "__main__":
    opened = session()
    opened.sparkContext.setLogLevel("ERROR")
    found = TASKS[sys.argv[1]](opened, sys.argv[2])
    print(json.dumps(found | {"spark": opened.version}))
    opened.stop()
