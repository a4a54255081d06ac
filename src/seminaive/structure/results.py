"""The outcome of one test of conditional independence."""

from __future__ import annotations

from dataclasses import dataclass

# The level of a test unless its caller says otherwise.
LEVEL = 0.05


@dataclass(frozen=True)
class IndependenceResult:
    """One test of ``X`` and ``Y`` being independent given some variables.

    Parameters
    ----------
    test : str
        Name of the test, as in the package's list of tests.
    statistic : float
        NaN where the test could not be made.
    p_value : float
        1 where the test could not be made.
    log_p_value : float
        Its logarithm, which orders results whose p-values are all 0 in double precision.
    n_rows : float
        Weight of the rows without a missing value among the variables of the test.
    n_cells : int
        Combinations of values of all variables of the test; 0 for tests of correlations.
    testable : bool
        False where there are more cells than rows and that is not allowed: such a test decides nothing.
    """

    test: str
    statistic: float
    degrees_of_freedom: float
    p_value: float
    log_p_value: float
    n_rows: float
    n_cells: int = 0
    testable: bool = True

    @classmethod
    def untestable(
        cls, test: str, n_rows: float, n_cells: int, degrees_of_freedom: float
    ) -> IndependenceResult:
        """Return the result of a test that needs more cells than there are rows."""
        return cls(test, float("nan"), degrees_of_freedom, 1.0, 0.0, n_rows, n_cells, testable=False)

    def dependent(self, alpha: float) -> bool:
        """Tell whether independence is rejected at level ``alpha``; never where it could not be tested."""
        return self.testable and self.p_value <= alpha

    def __str__(self) -> str:
        if not self.testable:
            return f"{self.test} untestable: {self.n_cells:,} cells for {self.n_rows:g} rows"
        return f"{self.test} = {self.statistic:.5g}, df = {self.degrees_of_freedom:g}, p = {self.p_value:.4g}"
