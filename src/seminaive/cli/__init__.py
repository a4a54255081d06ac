"""The command line: parse, call, print. A refusal is one sentence and exit code 1, an interrupt 130.

Modules of this room import nothing heavy at their top: arguments are checked before NumPy, pandas or
scikit-learn is imported, so that a refusal comes at once. The commands themselves are put together on first
use, because those of other distributions import this room.
"""

from seminaive.lazy_names import names_on_first_use

__getattr__, __dir__, __all__ = names_on_first_use(__name__)
