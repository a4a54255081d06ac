"""A tag is refused unless package, citation and changelog fit it, and sites of versions lie side by side."""

import importlib.util
import re
from pathlib import Path

import pytest

import seminaive

ROOT = Path(__file__).parent.parent
EXPERIMENTS = "packages/experiments"


def script(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / ".ci" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def release(tmp_path, monkeypatch):
    """Return the check, on a copy of what it reads, and a function that changes a file of the copy."""
    check = script("check_release")
    for path in (
        "src/seminaive/__init__.py",
        f"{EXPERIMENTS}/src/seminaive_experiments/__init__.py",
        f"{EXPERIMENTS}/pyproject.toml",
        "CITATION.cff",
        "CHANGELOG.md",
    ):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text((ROOT / path).read_text(encoding="utf-8"), encoding="utf-8")
    monkeypatch.setattr(check, "ROOT", tmp_path)

    def change(path, pattern, text):
        changed, times = re.subn(pattern, text, (tmp_path / path).read_text(encoding="utf-8"), count=1)
        assert times == 1
        (tmp_path / path).write_text(changed, encoding="utf-8")

    return check, change


def test_the_tag_of_this_version_fits(release):
    assert release[0].faults(f"v{seminaive.__version__}") == []


@pytest.mark.parametrize(
    ("path", "pattern", "text", "fault"),
    [
        ("src/seminaive/__init__.py", '__version__ = ".*"', '__version__ = "9.9.9"', "__version__"),
        (
            f"{EXPERIMENTS}/src/seminaive_experiments/__init__.py",
            '__version__ = ".*"',
            '__version__ = "9.9.9"',
            "__version__ of seminaive_experiments",
        ),
        (f"{EXPERIMENTS}/pyproject.toml", '"seminaive==.*"', '"seminaive==9.9.9"', "experiments requires"),
        (f"{EXPERIMENTS}/pyproject.toml", r"\[plot\]==[^\"]*", "[plot]==9.9.9", "the extra plot"),
        ("CITATION.cff", r"\nversion: .*", "\nversion: 9.9.9", "the version of CITATION.cff"),
        ("CITATION.cff", "date-released: .*", 'date-released: "1999-01-01"', "different days"),
        (
            "CHANGELOG.md",
            r"\n## 0.3.0 \(.*\)",
            r"\n## 0.3.0 (unreleased)",
            "the first dated section of CHANGELOG.md",
        ),
    ],
)
def test_a_version_or_a_day_that_was_forgotten_is_named(release, path, pattern, text, fault):
    check, change = release
    change(path, pattern, text)
    assert any(fault in said for said in check.faults(f"v{seminaive.__version__}"))


def test_the_site_leads_to_the_newest_release_and_keeps_the_others(tmp_path):
    publish = script("site_version").place
    html, site = tmp_path / "html", tmp_path / "site"
    html.mkdir()
    site.mkdir()
    for ref in ("main", "v0.9.0", "v0.10.0", "v0.9.1"):
        (html / "index.html").write_text(ref)
        publish(html, site, ref)
    (html / "index.html").write_text("main, later")
    publish(html, site, "main")
    page = (site / "index.html").read_text()
    assert re.findall(r'<li><a href="([^"]+)/">', page) == ["v0.10.0", "v0.9.1", "v0.9.0", "main"]
    assert 'url=v0.10.0/"' in page
    assert (site / "v0.9.0" / "index.html").read_text() == "v0.9.0"
    assert (site / "main" / "index.html").read_text() == "main, later"


def test_a_site_of_another_branch_is_refused(tmp_path):
    (tmp_path / "index.html").touch()
    with pytest.raises(SystemExit, match="main or for a tag"):
        script("site_version").place(tmp_path, tmp_path / "site", "some-branch")


def test_every_action_of_a_workflow_is_pinned_to_a_commit():
    workflows = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
    uses = [line for path in workflows for line in re.findall(r"uses: (.*)", path.read_text())]
    assert len(workflows) == 4
    assert [line for line in uses if not re.match(r"\./|[\w/-]+@[0-9a-f]{40} # v", line)] == []
