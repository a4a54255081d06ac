"""Repeat a simulation many times, in parallel, in a file that survives a kill."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import joblib
import pandas as pd

from seminaive.errors import InputError
from seminaive.evaluate.jobs import check_jobs
from seminaive.evaluate.lines import append_line, replace_lines, whole_lines
from seminaive.evaluate.progress import progress_bar

Unit = Mapping[str, Any]


def run_repetitions(
    units: Sequence[Unit],
    work: Callable[..., Iterable[Mapping[str, Any]]],
    *,
    path: str | Path | None = None,
    n_jobs: int = 1,
    progress: bool = True,
) -> pd.DataFrame:
    """Call ``work(**unit)`` for every unit and gather the records that it returns.

    Parameters
    ----------
    units : sequence of mappings
        What identifies a piece of work: plain strings and numbers, for example the setting and the
        number of the repetition, which should also decide the seed.
    work : callable
        Returns records (mappings of strings and finite numbers); importable, since it is sent to other
        processes. It must give the same records for the same unit.
    path : path, optional
        Results file. Finished units are appended at once, and units that are in the file already are
        not run again. It ends in the order of ``units``, the same after a kill as without.
    n_jobs : int, default=1
        Processes; -1 uses every core.
    progress : bool, default=True
        Show a bar on a terminal.

    Returns
    -------
    DataFrame
        One row per record, with the entries of its unit in front.
    """
    path = None if path is None else Path(path)
    keys = [_key(unit) for unit in units]
    if len(set(keys)) < len(keys):
        raise InputError("two units are the same: number the repetitions.")
    check_jobs(n_jobs)
    done = {} if path is None else _finished(path)
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        # A kill may have cut the last line short; what is appended must start on a new one.
        replace_lines(path, done.values())
    missing = [unit for unit, key in zip(units, keys, strict=True) if key not in done]
    with progress_bar(shown=progress) as bar:
        shown = bar.add_task("repetitions", total=len(units), completed=len(units) - len(missing))
        for unit, records in _outcomes(missing, work, n_jobs):
            line = {"unit": dict(unit), "records": records}
            done[_key(unit)] = line
            if path is not None:
                append_line(path, line)
            bar.update(shown, advance=1)
    if path is not None:
        extra = [line for key, line in done.items() if key not in set(keys)]
        replace_lines(path, [done[key] for key in keys] + extra)
    return pd.DataFrame([{**done[key]["unit"], **record} for key in keys for record in done[key]["records"]])


def _finished(path: Path) -> dict[tuple[tuple[str, Any], ...], dict[str, Any]]:
    """Read the units of a results file."""
    found = {}
    for line in whole_lines(path, '{"unit": '):
        if not isinstance(line.get("unit"), dict) or not isinstance(line.get("records"), list):
            raise InputError(
                f"{path} is not a file of repetitions: a line has no unit or no records. Use another path."
            )
        found[_key(line["unit"])] = line
    return found


def _key(unit: Unit) -> tuple[tuple[str, Any], ...]:
    return tuple(sorted(unit.items()))


def _outcomes(
    units: Sequence[Unit], work: Callable[..., Iterable[Mapping[str, Any]]], n_jobs: int
) -> Iterator[tuple[Unit, list[dict[str, Any]]]]:
    if not units:
        return
    if joblib.effective_n_jobs(n_jobs) == 1:
        for unit in units:
            yield _run(unit, work)
        return
    yield from joblib.Parallel(n_jobs=n_jobs, return_as="generator_unordered", pre_dispatch="2*n_jobs")(
        joblib.delayed(_run)(unit, work) for unit in units
    )


def _run(unit: Unit, work: Callable[..., Iterable[Mapping[str, Any]]]) -> tuple[Unit, list[dict[str, Any]]]:
    return unit, [dict(record) for record in work(**unit)]
