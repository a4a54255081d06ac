"""Fitted models in files that run no code when they are read."""

from seminaive.lazy_names import read_when_asked

__getattr__, __dir__, __all__ = read_when_asked(__name__)
