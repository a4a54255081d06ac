"""Optimisers: arrays in, a certified result out."""

from seminaive.solvers.alpha_path import AlphaPath, GroupPath
from seminaive.solvers.result import SolverResult
from seminaive.solvers.shrinkage import ShrinkageOptions, ShrinkagePath, logistic_path, softmax_path

__all__ = [
    "AlphaPath",
    "GroupPath",
    "ShrinkageOptions",
    "ShrinkagePath",
    "SolverResult",
    "logistic_path",
    "softmax_path",
]
