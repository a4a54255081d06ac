"""Choosing strengths: folds, paths, and the search over them."""

from seminaive.selection.fold_losses import FoldLosses
from seminaive.selection.network_search import NetworkPath

__all__ = ["FoldLosses", "NetworkPath"]
