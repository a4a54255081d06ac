"""The estimators, one public class per file; a file is read when its class is first asked for."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from seminaive.models.accelerated_logistic_regression import AcceleratedLogisticRegression
    from seminaive.models.attribute_weighted_naive_bayes import AttributeWeightedNaiveBayes
    from seminaive.models.averaged_dependence_estimators import AveragedDependenceEstimators
    from seminaive.models.averaged_join_estimators import AveragedJoinEstimators
    from seminaive.models.files import load_model, save_model
    from seminaive.models.higher_order_logistic_regression import HigherOrderLogisticRegression
    from seminaive.models.higher_order_logistic_regression_cv import HigherOrderLogisticRegressionCV
    from seminaive.models.naive_bayes import NaiveBayes
    from seminaive.models.naive_bayes_logistic_regression import NaiveBayesLogisticRegression
    from seminaive.models.naive_bayes_logistic_regression_cv import NaiveBayesLogisticRegressionCV
    from seminaive.models.semi_naive import SemiNaive

__all__ = [
    "AcceleratedLogisticRegression",
    "AttributeWeightedNaiveBayes",
    "AveragedDependenceEstimators",
    "AveragedJoinEstimators",
    "HigherOrderLogisticRegression",
    "HigherOrderLogisticRegressionCV",
    "NaiveBayes",
    "NaiveBayesLogisticRegression",
    "NaiveBayesLogisticRegressionCV",
    "SemiNaive",
    "load_model",
    "save_model",
]

_FILES = {
    "AcceleratedLogisticRegression": "accelerated_logistic_regression",
    "AttributeWeightedNaiveBayes": "attribute_weighted_naive_bayes",
    "AveragedDependenceEstimators": "averaged_dependence_estimators",
    "AveragedJoinEstimators": "averaged_join_estimators",
    "HigherOrderLogisticRegression": "higher_order_logistic_regression",
    "HigherOrderLogisticRegressionCV": "higher_order_logistic_regression_cv",
    "NaiveBayes": "naive_bayes",
    "NaiveBayesLogisticRegression": "naive_bayes_logistic_regression",
    "NaiveBayesLogisticRegressionCV": "naive_bayes_logistic_regression_cv",
    "SemiNaive": "semi_naive",
    "load_model": "files",
    "save_model": "files",
}


def __getattr__(name: str) -> Any:
    """Read the file of a class, so that importing the package costs only what is used."""
    if name not in _FILES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_FILES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
