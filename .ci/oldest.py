"""Print the lower bounds of the runtime dependencies as exact versions, for pip's --constraint."""

import re
import sys
import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())["project"]
for requirement in [*project["dependencies"], *project["optional-dependencies"]["plot"]]:
    name, bound = re.fullmatch(r"([\w-]+)>=([\d.]+)", requirement).groups()
    # A bound of two numbers stands for its last bugfix release.
    exact = f"=={bound}" if bound.count(".") >= 2 else f"=={bound}.*"
    sys.stdout.write(f"{name}{exact}\n")
