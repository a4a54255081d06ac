"""The picture of a network: arrows, colours, rows, and what has no network."""

import matplotlib as mpl
import numpy as np
import pytest

from seminaive import NaiveBayes, SparseBayesianNetwork
from seminaive.errors import InputError
from seminaive.structure import NetworkDisplay
from seminaive.structure.network_display import BOUNDARY_COLOUR, OTHER_COLOUR, arranged_rows

mpl.use("Agg")


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    first, apart = rng.integers(0, 2, (2, 500))
    second = np.where(rng.random(500) < 0.2, 1 - first, first)
    y = np.where(rng.random(500) < 0.2, 1 - second, second)
    layers = [["x0", "x2"], ["x1"], ["class"]]
    X = np.column_stack([first, second, apart])
    return SparseBayesianNetwork(layers=layers, strengths=[0.05], categorical_features="all").fit(X, y)


def test_the_arrows_are_the_edges_and_the_boundary_is_coloured(model):
    display = NetworkDisplay.from_estimator(model)
    assert set(display.arrows_) == set(model.edges_) == {("x0", "x1"), ("x1", "class")}
    assert set(display.nodes_) == set(model.nodes_)
    frames = {name: node.get_bbox_patch().get_edgecolor() for name, node in display.nodes_.items()}
    assert frames["x1"] == mpl.colors.to_rgba(BOUNDARY_COLOUR)
    assert frames["x0"] == frames["x2"] == mpl.colors.to_rgba(OTHER_COLOUR)
    mpl.pyplot.close(display.figure_)


def test_it_draws_on_given_axes(model):
    figure, ax = mpl.pyplot.subplots()
    assert NetworkDisplay.from_estimator(model, ax=ax).ax_ is ax
    mpl.pyplot.close(figure)


def test_every_node_stands_below_its_parents():
    rng = np.random.default_rng(0)
    parents = {str(k): [str(j) for j in range(k) if rng.random() < 0.3] for k in range(12)}
    rows = arranged_rows(parents)
    depth = {name: place for place, row in enumerate(rows) for name in row}
    assert set(depth) == set(parents)
    assert all(
        depth[parent] < depth[child] for child, node_parents in parents.items() for parent in node_parents
    )


def test_a_graph_without_edges_is_one_row():
    assert arranged_rows({"a": [], "class": []}) == [["a", "class"]]


def test_models_without_a_network_are_refused():
    with pytest.raises(InputError, match="no network to draw"):
        NetworkDisplay.from_estimator(NaiveBayes())
