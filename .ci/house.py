"""Print the house in figures: sizes and imports of each room, what one fit executes, and the public names.

``python .ci/house.py`` from a clone, in an environment that has the package; ``--json`` prints one line.
"""

import ast
import inspect
import io
import json
import subprocess
import sys
import tokenize
import warnings
from collections import Counter, defaultdict
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from statistics import median
from types import FrameType

import numpy as np
import pandas as pd

import seminaive

ROOT = Path(__file__).parent.parent
PACKAGES = sorted([*ROOT.glob("src/*/"), *ROOT.glob("packages/*/src/*/")])
NO_CODE = {
    *(tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT),
    *(tokenize.ENDMARKER, tokenize.ENCODING),
}
# A reader follows a function up to about this many lines; a file below this is seldom a subject of its own.
LONG_FUNCTION, SHORT_FILE = 50, 40
WALKED = ("SemiNaive", "NaiveBayesLogisticRegressionCV", "NaiveBayes")


def lines_of_code(text: str, tree: ast.Module) -> tuple[set[int], set[int], set[int]]:
    """Return the lines of code, of comments, and of imports; a docstring is neither."""
    docstrings: set[int] = set()
    imports: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node):
            docstrings.update(range(node.body[0].lineno, node.body[0].end_lineno + 1))
        if isinstance(node, ast.Import | ast.ImportFrom):
            imports.update(range(node.lineno, node.end_lineno + 1))
    code: set[int] = set()
    comments: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            comments.add(token.start[0])
        elif token.type not in NO_CODE:
            code.update(range(token.start[0], token.end[0] + 1))
    code -= docstrings
    return code, comments - code, imports & code


def function_lengths(tree: ast.Module) -> list[int]:
    """Return the lines of each function without its head and docstring."""
    lengths = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            body = node.body[1:] if len(node.body) > 1 and ast.get_docstring(node) else node.body
            lengths.append(node.end_lineno - body[0].lineno + 1)
    return lengths


def sizes(package: Path) -> tuple[dict[str, Counter[str]], dict[str, float]]:
    """Return the sizes of each room of a package, and the figures of the whole."""
    rooms: dict[str, Counter[str]] = defaultdict(Counter)
    lengths: list[int] = []
    code_of_files: list[int] = []
    for path in sorted(package.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        code, comments, imports = lines_of_code(text, tree)
        parts = path.relative_to(package).parts
        row = {"files": 1, "lines": text.count("\n"), "code": len(code)}
        row |= {"comments": len(comments), "imports": len(imports)}
        rooms[parts[0] if len(parts) > 1 else "(top)"].update(row)
        lengths += function_lengths(tree)
        code_of_files.append(len(code))
    total = sum(rooms.values(), Counter())
    figures = {
        "files": total["files"],
        "lines": total["lines"],
        "code": total["code"],
        "code per file": round(total["code"] / total["files"]),
        "imports, share of code": round(total["imports"] / total["code"], 3),
        "comments, share of code": round(total["comments"] / total["code"], 3),
        "functions": len(lengths),
        f"functions over {LONG_FUNCTION} lines": sum(length > LONG_FUNCTION for length in lengths),
        "median function": median(lengths),
        f"files under {SHORT_FILE} lines of code": sum(length < SHORT_FILE for length in code_of_files),
    }
    return rooms, figures


def walk(name: str) -> dict[str, int]:
    """Fit a model to a small mixed table; return what of the package was executed, imports left out."""
    rng = np.random.default_rng(0)
    n_rows = 300
    X = pd.DataFrame(
        {
            "age": rng.normal(50, 10, n_rows),
            "income": rng.lognormal(3, 1, n_rows),
            "city": rng.choice(list("abcd"), n_rows),
            "sex": rng.choice(["f", "m"], n_rows),
        }
    )
    y = np.where(X["age"] + 5 * (X["sex"] == "f") + rng.normal(0, 8, n_rows) > 52, "yes", "no")
    root = Path(seminaive.__file__).parent
    calls: Counter[tuple[str, str]] = Counter()
    stack: list[bool] = []
    visited: list[str] = []
    depths: list[int] = []

    def watch(frame: FrameType, event: str, _: object) -> None:
        file = Path(frame.f_code.co_filename)
        if not file.is_relative_to(root):
            return
        if event == "call":
            # The body of a function, and not of a module or of a class that is being imported.
            stack.append(bool(frame.f_code.co_flags & inspect.CO_NEWLOCALS))
            if all(stack):
                calls[str(file), frame.f_code.co_qualname] += 1
                visited.append(file.relative_to(root).parts[0])
                depths.append(len(stack))
        elif event == "return" and stack:
            stack.pop()

    # The first fit compiles kernels, which would be walked through otherwise.
    model = getattr(seminaive, name)().fit(X, y)
    sys.setprofile(watch)
    model.fit(X, y)
    sys.setprofile(None)
    return {
        "files": len({file for file, _ in calls}),
        "functions": len(calls),
        "depth": max(depths),
        "calls": calls.total(),
        "changes of room": sum(one != other for one, other in pairwise(visited)),
    }


def modules_after(statement: str) -> int:
    """Return how many modules of the package a new process has loaded after a statement."""
    count = "import sys; print(sum(name.split('.')[0] == 'seminaive' for name in sys.modules))"
    done = subprocess.run(  # noqa: S603 - statements of this file
        [sys.executable, "-c", f"{statement}\n{count}"], capture_output=True, text=True, check=True
    )
    return int(done.stdout)


def public_names() -> dict[str, int]:
    """Return the number of names that `dir` lists of the package and of each of its public rooms."""
    found = {"seminaive": dir(seminaive)}
    for name in seminaive.ROOMS:
        found[f"seminaive.{name}"] = dir(import_module(f"seminaive.{name}"))
    return {f"dir({room})": sum(not name.startswith("_") for name in names) for room, names in found.items()}


def longest_chain() -> int:
    """Return the most classes of ours in the line of a public class."""
    classes = [getattr(seminaive, name) for name in seminaive.__all__]
    return max(
        sum(base.__module__.startswith("seminaive") for base in inspect.getmro(each))
        for each in classes
        if inspect.isclass(each)
    )


def main() -> None:
    """Print the figures."""
    warnings.simplefilter("ignore")
    figures: dict[str, object] = {}
    say = sys.stdout.write if "--json" not in sys.argv else lambda _: None
    for package in PACKAGES:
        rooms, of_package = sizes(package)
        say(f"{package.name}\n")
        for room, row in sorted(rooms.items(), key=lambda item: -item[1]["lines"]):
            per_file = row["code"] / row["files"]
            say(f"  {room:24s}{row['files']:5d} files {row['lines']:7,d} lines {per_file:6.0f} code/file\n")
        figures |= {f"{package.name}: {key}": value for key, value in of_package.items()}
    figures |= {f"{name}.fit": walk(name) for name in WALKED}
    for statement in ("import seminaive", "from seminaive import SemiNaive"):
        figures[f"modules of ours after {statement!r}"] = modules_after(statement)
    figures["most classes of ours above an estimator"] = longest_chain()
    figures |= public_names()
    for key, value in figures.items():
        say(f"{key}: {value}\n")
    if "--json" in sys.argv:
        sys.stdout.write(json.dumps(figures) + "\n")


if __name__ == "__main__":
    main()
