"""Draw the pictures of how-to/how-sure.md: `python docs/pictures/how_sure.py`."""

from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

from seminaive import NaiveBayes, SemiNaive
from seminaive.evaluate import (
    CalibrationDisplay,
    ContinuumDisplay,
    DecisionCurveDisplay,
    InstabilityDisplay,
    learning_curve_forecast,
    validate,
)

HERE = Path(__file__).parent


def main():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X, y = X.iloc[:300, :8], y[:300].map({0: "malignant", 1: "benign"})
    found = validate(SemiNaive(interactions=0), X, y, n_replays=60, n_repeats=1)
    figure, axes = plt.subplots(1, 3, figsize=(14, 4.4), layout="constrained")
    CalibrationDisplay.from_validation(found, ax=axes[0])
    DecisionCurveDisplay.from_validation(found, ax=axes[1])
    InstabilityDisplay.from_validation(found, ax=axes[2])
    figure.savefig(HERE / "how-sure.png", dpi=90)
    models = {"naive Bayes": NaiveBayes(), "SemiNaive": SemiNaive(interactions=0)}
    forecast = learning_curve_forecast(models, X, y, n_repeats=1)
    ContinuumDisplay.from_forecast(forecast).figure_.savefig(HERE / "how-sure-forecast.png", dpi=90)


if __name__ == "__main__":
    main()
