"""How much does a search lose on tables in which there is nothing to find? One line per table, resumable.

    python benchmarks/accuracy/noise.py run semi-naive --seeds 0:100 [--kinds numbers,categories,mixed]
                                            [--rows 30,60,100] [--columns 2,100] [--minutes 30] [--limit 60]
    python benchmarks/accuracy/noise.py report [semi-naive,nbrlr-cv] [--seeds 0:100]

A table has 20 normal numbers, 10 categories of four levels, or five of each (`--columns` takes other
numbers), and two classes by the toss of a coin. The excess is the log loss on 2,000 other rows over that of
the class shares of the training rows. `run` appends to DIR/NAME.csv (results/noise by default) and goes on
where it stopped.

`report` prints mean and worst excess and the share of tables beyond .04 (up to 60 rows) or .02 (more), and
whether the law holds: the mean is at most max(.004, .5 / rows), and at most 5 % of the tables are beyond. Up
to 100 rows, `floor` says whether the mean is at most .02 and no table is beyond .3. A fit that failed breaks
both.
"""

import sys
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parent.parent))
from contenders import MODELS
from study import Study, listed, numbered, read_results
from study_commands import commands, perform

RESULTS = Path(__file__).parent.parent / "results" / "noise"
COLUMNS = {"numbers": 20, "categories": 10, "mixed": 10}
LEVELS = 4
TEST_ROWS = 2000
SETTING = ["kind", "rows", "columns"]


def split(kind, rows, columns, seed):
    """Return a table of noise, labels that have nothing to do with it, and its training and test rows."""
    rng = np.random.default_rng((list(COLUMNS).index(kind), rows, columns, seed))
    n_rows = rows + TEST_ROWS
    n_numbers = {"numbers": columns, "categories": 0, "mixed": columns // 2}[kind]
    numbers = {f"number{j}": rng.normal(size=n_rows) for j in range(n_numbers)}
    levels = {f"category{j}": rng.integers(0, LEVELS, n_rows).astype(str) for j in range(columns - n_numbers)}
    y = rng.integers(0, 2, n_rows)
    return pd.DataFrame(numbers | levels), y, np.arange(rows), np.arange(rows, n_rows)


def measure(judged):
    loss, shares = judged.log_loss(), judged.shares_log_loss()
    return {"log_loss": loss, "shares_log_loss": shares, "excess": loss - shares}


NOISE = Study((*SETTING, "seed"), split, measure, ("log_loss", "shares_log_loss", "excess"))


def plan(kinds, rows, columns, seeds):
    """Return kind, rows, columns and seed of each table, seed by seed."""
    return [
        (kind, n_rows, n_columns, seed)
        for seed in seeds
        for n_rows in rows
        for kind in kinds
        for n_columns in (columns or [COLUMNS[kind]])
    ]


def report(models, results, seeds):
    """Print what noise costs, and whether the laws hold."""
    for model in models or sorted(path.stem for path in results.glob("*.csv")):
        found = read_results(results / f"{model}.csv")
        if seeds is not None:
            found = found[found.seed.isin(seeds)]
        lines = {setting: line(part, setting[1]) for setting, part in found.groupby(SETTING)}
        print(f"\n{model}, seeds {found.seed.min()} to {found.seed.max()}")
        print(pd.DataFrame.from_dict(lines, "index").rename_axis(SETTING).to_string(float_format="%.4f"))


def line(found, rows):
    """Return what is known of tables of the same kind and size."""
    excess = found.excess.where(found.status == "ok", np.inf)
    beyond = (excess > (0.04 if rows <= 60 else 0.02)).mean()
    bar = max(0.004, 0.5 / rows)
    return {
        "tables": len(excess),
        "failed": np.isinf(excess).sum(),
        "mean": excess.mean(),
        "bar": bar,
        "beyond": beyond,
        "worst": excess.max(),
        "law": verdict(excess.mean() <= bar and beyond <= 0.05),
        "floor": verdict(excess.mean() <= 0.02 and excess.max() <= 0.3) if rows <= 100 else "",
        "cpu_s": found.cpu_s.mean(),
    }


def verdict(holds):
    return "holds" if holds else "broken"


if __name__ == "__main__":
    parser, runs, reports = commands(__doc__, RESULTS)
    runs.add_argument("--kinds", type=listed, default=list(COLUMNS))
    runs.add_argument("--rows", type=partial(listed, kind=int), default="60,200,1000")
    runs.add_argument("--columns", type=partial(listed, kind=int), default=[], help="as above if left out")
    runs.add_argument("--seeds", type=numbered, required=True, help="such as 0:100, its end left out")
    reports.add_argument("--seeds", type=numbered, help="all if left out")
    perform(
        parser,
        NOISE,
        MODELS,
        lambda given: plan(given.kinds, given.rows, given.columns, given.seeds),
        lambda given: report(given.models, given.results, given.seeds),
    )
