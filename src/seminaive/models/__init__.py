"""The estimators, one public class per file; a file is read when its class is first used."""

import re
from typing import TYPE_CHECKING

from seminaive.lazy_names import read_when_asked

if TYPE_CHECKING:
    from seminaive.models.accelerated_logistic_regression import AcceleratedLogisticRegression
    from seminaive.models.attribute_weighted_naive_bayes import AttributeWeightedNaiveBayes
    from seminaive.models.averaged_dependence_estimators import AveragedDependenceEstimators
    from seminaive.models.averaged_join_estimators import AveragedJoinEstimators
    from seminaive.models.class_conditional_imputer import ClassConditionalImputer
    from seminaive.models.correlation_feature_selector import CorrelationFeatureSelector
    from seminaive.models.edited_model import EditedModel
    from seminaive.models.forward_stagewise_naive_bayes import ForwardStagewiseNaiveBayes
    from seminaive.models.group_regularized_naive_bayes import GroupRegularizedNaiveBayes
    from seminaive.models.higher_order_logistic_regression import HigherOrderLogisticRegression
    from seminaive.models.higher_order_logistic_regression_cv import HigherOrderLogisticRegressionCV
    from seminaive.models.hybrid_logistic_naive_bayes import HybridLogisticNaiveBayes
    from seminaive.models.markov_blanket_selector import MarkovBlanketSelector
    from seminaive.models.multiple_imputer import MultipleImputer
    from seminaive.models.naive_bayes import NaiveBayes
    from seminaive.models.naive_bayes_logistic_regression import NaiveBayesLogisticRegression
    from seminaive.models.naive_bayes_logistic_regression_cv import NaiveBayesLogisticRegressionCV
    from seminaive.models.pooled_classifier import PooledClassifier
    from seminaive.models.selective_naive_bayes import SelectiveNaiveBayes
    from seminaive.models.semi_naive import SemiNaive
    from seminaive.models.sparse_bayesian_network import SparseBayesianNetwork
    from seminaive.models.tree_augmented_naive_bayes import TreeAugmentedNaiveBayes
    from seminaive.models.weighted_naive_bayes import WeightedNaiveBayes

__all__ = [
    "AcceleratedLogisticRegression",
    "AttributeWeightedNaiveBayes",
    "AveragedDependenceEstimators",
    "AveragedJoinEstimators",
    "ClassConditionalImputer",
    "CorrelationFeatureSelector",
    "EditedModel",
    "ForwardStagewiseNaiveBayes",
    "GroupRegularizedNaiveBayes",
    "HigherOrderLogisticRegression",
    "HigherOrderLogisticRegressionCV",
    "HybridLogisticNaiveBayes",
    "MarkovBlanketSelector",
    "MultipleImputer",
    "NaiveBayes",
    "NaiveBayesLogisticRegression",
    "NaiveBayesLogisticRegressionCV",
    "PooledClassifier",
    "SelectiveNaiveBayes",
    "SemiNaive",
    "SparseBayesianNetwork",
    "TreeAugmentedNaiveBayes",
    "WeightedNaiveBayes",
]

# A class stands in the file of its name.
FILES = {name: re.sub("(?<=[a-z])(?=[A-Z])", "_", name).lower() for name in __all__}

__getattr__, __dir__ = read_when_asked(__name__, FILES)
