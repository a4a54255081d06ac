"""A refit of the chosen graph takes the shrinkage off, and predicts better."""

import numpy as np
import pytest

from seminaive import SparseBayesianNetwork
from seminaive.errors import InputError
from seminaive.papers.veterans import veterans


def test_a_refitted_model_keeps_its_graph_and_predicts_better():
    records, later = veterans(4000, random_state=0), veterans(4000, random_state=1)
    given = {"strengths": [0.01], "order": [*list(records.X)[:-2], "TBI", "class", "PC-PTSD-5"]}
    shrunk, refitted = (
        SparseBayesianNetwork(**given, n_imputations=2, refit=refit).fit(records.X, records.y)
        for refit in (False, True)
    )
    assert refitted.edges_ == shrunk.edges_
    sick = later.y == "Y"
    losses = [np.mean((model.predict_proba(later.X)[:, 1] - sick) ** 2) for model in (shrunk, refitted)]
    assert losses[1] < losses[0] - 0.001
    with pytest.raises(InputError, match="refit is True or False"):
        SparseBayesianNetwork(refit="yes").fit(records.X, records.y)
