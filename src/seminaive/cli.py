"""The command line: parse, call, print. A refusal is one sentence and exit code 1, an interrupt 130."""

from __future__ import annotations

import json
import signal
import sys
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

import seminaive
from seminaive import encode, models
from seminaive.__main__ import INTERRUPTED
from seminaive.errors import InputError, SeminaiveError

if TYPE_CHECKING:
    from collections.abc import Iterator

# Rows that are predicted at once, between two steps of the progress bar.
CHUNK = 100_000

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Classifiers between naive Bayes and logistic regression, for ordinary tables.",
)


def main() -> None:
    """Run the command line; turn what the package refuses, and an interrupt, into a sentence."""
    try:
        with _interrupts_end_everything():
            app()
    except (SeminaiveError, OSError, UnicodeEncodeError) as error:
        sys.stderr.write(f"seminaive: {' '.join(str(error).split())}\n")
        sys.exit(1)
    except Interrupted:
        sys.stderr.write(INTERRUPTED)
        sys.exit(130)


class Interrupted(BaseException):
    """Ctrl-C, under a name that no library takes for its own to handle."""


@contextmanager
def _interrupts_end_everything() -> Iterator[None]:
    """Let SIGINT raise `Interrupted`, on which files that were begun are removed on the way out."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: object) -> None:
        raise Interrupted

    before = signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _show_version(value: bool) -> None:
    if value:
        typer.echo(f"seminaive {seminaive.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


@app.command()
def demo() -> None:
    """Compare our models with scikit-learn's on a small and on a larger table, in under a minute."""
    from seminaive.demo import few_rows, many_rows, run_demo

    run_demo([few_rows(), many_rows()])


@app.command()
def fit(
    table: Annotated[
        Path, typer.Argument(help="Training table: .csv, .csv.gz or .parquet, or a folder of Parquet files.")
    ],
    target: Annotated[str, typer.Option(help="The column to predict.")],
    out: Annotated[Path, typer.Option(help="Where to save the model.")],
    model: Annotated[str, typer.Option(help="Which model, such as semi-naive.")] = "semi-naive",
    weight: Annotated[str | None, typer.Option(help="A column of row weights.")] = None,
    param: Annotated[list[str] | None, typer.Option(help="A parameter, as name=value; repeatable.")] = None,
) -> None:
    """Fit a model to a table and save it; a folder, or a file too large for memory, is read in pieces."""
    from seminaive.scale.command_line import fit_large, is_large

    estimator = _make_model(model, param or [])
    encode.check_writable(out)
    if is_large(table):
        with _spinner(f"fitting {model} to {table}"):
            fit_large(estimator, table, target, weight)
        models.save_model(estimator, out)
        typer.echo(f"{out}: {model} of {len(estimator.schema_.columns)} columns, read in pieces")
        return
    X, y = encode.take_column(encode.read_table(table), target)
    sample_weight = None
    if weight is not None:
        X, sample_weight = encode.take_column(X, weight)
    with _spinner(f"fitting {model} to {len(y):,} rows"):
        estimator.fit(X, y, sample_weight=sample_weight)
    models.save_model(estimator, out)
    classes = ", ".join(str(label) for label in estimator.classes_[:10])
    typer.echo(f"{out}: {model} of {len(y):,} rows and {len(estimator.schema_.columns)} columns")
    typer.echo(f"classes: {classes}{', ...' if len(estimator.classes_) > 10 else ''}")


@app.command()
def predict(
    file: Annotated[Path, typer.Argument(help="A saved model.")],
    table: Annotated[
        Path, typer.Argument(help="Rows to predict: .csv, .csv.gz or .parquet, or a folder of Parquet files.")
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            help="Where to write the predictions, a new folder for a folder; else CSV on standard output."
        ),
    ] = None,
) -> None:
    """Predict the class of each row, with its probabilities; columns that training lacked are ignored."""
    from seminaive.scale.command_line import is_large, predict_large

    if is_large(table):
        typer.echo(f"wrote {predict_large(models.load_model(file), table, out)}")
        return
    if out is not None:
        encode.check_table_name(out)
        encode.check_writable(out)
    model = models.load_model(file)
    rows = encode.read_table(table, text_columns=model.schema_.text_names)
    X = encode.take_columns(rows, model.schema_.names)
    probabilities = np.concatenate([model.predict_proba(rows) for rows in _chunks(X)])
    columns: dict[str, Any] = {"prediction": model.classes_[probabilities.argmax(axis=1)]}
    for label, column in zip(model.classes_, probabilities.T, strict=True):
        columns[f"probability_{label}"] = column
    frame = encode.frame_like(None, columns)
    if out is None:
        frame.to_csv(sys.stdout, index=False)
    else:
        encode.write_table(frame, out)


@app.command()
def explain(
    file: Annotated[Path, typer.Argument(help="A saved model.")],
    target: Annotated[
        str | None, typer.Option(help="The class that effects speak for; the last one by default.")
    ] = None,
    feature: Annotated[str | None, typer.Option(help="Show every effect of this column, or pair.")] = None,
    most: Annotated[int, typer.Option(help="Lines to show.")] = 20,
    csv: Annotated[Path | None, typer.Option(help="Write all effects as a CSV file.")] = None,
) -> None:
    """Show what a saved model says: which features and pairs matter, and what their values add."""
    from seminaive import explain as explaining

    if csv is not None:
        encode.check_writable(csv)
    model = models.load_model(file)
    label = _label(model, target)
    every = explaining.effects_table(model)
    if feature is None:
        frame = explaining.summary(model, label)
        typer.echo(f"{type(model).__name__}; classes: {', '.join(map(str, model.classes_))}")
        about = "log odds" if len(model.classes_) == 2 else "score"
        typer.echo(
            f"importance: standard deviation over the training rows; low, high: {about} of "
            f"{model.classes_[-1] if label is None else label}"
        )
    else:
        frame = every[every["term"] == feature].drop(columns="term")
        if not len(frame):
            raise InputError(
                f"the model has no effect {feature!r}: it has {', '.join(every['term'].unique())}"
            )
        if not (frame[["linear", "quadratic"]] != 0).any(axis=None):
            frame = frame.drop(columns=["at", "linear", "quadratic"])
    _show_frame(frame, most)
    if csv is not None:
        with encode.whole_file(csv) as part:
            encode.without_formulas(every).to_csv(part, index=False)
        typer.echo(f"wrote {csv}")


@app.command()
def export(
    file: Annotated[Path, typer.Argument(help="A saved model.")],
    to: Annotated[str, typer.Option(help="html, onnx, sql, python, javascript or json.")],
    out: Annotated[Path, typer.Option(help="The file to write.")],
    dialect: Annotated[str, typer.Option(help="Of SQL: duckdb, sqlite or postgresql.")] = "duckdb",
    table: Annotated[str, typer.Option(help="The table that SQL reads.")] = "rows",
    title: Annotated[str | None, typer.Option(help="The heading of the HTML page.")] = None,
    note: Annotated[str | None, typer.Option(help="A sentence below it.")] = None,
) -> None:
    """Write a saved model as a page, a program, a query or a document that gives the same probabilities."""
    from seminaive import explain as explaining

    texts = {
        "sql": lambda model: explaining.to_sql(model, table, dialect),
        "python": explaining.to_python,
        "javascript": explaining.to_javascript,
        "json": explaining.to_json,
    }
    if to not in {"html", "onnx", *texts}:
        raise InputError(f"--to is html, onnx, {', '.join(texts)}; got {to!r}")
    encode.check_writable(out)
    model = models.load_model(file)
    if to == "html":
        explaining.calculator(model, out, title=title, note=note)
    else:
        content = explaining.to_onnx(model).SerializeToString() if to == "onnx" else texts[to](model).encode()
        with encode.whole_file(out) as part:
            part.write_bytes(content)
    typer.echo(f"wrote {out}: {out.stat().st_size:,} bytes")


def _label(model: Any, text: str | None) -> Any:
    """Return the class that a text on the command line means."""
    if text is None:
        return None
    found = [label for label in model.classes_.tolist() if str(label) == text]
    if not found:
        raise InputError(f"there is no class {text!r}: the model has {', '.join(map(str, model.classes_))}")
    return found[0]


def _show_frame(frame: Any, most: int) -> None:
    """Print the first lines of a frame as a table, numbers with three digits after the point."""
    from rich import print as show
    from rich.table import Table
    from rich.text import Text

    shown = Table()
    for name, kind in frame.dtypes.items():
        shown.add_column(str(name), justify="right" if kind.kind in "if" else "left")
    for line in frame.head(most).itertuples(index=False):
        cells = [
            "" if cell != cell else f"{cell:.3f}" if isinstance(cell, float) else str(cell) for cell in line
        ]
        shown.add_row(*(Text(cell) for cell in cells))
    show(shown)
    if len(frame) > most:
        typer.echo(f"{len(frame) - most} more lines: --most {len(frame)}")


@app.command()
def compare(
    tables: Annotated[list[str], typer.Argument(help="Files, bundled names such as iris, or openml:NAME.")],
    target: Annotated[str | None, typer.Option(help="The column to predict; needed for files.")] = None,
    model: Annotated[
        list[str] | None,
        typer.Option("--models", "-m", help="A model, or several with commas; repeatable. Ours by default."),
    ] = None,
    folds: Annotated[int, typer.Option(help="Folds of cross-validation.")] = 5,
    repeats: Annotated[int, typer.Option(help="Repetitions; two or more give bias and variance.")] = 2,
    learning_curve: Annotated[
        bool, typer.Option("--learning-curve", help="Train on growing numbers of rows instead of folds.")
    ] = False,
    metric: Annotated[
        str, typer.Option("--metrics", help="Losses, with commas; the first one leads.")
    ] = "zero_one,rspe,log_loss",
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
) -> None:
    """Judge models on tables by repeated cross-validation, on the same splits for all."""
    from rich import print as show

    from seminaive import evaluate
    from seminaive.evaluate.datasets import takes_target
    from seminaive.papers.generators import register_generators

    for path in (report, csv):
        if path is not None:
            encode.check_writable(path)
    register_generators()
    # A target is for the files among the tables; where there is none, it is refused.
    of_files = any(takes_target(table) for table in tables)
    names = [name for part in model or [] for name in part.split(",")] or [*_model_classes(), "class-shares"]
    plan = (
        evaluate.Prequential(n_repeats=repeats) if learning_curve else evaluate.RepeatedKFold(folds, repeats)
    )
    experiment = evaluate.Experiment(
        {name: _any_model(name) for name in names},
        [
            evaluate.load_dataset(table, target=target if takes_target(table) or not of_files else None)
            for table in tables
        ],
        plan,
        metric.split(","),
        seed,
        n_jobs=jobs,
    )
    found = experiment.run(results, retry_failed=retry_failed)
    shown = evaluate.Report(found, f"{', '.join(tables)}: comparison of classifiers")
    written = [(path, write) for path, write in ((report, shown.write_html), (csv, shown.write_csv)) if path]
    for path, write in written:
        write(path)
    show(shown.terminal())
    for path, _ in written:
        typer.echo(f"wrote {path}")


@app.command()
def reproduce(
    name: Annotated[str | None, typer.Argument(help="A published table, such as nbrlr-table1.")] = None,
    list_tables: Annotated[
        bool, typer.Option("--list", help="List every published table, with what it needs.")
    ] = False,
    quick: Annotated[bool, typer.Option("--quick", help="A few repetitions, for a first look.")] = False,
    repetitions: Annotated[
        int | None, typer.Option(help="Repetitions of the paper's protocol; the paper's number by default.")
    ] = None,
    max_rows: Annotated[int | None, typer.Option(help="Leave out data sets of more rows.")] = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Use what an earlier run finished, of this table or of one that rests on the same work.",
        ),
    ] = False,
    misses: Annotated[
        str | None,
        typer.Option(
            help="Run nothing: judge the results in --out by a bar, such as nbrlr, and list what misses it."
        ),
    ] = None,
    out: Annotated[
        Path, typer.Option(help="Folder for the file of finished work and for the result (NAME.csv).")
    ] = Path("reproductions"),
    jobs: Annotated[int, typer.Option(help="Processes; -1 uses every core.")] = 1,
    seed: Annotated[int, typer.Option(help="Same number, same results.")] = 0,
) -> None:
    """Run a table of a paper again and compare it cell by cell; damaged cells are left out."""
    from rich import print as show

    from seminaive.papers import acceptance, reproduction
    from seminaive.papers import show as views

    if misses is not None:
        if name is not None:
            raise InputError(f"--misses reads results and runs nothing: leave {name} out")
        judged = acceptance.gather(acceptance.bar_named(misses), out)
        views.keep_misses(judged, out / f"{misses}-misses.csv", f"seminaive reproduce --misses {misses}")
        typer.echo(f"{judged}\nwrote {out / f'{misses}-misses.csv'}")
        return
    if list_tables or name is None:
        show(views.catalogue_table())
        return
    table = reproduction.runnable(name)
    planned = table.quick_repetitions if quick else table.repetitions
    options = reproduction.RunOptions(
        repetitions=planned if repetitions is None else repetitions,
        path=out / table.run_file,
        n_jobs=jobs,
        random_state=seed,
        quick=quick,
        max_rows=max_rows,
    )
    reproduction.check_run(table, options)
    if not resume:
        # The last thing before the run: whatever is refused leaves the old run's file alone.
        (out / table.run_file).unlink(missing_ok=True)
    comparison = reproduction.reproduce(name, options)
    limits = " --quick" * quick + ("" if max_rows is None else f" --max-rows {max_rows}")
    command = f"seminaive reproduce {name}{limits} --repetitions {options.repetitions} --seed {seed}"
    written = views.keep_comparison(comparison, out / f"{name}.csv", command)
    show(views.comparison_table(table, comparison))
    for remark in (*table.remarks, *comparison.notes):
        typer.echo(remark)
    typer.echo(f"wrote {', '.join(map(str, written))}")
    if others := reproduction.companions(table):
        typer.echo(f"--resume uses this run for {', '.join(others)} too")


def _any_model(name: str) -> Any:
    """Make one of our models, or one of scikit-learn's, by name."""
    from seminaive.evaluate.rivals import RIVALS

    if name in RIVALS:
        return RIVALS[name]()
    if name not in _model_classes():
        known = ", ".join([*_model_classes(), *RIVALS])
        raise InputError(f"there is no model {name!r}: choose among {known}")
    return _make_model(name, [])


def _model_classes() -> dict[str, type]:
    """Return every classifier of the package under its name on the command line."""
    classes = {}
    for name in models.__all__:
        member = getattr(models, name)
        if isinstance(member, type) and hasattr(member, "predict"):
            hyphenated = "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in name)
            classes[hyphenated.removeprefix("-").replace("c-v", "cv")] = member
    return classes


def _make_model(name: str, parameters: list[str]) -> Any:
    classes = _model_classes()
    if name not in classes:
        raise InputError(f"there is no model {name!r}: choose one of {', '.join(classes)}")
    given = {}
    for parameter in parameters:
        key, equals, value = parameter.partition("=")
        if not equals:
            raise InputError(f"a parameter is given as name=value, got {parameter!r}")
        try:
            given[key] = json.loads(value)
        except ValueError:  # no JSON, or a number of more digits than Python reads
            given[key] = value
    known = list(classes[name]().get_params())
    foreign = [key for key in given if key not in known]
    if foreign:
        raise InputError(f"{name} has no parameter {foreign[0]!r}: it has {', '.join(known)}")
    return classes[name](**given)


def _chunks(X: Any) -> Any:
    """Yield the rows of a frame in chunks, with a progress bar where there are several."""
    from rich.console import Console
    from rich.progress import track

    starts = range(0, max(len(X), 1), CHUNK)
    hidden = len(starts) == 1
    for start in track(starts, "predicting", console=Console(stderr=True), disable=hidden, transient=True):
        yield X[start : start + CHUNK]


def _spinner(text: str) -> Any:
    from rich.console import Console

    return Console(stderr=True).status(text)
