"""Draw the pictures of the pages on ALR and its benchmarks: learning curves, and cost by rows.

    python docs/pictures/alr.py

The curves are made here (about a minute); the cost is read from packages/experiments/results/alr/scale.csv.
"""

import datetime as dt
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

from seminaive_experiments.papers.alr import learning_curves
from seminaive_experiments.papers.generators import poker_hands

HERE = Path(__file__).parent
RESULTS = HERE.parent.parent / "packages" / "experiments" / "results" / "alr"
ROWS = 150_000


def draw_learning_curves():
    path = RESULTS / "learning-curves.csv"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        curves = learning_curves(poker_hands(ROWS, random_state=3)).round(4)
        origin = f"# command: python docs/pictures/alr.py\n# date: {dt.datetime.now(tz=dt.UTC).date()}\n"
        path.write_text(origin + curves.to_csv(index=False), encoding="utf-8")
    curves = pd.read_csv(path, comment="#")
    figure, axes = plt.subplots(figsize=(6.5, 3.8), layout="constrained")
    for order, of_order in curves.groupby("order"):
        smooth = of_order["error"].rolling(5, min_periods=1).mean()
        axes.plot(of_order["rows_seen"], smooth, label=f"order {order}")
    axes.set(xscale="log", xlabel="hands seen", ylabel="error on the next 1,000 hands", ylim=(0, None))
    axes.legend(frameon=False)
    figure.savefig(HERE / "alr-learning-curves.png", dpi=120)


def draw_cost():
    scale = pd.read_csv(RESULTS / "scale.csv", comment="#")
    poker = scale[scale["question"].str.startswith("poker, order 2")].astype({"rows": float, "passes": float})
    figure, axes = plt.subplots(figsize=(6.5, 3.4), layout="constrained")
    seconds = poker["processor_seconds"]
    axes.loglog(poker["rows"], 1000 * seconds / poker["passes"], "o-", label="milliseconds per pass")
    axes.loglog(poker["rows"], seconds, "s--", label="seconds per fit, encoding included")
    axes.set(xlabel="poker hands", ylabel="processor time, one thread")
    axes.legend(frameon=False)
    figure.savefig(HERE / "alr-cost.png", dpi=120)


if __name__ == "__main__":
    draw_learning_curves()
    draw_cost()
