"""Why cells do not agree with the print: one reason for each group of cells.

A reason of the kinds in ``NOT_OURS`` explains a cell: nothing that is run here could agree with it.
"""

from dataclasses import dataclass

import pandas as pd

from seminaive.errors import InputError

__all__ = ["NOT_COUNTED", "NOT_OURS", "REASONS_FOR_MISSES", "MissReason", "misses_by_reason"]

_DESCRIBES = "describes data sets; no model is run"
NOT_COUNTED = {
    "alr-footnote6": "needs Phoneme, which is not here",
    "alr-table1": _DESCRIBES,
    "dissertation-table1.1": _DESCRIBES,
    "dissertation-table2.6": _DESCRIBES,
    "dissertation-table3.1": "agrees by construction: the generator was given these frequencies",
    "dissertation-tableA4": "seconds of another machine; dissertation-figure1.4 to 1.6 have ratios",
    "fsnb-table3": "needs your copy of the StarPlus scans",
    "hybrid-table1": _DESCRIBES,
    "nbrlr-table5": _DESCRIBES,
}
"""Published tables that are left out of the counts, each with its reason."""

DATA, TEXT, UNPRINTED, UNKNOWN = "data version", "text inconsistent", "unprinted choice", "unknown"
NOT_OURS = (DATA, TEXT)


@dataclass(frozen=True)
class MissReason:
    """A reason why cells of some tables do not agree.

    Attributes
    ----------
    where : str
        What does not agree, in words.
    kind : str
        "data version", "text inconsistent", "unprinted choice" or "unknown".
    words : str
        What is known, in a sentence.
    tables : tuple of str
        The published tables that it is about.
    cells : str
        A condition on the columns of their cells, as pandas queries have it; all of them by default.
    """

    where: str
    kind: str
    words: str
    tables: tuple[str, ...]
    cells: str = "agrees == False"


_CHAPTER1 = ("dissertation-tableA1", "dissertation-tableA2", "dissertation-tableA3")
_LOSSES = _CHAPTER1[1:]
_TABLE2 = ("hybrid-table2",)
_SIZES = "metric.str.endswith('size')"
_SIMULATED = (
    *(f"nbrlr-table{k}" for k in (1, 2, 3, 4)),
    *(f"dissertation-table2.{k}" for k in (1, 2, 3, 4, 5)),
)

REASONS_FOR_MISSES = (
    MissReason(
        "Hungarian, chapter 1",
        DATA,
        "2 classes here, 5 printed",
        _CHAPTER1,
        "dataset.str.contains('Hungarian')",
    ),
    MissReason(
        "hypothyroid, sizes",
        DATA,
        "18 features here; the texts have 17, 18 and 19",
        ("dissertation-tableA1",),
        "dataset == 'Hypothyroid'",
    ),
    MissReason(
        "hypothyroid, sizes in Table 2",
        UNKNOWN,
        "with the printed number of columns the blanket has twice the printed size",
        _TABLE2,
        f"dataset == 'Hypothyroid' and {_SIZES}",
    ),
    MissReason("nursery, Table 2", DATA, "5 classes here, 3 printed", _TABLE2, "dataset == 'Nursery'"),
    MissReason(
        "glass, number of features",
        DATA,
        "9 features here, 10 printed: the row's number was counted",
        _TABLE2,
        "dataset == 'Glass Identification' and metric == 'n_features'",
    ),
    MissReason(
        "chapter 3",
        DATA,
        "the records are confidential; ours are drawn from a generator",
        ("dissertation-table3.2",),
    ),
    MissReason(
        "glass in Table 2",
        UNKNOWN,
        "the blanket has 5.3 features here, 5.5 in print; hybrid and logistic regression 2 points below",
        _TABLE2,
        "dataset == 'Glass Identification'",
    ),
    MissReason(
        "mushroom, naive Bayes",
        UNKNOWN,
        "94.3 % right in Table 2 (93.0 % printed), 4.4 % loss in chapter 1 (5.5 %)",
        (*_LOSSES, *_TABLE2),
        "dataset == 'Mushroom' and method == 'NB'",
    ),
    MissReason(
        "vehicle",
        UNKNOWN,
        "all methods lose 2 to 4 points more than printed; cuts by Kononenko's criterion, an option of "
        "WEKA's filter that the texts do not name, take half of that away",
        (*_CHAPTER1, *_TABLE2),
        "dataset.str.contains('Vehicle')",
    ),
    MissReason(
        "lasso, chapter 1",
        UNPRINTED,
        "R's glmnet, with the strength of least squared error; the coding of factors is not printed",
        _LOSSES,
        "method == 'Lasso'",
    ),
    MissReason(
        "forests, chapter 1",
        UNKNOWN,
        "R's randomForest on our factors errs 3 points more than printed on liver",
        _LOSSES,
        "method == 'RF'",
    ),
    MissReason(
        "sizes of parts, chapter 1",
        UNPRINTED,
        "the grid of rates; of eight grids, steps of 0.0005 come nearest in a trial on 13 tables",
        ("dissertation-tableA1",),
    ),
    MissReason(
        "counts, chapter 1",
        UNKNOWN,
        "100 splits for 1,000, and 20 of half of the lassos: a paired t test finds fewer wins and losses",
        ("dissertation-table1.2", "dissertation-table1.3", "dissertation-table1.4"),
    ),
    MissReason(
        "sonar, Table 2",
        UNKNOWN,
        "all methods 3 to 5 points above the print; one IAMB search would give the printed size",
        _TABLE2,
        "dataset == 'Connectionist Bench'",
    ),
    MissReason(
        "kidney disease, Table 2",
        UNKNOWN,
        "the blanket has 7 features here and 10.3 in print; 8 if missing is a level, 6 in complete rows",
        _TABLE2,
        "dataset == 'Chronic Kidney Disease'",
    ),
    MissReason(
        "congressional voting, Table 2",
        UNKNOWN,
        "hybrid and logistic regression 1 to 2 points above the print",
        _TABLE2,
        "dataset == 'Congressional Voting Records'",
    ),
    MissReason(
        "adult, Table 2",
        UNKNOWN,
        "hybrid and naive Bayes 3 to 4 points below the print, and 2 above it with levels by name: test "
        "rows lack some of 20 rare levels; logistic regression 0.7 points below",
        _TABLE2,
        "dataset == 'Adult Census Income'",
    ),
    MissReason(
        "bank, Table 2",
        UNKNOWN,
        "naive Bayes 1.5 points above the print, the hybrid 0.3; two features more in its generative part",
        _TABLE2,
        "dataset == 'Bank Marketing'",
    ),
    MissReason(
        "sizes of blankets in Table 2",
        UNPRINTED,
        "the text's union, by tests that need a row for every cell, gives those of car, ecoli, voting; "
        "today's "
        "bnlearn makes every test, which gives blogger's. Neither gives credit approval's, nor do "
        "complete rows, or missing cells as a level",
        _TABLE2,
        _SIZES,
    ),
    MissReason(
        "fsNB Table 1, CFS on DI",
        TEXT,
        "printed 0.166 with a deviation of 0.18, beside 0.076 of naive Bayes on all predictors",
        ("fsnb-table1",),
        "metric == 'error' and scenario == 'DI' and method == 'CFS+NB'",
    ),
    MissReason(
        "fsNB Table 1",
        UNPRINTED,
        "the printed evaluations are those of waiting for five idle steps, the printed sizes nearer to "
        "one; the "
        "group penalty keeps three to six predictors more than printed",
        ("fsnb-table1", "fsnb-table2"),
    ),
    MissReason(
        "fsNB Table 4",
        TEXT,
        "p-values after adjustment that the paper's errors cannot give (fsNB against naive Bayes: 0.010 "
        "before "
        "it, 1.6e-6 printed), four of them above 1",
        ("fsnb-table4",),
    ),
    MissReason(
        "simulations, LR at N = 100, p = 50",
        UNPRINTED,
        "separable classes: a few samples decide a mean. The printed p-value of 0.053 beside 4,107 says that "
        "its error is 2,100",
        _SIMULATED,
        "method == 'LR' and n_train == 100 and p == 50",
    ),
    MissReason(
        "elastic net, simulations",
        UNPRINTED,
        "its mixing share and what it was tuned on; with 0.5 and 0-1 loss most cells agree",
        _SIMULATED,
        "method == 'ElasticNet'",
    ),
    MissReason(
        "simulations, other cells",
        UNKNOWN,
        "ridge of setting 2 and NBRLR of setting 3, both at N = 100, p = 50, r = 0.6",
        _SIMULATED,
    ),
    MissReason(
        "NBRLR Tables 6 and 8",
        UNKNOWN,
        "counts four or five away: NBRLR loses 9 of 30 tables to the ridge in RSPE (4 printed), and 8 to "
        "logistic regression in 0-1 loss (13)",
        ("nbrlr-table6", "nbrlr-table8"),
    ),
    MissReason(
        "chapter 2, real tables",
        UNKNOWN,
        "RSPE of 20 balloons, which are separable; naive Bayes on pima, NBRLR on sonar",
        ("dissertation-table2.7", "dissertation-table2.8"),
    ),
    MissReason(
        "ALR Table 4",
        UNPRINTED,
        "the forest: ours is scikit-learn's on 55 data sets; WEKA's splits a category into all its values",
        ("alr-table4",),
    ),
    MissReason(
        "ALR Tables 2 and 3",
        UNKNOWN,
        "counts over 67 of 77 data sets at order 2 and 58 at order 3, scaled to 76, are 8 to 12 away",
        ("alr-table2", "alr-table3"),
    ),
)


def misses_by_reason(table: str, cells: pd.DataFrame) -> list[tuple[MissReason, int]]:
    """Count the cells that do not agree by the first reason that is about them; raise where one has none.

    Parameters
    ----------
    table : str
        The published table.
    cells : DataFrame
        As a comparison has them.
    """
    left = cells[~cells["agrees"].astype(bool)]
    counts = []
    for reason in REASONS_FOR_MISSES:
        if table in reason.tables and len(left):
            about = left.query(reason.cells, engine="python").index
            counts.append((reason, len(about)))
            left = left.drop(index=about)
    if len(left):
        raise InputError(f"no reason is given for {len(left)} cells of {table} that do not agree.")
    return [(reason, count) for reason, count in counts if count]
