"""The benchmark that counts the numbers of the code: what counts, and what it says of the code now."""

import importlib
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"
COUNTED = """
\"\"\"Text of 7 words, 3.5 of them short.\"\"\"
NOTHING, TWICE = 0, 2.0
LIMIT, LAYOUT = 17, 4
STARTS = (-1, 0.5, [25.0])


def fit(tol=1e-6, flag=True):
    return f"{tol:.3f}" + str(-8)


class Rule:
    width: int = 64
"""


@pytest.fixture
def constants(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    return importlib.import_module("constants")


def test_literals_count_wherever_they_stand(constants, tmp_path, monkeypatch):
    path = tmp_path / "design" / "rules.py"
    path.parent.mkdir()
    path.write_text(COUNTED)
    monkeypatch.setattr(constants, "PACKAGE", tmp_path)
    monkeypatch.setattr(constants, "LAYOUT", {("design/rules.py", "LAYOUT"): "a reason"})
    found = [(where, value) for _, where, value in constants.literals(path)]
    assert found == [("LIMIT", 17), ("STARTS", 25.0), ("fit", 1e-6), ("fit", 8), ("Rule", 64)]
    # The line of zeros and twos is one that defines constants, too.
    assert constants.counts()["design"] == (5, 3)


def test_no_room_has_more_numbers_than_before(constants):
    before = constants.kept()
    for room, now in constants.counts().items():
        assert all(a <= b for a, b in zip(now, before["f3fbbed", room], strict=True)), room
