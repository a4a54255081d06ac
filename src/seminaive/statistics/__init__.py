"""Raw, weighted statistics that merge: counts, moments, and the information measures made of them.

A file is imported when one of its names is first used.
"""

from seminaive.lazy_names import names_on_first_use

__getattr__, __dir__, __all__ = names_on_first_use(__name__)
