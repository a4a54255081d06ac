"""``--slow-minutes M`` runs slow tests as far as M minutes reach by their recorded times, the shortest first.

Recorded times stand in tests/slow_seconds.csv, which ``--record-slow`` brings up to date. A slow test without
one is left out, and named.
"""

import csv
from collections import Counter

RECORD = "tests/slow_seconds.csv"


def pytest_addoption(parser):
    group = parser.getgroup("slow tests")
    group.addoption("--slow-minutes", type=float, help="run slow tests only, as far as these minutes reach")
    group.addoption("--record-slow", action="store_true", help=f"write what slow tests took to {RECORD}")


def pytest_configure(config):
    if config.getoption("--slow-minutes") is not None:
        config.pluginmanager.register(SlowBudget(config), "slow budget")
    if config.getoption("--record-slow") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(SlowRecord(config), "slow record")


def recorded(path):
    """Return the seconds of each slow test, those of its parameters together."""
    if not path.exists():
        return {}
    with path.open(newline="", encoding="utf-8") as file:
        return {row["test"]: float(row["seconds"]) for row in csv.DictReader(file)}


def affordable(seconds, budget):
    """Return the tests that fit into the budget, in seconds, the shortest first."""
    chosen, spent = [], 0.0
    for test in sorted(seconds, key=lambda test: (seconds[test], test)):
        spent += seconds[test]
        if spent > budget:
            break
        chosen.append(test)
    return chosen


def without_parameters(nodeid):
    return nodeid.partition("[")[0]


class SlowBudget:
    """Deselects what the minutes do not reach."""

    def __init__(self, config):
        self.minutes = config.getoption("--slow-minutes")
        self.seconds = recorded(config.rootpath / RECORD)
        self.lines = []

    def pytest_collection_modifyitems(self, config, items):
        slow = {without_parameters(item.nodeid) for item in items if item.get_closest_marker("slow")}
        known = {test: self.seconds[test] for test in slow if test in self.seconds}
        chosen = affordable(known, 60 * self.minutes)
        self.lines = [f"{known[test]:8.1f} s  {test}" for test in chosen]
        for test in sorted(slow.difference(chosen)):
            took = f"{known[test]:.1f} s" if test in known else "no recorded time"
            self.lines.append(f"  left out  {test} ({took})")
        kept = [
            item
            for item in items
            if item.get_closest_marker("slow") and without_parameters(item.nodeid) in chosen
        ]
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = kept

    def pytest_report_collectionfinish(self):
        return ["slow tests, by recorded time:", *self.lines]


class SlowRecord:
    """Writes what slow tests took."""

    def __init__(self, config):
        self.path = config.rootpath / RECORD
        self.took = Counter()

    def pytest_runtest_logreport(self, report):
        if "slow" in report.keywords:
            self.took[without_parameters(report.nodeid)] += report.duration

    def pytest_sessionfinish(self):
        seconds = {**recorded(self.path), **self.took}
        with self.path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["test", "seconds"])
            writer.writerows((test, f"{took:.1f}") for test, took in sorted(seconds.items()))
