"""How columns depend on one another, learned first: whole in one folder, which no other room imports.

Independence tests and Markov blankets; partitions into a logistic and a generative part, and the hybrid
model on them; sparse Bayesian networks; missing cells drawn from what the others say, and estimates pooled
over completed tables. A file is read when a name of it is first used.
"""

from seminaive.lazy_names import names_on_first_use

__getattr__, __dir__, __all__ = names_on_first_use(__name__)
