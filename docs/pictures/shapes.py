"""Draw the picture of docs/guide/known-beforehand.md: a shape of one column moves what another one says.

    python docs/pictures/shapes.py

Claims fall again beyond an age of 50; tenure grows with age and has no effect beside it.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from seminaive import SemiNaive

HERE = Path(__file__).parent
COLOURS = ("#2e6f95", "#c1666b")


def draw_claims(n_rows=1500):
    """Return ages, tenures that follow them, and whether there was a claim."""
    rng = np.random.default_rng(3)
    age = rng.uniform(20, 70, n_rows)
    tenure = np.maximum(age - 20 + rng.normal(0, 4, n_rows), 0) / 2
    odds = 1.2 - ((age - 50) / 14) ** 2
    return pd.DataFrame({"age": age, "tenure": tenure}), rng.random(n_rows) < 1 / (1 + np.exp(-odds))


def curve(model, X, name):
    """Return the values of a column, and the log odds along it beside the first row, centred."""
    values = np.linspace(X[name].min(), X[name].max(), 200)
    rows = X.iloc[np.zeros(200, dtype=int)].assign(**{name: values})
    odds = model.decision_function(rows)
    return values, odds - odds.mean()


def draw():
    """Draw both columns with and without the shape."""
    X, y = draw_claims()
    models = {
        "free": SemiNaive(interactions=0).fit(X, y),
        'age "increasing"': SemiNaive(interactions=0, shapes={"age": "increasing"}).fit(X, y),
    }
    print(models['age "increasing"'].shape_costs_)
    figure, panels = plt.subplots(1, 2, figsize=(8.4, 3.4), layout="constrained", sharey=True)
    for axes, name in zip(panels, X.columns, strict=True):
        for (label, model), colour in zip(models.items(), COLOURS, strict=True):
            axes.plot(*curve(model, X, name), color=colour, label=label)
        axes.set_xlabel(name)
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("log odds of a claim, centred")
    panels[0].legend(frameon=False)
    figure.savefig(HERE / "shapes.svg", metadata={"Date": None})


if __name__ == "__main__":
    plt.rcParams["svg.hashsalt"] = "seminaive"
    draw()
