"""``--slow-minutes M`` runs slow tests as far as M minutes reach by their recorded times, the shortest first.

Recorded times, in processor seconds of a test and of the processes that it starts, stand in
tests/slow_seconds.csv, which ``pytest -m slow --record-slow`` brings up to date, test by test. A slow test
without one is left out, and named.
"""

import csv
import os

import pytest

RECORD = "tests/slow_seconds.csv"


def pytest_addoption(parser):
    group = parser.getgroup("slow tests")
    group.addoption("--slow-minutes", type=float, help="run slow tests only, as far as these minutes reach")
    group.addoption("--record-slow", action="store_true", help=f"write what slow tests took to {RECORD}")


def pytest_configure(config):
    if config.getoption("--slow-minutes") is not None:
        config.pluginmanager.register(SlowBudget(config), "slow budget")
    if config.getoption("--record-slow"):
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
    """Writes down what slow tests took, after each of them, so that a run may be stopped."""

    def __init__(self, config):
        self.path = config.rootpath / RECORD
        self.seen = set()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        before = _processor_seconds()
        outcome = yield
        if item.get_closest_marker("slow"):
            self._add(without_parameters(item.nodeid), _processor_seconds() - before)
        return outcome

    def _add(self, test, took):
        """Add to what the parameters of a test took in this run, or replace what an earlier run wrote."""
        seconds = recorded(self.path)
        seconds[test] = took + (seconds[test] if test in self.seen else 0.0)
        self.seen.add(test)
        with self.path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["test", "seconds"])
            writer.writerows((name, f"{spent:.1f}") for name, spent in sorted(seconds.items()))


def _processor_seconds():
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system
