"""Optimisers: arrays in, a certified result out."""

from seminaive.solvers.alpha_path import AlphaPath, GroupPath
from seminaive.solvers.elastic_net_path import PathOptions, logistic_path, softmax_path
from seminaive.solvers.result import SolverResult
from seminaive.solvers.shrinkage_path import ShrinkagePath

__all__ = [
    "AlphaPath",
    "GroupPath",
    "PathOptions",
    "ShrinkagePath",
    "SolverResult",
    "logistic_path",
    "softmax_path",
]
