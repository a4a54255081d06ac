"""Steps between knots: the same prior as eigenfunctions, and shapes as inequalities of their coefficients."""

import numpy as np
import pandas as pd
import pytest

from seminaive.design.shape_constraints import ShapeConstraints
from seminaive.design.shaped_columns import Shape, step_functions, with_shapes
from seminaive.design.smooth_column import eigenfunctions, random_walk_kernel
from seminaive.design.smooth_columns import SmoothColumns
from seminaive.design.smooth_scores import number_curves, term_blocks
from seminaive.encode import EqualFrequencyCuts, TableEncoder


@pytest.mark.parametrize("counts_missing", [False, True])
@pytest.mark.parametrize("n_knots", [2, 7, 40])
def test_steps_and_eigenfunctions_have_the_same_kernel(n_knots, counts_missing):
    mass = np.random.default_rng(n_knots).uniform(0.5, 3.0, n_knots + 1)
    known = n_knots + counts_missing
    kernel = np.eye(known)
    kernel[:n_knots, :n_knots] = random_walk_kernel(n_knots)
    shares = mass[:known] / mass[:known].sum()
    functions, eigenvalues = eigenfunctions(kernel, shares, 0.0)
    steps = step_functions(mass, counts_missing=counts_missing)[:known]
    # Eigenfunctions are scaled to a mean variance of 1, the sum of their eigenvalues.
    expected = functions @ functions.T / eigenvalues.sum()
    np.testing.assert_allclose(steps @ steps.T, expected, rtol=0, atol=1e-12)


def shaped(shapes, n_classes, smoothness=None):
    rng = np.random.default_rng(3)
    X = pd.DataFrame({"a": rng.exponential(size=300), "b": rng.integers(0, 9, 300) / 2.0})
    X.iloc[::11, 1] = np.nan
    _, table = TableEncoder.learn(X, cut_rule=EqualFrequencyCuts(4))
    weights = rng.uniform(0.5, 2.0, 300)
    columns = SmoothColumns.of(table, weights)
    made = with_shapes(columns, table.schema, lambda _: (table, weights), shapes, smoothness or {})
    return made.crossed(made.all_pairs, n_classes)


@pytest.mark.parametrize(
    ("shape", "n_classes"),
    [
        (Shape("increasing", 1), 2),
        (Shape("decreasing", 0), 2),
        (Shape("convex", 1), 2),
        (Shape("concave", 1), 2),
        (Shape("increasing", 1), 3),
        (Shape("decreasing", 2), 4),
    ],
    ids=str,
)
def test_coefficients_obey_the_inequalities_where_the_curve_has_the_shape(shape, n_classes):
    columns = shaped({0: shape, 1: shape}, n_classes)
    constraints = ShapeConstraints.of(columns, n_classes)
    rng = np.random.default_rng(0)
    k = 1 if n_classes == 2 else n_classes
    seen = set()
    for scale in (0.0, 0.01, 1.0):
        coefficients = scale * rng.normal(size=(1 + int(columns.sizes.sum()), k))
        # Coefficients near some that obey: pushed along the inequalities' normals.
        coefficients += constraints.adjoint(np.full(len(constraints), 0.1))
        curves = number_curves(columns, coefficients, term_blocks(columns))
        for j, number in enumerate((0, 1)):
            here = slice(*curves.starts[number : number + 2])
            knots, values = curves.knots[here], curves.values[here]
            obeys = violation(shape, knots, values) <= 1e-9
            assert obeys == (constraints.slacks(coefficients)[constraints.owners == j].min() >= -1e-9)
            seen.add(obeys)
    assert seen == {False, True}


def violation(shape, knots, values):
    """Return by how much the score of a class, less those of the others, leaves its shape."""
    gaps = values[:, [shape.label]] - np.delete(values, shape.label, axis=1)
    rises = np.diff(gaps, axis=0)
    if shape.kind in ("convex", "concave"):
        rises = np.diff(rises / np.diff(knots)[:, None], axis=0)
    return float((rises if shape.kind in ("decreasing", "concave") else -rises).max())


def test_a_linear_column_has_no_curve_and_a_shaped_one_no_pair():
    columns = shaped({0: Shape("linear")}, 2)
    assert columns.mains == (1,)
    assert columns.pairs == ()
    # A missing cell has a level beside the line.
    assert shaped({1: Shape("linear")}, 2).columns[1].main.shape == (3, 1)


def test_smoothness_divides_the_variance_of_a_curve():
    free, smooth = shaped({}, 2), shaped({}, 2, {1: 4.0})
    np.testing.assert_allclose(smooth.columns[1].main, free.columns[1].main / 2)
    np.testing.assert_array_equal(smooth.columns[0].main, free.columns[0].main)
    assert smooth.smoothness.tolist() == [1, 1, 1, 4, 1]
