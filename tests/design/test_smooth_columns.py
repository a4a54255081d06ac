"""Functions of columns: how many there are, against the eigenvalues of the kernel matrix between rows."""

import numpy as np
import pandas as pd
import pytest

from seminaive.design.smooth_columns import SmoothColumns
from seminaive.encode import TableEncoder


def functions_of(values, weights):
    """Return the functions of one number at the rows."""
    _, table = TableEncoder.learn(pd.DataFrame({"x": values}))
    column = SmoothColumns.of(table, weights).columns[0]
    return column.main_features(table)


def heaped(n_rows):
    """Return whole numbers from 0 to 19, nine tenths of them zeros."""
    rng = np.random.default_rng(0)
    return np.where(rng.random(n_rows) < 0.9, 0, rng.integers(0, 20, n_rows)).astype(float)


@pytest.mark.parametrize("n_rows", [40, 300, 3000])
def test_functions_count_while_eigenvalue_times_rows_is_above_one(n_rows):
    values = heaped(n_rows)
    levels = np.searchsorted(np.unique(values), values)
    kernel = 1 - np.abs(levels[:, None] - levels) / (levels.max() + 1)
    centred = kernel - kernel.mean(axis=0) - kernel.mean(axis=1)[:, None] + kernel.mean()
    # The eigenvalues of the kernel matrix of the rows, of trace n, are n times those in the rows' metric.
    eigenvalues = np.linalg.eigvalsh(centred * (n_rows / np.trace(centred)))
    functions = functions_of(values, np.ones(n_rows))
    assert functions.shape[1] == (eigenvalues > 1).sum()
    found = np.sort((functions**2).sum(axis=0))
    np.testing.assert_allclose(found, eigenvalues[eigenvalues > 1], rtol=1e-9)


def test_integer_weights_have_the_functions_of_repeated_rows():
    values = heaped(200)
    repeats = np.random.default_rng(1).integers(1, 8, len(values))
    weighted = functions_of(values, repeats.astype(float))
    repeated = functions_of(np.repeat(values, repeats), np.ones(repeats.sum()))
    # An eigenfunction has no sign.
    np.testing.assert_allclose(np.abs(np.repeat(weighted, repeats, axis=0)), np.abs(repeated), atol=1e-10)


def test_all_that_rare_values_say_is_kept_on_many_rows():
    values = heaped(5000)
    functions = functions_of(values, np.ones(len(values)))
    indicators = values[:, None] == np.unique(values)[1:]
    fitted = functions @ np.linalg.lstsq(functions, indicators - indicators.mean(axis=0), rcond=None)[0]
    np.testing.assert_allclose(fitted, indicators - indicators.mean(axis=0), atol=1e-8)
