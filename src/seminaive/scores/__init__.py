"""Additive scores: what every additive model is once it is fitted."""

from seminaive.scores.additive import AdditiveScores, NumericTerms, log_posterior
from seminaive.scores.dependence import DependenceTables
from seminaive.scores.fallback import fill_unknown
from seminaive.scores.generative import (
    gaussian_terms,
    generative_scores,
    laplace_tables,
    log_priors,
    m_estimate_tables,
)

__all__ = [
    "AdditiveScores",
    "DependenceTables",
    "NumericTerms",
    "fill_unknown",
    "gaussian_terms",
    "generative_scores",
    "laplace_tables",
    "log_posterior",
    "log_priors",
    "m_estimate_tables",
]
