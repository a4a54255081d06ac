"""
Which of several models, over several tables
============================================

A better mean on one table says little about others. Over many tables, ranks are compared:
Friedman's test asks whether the models differ at all, and Bergmann and Hommel's procedure which
pairs do.
"""

import pandas as pd

from seminaive_experiments import compare_ranks, critical_difference, friedman_test

# %%
# Losses may come from anywhere. These are the average error rates of four classifiers on twelve
# tables.

losses = pd.DataFrame(
    {
        "tree": [0.24, 0.30, 0.11, 0.05, 0.26, 0.33, 0.19, 0.07, 0.28, 0.15, 0.22, 0.36],
        "neighbours": [0.27, 0.34, 0.14, 0.04, 0.30, 0.36, 0.20, 0.09, 0.31, 0.17, 0.25, 0.39],
        "naive Bayes": [0.22, 0.28, 0.15, 0.05, 0.24, 0.30, 0.21, 0.06, 0.25, 0.12, 0.24, 0.33],
        "logistic regression": [0.21, 0.27, 0.10, 0.04, 0.23, 0.31, 0.17, 0.05, 0.26, 0.11, 0.20, 0.32],
    }
)
friedman_test(losses)

# %%
# All pairs, with p-values adjusted for the fact that there are six of them:

compared = compare_ranks(losses)
compared.ranks.sort_values()

# %%
compared.pairs.round(4)

# %%
# Two average ranks that differ by less than this cannot be told apart by Nemenyi's test:

critical_difference(n_models=4, n_tables=12)
