"""Draw the pictures of docs/hybrid.md: dependences of the wine table, and two models of it as graphs.

python docs/pictures/hybrid.py
"""

from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine

from seminaive import HybridLogisticNaiveBayes
from seminaive.explain import StructureDisplay
from seminaive.structure import DependenceDisplay

HERE = Path(__file__).parent


def main():
    """Fit the models of the page and draw them."""
    X, y = load_wine(return_X_y=True, as_frame=True)
    X = X.rename(columns=lambda name: name.split("/")[0].replace("_", " "))
    model = HybridLogisticNaiveBayes(partition="dependence", cutoff=0.1, random_state=0).fit(X, y)
    _, ax = plt.subplots(figsize=(8, 6.4), layout="constrained")
    DependenceDisplay.from_estimator(model, ax=ax).figure_.savefig(HERE / "hybrid-dependence.png", dpi=110)
    tree = HybridLogisticNaiveBayes(partition="dependence", cutoff=0.1, generative="tan", random_state=0).fit(
        X, y
    )
    figure, axes = plt.subplots(2, 1, figsize=(7, 9.2), layout="constrained")
    for shown, ax in zip((model, tree), axes, strict=True):
        StructureDisplay.from_estimator(shown, ax=ax)
    figure.savefig(HERE / "hybrid-structure.png", dpi=110)


if __name__ == "__main__":
    main()
