"""The figures of README and docs, read off the kept results; each stands beside the command that rebuilds it.

Pages hold them between `<!-- NAME -->` and `<!-- end of NAME -->`; `python benchmarks/run.py --table` writes
them, and tests/test_headlines.py compares.
"""

import re
from pathlib import Path

import pandas as pd
from accuracy.board_report import gathered, table_means
from accuracy.few_rows_report import RIVAL, usable
from accuracy.open_board import AUTOML, RIVALS, TEN_FOLDS, beside_automl
from board_tables import tables_of
from result_tables import day_of, lines_of, markdown, measured_with, section_body

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "benchmarks" / "results"
BOARD = RESULTS / "board"
FEW_ROWS = RESULTS / "few_rows"
VERY_FEW_ROWS = RESULTS / "very_few_rows"
SIX = ("semi-naive", "naive-bayes", "lightgbm", "hist-boosting", "random-forest", "logistic-cv")
NAMES = {
    "semi-naive": "`SemiNaive`",
    "naive-bayes": "`NaiveBayes`",
    "nbrlr-cv": "`NaiveBayesLogisticRegressionCV`",
    "higher-order-cv": "`HigherOrderLogisticRegressionCV`",
    "lightgbm": "LightGBM",
    "hist-boosting": "`HistGradientBoostingClassifier`",
    "random-forest": "random forest",
    "logistic-cv": "`LogisticRegressionCV`",
}
SETTINGS = {"full": "all rows", "n300": "300 rows", "n100": "100 rows"}
SIZES = (50, 100, 200)
# Folds are not those of the AutoML benchmark: a smaller difference in AUC or log loss is none.
LEVEL = 0.005
BOARD_COMMAND = f"python benchmarks/accuracy/board.py report {','.join(SIX)} --others"


def ranks(role):
    """Return mean ranks, models x (setting, loss), and the number of tables that all six have run."""
    rows = gathered([BOARD / f"others-{model}.csv" for model in SIX], None)
    if role is not None:
        rows = rows[rows.table.isin(tables_of(role))]
    means, n_tables = {}, {}
    for setting in SETTINGS:
        for loss in ("log_loss", "error"):
            found = table_means(rows[rows.setting == setting], loss, SIX)
            means[setting, loss] = found.rank(axis=1).mean()
            n_tables[setting] = len(found)
    return pd.DataFrame(means), n_tables


def rank_table(role):
    """Return a table of mean ranks in log loss and 0-1 loss, the best in log loss on all rows first."""
    means, n_tables = ranks(role)
    heads = ["", *(f"{text}, {n_tables[setting]} tables" for setting, text in SETTINGS.items())]
    rows = [
        [
            NAMES[model],
            *(
                f"{means.loc[model, (s, 'log_loss')]:.2f} / {means.loc[model, (s, 'error')]:.2f}"
                for s in SETTINGS
            ),
        ]
        for model in means["full", "log_loss"].sort_values().index
    ]
    return markdown(heads, rows)


def few_rows_table():
    """Return on how many tables a model has a smaller log loss than cross-validated logistic regression."""
    rival = usable(FEW_ROWS / f"{RIVAL}.csv", SIZES, [])
    rows = []
    for model in ("semi-naive", "nbrlr-cv", "higher-order-cv"):
        better = few_rows_wins(model, rival)
        rows.append([NAMES[model], *(f"{won} of {n}" for won, n in better)])
    return markdown(["", *(f"{size} rows" for size in SIZES)], rows)


def few_rows_wins(model, rival):
    """Return tables won and tables compared, for each size."""
    both = usable(FEW_ROWS / f"{model}.csv", SIZES, []).join(rival.add_suffix(" other"), how="inner")
    means = both[["log_loss", "log_loss other"]].groupby(level=["table", "size"]).mean()
    found = []
    for size in SIZES:
        part = means.xs(size, level="size")
        found.append((int((part["log_loss"] < part["log_loss other"]).sum()), len(part)))
    return found


def very_few_rows_table():
    """Return mean ranks in log loss with 25 and 40 training rows."""
    models = ("semi-naive", "nbrlr-cv", "naive-bayes", "logistic-cv")
    losses = {model: usable(VERY_FEW_ROWS / f"{model}.csv", (25, 40), []).log_loss for model in models}
    means = pd.DataFrame(losses).dropna().groupby(level=["size", "table"]).mean()
    sizes = {size: means.xs(size, level="size") for size in (25, 40)}
    heads = ["", *(f"{size} rows, {len(part)} tables" for size, part in sizes.items())]
    ranks = {size: part.rank(axis=1).mean() for size, part in sizes.items()}
    rows = [[NAMES[model], *(f"{ranks[size][model]:.2f}" for size in sizes)] for model in models]
    return markdown(heads, rows)


def automl_table():
    """Return our means over ten folds beside the best of the AutoML benchmark, on tables with ten folds."""
    found = beside_automl(BOARD / "folder" / "automl-semi-naive.csv")
    found = found[found.folds == TEN_FOLDS]
    rows = []
    for (table, measure), part in found.groupby(["table", "measure"], sort=False):
        pick = part[RIVALS].max if measure == "auc" else part[RIVALS].min
        best = dict(zip(part.hours, pick(axis=1), strict=True))
        behind = [f"{hours} h" for hours, loss in best.items() if _gap(part, measure, loss) > LEVEL]
        ahead = all(_gap(part, measure, loss) < -LEVEL for loss in best.values())
        place = "ahead" if ahead else "level"
        if behind:
            place = "behind" if len(behind) == len(best) else f"behind after {behind[0]}"
        figures = (part["semi-naive"].iloc[0], *(best[hours] for hours in (1, 4)))
        name = {"auc": "AUC", "log_loss": "log loss"}[measure]
        rows.append([f"`{table}`", name, *(f"{figure:.4f}" for figure in figures), place])
    heads = ["table", "measure", "`SemiNaive`", "best of four, 1 hour", "4 hours", "`SemiNaive` is"]
    waiting = sorted(set(pd.read_csv(AUTOML, comment="#").table) - set(found.table))
    note = f"\nOf these tables not all ten folds were run: {', '.join(waiting)}.\n" if waiting else ""
    return markdown(heads, rows) + note


def _gap(part, measure, best):
    """Return by how much ours is worse than another's figure."""
    gap = part["semi-naive"].iloc[0] - best
    return -gap if measure == "auc" else gap


def times(section, question, peer):
    """Say how many times as fast as a peer ours is, by a line of a section; rounded down."""
    (row,) = [
        row
        for row in lines_of(RESULTS / f"{section}.csv")[1]
        if question in row["question"] and row["peer"].startswith(peer)
    ]
    value = float(row["ratio"])
    figure = f"{int(value)}" if value >= 10 else f"{int(10 * value) / 10:g}"
    return f"{figure} times as fast as {peer}"


def measured(section):
    """Return the tables of a section of results.md, with its command, version and day."""
    path = RESULTS / f"{section}.csv"
    said, rows = lines_of(path)
    command = said[0].removeprefix("command: ")
    return f"`{command}`, version {measured_with(path)}, {day_of(said)}:\n\n{section_body(rows)}"


def cells_that_agree(tables):
    """Return how many cells of published tables agree with ours, and how many are compared."""
    cells = [
        lines_of(ROOT / "packages" / "experiments" / "results" / "reproduction" / f"{table}.csv")[1]
        for table in tables
    ]
    agree = [row["agrees"] == "True" for rows in cells for row in rows]
    return f"{sum(agree)} of {len(agree)}"


def evidence():
    """Return the README's table: question, figure, command."""
    means, n_tables = ranks("not chosen")
    best = means.drop(index="semi-naive").idxmin()
    won = few_rows_wins("semi-naive", usable(FEW_ROWS / f"{RIVAL}.csv", SIZES, []))
    places = "; ".join(
        f"{text} ({n_tables[s]} tables) **{means.loc['semi-naive', (s, 'log_loss')]:.2f}**, next "
        f"{NAMES[best[s, 'log_loss']]} {means.loc[best[s, 'log_loss'], (s, 'log_loss')]:.2f}"
        for s, text in SETTINGS.items()
    )
    rows = [
        [
            "Mean rank of six classifiers in log loss, on real tables by which its rules were not chosen",
            places,
            f'`{BOARD_COMMAND} --role "not chosen"`',
        ],
        [
            "Tables on which `SemiNaive` has a smaller log loss than `LogisticRegressionCV`",
            "; ".join(f"{size} rows {won} of {n}" for size, (won, n) in zip(SIZES, won, strict=True)),
            "`python benchmarks/accuracy/few_rows.py report`",
        ],
        [
            "Naive Bayes, fit of 1,000,000 x 20 small integers",
            times("naive_bayes", "fit 1,000,000 x 20 small integers", "OrdinalEncoder + CategoricalNB"),
            "`python benchmarks/run.py naive_bayes`",
        ],
        [
            "NBRLR, 10 folds x 100 strengths",
            times("nbrlr", "10 folds x 100 strengths", "LogisticRegressionCV") + " (L1)",
            "`python benchmarks/run.py nbrlr`",
        ],
        [
            "All pairs, fit of poker hands to the same objective",
            times("alr_fits", "fit poker", "LogisticRegression") + " on CSR",
            "`python benchmarks/run.py alr_fits`",
        ],
        [
            "Simulations of the NBRLR paper, Tables 1 to 4",
            f"{cells_that_agree([f'nbrlr-table{k}' for k in (1, 2, 3, 4)])} cells agree",
            "`seminaive reproduce nbrlr-table1`, ... `4`",
        ],
    ]
    return markdown(["question", "figure", "command"], rows)


BLOCKS = {
    "README.md": {"evidence": evidence},
    "docs/benchmarks.md": {
        "ranks on tables by which the rules were not chosen": lambda: rank_table("not chosen"),
        "ranks on all other tables": lambda: rank_table(None),
        "beside the AutoML benchmark": automl_table,
        "few rows": few_rows_table,
    },
    "docs/start/which-model.md": {"very few rows": very_few_rows_table},
    "docs/fsnb.md": {"bins": lambda: measured("naive_bins"), "speed": lambda: measured("fsnb")},
    "docs/hybrid.md": {"speed": lambda: measured("hybrid_search")},
    "docs/network.md": {"speed": lambda: measured("network")},
    "docs/scale.md": {"speed": lambda: measured("scale"), "threads": lambda: measured("scale_threads")},
}


def with_headlines(page):
    """Return the text of a page with its figures as the results have them."""
    text = (ROOT / page).read_text(encoding="utf-8")
    for name, make in BLOCKS[page].items():
        block = re.compile(
            rf"(<!-- {re.escape(name)} -->\n).*?(<!-- end of {re.escape(name)} -->)", re.DOTALL
        )
        made = make()
        text, n_places = block.subn(lambda found, made=made: f"{found[1]}\n{made}\n{found[2]}", text)
        if n_places != 1:
            raise ValueError(f"{page} has {n_places} places for {name!r}, expected one")
    return text


def write_headlines():
    """Bring the figures of all pages up to date."""
    for page in BLOCKS:
        (ROOT / page).write_text(with_headlines(page), encoding="utf-8")
