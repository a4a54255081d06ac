"""Files of JSON lines that are appended to while work goes on and survive a kill at any moment."""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from seminaive.errors import InputError

__all__ = ["append_line", "replace_lines", "whole_lines"]


def whole_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Read the objects of a file of lines, without a last line that was cut short."""
    if not path.exists():
        return
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            if line.endswith("\n"):
                try:
                    yield json.loads(line)
                except json.JSONDecodeError as error:
                    raise InputError(f"{path} is not a results file: {error}. Use another path.") from error


def append_line(path: Path, record: Mapping[str, Any]) -> None:
    """Write one object at the end of a file."""
    with path.open("a", encoding="utf-8") as file:
        file.write(_as_line(record))


def replace_lines(path: Path, records: Iterable[Mapping[str, Any]]) -> None:
    """Write a whole file beside the old one and swap them, so that no moment has half a file."""
    draft = path.with_name(path.name + ".new")
    with draft.open("w", encoding="utf-8") as file:
        file.writelines(_as_line(record) for record in records)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


def _as_line(record: Mapping[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n"
