"""Run Tables 1 to 4 of the NBRLR paper with fewer repetitions of 2,000 rows.

Results are kept in results/reproduction beside this folder.

python runs/nbrlr_tables.py --run FILE.jsonl --repetitions 100 --of-many-rows 25 --of-hybrid 25

`seminaive reproduce nbrlr-table1 --resume` continues the run, if it lies in the folder of `--out`.
"""

import argparse
import shlex
import sys
from pathlib import Path

import pandas as pd

from seminaive_experiments.papers import nbrlr
from seminaive_experiments.papers.reproduction import RunOptions, compare_with_paper, runnable
from seminaive_experiments.papers.show import keep_comparison

KEPT = Path(__file__).parents[1] / "results" / "reproduction"
MANY_ROWS = 2000


def records_of(setting, args):
    """Run what is missing of a setting; return the methods with coefficients and the hybrid."""
    numbers = {100: args.repetitions, MANY_ROWS: args.of_many_rows}
    others = [
        nbrlr.run_cells([setting], [cell], RunOptions(numbers[cell[0]], path=args.run, progress=False))
        for cell in nbrlr.PAPER_CELLS
    ]
    options = RunOptions(args.of_hybrid, path=args.run, progress=False)
    return pd.concat(others), nbrlr.hybrid_records(setting, nbrlr.PAPER_CELLS, options)


def keep(name, cells, notes, args):
    """Write our cells beside the printed ones."""
    counts = f"{args.repetitions} of 100 rows, {args.of_many_rows} of 2,000; {args.of_hybrid} of the hybrid"
    cells.attrs["notes"] = [f"Repetitions: {counts}", *notes]
    found = compare_with_paper(runnable(name), cells)
    words = [word for word in sys.argv[1:] if word not in ("--run", str(args.run))]
    keep_comparison(
        found,
        KEPT / f"{name}.csv",
        shlex.join(["python", "runs/nbrlr_tables.py", *words]),
    )
    sys.stdout.write(f"{name}: {found}\n")


def main():
    """Run both settings, then make the four tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", type=Path, required=True)
    parser.add_argument("--repetitions", type=int, default=100)
    parser.add_argument("--of-many-rows", type=int, default=25)
    parser.add_argument("--of-hybrid", type=int, default=25)
    args = parser.parse_args()
    of_settings = []
    for setting in (1, 2):
        others, hybrid = records_of(setting, args)
        name = f"nbrlr-table{setting}"
        losses = nbrlr.mean_losses(pd.concat([others, hybrid])).dropna(subset="ours")
        keep(name, losses, [nbrlr.p_value_note(name, others)], args)
        of_settings.append(others)
    moments = nbrlr.bias_and_variance(pd.concat(of_settings))
    for name, moment in (("nbrlr-table3", "bias"), ("nbrlr-table4", "variance")):
        keep(name, moments[moments["moment"] == moment], [], args)


if __name__ == "__main__":
    main()
