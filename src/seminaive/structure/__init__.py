"""How features depend on one another: independence tests, Markov blankets, partitions, trees, networks.

A file is read when a name of it is first used.
"""

from seminaive.lazy_names import read_when_asked

__getattr__, __dir__, __all__ = read_when_asked(__name__)
