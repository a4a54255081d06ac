"""Fitted models in files that run no code when they are read."""

from seminaive.lazy_names import names_on_first_use

__getattr__, __dir__, __all__ = names_on_first_use(__name__)
