"""Put a built site into the folder of its version: ``python .ci/site_version.py HTML SITE REF``.

``REF`` is ``main`` or a tag such as ``v0.3.0``; the site of each lies in a folder of that name, and the page
of SITE leads to the newest release, or to ``main`` where there is none yet. Other folders stay as they are.
"""

import re
import shutil
import sys
from pathlib import Path

PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>seminaive</title>
<meta http-equiv="refresh" content="0; url={newest}/">
<p><a href="{newest}/">seminaive {newest}</a>. All versions:</p>
<ul>
{items}
</ul>
</html>
"""


def release_number(name: str) -> tuple[int, ...] | None:
    """Return the numbers of a tag such as v0.3.0, or None where the name is another."""
    found = re.fullmatch(r"v(\d+)\.(\d+)\.(\d+)", name)
    return tuple(map(int, found.groups())) if found else None


def place(html: Path, site: Path, ref: str) -> None:
    """Replace the folder of one version, and list all of them, newest first."""
    if ref != "main" and release_number(ref) is None:
        sys.exit(f"a site is published for main or for a tag such as v1.2.3, got {ref!r}")
    if not (html / "index.html").is_file():
        sys.exit(f"{html} holds no index.html: build the site first, by make docs")
    shutil.rmtree(site / ref, ignore_errors=True)
    shutil.copytree(html, site / ref)
    (site / ".nojekyll").touch()
    found = [folder.name for folder in site.iterdir() if (folder / "index.html").is_file()]
    versions = sorted(found, key=lambda name: release_number(name) or (-1,), reverse=True)
    items = "\n".join(f'<li><a href="{name}/">{name}</a></li>' for name in versions)
    (site / "index.html").write_text(PAGE.format(newest=versions[0], items=items), encoding="utf-8")


if __name__ == "__main__":
    place(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
