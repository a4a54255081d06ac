"""Missing cells drawn from what the others say, and estimates pooled over completed tables.

A file is read when a name of it is first used.
"""

from typing import TYPE_CHECKING

from seminaive.lazy_names import read_when_asked

if TYPE_CHECKING:
    from seminaive.imputation.chained_equations import Chain, FittedChain, learn_chain
    from seminaive.imputation.completion import complete, draw_codes_given_class, draw_numbers_given_class
    from seminaive.imputation.incomplete_columns import IncompleteColumns
    from seminaive.imputation.rubin import PooledEstimate, pool_estimates

__all__ = [
    "Chain",
    "FittedChain",
    "IncompleteColumns",
    "PooledEstimate",
    "complete",
    "draw_codes_given_class",
    "draw_numbers_given_class",
    "learn_chain",
    "pool_estimates",
]

FILES = {
    "Chain": "chained_equations",
    "IncompleteColumns": "incomplete_columns",
    "FittedChain": "chained_equations",
    "PooledEstimate": "rubin",
    "complete": "completion",
    "draw_codes_given_class": "completion",
    "draw_numbers_given_class": "completion",
    "learn_chain": "chained_equations",
    "pool_estimates": "rubin",
}

__getattr__, __dir__ = read_when_asked(__name__, FILES)
