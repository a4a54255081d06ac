"""Additive scores: what every additive model is once it is fitted."""

from seminaive.scores.additive import AdditiveScores, NumericTerms, log_posterior
from seminaive.scores.dependence import DependenceTables
from seminaive.scores.exponents import class_shift_exponents
from seminaive.scores.generative import (
    NormalParameters,
    gaussian_terms,
    generative_scores,
    laplace_tables,
    log_or_veto,
    log_priors,
    m_estimate_tables,
)
from seminaive.scores.interpolation import Interpolation

__all__ = [
    "AdditiveScores",
    "DependenceTables",
    "Interpolation",
    "NormalParameters",
    "NumericTerms",
    "class_shift_exponents",
    "gaussian_terms",
    "generative_scores",
    "laplace_tables",
    "log_or_veto",
    "log_posterior",
    "log_priors",
    "m_estimate_tables",
]
