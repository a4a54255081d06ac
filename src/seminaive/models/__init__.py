"""The estimators, one public class per file; a file is read when its class is first asked for."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from seminaive.models.accelerated_logistic_regression import AcceleratedLogisticRegression
    from seminaive.models.attribute_weighted_naive_bayes import AttributeWeightedNaiveBayes
    from seminaive.models.averaged_dependence_estimators import AveragedDependenceEstimators
    from seminaive.models.averaged_join_estimators import AveragedJoinEstimators
    from seminaive.models.correlation_feature_selector import CorrelationFeatureSelector
    from seminaive.models.files import load_model, save_model
    from seminaive.models.forward_stagewise_naive_bayes import ForwardStagewiseNaiveBayes
    from seminaive.models.group_regularized_naive_bayes import GroupRegularizedNaiveBayes
    from seminaive.models.higher_order_logistic_regression import HigherOrderLogisticRegression
    from seminaive.models.higher_order_logistic_regression_cv import HigherOrderLogisticRegressionCV
    from seminaive.models.hybrid_logistic_naive_bayes import HybridLogisticNaiveBayes
    from seminaive.models.markov_blanket_selector import MarkovBlanketSelector
    from seminaive.models.naive_bayes import NaiveBayes
    from seminaive.models.naive_bayes_logistic_regression import NaiveBayesLogisticRegression
    from seminaive.models.naive_bayes_logistic_regression_cv import NaiveBayesLogisticRegressionCV
    from seminaive.models.selective_naive_bayes import SelectiveNaiveBayes
    from seminaive.models.semi_naive import SemiNaive
    from seminaive.models.tree_augmented_naive_bayes import TreeAugmentedNaiveBayes
    from seminaive.models.weighted_naive_bayes import WeightedNaiveBayes

__all__ = [
    "AcceleratedLogisticRegression",
    "AttributeWeightedNaiveBayes",
    "AveragedDependenceEstimators",
    "AveragedJoinEstimators",
    "CorrelationFeatureSelector",
    "ForwardStagewiseNaiveBayes",
    "GroupRegularizedNaiveBayes",
    "HigherOrderLogisticRegression",
    "HigherOrderLogisticRegressionCV",
    "HybridLogisticNaiveBayes",
    "MarkovBlanketSelector",
    "NaiveBayes",
    "NaiveBayesLogisticRegression",
    "NaiveBayesLogisticRegressionCV",
    "SelectiveNaiveBayes",
    "SemiNaive",
    "TreeAugmentedNaiveBayes",
    "WeightedNaiveBayes",
    "load_model",
    "save_model",
]

FILES = {
    "AcceleratedLogisticRegression": "accelerated_logistic_regression",
    "AttributeWeightedNaiveBayes": "attribute_weighted_naive_bayes",
    "AveragedDependenceEstimators": "averaged_dependence_estimators",
    "AveragedJoinEstimators": "averaged_join_estimators",
    "CorrelationFeatureSelector": "correlation_feature_selector",
    "ForwardStagewiseNaiveBayes": "forward_stagewise_naive_bayes",
    "GroupRegularizedNaiveBayes": "group_regularized_naive_bayes",
    "HigherOrderLogisticRegression": "higher_order_logistic_regression",
    "HigherOrderLogisticRegressionCV": "higher_order_logistic_regression_cv",
    "HybridLogisticNaiveBayes": "hybrid_logistic_naive_bayes",
    "MarkovBlanketSelector": "markov_blanket_selector",
    "NaiveBayes": "naive_bayes",
    "NaiveBayesLogisticRegression": "naive_bayes_logistic_regression",
    "NaiveBayesLogisticRegressionCV": "naive_bayes_logistic_regression_cv",
    "SelectiveNaiveBayes": "selective_naive_bayes",
    "WeightedNaiveBayes": "weighted_naive_bayes",
    "TreeAugmentedNaiveBayes": "tree_augmented_naive_bayes",
    "SemiNaive": "semi_naive",
    "load_model": "files",
    "save_model": "files",
}


def __getattr__(name: str) -> Any:
    """Read the file of a class, so that importing the package costs only what is used."""
    if name not in FILES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{FILES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
