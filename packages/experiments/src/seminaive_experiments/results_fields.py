"""What the fields of a results file may hold; anything else is refused with its line and field."""

from __future__ import annotations

import base64
import math
import zlib
from typing import TYPE_CHECKING, Any

from seminaive.errors import InputError
from seminaive_experiments.probability_histogram import ProbabilityHistogram

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

LARGEST = 2**53


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < LARGEST


def _is_number_or_none(value: Any) -> bool:
    if value is None:
        return True
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


TEXT = ("text", _is_text)
WHOLE = ("a whole number of 0 or more", _is_whole)
NUMBER = ("a number or nothing", _is_number_or_none)
PLACE = {"dataset": TEXT, "model": TEXT, "repetition": WHOLE, "fold": WHOLE}
FOLD = {
    **PLACE,
    "n_train": WHOLE,
    "n_test": WHOLE,
    "status": ("'ok' or 'failed'", lambda value: isinstance(value, str) and value in ("ok", "failed")),
    "message": TEXT,
    "warning": TEXT,
    "n_iter": NUMBER,
}
TIMES = {**PLACE, "fit_seconds": NUMBER, "predict_seconds": NUMBER}
BIAS_VARIANCE = {
    "dataset": TEXT,
    "model": TEXT,
    "bias": NUMBER,
    "variance": NUMBER,
    "n_repetitions": WHOLE,
}


def check_description(path: Path, line: Mapping[str, Any]) -> None:
    """Refuse the first line of a file where its parts are not of their kind."""
    metrics = line.get("metrics")
    if (
        not isinstance(metrics, list)
        or not all(_is_text(name) for name in metrics)
        or len(set(metrics)) != len(metrics)
        or set(metrics) & {*FOLD, *TIMES, "kind", "shift", "histogram", "step"}
    ):
        raise _refusal(path, 1, "metrics", "a list of different names of losses")
    for part in ("models", "datasets"):
        if not isinstance(line.get(part), dict):
            raise _refusal(path, 1, part, "an object")
    if not isinstance(line.get("learning_curve", False), bool):
        raise _refusal(path, 1, "learning_curve", "true or false")


def check_fold(path: Path, number: int, line: Mapping[str, Any], metrics: list[str]) -> None:
    """Refuse the line of a fold whose fields are not of their kind, or whose predictions cannot be read."""
    check_fields(path, number, line, FOLD | dict.fromkeys(metrics, NUMBER))
    histogram = line.get("histogram")
    if histogram is not None:
        try:
            ProbabilityHistogram.unpacked(histogram)
        except (TypeError, ValueError) as error:
            meaning = "the packed counts of probabilities, or nothing"
            raise _refusal(path, number, "histogram", meaning) from error
    shift = line.get("shift")
    if shift is None:
        return
    length = 2 * line["n_test"]
    try:
        unpacked = zlib.decompressobj().decompress(base64.b85decode(shift), length + 1)
    except (TypeError, ValueError, zlib.error):
        unpacked = b""
    if not isinstance(shift, str) or len(unpacked) != length:
        raise _refusal(path, number, "shift", f"the packed predictions of {line['n_test']} rows, or nothing")


def check_fields(
    path: Path, number: int, line: Mapping[str, Any], kinds: Mapping[str, tuple[str, Callable[[Any], bool]]]
) -> None:
    """Refuse a line that lacks a field, or where one is not of its kind."""
    for name, (meaning, fits) in kinds.items():
        if name not in line:
            raise InputError(
                f"{path} is not a results file: line {number} has no {name!r}. Use another path."
            )
        if not fits(line[name]):
            raise _refusal(path, number, name, meaning)


def _refusal(path: Path, number: int, name: str, meaning: str) -> InputError:
    return InputError(
        f"{path} is not a results file: line {number} has {name!r} that is not {meaning}. Use another path."
    )
