"""Additive scores: what every additive model is once it is fitted."""

from seminaive.scores.additive import AdditiveScores, log_posterior
from seminaive.scores.curve_terms import CurveTerms
from seminaive.scores.dependence import DependenceTables
from seminaive.scores.effects import Effects, FeatureEffect, TupleEffect
from seminaive.scores.exponents import class_shift_exponents
from seminaive.scores.factored_pairs import FactoredPairs
from seminaive.scores.fallback import fill_unknown
from seminaive.scores.feature_curve import FeatureCurve
from seminaive.scores.generative import (
    NormalParameters,
    gaussian_terms,
    generative_scores,
    laplace_tables,
    log_priors,
    m_estimate_tables,
)
from seminaive.scores.interpolation import Interpolation
from seminaive.scores.network import Network
from seminaive.scores.numeric_terms import NumericTerms
from seminaive.scores.tree import tree_scores

__all__ = [
    "AdditiveScores",
    "CurveTerms",
    "DependenceTables",
    "Effects",
    "FactoredPairs",
    "FeatureCurve",
    "FeatureEffect",
    "Interpolation",
    "Network",
    "NormalParameters",
    "NumericTerms",
    "TupleEffect",
    "class_shift_exponents",
    "fill_unknown",
    "gaussian_terms",
    "generative_scores",
    "laplace_tables",
    "log_posterior",
    "log_priors",
    "m_estimate_tables",
    "tree_scores",
]
