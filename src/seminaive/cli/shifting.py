"""The command that compares new rows with those that a saved model was trained on."""

from pathlib import Path
from typing import Annotated

import typer

from seminaive.cli.model_commands import label_named, load_model, rows_of
from seminaive.cli.options import Dates, Decimal, Encoding, MissingValues, Separator, check_at_least
from seminaive.cli.showing import show_frame
from seminaive.cli.table_arguments import look, received, text_format
from seminaive.errors import InputError
from seminaive.files import check_writable

# Columns that are shown only where they say something.
OFTEN_SILENT = ("missing_before", "missing_now", "unseen", "unseen_levels")


def shift(
    file: Annotated[Path, typer.Argument(help="A saved model.")],
    table: Annotated[Path, typer.Argument(help="New rows: a CSV or Parquet file, or - for standard input.")],
    since: Annotated[
        Path | None, typer.Option(help="Rows to compare with; those of training by default.")
    ] = None,
    truth: Annotated[
        str | None, typer.Option(help="The column of the new rows that holds the true classes.")
    ] = None,
    target: Annotated[
        str | None, typer.Option(help="The class whose score is compared; the last one by default.")
    ] = None,
    level: Annotated[float, typer.Option(help="How often rows that did not change raise an alarm.")] = 0.05,
    most: Annotated[int, typer.Option(help="Lines to show.")] = 20,
    page: Annotated[Path | None, typer.Option(help="Write one HTML page with pictures.")] = None,
    sep: Separator = None,
    decimal: Decimal = None,
    dates: Dates = None,
    encoding: Encoding = None,
    na_values: MissingValues = None,
) -> None:
    """Compare new rows with those of training. Says what moved the scores, and what to do next."""
    check_at_least("--most", most, 1)
    if not 0 < level < 1:
        raise InputError(f"--level is above 0 and below 1, got {level}")
    if page is not None:
        check_writable(page)
    written = text_format(sep, decimal, encoding, na_values, dates)
    named = look(received(table), written)
    earlier = None if since is None else look(since, written)
    if truth is not None:
        named.check_column(truth)
    model = load_model(file)
    from seminaive import explain as explaining

    rows, labels = rows_of(model, named, truth)
    found = explaining.shift(
        model,
        rows,
        labels,
        since=None if earlier is None else rows_of(model, earlier, None)[0],
        target=label_named(model, target),
        level=level,
    )
    typer.echo(found.advice)
    typer.echo(f"mean {found.name}: {found.before:+.3f} before, {found.now:+.3f} now")
    frame = found.frame()
    silent = [name for name in OFTEN_SILENT if not frame[name].fillna(0).astype(bool).any()]
    show_frame(frame.drop(columns=silent), most)
    if page is not None:
        explaining.shift_page(found, page)
        typer.echo(f"wrote {page}")
