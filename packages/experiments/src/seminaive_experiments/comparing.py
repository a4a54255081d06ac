"""Commands that judge models: the demo, and comparisons on tables."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from seminaive.cli.options import (
    Dates,
    Decimal,
    Encoding,
    MissingValues,
    Separator,
    check_at_least,
    check_jobs_and_seed,
)
from seminaive.cli.showing import show
from seminaive.cli.table_arguments import (
    NamedTable,
    columns_meant,
    look,
    received,
    text_format,
)
from seminaive.delimited import TextFormat
from seminaive.errors import InputError
from seminaive.files import CSV, PARQUET, check_writable, is_named
from seminaive_experiments import contenders


def demo() -> None:
    """Compare models with scikit-learn's in two short scenes. Writes a page and a calculator."""
    from seminaive_experiments.demo import few_rows, many_rows, run_demo

    run_demo([few_rows(), many_rows()])


def compare(
    tables: Annotated[
        list[str],
        typer.Argument(help="Files (- is standard input), bundled names such as iris, or openml:NAME."),
    ],
    target: Annotated[str | None, typer.Option(help="The column to predict; needed for files.")] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(
            "--models",
            "-m",
            help="A model, or several with commas; repeatable. By default eight: three of ours, four of "
            "scikit-learn's, the class shares; and EBM, CatBoost and LightGBM where they are installed.",
        ),
    ] = None,
    drop: Annotated[
        list[str] | None, typer.Option(help="Columns to leave out, an identifier for instance; repeatable.")
    ] = None,
    weight: Annotated[str | None, typer.Option(help="A column of row weights, for fits and losses.")] = None,
    param: Annotated[
        list[str] | None, typer.Option(help="A parameter of a model, as MODEL.name=value; repeatable.")
    ] = None,
    time_limit: Annotated[
        float, typer.Option(help="Seconds per table after which no further fold begins; 0 is no limit.")
    ] = 300.0,
    folds: Annotated[int, typer.Option(help="Folds of cross-validation.")] = 5,
    repeats: Annotated[int, typer.Option(help="Repetitions; two or more give bias and variance.")] = 2,
    learning_curve: Annotated[
        bool, typer.Option("--learning-curve", help="Train on growing numbers of rows instead of folds.")
    ] = False,
    metric: Annotated[
        str, typer.Option("--metrics", help="Losses and scores, with commas; the first one leads.")
    ] = "log_loss,brier,accuracy,auc,f1",
    report: Annotated[Path | None, typer.Option(help="Write the results as one HTML page.")] = None,
    csv: Annotated[Path | None, typer.Option(help="Write every fold as a row of a CSV file.")] = None,
    results: Annotated[
        Path | None, typer.Option(help="Keep finished folds in this file, and continue from it.")
    ] = None,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Run folds of the results file again that failed.")
    ] = False,
    jobs: Annotated[int, typer.Option(help="Processes; -1 uses every core.")] = 1,
    seed: Annotated[int, typer.Option(help="Same number, same results.")] = 0,
    sep: Separator = None,
    decimal: Decimal = None,
    dates: Dates = None,
    encoding: Encoding = None,
    na_values: MissingValues = None,
) -> None:
    """Compare models on tables by cross-validation. All models see the same splits."""
    check_jobs_and_seed(jobs, seed)
    check_at_least("--folds", folds, 2)
    check_at_least("--repeats", repeats, 1)
    if not time_limit >= 0:
        raise InputError(f"--time-limit is 0 or more seconds, got {time_limit}")
    names = [name for part in model or [] for name in part.split(",")]
    known = text_format(sep, decimal, encoding, na_values, dates)
    outputs = [path for path in (report, csv) if path]
    tables = [str(received(Path(table))) for table in tables]
    chosen = _Columns(target, drop, weight)
    _check_comparison(names, metric.split(","), outputs, tables, chosen, known)
    names = names or contenders.compared_models()
    given = contenders.read_parameters_of(names, param or [])

    from seminaive_experiments import Experiment, Prequential, RepeatedKFold, Report

    plan = Prequential(n_repeats=repeats) if learning_curve else RepeatedKFold(folds, repeats)
    experiment = Experiment(
        {name: contenders.make_model(name, given.get(name)) for name in names},
        _load_tables(tables, chosen, known),
        plan,
        metric.split(","),
        seed,
        n_jobs=jobs,
    )
    if not model:
        limit = f", at most {time_limit:g} s per table (--time-limit)" if time_limit > 0 else ""
        typer.echo(f"comparing {', '.join(names)}{limit}; --models names others", err=True)
    found = experiment.run(results, retry_failed=retry_failed, time_limit=time_limit or None)
    shown = Report(found, f"{', '.join(found.folds['dataset'].unique())}: comparison of classifiers")
    written = [(path, write) for path, write in ((report, shown.write_html), (csv, shown.write_csv)) if path]
    for path, write in written:
        write(path)
    show(shown.terminal())
    for line in _cut_short(found.folds, len(names), folds * repeats if not learning_curve else None):
        typer.echo(line)
    for path, _ in written:
        typer.echo(f"wrote {path}")


@dataclass(frozen=True)
class _Columns:
    """Which columns of the files that are compared are no features."""

    target: str | None
    drop: list[str] | None
    weight: str | None

    def check(self, named: NamedTable) -> None:
        """Refuse columns that a file does not have."""
        if self.target is None:
            raise InputError(
                f"{named.path.name}: say which column holds the class by --target.{named.names_sentence}"
            )
        weight = [] if self.weight is None else [self.weight]
        for name in (self.target, *columns_meant(self.drop, named.names), *weight):
            named.check_column(name)

    def taken_from(self, dataset: Any) -> Any:
        """Return a table without the columns that are left out, and with its row weights."""
        X = dataset.X
        dropped = columns_meant(self.drop, list(X.columns))
        weight = [] if self.weight is None else [self.weight]
        for name in (*dropped, *weight):
            if name not in X:
                raise InputError(f"{dataset.name} has no column {name!r}: it has {', '.join(X.columns)}")
        given = None if self.weight is None else X[self.weight].to_numpy()
        return replace(dataset, X=X.drop(columns=[*dropped, *weight]), weight=given)


def _load_tables(tables: list[str], chosen: _Columns, known: TextFormat) -> list[Any]:
    """Load tables by name; options about columns are for the files among them, or else for all."""
    from seminaive_experiments.datasets import load_dataset, takes_target
    from seminaive_experiments.papers.generators import register_generators

    register_generators()
    of_files = any(takes_target(table) for table in tables)
    loaded = []
    for table in tables:
        concerned = takes_target(table) or not of_files
        dataset = load_dataset(table, target=chosen.target if concerned else None, text_format=known)
        loaded.append(chosen.taken_from(dataset) if concerned else dataset)
    return loaded


def _cut_short(folds: Any, n_models: int, planned: int | None) -> Iterator[str]:
    """Say of each table which the time limit cut short what was run of it."""
    for name, of_table in folds.groupby("dataset", sort=False):
        n_splits = len(of_table[["repetition", "fold"]].drop_duplicates())
        entered = of_table["model"].nunique()
        if entered < n_models:
            yield f"{name}: time for {entered} of {n_models} models only: raise --time-limit, or name fewer"
        elif planned is not None and n_splits < planned:
            yield f"{name}: time for {n_splits} of {planned} splits; --time-limit 0 runs them all"


def _check_comparison(
    names: list[str],
    measures: list[str],
    outputs: list[Path],
    tables: list[str],
    chosen: _Columns,
    known: TextFormat,
) -> None:
    """Refuse unknown models and measures, files that cannot be written, and targets that are not there."""
    for name in names:
        contenders.check_model(name)
    for name in measures:
        contenders.check_measure(name)
    for path in outputs:
        check_writable(path)
    for table in tables:
        if is_named(Path(table), CSV + PARQUET):
            chosen.check(look(Path(table), known))
