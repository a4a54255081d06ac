"""Does `influence` leave rows out as exact refits do, and does it find flipped labels? Resumable.

    python benchmarks/claims/influence.py run [exact,flipped] [--tables NAME,...]
    python benchmarks/claims/influence.py report

"exact": up to 300 rows of a table are fitted; some rows are left out one by one by refits under the same
strengths, and by Newton steps. The share of rows of which the step is within 1 % of the change of the exact
scores is the result. "flipped": one label in twenty becomes another one, and `influence` lists as many rows:
the share of these whose label was flipped is the precision. `run` appends to results/influence, and goes on
where it stopped.
"""

import argparse
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

from seminaive import HigherOrderLogisticRegression, SemiNaive
from seminaive.evaluate import run_repetitions
from seminaive.explain import influence
from seminaive.models.ridge_problems import ridge_problem
from seminaive_experiments import load_dataset

RESULTS = Path(__file__).parent.parent / "results" / "influence" / "influence.jsonl"
MODELS = {
    "semi-naive": SemiNaive,
    "order 1": lambda: HigherOrderLogisticRegression(order=1),
    "order 2": lambda: HigherOrderLogisticRegression(order=2),
}
TABLES = ("breast-cancer-wisconsin", "congressional-voting", "banknote", "mushroom", "dermatology")
EXACT_ROWS, LEFT_OUT, FLIPPED_ROWS = 300, 40, 1000
WITHIN, FLIPPED = 0.01, 0.05


def rows_of(table, n_rows):
    """Return at most some rows of a table, chosen at random, and their labels as text."""
    dataset = load_dataset(table)
    chosen = np.random.default_rng(0).permutation(len(dataset.y))[:n_rows]
    return dataset.X.iloc[chosen].reset_index(drop=True), dataset.y[chosen].astype(str)


def exact(table, model):
    """Return the share of rows of which one step changes the scores as a refit does, to 1 %."""
    X, y = rows_of(table, EXACT_ROWS)
    problem = ridge_problem(MODELS[model]().fit(X, y), X, y)
    found, coefficients = problem.leave_one_out(), problem.solve()
    every = np.random.default_rng(1).permutation(len(y))[:LEFT_OUT]
    errors = []
    for row in every.tolist():
        weight = problem.row_weight.copy()
        weight[row] = 0.0
        refitted = problem.scores(problem.solve(weight, coefficients))[row]
        change = np.linalg.norm(refitted - found.scores[row])
        errors.append(float(np.linalg.norm(found.left_out[row] - refitted) / max(change, 1e-12)))
    return [{"value": float(np.mean(np.array(errors) <= WITHIN))}]


def flipped(table, model):
    """Return the share of flipped labels among as many rows as were flipped, the most suspicious ones."""
    X, y = rows_of(table, FLIPPED_ROWS)
    rng = np.random.default_rng(2)
    rows = rng.permutation(len(y))[: int(FLIPPED * len(y))]
    labels, classes = y.copy(), np.unique(y)
    for row in rows.tolist():
        labels[row] = rng.choice(classes[classes != y[row]])
    listed = influence(MODELS[model]().fit(X, labels), X, labels)["row"].to_numpy()[: len(rows)]
    return [{"value": float(np.isin(listed, rows).mean())}]


def one_unit(what, table, model):
    """Do one piece of work."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {"exact": exact, "flipped": flipped}[what](table, model)


def report():
    """Print one line per table."""
    lines = pd.read_json(RESULTS, lines=True)
    found = pd.DataFrame(
        [{**unit, **records[0]} for unit, records in zip(lines.unit, lines.records, strict=True)]
    )
    for what, part in found.groupby("what"):
        print(f"\n{what}")
        print(part.pivot_table(index="table", columns="model", values="value").round(3).to_string())


def main():
    """Run or report."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=("run", "report"))
    parser.add_argument("what", nargs="?", default="exact,flipped")
    parser.add_argument("--tables", default=",".join(TABLES))
    given = parser.parse_args()
    if given.command == "report":
        report()
        return
    units = [
        {"what": what, "table": table, "model": model}
        for what in given.what.split(",")
        for table in given.tables.split(",")
        for model in (MODELS if what == "exact" else ("semi-naive",))
    ]
    run_repetitions(units, one_unit, path=RESULTS)


if __name__ == "__main__":
    main()
