"""What are the most important pairs worth, and does a fit with them know what it loses? Two studies.

    python benchmarks/claims/most_important.py noise [--seeds 0:20]
    python benchmarks/claims/most_important.py tables [--seeds 0:1] [--pairs 10]

`noise` fits `SemiNaive(interactions=10)` to 300 rows of 30 normal numbers and two classes by the toss of a
coin: the range of the probabilities of 2,000 other rows, `cv_log_loss_` less the loss on them, and whether
`cv_log_loss_interval_` holds that loss. Bars: probabilities within .35 to .65, and the interval holds in
nine of ten tables. `tables` fits real tables on five folds for each seed: `cv_log_loss_` less the loss on the
held-out fold, that loss, the loss with all pairs, seconds of processor time, and pairs.
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold

from seminaive import SemiNaive

sys.path.insert(0, str(Path(__file__).parent.parent))
from accuracy.all_tables import whole_table
from study import numbered

PAIRS = 10
ROWS, COLUMNS, OTHER_ROWS = 300, 30, 2000
LOW, HIGH = 0.35, 0.65
TABLES = ("sonar", "heart-cleveland", "ionosphere", "german-credit", "hepatitis")
FOLDS = 5


def report_noise(seeds, pairs):
    """Print one line per table of noise, and whether the bars are met."""
    found = []
    for seed in seeds:
        rng = np.random.default_rng((seed, ROWS, COLUMNS))
        X, y = rng.normal(size=(ROWS + OTHER_ROWS, COLUMNS)), rng.integers(0, 2, ROWS + OTHER_ROWS)
        line, proba = judged(SemiNaive(interactions=pairs), X[:ROWS], y[:ROWS], X[ROWS:], y[ROWS:])
        found.append({"seed": seed, "lowest": proba.min(), "highest": proba.max()} | line)
        print(pd.DataFrame(found[-1:]).round(3).to_string(header=seed == seeds[0], index=False), flush=True)
    every = pd.DataFrame(found)
    within = (every.lowest >= LOW) & (every.highest <= HIGH)
    print(f"within {LOW} to {HIGH}: {within.sum()} of {len(every)} tables; ", end="")
    print(
        f"{every.lowest.min():.3f} to {every.highest.max():.3f}; interval holds in {every.holds.sum()}; ",
        end="",
    )
    print(f"expected less found {every.difference.mean():+.4f}")


def report_tables(seeds, pairs):
    """Print means over the folds of each table."""
    found = []
    for name in TABLES:
        X, y = whole_table(name)
        for seed in seeds:
            for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(X, y):
                parts = (X.iloc[train], y[train], X.iloc[test], y[test])
                line, _ = judged(SemiNaive(interactions=pairs), *parts)
                every, _ = judged(SemiNaive(), *parts)
                found.append(
                    {"table": name} | line | {"all_pairs": every["loss"], "all_cpu_s": every["cpu_s"]}
                )
        print(
            pd.DataFrame(found).query("table == @name").groupby("table").mean().round(4).to_string(),
            flush=True,
        )
    every = pd.DataFrame(found)
    print(every.groupby("table", sort=False).mean().mean().round(4).to_string())


def judged(model, X, y, X_other, y_other):
    """Return what a model expects and what it loses on other rows, and its probabilities of these."""
    start = time.process_time()
    model.fit(X, y)
    seconds = time.process_time() - start
    proba = model.predict_proba(X_other)
    loss = log_loss(y_other, proba, labels=model.classes_)
    low, high = model.cv_log_loss_interval_
    line = {"difference": model.cv_log_loss_ - loss, "loss": loss, "holds": low <= loss <= high}
    return line | {"cpu_s": seconds, "pairs": len(model.interactions_)}, proba


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    reports = {"noise": (report_noise, range(20)), "tables": (report_tables, range(1))}
    parser.add_argument("what", choices=reports)
    parser.add_argument("--seeds", type=numbered, help="such as 0:20, its end left out")
    parser.add_argument("--pairs", type=int, default=PAIRS)
    given = parser.parse_args()
    report, seeds = reports[given.what]
    report(given.seeds or seeds, given.pairs)
