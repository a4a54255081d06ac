"""The command that replays a fit on samples of its rows and says what the model is worth on new ones."""

from pathlib import Path
from typing import Annotated

import typer

from seminaive.cli import catalogue
from seminaive.cli.fit_commands import training_rows
from seminaive.cli.notes import notes_at_once
from seminaive.cli.options import (
    Counts,
    Dates,
    Decimal,
    Encoding,
    MissingValues,
    Separator,
    check_at_least,
)
from seminaive.cli.showing import show_frame
from seminaive.cli.table_arguments import columns_meant, look, received, text_format
from seminaive.errors import InputError
from seminaive.files import check_writable


def validate(
    table: Annotated[
        Path, typer.Argument(help="Training table: .csv, .tsv or .parquet, or - for standard input.")
    ],
    target: Annotated[str, typer.Option(help="The column to predict.")],
    model: Annotated[
        str, typer.Option(help="Which model; `seminaive fit --help` lists them.")
    ] = catalogue.FIRST,
    page: Annotated[Path | None, typer.Option(help="Write one HTML page with pictures.")] = None,
    replays: Annotated[int, typer.Option(help="Bootstrap samples, each of which is fitted.")] = 200,
    groups: Annotated[
        str | None, typer.Option(help="A column of what belongs together, such as patients; no feature.")
    ] = None,
    weight: Annotated[str | None, typer.Option(help="A column of row weights.")] = None,
    counts: Counts = None,
    param: Annotated[list[str] | None, typer.Option(help="A parameter, as name=value; repeatable.")] = None,
    drop: Annotated[list[str] | None, typer.Option(help="Columns to leave out; repeatable.")] = None,
    by: Annotated[str | None, typer.Option(help="Measure the parts of the rows that a column makes.")] = None,
    classes: Annotated[
        bool, typer.Option("--classes", help="Insist that the target's values are classes.")
    ] = False,
    results: Annotated[
        Path | None, typer.Option(help="Keep finished fits here; a run that was stopped goes on.")
    ] = None,
    jobs: Annotated[int, typer.Option(help="Processes; -1 uses every core.")] = -1,
    seed: Annotated[int, typer.Option(help="Same number, same results.")] = 0,
    sep: Separator = None,
    decimal: Decimal = None,
    dates: Dates = None,
    encoding: Encoding = None,
    na_values: MissingValues = None,
) -> None:
    """Estimate how good a model is on new rows. Its whole fit is repeated on samples of the rows."""
    catalogue.check_model(model)
    given = catalogue.read_parameters(model, param or [])
    check_at_least("--replays", replays, 10)
    check_at_least("--seed", seed, 0)
    if jobs == 0:
        raise InputError("--jobs is 1 or more, or -1 for every core, got 0")
    if page is not None:
        check_writable(page)
    named = look(received(table), text_format(sep, decimal, encoding, na_values, dates))
    dropped = columns_meant(drop, named.names)
    for name in (target, *dropped, *(name for name in (groups, weight, counts, by) if name is not None)):
        named.check_column(name)

    from seminaive import encode
    from seminaive.evaluate import validate as run

    X, y, sample_weight = training_rows(named, target, dropped, weight, counts)
    belonging = None
    if groups is not None:
        X, belonging = encode.take_column(X, groups)
    with notes_at_once(classes=classes):
        found = run(
            catalogue.make_model(model, given),
            X,
            y,
            n_replays=replays,
            groups=belonging,
            sample_weight=sample_weight,
            random_state=seed,
            path=results,
            n_jobs=jobs,
        )
    typer.echo(f"{named.path.name}: {len(y):,} rows, {model}, {len(found.replays)} replays of its fit")
    show_frame(found.summary, len(found.summary))
    if by is not None:
        show_frame(found.subgroups(by), 100)
    if page is not None:
        found.page(page)
        typer.echo(f"wrote {page}")
