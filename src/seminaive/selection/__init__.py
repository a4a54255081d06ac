"""Choosing strengths: folds, paths, and the search over them."""

from seminaive.selection.fold_losses import FoldLosses

__all__ = ["FoldLosses"]
