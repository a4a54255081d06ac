"""Draw the counterparts of Figures 3.3, 3.7 and 3.8 of the dissertation, and the diversion curve.

python docs/pictures/veterans.py
"""

from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

from seminaive_experiments.papers.veterans import LABEL, LAYERS, MARKOV_BOUNDARY

HERE = Path(__file__).parent
KEPT = HERE.parent / "reproduction" / "dissertation-table3.2-data-sets.csv"
# Where the nodes of a layer stand: layers from top to bottom, a long one in two rows.
HEIGHTS = {0: 5.0, 1: 3.4, 2: 1.6, 3: 1.0, 4: 0.0}


def places():
    """Return the position of each node."""
    found = {}
    for layer, names in enumerate(LAYERS):
        for k, name in enumerate(names):
            x = (k + 0.5) / len(names) * 8
            found[name] = (
                x if len(names) > 1 else 4.0,
                HEIGHTS[layer] + (0.8 * (k % 2) if layer == 1 else 0),
            )
    found["TBI"] = (2.0, HEIGHTS[2])
    return found


def draw_graph(ax, row, title):
    """Draw one network; the Markov boundary of the label is filled."""
    where = places()
    boundary = set(row["boundary"].split(", "))
    for edge in row["edges"].split(", "):
        parent, child = edge.split(" > ")
        near = LABEL in (parent, child)
        ax.annotate(
            "",
            where[child],
            where[parent],
            arrowprops={
                "arrowstyle": "-|>",
                "color": "C3" if near else "0.6",
                "shrinkA": 16,
                "shrinkB": 16,
                "connectionstyle": "arc3,rad=0.08",
            },
        )
    for name, (x, y) in where.items():
        known = name in boundary
        colour = "C3" if name == LABEL else ("C1" if known and name not in MARKOV_BOUNDARY else "C0")
        box = {"boxstyle": "round", "facecolor": colour if known or name == LABEL else "white", "alpha": 0.85}
        ax.text(
            x,
            y,
            name.replace("Military", "Military\n").replace("Conditions", "\nConditions"),
            ha="center",
            va="center",
            fontsize=7,
            color="white" if known or name == LABEL else "black",
            bbox=box,
        )
    ax.set_xlim(0, 8)
    ax.set_ylim(-0.6, 5.6)
    ax.set_axis_off()
    ax.set_title(f"{title}: {int(row['n_edges'])} edges", fontsize=9)


def main():
    """Draw the graphs, the path and the curve of the first repetition."""
    records = pd.read_csv(KEPT, comment="#", keep_default_na=False, na_values=["", "nan"])
    records = records[records["repetition"] == 0]
    graphs = records[records["record"] == "graph"].set_index("method")
    figure, axes = plt.subplots(1, 2, figsize=(13, 5), layout="constrained")
    draw_graph(axes[0], graphs.loc["BN"], "dense network by BIC (Figure 3.3)")
    draw_graph(axes[1], graphs.loc["l1-BN"], "sparse network, one standard error (Figure 3.8)")
    figure.savefig(HERE / "veterans-graphs.png", dpi=100)

    figure, axes = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
    path = records[(records["record"] == "path") & (records["method"] == "l1-BN")]
    best = path.loc[path["MSE"].idxmin()]
    axes[0].errorbar(path["strength"], path["MSE"], path["se"], marker="o", markersize=3, capsize=2)
    axes[0].axhline(best["MSE"] + best["se"], color="C3", linestyle="--", linewidth=1)
    axes[0].axvline(graphs.loc["l1-BN", "strength"], color="0.6", linestyle=":")
    axes[0].set(xscale="log", xlabel="strength", ylabel="squared error on test rows", title="Figure 3.7")
    curves = records[records["record"] == "diversion"]
    for method in ("l1-BN, refitted", "NB", "truth"):
        of_method = curves[curves["method"] == method]
        axes[1].plot(of_method["diverted"], of_method["caught"], label=method, linewidth=1)
    axes[1].plot([0, 1], [0, 1], color="0.8", linewidth=1)
    axes[1].set(xlabel="share of veterans diverted", ylabel="share of cases caught", title="Diversion")
    axes[1].legend(frameon=False)
    figure.savefig(HERE / "veterans-path.png", dpi=100)


if __name__ == "__main__":
    main()
