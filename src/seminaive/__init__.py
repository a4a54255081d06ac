"""Classifiers between naive Bayes and logistic regression, for ordinary tables."""

from seminaive.encode import EqualFrequencyDiscretizer, MDLDiscretizer
from seminaive.models import (
    AcceleratedLogisticRegression,
    AveragedDependenceEstimators,
    AveragedJoinEstimators,
    HigherOrderLogisticRegression,
    HigherOrderLogisticRegressionCV,
    NaiveBayes,
    NaiveBayesLogisticRegression,
    NaiveBayesLogisticRegressionCV,
    load_model,
    save_model,
)

__version__ = "0.1.0"

__all__ = [
    "AcceleratedLogisticRegression",
    "AveragedDependenceEstimators",
    "AveragedJoinEstimators",
    "EqualFrequencyDiscretizer",
    "HigherOrderLogisticRegression",
    "HigherOrderLogisticRegressionCV",
    "MDLDiscretizer",
    "NaiveBayes",
    "NaiveBayesLogisticRegression",
    "NaiveBayesLogisticRegressionCV",
    "load_model",
    "save_model",
]
