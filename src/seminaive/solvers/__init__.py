"""Optimisers: arrays in, a certified result out."""

from seminaive.solvers.design import LinearDesign
from seminaive.solvers.result import SolverResult
from seminaive.solvers.shrinkage import ShrinkageOptions, ShrinkagePath, logistic_path, softmax_path

__all__ = [
    "LinearDesign",
    "ShrinkageOptions",
    "ShrinkagePath",
    "SolverResult",
    "logistic_path",
    "softmax_path",
]
