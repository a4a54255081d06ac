"""A test of conditional independence among numbers by permutations, drawn until the answer is clear."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from seminaive.structure.results import LEVEL, IndependenceResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seminaive.arrays import Floats

# Permutations that are drawn together; a test that is clear at once draws no more.
AT_ONCE = 100


@dataclass(frozen=True)
class SequentialPermutationTests:
    """Sequential Monte Carlo permutations of a partial correlation: ``tests(target, candidate, given)``.

    The residuals of the target and the candidate, given the others, are correlated; then those of the
    candidate are permuted. With h permutations of n that correlate at least as much, the p-value is ``(h + 1)
    / (n + 1)``. The test stops as soon as h alone puts it above the level at which it is to be judged (Besag
    and Clifford, 1991), so that an independent pair costs a few hundred permutations and a dependent one all
    of them. It is `smc-mi-g` of bnlearn: the mutual information of a Gaussian pair grows with its squared
    correlation. What a result gives as degrees of freedom is the number of permutations drawn.

    Parameters
    ----------
    numbers : ndarray of shape (n_rows, n_columns)
        NaN where missing; rows with a missing value in a test are left out of it.
    alpha : float, default=0.05
        The level at which results are judged.
    n_permutations : int, default=5000
        Drawn at most.
    seed : int, default=0
        Of the permutations, together with the columns: the same test always gives the same answer.

    Examples
    --------
    Two measurements of one quantity are independent given the quantity:

    >>> rng = np.random.default_rng(0)
    >>> quantity = rng.normal(size=(300, 1))
    >>> tests = SequentialPermutationTests(np.hstack([quantity, quantity + rng.normal(size=(300, 2))]))
    >>> tests(1, 2, ()).dependent(0.05), tests(1, 2, (0,)).dependent(0.05)
    (True, False)
    """

    numbers: Floats
    alpha: float = LEVEL
    n_permutations: int = 5000
    seed: int = 0

    def __call__(self, target: int, candidate: int, given: Sequence[int]) -> IndependenceResult:
        """Test the independence of target and candidate given some columns."""
        columns = self.numbers[:, [target, candidate, *given]]
        columns = columns[~np.isnan(columns).any(axis=1)]
        of_target, of_candidate = _standardised_residuals(columns)
        observed = abs(float(of_target @ of_candidate))
        rng = np.random.default_rng([self.seed, target, candidate, *sorted(given)])
        enough = self.alpha * (self.n_permutations + 1)
        as_large, drawn = 0, 0
        while drawn < self.n_permutations and as_large + 1 <= enough:
            n = min(AT_ONCE, self.n_permutations - drawn)
            permuted = rng.permuted(np.tile(of_candidate, (n, 1)), axis=1)
            as_large += int((np.abs(permuted @ of_target) >= observed - 1e-12).sum())
            drawn += n
        p_value = (as_large + 1) / (drawn + 1)
        return IndependenceResult(
            "smc-mi-g", observed, float(drawn), p_value, float(np.log(p_value)), len(columns)
        )


def _standardised_residuals(columns: Floats) -> tuple[Floats, Floats]:
    """Return the residuals of the first two columns given the others, of length 1; zeros if none are left."""
    design = np.column_stack([np.ones(len(columns)), columns[:, 2:]])
    fitted = design @ np.linalg.lstsq(design, columns[:, :2], rcond=None)[0]
    residuals = columns[:, :2] - fitted
    length = np.linalg.norm(residuals, axis=0)
    spread = np.linalg.norm(columns[:, :2] - columns[:, :2].mean(axis=0), axis=0)
    varies = length > 1e-8 * spread
    first, second = np.divide(residuals, length, out=np.zeros_like(residuals), where=varies).T
    return first, second
