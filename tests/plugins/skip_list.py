"""A test may be skipped for a reason that stands in tests/skips.txt; any other skip is a failure.

Each line of the list is a regular expression that has to match the whole reason; lines that begin with #
explain those below. A suite whose tests silently stop running looks the same as one that passes; the list
is read in reviews.
"""

from pathlib import Path
from re import fullmatch

import pytest

LIST = "tests/skips.txt"


def _listed(root: Path) -> tuple[str, ...]:
    path = root / LIST
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return tuple(line for line in lines if line and not line.startswith("#"))


def _reason(report) -> str:
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return reason.removeprefix("Skipped: ").strip()


def _refuse_unlisted(report, root):
    """Turn a report of a skip for a reason that is not on the list into one of a failure."""
    if not report.skipped or hasattr(report, "wasxfail"):
        return
    reason = _reason(report)
    if not any(fullmatch(line, reason) for line in _listed(root)):
        report.outcome = "failed"
        report.longrepr = f"skipped for a reason that is not in {LIST}: {reason}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    report = yield
    _refuse_unlisted(report, item.config.rootpath)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    report = yield
    _refuse_unlisted(report, collector.config.rootpath)
    return report
