"""Products of pairs from fused tables equal those of the design's columns."""

import numpy as np
import pytest

from seminaive.design import gram as gram_module
from seminaive.design.fusion import FusedTerms
from seminaive.design.gram import CellGram
from seminaive.statistics import Terms


@pytest.mark.parametrize("n_rows", [40, 3000])
@pytest.mark.parametrize("costs", [(3.0, 100_000.0), (1e9, 0.0), (0.0, -1.0), (1e-9, -1e9)], ids=str)
@pytest.mark.parametrize("terms", [range(15), range(5), (1, 3, 7)])
def test_products_equal_those_of_the_columns_whichever_way_is_cheapest(monkeypatch, n_rows, costs, terms):
    for name, cost in zip(("AT_RANDOM", "CALLING"), costs, strict=True):
        monkeypatch.setattr(gram_module, name, cost)
    rng = np.random.default_rng(0)
    cardinalities = [2, 3, 5, 1, 4]
    codes = rng.integers(0, np.array(cardinalities) + 1, (n_rows, 5)).astype(np.uint8)
    every = Terms.up_to_order(cardinalities, 2)
    fused = FusedTerms.of(codes, every)
    numbers = rng.normal(size=(n_rows, 2))
    weights = rng.random(n_rows)
    products = CellGram(fused, numbers, terms)
    cells = every.cells(codes)[:, list(terms)]
    indicators = (cells[:, :, None] == fused.observed).any(axis=1)
    design = np.hstack([np.ones((n_rows, 1)), indicators, numbers])[:, products.coefficients]
    assert (design != 0).any(axis=0).all()
    assert len(products.coefficients) == 3 + len(np.unique(cells))
    # Sums of some thousand doubles in another order.
    np.testing.assert_allclose(products(weights), design.T @ (design * weights[:, None]), atol=1e-9)
