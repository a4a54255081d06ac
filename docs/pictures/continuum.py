"""Draw the line from naive Bayes to logistic regression: ``python docs/pictures/continuum.py``.

Ten numbers whose noise has a common part, so that naive Bayes, which takes them for independent, counts the
same evidence several times; logistic regression does not, once it has rows enough.
"""

from pathlib import Path

import matplotlib as mpl
import numpy as np
from sklearn.linear_model import LogisticRegression

from seminaive import NaiveBayes, SemiNaive
from seminaive.evaluate import ContinuumDisplay

mpl.use("Agg")
mpl.rcParams["svg.hashsalt"] = "seminaive"

N_ROWS, N_COLUMNS, COMMON = 8000, 10, 0.4
MODELS = {
    "naive Bayes": NaiveBayes(),
    "SemiNaive": SemiNaive(),
    "logistic regression": LogisticRegression(C=np.inf, max_iter=1000),
}


def draw_table(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Make a table of two classes that differ in the means of all columns."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, N_ROWS)
    shared, separate = rng.normal(size=(N_ROWS, 1)), rng.normal(size=(N_ROWS, N_COLUMNS))
    noise = np.sqrt(COMMON) * shared + np.sqrt(1 - COMMON) * separate
    return noise + np.linspace(0.1, 1.0, N_COLUMNS) * y[:, None], np.where(y == 1, "yes", "no")


if __name__ == "__main__":
    X, y = draw_table()
    sizes = [25, 50, 100, 300, 1000, 3000]
    display = ContinuumDisplay.from_models(MODELS, X, y, train_sizes=sizes, n_repeats=8)
    display.ax_.set(yscale="log", title="From naive Bayes to logistic regression")
    display.ax_.set_yticks(ticks := [0.5, 1.0, 2.0, 4.0], list(map(str, ticks)))
    display.ax_.minorticks_off()
    display.figure_.savefig(Path(__file__).with_suffix(".svg"), metadata={"Date": None})
    print(display.losses.pivot(index="model", columns="n_train", values="log_loss").round(3).to_string())
