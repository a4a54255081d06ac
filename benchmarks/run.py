"""Run every benchmark in a process of its own and write one table of ratios: `make bench`.

A benchmark is a file of this folder that imports ``race``, which writes its results. Each runs with one
thread unless the environment says otherwise, so that ratios compare code and not numbers of cores. A
benchmark that fails, say for want of a peer, costs the others nothing. Names on the command line run those
only; ``--table`` only writes the table again.
"""

import csv
import os
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent
RESULTS = FOLDER / "results"
TABLE = FOLDER / "results.md"
ONE_THREAD = dict.fromkeys(("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")


def benchmarks():
    return sorted(
        path.stem for path in FOLDER.glob("*.py") if "\nfrom race import " in path.read_text(encoding="utf-8")
    )


def run(name):
    print(f"== {name}", flush=True)
    environment = {**ONE_THREAD, **os.environ, "PYTHONPATH": str(FOLDER)}
    return (
        subprocess.run([sys.executable, FOLDER / f"{name}.py"], env=environment, check=False).returncode == 0
    )


def table():
    """One Markdown table of all kept results, with what they were measured on."""
    lines = [
        "# Benchmarks",
        "",
        "Made by `make bench`. A ratio with a bar `>=` is the peer's time over ours, more is better; one",
        "with `<=` is ours over the peer's, less is better.",
    ]
    for path in sorted(RESULTS.glob("*.csv")):
        text = path.read_text(encoding="utf-8").splitlines()
        comments = [line.removeprefix("# ") for line in text if line.startswith("#")]
        rows = list(csv.DictReader(line for line in text if not line.startswith("#")))
        if not rows or "ratio" not in rows[0]:
            continue
        lines += ["", f"## {path.stem.replace('_', ' ')}", "", *(f"{line}  " for line in comments), ""]
        lines += [
            "| question | peer | ours | peer's | ratio | bar | reached |",
            "| --- | --- | --- | --- | --- | --- | --- |",
        ]
        lines += [
            f"| {row['question']} | {row['peer']} | {row['ours']} {row['unit']} "
            f"| {row['theirs']} {row['unit']} | **{row['ratio']}** | {row['bar']} | {row['reached']} |"
            for row in rows
        ]
    return "\n".join(lines) + "\n"


def main(arguments):
    names = [name for name in arguments if name != "--table"] or benchmarks()
    unknown = sorted(set(names) - set(benchmarks()))
    if unknown:
        sys.exit(f"no benchmark named {', '.join(unknown)}: there are {', '.join(benchmarks())}")
    failed = [] if "--table" in arguments else [name for name in names if not run(name)]
    TABLE.write_text(table(), encoding="utf-8")
    print(f"wrote {TABLE.relative_to(FOLDER.parent)}")
    if failed:
        sys.exit(f"could not be run: {', '.join(failed)}")


if __name__ == "__main__":
    main(sys.argv[1:])
