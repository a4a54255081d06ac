"""Options that several commands share, and the check of those that are numbers."""

from typing import Annotated

import typer

from seminaive.errors import InputError

Separator = Annotated[
    str | None, typer.Option(help="Delimiter of CSV files, or tab; read off the file by default.")
]
Decimal = Annotated[
    str | None, typer.Option(help="Decimal mark of CSV files, . or ,; read off the file by default.")
]
Dates = Annotated[
    str | None,
    typer.Option(
        help="In dates such as 1/2/2024 in CSV files: day-first or month-first; a day above 12 tells it."
    ),
]
Encoding = Annotated[
    str | None, typer.Option(help="Encoding of CSV files, such as cp1252; UTF-8 by default.")
]
MissingValues = Annotated[
    list[str] | None,
    typer.Option(help="Cells of CSV files that are missing besides empty ones: NA or NA,?; repeatable."),
]
Counts = Annotated[
    str | None, typer.Option(help="A column that says how many rows each row stands for: it is repeated.")
]


def check_at_least(option: str, value: int, least: int) -> None:
    """Refuse a number that is too small."""
    if value < least:
        raise InputError(f"{option} is {least} or more, got {value}")


def check_jobs_and_seed(jobs: int, seed: int) -> None:
    """Refuse no processes at all, and a negative seed."""
    if jobs == 0:
        raise InputError("--jobs, the number of processes, cannot be 0: give 1 or more, or -1 for every core")
    check_at_least("--seed", seed, 0)
