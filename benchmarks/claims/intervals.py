"""Do intervals of effects and of probabilities hold the truth as often as they say? Simulations, resumable.

    python benchmarks/claims/intervals.py run [planted,real] [--draws 0:20] [--rows 100,300] [--classes 2,4]
    python benchmarks/claims/intervals.py report
    python benchmarks/claims/intervals.py time

"planted" tables have a curve, a slope, a category of four levels, a product of two numbers, and a number and
a category that say nothing. "real" ones are rows of a real table (``--tables``), labelled by draws from the
probabilities of a `SemiNaive` that was fitted to 8,000 of them: that model is the truth. Each draw fits
`SemiNaive` and looks at 95 % intervals: of the probabilities of 1,000 further rows, and of each effect at the
training rows. `run` appends to results/intervals/coverage.jsonl and goes on where it stopped. `time` measures
what intervals cost.
"""

import argparse
import time
import warnings
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import softmax

from seminaive import SemiNaive
from seminaive.evaluate import run_repetitions
from seminaive.models.smooth_fit_posterior import SmoothFitPosterior
from seminaive.scores import Effects
from seminaive.scores.pure import purify
from seminaive_experiments import load_dataset

RESULTS = Path(__file__).parent.parent / "results" / "intervals" / "coverage.jsonl"
COVERAGE = 0.95
N_FRESH = 1000
LEVELS = {"a": -1.0, "b": -0.3, "c": 0.3, "d": 1.0}
PRODUCT = 0.8
# How much of each planted part goes to the score of each of four classes.
LOADINGS = {
    "curve": (1.0, -1.0, 0.0, 0.0),
    "slope": (0.0, 1.0, -1.0, 0.0),
    "product": (0.7, 0.0, 0.0, -0.7),
    "level": (0.0, 0.0, 0.8, -0.8),
}
TABLES = ("magic", "adult", "page-blocks")
NOISE = ("noise number", "noise category")
TRUTH_ROWS = 8000
# Rows, columns and classes of the fits that are timed.
TIMED = ((300, 13, 2), (300, 13, 4), (2000, 13, 2), (2000, 13, 4), (100_000, 20, 2))


def planted_rows(n_rows, rng):
    """Return a table of four parts that matter and two columns that do not."""
    X = pd.DataFrame(
        rng.normal(size=(n_rows, 5)), columns=["curve", "slope", "left", "right", "noise number"]
    )
    X["level"] = rng.choice(list(LEVELS), n_rows)
    X["noise category"] = rng.choice(["u", "v", "w"], n_rows)
    return X


def planted_parts(X, n_classes):
    """Return what each part adds to the log odds of two classes, or to the scores of four."""
    parts = {
        "curve": 1.5 * np.sin(2 * X["curve"].to_numpy()),
        "slope": X["slope"].to_numpy(),
        "product": PRODUCT * (X["left"] * X["right"]).to_numpy(),
        "level": X["level"].map(LEVELS).to_numpy(dtype=float),
    }
    return {name: spread(name, values, n_classes) for name, values in parts.items()}


def spread(name, values, n_classes):
    """Return a part as one column of log odds, or as centred scores of four classes."""
    if n_classes == 2:
        return values[..., None]
    loading = np.array(LOADINGS[name])
    return values[..., None] * (loading - loading.mean())


def as_probabilities(scores):
    """Return the probabilities of classes, given log odds of two or scores of more."""
    both = np.hstack([np.zeros_like(scores), scores]) if scores.shape[1] == 1 else scores
    return softmax(both, axis=1)


def drawn(probabilities, rng):
    """Return a class for each row."""
    below = probabilities.cumsum(axis=1)
    return (rng.random((len(below), 1)) * below[:, -1:] > below).sum(axis=1)


def evidence(values):
    """Return log odds of two classes, or the values of more, on the last axis."""
    return values[..., 1:] - values[..., :1] if values.shape[-1] == 2 else values


def holds(values, reach, truth):
    """Return where bands that reach below and above some values hold the truth."""
    below, above = reach
    return (values - below <= truth) & (truth <= values + above)


def row_coverage(model, X, truth):
    """Return how often intervals hold the probabilities of fresh rows, and their mean length."""
    lower, upper = model.predict_interval(X, COVERAGE)
    return {
        "rows": float(((lower <= truth) & (truth <= upper)).mean()),
        "length": float((upper - lower).mean()),
    }


def effect_coverage(model, X, n_classes):
    """Return how often bands hold the planted effects, over the training rows, by column."""
    errors = model.effect_errors()
    effects = Effects.of(model.scores_, model.schema_, model.summary_)
    parts, table = planted_parts(X, n_classes), model.encode(X)
    nothing = np.zeros((len(X), 1 if n_classes == 2 else n_classes))
    found = {}
    for effect in effects.features:
        if effect.curve is not None:
            numbers = X[effect.name].to_numpy()
            values, spread = evidence(effect.curve.at(numbers)), errors.of_feature(effect, numbers)
            reach = spread.reach(COVERAGE)
        else:
            codes = table.codes[:, model.schema_.coded.index(effect.position)]
            values = evidence(effect.table[codes])
            reach = errors.of_feature(effect).reach(COVERAGE)[:, codes]
        truth = parts.get(effect.name, nothing)
        truth = truth - truth.mean(axis=0)
        found[effect.name] = float(holds(values, reach, truth).mean())
    for effect in effects.tuples:
        if set(effect.names) == {"left", "right"}:
            found["product"] = product_coverage(model, effect, errors, n_classes)
    return found


def product_coverage(model, effect, errors, n_classes):
    """Return how often the bands of the planted pair hold it at its nodes, weighted by training rows."""
    nodes = [np.array(model.schema_.nodes_of(j)) for j in effect.columns]
    cells = tuple(slice(len(numbers)) for numbers in nodes)
    weight = effect.weight[cells]
    truth, _ = purify(spread("product", PRODUCT * np.outer(*nodes), n_classes), weight + 0.01)
    reach = errors.of_tuple(effect).reach(COVERAGE)[(slice(None), *cells)]
    held = holds(evidence(effect.table[cells]), reach, truth).mean(axis=2)
    return float((held * weight).sum() / weight.sum())


def planted_draw(n_rows, classes, draw):
    """Fit one planted table and look at its intervals."""
    rng = np.random.default_rng([7, draw, n_rows, classes])
    X, fresh = planted_rows(n_rows, rng), planted_rows(N_FRESH, rng)
    truth, of_fresh = (as_probabilities(sum(planted_parts(rows, classes).values())) for rows in (X, fresh))
    model = SemiNaive().fit(X, drawn(truth, rng))
    return [{**row_coverage(model, fresh, of_fresh), **effect_coverage(model, X, classes)}]


@cache
def truth_of(name):
    """Return the columns of a real table, and a model of many of its rows: the truth of its draws."""
    dataset = load_dataset(name)
    rows = np.random.default_rng(0).permutation(len(dataset.X))[:TRUTH_ROWS]
    return dataset.X, SemiNaive().fit(dataset.X.iloc[rows], dataset.y[rows])


def real_draw(n_rows, table, draw):
    """Fit rows of a real table with labels drawn from a model of many rows, and look at the intervals."""
    X, truth = truth_of(table)
    rng = np.random.default_rng([8, draw, n_rows])
    chosen = rng.permutation(len(X))
    rows, fresh = X.iloc[chosen[:n_rows]], X.iloc[chosen[n_rows:][:N_FRESH]]
    labels = drawn(truth.predict_proba(rows), rng)
    if len(np.unique(labels)) < len(truth.classes_):
        return []
    model = SemiNaive().fit(rows, labels)
    errors, held, table_of_rows = model.effect_errors(), [], model.encode(rows)
    values, planted = (fit.column_effects(rows) for fit in (model, truth))
    for effect in Effects.of(model.scores_, model.schema_, model.summary_).features:
        shown, true = (evidence(found[:, effect.position]) for found in (values, planted))
        if effect.curve is not None:
            numbers = table_of_rows.numbers[:, model.schema_.numeric.index(effect.position)]
            reach = errors.of_feature(effect, numbers).reach(COVERAGE)
        else:
            codes = table_of_rows.codes[:, model.schema_.coded.index(effect.position)]
            reach = errors.of_feature(effect).reach(COVERAGE)[:, codes]
        held.append(float(holds(shown - shown.mean(axis=0), reach, true - true.mean(axis=0)).mean()))
    return [{**row_coverage(model, fresh, truth.predict_proba(fresh)), "columns": float(np.mean(held))}]


def report():
    """Print mean coverages, with standard errors over draws."""
    lines = pd.read_json(RESULTS, lines=True)
    found = pd.DataFrame(
        [
            {**unit, **record}
            for unit, records in zip(lines.unit, lines.records, strict=True)
            for record in records
        ]
    )
    for kind, part in found.groupby("kind"):
        by = ["n_rows", "classes"] if kind == "planted" else ["table", "n_rows"]
        shown = part.dropna(axis=1, how="all").drop(columns=["kind", "draw"])
        if kind == "planted":
            shown["planted, mean"] = shown[list(LOADINGS)].mean(axis=1)
            shown["all effects, mean"] = shown[[*LOADINGS, "left", "right", *NOISE]].mean(axis=1)
        grouped = shown.groupby(by)
        print(f"\n{kind}: mean over draws, then the standard error")
        print(grouped.mean().assign(draws=grouped.size()).round(3).to_string())
        print(grouped.sem().round(3).to_string())


def seconds(work, *arguments):
    """Return the processor seconds of some work, the least of three."""
    found = []
    for _ in range(3):
        start = time.process_time()
        work(*arguments)
        found.append(time.process_time() - start)
    return min(found)


def report_times():
    """Print what intervals cost: of a fit, of prediction, of memory, and those of effects of many rows."""
    spent = []
    whole = SmoothFitPosterior.of_scores

    def timed(self):
        start = time.process_time()
        found = whole(self)
        spent.append(time.process_time() - start)
        return found

    SmoothFitPosterior.of_scores = timed
    print("rows, columns, classes: fit, added, prediction, interval over it, room over tables, effects")
    for n_rows, n_columns, n_classes in TIMED:
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n_rows, n_columns))
        scores = np.column_stack([np.sin(2 * X[:, k]) + X[:, k + 1] for k in range(n_classes)])
        y = drawn(softmax(scores, axis=1), rng)
        SemiNaive().fit(X[:60], y[:60])
        start = time.process_time()
        model = SemiNaive().fit(X, y)
        fit, added = time.process_time() - start, spent[-1]
        predict, interval = seconds(model.predict_proba, X), seconds(model.predict_interval, X)
        effects = seconds(model.effect_errors)
        print(
            f"{n_rows}, {n_columns}, {n_classes}: {fit:.2f} s, {added / (fit - added):.1%}, {predict:.3f} s, "
            f"{interval / predict:.1f}, {room_over_tables(model):.2f}, {effects:.2f} s",
            flush=True,
        )


def room_over_tables(model):
    """Return the bytes of the posterior over those of the tables and curves."""
    posterior, scores = model.scores_.posterior, model.scores_
    parts = (posterior.tables, posterior.curves, posterior.pairs, *posterior.functions)
    return sum(part.nbytes for part in parts) / (scores.tables.nbytes + scores.curves.values.nbytes)


def units_of(given):
    """Return the draws that are wanted, the smallest tables first."""
    first, last = map(int, given.draws.split(":"))
    sizes = [int(size) for size in given.rows.split(",")]
    units = []
    for draw in range(first, last):
        for n_rows in sizes:
            if "planted" in given.kinds:
                every = map(int, given.classes.split(","))
                units += [{"kind": "planted", "n_rows": n_rows, "classes": k, "draw": draw} for k in every]
            if "real" in given.kinds:
                names = given.tables.split(",")
                units += [{"kind": "real", "n_rows": n_rows, "table": name, "draw": draw} for name in names]
    return units


def one_draw(kind, **unit):
    """Do one draw."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {"planted": planted_draw, "real": real_draw}[kind](**unit)


def main():
    """Run, report or time."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=("run", "report", "time"))
    parser.add_argument("kinds", nargs="?", default="planted,real")
    parser.add_argument("--draws", default="0:20")
    parser.add_argument("--rows", default="100,300,2000")
    parser.add_argument("--classes", default="2,4")
    parser.add_argument("--tables", default=",".join(TABLES))
    given = parser.parse_args()
    if given.command == "run":
        run_repetitions(units_of(given), one_draw, path=RESULTS)
    else:
        {"report": report, "time": report_times}[given.command]()


if __name__ == "__main__":
    main()
