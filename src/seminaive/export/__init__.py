"""Fitted models as pages, programs, queries, graphs and workbooks that give the same probabilities.

A file is read when a name of it is first used.
"""

from seminaive.lazy_names import names_on_first_use

__getattr__, __dir__, __all__ = names_on_first_use(__name__)
