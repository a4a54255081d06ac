"""Files of JSON lines that are appended to while work goes on and survive a kill at any moment."""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from seminaive.errors import InputError
from seminaive.files import is_there, whole_file, writing


def whole_lines(path: Path, beginning: str) -> Iterator[dict[str, Any]]:
    """Read the objects of a file of lines, without a last line that was cut short.

    Parameters
    ----------
    path : Path
        The file; one that is not there has no lines.
    beginning : str
        How a file of this kind begins. A file that is one cut line is refused unless it begins so: the
        caller will replace it.
    """
    if not is_there(path):
        return
    with path.open("rb") as lines:
        for number, line in enumerate(lines):
            if line.endswith(b"\n"):
                yield _object(path, line)
            elif number == 0:
                ours = beginning.encode()
                if not (line.startswith(ours) or ours.startswith(line)):
                    raise InputError(f"{path} is not a results file of this run. Use another path.")


def _object(path: Path, line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line.decode("utf-8"))
    except ValueError as error:
        raise InputError(f"{path} is not a results file: {error}. Use another path.") from error
    if not isinstance(found, dict):
        raise InputError(f"{path} is not a results file: a line is not an object. Use another path.")
    return found


def append_line(path: Path, record: Mapping[str, Any]) -> None:
    """Write one object at the end of a file."""
    with writing(path), path.open("a", encoding="utf-8") as file:
        file.write(as_line(record))


def replace_lines(path: Path, records: Iterable[Mapping[str, Any]]) -> None:
    """Write a whole file beside the old one and swap them, so that no moment has half a file."""
    with whole_file(path) as draft, draft.open("w", encoding="utf-8") as file:
        file.writelines(as_line(record) for record in records)
        file.flush()
        os.fsync(file.fileno())


def as_line(record: Mapping[str, Any]) -> str:
    """Write one object as a line."""
    return json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n"
