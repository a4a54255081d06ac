"""Run parts of the hybrid papers' tables, resumable; results/hybrid keeps them beside the printed values.

`seminaive reproduce` runs whole tables; this takes some data sets, methods or cells of them:

python runs/hybrid_tables.py chapter1 --data-sets Iris Wine --methods HybridLRNB LR NB --repetitions 100
python runs/hybrid_tables.py chapter1 --data-sets Iris Wine --methods RF Lasso --in-r --repetitions 100
python runs/hybrid_tables.py counts
python runs/hybrid_tables.py table2 --data-sets Blogger --repetitions 100
python runs/hybrid_tables.py draws --data-sets 'Pima Indians Diabetes' --draws 20 --repetitions 10
python runs/hybrid_tables.py times --data-sets Iris Wine --methods HybridLRNB LR NB --repetitions 5
"""

import argparse
import shlex
import sys
from pathlib import Path

import pandas as pd
from chapter1_in_r import judge_in_r

from seminaive.evaluate import run_repetitions
from seminaive_experiments.papers import dissertation, hybrid
from seminaive_experiments.papers.reproduction import compare_with_paper, published_table, runnable
from seminaive_experiments.papers.show import keep_comparison, versions

KEPT = Path(__file__).parents[1] / "results" / "hybrid"


def run(args, units, work, name):
    """Run what is missing; return all records of the units."""
    path = args.runs / f"{name}.jsonl"
    return run_repetitions(units, work, path=path, n_jobs=args.jobs, progress=False)


def _command():
    """Return the command line without the folder of the runs."""
    words = sys.argv[1:]
    if "--runs" in words:
        place = words.index("--runs")
        words = words[:place] + words[place + 2 :]
    return shlex.join(["python", "runs/hybrid_tables.py", *words])


def means(records, keys, column):
    """Return the mean of a column and its standard error."""
    return records.groupby(keys, sort=False)[column].agg(ours="mean", se="sem").reset_index()


def chapter1(args):
    """Run Tables A.1 to A.3 on some data sets, and count again what rests on their splits."""
    if args.in_r:
        units = [
            {"dataset": dataset, "method": method, "repetitions": args.repetitions, "seed": 0}
            for dataset in args.data_sets
            for method in args.methods
        ]
        splits = run(args, units, judge_in_r, "dissertation-chapter1-in-r").assign(lr_part_size=0)
    else:
        splits = run(args, _chapter1_units(args), dissertation.judge, "dissertation-chapter1")
    keep_splits("dissertation-chapter1", splits, ["L01", "RMSE", "lr_part_size"])
    counts(args)


def counts(args):
    """Make Tables A.1 to A.3, 1.2 to 1.4 and Table 2 of the hybrid paper from the kept splits."""
    del args
    splits = kept_splits("dissertation-chapter1")
    sizes = dissertation.mean_sizes(splits[splits["method"] == "HybridLRNB"])
    sizes = _sizes_with_draws(sizes)
    sizes.attrs["notes"] = dissertation.other_grid_notes(splits)
    compare("dissertation-tableA1", sizes, splits)
    for name, column in (("A2", "L01"), ("A3", "RMSE")):
        cells = with_draws(means(splits, ["dataset", "method"], column), column)
        compare(f"dissertation-table{name}", cells, splits)
    for name in ("dissertation-table1.2", "dissertation-table1.3", "dissertation-table1.4"):
        methods = published_table(name)[["method_a", "method_b"]].to_numpy().ravel()
        if set(methods) <= set(splits["method"]):
            compare(name, dissertation.count_wins(name, splits), splits)
    if (KEPT / "hybrid-table2-splits.csv").exists():
        splits = kept_splits("hybrid-table2").rename(columns={"method": "search"})
        found = hybrid.cells_of(splits)
        found.attrs["notes"] = hybrid.notes_of(splits)
        compare("hybrid-table2", found, splits)


def keep_splits(name, records, columns):
    """Keep some columns of the splits: a line has the values of one in the order of the repetitions."""
    path = KEPT / f"{name}-splits.csv"
    keys = ["dataset", "method", "quantity"]
    long = records.melt(["dataset", "method", "n_features", "repetition"], columns, "quantity")
    lines = []
    for key, group in long.groupby(keys, sort=False):
        values = group.sort_values("repetition")["value"]
        n_features = int(group["n_features"].iloc[0])
        lines.append([*key, n_features, " ".join(f"{value:.5g}" for value in values)])
    fresh, commands = pd.DataFrame(lines, columns=[*keys, "n_features", "values"]), [_command()]
    if path.exists():
        commands = list(dict.fromkeys([*_commands_of(path), *commands]))
        fresh = pd.concat([fresh, pd.read_csv(path, comment="#")]).drop_duplicates(keys)
    head = "".join(f"# {command}\n" for command in commands)
    path.write_text(f"{head}# {versions()}\n" + fresh.sort_values(keys).to_csv(index=False), encoding="utf-8")


def kept_splits(name):
    """Read kept splits, one row for each data set, method and repetition."""
    lines = pd.read_csv(KEPT / f"{name}-splits.csv", comment="#")
    keys = ["dataset", "method", "n_features", "repetition"]
    long = lines.assign(value=lines.pop("values").str.split()).explode("value")
    long["repetition"] = long.groupby(["dataset", "method", "quantity"]).cumcount()
    return long.astype({"value": float}).pivot(index=keys, columns="quantity", values="value").reset_index()


def compare(name, cells, splits):
    """Write our cells beside the paper's, with the number of splits that they rest on."""
    numbers = splits.groupby("dataset", sort=False)["repetition"].nunique()
    listed = "; ".join(f"{count} of {', '.join(names.index)}" for count, names in numbers.groupby(numbers))
    cells.attrs["notes"] = [*cells.attrs.get("notes", ()), f"Splits: {listed}"]
    found = compare_with_paper(runnable(name), cells)
    keep_comparison(found, KEPT / f"{name}.csv", "python runs/hybrid_tables.py counts")
    sys.stdout.write(f"{name}: {found}\n")


def _commands_of(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line[2:] for line in lines if line.startswith("# python ")]


def _chapter1_units(args, seeds=(0,)):
    return [
        {"dataset": dataset, "method": method, "repetition": repetition, "seed": seed}
        for dataset in args.data_sets
        for seed in seeds
        for repetition in range(args.repetitions)
        for method in args.methods
    ]


def draws(args):
    """Keep the means of Tables A.1 to A.3 over draws of the missing cells, and the deviation of a draw."""
    seeds = range(args.draws)
    if args.in_r:
        units = [
            {"dataset": dataset, "method": method, "repetitions": args.repetitions, "seed": seed}
            for dataset in args.data_sets
            for method in args.methods
            for seed in seeds
        ]
        splits = run(args, units, judge_in_r, "dissertation-draws-in-r").assign(lr_part_size=0)
    else:
        splits = run(args, _chapter1_units(args, seeds), dissertation.judge, "dissertation-draws")
    keys = ["dataset", "method", "quantity"]
    long = splits.melt([*keys[:2], "seed"], ["L01", "RMSE", "lr_part_size"], "quantity")
    found = long.groupby(keys, sort=False).apply(_over_draws, include_groups=False).reset_index()
    path = KEPT / "dissertation-draws.csv"
    commands = [_command()]
    if path.exists():
        commands = list(dict.fromkeys([*_commands_of(path), *commands]))
        found = pd.concat([found, pd.read_csv(path, comment="#")]).drop_duplicates(keys)
    head = "".join(f"# {command}\n" for command in commands)
    lines = found.sort_values(keys).to_csv(index=False, float_format="%.5g")
    path.write_text(f"{head}# {versions()}\n{lines}", encoding="utf-8")
    counts(args)


def _over_draws(values):
    """Return the mean over draws, its error, and the deviation between draws without that of the splits."""
    of_draw = values.groupby("seed")["value"].agg(["mean", "var", "size"])
    between = of_draw["mean"].var() - (of_draw["var"] / of_draw["size"]).mean()
    return pd.Series(
        {
            "draws": len(of_draw),
            "splits": of_draw["size"].iloc[0],
            "ours": of_draw["mean"].mean(),
            "se": of_draw["mean"].sem(),
            "draw_deviation": max(between, 0.0) ** 0.5,
        }
    )


def with_draws(cells, quantity):
    """Put means over draws of the missing cells in place of those of one draw."""
    path = KEPT / "dissertation-draws.csv"
    if not path.exists():
        return cells
    kept = pd.read_csv(path, comment="#")
    kept = kept[kept["quantity"] == quantity].set_index(["dataset", "method"])
    methods = cells["method"] if "method" in cells else ["HybridLRNB"] * len(cells)
    drawn = kept.reindex(list(zip(cells["dataset"], methods, strict=True))).set_index(cells.index)
    return cells.assign(
        ours=drawn["ours"].fillna(cells["ours"]),
        se=drawn["se"].fillna(cells["se"]),
        draw_deviation=drawn["draw_deviation"],
    )


def _sizes_with_draws(cells):
    """Put means over draws into Table A.1: what the LR part gains, the NB part loses."""
    parts = {name: rows.set_index("dataset", drop=False) for name, rows in cells.groupby("quantity")}
    logistic = with_draws(parts["lr_part_size"], "lr_part_size")
    gained = logistic["ours"] - parts["lr_part_size"]["ours"]
    generative = parts["nb_part_size"].assign(ours=parts["nb_part_size"]["ours"] - gained, se=logistic["se"])
    if "draw_deviation" in logistic:
        generative["draw_deviation"] = logistic["draw_deviation"]
    return pd.concat([logistic, generative], ignore_index=True)


def _write(cells, name, line):
    head = f"# {_command()}\n# {line}\n"
    (KEPT / f"{name}.csv").write_text(head + cells.to_csv(index=False, float_format="%.4g"), encoding="utf-8")


def times(args):
    """Keep processor times of training beside Table A.4, both in times of logistic regression."""
    splits = run(args, _chapter1_units(args), dissertation.judge, "dissertation-times")
    seconds = splits.groupby(["dataset", "method"], sort=False)["seconds"].median()
    printed = published_table("dissertation-tableA4").set_index(["dataset", "method"])["value"].astype(float)
    found = pd.DataFrame({"seconds": seconds, "ours": _of_logistic(seconds), "paper": _of_logistic(printed)})
    found = found.loc[seconds.index].reset_index()
    line = "median processor seconds of a fit, and its ratio to that of LR, ours and printed"
    _write(found, "dissertation-tableA4-ratios", line)
    sys.stdout.write(f"{found.groupby('method')[['ours', 'paper']].median()}\n")


def _of_logistic(seconds):
    return seconds / seconds.xs("LR", level="method")


def table2(args):
    """Run Table 2 of the hybrid paper on some data sets."""
    units = [
        {"dataset": dataset, "search": search, "repetition": repetition, "seed": 0}
        for dataset in args.data_sets
        for search in hybrid.searches_of(dataset)[: args.searches]
        for repetition in range(args.repetitions)
    ]
    splits = run(args, units, hybrid.judge, "hybrid-table2")
    kept = [name for name in splits if name not in ("dataset", "search", "repetition", "seed", "n_features")]
    keep_splits("hybrid-table2", splits.rename(columns={"search": "method"}), kept)
    counts(args)


def main():
    """Read what to run from the command line."""
    parts = {
        "chapter1": chapter1,
        "counts": counts,
        "draws": draws,
        "times": times,
        "table2": table2,
    }
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=list(parts))
    parser.add_argument("--data-sets", nargs="+", default=["Iris", "Wine"])
    parser.add_argument("--methods", nargs="+", default=["HybridLRNB", "LR", "NB"])
    parser.add_argument("--repetitions", type=int, default=100)
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument(
        "--searches", type=int, default=2, help="of a blanket: 1 takes that of the paper's sizes"
    )
    parser.add_argument("--in-r", action="store_true", help="forest and lasso by R's packages")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--runs", type=Path, default=Path("reproductions"))
    args = parser.parse_args()
    parts[args.what](args)


if __name__ == "__main__":
    main()
