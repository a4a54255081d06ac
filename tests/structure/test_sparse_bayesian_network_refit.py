"""A refit of the chosen graph takes the shrinkage off, and predicts better."""

import numpy as np
import pytest

from seminaive import SparseBayesianNetwork
from seminaive.errors import InputError
from seminaive_experiments.papers.veterans import LABEL, LAYERS, MARKOV_BOUNDARY, veterans


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


def test_held_out_rows_decide_about_the_refit_unless_told():
    """Many records and few parameters: shrinkage only harms. Few rows and noise: the class shares stay."""
    records = veterans(6000, random_state=0)
    given = {
        "strengths": 5,
        "cv": 0.3,
        "n_imputations": 1,
        "order": [*list(records.X)[:-2], "TBI", "class", "PC-PTSD-5"],
    }
    model, shrunk = (
        SparseBayesianNetwork(**given, refit=refit).fit(records.X, records.y) for refit in ("auto", False)
    )
    assert model.refitted_
    assert not shrunk.refitted_
    assert model.edges_ == shrunk.edges_
    assert not SparseBayesianNetwork(strengths=[0.01]).fit(records.X[:200], records.y[:200]).refitted_


@pytest.mark.parametrize("known", [True, False], ids=["known order", "searched order"])
def test_fit_recovers_the_planted_boundary_of_the_veterans(known):
    """At 200,000 rows in runs/boundary.py; with fewer, and one completion, up to two columns differ."""
    records = veterans(30_000, random_state=4)
    names = [["class" if name == LABEL else name for name in layer] for layer in LAYERS]
    given = {"order": [name for layer in names for name in layer]} if known else {"layers": names}
    model = SparseBayesianNetwork(**given, cv=0.2, n_imputations=1, strengths=12).fit(records.X, records.y)
    assert len(set(model.markov_boundary_) ^ MARKOV_BOUNDARY) <= 2
    assert len(model.edges_) < 50
