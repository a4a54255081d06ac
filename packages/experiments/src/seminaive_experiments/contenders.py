"""What `compare` takes by name: our models, rivals and measures, listed without importing any of them."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from seminaive.cli import catalogue
from seminaive.errors import InputError

RIVALS = {
    "sklearn-naive-bayes": "scikit-learn's CategoricalNB on bins of numbers and on categories.",
    "sklearn-logistic-regression": "scikit-learn's LogisticRegression on standardised numbers and one-hots.",
    "sklearn-random-forest": "scikit-learn's RandomForestClassifier behind the same encoder.",
    "sklearn-boosting": "scikit-learn's HistGradientBoostingClassifier on categories as they are.",
    "ebm": "interpret's ExplainableBoostingClassifier.",
    "catboost": "CatBoost's CatBoostClassifier.",
    "lightgbm": "LightGBM's LGBMClassifier.",
    "class-shares": "The shares of the classes for every row: the bar that a model has to clear.",
}
# What rivals need that this package does not install.
LIBRARIES = {"ebm": "interpret", "catboost": "catboost", "lightgbm": "lightgbm"}
# What `compare` runs unless models are named, with the rivals whose libraries are installed.
COMPARED = (
    *catalogue.USUAL,
    *("sklearn-naive-bayes", "sklearn-logistic-regression", "sklearn-random-forest", "sklearn-boosting"),
    "class-shares",
)
# The measures of `seminaive.evaluate.METRICS`.
MEASURES = (
    *("zero_one", "rspe", "rmse", "squared_error", "brier", "log_loss", "calibration_error"),
    *("accuracy", "auc", "f1"),
)


def compared_models() -> list[str]:
    """Return the models that are compared unless others are named."""
    return [*COMPARED, *(name for name, library in LIBRARIES.items() if find_spec(library) is not None)]


def check_model(name: str) -> None:
    """Refuse a name that neither a model nor a rival has."""
    known = [*catalogue.class_names(), *RIVALS]
    if name not in known:
        raise InputError(f"there is no model {name!r}: choose among {', '.join(known)}")


def check_measure(name: str) -> None:
    """Refuse a name that no measure has."""
    if name not in MEASURES:
        raise InputError(f"there is no metric {name!r}: choose among {', '.join(MEASURES)}")


def read_parameters_of(names: list[str], texts: list[str]) -> dict[str, dict[str, Any]]:
    """Read ``MODEL.name=value`` texts into the parameters of each model."""
    by_model: dict[str, list[str]] = {name: [] for name in names}
    for text in texts:
        model, point, rest = text.partition(".")
        if not point or model not in by_model or model in RIVALS:
            ours = [name for name in names if name not in RIVALS]
            raise InputError(
                f"a parameter of a comparison is given as MODEL.name=value, got {text!r}: MODEL is one of "
                f"{', '.join(ours)}"
            )
        by_model[model].append(rest)
    return {name: catalogue.read_parameters(name, given) for name, given in by_model.items() if given}


def make_model(name: str, given: dict[str, Any] | None = None) -> Any:
    """Make one of our models, or a rival, by name."""
    if name in RIVALS:
        from seminaive_experiments.rivals import RIVALS as MAKERS

        return MAKERS[name]()
    return catalogue.make_model(name, given)
