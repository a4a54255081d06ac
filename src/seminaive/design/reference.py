"""The columns of a linear model on a mixed table, without a dummy matrix."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]


def compiled_layout(array: NDArray[Any], dtype: Any) -> NDArray[Any]:
    """Return an array as the kernels take it, copied only if it must be.

    A read-only array is another type to the compiler, and would cost a compilation of its own.
    """
    return np.require(array, dtype, ["C", "W", "A"])


@dataclass(frozen=True)
class LinearDesign:
    """An intercept, numeric columns, and one indicator per category that is not its column's reference.

    Coefficients stand in that order; the indicators of a column follow its codes. A code equal to the
    column's number of categories has no indicator, like the reference: it stands for "no evidence".

    Parameters
    ----------
    numbers : ndarray of shape (n_rows, n_numbers)
        Finite.
    places : ndarray of shape (n_rows, n_coded)
        The coefficient of each coded cell; ``n_coefficients`` where it has none.
    first_place : ndarray of shape (n_coded + 1,)
        Where each coded column's coefficients start.
    n_coefficients : int

    Examples
    --------
    Two numbers and a column of three categories, of which code 1 is the reference:

    >>> import numpy as np
    >>> design = LinearDesign.of(np.zeros((4, 2)), np.array([[0], [1], [2], [2]]), [3], [1])
    >>> design.n_coefficients
    5
    >>> design.scores(np.array([[10.0], [0.0], [0.0], [1.0], [2.0]])).ravel()
    array([11., 10., 12., 12.])
    """

    numbers: Floats
    places: NDArray[Any]
    first_place: Integers
    n_coefficients: int

    @classmethod
    def of(
        cls,
        numbers: Floats | None = None,
        codes: NDArray[Any] | None = None,
        cardinalities: Sequence[int] = (),
        references: Sequence[int] | None = None,
    ) -> LinearDesign:
        """Lay out a design; references are codes, by default each column's first.

        Parameters
        ----------
        numbers : ndarray of shape (n_rows, n_numbers), default=None
        codes : ndarray of shape (n_rows, n_coded), default=None
        cardinalities : sequence of int
            The number of categories of each coded column.
        references : sequence of int, default=None
            The code of each coded column that has no coefficient.
        """
        if numbers is None and codes is None:
            raise InputError("a design needs numbers or codes, got neither")
        n_rows = len(numbers) if numbers is not None else len(codes)  # type: ignore[arg-type]
        numbers = np.zeros((n_rows, 0)) if numbers is None else compiled_layout(numbers, np.float64)
        codes = np.zeros((n_rows, 0), dtype=np.uint8) if codes is None else codes
        references = [0] * len(cardinalities) if references is None else references
        if len(codes) != len(numbers) or codes.shape[1] != len(cardinalities):
            raise InputError(
                f"numbers of shape {numbers.shape}, codes of shape {codes.shape} and {len(cardinalities)} "
                "cardinalities do not describe the same rows and columns"
            )
        if not np.isfinite(numbers).all():
            raise InputError("numbers must be finite: fill missing cells before solving")
        if len(codes) and (codes.max(axis=0) > np.asarray(cardinalities)).any():
            raise InputError("a code exceeds its column's number of categories")
        if len(codes) and (codes.min(axis=0) < 0).any():
            raise InputError(
                "a code is negative: codes count from 0, and a missing one is the number of categories"
            )
        if any(not 0 <= code < max(1, size) for code, size in zip(references, cardinalities, strict=True)):
            raise InputError(f"references must be codes of their columns, got {list(references)}")
        widths = [max(0, cardinality - 1) for cardinality in cardinalities]
        first_place = 1 + numbers.shape[1] + np.cumsum([0, *widths], dtype=np.int64)
        n_coefficients = int(first_place[-1])
        places = np.empty(codes.shape, dtype=np.uint16 if n_coefficients < 2**16 else np.uint32)
        for feature, (cardinality, reference) in enumerate(zip(cardinalities, references, strict=True)):
            of_code = first_place[feature] + np.arange(cardinality + 1)
            of_code -= np.arange(cardinality + 1) > reference
            of_code[[reference, cardinality]] = n_coefficients
            places[:, feature] = of_code.astype(places.dtype)[codes[:, feature]]
        return cls(numbers, places, first_place, n_coefficients)

    @property
    def n_rows(self) -> int:
        """Return the number of rows."""
        return len(self.numbers)

    @property
    def n_numbers(self) -> int:
        """Return the number of numeric columns."""
        return int(self.numbers.shape[1])

    def rows(self, kept: NDArray[Any]) -> LinearDesign:
        """Return the design of some rows, by position or mask."""
        return replace(self, numbers=self.numbers[kept], places=self.places[kept])

    def means_and_deviations(self, row_weight: Floats) -> tuple[Floats, Floats]:
        """Return the weighted mean and standard deviation of every column; 0 and 1 for the intercept."""
        total = row_weight.sum()
        means = np.zeros(self.n_coefficients + 1)
        variances = np.ones(self.n_coefficients + 1)
        numbers = slice(1, 1 + self.n_numbers)
        means[numbers] = row_weight @ self.numbers / total
        counted = self.numbers if row_weight.all() else self.numbers[row_weight > 0]
        constant = counted.min(axis=0) == counted.max(axis=0)
        # The mean of equal numbers is that number, to the last bit: else centring would leave noise to fit.
        means[numbers] = np.where(constant, counted[0], means[numbers])
        for j in range(self.n_numbers):
            deviation = self.numbers[:, j] - means[1 + j]
            variances[1 + j] = 0.0 if constant[j] else row_weight @ np.square(deviation) / total
        counts = np.zeros(self.n_coefficients + 1)
        for feature in range(self.places.shape[1]):
            counts += np.bincount(self.places[:, feature], row_weight, minlength=len(counts))
        indicators = slice(1 + self.n_numbers, self.n_coefficients)
        means[indicators] = counts[indicators] / total
        variances[indicators] = means[indicators] * (1 - means[indicators])
        means[self.n_coefficients] = 0.0
        return means[:-1], np.sqrt(variances[:-1])

    def scores(self, coefficients: Floats) -> Floats:
        """Return design times coefficients (n_coefficients, n_scores): (n_rows, n_scores)."""
        padded = np.vstack([coefficients, np.zeros((1, coefficients.shape[1]))])
        scores = np.asarray(self.numbers @ coefficients[1 : 1 + self.n_numbers] + coefficients[0])
        for feature in range(self.places.shape[1]):
            scores += padded[self.places[:, feature]]
        return scores
