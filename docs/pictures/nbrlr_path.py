"""Draw the picture of the page on shrinking toward naive Bayes: `python docs/pictures/nbrlr_path.py`."""

from pathlib import Path

import matplotlib as mpl

mpl.use("svg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from seminaive import NaiveBayesLogisticRegressionCV
from seminaive.explain import PathDisplay

COLUMNS = [
    "mean texture",
    "mean smoothness",
    "mean concave points",
    "mean symmetry",
    "worst area",
    "worst texture",
]
# Points by which labels that would overlap are moved up.
NUDGES = {"mean concave points": 4, "worst texture": -4}


def main():
    mpl.rcParams["svg.hashsalt"] = "seminaive"  # the same file from the same data
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X = X[COLUMNS]
    X = (X - X.mean()) / X.std()
    y = np.where(y == 0, "malignant", "benign")
    model = NaiveBayesLogisticRegressionCV(
        standardize=False, generative_shares=(1.0,), scoring="log-loss", extend=False
    ).fit(X, y)
    path = model.path_
    figure, (upper, lower) = plt.subplots(2, 1, figsize=(7, 6.4), sharex=True, height_ratios=[3, 2])
    upper.plot(path.strengths, path.coefficients[:, 1:, 0])
    for j, name in enumerate(COLUMNS):
        end = (path.strengths[-1], path.coefficients[-1, 1 + j, 0])
        upper.annotate(
            name, end, xytext=(4, NUDGES.get(name, 0)), textcoords="offset points", va="center", fontsize=8
        )
    upper.plot(np.full(len(COLUMNS), path.strengths[0]), path.target[1:, 0], "k.", clip_on=False)
    upper.set_ylabel("coefficient (log odds of malignant\nper standard deviation)")
    upper.set_title("From naive Bayes (left) to maximum likelihood (right)", fontsize=11)
    PathDisplay.from_estimator(model, "test loss", ax=lower)
    upper.axvline(model.strength_, color="0.5", linestyle=":")
    lower.invert_xaxis()  # both axes share it, and each drawing turned it once
    lower.set_xlim(path.strengths[0] * 1.1, path.strengths[-1] / 12)
    lower.set_xlabel("strength of the pull toward naive Bayes")
    lower.set_ylabel("log loss in ten folds")
    for ax in (upper, lower):
        ax.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(Path(__file__).with_name("nbrlr_path.svg"), metadata={"Date": None})


if __name__ == "__main__":
    main()
