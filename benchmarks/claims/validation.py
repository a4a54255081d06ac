"""Is what `validate` says of new rows right? Simulations against 20,000 fresh rows, resumable.

    python benchmarks/claims/validation.py run [semi-naive,nbrlr-cv,logistic] [--draws 0:60] [--replays 20]
    python benchmarks/claims/validation.py report

Planted tables of eight numbers and two categories: "lines" (three slopes and a category), "curves" (a square,
a product and a category) and "rare" (a class of one row in five, one weak slope); 100 and 300 training rows.
Every draw fits a model, validates it, and measures the same fit on 20,000 rows of the same kind.

`run` appends to results/validate/simulation.jsonl and goes on where it stopped. `report` gives the mean
difference of what was expected and what was found, by cross-validation, the .632+ rule, Harrell's bootstrap,
and rows that bootstrap samples left out. The draw's luck, the log loss of the true probabilities on the
training rows less their entropy, has mean zero: it is taken off, which makes the standard errors smaller.
"""

import argparse
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import entr, expit
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from seminaive import NaiveBayesLogisticRegressionCV, SemiNaive
from seminaive.evaluate import run_repetitions
from seminaive.evaluate.optimism import METHODS, Correction
from seminaive.evaluate.validation import validate
from seminaive.evaluate.validation_measures import LOG_LOSS, measures_for

RESULTS = Path(__file__).parent.parent / "results" / "validate" / "simulation.jsonl"
KINDS = ("lines", "curves", "rare")
SIZES = (100, 300)
FRESH_ROWS = 20_000
FEWEST_OF_CLASS = 8


def one_hot(model):
    """Return a pipeline that reads the categories as indicators."""
    encoder = OneHotEncoder(drop="first", handle_unknown="ignore", sparse_output=False)
    return make_pipeline(make_column_transformer((encoder, ["a", "b"]), remainder="passthrough"), model)


MODELS = {
    "semi-naive": SemiNaive,
    "nbrlr-cv": NaiveBayesLogisticRegressionCV,
    "logistic": lambda: one_hot(LogisticRegression(C=np.inf, max_iter=1000)),
    "nearest": lambda: one_hot(KNeighborsClassifier(1)),
}


def draw(kind, n_rows, rng):
    """Return a table, its classes and their true probabilities."""
    X = rng.normal(size=(n_rows, 8))
    first, second = rng.integers(0, 3, size=(2, n_rows))
    score = {
        "lines": X[:, 0] - 0.7 * X[:, 1] + 0.5 * X[:, 2] + 0.6 * (first == 1) - 0.3,
        "curves": 1.2 * X[:, 0] ** 2 - 1.2 + X[:, 1] * X[:, 2] + 0.8 * (first == 1),
        "rare": -1.5 + 0.4 * X[:, 1],
    }[kind]
    frame = pd.DataFrame(X, columns=[f"x{k}" for k in range(8)])
    levels = np.array(["u", "v", "w"])
    probability = expit(score)
    y = (rng.random(n_rows) < probability).astype(int)
    return frame.assign(a=levels[first], b=levels[second]), y, probability


def one_draw(model, kind, n_rows, number, n_replays):
    """Validate one fit, and measure it on fresh rows."""
    rng = np.random.default_rng([number, n_rows, KINDS.index(kind)])
    y = np.zeros(n_rows)
    while min(y.sum(), n_rows - y.sum()) < FEWEST_OF_CLASS:
        X, y, probability = draw(kind, n_rows, rng)
    fresh, y_fresh, _ = draw(kind, FRESH_ROWS, rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = MODELS[model]()
        found = validate(made, X, y, n_replays=n_replays, n_repeats=1, random_state=number, progress=False)
        said = made.fit(X, y).predict_proba(fresh)
    luck = -np.log(np.where(y == 1, probability, 1 - probability)) - entr(probability) - entr(1 - probability)
    return [
        {"measure": measure.name, "luck": float(luck.mean())}
        | {name: value if np.isfinite(value) else None for name, value in values.items()}
        for measure, values in measured(found.replays, y_fresh, said)
    ]


def measured(replays, y_fresh, said):
    """Yield each measure with its apparent, corrected and true values, and the interval by the default."""
    held_out, plus, harrell = (Correction(replays, method, 0.95) for method in METHODS)
    mix = plus.left_out_weight(LOG_LOSS.statistic, LOG_LOSS.no_information)
    for measure in measures_for(2):
        by_folds = held_out(measure.statistic)
        by_plus = plus(measure.statistic, measure.no_information, mix=mix)
        yield (
            measure,
            {
                "apparent": float(by_folds.apparent),
                "held_out": float(by_folds.corrected),
                "low": float(by_folds.low),
                "high": float(by_folds.high),
                "plus": float(by_plus.corrected),
                "harrell": float(harrell(measure.statistic).corrected),
                "left_out": float(plus(measure.statistic, mix=1.0).corrected),
                "true": float(measure.statistic(y_fresh, said, np.ones(len(y_fresh)))),
            },
        )


def report(found):
    """Print mean differences by model, replays, rows and measure, with standard errors, and the coverage."""
    found = found.copy()
    ways = ("apparent", "held_out", "plus", "harrell", "left_out")
    for way in ways:
        luck = np.where(found.measure == "log_loss", found.luck, 0.0)
        found[way] = found[way] - found.true - luck
    found["covered"] = found.true.between(found.low, found.high)
    for measure, part in found.groupby("measure", sort=False):
        grouped = part.groupby(["model", "n_replays", "n_rows"])
        columns = {"draws": grouped.size(), "true": grouped.true.mean()}
        for way in ways:
            columns[way] = grouped[way].mean()
            columns[f"± {way}"] = grouped[way].sem()
        columns["covered"] = grouped.covered.mean()
        print(f"\n{measure}\n{pd.DataFrame(columns).to_string(float_format='%.4f')}")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=("run", "report"))
    parser.add_argument("models", nargs="?", default=",".join(MODELS))
    parser.add_argument("--draws", default="0:60")
    parser.add_argument("--replays", type=int, default=20)
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    given = parser.parse_args()
    if given.command == "report":
        lines = pd.read_json(RESULTS, lines=True)
        report(
            pd.DataFrame(
                [{**u, **r} for u, records in zip(lines.unit, lines.records, strict=True) for r in records]
            )
        )
        return
    first, last = map(int, given.draws.split(":"))
    units = [
        {"model": model, "kind": kind, "n_rows": n_rows, "number": number, "n_replays": given.replays}
        for number in range(first, last)
        for kind in KINDS
        for n_rows in map(int, given.sizes.split(","))
        for model in given.models.split(",")
    ]
    run_repetitions(units, one_draw, path=RESULTS)


if __name__ == "__main__":
    main()
