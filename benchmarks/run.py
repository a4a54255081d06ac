"""Measure everything again on the code as it is, and write results.md: `make bench`.

    python benchmarks/run.py                 every section that was not measured with this version yet
    python benchmarks/run.py nbrlr explain   these sections, whatever was measured before
    python benchmarks/run.py --again         all of them
    python benchmarks/run.py --long          the studies that take hours, too; each goes on where it stopped
    python benchmarks/run.py --short         a try-out: everything once, the results are thrown away
    python benchmarks/run.py --table         only write results.md, and the headlines of README and docs
    python benchmarks/run.py --list          version and day of all figures, minutes of a run, missing peers

A section runs in a process of its own, with one thread unless the environment says otherwise, so that ratios
compare code and not numbers of cores. It is ended after `--limit` minutes. One that fails, or lacks a peer,
keeps the figures it had, and is named at the end. A study of an earlier version is set aside, in a folder
named after that version, before the study begins anew.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

from headlines import write_headlines
from result_tables import day_of, lines_of, measured_with, results_page
from sections import SECTIONS, STUDIES

import seminaive

FOLDER = Path(__file__).parent
RESULTS = FOLDER / "results"
KEPT = RESULTS
TABLE = FOLDER / "results.md"
ONE_THREAD = dict.fromkeys(("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")


def start(command, minutes, **environment):
    """Run a script, named by its path in this folder; return None, or a sentence about what went wrong."""
    script, *arguments = command
    print(f"== {script} {' '.join(arguments)}", flush=True)
    variables = {**ONE_THREAD, **os.environ, "PYTHONPATH": _path(), **environment}
    try:
        done = subprocess.run(
            [sys.executable, FOLDER / script, *arguments], env=variables, check=False, timeout=60 * minutes
        )
    except subprocess.TimeoutExpired:
        return f"was ended after {minutes:g} minutes"
    return None if done.returncode == 0 else f"ended with exit code {done.returncode}"


def _path():
    return os.pathsep.join(filter(None, [str(FOLDER), os.environ.get("PYTHONPATH")]))


def chosen_sections(names, *, again, results):
    """Return the sections that are named, or those that were not measured with this version."""
    known = {section.name: section for section in SECTIONS}
    unknown = sorted(set(names) - set(known))
    if unknown:
        sys.exit(f"no section named {', '.join(unknown)}: there are {', '.join(known)}")
    if names:
        return [known[name] for name in names]
    measured = {name: measured_with(results / f"{name}.csv") for name in known}
    return [known[name] for name in known if again or measured[name] != seminaive.__version__]


def measure(sections, limit, **environment):
    """Run sections; return a sentence for each that could not be run."""
    said = []
    for section in sections:
        missing = [need for need in section.needs if find_spec(need) is None]
        short = "SEMINAIVE_BENCH" in environment and section.short
        fault = (
            f"needs {', '.join(missing)}"
            if missing
            else start(section.short if short else section.command, limit, **environment)
        )
        if fault:
            said.append(f"{section.name} {fault}")
    return said


def listing(sections, studies, results, kept):
    """Return lines that say of each section and study what its figures are of, and what a new run needs."""
    lines = []
    for section in sections:
        missing = [f"needs {need}" for need in section.needs if find_spec(need) is None]
        minutes = f"{section.minutes:g} min"
        lines.append([section.name, *_origin(results / f"{section.name}.csv"), minutes, *missing])
    for each in studies:
        lines += [
            [f"{each.name}/{name}", *_origin(kept / each.name / name), "hours, --long"] for name in each.files
        ]
    return [
        "  ".join(f"{cell:<{width}}" for cell, width in zip(line, (28, 6, 10, 14, 0), strict=False))
        for line in lines
    ]


def _origin(path):
    return measured_with(path) or "none", day_of(lines_of(path)[0]) if path.exists() else ""


def study(studies, limit, kept):
    """Run studies, those of an earlier version anew; return a sentence for each that could not be run."""
    said = []
    for each in studies:
        for name in each.files:
            set_aside(kept / each.name / name)
        # The study ends itself, between two trials; a little later it is ended.
        fault = start((*each.command, "--minutes", f"{limit:g}"), limit + 5)
        if fault:
            said.append(f"{' '.join(each.command)} {fault}")
    return said


def set_aside(path):
    """Move results of an earlier version into a folder beside them that is named after it."""
    version = measured_with(path)
    if not path.exists() or version == seminaive.__version__:
        return
    folder = path.parent / (version if version and re.fullmatch(r"[\d.]+", version) else "earlier")
    folder.mkdir(exist_ok=True)
    path.replace(folder / path.name)


def parse(arguments):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sections", nargs="*")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--limit", type=float, default=120, help="minutes per section and per study")
    return parser.parse_args(arguments)


def main(arguments=None):
    options = parse(arguments)
    said = []
    if options.list:
        print(*listing(SECTIONS, STUDIES, RESULTS, KEPT), sep="\n")
        return
    if options.short:
        with tempfile.TemporaryDirectory(prefix="seminaive-bench-") as folder:
            scratch = {"SEMINAIVE_BENCH": "short", "SEMINAIVE_BENCH_RESULTS": folder}
            sections = chosen_sections(options.sections, again=True, results=RESULTS)
            said = measure(sections, options.limit, **scratch)
    elif not options.table:
        sections = chosen_sections(options.sections, again=options.again, results=RESULTS)
        said = measure(sections, options.limit)
        if options.long:
            said += study(STUDIES, options.limit, KEPT)
    if not options.short:
        TABLE.write_text(results_page(RESULTS, KEPT, STUDIES), encoding="utf-8")
        write_headlines()
        print(f"wrote {TABLE.relative_to(FOLDER.parent)} and the headlines of README and docs")
    if said:
        sys.exit("could not be run:\n" + "\n".join(said))


if __name__ == "__main__":
    main()
