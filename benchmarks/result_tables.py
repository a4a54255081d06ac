"""results.md: what was measured, with which version and when; peers and limits in tables of their own."""

import csv
import re

from race import is_limit

HEAD = """# Times and limits

Made by `make bench`, which runs the command of every section that was not measured with the present version.
**Against a peer**, a ratio with a bar `>=` is the peer's time over ours, more is better; one with `<=` is
ours over the peer's, less is better. **Against a limit**, what was measured has to stay below a quantity that
was set beforehand.
"""
STUDIES_HEAD = """## Studies that take hours

`make bench` runs them with `--long` only; until then their figures keep their version and their day.
"""
PLAIN_ROWS = 15


def lines_of(path):
    """Return what a result file says about itself, and its rows."""
    text = path.read_text(encoding="utf-8").splitlines()
    said = [line.removeprefix("# ") for line in text if line.startswith("#")]
    return said, list(csv.DictReader(line for line in text if not line.startswith("#")))


def measured_with(path):
    """Return the version of this package that a result file names, or None."""
    if not path.exists():
        return None
    found = re.search(r"seminaive[= ]([\d.]+\d)", " ".join(lines_of(path)[0]))
    return found.group(1) if found else None


def day_of(said):
    """Return the day on which a result file was measured, as it says of itself, or nothing."""
    found = re.search(r"\d{4}-\d\d-\d\d", " ".join(said))
    return found.group() if found else ""


def results_page(results, kept, studies):
    """Return the whole page."""
    parts = [HEAD]
    for path in sorted(results.glob("*.csv")):
        said, rows = lines_of(path)
        if said and rows and (body := section_body(rows)):
            parts.append(f"## {path.stem.replace('_', ' ')}\n")
            parts.append("".join(f"{line}  \n" for line in said))
            parts.append(body)
    parts.append(long_studies(kept, studies))
    return "\n".join(parts)


def section_body(rows):
    """Return the tables of a section; nothing of a long file without ratios."""
    if "ratio" not in rows[0]:
        return (
            markdown(list(rows[0]), [list(row.values()) for row in rows]) if len(rows) <= PLAIN_ROWS else ""
        )
    peers = [row for row in rows if not is_limit(row["peer"])]
    limits = [row for row in rows if is_limit(row["peer"])]
    parts = []
    if peers:
        heads = ["against a peer", "peer", "ours", "peer's", "ratio", "bar", "reached"]
        parts.append(markdown(heads, [against_peer(row) for row in peers]))
    if limits:
        heads = ["against a limit", "measured", "limit", "reached"]
        parts.append(markdown(heads, [against_limit(row) for row in limits]))
    return "\n".join(parts)


def against_peer(row):
    ours, theirs = (f"{row[side]} {row['unit']}".strip() for side in ("ours", "theirs"))
    return [row["question"], row["peer"], ours, theirs, f"**{row['ratio']}**", row["bar"], row["reached"]]


def against_limit(row):
    """Return the measured quantity and the largest that was allowed: the limit times its bar, or over it."""
    sign, bar = row["bar"].split()
    theirs = float(row["theirs"])
    allowed = theirs * float(bar) if sign == "<=" else theirs / float(bar)
    unit = row["unit"]
    return [row["question"], f"{row['ours']} {unit}".strip(), f"{allowed:.4g} {unit}".strip(), row["reached"]]


def long_studies(kept, studies):
    """Return a table of the studies that take hours: each file, the version and the day of its figures."""
    rows = []
    for study in studies:
        for name in study.files:
            path = kept / study.name / name
            said = lines_of(path)[0] if path.exists() else []
            rows.append(
                [
                    study.question,
                    f"`python benchmarks/{' '.join(study.command)}`",
                    f"`results/{study.name}/{name}`",
                    measured_with(path) or "before versions were noted",
                    day_of(said),
                ]
            )
    heads = ["question", "command", "kept in", "version", "day"]
    return STUDIES_HEAD + "\n" + markdown(heads, rows)


def markdown(heads, rows):
    """Return a table."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines) + "\n"
