"""Refuse a tag that does not fit what is in the repository: ``python .ci/check_release.py v0.3.0``.

The versions of both packages, the one that the experiments require, the citation and the first dated section
of the changelog must be the tag's, and the changelog and the citation must name the same day.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def found(pattern: str, path: str) -> tuple[str, ...]:
    """Return the groups of the first place where a file matches."""
    match = re.search(pattern, (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE)
    return match.groups() if match else ()


def faults(tag: str) -> list[str]:
    """Return a sentence for everything that does not fit the tag."""
    version = tag.removeprefix("v")
    cited = found(r'^version: (\S+)\ndate-released: "([\d-]+)"', "CITATION.cff")
    noted = found(r"^## (\S+) \((\d[\d-]+)\)", "CHANGELOG.md")
    wanted = {
        "__version__ of src/seminaive/__init__.py": found(
            r'^__version__ = "(.*)"', "src/seminaive/__init__.py"
        )[:1],
        "__version__ of seminaive_experiments": found(
            r'^__version__ = "(.*)"', "packages/experiments/src/seminaive_experiments/__init__.py"
        )[:1],
        "what seminaive-experiments requires": found(
            r'^dependencies = \["seminaive==(.*)"\]', "packages/experiments/pyproject.toml"
        )[:1],
        "the extra plot of seminaive-experiments": found(
            r'^plot = \["seminaive\[plot\]==(.*)"\]', "packages/experiments/pyproject.toml"
        )[:1],
        "the version of CITATION.cff": cited[:1],
        "the first dated section of CHANGELOG.md": noted[:1],
    }
    said = [
        f"{what} is {' '.join(has) or 'not there'}, the tag says {version}"
        for what, has in wanted.items()
        if has != (version,)
    ]
    if cited[1:] != noted[1:]:
        said.append(
            f"CITATION.cff and CHANGELOG.md name different days: {' '.join(cited[1:])}, {' '.join(noted[1:])}"
        )
    return said


if __name__ == "__main__":
    if problems := faults(sys.argv[1]):
        sys.exit("\n".join(problems))
    sys.stdout.write(f"{sys.argv[1]} fits the packages, the citation and the changelog\n")
