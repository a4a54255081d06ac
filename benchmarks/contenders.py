"""The classifiers that benchmarks compare, by name: ours and their rivals, all at their defaults."""

from peers.native_categories import EBM, CatBoost, EBMOfFourBags, HistGradientBoosting, LightGBM
from sklearn.linear_model import LogisticRegressionCV

import seminaive
from seminaive_experiments.rivals import RIVALS, for_mixed_tables


def logistic_cv():
    """Return logistic regression on standardised numbers and one-hot categories, ridge by log loss."""
    return for_mixed_tables(
        LogisticRegressionCV(
            Cs=10, l1_ratios=(0.0,), scoring="neg_log_loss", max_iter=1000, use_legacy_attributes=False
        )
    )


SEARCHING = {
    "semi-naive": seminaive.SemiNaive,
    "nbrlr-cv": seminaive.NaiveBayesLogisticRegressionCV,
    "higher-order-cv": seminaive.HigherOrderLogisticRegressionCV,
    "hybrid": seminaive.HybridLogisticNaiveBayes,
    "network": seminaive.SparseBayesianNetwork,
    "forward-stagewise": seminaive.ForwardStagewiseNaiveBayes,
    "selective": seminaive.SelectiveNaiveBayes,
    "weighted": seminaive.WeightedNaiveBayes,
    "attribute-weighted": seminaive.AttributeWeightedNaiveBayes,
    "group-regularised": seminaive.GroupRegularizedNaiveBayes,
}
"""Our models that choose among several fits."""

MODELS = SEARCHING | {
    "naive-bayes": seminaive.NaiveBayes,
    "logistic-cv": logistic_cv,
    "random-forest": RIVALS["sklearn-random-forest"],
    "hist-boosting": HistGradientBoosting,
    "ebm": EBM,
    "ebm-4": EBMOfFourBags,
    "catboost": CatBoost,
    "lightgbm": LightGBM,
}
"""All of them."""


def with_state(make, random_state):
    """Return a function that makes the same model with this `random_state`, if it has one."""

    def made():
        model = make()
        return model.set_params(random_state=random_state) if "random_state" in model.get_params() else model

    return made
