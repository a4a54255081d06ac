"""Gather the numbers that `seminaive reproduce NAME-figureK` draws, from results and from runs.

    python runs/kept_figures.py gather
    python runs/kept_figures.py simulations --run nbrlr-simulations.jsonl --repetitions 100
    python runs/kept_figures.py splits --run nbrlr-real-tables.jsonl --repetitions 100

``gather`` copies what other runs left in results/. The two others take the finished repetitions of a
run of `seminaive reproduce`, run what it lacks, and keep the numbers of the boxes; ``--settings``, ``--rows``
and ``--predictors`` take some cells of the simulations and leave the others as they are kept.
"""

import argparse
import datetime as dt
import json
import platform
import shlex
import sys
from importlib.metadata import version
from pathlib import Path

import pandas as pd

from seminaive_experiments.papers.box_figures import box_numbers
from seminaive_experiments.papers.nbrlr import CHAPTER_CELLS, PAPER_CELLS, hybrid_records, run_cells
from seminaive_experiments.papers.nbrlr_real import split_losses
from seminaive_experiments.papers.reproduction import RunOptions, published_table

PACKAGE = Path(__file__).parents[1]
RESULTS, KEPT = PACKAGE / "results", PACKAGE / "src" / "seminaive_experiments" / "papers" / "kept"
COPIES = {
    "alr-learning-curves": "alr/learning-curves.csv",
    "alr-passes": "alr/passes.csv",
    "alr-starts": "alr/starts.csv",
    "dissertation-times": "hybrid/dissertation-tableA4-ratios.csv",
}
CELL = ["setting", "n_train", "p", "r", "method"]


def keep(name, numbers, lines):
    """Write numbers under comment lines."""
    head = "".join(f"# {line}\n" for line in lines)
    text = head + numbers.to_csv(index=False, float_format="%.5g")
    (KEPT / f"{name}.csv").write_text(text, encoding="utf-8")


def heads(path):
    return [line[2:] for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("# ")]


def origin():
    """Return the command, the date and the versions."""
    words = [word for word in sys.argv[1:] if not word.endswith(".jsonl") and word != "--run"]
    packages = ", ".join(f"{name} {version(name)}" for name in ("seminaive", "numpy", "scipy"))
    date = f"{dt.datetime.now(tz=dt.UTC):%Y-%m-%d}, Python {platform.python_version()}, {packages}"
    return [shlex.join(["python", "runs/kept_figures.py", *words]), date]


def gather(_):
    """Copy results that are small tables already, and make one of the losses on the ALR paper's data sets."""
    for name, source in COPIES.items():
        keep(name, pd.read_csv(RESULTS / source, comment="#"), heads(RESULTS / source))
    raw = (RESULTS / "alr" / "wins-raw.jsonl").read_text(encoding="utf-8").splitlines()
    records = [line["unit"] | line["records"][0] for line in map(json.loads, raw)]
    big = set(published_table("alr-table1").query("over_100000 == '1'")["dataset"])
    losses = pd.DataFrame(records)[["dataset", "method", "repetitions", "L01", "RMSE", "bias", "variance"]]
    losses.insert(1, "big", losses["dataset"].isin(big))
    keep("alr-losses", losses.dropna(), heads(RESULTS / "alr" / "wins.csv")[:2])


def simulations(args):
    """Keep the boxes of the simulations that were run; those of other cells stay."""
    options = RunOptions(args.repetitions, path=args.run, progress=False)
    records = []
    for setting in args.settings:
        cells = PAPER_CELLS if setting in (1, 2) else CHAPTER_CELLS
        cells = [cell for cell in cells if cell[0] in args.rows and cell[1] in args.predictors]
        records.append(run_cells([setting], cells, options))
        if setting in (1, 2):
            records.append(hybrid_records(setting, cells, options))
    fresh = box_numbers(pd.concat(records), CELL, ["MSE", "L01", "RSPE"])
    replace_kept("nbrlr-simulations", fresh, [*CELL, "metric"])


def splits(args):
    """Keep the boxes of the dissertation's real tables."""
    options = RunOptions(args.repetitions, path=args.run, progress=False)
    found = pd.concat([split_losses(f"dissertation-table2.{k}", options) for k in (7, 8)])
    replace_kept("dissertation-splits", box_numbers(found, ["dataset", "method"], ["L01", "RSPE"]), None)


def replace_kept(name, fresh, keys):
    path = KEPT / f"{name}.csv"
    lines = origin()
    if keys is not None and path.exists():
        before = pd.read_csv(path, comment="#")
        fresh = pd.concat([fresh, before]).drop_duplicates(keys)
        fresh = fresh.sort_values(keys[:4], kind="stable")
        lines = list(dict.fromkeys([line for line in heads(path) if line.startswith("python")] + lines))
    keep(name, fresh, lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["gather", "simulations", "splits"])
    parser.add_argument("--run", type=Path)
    parser.add_argument("--repetitions", type=int, default=100)
    parser.add_argument("--settings", type=int, nargs="+", default=[1, 2, 3, 4])
    parser.add_argument("--rows", type=int, nargs="+", default=[100, 2000])
    parser.add_argument("--predictors", type=int, nargs="+", default=[10, 50])
    args = parser.parse_args()
    KEPT.mkdir(exist_ok=True)
    {"gather": gather, "simulations": simulations, "splits": splits}[args.what](args)


if __name__ == "__main__":
    main()
