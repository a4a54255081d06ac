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
        A script, by its path in this folder, and its arguments.
    short : tuple of str or None
        Arguments of a run that takes minutes; None if the command does.
    needs : tuple of str
        Modules without which it cannot run.
    minutes : float
        What it takes alone on a machine of two cores, about.
    """

    name: str
    command: tuple[str, ...]
    short: tuple[str, ...] | None = None
    needs: tuple[str, ...] = ()
    minutes: float = 1.0


@dataclass(frozen=True)
class LongStudy:
    """A study whose trials are kept in results/NAME and go on where they stopped.

    Attributes
    ----------
    name : str
        Of its folder.
    question : str
    command : tuple of str
        A script, by its path in this folder, and its arguments.
    files : tuple of str
        What the command writes, in its folder.
    """

    name: str
    question: str
    command: tuple[str, ...]
    files: tuple[str, ...]


SECTIONS = (
    *(
        Section(f"alr_{part}", ("speed/alr_speed.py", part), needs=("skbn",))
        for part in ("counting", "passes", "fits", "dependence")
    ),
    Section("alr_search_time", ("speed/alr_search_time.py",), needs=("lightgbm",)),
    Section("cold_start", ("speed/cold_start.py", "--write"), minutes=2),
    Section("evaluation", ("speed/evaluation.py",), minutes=0.5),
    Section("explain", ("speed/explain.py",), minutes=3),
    Section("fsnb", ("speed/fsnb.py",), minutes=0.5),
    Section("hybrid_search", ("speed/hybrid_search.py",), minutes=0.5),
    Section("latency", ("speed/latency.py",)),
    Section("naive_bayes", ("speed/naive_bayes.py",)),
    Section("nbrlr", ("speed/nbrlr.py",), needs=("glum",), minutes=3),
    Section("network", ("speed/network.py",), minutes=3),
    Section("scale", ("speed/scale.py", "20000000"), ("speed/scale.py", "200000"), minutes=8),
    Section(
        "scale_threads",
        ("speed/scale.py", "threads", "4000000"),
        ("speed/scale.py", "threads", "200000"),
        minutes=2,
    ),
    Section("semi_naive_sizes", ("speed/semi_naive_sizes.py",), minutes=20),
    Section("service", ("speed/service.py",)),
    Section("structure", ("speed/structure.py",), needs=("pgmpy", "pyagrum"), minutes=4),
    Section("tan_accuracy", ("accuracy/tan_accuracy.py",), needs=("pyagrum",), minutes=0.5),
    Section("imputation", ("speed/imputation.py", "80"), ("speed/imputation.py", "4"), minutes=0.5),
    Section("naive_bins", ("accuracy/naive_bins.py",)),
)

STUDIES = (
    LongStudy(
        "board",
        "Which classifier is first on 20 real tables on which choices were made?",
        ("accuracy/board.py", "run", "semi-naive"),
        ("semi-naive.csv",),
    ),
    LongStudy(
        "board",
        "And on the other tables?",
        ("accuracy/board.py", "run", "semi-naive", "--others", "--folds", "1"),
        ("others-semi-naive.csv",),
    ),
    LongStudy(
        "few_rows",
        "How often is log loss below that of logistic regression on 50, 100 and 200 rows?",
        ("accuracy/few_rows.py", "run", "semi-naive,nbrlr-cv,higher-order-cv"),
        ("semi-naive.csv", "nbrlr-cv.csv", "higher-order-cv.csv"),
    ),
    LongStudy(
        "noise",
        "What is lost over the class shares where there is nothing to find?",
        ("accuracy/noise.py", "run", "semi-naive", "--rows", "60,200", "--seeds", "9000:9100"),
        ("semi-naive.csv",),
    ),
    LongStudy(
        "honest",
        "Is `cv_log_loss_` the loss on other rows, and does its interval cover it?",
        ("accuracy/honest.py", "run", "semi-naive"),
        ("semi-naive.csv",),
    ),
    LongStudy(
        "wide",
        "How much of one strong column among 500 is found?",
        ("accuracy/wide.py", "run", "semi-naive", "--seeds", "7000:7020"),
        ("semi-naive.csv",),
    ),
    LongStudy(
        "all_tables",
        "How long does a fit to four fifths of a table take?",
        ("accuracy/all_tables.py", "run", "semi-naive"),
        ("semi-naive.csv",),
    ),
)
