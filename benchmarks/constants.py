"""How many numbers stand in the code that decides answers? Counted by syntax tree, and by lines.

    python benchmarks/constants.py           # the counts now, and those of the commit before
    python benchmarks/constants.py list      # every number that counts, and where it stands
    python benchmarks/constants.py keep NAME # write the counts now into results/constants.csv as NAME

Counted is every numeric literal of the rooms below other than 0, 1, 2, -1 and .5, wherever it stands:
constants, defaults, fields, expressions. Not counted are those of LAYOUT, which cannot change an answer, each
with its reason. Lines are those that define a constant at the top of a file with a digit in its value. The 21
numbers of the hybrid model, the networks and the imputers are in the room ``structure`` now, and are counted
in the first column only.
"""

import ast
import csv
import re
import sys
from collections import Counter
from pathlib import Path

PACKAGE = Path(__file__).parent.parent / "src" / "seminaive"
KEPT = Path(__file__).parent / "results" / "constants.csv"
ROOMS = ("design", "objective", "selection", "solvers", "models")
PLAIN = {0, 1, 2, 0.5}
CONSTANT_LINE = re.compile(r"^[A-Z][A-Z0-9_, ]* = .*[0-9]")
# Numbers that do not decide anything: file, and the constant or function in which they stand. Where a
# function is named, its number follows.
LAYOUT = {
    ("design/coefficients.py", "MOST_DENSE_BYTES"): "bytes of an index that may be an array",
    ("design/coefficients.py", "layout", 8): "bytes of a float",
    ("design/coefficients.py", "to_scores", 4): "numbers that describe a polynomial",
    ("design/fusion.py", "CELL_BUDGET"): "cells of a fused table that stay in the cache",
    ("design/fusion.py", "FEW_ROWS"): "which terms share a table of sums",
    ("design/fusion.py", "MOST_SLOTS"): "length of an array of counts in memory",
    ("design/fusion.py", "PLANNING_ROWS"): "which terms share a table of sums",
    ("design/fusion.py", "plan_groups", 1.02): "which terms share a table of sums",
    ("design/gram.py", "AT_RANDOM"): "time of an addition, by which the order of sums is chosen",
    ("design/gram.py", "CALLING"): "time of a call, by which the order of sums is chosen",
    ("design/projected.py", "_table_terms", 8): "fields of a term as the kernels read them",
    ("design/reference.py", "ROWS_AT_ONCE"): "rows per block",
    ("design/reference.py", "of", 16): "bits of an integer",
    ("design/smooth_columns.py", "groups", 3): "slopes, main terms, pairs",
    ("design/smooth_columns.py", "of_margins", 4): "rows of an array: mean, deviation, range",
    ("design/smooth_scores.py", "smooth_scores", 16): "bytes per cell, for the check of memory",
    ("design/table_design.py", "MOST_TERMS"): "what is refused as too large",
    ("design/table_design.py", "MOST_COMBINATIONS"): "what a 64-bit integer holds",
    ("design/table_workspace.py", "LANES"): "floats per vector register, to which rows are padded",
    ("design/table_workspace.py", "BYTES_AT_ONCE"): "bytes per block",
    ("design/table_design.py", "of", 8): "vectors of a solver, for the check of memory",
    ("design/table_design.py", "refuse_too_large", 3): "arrays of scores, for the check of memory",
    ("design/table_design.py", "refuse_too_large", 4): "bytes of a code",
    ("design/table_design.py", "refuse_too_large", 8): "bytes of a float",
    ("design/workspace.py", "ROWS_AT_ONCE"): "rows per block",
    ("models/base.py", "MOST_MISTAKES"): "mistakes that a message lists",
    ("saving/model_files.py", "MAX_BYTES"): "bytes that a file may have",
    ("saving/model_files.py", "NO_LIMIT"): "what a 64-bit integer holds (before)",
    ("saving/model_files.py", "JSON_GROWTH"): "bytes of objects per byte of JSON",
    ("saving/model_files.py", "FORMAT_SINCE"): "a version",
    ("saving/model_files.py", "_damage_reported", 300): "characters of a message",
    ("saving/model_files.py", "_too_large", 1e6): "bytes of a megabyte",
    ("models/fitted_checks.py", "MOST_CELLS"): "what a 64-bit integer holds",
    ("models/fitted_checks.py", "LARGEST_SCORE"): "what a float holds, with room for sums",
    ("models/fitted_checks.py", "SKETCH_BITS"): "bits of an integer",
    ("models/fitted_checks.py", "is_size", 62): "what a 64-bit integer holds",
    ("models/fitted_checks.py", "check_statistics", 3): "axes of an array",
    ("models/fitted_checks.py", "check_summary", 3): "axes of an array",
    ("models/fitted_checks.py", "short", 57): "characters of a message",
    ("models/fitted_checks.py", "short", 60): "characters of a message",
    ("structure/fitted_network.py", "_generator", 31): "bits of a seed",
    ("models/generative_classifier.py", "_memory_parts", 4): "bytes of a code",
    ("structure/imputer_base.py", "LARGEST_SEED"): "what a 32-bit integer holds (before)",
    ("models/parameters.py", "LARGEST_WHOLE"): "what a 32-bit integer holds (before)",
    ("models/term_layout.py", "MANY_TERMS"): "what is warned of as slow",
    ("models/fit_progress.py", "BETWEEN_LINES"): "seconds between lines of progress",
    ("models/long_fits.py", "LONG"): "seconds from which a fit is announced (before)",
    ("models/long_fits.py", "CELLS_TO_MEASURE"): "what is measured, to announce a long fit",
    ("models/long_fits.py", "FEW_ROWS"): "what is measured, to announce a long fit",
    ("models/long_fits.py", "MORE_ROWS"): "what is measured, to announce a long fit",
    ("models/long_fits.py", "MANY_LEVELS"): "which columns a warning names",
    ("models/long_fits.py", "MOST_NAMED"): "how many columns a warning names",
    ("models/long_fits.py", "announce_long_fit", 60): "seconds of a minute",
    ("models/naive_bayes_logistic_regression_cv.py", "ROWS_AT_ONCE"): "rows per block (before)",
    ("structure/sparse_bayesian_network.py", "fit", 31): "bits of a seed",
    ("models/tree_augmented_naive_bayes.py", "_memory_parts", 4): "bytes of a code",
    ("models/tuple_statistics.py", "_memory_parts", 4): "bytes of a code",
    ("selection/decision.py", "POISSON"): "terms of a series above the rounding of a float",
    ("selection/fold_table.py", "of", 6): "arrays of scores, for the check of memory",
    ("selection/fold_table.py", "of", 8): "bytes of a float",
    ("structure/generative_parts.py", "__init__", 24): "bytes per cell, for the check of memory",
    ("selection/row_space_solver.py", "ENTRIES_AT_ONCE"): "entries per block",
    ("selection/row_space_solver.py", "prepare", 3): "slopes, main terms, pairs",
    ("selection/relevance_trials.py", "(SLOPES, MAINS, PAIRS, ALL)"): "the numbering of groups",
    ("solvers/blocked_path.py", "_evaluate", 3): "facts of a point that a pass fills in",
    ("structure/group_lasso_path.py", "_curvature", 24): "bytes, for the check of memory",
    ("structure/label_directions.py", "from_blocks", 3): "axes of an array",
    ("structure/label_directions.py", "to_blocks", 3): "axes of an array",
    ("solvers/line_search.py", "_next_step", 3): "the cubic through two values and slopes",
    ("solvers/quasi_newton.py", "MOST_NEWTON_COEFFICIENTS"): "what is refused as too large",
    ("solvers/quasi_newton.py", "MOST_VECTORS"): "vectors, for the check of memory",
    ("solvers/stagewise.py", "THREADED_CELLS"): "work from which threads are started",
    ("solvers/stagewise.py", "__init__", 16): "bytes, for the check of memory",
    ("solvers/stagewise.py", "__init__", 24): "bytes, for the check of memory",
    ("solvers/stagewise.py", "__init__", 3): "axes of an array",
}


def literals(path):
    """Yield the line, the constant or function, and the value of each number in a file that counts."""
    name = path.relative_to(PACKAGE).as_posix()
    for node, where in with_context(ast.parse(path.read_text()), ""):
        if not is_number(node) or node.value in PLAIN:
            continue
        if not {(name, where), (name, where, node.value)} & LAYOUT.keys():
            yield node.lineno, where, node.value


def is_number(node):
    is_literal = isinstance(node, ast.Constant) and not isinstance(node.value, bool)
    return is_literal and isinstance(node.value, int | float | complex)


def with_context(tree, where):
    """Yield the nodes of a syntax tree, each with the constant or the innermost function it stands in."""
    for node in ast.iter_child_nodes(tree):
        inside = where
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            inside = node.name
        elif isinstance(tree, ast.Module) and isinstance(node, ast.Assign):
            for name, value in assigned(node):
                yield value, name
                yield from with_context(value, name)
            continue
        yield node, inside
        yield from with_context(node, inside)


def assigned(node):
    """Return the names that an assignment defines, each with its value."""
    target, value = node.targets[0], node.value
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        return list(zip(map(ast.unparse, target.elts), value.elts, strict=True))
    return [(ast.unparse(target), value)]


def files(room):
    return sorted((PACKAGE / room).rglob("*.py"))


def counts():
    """Return the numbers and the lines of constants of each room."""
    found = {}
    for room in ROOMS:
        numbers = sum(len(list(literals(path))) for path in files(room))
        text = [line for path in files(room) for line in path.read_text().splitlines()]
        lines = sum(bool(CONSTANT_LINE.match(line)) for line in text)
        found[room] = (numbers, lines)
    return found


def kept():
    """Return the counts that were kept, by name and room."""
    if not KEPT.exists():
        return {}
    with KEPT.open() as file:
        rows = list(csv.DictReader(file))
    return {(row["when"], row["room"]): (int(row["numbers"]), int(row["lines"])) for row in rows}


def keep(name):
    """Write the counts now under a name, in the place of those that had it."""
    rows = {key: found for key, found in kept().items() if key[0] != name}
    rows |= {(name, room): found for room, found in counts().items()}
    with KEPT.open("w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["when", "room", "numbers", "lines"])
        out.writerows([*key, *found] for key, found in rows.items())


def report():
    """Print the counts now beside those of the first name that was kept."""
    now, before = counts(), kept()
    first = next(iter(before))[0]
    print(f"{'':12}{'numbers':>20}{'lines of constants':>24}")
    print(f"{'room':12}{first:>10}{'now':>10}{first:>14}{'now':>10}")
    total = Counter()
    for room in ROOMS:
        row = (*zip(before[first, room], now[room], strict=True),)
        print(f"{room:12}{row[0][0]:10}{row[0][1]:10}{row[1][0]:14}{row[1][1]:10}")
        total.update({k: row[k // 2][k % 2] for k in range(4)})
    print(f"{'all':12}{total[0]:10}{total[1]:10}{total[2]:14}{total[3]:10}")
    print(f"{total[1] / total[0]:.0%} of the numbers, {total[3] / total[2]:.0%} of the lines")


def show():
    """Print every number that counts."""
    for room in ROOMS:
        for path in files(room):
            for line, where, value in literals(path):
                print(f"{path.relative_to(PACKAGE)}:{line}: {where}: {value}")


if __name__ == "__main__":
    command = sys.argv[1] if len(sys.argv) > 1 else "report"
    {"report": report, "list": show, "keep": lambda: keep(sys.argv[2])}[command]()
