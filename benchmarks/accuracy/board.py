"""Which classifier is first on real tables, and at what time? One line per fold, resumable.

    python benchmarks/accuracy/board.py run semi-naive [--settings n100,full] [--tables car] [--minutes 30]
    python benchmarks/accuracy/board.py run ebm,catboost,lightgbm --others [--limit 60]
    python benchmarks/accuracy/board.py report semi-naive [--against EBM,RF,...] [--pictures docs/pictures]
    python benchmarks/accuracy/board.py report semi-naive,ebm,catboost --others [--pictures docs/pictures]
    python benchmarks/accuracy/board.py report semi-naive,... --others --role "not chosen"
    python benchmarks/accuracy/board.py run semi-naive --random-state 1
    python benchmarks/accuracy/board.py states semi-naive --states 1,2,3,4,5 [--against EBM,RF,...] [--others]

`run` appends to results/board/NAME.csv and goes on where it stopped. Settings: `full` is stratified 5-fold
cross-validation; `n300` and `n100` are random training sets of that size. The tables and SCHEMA.json lie in
the folder that SEMINAIVE_DATA names.

Without `--others` it takes 20 tables and the folds that other classifiers have in results/board/peers.csv.gz
(EBM with 4 outer bags, one thread, on a busy machine). On these tables choices were made. `--others` takes
all other tables, and all models are run by this file, at their defaults, on one thread: two training sets of
each size tested on at most 5,000 rows, and two of the five folds of all rows below 1,000 rows, one up to
20,000. Larger tables are sampled to 20,000 rows and have the small settings only; a table that holds rows of
another one is left out. `--role` takes the tables of one role, by table_roles.csv.

A fold that takes more than `--limit` processor seconds is ended and has the status `timeout`; it is ranked
last, as is one that fails. `report` prints mean ranks, Nemenyi's critical difference, wins and losses of the
first model named, where it is most behind, and times, and draws the ranks.

`run --random-state S` fits models that have a `random_state` with this one and appends to NAME-state-S.csv;
`states` prints the mean ranks of the first model with its default and with each of these states, since a
difference that another state would undo is luck.
"""

import argparse
import sys
from pathlib import Path

import pandas as pd

sys.path.insert(0, str(Path(__file__).parent.parent))
from accuracy.board_report import report, report_states
from board_tables import FOLD, board_plan, others_plan, split
from contenders import MODELS, with_state
from study import Study, listed, run

RESULTS = Path(__file__).parent.parent / "results" / "board"
AGAINST = "EBM,LightGBM,HGB,RF,LRcv-l2,LRcv-l1,LR-C1,NB-mdl,NB-q10,AODE,ALR-w1,ALR-w4"


def losses(judged):
    return {"error": judged.error(), "log_loss": judged.log_loss()}


BOARD = Study(tuple(FOLD), split, losses, ("error", "log_loss"))


def results_path(model, others, random_state=None):
    state = "" if random_state is None else f"-state-{random_state}"
    return RESULTS / f"{'others-' if others else ''}{model}{state}.csv"


def wanted(settings, tables, most_folds, others):
    """Return the folds of these settings and tables, one setting after the other."""
    plan = others_plan() if others else board_plan()
    if tables:
        plan = plan[plan.table.isin(tables)]
    if most_folds:
        plan = plan.groupby(["table", "setting"], sort=False).head(most_folds)
    return pd.concat([plan[plan.setting == setting] for setting in settings])


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    runs = commands.add_parser("run")
    runs.add_argument("--settings", default="n100,n300,full")
    runs.add_argument("--tables", default="")
    runs.add_argument("--folds", type=int, default=0, help="at most, of each table and setting; 0 takes all")
    runs.add_argument("--minutes", type=float, default=30)
    runs.add_argument("--limit", type=float, default=60, help="processor seconds per fold")
    runs.add_argument("--random-state", type=int, help="of models that have one; their default if left out")
    reports, states = commands.add_parser("report"), commands.add_parser("states")
    reports.add_argument("--pictures")
    reports.add_argument("--role", help="take the tables of this role only, by table_roles.csv")
    states.add_argument("--states", default="1,2,3,4,5")
    for command in (reports, states):
        command.add_argument("--against", default=AGAINST)
    for command in (runs, reports, states):
        command.add_argument("models", help="names, parted by commas")
        command.add_argument("--others", action="store_true")
    return parser.parse_args()


def run_board(options):
    """Fit the folds of the settings and tables named."""
    state, makers = options.random_state, MODELS
    if state is not None:
        makers = {model: with_state(make, state) for model, make in MODELS.items()}
    paths = {model: results_path(model, options.others, state) for model in listed(options.models)}
    folds = wanted(listed(options.settings), listed(options.tables), options.folds, options.others)
    trials = folds.itertuples(index=False, name=None)
    run(BOARD, makers, paths, trials, options.minutes, options.limit)


def report_board(options):
    """Print ranks, of one random state or of several."""
    paths = [results_path(model, options.others) for model in listed(options.models)]
    against = None if options.others else listed(options.against)
    if options.command == "report":
        report(paths, against, options.pictures, "board-others" if options.others else "board", options.role)
        return
    first = listed(options.models)[0]
    numbers = listed(options.states, int)
    states = {"default": paths[0]} | {n: results_path(first, options.others, n) for n in numbers}
    report_states(states, paths[1:], against)


if __name__ == "__main__":
    options = parse()
    if options.command == "run":
        run_board(options)
    else:
        report_board(options)
