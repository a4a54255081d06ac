"""Raw, weighted statistics that merge: counts, moments, and the information measures made of them."""

from seminaive.statistics.counts import TupleCounts, class_weights
from seminaive.statistics.information import (
    conditional_mutual_information,
    entropy,
    mutual_information,
    normalized_conditional_mutual_information,
)
from seminaive.statistics.moments import Moments
from seminaive.statistics.observed_terms import ObservedTerms
from seminaive.statistics.pairwise import PairwiseInformation
from seminaive.statistics.table import TableStatistics
from seminaive.statistics.terms import Terms

__all__ = [
    "Moments",
    "ObservedTerms",
    "PairwiseInformation",
    "TableStatistics",
    "Terms",
    "TupleCounts",
    "class_weights",
    "conditional_mutual_information",
    "entropy",
    "mutual_information",
    "normalized_conditional_mutual_information",
]
