"""What every design offers: the products of a matrix X that is never built."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

from seminaive.design.workspace import PlainWorkspace

if TYPE_CHECKING:
    from collections.abc import Callable

    from seminaive.arrays import Floats, Indices


Result = TypeVar("Result")

# Dense multiplications that take as long as reading one entry of a table, as measured on two machines: 5 to
# 12. Only how often a preconditioner is built depends on it.
OPERATIONS_PER_GATHER = 8.0


class Workspace(Protocol):
    """Scores of all rows of a design in K columns, kept in one array that passes overwrite."""

    def score(
        self, coefficients: Floats, then: Callable[[slice, Floats], Result] | None = None
    ) -> list[Result]:
        """Fill in X B; return what ``then`` gives for each block of rows.

        ``then`` is called with the rows of a block and their scores while these are in the cache. It may
        overwrite them, by residuals for instance; padding beyond the K columns is 0 and stays so. Blocks are
        fixed, and their results come in order.
        """

    @property
    def width(self) -> int:
        """Return the number of columns of scores that ``then`` sees: K, and perhaps some padding."""

    @property
    def values(self) -> Floats:
        """Return the array, (n_rows, K): the scores, or what has replaced them."""

    def load(self, values: Floats, then: Callable[[slice, Floats], Result]) -> list[Result]:
        """Take given values in place of X B; return what ``then`` gives for each block of rows."""

    def adjoint(self) -> Floats:
        """Return X'R, (n_coefficients, K), of the values R."""


class Design(Protocol):
    """The columns X of a linear model over the rows of a table: ``<X B, R> = <B, X'R>``.

    B has one row per coefficient, the intercept first, and any number of columns. A design that inherits has
    `workspace`, or `scores` and `adjoint`, by itself.
    """

    @property
    def n_rows(self) -> int:
        """Return the number of rows."""

    @property
    def n_coefficients(self) -> int:
        """Return the number of columns of X."""

    @property
    def operations(self) -> float:
        """Return what a pass takes for each score of each row, in dense multiplications."""

    def coefficient_columns(self, n_scores: int) -> int:
        """Return the number of columns of coefficients for ``n_scores`` columns of scores: these or one."""
        return n_scores

    def workspace(self, n_columns: int) -> Workspace:
        """Return room for passes over the rows with ``n_columns`` columns of coefficients."""
        return PlainWorkspace(self, n_columns)

    def scores(self, coefficients: Floats) -> Floats:
        """Return X B, (n_rows, K)."""
        space = self.workspace(coefficients.shape[1])
        space.score(coefficients)
        return space.values.copy()

    def adjoint(self, residuals: Floats) -> Floats:
        """Return X'R, (n_coefficients, K)."""
        space = self.workspace(residuals.shape[1])
        space.values[:] = residuals
        return space.adjoint()

    def squared_adjoint(self, residuals: Floats) -> Floats:
        """Return (X * X)'R, (n_coefficients, K): the diagonals of X' diag(r) X for each column r."""

    def gram(self, row_weight: Floats, columns: Indices | None = None) -> Floats:
        """Return X' diag(w) X for some columns of X, by default for all."""

    @property
    def rough(self) -> Design:
        """Return the design for products that only steer a search: this one, or one of fewer digits."""
        return self
