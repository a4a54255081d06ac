"""The command that compiles what models need, before the first fit."""

from typing import Annotated

import typer

from seminaive.cli import catalogue

ALL = "all"


def warm_up(
    model: Annotated[
        list[str] | None,
        typer.Option(
            "--models",
            "-m",
            help="A model, or several with commas; repeatable; all takes every one. By default those of ours "
            "that compare runs: semi-naive, naive-bayes and naive-bayes-logistic-regression-cv.",
        ),
    ] = None,
) -> None:
    """Compile what models need, once per machine. The first fit then starts at once."""
    names = [name for part in model or [] for name in part.split(",")]
    if names == [ALL]:
        names = list(catalogue.class_names())
    for name in names:
        catalogue.check_model(name)
    names = names or list(catalogue.USUAL)

    from seminaive.warming import warm_up as compile_models

    warmed = compile_models({name: catalogue.make_model(name) for name in names})
    for name, said in warmed.failures.items():
        typer.echo(f"{name} could not be warmed up: {said}", err=True)
    done = f"compiled {warmed.n_compiled} loops" if warmed.n_compiled else "everything is compiled already"
    typer.echo(f"{', '.join(names)}: {done}, {warmed.seconds:.0f} s")
    if warmed.failures:
        raise typer.Exit(1)
