"""Whether the paper's random forest explains why ours beats ALR^2 more often than Table 4 of the paper says.

    SEMINAIVE_DATA=... python runs/alr_forests.py

Five forests of 100 trees on the data sets of 300 to 999 rows and at most 40 columns, 5 x 2-fold: ours,
with one indicator per value and the square root of their number tried at each split; one of whole attributes,
of which log2 of their number plus one are tried, as in the paper; the same with numbers cut by description
length; the one of whole attributes whose probabilities are shares of votes; and WEKA's, which the paper ran
(WEKA_JAR names its file). Values of a whole attribute are split by their order in the alphabet, since
scikit-learn has no split into all values, as WEKA's forest has.
Losses go to results/alr/forests-raw.jsonl, and what ALR^2 wins against each to results/alr/forests.csv; those
of ALR^2 and of our forest are read from what alr_wins.py left.
"""

import datetime as dt
import json
from math import log2
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder
from weka_forest import WekaForest

from seminaive.encode import MDLDiscretizer
from seminaive.evaluate import run_repetitions
from seminaive_experiments.pairwise_tests import sign_test, win_draw_loss
from seminaive_experiments.papers.alr_real import measured, taken_data_sets
from seminaive_experiments.papers.forests import VotingForest
from seminaive_experiments.papers.real_tables import paper_table
from seminaive_experiments.papers.reproduction import RunOptions

RESULTS = Path(__file__).parents[1] / "results" / "alr"
ROUNDS, SEED = 5, 0
ROWS, MOST_COLUMNS = (300, 999), 40
MEASURES = ("bias", "variance", "L01", "RMSE")


def forest(table, *, cut):
    """Return a forest that tries log2 of the attributes plus one at each split, as the paper's."""
    median = SimpleImputer(strategy="median", keep_empty_features=True)
    numeric = make_pipeline(median, MDLDiscretizer()) if cut else median
    whole = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-2)
    columns = make_column_transformer(
        (numeric, make_column_selector(dtype_include=np.number)),
        (whole, make_column_selector(dtype_exclude=np.number)),
    )
    return make_pipeline(columns, RandomForestClassifier(max_features=int(log2(table.X.shape[1]) + 1)))


FORESTS = {
    "whole attributes": lambda table: forest(table, cut=False),
    "whole attributes, numbers cut": lambda table: forest(table, cut=True),
    "whole attributes, votes": lambda _: VotingForest(attributes="log2"),
    "WEKA": lambda _: WekaForest(),
}


def judge(dataset, method):
    table = paper_table(dataset)
    yield measured(table, method, FORESTS[method](table), ROUNDS, SEED)


def known():
    """Return the losses of ALR^2 and of our own forest, as alr_wins.py left them."""
    lines = map(json.loads, (RESULTS / "wins-raw.jsonl").read_text(encoding="utf-8").splitlines())
    return pd.DataFrame(
        line["unit"] | line["records"][0] for line in lines if line["unit"]["method"] in ("ALR2", "RF")
    )


def main():
    taken = taken_data_sets(RunOptions(ROUNDS, max_rows=ROWS[1], progress=False))
    small = [
        name for name, sizes in taken.items() if sizes.n_rows >= ROWS[0] and sizes.n_columns <= MOST_COLUMNS
    ]
    units = [{"dataset": name, "method": method} for name in small for method in FORESTS]
    found = run_repetitions(units, judge, path=RESULTS / "forests-raw.jsonl", progress=False)
    measures = pd.concat([found, known().query("dataset in @small")])
    counts = []
    for metric in MEASURES:
        by_method = measures.pivot_table(index="dataset", columns="method", values=metric).round(4)
        for rival in ("RF", *FORESTS):
            pair = by_method[["ALR2", rival]].dropna().to_numpy().T
            counted = win_draw_loss(*pair)
            row = {"metric": metric, "forest": rival, "data_sets": pair.shape[1]}
            row |= {"win": counted.win, "draw": counted.draw, "loss": counted.loss}
            counts.append(
                row | {"p": round(sign_test(*pair).p_value, 4), "forest_mean": pair[1].mean().round(4)}
            )
    head = f"# python runs/alr_forests.py, {dt.datetime.now(tz=dt.UTC):%Y-%m-%d}\n# {', '.join(small)}\n"
    text = head + pd.DataFrame(counts).to_csv(index=False)
    (RESULTS / "forests.csv").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
