"""Draw the pictures of docs/fsnb.md: double-counting and its cure, and the paper's Figures 1 to 6.

python docs/pictures/fsnb.py [double-counting 1 2 3 4 5]
"""

import sys
from functools import partial
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from seminaive import (
    ForwardStagewiseNaiveBayes,
    GroupRegularizedNaiveBayes,
    NaiveBayes,
    SelectiveNaiveBayes,
)
from seminaive.explain import PathDisplay
from seminaive_experiments.papers.fsnb_figures import (
    alpha_surface,
    errors_along_alpha,
    errors_by_predictors,
    noise_and_error,
    noisy_frames,
    path_errors,
    three_predictors,
)

HERE = Path(__file__).parent
MODELS = {
    "naive Bayes": NaiveBayes(variances="class"),
    "group penalty": GroupRegularizedNaiveBayes(criterion="aic"),
    "selective": SelectiveNaiveBayes(criterion="training-error"),
    "forward stagewise": ForwardStagewiseNaiveBayes(criterion="aic"),
}


def save(figure, name):
    for axes in figure.axes:
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(HERE / f"{name}.png", dpi=120)
    plt.close(figure)


def weather(n_copies, rng):
    """Return a table of three predictors of the weather, one of which is copied, and the classes."""
    X, y = three_predictors(4000, rng)
    columns = {"storm": X[:, 0], "wind": X[:, 1], "cloud": X[:, 2]}
    columns |= {f"storm, copy {k + 1}": X[:, 0] for k in range(n_copies)}
    return pd.DataFrame(columns).astype("category"), y


def draw_double_counting():
    """Draw errors by the number of copies, and the alphas of fsNB with five copies in the table."""
    copies = (0, 1, 2, 5, 10, 20, 35, 50)
    errors = {name: np.zeros((20, len(copies))) for name in MODELS}
    for repetition in range(20):
        for k, n_copies in enumerate(copies):
            X, y = weather(n_copies, np.random.default_rng(repetition))
            for name, model in MODELS.items():
                model.fit(X[:1000], y[:1000])
                errors[name][repetition, k] = np.mean(model.predict(X[1000:]) != y[1000:])
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.9), layout="constrained")
    styles = {"naive Bayes": "o-", "group penalty": "s--", "selective": "^-", "forward stagewise": "D:"}
    for name, curves in errors.items():
        left.plot(copies, curves.mean(axis=0), styles[name], label=name, markersize=5)
    left.set(xlabel="copies of one predictor in the table", ylabel="error on new rows", ylim=(0.3, None))
    left.set_title("Naive Bayes counts every copy as new evidence", fontsize=11)
    left.legend(frameon=False)
    X, y = weather(5, np.random.default_rng(0))
    model = ForwardStagewiseNaiveBayes(criterion="aic", patience=None).fit(X[:1000], y[:1000])
    PathDisplay.from_estimator(model, ax=right)
    right.set_title("Forward stagewise takes one of six equal columns", fontsize=11)
    save(figure, "fsnb-double-counting")


def draw_figure_1():
    errors = noise_and_error({"naive Bayes": MODELS["naive Bayes"]}, repetitions=100)
    kinds = list(errors["kind"].unique())
    figure, axes = plt.subplots(figsize=(5.5, 3.4), layout="constrained")
    axes.boxplot([errors.query("kind == @kind")["error"] for kind in kinds], tick_labels=kinds)
    axes.set_ylabel("test error of naive Bayes, 100 data sets")
    save(figure, "fsnb-figure1")


def draw_figure_2():
    figure, both = plt.subplots(1, 2, figsize=(8.5, 3.4), sharey=True, layout="constrained")
    for axes, kind in zip(both, ("irrelevant", "redundant"), strict=True):
        curve = errors_by_predictors(kind)
        for name, style in {"class 1": "--", "class 2": "-.", "class 3": ":"}.items():
            axes.plot(curve["n_predictors"], curve[name], style, color="0.4", label=name)
        axes.plot(curve["n_predictors"], curve["all"], "k-", label="all rows")
        axes.set(xlabel=f"predictors: three relevant, then {kind} ones", ylim=(0, 1))
    both[0].set_ylabel("test error of naive Bayes")
    both[1].legend(frameon=False)
    save(figure, "fsnb-figure2")


def draw_surfaces(name, *, numbers):
    figure, both = plt.subplots(1, 2, figsize=(8.5, 3.6), layout="constrained")
    for axes, share, title in (
        (both[0], 0.0, "independent given the class"),
        (both[1], 0.9, "equal in nine rows of ten"),
    ):
        surface = np.mean([alpha_surface(share, seed=seed, numbers=numbers) for seed in range(10)], axis=0)
        image = axes.imshow(surface.T, origin="lower", extent=(0, 1, 0, 1), cmap="viridis_r", aspect="equal")
        best = np.unravel_index(surface.argmin(), surface.shape)
        axes.plot(*(np.array(best) / (len(surface) - 1)), "r*", markersize=12, clip_on=False)
        axes.set(xlabel="alpha of the second predictor", ylabel="alpha of the third predictor")
        axes.set_title(title, fontsize=11)
        figure.colorbar(image, ax=axes, label="test error")
    save(figure, name)


def draw_figures_5_and_6():
    sample = noisy_frames(seed=3, n_train=1000)
    model = ForwardStagewiseNaiveBayes(criterion="aic", patience=10).fit(sample.X, sample.y)
    figure, both = plt.subplots(1, 2, figsize=(8.5, 3.4), sharey=True, layout="constrained")
    step = 1
    still = np.flatnonzero(model.path_.alphas[step] == 0)
    for axes, feature in ((both[0], still[still < 3][0]), (both[1], still[still >= 3][0])):
        curve = errors_along_alpha(model, sample, step, int(feature))
        axes.plot(curve["alpha"], curve["training error"], "--", label="training")
        axes.plot(curve["alpha"], curve["test error"], "-", label="test")
        axes.set(xlabel=f"alpha of {sample.X.columns[feature]}")
    both[0].set_ylabel("error")
    both[0].legend(frameon=False)
    save(figure, "fsnb-figure5")

    errors = path_errors(model, sample)
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.5, 3.4), layout="constrained")
    left.plot(errors["step"], errors["training error"], "--", label="training error")
    left.plot(errors["step"], errors["test error"], "-", label="test error")
    left.axvline(errors["test error"].idxmin(), color="0.5", linestyle=":")
    right.plot(errors["step"], errors["AIC"], "-", label="AIC")
    right.plot(errors["step"], errors["deviance"], "--", label="deviance")
    right.plot(errors["step"], errors["penalty"], "-.", label="penalty")
    right.axvline(model.chosen_step_, color="0.5", linestyle=":")
    for axes in (left, right):
        axes.set_xlabel("step")
        axes.legend(frameon=False)
    save(figure, "fsnb-figure6")


PICTURES = {
    "double-counting": draw_double_counting,
    "1": draw_figure_1,
    "2": draw_figure_2,
    "3": partial(draw_surfaces, "fsnb-figure3", numbers=False),
    "4": partial(draw_surfaces, "fsnb-figure4", numbers=True),
    "5": draw_figures_5_and_6,
}

if __name__ == "__main__":
    for wanted in sys.argv[1:] or PICTURES:
        PICTURES[wanted]()
