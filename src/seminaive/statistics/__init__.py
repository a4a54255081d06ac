"""Raw, weighted statistics that merge: counts, moments, and the information measures made of them.

A file is imported when one of its names is first used.
"""

from typing import TYPE_CHECKING

from seminaive.lazy_names import read_when_asked

if TYPE_CHECKING:
    from seminaive.statistics.chained_equations import Chain, FittedChain, learn_chain
    from seminaive.statistics.counts import TupleCounts, class_weights
    from seminaive.statistics.imputation import complete, draw_codes_given_class, draw_numbers_given_class
    from seminaive.statistics.incomplete_columns import IncompleteColumns
    from seminaive.statistics.information import (
        conditional_mutual_information,
        entropy,
        mutual_information,
        normalized_conditional_mutual_information,
        symmetrical_uncertainty,
    )
    from seminaive.statistics.moments import Moments
    from seminaive.statistics.number_sketch import NumberSketch
    from seminaive.statistics.observed_counts import ObservedCounts, ObservedStatistics
    from seminaive.statistics.observed_terms import ObservedTerms
    from seminaive.statistics.pairwise import PairwiseInformation
    from seminaive.statistics.rubin import PooledEstimate, pool_estimates
    from seminaive.statistics.smoothing import VETO, log_or_veto, log_shares
    from seminaive.statistics.summary import TrainingSummary
    from seminaive.statistics.table import TableStatistics
    from seminaive.statistics.terms import Terms
    from seminaive.statistics.value_counts import ValueCounts

__all__ = [
    "VETO",
    "Chain",
    "FittedChain",
    "IncompleteColumns",
    "Moments",
    "NumberSketch",
    "ObservedCounts",
    "ObservedStatistics",
    "ObservedTerms",
    "PairwiseInformation",
    "PooledEstimate",
    "TableStatistics",
    "Terms",
    "TrainingSummary",
    "TupleCounts",
    "ValueCounts",
    "class_weights",
    "complete",
    "conditional_mutual_information",
    "draw_codes_given_class",
    "draw_numbers_given_class",
    "entropy",
    "learn_chain",
    "log_or_veto",
    "log_shares",
    "mutual_information",
    "normalized_conditional_mutual_information",
    "pool_estimates",
    "symmetrical_uncertainty",
]

FILES = {
    "VETO": "smoothing",
    "Chain": "chained_equations",
    "IncompleteColumns": "incomplete_columns",
    "FittedChain": "chained_equations",
    "Moments": "moments",
    "NumberSketch": "number_sketch",
    "ObservedCounts": "observed_counts",
    "ObservedStatistics": "observed_counts",
    "ObservedTerms": "observed_terms",
    "PairwiseInformation": "pairwise",
    "PooledEstimate": "rubin",
    "TableStatistics": "table",
    "Terms": "terms",
    "TrainingSummary": "summary",
    "TupleCounts": "counts",
    "ValueCounts": "value_counts",
    "class_weights": "counts",
    "complete": "imputation",
    "conditional_mutual_information": "information",
    "draw_codes_given_class": "imputation",
    "draw_numbers_given_class": "imputation",
    "entropy": "information",
    "learn_chain": "chained_equations",
    "log_or_veto": "smoothing",
    "log_shares": "smoothing",
    "mutual_information": "information",
    "normalized_conditional_mutual_information": "information",
    "pool_estimates": "rubin",
    "symmetrical_uncertainty": "information",
}

__getattr__, __dir__ = read_when_asked(__name__, FILES)
