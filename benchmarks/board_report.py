"""Mean ranks over tables, which differences are significant, wins and losses, and times."""

from pathlib import Path

import numpy as np
import pandas as pd
from board_tables import PEERS, SETTINGS

from seminaive.evaluate.drawing import rank_diagram
from seminaive.evaluate.ranking import critical_difference

LOSSES = ("log_loss", "error")
WORST = 10
STYLE = (
    "svg{background:#fff}text{font:12px sans-serif;fill:#1b1f24}.grid{stroke:#dfe3e8}.stem{stroke:#57606a}"
    ".group{stroke:#1b1f24;stroke-width:4}.reach{fill:#dfe3e8;opacity:.6}circle{fill:#0b66b5 !important}"
)


def report(paths, against, pictures, prefix):
    """Print what is known of models, the first of which is compared with each other one.

    Parameters
    ----------
    paths : list of Path
        The results of the models run here.
    against : list of str or None
        Models of PEERS, whose times were taken elsewhere; None prints times.
    pictures : str or None
        A folder for rank diagrams, whose names begin with the prefix.
    """
    own = [pd.read_csv(path, comment="#") for path in paths]
    first = own[0].model[0]
    if against is not None:
        peers = pd.read_csv(PEERS)
        own.append(peers[peers.model.isin(against)])
    rows = pd.concat(own, ignore_index=True)
    models = rows.model.unique()
    rows.loc[rows.status != "ok", list(LOSSES)] = np.inf
    for setting in SETTINGS:
        chosen = rows[rows.setting == setting]
        for loss in LOSSES:
            means = table_means(chosen, loss, models)
            if len(means) < 2:
                continue
            ranks = means.rank(axis=1).mean().sort_values()
            difference = critical_difference(len(ranks), len(means))
            print(f"\n{setting} {loss}: {len(means)} tables, critical difference {difference:.2f}")
            print(compared(means, ranks, first, difference).to_string(float_format="%.2f"))
            print(behind(means, first).to_string(float_format="%.4g"))
            if pictures is not None:
                path = Path(pictures) / f"{prefix}-{setting}-{loss.replace('_', '-')}.svg"
                path.write_text(picture(ranks, difference) + "\n")
        if against is None and first in set(chosen.model):
            print(f"\n{setting}: processor seconds to fit, and over those of {first}")
            print(times(chosen, first).to_string(float_format="%.3g"))


def table_means(rows, loss, models):
    """Return tables x models: mean losses over the folds that all models have; infinite where one failed."""
    folds = rows.pivot(index=["table", "repeat", "fold"], columns="model", values=loss)
    return folds.reindex(columns=models).dropna().groupby(level="table").mean().round(6)


def compared(means, ranks, first, difference):
    """Return a row per model: mean rank, failures, and wins and losses of the first model against it."""
    own = means[first].to_numpy()[:, None]
    return pd.DataFrame(
        {
            "mean rank": ranks,
            "failed": np.isinf(means).sum(),
            "wins": (own < means).sum(),
            "losses": (own > means).sum(),
            "differs": (ranks - ranks[first]).abs() > difference,
        }
    ).loc[ranks.index]


def behind(means, first):
    """Return the tables on which the first model is most behind the best of the others."""
    others = means.drop(columns=first)
    table = pd.DataFrame({first: means[first], "best": others.min(axis=1), "model": others.idxmin(axis=1)})
    table["difference"] = table[first] - table.best
    return table[table.difference > 0].nlargest(WORST, "difference")


def times(rows, first):
    """Return a row per model: median and largest time, and median and largest share of the first model's."""
    seconds = rows.pivot_table(index=["table", "repeat", "fold"], columns="model", values="cpu_s")
    ratio = seconds.div(seconds[first], axis=0)
    found = {"median s": seconds.median(), "most s": seconds.max(), "median ratio": ratio.median()}
    timeouts = rows[rows.status == "timeout"].groupby("model").size()
    return pd.DataFrame({**found, "timeouts": timeouts}).fillna({"timeouts": 0})


def picture(ranks, difference):
    """Return the critical-difference diagram of mean ranks, in increasing order, as a file of its own."""
    places = ranks.to_numpy()
    ends = np.searchsorted(places, places + difference) - 1
    groups = [
        (first, int(last))
        for first, last in enumerate(ends)
        if last > first and (first == 0 or last > ends[first - 1])
    ]
    drawn = rank_diagram(list(ranks.index), list(range(len(ranks))), places.tolist(), groups, difference)
    size = ' xmlns="http://www.w3.org/2000/svg" '
    return drawn.replace("<svg ", f"<svg{size}", 1).replace(">", f"><style>{STYLE}</style>", 1)
