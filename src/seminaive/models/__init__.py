"""The estimators, one public class per file."""

from seminaive.models.accelerated_logistic_regression import AcceleratedLogisticRegression
from seminaive.models.averaged_dependence_estimators import AveragedDependenceEstimators
from seminaive.models.averaged_join_estimators import AveragedJoinEstimators
from seminaive.models.files import load_model, save_model
from seminaive.models.fold_losses import FoldLosses
from seminaive.models.higher_order_logistic_regression import HigherOrderLogisticRegression
from seminaive.models.higher_order_logistic_regression_cv import HigherOrderLogisticRegressionCV
from seminaive.models.naive_bayes import NaiveBayes
from seminaive.models.naive_bayes_logistic_regression import NaiveBayesLogisticRegression
from seminaive.models.naive_bayes_logistic_regression_cv import NaiveBayesLogisticRegressionCV

__all__ = [
    "AcceleratedLogisticRegression",
    "AveragedDependenceEstimators",
    "AveragedJoinEstimators",
    "FoldLosses",
    "HigherOrderLogisticRegression",
    "HigherOrderLogisticRegressionCV",
    "NaiveBayes",
    "NaiveBayesLogisticRegression",
    "NaiveBayesLogisticRegressionCV",
    "load_model",
    "save_model",
]
