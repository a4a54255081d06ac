"""The pages show what the code prints, and all code that they show is run."""

import doctest
import re
from pathlib import Path

import pytest

from seminaive_experiments import datasets

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
# The gallery is made, its examples are run, and pages of the experiments are copied when the site is built.
MADE = ("_build", "gallery", "experiments")
PAGES = [
    *(ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")),
    *sorted(page for page in DOCS.rglob("*.md") if page.relative_to(DOCS).parts[0] not in MADE),
    *sorted((ROOT / "packages").rglob("*.md")),
]
every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


@pytest.fixture
def registers_nothing():
    """Take the data set that the page on tables registers out again: a name is registered once."""
    yield
    datasets._REGISTRY.pop("coins", None)


@every_page
@pytest.mark.usefixtures("registers_nothing")
def test_examples_on_a_page_print_what_it_says(page):
    failed, _ = doctest.testfile(str(page), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert failed == 0


@every_page
def test_python_on_a_page_is_written_so_that_it_is_run(page):
    blocks = re.findall(
        r"^ *```python\n(.*?)^ *```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )
    not_run = [block for block in blocks if not block.lstrip().startswith(">>> ")]
    assert not_run == []


@every_page
def test_links_between_pages_lead_somewhere(page):
    text = page.read_text(encoding="utf-8")
    targets = re.findall(r"\]\(([^)#\s:]+)(?:#[^)]*)?\)", text)
    missing = [
        target
        for target in targets
        if "gallery/" not in target and not (page.parent / target).resolve().exists()
    ]
    assert missing == []


def test_the_page_on_fitting_names_files_that_hold_what_it_says():
    page = (DOCS / "decisions" / "0007-one-floor-for-fitting.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| ([^|]+) \| (.+) \|$", page, re.MULTILINE))
    files = {what: re.findall(r"`(\w+/\w+\.py)`", where) for what, where in rows.items()}
    assert all((ROOT / "src" / "seminaive" / file).exists() for listed in files.values() for file in listed)
    for file in files["effective degrees of freedom"]:
        assert "degrees of freedom" in (ROOT / "src" / "seminaive" / file).read_text(encoding="utf-8")
    assert files["effective degrees of freedom"]
