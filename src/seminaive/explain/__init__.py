"""Pictures of fitted models: they read models and fit nothing."""

from seminaive.explain.dependence_display import DependenceDisplay
from seminaive.explain.path_display import PathDisplay
from seminaive.explain.structure_display import StructureDisplay

__all__ = ["DependenceDisplay", "PathDisplay", "StructureDisplay"]
