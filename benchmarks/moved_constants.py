"""What does each constant of the fitting rooms do to an answer? Doubled and halved, on real tables.

    python benchmarks/moved_constants.py run     # append to results/moved_constants.csv what it lacks
    python benchmarks/moved_constants.py report  # the largest change of a probability, by constant

Every constant at the top of a file of the fitting rooms (``constants.ROOMS``) whose value is a number is
doubled and halved, alone, and five models are fitted to 170 rows of ``heart-statlog`` and 300 of ``car``. It
keeps the largest change of a probability of further rows, their log losses, and the ratio of processor
seconds. Defaults of public parameters are left out: users set them.
"""

from __future__ import annotations

import ast
import csv
import importlib
import sys
import time
import warnings
from collections import defaultdict
from contextlib import contextmanager
from itertools import product
from pathlib import Path

import numpy as np
from constants import LAYOUT, PACKAGE, ROOMS

import seminaive
from seminaive_experiments import real_table

KEPT = Path(__file__).parent / "results" / "moved_constants.csv"
TABLES = ("heart-statlog", "car")
MODELS = {
    "SemiNaive": {},
    "NaiveBayesLogisticRegressionCV": {},
    "HigherOrderLogisticRegressionCV": {},
    "HybridLogisticNaiveBayes": {},
    "AcceleratedLogisticRegression": {},
}
# Defaults of public parameters.
DEFAULTS = {"TOL", "MAX_ITER", "N_STRENGTHS", "RATIO", "SMOOTH_TOL", "COVERAGE", "VARIANCE_FLOOR", "N_FOLDS"}
DEFAULTS |= {"N_IMPUTATIONS", "FEW_FOLDS", "PATIENCE", "LEVEL", "CUTOFF"}
# Of intervals, of rows that are left out, of networks and of displays: no prediction here reads them.
ELSEWHERE = ("laplace", "posterior", "leave_one_out", "group_lasso", "sparse_bayesian", "additive_classifier")
NUMBERING = dict.fromkeys(("selection/relevance_trials.py", name) for name in ("PAIRS", "ALL"))
FIELDS = ("constant", "value", "moved", "model", "table", "change", "log_loss", "moved_log_loss", "seconds")


def constants():
    """Yield file, name and value of every constant that is moved."""
    for room in ROOMS:
        for path in sorted((PACKAGE / room).glob("*.py")):
            if any(word in path.stem for word in ELSEWHERE):
                continue
            name = path.relative_to(PACKAGE).as_posix()
            module = importlib.import_module(f"seminaive.{room}.{path.stem}")
            for node in ast.parse(path.read_text()).body:
                targets = node.targets[0] if isinstance(node, ast.Assign) else None
                found = targets.elts if isinstance(targets, ast.Tuple) else [targets]
                for target in (one.id for one in found if isinstance(one, ast.Name)):
                    value = getattr(module, target)
                    is_number = type(value) in (int, float) and target.isupper() and value not in (0, 1)
                    if is_number and target not in DEFAULTS and (name, target) not in LAYOUT | NUMBERING:
                        yield name, target, value


@contextmanager
def moved(file, target, value):
    """Give a constant another value wherever it was imported."""
    module = "seminaive." + file.removesuffix(".py").replace("/", ".")
    owner = sys.modules[module]
    before = getattr(owner, target)
    users = [owner]
    for name, other in list(sys.modules.items()):
        path = getattr(other, "__file__", None) or ""
        if (
            name.startswith("seminaive.")
            and path.endswith(".py")
            and other is not owner
            and target in vars(other)
        ):
            imports = [
                n for n in ast.walk(ast.parse(Path(path).read_text())) if isinstance(n, ast.ImportFrom)
            ]
            if any(n.module == module and target in {a.name for a in n.names} for n in imports):
                users.append(other)
    for user in users:
        setattr(user, target, value)
    try:
        yield
    finally:
        for user in users:
            setattr(user, target, before)


def rows_of(table):
    """Return 300 rows to fit and 200 to predict."""
    dataset = real_table(table)
    order = np.random.default_rng(0).permutation(len(dataset.y))
    train, test = order[:300], order[300:500] if len(order) >= 400 else order[-100:]
    train = np.setdiff1d(train, test)
    return (dataset.X.iloc[part] for part in (train, test)), (dataset.y[part] for part in (train, test))


def fitted(model, rows):
    """Return the probabilities of further rows, and the processor seconds of the fit."""
    X, X_test, y = rows
    begin = time.process_time()
    fit = getattr(seminaive, model)(**MODELS[model]).fit(X, y)
    seconds = time.process_time() - begin
    return fit.classes_, fit.predict_proba(X_test), seconds


def run():
    """Move every constant that is not in the results yet."""
    warnings.simplefilter("ignore")
    done = set()
    if KEPT.exists():
        with KEPT.open() as file:
            done = {tuple(line[:5]) for line in csv.reader(file)}
    tables, base = {}, {}
    for table in TABLES:
        (X, X_test), (y, y_test) = rows_of(table)
        tables[table] = (X, X_test, y), y_test
        for model in MODELS:
            fitted(model, tables[table][0])  # compiles
            base[model, table] = fitted(model, tables[table][0])
    with KEPT.open("a", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        if not done:
            out.writerow(FIELDS)
        for table, (name, target, value) in product(TABLES, list(constants())):
            rows, y_test = tables[table]
            for other in (2 * value, value / 2 if isinstance(value, float) else value // 2):
                for model in MODELS:
                    key = (f"{name}:{target}", f"{value:g}", f"{other:g}", model, table)
                    if key in done:
                        continue
                    with moved(name, target, other):
                        classes, proba, seconds = fitted(model, rows)
                    before, usual = base[model, table][1:]
                    codes = np.searchsorted(classes, y_test)
                    losses = [-np.log(p[np.arange(len(codes)), codes]).mean() for p in (before, proba)]
                    change = np.abs(proba - before).max()
                    kept = [f"{change:.1e}", *(f"{loss:.5f}" for loss in losses), f"{seconds / usual:.2f}"]
                    out.writerow([*key, *kept])
                    file.flush()


def report():
    """Print what each constant changes at most, and in which models."""
    found = defaultdict(list)
    with KEPT.open() as file:
        for line in csv.DictReader(file):
            found[line["constant"]].append(line)
    print("| constant | value | largest change of a probability | of log loss | models moved by 1e-6 |")
    print("| --- | --- | --- | --- | --- |")
    for constant, lines in sorted(found.items(), key=lambda item: -max(float(x["change"]) for x in item[1])):
        largest = max(float(line["change"]) for line in lines)
        worst = max((float(x["moved_log_loss"]) - float(x["log_loss"]) for x in lines), key=abs)
        models = sorted({line["model"] for line in lines if float(line["change"]) > 1e-6})
        shown = f"{worst:+.4f}" if largest > 1e-6 else ""
        print(f"| `{constant}` | {lines[0]['value']} | {largest:.0e} | {shown} | {', '.join(models)} |")


if __name__ == "__main__":
    {"run": run, "report": report}[sys.argv[1]]()
