"""What `make bench` measures: the sections of results.md, and the studies that take hours."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Section:
    """One part of results.md.

    Attributes
    ----------
    name : str
        Of its file in benchmarks/results, without the ending.
    command : tuple of str
        A script of this folder and its arguments.
    short : tuple of str or None
        Arguments of a run that takes minutes; None if the command does.
    needs : tuple of str
        Programs or modules without which it cannot run.
    """

    name: str
    command: tuple[str, ...]
    short: tuple[str, ...] | None = None
    needs: tuple[str, ...] = ()


@dataclass(frozen=True)
class LongStudy:
    """A study whose trials are kept in results/NAME and go on where they stopped.

    Attributes
    ----------
    name : str
        Of its folder.
    question : str
    command : tuple of str
        A script of this folder and its arguments.
    files : tuple of str
        What the command writes, in its folder.
    """

    name: str
    question: str
    command: tuple[str, ...]
    files: tuple[str, ...]


SECTIONS = (
    *(
        Section(f"alr_{part}", ("alr_speed.py", part), needs=("skbn",))
        for part in ("counting", "passes", "fits", "dependence")
    ),
    Section("alr_search_time", ("alr_search_time.py",), needs=("lightgbm",)),
    Section("evaluation", ("evaluation.py",)),
    Section("explain", ("explain.py",)),
    Section("fsnb", ("fsnb.py",)),
    Section("hybrid_search", ("hybrid_search.py",)),
    Section("kernel_factor", ("kernel_factor.py",)),
    Section("latency", ("latency.py",)),
    Section("naive_bayes", ("naive_bayes.py",)),
    Section("nbrlr", ("nbrlr.py",), needs=("glum",)),
    Section("network", ("network.py",)),
    Section("scale", ("scale.py", "20000000"), ("scale.py", "200000")),
    Section("scale_threads", ("scale.py", "threads", "4000000"), ("scale.py", "threads", "200000")),
    Section("service", ("service.py",)),
    Section("structure", ("structure.py",)),
    Section("imputation", ("imputation.py", "80"), ("imputation.py", "4")),
    Section("naive_bins", ("naive_bins.py",)),
)

STUDIES = (
    LongStudy(
        "board",
        "Which classifier is first on 20 real tables on which choices were made?",
        ("board.py", "run", "semi-naive"),
        ("semi-naive.csv",),
    ),
    LongStudy(
        "board",
        "And on the other tables?",
        ("board.py", "run", "semi-naive", "--others", "--folds", "1"),
        ("others-semi-naive.csv",),
    ),
    LongStudy(
        "few_rows",
        "How often is log loss below that of logistic regression on 50, 100 and 200 rows?",
        ("few_rows.py", "run", "semi-naive,nbrlr-cv,higher-order-cv"),
        ("semi-naive.csv", "nbrlr-cv.csv", "higher-order-cv.csv"),
    ),
    LongStudy(
        "noise",
        "What is lost over the class shares where there is nothing to find?",
        ("noise.py", "run", "semi-naive", "--seeds", "9000:9100"),
        ("semi-naive.csv",),
    ),
    LongStudy(
        "honest",
        "Is `cv_log_loss_` the loss on other rows, and does its interval cover it?",
        ("honest.py", "run", "semi-naive"),
        ("semi-naive.csv",),
    ),
    LongStudy(
        "wide",
        "How much of one strong column among 500 is found?",
        ("wide.py", "run", "semi-naive", "--seeds", "0:20"),
        ("semi-naive.csv",),
    ),
    LongStudy(
        "all_tables",
        "How long does a fit to four fifths of a table take?",
        ("all_tables.py", "run", "semi-naive"),
        ("semi-naive.csv",),
    ),
)
