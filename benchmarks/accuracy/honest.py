"""Is the loss that a model says to expect the loss on other rows? One line per sample, resumable.

    python benchmarks/accuracy/honest.py run semi-naive,nbrlr-cv [--minutes 30] [--limit 60] [--results DIR]
    python benchmarks/accuracy/honest.py report [semi-naive,nbrlr-cv] [--results DIR]

Ten stratified samples of each of 40 tables, five of 100 and five of 300 rows, drawn as by few_rows.py with
other numbers; at least 1,000 and at most 5,000 of the remaining rows judge. The tables are those of at least
1,300 rows, fewest features times classes first, without tables that hold rows of another one and without the
two of which no sample of 100 rows has five rows of two classes.

`run` appends to DIR/NAME.csv (results/honest by default) and goes on where it stopped. `report` compares
`cv_log_loss_` with the log loss on the remaining rows: the mean difference (positive if the model expects too
much), the share of samples whose `cv_log_loss_interval_` covers it, and the mean absolute difference by
table.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parent.parent))
from accuracy.few_rows import split
from board_tables import DATA, REPEATED
from contenders import MODELS
from study import Study, read_results
from study_commands import commands, perform

RESULTS = Path(__file__).parent.parent / "results" / "honest"
N_TABLES = 40
SIZES = (100, 300)
SAMPLES_OF_A_SIZE = 5
FIRST_SAMPLE = 100
FEWEST_ROWS_LEFT = 1000
FEW_LARGE_CLASSES = {"letter", "mammography-microcalcification"}


def measure(judged):
    low, high = getattr(judged.model, "cv_log_loss_interval_", (np.nan, np.nan))
    return {
        "n_test": len(judged.y_test),
        "log_loss": judged.log_loss(),
        "shares_log_loss": judged.shares_log_loss(),
        "expected": judged.model.cv_log_loss_,
        "low": low,
        "high": high,
    }


HONEST = Study(
    ("table", "size", "sample"),
    split,
    measure,
    ("n_test", "log_loss", "shares_log_loss", "expected", "low", "high"),
)


def plan():
    """Return table, size and sample of each trial, one sample of all tables after the other."""
    manifest = pd.read_csv(DATA / "MANIFEST.tsv", sep="\t")
    large = manifest[manifest.rows >= max(SIZES) + FEWEST_ROWS_LEFT]
    large = large[~large.name.isin(REPEATED | FEW_LARGE_CLASSES)]
    cells = (large.features * large.classes).to_numpy()
    tables = large.name.iloc[np.argsort(cells, kind="stable")[:N_TABLES]]
    samples = range(FIRST_SAMPLE, FIRST_SAMPLE + SAMPLES_OF_A_SIZE)
    return [(table, size, sample) for sample in samples for size in SIZES for table in tables]


def report(models, results):
    """Print how far the expected loss is from the loss on other rows."""
    for model in models or sorted(path.stem for path in results.glob("*.csv")):
        rows = read_results(results / f"{model}.csv")
        found = with_differences(rows[rows.status == "ok"])
        failed = len(rows) - len(found)
        print(f"\n{model}: {len(found)} samples of {found.table.nunique()} tables, {failed} failed")
        parts = {str(size): part for size, part in found.groupby("size")} | {"all": found}
        lines = {size: line(part) for size, part in parts.items()}
        print(pd.DataFrame.from_dict(lines, "index").rename_axis("rows").to_string(float_format="%.4f"))
        print(by_table(found).to_string(float_format="%.4f"))


def with_differences(found):
    """Return samples with the difference of expected and found loss, and whether the interval covers it."""
    covered = found.log_loss.between(found.low, found.high).astype(float).where(found.low.notna())
    return found.assign(difference=found.expected - found.log_loss, covered=covered)


def line(found):
    """Return means over samples; the bars are .005 for the difference and 90 to 99 % for the coverage."""
    mean, coverage = found.difference.mean(), found.covered.mean()
    return {
        "log_loss": found.log_loss.mean(),
        "expected": found.expected.mean(),
        "difference": mean,
        "standard error": found.groupby("table").difference.mean().sem(),
        "within .005": abs(mean) <= 0.005,
        "coverage": coverage,
        "in 90-99 %": 0.90 <= coverage <= 0.99,
        "absolute": found.difference.abs().mean(),
        "width": (found.high - found.low).mean(),
    }


def by_table(found):
    """Return a row per table, the largest mean absolute difference first."""
    grouped = found.assign(absolute=found.difference.abs()).groupby("table")
    columns = ["log_loss", "expected", "difference", "absolute", "covered"]
    return grouped[columns].mean().sort_values("absolute", ascending=False)


if __name__ == "__main__":
    parser, _, _ = commands(__doc__, RESULTS)
    perform(parser, HONEST, MODELS, lambda _: plan(), lambda given: report(given.models, given.results))
