"""Additive scores: what every additive model is once it is fitted."""

from seminaive.scores.additive import AdditiveScores, NumericTerms, log_posterior
from seminaive.scores.dependence import DependenceTables
from seminaive.scores.generative import (
    gaussian_terms,
    generative_scores,
    laplace_tables,
    log_or_veto,
    log_priors,
    m_estimate_tables,
)
from seminaive.scores.tree import tree_scores

__all__ = [
    "AdditiveScores",
    "DependenceTables",
    "NumericTerms",
    "gaussian_terms",
    "generative_scores",
    "laplace_tables",
    "log_or_veto",
    "log_posterior",
    "log_priors",
    "m_estimate_tables",
    "tree_scores",
]
