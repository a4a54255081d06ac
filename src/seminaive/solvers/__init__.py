"""Optimisers: arrays in, a certified result out."""

from seminaive.solvers.result import SolverResult
from seminaive.solvers.elastic_net_path import ShrinkageOptions, ShrinkagePath, logistic_path, softmax_path

__all__ = [
    "ShrinkageOptions",
    "ShrinkagePath",
    "SolverResult",
    "logistic_path",
    "softmax_path",
]
