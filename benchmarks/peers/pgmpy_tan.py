"""pgmpy's tree-augmented naive Bayes on a table of codes: the tree, then the tables."""

import pandas as pd
from pgmpy.estimators import TreeSearch
from pgmpy.models import DiscreteBayesianNetwork


class PgmpyTAN:
    """TAN by maximum likelihood; classes are codes."""

    def fit(self, codes, labels):
        """Search for the tree, then count."""
        table = pd.DataFrame(codes, columns=[f"x{j}" for j in range(codes.shape[1])])
        table["class"] = labels
        search = TreeSearch(table, root_node="x0", n_jobs=1)
        tree = search.estimate("tan", class_node="class", show_progress=False)
        self.model = DiscreteBayesianNetwork(tree.edges()).fit(table)
        return self
