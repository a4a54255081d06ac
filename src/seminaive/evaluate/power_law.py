"""A learning curve continued: ``loss(n) = a + b n^-c`` with its uncertainty.

The asymptote ``a`` and the rate ``c`` have a grid of values each; ``b`` is the best one for them. Every point
of the grid weighs by its likelihood times a prior, and the forecast is the mixture of all. So a short or
noisy curve, which leaves ``a`` and ``c`` open, has a wide band.
"""

from dataclasses import dataclass

import numpy as np

from seminaive.arrays import Floats

# Rates: 1 where a well-specified model is fitted by likelihood (its loss exceeds the least by k / 2n), about
# 1/2 where bias and variance are traded; the prior has the middle in between and reaches both within a
# deviation.
_RATES = np.geomspace(0.25, 2.0, 25)
_MIDDLE, _DEVIATION = np.log(0.75), 0.4
# Asymptotes, as shares of the last loss.
_ASYMPTOTES = np.linspace(0.0, 1.0, 81)
_N_DRAWS = 4000


@dataclass(frozen=True)
class PowerLaw:
    """Losses at growing numbers of rows, and how well each is known.

    Parameters
    ----------
    sizes : ndarray of shape (n_sizes,)
        Training rows, increasing.
    losses : ndarray of shape (n_sizes,)
    errors : ndarray of shape (n_sizes,)
        Standard error of each loss, as far as it differs from size to size.
    shared_error : float
        Standard error that all losses share, that of the rows that judged them.
    """

    sizes: Floats
    losses: Floats
    errors: Floats
    shared_error: float

    def forecast(self, sizes: Floats, coverage: float, seed: int = 0) -> tuple[Floats, Floats, Floats]:
        """Return the median and both bounds of the loss at some numbers of rows.

        Parameters
        ----------
        sizes : ndarray of shape (n_points,)
        seed : int
            Of the draws from the mixture.
        """
        weight, curves = self._mixture(np.asarray(sizes, dtype=np.float64))
        rng = np.random.default_rng(seed)
        chosen = rng.choice(len(weight), _N_DRAWS, p=weight)
        noise = np.hypot(self.shared_error, self.errors[-1])
        draws = curves[chosen] + noise * rng.normal(size=(_N_DRAWS, 1))
        beyond = (1 - coverage) / 2
        low, middle, high = np.quantile(np.maximum(draws, 0.0), [beyond, 0.5, 1 - beyond], axis=0)
        return middle, low, high

    def _mixture(self, sizes: Floats) -> tuple[Floats, Floats]:
        """Return the weight of every asymptote and rate, and their losses, (n_curves, n_points)."""
        rates, shares = (values.ravel() for values in np.meshgrid(_RATES, _ASYMPTOTES))
        asymptotes = shares * self.losses[-1]
        relative = (self.sizes / self.sizes[-1])[None] ** -rates[:, None]
        precision = 1.0 / np.maximum(self.errors, 1e-9) ** 2
        left = self.losses[None] - asymptotes[:, None]
        # The best b of each curve, and no curve rises.
        slopes = np.maximum((relative * left) @ precision / (relative**2 @ precision), 0.0)
        misfit = (left - slopes[:, None] * relative) ** 2 @ precision
        log_weight = -misfit / 2 - ((np.log(rates) - _MIDDLE) / _DEVIATION) ** 2 / 2
        weight = np.exp(log_weight - log_weight.max())
        curves = asymptotes[:, None] + slopes[:, None] * (sizes / self.sizes[-1])[None] ** -rates[:, None]
        return weight / weight.sum(), curves
