"""Many models on many tables: experiments, rank tests, reports, and the tables of the papers.

A file is read when a name of it is first used.
"""

from seminaive.lazy_names import names_on_first_use

# That of seminaive: both are released together, and pip installs no other pair.
__version__ = "0.3.0"

__getattr__, __dir__, __all__ = names_on_first_use(__name__)
