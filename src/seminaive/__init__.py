"""Classifiers between naive Bayes and logistic regression, for ordinary tables."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from seminaive.encode import DateParts, EqualFrequencyDiscretizer, MDLDiscretizer
    from seminaive.models import (
        AcceleratedLogisticRegression,
        AttributeWeightedNaiveBayes,
        AveragedDependenceEstimators,
        AveragedJoinEstimators,
        ClassConditionalImputer,
        CorrelationFeatureSelector,
        ForwardStagewiseNaiveBayes,
        GroupRegularizedNaiveBayes,
        HigherOrderLogisticRegression,
        HigherOrderLogisticRegressionCV,
        HybridLogisticNaiveBayes,
        MarkovBlanketSelector,
        MultipleImputer,
        NaiveBayes,
        NaiveBayesLogisticRegression,
        NaiveBayesLogisticRegressionCV,
        SelectiveNaiveBayes,
        SemiNaive,
        SparseBayesianNetwork,
        TreeAugmentedNaiveBayes,
        WeightedNaiveBayes,
    )
    from seminaive.saving import load_model, save_model

__version__ = "0.3.0"

__all__ = [
    "AcceleratedLogisticRegression",
    "AttributeWeightedNaiveBayes",
    "AveragedDependenceEstimators",
    "AveragedJoinEstimators",
    "ClassConditionalImputer",
    "CorrelationFeatureSelector",
    "DateParts",
    "EqualFrequencyDiscretizer",
    "ForwardStagewiseNaiveBayes",
    "GroupRegularizedNaiveBayes",
    "HigherOrderLogisticRegression",
    "HigherOrderLogisticRegressionCV",
    "HybridLogisticNaiveBayes",
    "MDLDiscretizer",
    "MarkovBlanketSelector",
    "MultipleImputer",
    "NaiveBayes",
    "NaiveBayesLogisticRegression",
    "NaiveBayesLogisticRegressionCV",
    "SelectiveNaiveBayes",
    "SemiNaive",
    "SparseBayesianNetwork",
    "TreeAugmentedNaiveBayes",
    "WeightedNaiveBayes",
    "load_model",
    "save_model",
]


# Rooms that are reached through the package: `seminaive.explain` needs no further import.
ROOMS = ("errors", "evaluate", "explain", "scale")


def __getattr__(name: str) -> Any:
    """Look a public name up in its room, so that importing the package costs only what is used."""
    if name in ROOMS:
        return import_module(f"{__name__}.{name}")
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    saves = name in ("load_model", "save_model")
    encodes = name == "DateParts" or name.endswith("Discretizer")
    room = "saving" if saves else "encode" if encodes else "models"
    return getattr(import_module(f"{__name__}.{room}"), name)


def __dir__() -> list[str]:
    return [*__all__, *ROOMS, "__version__"]
