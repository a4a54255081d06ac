"""Raw, weighted statistics that merge: counts, moments, and the information measures made of them."""

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
from seminaive.statistics.observed_terms import ObservedTerms
from seminaive.statistics.pairwise import PairwiseInformation
from seminaive.statistics.smoothing import VETO, log_or_veto, log_shares
from seminaive.statistics.summary import TrainingSummary
from seminaive.statistics.table import TableStatistics
from seminaive.statistics.terms import Terms
from seminaive.statistics.value_counts import ValueCounts

__all__ = [
    "VETO",
    "Moments",
    "NumberSketch",
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
