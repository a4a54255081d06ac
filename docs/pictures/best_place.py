"""Draw the picture of docs/start/which-model.md: loss along the line from naive Bayes to logistic regression.

    python docs/pictures/best_place.py

The table is that of the gallery's page on few and many rows; means over eight draws.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.metrics import log_loss

from seminaive import NaiveBayes, NaiveBayesLogisticRegression

HERE = Path(__file__).parent
SIZES = (80, 320, 2560)
COLOURS = ("#c1666b", "#d4a017", "#2e6f95")
# Strengths as shares of the one from which on the model is naive Bayes.
SHARES = np.geomspace(1.0, 1e-3, 13)
N_TABLES = 8


def draw_patients(n_rows, rng):
    """Draw 24 columns that are independent within the classes, and three that repeat each other."""
    ill = rng.integers(0, 2, n_rows)
    columns = {}
    for k in range(12):
        values = np.digitize(rng.normal(0.5 * ill), [-0.2, 0.8])
        columns[f"answer {k}"] = np.array(["low", "middle", "high"])[values]
        columns[f"measurement {k}"] = rng.normal(0.5 * ill)
    hidden = rng.normal(0.9 * ill)
    for k in range(3):
        columns[f"repeated {k}"] = hidden + 0.8 * rng.normal(size=n_rows)
    return pd.DataFrame(columns), ill


def losses_along_the_line(n_rows, rng):
    """Return the log loss on 3,000 new rows at each share of the largest strength."""
    X, y = draw_patients(n_rows + 3000, rng)
    train, new = slice(0, n_rows), slice(n_rows, None)
    largest = NaiveBayesLogisticRegression(strength=1e9).fit(X[train], y[train]).path_.strength_max
    models = [NaiveBayes(), *(NaiveBayesLogisticRegression(strength=largest * share) for share in SHARES[1:])]
    return [log_loss(y[new], model.fit(X[train], y[train]).predict_proba(X[new])) for model in models]


def draw():
    figure, axes = plt.subplots(figsize=(8.4, 3.9), layout="constrained")
    places = np.arange(len(SHARES))
    for n_rows, colour in zip(SIZES, COLOURS, strict=True):
        losses = np.mean(
            [losses_along_the_line(n_rows, np.random.default_rng(seed)) for seed in range(N_TABLES)], axis=0
        )
        best = int(losses.argmin())
        axes.plot(places, losses, color=colour, linewidth=2)
        axes.plot(best, losses[best], "o", color=colour, markersize=10)
        axes.annotate(
            f"{n_rows:,} rows",
            (best, losses[best]),
            (0, 10),
            textcoords="offset points",
            color=colour,
            ha="center",
            va="bottom",
            fontweight="bold",
        )
    axes.set(ylim=(0.24, 0.5), ylabel="log loss on new rows")
    axes.set_xticks(
        [0, (len(SHARES) - 1) / 2, len(SHARES) - 1],
        ["naive Bayes\ncomputed, steady", "models between", "logistic regression\nfitted, free"],
    )
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_title("The best place (dot) moves to the right as rows are added", loc="left", fontsize="medium")
    figure.savefig(HERE / "best_place.svg", metadata={"Date": None})


if __name__ == "__main__":
    plt.rcParams.update({"svg.hashsalt": "best_place", "svg.fonttype": "path"})
    draw()
