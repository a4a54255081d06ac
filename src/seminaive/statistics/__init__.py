"""Raw, weighted statistics that merge: counts, moments, and the information measures made of them.

A file is imported when one of its names is first used.
"""

from typing import TYPE_CHECKING

from seminaive.lazy_names import read_when_asked

if TYPE_CHECKING:
    from seminaive.statistics.counts import TupleCounts, class_weights
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
    from seminaive.statistics.smoothing import VETO, log_or_veto, log_shares
    from seminaive.statistics.table_statistics import TableStatistics
    from seminaive.statistics.terms import Terms
    from seminaive.statistics.training_summary import TrainingSummary
    from seminaive.statistics.value_counts import ValueCounts

__all__ = [
    "VETO",
    "Moments",
    "NumberSketch",
    "ObservedCounts",
    "ObservedStatistics",
    "ObservedTerms",
    "PairwiseInformation",
    "TableStatistics",
    "Terms",
    "TrainingSummary",
    "TupleCounts",
    "ValueCounts",
    "class_weights",
    "conditional_mutual_information",
    "entropy",
    "log_or_veto",
    "log_shares",
    "mutual_information",
    "normalized_conditional_mutual_information",
    "symmetrical_uncertainty",
]

FILES = {
    "VETO": "smoothing",
    "Moments": "moments",
    "NumberSketch": "number_sketch",
    "ObservedCounts": "observed_counts",
    "ObservedStatistics": "observed_counts",
    "ObservedTerms": "observed_terms",
    "PairwiseInformation": "pairwise",
    "TableStatistics": "table_statistics",
    "Terms": "terms",
    "TrainingSummary": "training_summary",
    "TupleCounts": "counts",
    "ValueCounts": "value_counts",
    "class_weights": "counts",
    "conditional_mutual_information": "information",
    "entropy": "information",
    "log_or_veto": "smoothing",
    "log_shares": "smoothing",
    "mutual_information": "information",
    "normalized_conditional_mutual_information": "information",
    "symmetrical_uncertainty": "information",
}

__getattr__, __dir__ = read_when_asked(__name__, FILES)
