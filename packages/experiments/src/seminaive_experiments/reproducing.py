"""The command that runs published tables again, draws figures again, and says what agrees."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seminaive.cli.options import check_at_least, check_jobs_and_seed
from seminaive.cli.showing import show
from seminaive.errors import InputError
from seminaive_experiments.papers import check_runnable, names_figure

if TYPE_CHECKING:
    from seminaive_experiments.papers.reproduction import Reproduction, RunOptions


def reproduce(
    name: Annotated[
        str | None, typer.Argument(help="A published table or figure, such as nbrlr-table1 or nbrlr-figure1.")
    ] = None,
    list_tables: Annotated[
        bool, typer.Option("--list", help="List every published table, with what it needs, and all figures.")
    ] = False,
    quick: Annotated[bool, typer.Option("--quick", help="A few repetitions, for a first look.")] = False,
    repetitions: Annotated[
        int | None,
        typer.Option(
            help="Repetitions of the paper's protocol; the paper's number by default. Without it a figure is "
            "drawn from kept results."
        ),
    ] = None,
    max_rows: Annotated[int | None, typer.Option(help="Leave out data sets of more rows.")] = None,
    folder: Annotated[
        Path | None,
        typer.Option(help="Your copy of files that cannot be bundled: StarPlus, for fsnb-table3."),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Use what an earlier run finished, of this table or of one that rests on the same work.",
        ),
    ] = False,
    page: Annotated[
        bool, typer.Option("--page", help="Write a figure and its numbers as one HTML page.")
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
    """Run a table of a paper again, or draw a figure. Without a name, prints what agrees."""
    check_jobs_and_seed(jobs, seed)
    figure = name is not None and names_figure(name)
    if name is not None and not figure:
        check_runnable(name)
    if page and not figure:
        raise InputError("--page is for figures: name one, such as nbrlr-figure1 (--list has them all).")
    for option, value in (("--repetitions", repetitions), ("--max-rows", max_rows)):
        if value is not None:
            check_at_least(option, value, 1)
    if misses is not None:
        _judge(misses, name, out)
    elif name is None:
        _overview(list_tables)
    elif figure:
        _draw(name, repetitions, jobs, seed, out, page=page)
    else:
        from seminaive_experiments.papers import reproduction

        table = reproduction.runnable(name)
        planned = table.quick_repetitions if quick else table.repetitions
        options = reproduction.RunOptions(
            repetitions=planned if repetitions is None else repetitions,
            path=out / table.run_file,
            n_jobs=jobs,
            random_state=seed,
            quick=quick,
            max_rows=max_rows,
            folder=folder,
        )
        limits = " --quick" * quick + ("" if max_rows is None else f" --max-rows {max_rows}")
        _run(table, options, out, limits, resume=resume)


def _judge(bar: str, name: str | None, out: Path) -> None:
    """Judge kept results by a bar, and write what misses it."""
    from seminaive_experiments.papers import acceptance
    from seminaive_experiments.papers.show import keep_misses

    if name is not None:
        raise InputError(f"--misses reads results and runs nothing: leave {name} out")
    judged = acceptance.gather(acceptance.bar_named(bar), out)
    keep_misses(judged, out / f"{bar}-misses.csv", f"seminaive reproduce --misses {bar}")
    typer.echo(f"{judged}\nwrote {out / f'{bar}-misses.csv'}")


def _overview(list_tables: bool) -> None:
    """Show what agrees in the kept results, or all that can be run and drawn."""
    from seminaive_experiments.papers import show as views

    if list_tables:
        show(views.catalogue_table())
        show(views.figures_table())
        return
    show(views.agreement_table())
    typer.echo("seminaive reproduce --list says what each table needs; seminaive reproduce NAME runs one.")


def _draw(name: str, repetitions: int | None, jobs: int, seed: int, out: Path, *, page: bool) -> None:
    """Draw a figure from kept results, or from a run where repetitions are given."""
    from seminaive_experiments.papers.figures import draw_figure
    from seminaive_experiments.papers.reproduction import RunOptions

    options = None if repetitions is None else RunOptions(repetitions, n_jobs=jobs, random_state=seed)
    drawn = draw_figure(name, options)
    written = drawn.save(out, page=page)
    typer.echo(f"{name}: {drawn.described.title}")
    for line in (*drawn.described.remarks, *drawn.source):
        typer.echo(line)
    typer.echo(f"wrote {', '.join(map(str, written))}")


def _run(table: "Reproduction", options: "RunOptions", out: Path, limits: str, *, resume: bool) -> None:
    """Run a table, show its cells beside the paper's and keep them."""
    from seminaive_experiments.papers import reproduction
    from seminaive_experiments.papers import show as views

    reproduction.check_run(table, options)
    if not resume:
        # The last thing before the run: whatever is refused leaves the old run's file alone.
        (out / table.run_file).unlink(missing_ok=True)
    comparison = reproduction.reproduce(table.name, options)
    command = f"seminaive reproduce {table.name}{limits} --repetitions {options.repetitions}"
    written = views.keep_comparison(
        comparison, out / f"{table.name}.csv", f"{command} --seed {options.random_state}"
    )
    show(views.comparison_table(table, comparison))
    for remark in (*table.remarks, *comparison.notes):
        typer.echo(remark)
    typer.echo(f"wrote {', '.join(map(str, written))}")
    if others := reproduction.companions(table):
        typer.echo(f"--resume uses this run for {', '.join(others)} too")
