"""How features depend on one another: independence tests, Markov blankets, partitions, trees, networks."""

from seminaive.structure.blankets import (
    ALGORITHMS,
    Blanket,
    BlanketDecision,
    IndependenceTest,
    fast_iamb,
    grow_shrink,
    iamb,
    inter_iamb,
)
from seminaive.structure.coded_tests import CodedTests
from seminaive.structure.gaussian_tests import GaussianTests
from seminaive.structure.independence import (
    CORRELATION_TESTS,
    COUNTS_TESTS,
    adjusted_mutual_information_test,
    correlation_test,
    fisher_z_test,
    gaussian_information_test,
    mutual_information_test,
    pearson_test,
    shrinkage_gaussian_information_test,
    shrinkage_mutual_information_test,
    shrunken_covariance,
)
from seminaive.structure.ordering import OrderSearch, search_order
from seminaive.structure.parents_or_children import (
    Assignment,
    Partition,
    bias_variance_partition,
    bias_variance_path,
    dependence_partition,
    greedy_partition,
    mean_dependence,
)
from seminaive.structure.permutation_tests import SequentialPermutationTests
from seminaive.structure.results import IndependenceResult
from seminaive.structure.score_search import bic_network, bic_parents
from seminaive.structure.spanning_tree import FeatureTree, chow_liu_tree
from seminaive.structure.sparse_network import SparseNetworks

__all__ = [
    "ALGORITHMS",
    "CORRELATION_TESTS",
    "COUNTS_TESTS",
    "Assignment",
    "Blanket",
    "BlanketDecision",
    "CodedTests",
    "FeatureTree",
    "GaussianTests",
    "IndependenceResult",
    "IndependenceTest",
    "OrderSearch",
    "Partition",
    "SequentialPermutationTests",
    "SparseNetworks",
    "adjusted_mutual_information_test",
    "bias_variance_partition",
    "bias_variance_path",
    "bic_network",
    "bic_parents",
    "chow_liu_tree",
    "correlation_test",
    "dependence_partition",
    "fast_iamb",
    "fisher_z_test",
    "gaussian_information_test",
    "greedy_partition",
    "grow_shrink",
    "iamb",
    "inter_iamb",
    "mean_dependence",
    "mutual_information_test",
    "pearson_test",
    "search_order",
    "shrinkage_gaussian_information_test",
    "shrinkage_mutual_information_test",
    "shrunken_covariance",
]
