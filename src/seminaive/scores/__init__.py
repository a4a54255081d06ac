"""Additive scores: what every additive model is once it is fitted.

A file is read when a name of it is first used.
"""

from typing import TYPE_CHECKING

from seminaive.lazy_names import read_when_asked

if TYPE_CHECKING:
    from seminaive.scores.additive_scores import AdditiveScores, log_posterior
    from seminaive.scores.alpha_interpolation import Interpolation
    from seminaive.scores.attenuation import Attenuation, unknown_cells
    from seminaive.scores.bayesian_network import Network
    from seminaive.scores.count_posterior import CountErrors, CountPosterior
    from seminaive.scores.curve_algebra import curve_as_terms, difference
    from seminaive.scores.curve_terms import CurveTerms
    from seminaive.scores.edits import (
        Clip,
        Edit,
        EffectChange,
        Flatten,
        Monotone,
        Points,
        Record,
        Refit,
        SetTo,
    )
    from seminaive.scores.effect_posterior import (
        EffectErrors,
        EffectPosterior,
        PosteriorOfScores,
        Uncertainty,
    )
    from seminaive.scores.effects import Effects, FeatureEffect, TupleEffect, importance
    from seminaive.scores.exponents import class_shift_exponents
    from seminaive.scores.fallback import fill_unknown
    from seminaive.scores.feature_curve import FeatureCurve, curve_of_number
    from seminaive.scores.generative_terms import (
        NormalParameters,
        gaussian_terms,
        generative_scores,
        laplace_tables,
        log_priors,
        m_estimate_tables,
    )
    from seminaive.scores.linear import linear_coefficients
    from seminaive.scores.numeric_terms import NumericTerms
    from seminaive.scores.parents_and_children import DependenceTables
    from seminaive.scores.probability_intervals import deviate, probability_bounds
    from seminaive.scores.score_posterior import ScorePosterior
    from seminaive.scores.started_from import StartedFrom
    from seminaive.scores.tree_tables import tree_scores

__all__ = [
    "AdditiveScores",
    "Attenuation",
    "Clip",
    "CountErrors",
    "CountPosterior",
    "CurveTerms",
    "DependenceTables",
    "Edit",
    "EffectChange",
    "EffectErrors",
    "EffectPosterior",
    "Effects",
    "FeatureCurve",
    "FeatureEffect",
    "Flatten",
    "Interpolation",
    "Monotone",
    "Network",
    "NormalParameters",
    "NumericTerms",
    "Points",
    "PosteriorOfScores",
    "Record",
    "Refit",
    "ScorePosterior",
    "SetTo",
    "StartedFrom",
    "TupleEffect",
    "Uncertainty",
    "class_shift_exponents",
    "curve_as_terms",
    "curve_of_number",
    "deviate",
    "difference",
    "fill_unknown",
    "gaussian_terms",
    "generative_scores",
    "importance",
    "laplace_tables",
    "linear_coefficients",
    "log_posterior",
    "log_priors",
    "m_estimate_tables",
    "probability_bounds",
    "tree_scores",
    "unknown_cells",
]

FILES = {
    "AdditiveScores": "additive_scores",
    "Attenuation": "attenuation",
    "Clip": "edits",
    "CountErrors": "count_posterior",
    "CountPosterior": "count_posterior",
    "CurveTerms": "curve_terms",
    "DependenceTables": "parents_and_children",
    "Edit": "edits",
    "EffectChange": "edits",
    "EffectErrors": "effect_posterior",
    "EffectPosterior": "effect_posterior",
    "PosteriorOfScores": "effect_posterior",
    "Uncertainty": "effect_posterior",
    "Effects": "effects",
    "FeatureCurve": "feature_curve",
    "FeatureEffect": "effects",
    "Flatten": "edits",
    "Interpolation": "alpha_interpolation",
    "Monotone": "edits",
    "Network": "bayesian_network",
    "NormalParameters": "generative_terms",
    "NumericTerms": "numeric_terms",
    "Points": "edits",
    "Record": "edits",
    "Refit": "edits",
    "ScorePosterior": "score_posterior",
    "SetTo": "edits",
    "StartedFrom": "started_from",
    "TupleEffect": "effects",
    "class_shift_exponents": "exponents",
    "curve_as_terms": "curve_algebra",
    "curve_of_number": "feature_curve",
    "deviate": "probability_intervals",
    "difference": "curve_algebra",
    "fill_unknown": "fallback",
    "gaussian_terms": "generative_terms",
    "generative_scores": "generative_terms",
    "importance": "effects",
    "laplace_tables": "generative_terms",
    "linear_coefficients": "linear",
    "log_posterior": "additive_scores",
    "log_priors": "generative_terms",
    "m_estimate_tables": "generative_terms",
    "probability_bounds": "probability_intervals",
    "tree_scores": "tree_tables",
    "unknown_cells": "attenuation",
}

__getattr__, __dir__ = read_when_asked(__name__, FILES)
