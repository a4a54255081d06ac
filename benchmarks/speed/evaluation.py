"""Whether evaluation stays out of the way: folds like scikit-learn's own loop, pages and tests at once."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.model_selection import cross_validate
from sklearn.naive_bayes import GaussianNB

from seminaive_experiments import Experiment, RepeatedKFold, Report, bergmann_hommel, load_dataset

sys.path.insert(0, str(Path(__file__).parent.parent))
from race import Ratio, best_time, race, report


def folds():
    """Run 200 folds of a model that fits in no time, written to disk one by one, against cross_validate."""
    dataset = load_dataset("breast-cancer")
    plan = RepeatedKFold(10, 20)
    splits = [(split.train, split.test) for split in plan.splits(dataset, 0)]
    scoring = ["accuracy", "neg_log_loss", "neg_brier_score"]

    def ours():
        with tempfile.TemporaryDirectory() as folder:
            Experiment({"nb": GaussianNB()}, [dataset], plan).run(Path(folder) / "results", progress=False)

    def theirs():
        cross_validate(GaussianNB(), dataset.X, dataset.y == "benign", cv=splits, scoring=scoring)

    return race("200 folds of GaussianNB with three losses", "cross_validate", ours, theirs, bar=1)


def page():
    """Draw a page of 10,000 results with three losses and 79 pictures; the bar is four seconds."""
    rng = np.random.default_rng(0)
    places = [
        (f"t{d}", f"m{m}", r, f) for d in range(25) for r in range(10) for f in range(5) for m in range(8)
    ]
    frame = pd.DataFrame(places, columns=["dataset", "model", "repetition", "fold"])
    frame = frame.assign(n_train=900, n_test=100, fit_seconds=rng.uniform(0.01, 0.1, len(frame)))
    metrics = ("zero_one", "rspe", "log_loss")
    frame = frame.assign(**{metric: rng.uniform(size=len(frame)) for metric in metrics})
    seconds = best_time(lambda: Report.of_frame(frame, metrics).html(), 3)
    return Ratio(f"page of {len(frame):,} results, three losses", "four seconds", seconds, 4.0, bar=1)


def exhaustive():
    """Bergmann and Hommel's procedure for nine models; the bar is a second."""
    p_values = np.random.default_rng(0).uniform(size=36)
    seconds = best_time(lambda: bergmann_hommel(p_values), 5)
    return Ratio("Bergmann-Hommel for nine models", "a second", seconds, 1.0, bar=1)


if __name__ == "__main__":
    report("evaluation", [folds(), page(), exhaustive()], ["scikit-learn", "pandas"])
