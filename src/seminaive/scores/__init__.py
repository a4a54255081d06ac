"""Additive scores: what every additive model is once it is fitted.

A file is read when a name of it is first used.
"""

from seminaive.lazy_names import read_when_asked

__getattr__, __dir__, __all__ = read_when_asked(__name__)
