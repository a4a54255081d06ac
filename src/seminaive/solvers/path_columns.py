"""The columns of a linear model as the path solvers penalise them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from seminaive.arrays import Floats

# Mean over standard deviation from which a column is centred by copying it rather than on the fly: squares
# then have lost half the digits of a float.
FAR_FROM_ZERO = np.sqrt(1 / np.sqrt(np.finfo(float).eps))


@dataclass(frozen=True)
class Columns:
    """The columns as they are penalised: each less its centre, divided by its unit.

    Parameters
    ----------
    centre, unit : ndarray of shape (n_coefficients,)
        Of all columns; indicators are never divided.
    spread : ndarray of shape (n_coefficients,)
        What columns that are not divided are penalised for instead.
    copied : bool
        Whether numbers are centred and divided by copying them; if not, the kernels centre as they go.
    """

    centre: Floats
    unit: Floats
    spread: Floats
    n_numbers: int
    copied: bool

    @classmethod
    def of(
        cls,
        moments: tuple[Floats, Floats] | None,
        n_coefficients: int,
        n_numbers: int,
        *,
        standardize: bool,
        centred: bool,
    ) -> Columns:
        """Centre and standardise; without standardising, only numbers far from zero are copied.

        ``moments`` are mean and standard deviation of every column, 0 and 1 for the intercept; they are
        needed where columns are standardised or centred.
        """
        centre = np.zeros(n_coefficients)
        unit, spread = np.ones(n_coefficients), np.ones(n_coefficients)
        of_numbers = slice(1, 1 + n_numbers)
        if moments is None or not (standardize or centred):
            return cls(centre, unit, spread, n_numbers, copied=False)
        centre, deviations = moments
        copied = standardize or bool(
            (np.abs(centre[of_numbers]) > FAR_FROM_ZERO * deviations[of_numbers]).any()
        )
        if standardize:
            spread = np.where(deviations > 0, deviations, 1.0)
            unit[of_numbers] = spread[of_numbers]
            spread[: of_numbers.stop] = 1.0
        return cls(centre, unit, spread, n_numbers, copied)

    @property
    def _own(self) -> slice:
        return slice(1, 1 + self.n_numbers)

    def numbers_of(self, numbers: Floats) -> Floats:
        """Return numbers (n_rows, n_numbers) as the kernels take them."""
        return (numbers - self.centre[self._own]) / self.unit[self._own] if self.copied else numbers

    @property
    def on_the_fly(self) -> Floats:
        """Return what the kernels subtract from each column, and 0 for the empty slot."""
        centre = np.append(self.centre, 0.0)
        if self.copied:
            centre[self._own] = 0.0
        return centre

    def coefficients(self, deviations: Floats) -> Floats:
        """Return deviations (n_strengths, n_coefficients, n_scores) on the scale of the design."""
        raw: Floats = deviations / self.unit[:, None]
        raw[:, 0] -= np.einsum("j,sjc->sc", self.centre[1:], raw[:, 1:])
        return raw


def flat(factor: Floats) -> Floats:
    """Lay factors (n_coefficients, n_scores) out score by score, each followed by the empty slot's 1."""
    return np.vstack([factor, np.ones((1, factor.shape[1]))]).T.ravel()
