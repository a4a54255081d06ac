from seminaive.statistics.counts import TupleCounts as TupleCounts
from seminaive.statistics.counts import class_weights as class_weights
from seminaive.statistics.information import conditional_mutual_information as conditional_mutual_information
from seminaive.statistics.information import entropy as entropy
from seminaive.statistics.information import mutual_information as mutual_information
from seminaive.statistics.information import (
    normalized_conditional_mutual_information as normalized_conditional_mutual_information,
)
from seminaive.statistics.information import symmetrical_uncertainty as symmetrical_uncertainty
from seminaive.statistics.moments import Moments as Moments
from seminaive.statistics.number_sketch import NumberSketch as NumberSketch
from seminaive.statistics.observed_counts import ObservedCounts as ObservedCounts
from seminaive.statistics.observed_counts import ObservedStatistics as ObservedStatistics
from seminaive.statistics.observed_terms import ObservedTerms as ObservedTerms
from seminaive.statistics.pairwise import PairwiseInformation as PairwiseInformation
from seminaive.statistics.smoothing import VETO as VETO
from seminaive.statistics.smoothing import log_or_veto as log_or_veto
from seminaive.statistics.smoothing import log_shares as log_shares
from seminaive.statistics.table_statistics import TableStatistics as TableStatistics
from seminaive.statistics.terms import Terms as Terms
from seminaive.statistics.training_summary import TrainingSummary as TrainingSummary
from seminaive.statistics.value_counts import ValueCounts as ValueCounts
