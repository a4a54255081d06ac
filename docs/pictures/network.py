"""Draw the picture of docs/network.md: the sparse network of generated records of veterans.

python docs/pictures/network.py
"""

from pathlib import Path

from seminaive import SparseBayesianNetwork
from seminaive.structure import NetworkDisplay
from seminaive_experiments.papers.veterans import LABEL, LAYERS, veterans

HERE = Path(__file__).parent


def main():
    """Fit the model of the page and draw it."""
    records = veterans(50_000)
    layers = [["class" if name == LABEL else name for name in names] for names in LAYERS]
    model = SparseBayesianNetwork(layers=layers, cv=0.2).fit(records.X, records.y)
    NetworkDisplay.from_estimator(model).figure_.savefig(HERE / "network-graph.png", dpi=110)


if __name__ == "__main__":
    main()
