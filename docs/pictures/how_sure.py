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
from seminaive.explain import EffectDisplay, PairDisplay, WaterfallDisplay

HERE = Path(__file__).parent


def draw_intervals(X, y):
    """Draw bands of a curve, of a pair and of one row."""
    model = SemiNaive().fit(X, y)
    figure, axes = plt.subplots(1, 3, figsize=(16, 4.6), layout="constrained")
    EffectDisplay.from_estimator(model, "mean texture", interval=0.95, ax=axes[0])
    PairDisplay.from_estimator(model, interval=0.95, ax=axes[1])
    WaterfallDisplay.from_estimator(model, X.iloc[[40]], interval=0.95, max_effects=8, ax=axes[2])
    figure.savefig(HERE / "how-sure-intervals.png", dpi=90)


def main():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X, y = X.iloc[:300, :8], y[:300].map({0: "malignant", 1: "benign"})
    found = validate(SemiNaive(interactions=0), X, y, n_replays=60, n_repeats=1)
    figure, axes = plt.subplots(1, 3, figsize=(14, 4.4), layout="constrained")
    CalibrationDisplay.from_validation(found, ax=axes[0])
    DecisionCurveDisplay.from_validation(found, ax=axes[1])
    InstabilityDisplay.from_validation(found, ax=axes[2])
    figure.savefig(HERE / "how-sure.png", dpi=90)
    draw_intervals(X, y)
    models = {"naive Bayes": NaiveBayes(), "SemiNaive": SemiNaive(interactions=0)}
    forecast = learning_curve_forecast(models, X, y, n_repeats=1)
    ContinuumDisplay.from_forecast(forecast).figure_.savefig(HERE / "how-sure-forecast.png", dpi=90)


if __name__ == "__main__":
    main()
