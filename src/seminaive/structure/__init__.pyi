from seminaive.structure.bayesian_network import Network as Network
from seminaive.structure.blankets import ALGORITHMS as ALGORITHMS
from seminaive.structure.blankets import Blanket as Blanket
from seminaive.structure.blankets import BlanketDecision as BlanketDecision
from seminaive.structure.blankets import IndependenceTest as IndependenceTest
from seminaive.structure.blankets import fast_iamb as fast_iamb
from seminaive.structure.blankets import grow_shrink as grow_shrink
from seminaive.structure.blankets import iamb as iamb
from seminaive.structure.blankets import inter_iamb as inter_iamb
from seminaive.structure.chained_equations import Chain as Chain
from seminaive.structure.chained_equations import FittedChain as FittedChain
from seminaive.structure.chained_equations import learn_chain as learn_chain
from seminaive.structure.class_conditional_imputer import ClassConditionalImputer as ClassConditionalImputer
from seminaive.structure.coded_tests import CodedTests as CodedTests
from seminaive.structure.completion import complete as complete
from seminaive.structure.completion import draw_codes_given_class as draw_codes_given_class
from seminaive.structure.completion import draw_numbers_given_class as draw_numbers_given_class
from seminaive.structure.dependence_display import DependenceDisplay as DependenceDisplay
from seminaive.structure.gaussian_tests import GaussianTests as GaussianTests
from seminaive.structure.hybrid_logistic_naive_bayes import (
    HybridLogisticNaiveBayes as HybridLogisticNaiveBayes,
)
from seminaive.structure.incomplete_columns import IncompleteColumns as IncompleteColumns
from seminaive.structure.independence import CORRELATION_TESTS as CORRELATION_TESTS
from seminaive.structure.independence import COUNTS_TESTS as COUNTS_TESTS
from seminaive.structure.independence import (
    adjusted_mutual_information_test as adjusted_mutual_information_test,
)
from seminaive.structure.independence import correlation_test as correlation_test
from seminaive.structure.independence import fisher_z_test as fisher_z_test
from seminaive.structure.independence import gaussian_information_test as gaussian_information_test
from seminaive.structure.independence import mutual_information_test as mutual_information_test
from seminaive.structure.independence import pearson_test as pearson_test
from seminaive.structure.independence import (
    shrinkage_gaussian_information_test as shrinkage_gaussian_information_test,
)
from seminaive.structure.independence import (
    shrinkage_mutual_information_test as shrinkage_mutual_information_test,
)
from seminaive.structure.independence import shrunken_covariance as shrunken_covariance
from seminaive.structure.markov_blanket_selector import MarkovBlanketSelector as MarkovBlanketSelector
from seminaive.structure.multiple_imputer import MultipleImputer as MultipleImputer
from seminaive.structure.network_display import NetworkDisplay as NetworkDisplay
from seminaive.structure.network_search import NetworkPath as NetworkPath
from seminaive.structure.ordering import OrderSearch as OrderSearch
from seminaive.structure.ordering import search_order as search_order
from seminaive.structure.parents_or_children import Assignment as Assignment
from seminaive.structure.parents_or_children import Partition as Partition
from seminaive.structure.parents_or_children import bias_variance_partition as bias_variance_partition
from seminaive.structure.parents_or_children import bias_variance_path as bias_variance_path
from seminaive.structure.parents_or_children import dependence_partition as dependence_partition
from seminaive.structure.parents_or_children import greedy_partition as greedy_partition
from seminaive.structure.parents_or_children import mean_dependence as mean_dependence
from seminaive.structure.permutation_tests import SequentialPermutationTests as SequentialPermutationTests
from seminaive.structure.pooled_classifier import PooledClassifier as PooledClassifier
from seminaive.structure.results import IndependenceResult as IndependenceResult
from seminaive.structure.rubin import PooledEstimate as PooledEstimate
from seminaive.structure.rubin import pool_estimates as pool_estimates
from seminaive.structure.score_search import bic_network as bic_network
from seminaive.structure.score_search import bic_parents as bic_parents
from seminaive.structure.sparse_bayesian_network import SparseBayesianNetwork as SparseBayesianNetwork
from seminaive.structure.sparse_network import SparseNetworks as SparseNetworks
