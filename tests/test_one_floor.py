"""The floor under the models, counted: one loss, one factorisation, one loop of conjugate gradients, ...

Every count names the definitions that there are; a new one has to be added here, with a reason, or not made.
The papers' protocols, in the experiments, repeat what other programs do and are left out.
"""

import ast
from functools import cache
from pathlib import Path

import seminaive

SOURCE = Path(seminaive.__file__).parent
FILES = {
    path.relative_to(SOURCE).as_posix(): path.read_text(encoding="utf-8")
    for path in sorted(SOURCE.rglob("*.py"))
}


@cache
def trees():
    """Parse the files once, in the process that runs these tests."""
    return {name: ast.parse(text) for name, text in FILES.items()}


def called(node):
    """Return the names of the functions that a piece of code calls."""
    functions = (call.func for call in ast.walk(node) if isinstance(call, ast.Call))
    return {
        function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        for function in functions
    }


def functions_that(condition):
    """Return file and name of the functions whose own code meets a condition."""
    return {
        f"{name}:{function.name}"
        for name, tree in trees().items()
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef) and condition(function)
    }


def files_that_call(*names):
    return {name for name, tree in trees().items() if called(tree) & set(names)}


def names_in(node):
    return {name.id for name in ast.walk(node) if isinstance(name, ast.Name)}


def test_the_log_loss_is_defined_once_in_numpy_and_once_compiled():
    # Logarithms of sums of exponentials. Statistics of correlations and log odds of probabilities are none,
    # nor are the normalising constants of networks (`numpy.logaddexp.reduce`).
    no_losses = {"structure/independence.py", "selection/term_evidence.py", "explain/shift.py"}
    no_losses.add("explain/smallest_change.py")
    assert files_that_call("logaddexp", "logsumexp", "log1p") - no_losses == {
        "objective/log_loss.py",
        "kernels/compiled_log_loss.py",
        "kernels/path_pass.py",
    }
    # The passes over rows of a path take the product of many logarithms; what they add up is that of losses.
    assert {"against", "shortfall", "softmax_loss"} <= called(trees()["kernels/path_pass.py"])
    for name in ("kernels/descent", "structure/kernels/group_lasso"):
        assert {"exponentiate", "largest"} <= called(trees()[f"{name}.py"])


def test_there_are_three_line_searches():
    found = functions_that(lambda function: {"SUFFICIENT_DECREASE", "ARMIJO"} & names_in(function))
    assert found == {
        "solvers/line_search.py:backtrack",
        "solvers/line_search.py:search_wolfe",
        "kernels/path_line_search.py:falls_enough",
    }
    halving = functions_that(lambda function: "MOST_HALVINGS" in names_in(function))
    assert halving == {"solvers/line_search.py:backtrack", "solvers/line_search.py:search_wolfe"}


def test_there_is_one_loop_of_linear_conjugate_gradients():
    assert files_that_call("update_direction") == {"solvers/minimize.py"}
    # SciPy's, for the margins of tables of three columns.
    assert files_that_call("cg") == {"scores/pure.py"}


def test_there_is_one_cholesky_factorisation_and_a_compiled_one():
    assert files_that_call("potrf", "dpotrf", "spotrf", "cholesky", "cho_factor") == {
        "objective/factor.py",
        # A draw from a posterior needs the factor itself, of a matrix that is never singular.
        "structure/conditionals.py",
    }
    compiled = functions_that(
        lambda function: {"sqrt", "range"} <= called(function) and "factor" in names_in(function)
    )
    assert {name for name in compiled if name.startswith("kernels/")} == {
        "kernels/path_elastic_net.py:solve_part"
    }


def is_gram(node):
    """Tell whether an expression is a product of a matrix, transposed, with itself, weighted or not."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.MatMult):
        return False
    left = node.left
    if not isinstance(left, ast.Attribute) or left.attr != "T":
        return False
    right = node.right
    factors = [right.left, right.right] if isinstance(right, ast.BinOp) else [right]
    return ast.unparse(left.value) in map(ast.unparse, factors)


def test_there_are_three_weighted_gram_matrices():
    """X'WX: of a matrix in memory, of codes, and compiled into the passes of the L1 path."""
    dense = functions_that(lambda function: any(is_gram(node) for node in ast.walk(function)))
    # Not of rows: between tables of effects, rotations of features, and a Schur complement.
    others = {
        "design/row_space.py:_rotated",
        "scores/pure.py:_two_way",
        "scores/unknown_variance.py:covariance",
        "structure/logistic_parts.py:of",
    }
    assert dense - others == {"design/weighted_gram.py:weighted_gram"}
    # Sums over pairs of codes of a row are in one file of kernels; `CellGram` and the group lasso call it.
    assert files_that_call("count_pairs") == {"design/gram.py", "structure/group_lasso_path.py"}
    assert "def weighted_gram(" in FILES["kernels/path_gram.py"]


def test_there_are_two_preconditioners():
    """Of a coarse space or blocks and a diagonal, and of classes; others pass vectors on."""
    computing = {
        f"{name}:{node.name}"
        for name, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        and node.name.endswith("Preconditioner")
        and any(isinstance(part, ast.BinOp) for part in ast.walk(node))
    }
    assert computing == {
        "objective/preconditioner.py:SubspacePreconditioner",
        "selection/class_preconditioner.py:ClassPreconditioner",
    }


def test_there_are_three_certificates():
    """A residual, a decrement, and the duality gap of paths; `optimality` is one of the first two."""
    made = {
        (name, ast.unparse(node.value.func) if isinstance(node.value, ast.Call) else "no call")
        for name, tree in trees().items()
        if name.startswith("solvers/")
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "optimality"
    }
    assert len(made) >= 6
    assert {certificate for _, certificate in made} == {"relative_residual", "relative_decrement"}


def test_a_file_name_occurs_once():
    names = [Path(name).name for name in FILES if not name.endswith("__init__.py")]
    assert not {name for name in names if names.count(name) > 1}


def test_functions_are_short():
    long = {
        f"{name}:{function.name}": lines
        for name, tree in trees().items()
        if not name.startswith("kernels/")
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef) and (lines := _lines_of_code(function)) > 50
    }
    assert not long


def _lines_of_code(function):
    """Return the lines of a function's body, its docstring left out."""
    first = function.body[0]
    is_text = isinstance(first, ast.Expr) and isinstance(getattr(first.value, "value", None), str)
    start = first.end_lineno + 1 if is_text else first.lineno
    return function.end_lineno - start + 1


def test_files_are_short():
    assert not {name for name, text in FILES.items() if text.count("\n") > 400}
