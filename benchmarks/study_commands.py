"""The command line of a study: `run` fits models over its trials, `report` prints what was found."""

import argparse
from pathlib import Path

from study import listed, run


def commands(doc, results):
    """Return a parser, and its commands `run` and `report` with the options that all studies have."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = parser.add_subparsers(dest="command", required=True)
    runs, reports = parts.add_parser("run"), parts.add_parser("report")
    runs.add_argument("models", type=listed, help="names, parted by commas")
    runs.add_argument("--minutes", type=float, default=30)
    runs.add_argument("--limit", type=float, default=60, help="processor seconds per trial")
    reports.add_argument("models", type=listed, nargs="?", default=[], help="all in the folder if left out")
    for command in (runs, reports):
        command.add_argument("--results", type=Path, default=results, help="the folder of the results")
    return parser, runs, reports


def perform(parser, study, makers, plan, report):
    """Do what the command line says.

    Parameters
    ----------
    makers : dict
        From a model's name to a function that makes it.
    plan, report : callable
        Take the options; one returns the trials, the other prints.
    """
    options = parser.parse_args()
    if options.command == "report":
        report(options)
        return
    paths = {model: options.results / f"{model}.csv" for model in options.models}
    run(study, makers, paths, plan(options), options.minutes, options.limit)
