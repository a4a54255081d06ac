"""Commands that fit a model to a table, predict with it, and score its predictions."""

import sys
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from seminaive.cli import catalogue, options
from seminaive.cli.model_commands import load_model
from seminaive.cli.notes import notes_at_once
from seminaive.cli.showing import show_frame, spinner
from seminaive.cli.table_arguments import (
    NamedTable,
    columns_meant,
    look,
    received,
    refuse_counts_in_pieces,
    repeated,
    text_format,
)
from seminaive.delimited import TextFormat
from seminaive.errors import InputError
from seminaive.files import check_model_name, check_table_name, check_writable
from seminaive.memory import is_large

# Rows that are predicted at once, between two steps of the progress bar.
CHUNK = 100_000
# Columns of which `fit` prints how they were read.
MOST_COLUMNS = 30

TABLE = ".csv, .tsv (also .gz, .bz2, .xz, .zip) or .parquet, a folder of Parquet files, - for standard input"


class FitCommand(TyperCommand):
    """A command whose help lists the models, each with a sentence."""

    def format_epilog(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        """Write the list below the options."""
        with formatter.section("Models"):
            formatter.write_dl(
                [(name, catalogue.sentence_of(name)) for name in catalogue.class_names()], col_max=24
            )


def fit(
    table: Annotated[Path, typer.Argument(help=f"Training table: {TABLE}.")],
    target: Annotated[str, typer.Option(help="The column to predict.")],
    out: Annotated[Path, typer.Option(help="Where to save the model.")],
    model: Annotated[str, typer.Option(help="Which model; the list is below.")] = catalogue.FIRST,
    weight: Annotated[str | None, typer.Option(help="A column of row weights.")] = None,
    counts: options.Counts = None,
    param: Annotated[list[str] | None, typer.Option(help="A parameter, as name=value; repeatable.")] = None,
    drop: Annotated[
        list[str] | None, typer.Option(help="Columns to leave out, an identifier for instance; repeatable.")
    ] = None,
    max_categories: Annotated[
        int | None,
        typer.Option(
            help="Categories kept of each column, the most frequent; the others count as unseen. The table "
            "is then read in pieces."
        ),
    ] = None,
    merge_spellings: Annotated[
        bool, typer.Option("--merge-spellings", help="Read Yes, yes and 'yes ' as one category.")
    ] = False,
    classes: Annotated[
        bool,
        typer.Option(
            "--classes", help="Insist that the target's values are classes, however many or numeric they are."
        ),
    ] = False,
    estimate: Annotated[
        bool,
        typer.Option(
            "--estimate/--no-estimate", help="Estimate the loss by 5-fold cross-validation: 5 more fits."
        ),
    ] = True,
    most: Annotated[int, typer.Option(help="Columns to list, with how they were read.")] = MOST_COLUMNS,
    sep: options.Separator = None,
    decimal: options.Decimal = None,
    dates: options.Dates = None,
    encoding: options.Encoding = None,
    na_values: options.MissingValues = None,
) -> None:
    """Fit a model to a table and save it. Prints how columns were read and how good the model is.

    A folder, or a file too large for memory, is read in pieces.
    """
    if max_categories is not None:
        options.check_at_least("--max-categories", max_categories, 1)
    options.check_at_least("--most", most, 1)
    catalogue.check_model(model)
    given = catalogue.read_parameters(model, param or [])
    if merge_spellings:
        given["merge_spellings"] = True
    check_model_name(out)
    check_writable(out)
    written = text_format(sep, decimal, encoding, na_values, dates)
    table = received(table)
    if is_large(table) or max_categories is not None:
        from seminaive.scale.command_line import open_large

        refuse_counts_in_pieces(counts)
        data = open_large(table, written, target=target, weight=weight)
        data = replace(data, ids=tuple(columns_meant(drop, data.types.names)))
        estimator = catalogue.make_model(model, given)
        _fit_in_pieces(estimator, model, table, data, max_categories, out, classes=classes, most=most)
        return
    named = look(table, written)
    dropped = columns_meant(drop, named.names)
    for name in (target, *dropped, *(name for name in (weight, counts) if name is not None)):
        named.check_column(name)
    estimator = catalogue.make_model(model, given)
    rows = training_rows(named, target, dropped, weight, counts)
    _fit_in_memory(estimator, model, named, rows, out, estimate=estimate, classes=classes, most=most)


def _fit_in_memory(
    estimator: Any,
    model: str,
    named: NamedTable,
    rows: tuple[Any, Any, Any],
    out: Path,
    *,
    estimate: bool,
    classes: bool,
    most: int,
) -> None:
    """Fit a model to features, target and row weights of a table, and save it."""
    from sklearn.base import clone

    from seminaive import saving

    X, y, sample_weight = rows
    with spinner(f"fitting {model} to {len(y):,} rows"), notes_at_once(classes=classes):
        estimator.fit(X, y, sample_weight=sample_weight)
    saving.save_model(estimator, out)
    typer.echo(f"{named.path.name}: {len(y):,} rows, {named.description}. How the columns were read:")
    show_frame(_columns(estimator), most)
    if estimate:
        _print_estimate(clone(estimator), X, y, sample_weight)
    typer.echo(
        f"wrote {out}: {model} of {len(y):,} rows and {len(estimator.schema_.columns)} columns, classes "
        f"{_classes(estimator)}"
    )


def _fit_in_pieces(
    estimator: Any,
    model: str,
    table: Path,
    data: Any,
    max_categories: int | None,
    out: Path,
    *,
    classes: bool,
    most: int,
) -> None:
    """Fit a model to a table that is not read as a whole, and save it."""
    from seminaive import saving
    from seminaive.scale.command_line import fit_large

    with spinner(f"fitting {model} to {table}"), notes_at_once(classes=classes):
        fit_large(estimator, data, max_categories)
    saving.save_model(estimator, out)
    typer.echo(f"{table}: read in pieces. How the columns were read:")
    show_frame(_columns(estimator), most)
    typer.echo(
        f"wrote {out}: {model} of {len(estimator.schema_.columns)} columns, classes {_classes(estimator)}; "
        "without an estimate of its loss, which would need all rows in memory"
    )


def _classes(estimator: Any) -> str:
    """Return the first classes, as they are printed."""
    classes = ", ".join(str(label) for label in estimator.classes_[:10])
    return f"{classes}, ..." if len(estimator.classes_) > 10 else classes


def training_rows(
    named: NamedTable, target: str, dropped: list[str], weight: str | None, counts: str | None
) -> tuple[Any, Any, Any]:
    """Read a table; return its features, the target and the row weights, None where none are named.

    Each row occurs as often as a column of counts says, where one is named.
    """
    X = named.read()
    if counts is not None:
        X = repeated(*named.take(X, counts), counts)
    X, y = named.take(X, target)
    for name in dropped:
        X, _ = named.take(X, name)
    if weight is None:
        return X, y, None
    X, sample_weight = named.take(X, weight)
    return X, y, sample_weight


def _columns(estimator: Any) -> Any:
    """Return the columns report, without columns of it that say nothing here."""
    report = estimator.columns_report_
    idle = [] if report["missing"].any() else ["missing"]
    if "used" in report and report["used"].all():
        idle.append("used")
    return report.drop(columns=idle)


def _print_estimate(estimator: Any, X: Any, y: Any, sample_weight: Any) -> None:
    """Print what cross-validation says of a model, beside what the class shares alone would give."""
    from seminaive.errors import SeminaiveError
    from seminaive.evaluate import estimate_losses
    from seminaive.evaluate.progress import progress_bar

    try:
        with progress_bar(shown=True) as bar, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the fit to all rows has given the same warnings
            folds = bar.add_task("cross-validation", total=min(5, len(y)))
            found = estimate_losses(
                estimator, X, y, sample_weight, after_fold=lambda: bar.update(folds, advance=1)
            )
    except SeminaiveError as error:
        typer.echo(f"no estimate of the loss: {error}")
        return
    typer.echo(
        f"on unseen rows, by {found.n_splits}-fold cross-validation: log loss {found.log_loss:.4f} ± "
        f"{found.log_loss_spread:.4f} (class shares alone: {found.prior_log_loss:.4f}), wrong "
        f"{found.error:.1%} ± {found.error_spread:.1%} (class shares alone: {found.prior_error:.1%})"
    )


def predict(
    file: Annotated[Path, typer.Argument(help="A saved model.")],
    table: Annotated[Path, typer.Argument(help=f"Rows to predict: {TABLE}.")],
    out: Annotated[
        Path | None,
        typer.Option(
            help="Where to write the predictions, a new folder for a folder; else CSV on standard output."
        ),
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(help="Columns of the table to write before the predictions; repeatable."),
    ] = None,
    keep_all: Annotated[
        bool, typer.Option("--all", help="Write all columns of the table before the predictions.")
    ] = False,
    sep: options.Separator = None,
    decimal: options.Decimal = None,
    dates: options.Dates = None,
    encoding: options.Encoding = None,
    na_values: options.MissingValues = None,
) -> None:
    """Predict the class of each row, with probabilities. Columns that training lacked are ignored."""
    written = text_format(sep, decimal, encoding, na_values, dates)
    table = received(table)
    if is_large(table):
        _predict_in_pieces(file, table, out, keep, keep_all=keep_all, written=written)
        return
    if out is not None:
        check_table_name(out)
        check_writable(out)
    named = look(table, written)
    kept = columns_meant(keep, named.names)
    for name in kept:
        named.check_column(name)
    model = load_model(file)

    import numpy as np

    from seminaive import encode

    frame = named.read(text_columns=model.schema_.text_names)
    for name in kept:
        named.check_column(name, list(map(str, frame.columns)))
    X = encode.training_columns(frame, model.schema_.names, noted=False)
    probabilities = np.concatenate([model.predict_proba(rows) for rows in _chunks(X)])
    columns = _prediction_columns(model.classes_, probabilities)
    predictions = _beside(frame, list(frame.columns) if keep_all else kept, columns)
    if out is None:
        predictions.to_csv(sys.stdout, index=False)
    else:
        encode.write_table(predictions, out)
        shown = ", ".join(map(str, predictions.columns[:8]))
        more = ", ..." if predictions.shape[1] > 8 else ""
        typer.echo(f"wrote {out}: {len(predictions):,} rows with the columns {shown}{more}")


def _predict_in_pieces(
    file: Path, table: Path, out: Path | None, keep: list[str] | None, *, keep_all: bool, written: TextFormat
) -> None:
    """Predict the rows of a folder, or of a file too large for memory, into a folder of Parquet files."""
    from seminaive.scale import LocalRunner, predict_proba
    from seminaive.scale.command_line import check_predictions_folder, open_large

    folder = check_predictions_folder(table, out)
    model = load_model(file)
    data = open_large(table, written, text_columns=model.schema_.text_names)
    names = data.types.names
    data = replace(data, ids=tuple(names if keep_all else columns_meant(keep, names)))
    with spinner(f"predicting {table}"):
        predict_proba(model, data, out=folder, runner=LocalRunner(-1))
    typer.echo(f"wrote {folder}: {len(data.partitions):,} Parquet files, rows in the order of the table")


def _prediction_columns(classes: Any, probabilities: Any) -> dict[str, Any]:
    """Return the likeliest class of each row, and the probability of each class, as named columns."""
    columns = {"prediction": classes[probabilities.argmax(axis=1)]}
    for label, column in zip(classes, probabilities.T, strict=True):
        columns[f"probability_{label}"] = column
    return columns


def _beside(frame: Any, kept: list[str], columns: dict[str, Any]) -> Any:
    """Put columns of the table before those that were predicted."""
    from seminaive import encode

    clash = [name for name in kept if name in columns]
    if clash:
        raise InputError(
            f"the table has a column {clash[0]!r}, and so have the predictions: rename it, or name the "
            "others with --keep"
        )
    return encode.frame_like(None, {**{name: frame[name].array for name in kept}, **columns})


def score(
    file: Annotated[
        Path,
        typer.Argument(help="A saved model, or what predict wrote with --keep or --all: a file or a folder."),
    ],
    table: Annotated[
        Path | None, typer.Argument(help="Rows with labels to judge a saved model on; - is standard input.")
    ] = None,
    *,
    truth: Annotated[str, typer.Option(help="The column that holds the true classes.")],
    sep: options.Separator = None,
    decimal: options.Decimal = None,
    dates: options.Dates = None,
    encoding: options.Encoding = None,
    na_values: options.MissingValues = None,
) -> None:
    """Measure predictions against the truth. Prints log loss, Brier score, accuracy, AUC, F1 and calibration.

    `score MODEL TABLE` predicts the rows of a table first, `score PREDICTIONS` reads what was predicted.
    """
    written = text_format(sep, decimal, encoding, na_values, dates)
    judged = received(file if table is None else table)
    if judged.is_dir():
        from seminaive.scale.command_line import read_predictions

        if table is not None:
            raise InputError(f"{str(judged)!r} is a folder: predict it first, then score what was written")
        frame = read_predictions(judged, truth)
    else:
        named = look(judged, written)
        named.check_column(truth)
        frame = (
            named.read(text_columns=(truth, "prediction"))
            if table is None
            else _predicted(file, named, truth)
        )

    from seminaive.evaluate.written_predictions import measure, predictions_of_frame

    predictions = predictions_of_frame(frame, truth)
    left_out = len(frame) - len(predictions.truth)
    without = f"; {left_out:,} without {truth!r} left out" if left_out else ""
    typer.echo(f"{judged.name}: {len(predictions.truth):,} rows{without}")
    show_frame(measure(predictions), 20)


def _predicted(file: Path, named: NamedTable, truth: str) -> Any:
    """Return the true classes of the rows of a table beside what a saved model says of them."""
    import numpy as np

    from seminaive import encode

    model = load_model(file)
    frame = named.read(text_columns=(*model.schema_.text_names, truth))
    named.check_column(truth, list(map(str, frame.columns)))
    X = encode.training_columns(frame, model.schema_.names, noted=False)
    probabilities = np.concatenate([model.predict_proba(rows) for rows in _chunks(X)])
    return _beside(frame, [truth], _prediction_columns(model.classes_, probabilities))


def _chunks(X: Any) -> Iterator[Any]:
    """Yield the rows of a frame in chunks, with a progress bar where there are several."""
    from rich.console import Console
    from rich.progress import track

    starts = range(0, max(len(X), 1), CHUNK)
    hidden = len(starts) == 1
    for start in track(starts, "predicting", console=Console(stderr=True), disable=hidden, transient=True):
        yield X[start : start + CHUNK]
