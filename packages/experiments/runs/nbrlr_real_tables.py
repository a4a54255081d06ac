"""Run Tables 6 to 8 of the NBRLR paper as far as the time reaches.

Results are kept in results/reproduction beside this folder.

python runs/nbrlr_real_tables.py --run FILE.jsonl --minutes 60

Rounds of 5-fold cross-validation are added in this order: one of every data set, all 20 of those below 1,000
rows, then one round of the others after the other, each time the smallest table first. Tables of categories
have the hybrid of Table 7, too, which results/hybrid keeps. `--minutes 0` counts what the file has.
A mean is taken over the rounds that every method of a table has finished. Of a data set that the kept result
has more rounds of, the kept means stay: the file need not begin with the first round of everything.
"""

import argparse
import json
import time
from collections import Counter
from pathlib import Path

import pandas as pd

from seminaive.evaluate import run_repetitions
from seminaive_experiments.papers import nbrlr_real
from seminaive_experiments.papers.real_tables import paper_table, tables_of
from seminaive_experiments.papers.reproduction import compare_with_paper, published_table, runnable
from seminaive_experiments.papers.show import keep_comparison

RESULTS = Path(__file__).parents[1] / "results"
KEPT = {
    "nbrlr-table6": RESULTS / "reproduction",
    "nbrlr-table7": RESULTS / "hybrid",
    "nbrlr-table8": RESULTS / "reproduction",
}
ROUNDS, FEW_ROWS = 20, 1000
OF_ALL = ("NBRLR", "NB", "LR", "Lasso", "Ridge", "ElasticNet")


def units():
    """List the work in the order in which it is done."""
    shapes = {name: paper_table(name).X.shape for name in tables_of("nbrlr-table5")}
    by_size = sorted(shapes, key=lambda name: shapes[name][0] * shapes[name][1])
    few = [name for name in by_size if shapes[name][0] < FEW_ROWS]
    many = [name for name in by_size if shapes[name][0] >= FEW_ROWS]
    described = published_table("nbrlr-table5").set_index("dataset")["type"].to_dict()
    plan = [(name, 0) for name in [*few, *many]]
    plan += [(name, k) for name in few for k in range(1, ROUNDS)]
    plan += [(name, k) for k in range(1, ROUNDS) for name in many]
    for name, repetition in plan:
        for method in (*OF_ALL, *(("HybridLRNB",) if described[name] == "Categorical" else ())):
            yield {"plan": "5-fold", "dataset": name, "method": method, "repetition": repetition, "seed": 0}


def run(path, minutes):
    """Judge what is missing until the time is up; return the units that the file has."""
    end = time.monotonic() + 60 * minutes
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    done = [json.loads(line)["unit"] for line in lines]
    known = {tuple(sorted(unit.items())) for unit in done}
    for unit in units():
        if time.monotonic() >= end:
            break
        if tuple(sorted(unit.items())) not in known:
            run_repetitions([unit], nbrlr_real.judge, path=path, progress=False)
            done.append(unit)
    return done


def of_common_rounds(folds, methods):
    """Keep the rounds of a data set that every method has finished, and data sets that have one."""
    folds = folds[folds["method"].isin(methods)]
    finished = folds.groupby(["dataset", "repetition"])["method"].transform("nunique")
    return folds[finished == len(methods)]


def with_rounds(losses, chosen):
    """Say how many rounds each mean is taken over."""
    return losses.assign(rounds=losses["dataset"].map(chosen.groupby("dataset")["repetition"].nunique()))


def or_kept(losses, path):
    """Put the kept means in place of those of fewer rounds."""
    if not path.exists():
        return losses
    kept = pd.read_csv(path, comment="#").rename(columns={"loss": "ours"})
    if "rounds" not in kept:
        return losses
    fresh = losses.groupby("dataset")["rounds"].first()
    more = kept["rounds"] > kept["dataset"].map(fresh).fillna(0)
    taken = set(kept.loc[more, "dataset"])
    found = pd.concat([losses[~losses["dataset"].isin(taken)], kept[more]], ignore_index=True)
    found.attrs = losses.attrs
    return found


def main():
    """Run, then count the three tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", type=Path, required=True)
    parser.add_argument("--minutes", type=float, default=60)
    args = parser.parse_args()
    done = run(args.run, args.minutes)
    folds = run_repetitions(done, nbrlr_real.judge, path=args.run, progress=False)
    for name, folder in KEPT.items():
        chosen = of_common_rounds(folds, nbrlr_real.methods_of(name))
        wanted = int(published_table(name)["n_datasets"].astype(int).max())
        losses = with_rounds(nbrlr_real.mean_losses(chosen), chosen)
        losses = or_kept(losses, folder / f"{name}-data-sets.csv")
        rounds = losses.groupby("dataset", sort=False)["rounds"].first()
        if len(rounds) < wanted:
            print(f"{name}: {len(rounds)} of {wanted} data sets finished, not kept")
            continue
        found = nbrlr_real.count_wins(name, losses)
        names = {count: rounds.index[rounds == count] for count in sorted(Counter(rounds), reverse=True)}
        listed = "; ".join(f"{count} of {', '.join(of_count)}" for count, of_count in names.items())
        found.attrs["notes"] = [f"Rounds of 5-fold cross-validation: {listed}", *found.attrs["notes"]]
        comparison = compare_with_paper(runnable(name), found)
        keep_comparison(comparison, folder / f"{name}.csv", "python runs/nbrlr_real_tables.py")
        print(f"{name}: {comparison}")


if __name__ == "__main__":
    main()
