"""Figures 1 to 6 of the paper on forward stagewise naive Bayes, drawn from what ``fsnb_figures`` computes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from seminaive.models import ForwardStagewiseNaiveBayes, NaiveBayes
from seminaive_experiments.papers import fsnb_figures
from seminaive_experiments.papers.figures import PaperFigure, panels

if TYPE_CHECKING:
    from seminaive_experiments.papers.reproduction import RunOptions

__all__ = ["FIGURES"]

_REPETITIONS = 20  # of Figure 1; the paper has 100
_SHARES = {"independent": 0.0, "equal in nine rows of ten": 0.9}
_ERROR = "test error"


def _noise(options: RunOptions | None = None) -> pd.DataFrame:
    """Return test errors of naive Bayes without noise and with two kinds of noise."""
    repetitions, seed = (_REPETITIONS, 0) if options is None else (options.repetitions, options.random_state)
    return fsnb_figures.noise_and_error({"NB": NaiveBayes()}, repetitions=repetitions, seed=seed)


def _draw_noise(numbers: pd.DataFrame) -> Any:
    figure, axes = panels(1)
    of_kind = numbers.groupby("kind", sort=False)["error"]
    axes[0].boxplot([errors.to_numpy() for _, errors in of_kind])
    axes[0].set_xticks(np.arange(1, 1 + of_kind.ngroups), list(of_kind.groups))
    axes[0].set(ylabel=_ERROR)
    return figure


def _growing() -> pd.DataFrame:
    """Return test errors of naive Bayes as irrelevant or redundant predictors are added."""
    kinds = ("irrelevant", "redundant")
    return pd.concat([fsnb_figures.errors_by_predictors(kind).assign(kind=kind) for kind in kinds])


def _draw_growing(numbers: pd.DataFrame) -> Any:
    figure, axes = panels(2)
    for ax, (kind, errors) in zip(axes, numbers.groupby("kind", sort=False), strict=True):
        for name in errors.columns.drop(["n_predictors", "kind"]):
            width = 2.0 if name == "all" else 1.0
            ax.plot(errors["n_predictors"], errors[name], label=name, linewidth=width)
        ax.set(title=f"{kind} after the third", xlabel="predictors", ylabel=_ERROR)
    axes[0].legend(frameon=False)
    return figure


def _surfaces(*, numbers: bool) -> pd.DataFrame:
    """Return test errors over the alphas of two predictors, which are independent or partly redundant."""
    rows = []
    for name, share in _SHARES.items():
        errors = fsnb_figures.alpha_surface(share, numbers=numbers)
        grid = np.linspace(0, 1, len(errors))
        rows += [
            {"predictors": name, "alpha 2": a, "alpha 3": b, "error": errors[i, j]}
            for i, a in enumerate(grid)
            for j, b in enumerate(grid)
        ]
    return pd.DataFrame(rows)


def _draw_surfaces(numbers: pd.DataFrame) -> Any:
    """Draw contours, and a cross where the error is least."""
    figure, axes = panels(2)
    for ax, (name, errors) in zip(axes, numbers.groupby("predictors", sort=False), strict=True):
        surface = errors.pivot_table(index="alpha 2", columns="alpha 3", values="error")
        drawn = ax.contourf(surface.columns, surface.index, surface.to_numpy(), levels=12, cmap="viridis")
        least = errors.sort_values("error").iloc[0]
        ax.plot(least["alpha 3"], least["alpha 2"], "x", color="white")
        ax.set(title=name, xlabel="alpha of the third predictor", ylabel="alpha of the second")
        figure.colorbar(drawn, ax=ax, label=_ERROR)
    return figure


def _path() -> tuple[Any, Any]:
    sample = fsnb_figures.noisy_frames()
    return ForwardStagewiseNaiveBayes(criterion="aic", random_state=0).fit(sample.X, sample.y), sample


def _along_alpha() -> pd.DataFrame:
    """Return the errors as the alpha of the first predictor goes from 0 to 1."""
    model, sample = _path()
    return fsnb_figures.errors_along_alpha(model, sample, step=0, feature=0)


def _steps() -> pd.DataFrame:
    """Return the errors of every step of a path."""
    return fsnb_figures.path_errors(*_path())


def _draw_errors(by: str, numbers: pd.DataFrame) -> Any:
    figure, axes = panels(1)
    for name in ("training error", _ERROR):
        axes[0].plot(numbers[by], numbers[name], label=name)
    axes[0].set(xlabel=by, ylabel="error")
    axes[0].legend(frameon=False)
    return figure


_SURFACE = "A cross marks the least error."
FIGURES = (
    PaperFigure(
        "fsnb-figure1",
        "Naive Bayes without noise, with irrelevant and with redundant predictors",
        None,
        _draw_noise,
        compute=_noise,
        run=_noise,
        remarks=(f"{_REPETITIONS} data sets unless --repetitions says otherwise; the paper has 100.",),
    ),
    PaperFigure("fsnb-figure2", "Errors by the number of predictors", None, _draw_growing, compute=_growing),
    PaperFigure(
        "fsnb-figure3",
        "Errors over the alphas of two categories",
        None,
        _draw_surfaces,
        compute=partial(_surfaces, numbers=False),
        remarks=(_SURFACE,),
    ),
    PaperFigure(
        "fsnb-figure4",
        "Errors over the alphas of two numbers",
        None,
        _draw_surfaces,
        compute=partial(_surfaces, numbers=True),
        remarks=(_SURFACE, "The paper prints no means: ours tell the classes apart as its categories do."),
    ),
    PaperFigure(
        "fsnb-figure5",
        "Errors as one alpha goes from 0 to 1",
        None,
        partial(_draw_errors, "alpha"),
        compute=_along_alpha,
    ),
    PaperFigure("fsnb-figure6", "Errors along a path", None, partial(_draw_errors, "step"), compute=_steps),
)
