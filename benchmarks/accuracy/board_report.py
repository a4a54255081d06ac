"""Mean ranks over tables, which differences are significant, wins and losses, and times."""

from pathlib import Path

import numpy as np
import pandas as pd
from board_tables import SETTINGS, peer_results, tables_of

from seminaive_experiments.ranking import critical_difference
from seminaive_experiments.result_plots import rank_diagram

LOSSES = ("log_loss", "error")
WORST = 10


def report(paths, against, pictures, prefix, role=None):
    """Print what is known of models, the first of which is compared with each other one.

    Parameters
    ----------
    paths : list of Path
        The results of the models run here.
    against : list of str or None
        Models of the kept results of peers, whose times were taken elsewhere; None prints times.
    pictures : str or None
        A folder for rank diagrams, whose names begin with the prefix.
    role : str or None
        Takes the tables of this role only; see table_roles.csv.
    """
    rows = gathered(paths, against)
    if role is not None:
        rows = rows[rows.table.isin(tables_of(role))]
    models = rows.model.unique()
    first = models[0]
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


def gathered(paths, against):
    """Return the folds of the models run here and of peers; a fold that failed has infinite losses."""
    found = [pd.read_csv(path, comment="#") for path in paths]
    if against is not None:
        peers = peer_results()
        found.append(peers[peers.model.isin(against)])
    rows = pd.concat(found, ignore_index=True)
    rows.loc[rows.status != "ok", list(LOSSES)] = np.inf
    return rows


def report_states(states, paths, against):
    """Print the first model's mean rank, and its place, by the random state with which it was fitted.

    Parameters
    ----------
    states : dict
        From a random state to the results of the first model with it.
    paths, against
        The other models, as for `report`; they keep their states.
    """
    folds = {state: gathered([path, *paths], against) for state, path in states.items()}
    for setting in SETTINGS:
        for loss in LOSSES:
            means = {state: setting_means(rows, setting, loss) for state, rows in folds.items()}
            places = {state: place(known) for state, known in means.items() if len(known)}
            if not places:
                continue
            found = pd.DataFrame.from_dict(places, "index").rename_axis("random state")
            ranks, best = found["mean rank"], (found["place"] == 1).sum()
            print(f"\n{setting} {loss}: mean ranks {ranks.min():.2f} to {ranks.max():.2f}", end=", ")
            print(f"first with {best} of {len(found)} states")
            print(found.to_string(float_format="%.2f"))


def setting_means(rows, setting, loss):
    return table_means(rows[rows.setting == setting], loss, rows.model.unique())


def place(means):
    """Return the first model's mean rank, its place among all, and the best of the others."""
    ranks = means.rank(axis=1).mean()
    first, others = ranks.iloc[0], ranks.iloc[1:]
    return {
        "tables": len(means),
        "mean rank": first,
        "place": 1 + (others < first).sum(),
        "best other": others.idxmin(),
        "its mean rank": others.min(),
    }


def table_means(rows, loss, models):
    """Return tables x models: mean losses over the folds that all models have; infinite where one failed."""
    folds = rows.pivot(index=["table", "repeat", "fold"], columns="model", values=loss)
    return folds.reindex(columns=models).dropna().groupby(level="table").mean().round(6)


def compared(means, ranks, first, difference):
    """Return a row per model: mean rank, failures, and wins and losses of the first model against it."""
    of_first = means[first].to_numpy()[:, None]
    return pd.DataFrame(
        {
            "mean rank": ranks,
            "failed": np.isinf(means).sum(),
            "wins": (of_first < means).sum(),
            "losses": (of_first > means).sum(),
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
    names = [f"{position + 1} {model}" for position, model in enumerate(ranks.index)]
    drawn = rank_diagram(names, [0] * len(ranks), places.tolist(), groups, difference)
    return drawn.replace("<svg ", '<svg style="background:#fff" ', 1)
