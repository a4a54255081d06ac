"""On how many tables a model beats the rival on few rows, mean losses, and where it is most behind."""

import numpy as np
import pandas as pd
from study import read_results

RIVAL = "logistic-cv"
KEY = ["table", "size", "sample"]
WORST = 10


def report(models, results, rival_results, before, sizes, tables):
    """Print what is known of models against the rival, and against an earlier version of themselves.

    Parameters
    ----------
    models : list of str
        Their names; all that have results if empty.
    results, rival_results : Path
        The folder of their results, and that of the rival's where the first has none.
    before : Path or None
        A folder with results of an earlier version of the same models.
    """
    path = results / f"{RIVAL}.csv"
    rival = usable(path if path.exists() else rival_results / path.name, sizes, tables)
    for model in models or sorted(path.stem for path in results.glob("*.csv") if path.stem != RIVAL):
        rows = usable(results / f"{model}.csv", sizes, tables)
        compare(model, rows, RIVAL, rival, sizes)
        if before is not None and (before / f"{model}.csv").exists():
            compare(model, rows, "before", usable(before / f"{model}.csv", sizes, tables), sizes)


def usable(path, sizes, tables):
    """Return the samples of these sizes and tables with two classes; a failure has an infinite loss."""
    rows = read_results(path)
    rows = rows[rows["size"].isin(sizes) & ~rows.status.str.startswith("TooFewClassesError")]
    if tables:
        rows = rows[rows.table.isin(tables)]
    return rows.assign(log_loss=rows.log_loss.where(rows.status == "ok", np.inf)).set_index(KEY)


def compare(name, rows, other_name, other, sizes):
    """Print a line per size and one of all, and the tables on which the first model is most behind."""
    both = rows.join(other.add_suffix(" other"), how="inner")
    means = both.select_dtypes("number").groupby(level=["table", "size"]).mean()
    if means.empty:
        print(f"\n{name}: no sample that {other_name} has too")
        return
    parts = {str(size): means.xs(size, level="size") for size in sizes if size in means.index.levels[1]}
    print(f"\n{name} against {other_name}, whose columns bear its name: {len(both)} samples")
    lines = {size: line(part, other_name) for size, part in (parts | {"all": means}).items()}
    print(pd.DataFrame.from_dict(lines, "index").rename_axis("rows").to_string(float_format="%.4f"))
    worst = behind(means, name, other_name)
    if len(worst):
        print(worst.to_string(float_format="%.4f"))


def line(means, other):
    """Return counts and means of one size; means are of the tables on which neither failed."""
    ok = means[np.isfinite(means.log_loss) & np.isfinite(means["log_loss other"])]
    better, equal = means.log_loss < means["log_loss other"], means.log_loss == means["log_loss other"]
    counts = {
        "tables": len(means),
        "better": better.sum(),
        "equal": equal.sum(),
        "share": better.mean(),
        "failed": np.isinf(means.log_loss).sum(),
    }
    measures = ("log_loss", "auc", "error", "cpu_s")
    found = {
        name: ok[column].mean() for m in measures for name, column in ((m, m), (f"{m} {other}", f"{m} other"))
    }
    return counts | found


def behind(means, name, other):
    """Return the tables and sizes on which the first model loses most over the other one."""
    columns = {"log_loss": name, "log_loss other": other, "shares_log_loss": "class shares"}
    table = means[[*columns, "n_train"]].rename(columns=columns)
    table["difference"] = table[name] - table[other]
    return table[table.difference > 0].nlargest(WORST, "difference")
