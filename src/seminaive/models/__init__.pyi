from seminaive.models.accelerated_logistic_regression import (
    AcceleratedLogisticRegression as AcceleratedLogisticRegression,
)
from seminaive.models.attribute_weighted_naive_bayes import (
    AttributeWeightedNaiveBayes as AttributeWeightedNaiveBayes,
)
from seminaive.models.averaged_dependence_estimators import (
    AveragedDependenceEstimators as AveragedDependenceEstimators,
)
from seminaive.models.averaged_join_estimators import AveragedJoinEstimators as AveragedJoinEstimators
from seminaive.models.correlation_feature_selector import (
    CorrelationFeatureSelector as CorrelationFeatureSelector,
)
from seminaive.models.edited_model import EditedModel as EditedModel
from seminaive.models.forward_stagewise_naive_bayes import (
    ForwardStagewiseNaiveBayes as ForwardStagewiseNaiveBayes,
)
from seminaive.models.group_regularized_naive_bayes import (
    GroupRegularizedNaiveBayes as GroupRegularizedNaiveBayes,
)
from seminaive.models.higher_order_logistic_regression import (
    HigherOrderLogisticRegression as HigherOrderLogisticRegression,
)
from seminaive.models.higher_order_logistic_regression_cv import (
    HigherOrderLogisticRegressionCV as HigherOrderLogisticRegressionCV,
)
from seminaive.models.naive_bayes import NaiveBayes as NaiveBayes
from seminaive.models.naive_bayes_logistic_regression import (
    NaiveBayesLogisticRegression as NaiveBayesLogisticRegression,
)
from seminaive.models.naive_bayes_logistic_regression_cv import (
    NaiveBayesLogisticRegressionCV as NaiveBayesLogisticRegressionCV,
)
from seminaive.models.selective_naive_bayes import SelectiveNaiveBayes as SelectiveNaiveBayes
from seminaive.models.semi_naive import SemiNaive as SemiNaive
from seminaive.models.tree_augmented_naive_bayes import TreeAugmentedNaiveBayes as TreeAugmentedNaiveBayes
from seminaive.models.weighted_naive_bayes import WeightedNaiveBayes as WeightedNaiveBayes
