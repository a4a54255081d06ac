"""Pictures of fitted models: they read models and fit nothing."""

from seminaive.explain.path_display import PathDisplay

__all__ = ["PathDisplay"]
