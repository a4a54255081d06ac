"""The simulated tables of the NBRLR paper, its supplement and chapter 2 of the dissertation.

Settings 1 and 2 have binary predictors, from a logistic and from a generative model; setting 3 is setting 1
with normal predictors. Setting 4, "categorical and continuous predictors from a discriminative LR model", is
in a supplement that we do not have: every other predictor is binary here, so that both kinds have as many
positive as negative coefficients, or one more.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from seminaive.arrays import Floats
from seminaive.design.reference import ReferenceDesign
from seminaive.solvers import logistic_path

__all__ = ["Simulation"]

ROWS_FOR_THE_TRUTH = 500_000


@dataclass(frozen=True)
class Simulation:
    """One cell of the simulations.

    Parameters
    ----------
    setting : {1, 2, 3, 4}
    p : int
        Predictors, an even number.
    r : float
        Correlation of the latent normals, in setting 2 given the class.

    Examples
    --------
    >>> X, y = Simulation(setting=2, p=4, r=0.6).draw(1000, np.random.default_rng(0))
    >>> X.shape, sorted(set(X.ravel().tolist()))
    ((1000, 4), [0, 1])
    >>> X[y == 1].mean(axis=0).round(1)
    array([0.6, 0.6, 0.4, 0.4])
    """

    setting: int
    p: int
    r: float

    @property
    def categorical(self) -> list[int]:
        """The positions of binary predictors."""
        every_nth = {1: 1, 2: 1, 3: None, 4: 2}[self.setting]
        return [] if every_nth is None else list(range(0, self.p, every_nth))

    def draw(
        self, n_rows: int, rng: np.random.Generator
    ) -> tuple[npt.NDArray[np.number], npt.NDArray[np.int64]]:
        """Draw predictors and classes."""
        half = self.p // 2
        shared = np.sqrt(self.r) * rng.standard_normal((n_rows, 1))
        latent = shared + np.sqrt(1 - self.r) * rng.standard_normal((n_rows, self.p))
        if self.setting == 2:
            y = rng.integers(0, 2, n_rows)
            mean = np.repeat([0.2, -0.2], half)
            return (latent + np.where(y == 1, 1, -1)[:, None] * mean >= 0).astype(np.int64), y
        latent[:, self.categorical] = latent[:, self.categorical] >= 0
        X = latent.astype(np.int64) if self.setting == 1 else latent
        y = (rng.random(n_rows) < expit(X @ np.repeat([-1.0, 1.0], half))).astype(np.int64)
        return X, y

    def true_coefficients(self) -> Floats:
        """Return the intercept and slopes of the best linear log odds."""
        if self.setting == 2:
            return _fitted_truth(self)
        return np.concatenate([[0.0], np.repeat([-1.0, 1.0], self.p // 2)])


@cache
def _fitted_truth(simulation: Simulation) -> Floats:
    """Return a logistic regression of 500,000 rows: what the paper takes for the truth of setting 2."""
    X, y = simulation.draw(
        ROWS_FOR_THE_TRUTH, np.random.default_rng([2, simulation.p, int(10 * simulation.r)])
    )
    path = logistic_path(ReferenceDesign.of(X.astype(float)), y, strengths=[0.0])
    return path.coefficients[0, :, 0]
