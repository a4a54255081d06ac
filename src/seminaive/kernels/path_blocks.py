"""What a block of rows adds to the passes of the path solver, where rows lie in blocks.

`newton_path` takes a path on and says what it needs of the rows; ``solvers/blocked_path.py`` adds up what all
blocks give.

Letters
-------
n, D, K, x, g : as in ``path_problem``
"""

from seminaive.kernels.compile_options import kernel, reordered_part
from seminaive.kernels.path_gram import add_products, finish_gram
from seminaive.kernels.path_pass import evaluate
from seminaive.kernels.path_problem import WIDTH


@kernel
def block_derivatives(design, problem, work, softmax, point):
    """Fill g, loss, odds and margin of the rows of a block at point.x."""
    evaluate(design, problem, work, softmax, point)


@reordered_part
def products_of_block(design, problem, work, softmax, model):
    """Add the second derivatives of a block."""
    add_products(design, problem, work, softmax, model)


@kernel
def block_curvature(design, problem, work, softmax, model, point):
    """Add the second derivatives of the rows of a block at point.x, over the working set, to model.gram."""
    evaluate(design, problem, work, softmax, point)
    products_of_block(design, problem, work, softmax, model)


@kernel
def finish_curvature(design, model, n_scores):
    """Complete second derivatives that are the sum of those of all blocks."""
    finish_gram(model.gram, model.state[WIDTH], n_scores, model.position, design)
