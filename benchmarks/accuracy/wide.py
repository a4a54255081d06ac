"""How much of one strong column does a model find among 500 on few rows? One line per table, resumable.

    python benchmarks/accuracy/wide.py run semi-naive,selective --seeds 0:20 [--rows 33,60,100] [--minutes 30]
    python benchmarks/accuracy/wide.py report [semi-naive,selective] [--seeds 0:20]

A table has 500 normal numbers and two classes by the toss of a coin; the mean of one column, at a random
place, differs between the classes so that its AUC is .9. What is attainable is the log loss of logistic
regression on that column alone, fitted to 10,000 rows. The found share is the gain in log loss over the class
shares of the training rows, on 2,000 other rows, over the attainable gain there. `run` appends to
DIR/NAME.csv (results/wide by default) and goes on where it stopped; `report` prints the means, and whether at
least half of the gain was found.
"""

import sys
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression

sys.path.insert(0, str(Path(__file__).parent.parent))
from contenders import MODELS
from judged import log_loss
from study import Study, listed, numbered, read_results
from study_commands import commands, perform

RESULTS = Path(__file__).parent.parent / "results" / "wide"
COLUMNS = 500
TEST_ROWS = 2000
ATTAINABLE_ROWS = 10_000
AUC = 0.9
# The distance of the means at which two normal distributions of variance 1 have this AUC.
DISTANCE = np.sqrt(2) * norm.ppf(AUC)


def strong_column(y, rng):
    return rng.normal(size=len(y)) + DISTANCE * y


def draw(rows, seed):
    """Return numbers, classes, and the place of the strong column; the training rows come first."""
    rng = np.random.default_rng((rows, seed))
    y = rng.integers(0, 2, rows + TEST_ROWS)
    X, place = rng.normal(size=(len(y), COLUMNS)), rng.integers(COLUMNS)
    X[:, place] = strong_column(y, rng)
    return X, y, place


def split(rows, seed):
    """Return a table, its classes, and its training and test rows."""
    X, y, _ = draw(rows, seed)
    return pd.DataFrame(X).add_prefix("number"), y, np.arange(rows), np.arange(rows, len(y))


def attainable_log_loss(rows, seed):
    """Return the log loss, on the test rows, of the strong column alone fitted to 10,000 other rows."""
    X, y, place = draw(rows, seed)
    rng = np.random.default_rng((rows, seed, ATTAINABLE_ROWS))
    labels = rng.integers(0, 2, ATTAINABLE_ROWS)
    model = LogisticRegression().fit(strong_column(labels, rng)[:, None], labels)
    return log_loss(model.predict_proba(X[rows:, place, None]), y[rows:])


def measure(judged):
    loss, shares, best = judged.log_loss(), judged.shares_log_loss(), attainable_log_loss(*judged.trial)
    return {
        "log_loss": loss,
        "auc": judged.auc(),
        "shares_log_loss": shares,
        "attainable_log_loss": best,
        "found": (shares - loss) / (shares - best),
    }


WIDE = Study(
    ("rows", "seed"),
    split,
    measure,
    ("log_loss", "auc", "shares_log_loss", "attainable_log_loss", "found"),
)


def report(models, results, seeds):
    """Print the means of each number of rows, and whether half of the gain was found."""
    for model in models or sorted(path.stem for path in results.glob("*.csv")):
        found = read_results(results / f"{model}.csv")
        if seeds is not None:
            found = found[found.seed.isin(seeds)]
        # A fit that failed has found nothing.
        found = found.assign(found=found.found.where(found.status == "ok", 0.0))
        columns = ["log_loss", "auc", "shares_log_loss", "attainable_log_loss", "found", "cpu_s"]
        means = found.groupby("rows")[columns].mean()
        means["worst"] = found.groupby("rows").found.min()
        means["failed"] = found.status.ne("ok").groupby(found.rows).sum()
        means["half"] = np.where(means.found >= 0.5, "found", "missed")
        print(f"\n{model}, seeds {found.seed.min()} to {found.seed.max()}, {len(found)} tables")
        print(means.to_string(float_format="%.3f"))


if __name__ == "__main__":
    parser, runs, reports = commands(__doc__, RESULTS)
    runs.add_argument("--rows", type=partial(listed, kind=int), default="33,60,100")
    runs.add_argument("--seeds", type=numbered, required=True, help="such as 0:20, its end left out")
    reports.add_argument("--seeds", type=numbered, help="all if left out")
    perform(
        parser,
        WIDE,
        MODELS,
        lambda given: [(rows, seed) for seed in given.seeds for rows in given.rows],
        lambda given: report(given.models, given.results, given.seeds),
    )
