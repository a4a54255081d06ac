"""How far to believe a search: its held-out scores are bootstrapped, so that it pays for its optimism.

Rows are drawn with replacement. The trials are averaged, or the best is taken, by what they lose on the rows
drawn, and judged on the rows not drawn (Tsamardinos, Greasidou and Borboudakis, 2018). Nothing is fitted
again. The share of the fit in the answer, the rest being the class shares, is the one that loses least on
rows not drawn, as far as its gain over the class shares stands out from noise. A list of trials that was laid
before any of them was judged needs no such share: there the class shares are one trial of the average.
(docs/decisions/0015-decide-by-the-rows.md)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import brentq
from scipy.special import factorial, ndtri

from seminaive.objective.log_loss import POINTWISE, expected_log_losses, expected_residuals

if TYPE_CHECKING:
    from collections.abc import Callable

    from seminaive.arrays import Booleans, Floats, Integers
    from seminaive.selection.held_out import HeldOut

    Rule = Callable[[Floats], Floats]


@dataclass(frozen=True)
class Draws:
    """How often rows are drawn; answers depend on it by Monte Carlo error only.

    Parameters
    ----------
    most : int
        Draws of few rows.
    least : int
        Draws of many rows: means over many rows need fewer draws.
    scores : int
        Draws times rows times columns of scores, as far as the limits above let them be chosen.
    """

    most: int = 100
    least: int = 20
    scores: int = 2_000_000

    def number(self, n_scores: int) -> int:
        """Return the number of draws of held-out rows with ``n_scores`` scores in all."""
        return int(np.clip(self.scores // max(n_scores, 1), self.least, self.most))


DRAWS = Draws()


@dataclass(frozen=True)
class SearchPlan:
    """The numbers that all searches share.

    Parameters
    ----------
    precision : float
        A trial is better than another if it loses less by this share of the loss. Fits of folds end where
        they exceed their minimum by the square of it: held-out losses move with the root of that excess.
    negligible : float
        Trials of less weight in an average, relative to the largest, are left out: each takes a fit of all
        rows.
    most_decades : int
        How many factors of ten a search goes beyond the ends of its strengths.
    """

    precision: float = 1e-3
    negligible: float = 0.01
    most_decades: int = 6


SEARCH = SearchPlan()
# Losses beyond are as good as infinite; their squares, and the squares of these, are finite.
FAR = float(np.sqrt(np.sqrt(np.finfo(float).max)))
# Probabilities that a row is drawn no time, once, twice, ...: as many as are above the rounding of 1.
POISSON = np.exp(-1.0) / factorial(np.arange(18))
# Coverage of the interval of the log loss.
COVERAGE = 0.95


@dataclass(frozen=True)
class Decision:
    """What held-out rows say about the trials of a search.

    Parameters
    ----------
    weights : ndarray of shape (n_trials,)
        The weight of each trial in the average; they sum to 1.
    fit_share : float
        The share of the average in the answer, the rest being the class shares, on the scale of scores.
    log_loss : float
        What the answer loses on rows that neither fitted nor chose it, by their labels alone.
    log_loss_interval : (float, float)
        It holds the log loss of new rows with a probability of 95 %.
    """

    weights: Floats
    fit_share: float
    log_loss: float
    log_loss_interval: tuple[float, float]

    def without_negligible(self) -> Decision:
        """Return the decision with no weight where it is negligible beside the largest."""
        weights = np.where(weighty(self.weights), self.weights, 0.0)
        return replace(self, weights=weights / weights.sum())


def weighty(weights: Floats, negligible: float = SEARCH.negligible) -> Booleans:
    """Tell which trials have a weight in an average that is not negligible beside the largest."""
    return np.asarray(weights >= negligible * weights.max())


def averaged(cost: Floats) -> Rule:
    """Return the rule that averages trials by the likelihood of the rows and the prior of each trial.

    ``cost`` is minus the log of the prior. Held-out log likelihoods of n rows vary like those of n / 2: a
    trial's score of one row was learned from the others, so that every pair of rows counts twice.
    """

    def weights(total_losses: Floats) -> Floats:
        exponents = -total_losses / 2 - cost
        found = np.exp(exponents - exponents.max(axis=-1, keepdims=True))
        return np.asarray(found / found.sum(axis=-1, keepdims=True))

    return weights


def cost_of_weakness(decades: Floats) -> Floats:
    """Return minus the log of the prior density of strengths that are weaker by some decades than usual.

    Features are standardised, so that a strength of 1 is a prior of log odds of about one unit. The density
    is flat toward stronger strengths, and that of a normal deviate of one decade toward weaker ones
    (docs/decisions/0014-prior-of-strengths.md).
    """
    return np.asarray(0.5 * np.square(np.maximum(decades, 0.0)))


def least(total_losses: Floats) -> Floats:
    """Return a weight of 1 for the trial of least loss, the first of equal ones."""
    return np.asarray(np.eye(total_losses.shape[-1])[total_losses.argmin(axis=-1)])


def decide(
    held_out: HeldOut,
    scores: Floats,
    rule: Rule,
    generator: np.random.Generator,
    losses: Floats | None = None,
    fit_share: float | None = None,
) -> Decision:
    """Choose among trials by the scores of held-out rows.

    Parameters
    ----------
    scores : ndarray of shape (n_held_out, n_trials, n_columns)
    rule : callable
        From total losses (..., n_trials) to weights of the trials.
    losses : ndarray of shape (n_held_out, n_trials), optional
        What the rule looks at; the expected log losses of the scores by default.
    fit_share : float, optional
        A share that is given, not found.
    """
    if losses is None:
        losses = held_out.expected_losses(scores)
    weights = rule(held_out.weight @ losses)
    if not len(held_out):
        # No row has shown any gain.
        return Decision(weights, 0.0 if fit_share is None else fit_share, np.nan, (np.nan, np.nan))
    known, by_row, between_draws = held_out.known, held_out.losses(held_out.share_scores), 0.0
    share = 0.0 if fit_share is None else fit_share
    if known.any():
        # Rows of a class that their fold lacks lose the same by all trials: only the others choose.
        part = held_out if known.all() else held_out.part(known)
        price = _Price.of(part, scores[known], losses[known], rule, generator)
        share = price.share() if fit_share is None else fit_share
        by_draw, by_row[known] = price.label_losses(share)
        between_draws = float(by_draw.std()) * part.total / held_out.total
    loss = float(held_out.mean(by_row))
    error = np.hypot(held_out.standard_error(by_row), between_draws)
    # On the scale of logarithms: losses are positive, and their means skewed.
    factor = float(np.exp(-ndtri((1 - COVERAGE) / 2) * error / max(loss, np.finfo(float).tiny)))
    return Decision(weights, share, loss, (loss / factor, loss * factor))


@dataclass(frozen=True)
class _Price:
    """Draws of held-out rows: averages chosen on the rows drawn, for the rows not drawn.

    The entries are the pairs of a draw and a row not drawn in it.

    Parameters
    ----------
    draws, rows : ndarray of shape (n_entries,)
    weight : ndarray of shape (n_entries,)
        The weight of the row that was not drawn.
    away : ndarray of shape (n_entries, n_columns)
        The scores of the average less those of the class shares.
    """

    held_out: HeldOut
    draws: Integers
    rows: Integers
    weight: Floats
    away: Floats

    @classmethod
    def of(
        cls,
        held_out: HeldOut,
        scores: Floats,
        losses: Floats,
        rule: Rule,
        generator: np.random.Generator,
    ) -> _Price:
        draws: list[Integers] = []
        rows: list[Integers] = []
        weights: list[Floats] = []
        away: list[Floats] = []
        for _ in range(DRAWS.number(held_out.share_scores.size)):
            drawn, left = _draw(held_out, generator)
            if not drawn.any() or not left.any():
                continue
            entries = np.flatnonzero(left)
            average = np.einsum("rtc,t->rc", scores[entries], rule(drawn @ losses))
            draws.append(np.full(len(entries), len(draws)))
            rows.append(entries)
            weights.append(left[entries])
            away.append(average - held_out.share_scores[entries])
        if not draws:
            # One row or two: each judges the choice that it had a part in.
            average = np.einsum("rtc,t->rc", scores, rule(held_out.weight @ losses))
            every = np.arange(len(held_out))
            return cls(
                held_out, np.zeros_like(every), every, held_out.weight, average - held_out.share_scores
            )
        return cls(
            held_out,
            np.concatenate(draws),
            np.concatenate(rows),
            np.concatenate(weights),
            np.concatenate(away),
        )

    def share(self) -> float:
        """Return the share of least loss, drawn to 1 and then to 0 as far as its gain may be noise."""
        share = self._share_of_least_loss()
        if share == 0.0:
            return 0.0
        if share < 1.0:
            share = 1.0 + (share - 1.0) * self._supported(share, 1.0)
        return share * self._supported(share, 0.0)

    def _supported(self, share: float, other: float) -> float:
        """Return g^2 / (g^2 + v) of the gain g of a share over another: signal over signal and noise.

        The noise v is the variance of the gain of a single draw: that between draws, in which rows are chosen
        and trials with them, and that of the rows which all draws have in common. The mean over draws is not
        taken to be surer than one of them, since every pair of rows counts twice (see `averaged`).
        """
        by_draw, by_row = (a - b for a, b in zip(self.losses(other), self.losses(share), strict=True))
        mean = float(self.held_out.mean(by_row))
        if mean <= 0:
            return 0.0
        noise = float(by_draw.var()) + self.held_out.standard_error(by_row) ** 2
        return mean**2 / (mean**2 + noise)

    def _share_of_least_loss(self) -> float:
        """Return the share in [0, 1] of least loss, which is convex in it."""
        if self._slope(1.0) <= 0:
            return 1.0
        if self._slope(0.0) >= 0:
            return 0.0
        return float(brentq(self._slope, 0.0, 1.0, xtol=SEARCH.precision))

    def _slope(self, share: float) -> float:
        """Return the derivative of the total loss by the share."""
        found = expected_residuals(self._scores(share), self.held_out.probabilities[self.rows])
        return float(self.weight @ (found * self.away).sum(axis=1))

    def _scores(self, share: float) -> Floats:
        return np.asarray(self.held_out.share_scores[self.rows] + share * self.away)

    def losses(self, share: float) -> tuple[Floats, Floats]:
        """Return the mean expected loss of each draw, and that of each row, over the rows not drawn."""
        probabilities = self.held_out.probabilities[self.rows]
        losses = expected_log_losses(self._scores(share), probabilities)
        return self._means(losses, self.held_out.share_losses)

    def label_losses(self, share: float) -> tuple[Floats, Floats]:
        """Return the same by the labels alone: no new row is like that of unknown label."""
        losses = POINTWISE["log-loss"](self._scores(share), self.held_out.labels[self.rows])
        return self._means(losses, self.held_out.losses(self.held_out.share_scores))

    def _means(self, losses: Floats, share_losses: Floats) -> tuple[Floats, Floats]:
        """Return the mean of each draw and of each row, which the class shares judge if every draw has it."""
        entries = self.weight * np.minimum(losses, FAR)
        by_draw = np.bincount(self.draws, entries) / np.bincount(self.draws, self.weight)
        total = np.bincount(self.rows, self.weight, minlength=len(self.held_out))
        sums = np.bincount(self.rows, entries, minlength=len(self.held_out))
        by_row = np.divide(sums, total, out=share_losses.copy(), where=total > 0)
        return by_draw, by_row


def _draw(held_out: HeldOut, generator: np.random.Generator) -> tuple[Floats, Floats]:
    """Return the weight of each row that is drawn, and that which is not.

    A row is drawn with all its weight, and a group with all its rows. Counts are Poisson numbers, as those of
    many rows drawn with replacement are. Of the copies of a row beyond the first, some are drawn no time,
    some once, some twice and so on: their numbers are a multinomial draw.
    """
    copies, units = held_out.copies, held_out.units
    counts = generator.poisson(1.0, len(copies))
    left = (counts == 0).astype(np.int64)
    if (copies > 1).any():
        by_times = generator.multinomial(copies - 1, POISSON)
        counts, left = counts + by_times @ np.arange(len(POISSON)), left + by_times[:, 0]
    return held_out.weight * (counts / copies)[units], held_out.weight * (left / copies)[units]
