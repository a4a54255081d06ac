"""Commands that show and export a saved model."""

from pathlib import Path
from typing import Annotated, Any

import typer

from seminaive.cli.notes import notes_at_once
from seminaive.cli.options import check_at_least
from seminaive.cli.showing import show_frame
from seminaive.cli.table_arguments import NamedTable, look, received, text_format
from seminaive.errors import InputError, ModelFileError
from seminaive.files import check_writable, is_there, whole_file

EXPORTS = ("html", "onnx", "sql", "python", "javascript", "json", "xlsx")


def load_model(file: Path) -> Any:
    """Read a saved model; a path without a file is refused before anything is imported."""
    if not is_there(file) or not file.is_file():
        raise ModelFileError(f"there is no file {str(file)!r}")
    from seminaive import saving

    return saving.load_model(file)


def rows_of(model: Any, named: NamedTable, truth: str | None) -> tuple[Any, Any]:
    """Read the training columns of a table, and the classes where a column holds them."""
    from seminaive import encode

    frame = named.read(text_columns=model.schema_.text_names)
    if truth is None:
        return encode.training_columns(frame, model.schema_.names, noted=False), None
    named.check_column(truth, list(map(str, frame.columns)))
    by_text = {str(label): label for label in model.classes_.tolist()}
    labels = [by_text.get(str(label), label) for label in frame[truth].tolist()]
    return encode.training_columns(frame, model.schema_.names, noted=False), labels


def explain(
    file: Annotated[Path, typer.Argument(help="A saved model.")],
    target: Annotated[
        str | None, typer.Option(help="The class that effects speak for; the last one by default.")
    ] = None,
    feature: Annotated[str | None, typer.Option(help="Show every effect of this column, or pair.")] = None,
    most: Annotated[int, typer.Option(help="Lines to show.")] = 20,
    csv: Annotated[Path | None, typer.Option(help="Write all effects as a CSV file.")] = None,
    page: Annotated[
        Path | None, typer.Option(help="Write one HTML page: every picture, and a calculator.")
    ] = None,
    rows: Annotated[
        Path | None,
        typer.Option(help="Its training table: list rows whose label the others find hard to believe."),
    ] = None,
    truth: Annotated[str | None, typer.Option(help="The column of --rows that holds the classes.")] = None,
) -> None:
    """Show what a saved model learned. Lists which features and pairs matter, and what their values add."""
    check_at_least("--most", most, 1)
    for path in (csv, page):
        if path is not None:
            check_writable(path)
    if (rows is None) != (truth is None):
        raise InputError("--rows names the training table, and --truth its column of classes: give both")
    named = None if rows is None else look(received(rows), text_format(None, None, None, None, None))
    model = load_model(file)
    if named is not None:
        _show_influence(model, named, str(truth), most)
        return
    from seminaive import encode
    from seminaive import explain as explaining

    label = label_named(model, target)
    every = None if feature is None and csv is None else explaining.effects_table(model)
    if feature is None:
        frame = explaining.summary(model, label)
        typer.echo(f"{type(model).__name__}; classes: {', '.join(map(str, model.classes_))}")
        typer.echo(
            "importance: standard deviation over the training rows; with_pairs: and its share of pairs; low, "
            f"high: {_scale(model, label)}"
        )
    else:
        frame = _effects_of_one(model, every, feature, label)
    show_frame(frame, most)
    if csv is not None:
        with whole_file(csv) as part:
            encode.without_formulas(every).to_csv(part, index=False)
        typer.echo(f"wrote {csv}")
    if page is not None:
        from seminaive import export as exporting

        exporting.page(model, page)
        typer.echo(f"wrote {page}")


def _show_influence(model: Any, named: NamedTable, truth: str, most: int) -> None:
    """List training rows, those with the least probable labels first."""
    from seminaive import explain as explaining

    frame = explaining.influence(model, *rows_of(model, named, truth))
    doubted = int((frame["label"] != frame["likelier"]).sum())
    typer.echo(
        f"{doubted:,} of {len(frame):,} rows have another class by the fit to all others; left_out: "
        "probability of the label without the row; influence: Cook's distance"
    )
    show_frame(frame, most)


def _effects_of_one(model: Any, every: Any, term: str, label: Any) -> Any:
    """Return the effects of one column, or pair, for a class; say what the columns of the frame mean."""
    frame = every[every["term"] == term].drop(columns="term")
    if not len(frame):
        raise InputError(f"the model has no effect {term!r}: it has {', '.join(every['term'].unique())}")
    parts = ["effect", "linear", "quadratic"]
    if label is not None and "class" in frame:
        frame = frame[frame["class"] == label].drop(columns="class")
    elif label is not None and label == model.classes_[0]:
        frame[parts] = 0.0 - frame[parts]  # and not -0.0
    shape = " + linear * (x - at) + quadratic * (x - at)^2"
    if not (frame[parts[1:]] != 0).any(axis=None):
        frame, shape = frame.drop(columns=["at", *parts[1:]]), ""
    about = "score of the class" if "class" in frame else _scale(model, label)
    typer.echo(f"{term} adds to the {about}: effect{shape}; weight: training rows")
    return frame


def _scale(model: Any, label: Any) -> str:
    """Say which number effects add up to."""
    about = "log odds" if len(model.classes_) == 2 else "score"
    return f"{about} of {model.classes_[-1] if label is None else label}"


def export(
    file: Annotated[Path, typer.Argument(help="A saved model.")],
    to: Annotated[str, typer.Option(help="html, onnx, sql, python, javascript, json or xlsx.")],
    out: Annotated[Path, typer.Option(help="The file to write.")],
    dialect: Annotated[str, typer.Option(help="Of SQL: duckdb, sqlite or postgresql.")] = "duckdb",
    table: Annotated[str, typer.Option(help="The table that SQL reads.")] = "rows",
    title: Annotated[str | None, typer.Option(help="The heading of the HTML page.")] = None,
    note: Annotated[str | None, typer.Option(help="A sentence below it.")] = None,
) -> None:
    """Write a saved model as a page, a program or a query. It gives the same probabilities."""
    if to not in EXPORTS:
        raise InputError(f"--to is {', '.join(EXPORTS)}; got {to!r}")
    check_writable(out)
    model = load_model(file)
    from seminaive import export as exporting

    texts = {
        "sql": lambda model: exporting.to_sql(model, table, dialect),
        "python": exporting.to_python,
        "javascript": exporting.to_javascript,
        "json": exporting.to_json,
    }
    with notes_at_once():
        if to == "html":
            exporting.calculator(model, out, title=title, note=note)
        elif to == "xlsx":
            exporting.to_xlsx(model, out)
        else:
            onnx = to == "onnx"
            content = exporting.to_onnx(model).SerializeToString() if onnx else texts[to](model).encode()
            with whole_file(out) as part:
                part.write_bytes(content)
    typer.echo(f"wrote {out}: {out.stat().st_size:,} bytes")


def label_named(model: Any, text: str | None) -> Any:
    """Return the class that a text on the command line means."""
    if text is None:
        return None
    found = [label for label in model.classes_.tolist() if str(label) == text]
    if not found:
        raise InputError(f"there is no class {text!r}: the model has {', '.join(map(str, model.classes_))}")
    return found[0]
