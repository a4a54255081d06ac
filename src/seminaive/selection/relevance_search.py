"""Cross-validated strengths of groups of terms, with a relevance per term found by its evidence."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax

from seminaive.selection.belief import belief
from seminaive.selection.doubt import loss_of_shares, standard_errors_of_gain

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Indices = NDArray[np.int64]
    Steps = tuple[int, int, int, int]

# Strengths of slopes, main terms and pairs: where the search starts, and the factor of one step of each of
# them and, last, of all at once.
STARTS = (1.0, 1.0, 25.0)
FACTORS = (10.0, float(np.sqrt(10.0)), 5.0, 10.0)
SLOPES, MAINS, PAIRS, ALL = range(4)
# Deviations of the logarithms of weaker strengths before any row is seen: one decade, two for all at once.
DEVIATIONS = float(np.log(10.0)) * np.array([1.0, 1.0, 1.0, 2.0])
# A trial is better if its criterion is smaller by this share.
PRECISION = 1e-3
# Rounds of relevance updates go on as long as each lowers the criterion by this share.
WORTH = 1e-3
MOST_ROUNDS = 8
# New relevances are given up without a climb where the best strengths lose this share of the loss under them
# and have less than half the weight of the best trial in the average.
HOPELESS = 5e-3
DAMPING = 0.5
LEAST_RELEVANCE, MOST_RELEVANCE = 0.003, 100.0
# Prior mean and deviation of the logarithm of the temperature: those of the best temperature for other rows
# over 128 samples of 100 rows. The best of many trials is too sure by a tenth.
TEMPERATURE_MEAN, TEMPERATURE_DEVIATION = -0.1, 0.3
# Trials whose share in the average is below this share of the best one's are left out.
NEGLIGIBLE = 0.01
# Newton decrement, relative to the objective, at which the fits of trials and the final ones stop.
TRIAL_TOL = 1e-4


class Engine(Protocol):
    """Fits of the folds and of all rows under strengths and relevances."""

    columns: Any
    labels: Indices
    row_weight: Floats
    n_classes: int
    splits: list[tuple[Indices, Indices]]

    def prepare(self, relevances: Floats) -> Any:
        """Take in relevances, one row per fold and, last, that of all rows."""

    def fit_folds(
        self, prepared: Any, strengths: Sequence[float], starts: Any, tol: float, max_iter: int
    ) -> list[Any]:
        """Fit the training rows of every fold, from the places where other fits ended.

        A fit has ``scores`` of all rows and a ``place``, from which another fit can start.
        """

    def fit_all(
        self, prepared: Any, strengths: Sequence[float], start: Any, tol: float, max_iter: int
    ) -> Any:
        """Fit all rows from a place; the fit has its certificate in ``fit.optimality``."""

    def evidence(
        self, prepared: Any, which: Sequence[int], strengths: Sequence[float], fits: list[Any]
    ) -> tuple[Floats, Floats]:
        """Return each term's penalty, twice, and its effective degrees of freedom, one row per fit.

        ``which`` training sets they are fits of: folds by number and, last, all rows.
        """

    def coefficients(self, parts: list[tuple[float, Any, Sequence[float], Any]]) -> Floats:
        """Return the weighted sum of fits of all rows as coefficients."""


@dataclass
class Trial:
    """The folds fitted under some strengths and relevances.

    Parameters
    ----------
    steps : tuple of int
        Steps of the strength of each group, and of all at once, from where they start.
    strengths : tuple of float
    number : int
        The round of relevances.
    prepared : object
        What the engine made of the relevances.
    fits : list
        One fit per fold.
    log_posterior : ndarray
        That of the class of each held-out row.
    loss : float
        Minus its weighted mean.
    criterion : float
        The loss plus the cost of the steps per row: what the search minimises.
    """

    steps: Steps
    strengths: tuple[float, float, float]
    number: int
    prepared: Any
    fits: list[Any]
    scores: Floats
    log_posterior: Floats
    loss: float
    criterion: float

    @property
    def mean_place(self) -> Floats:
        """Return the mean of where the fits of the folds ended."""
        return np.asarray(np.mean([fit.place for fit in self.fits], axis=0))


@dataclass(frozen=True)
class Answer:
    """What a search has found.

    Parameters
    ----------
    best : Trial or None
        None where no trial is better than chance: the class shares alone.
    shares : list of (float, Trial)
        The trials that are averaged, with their shares.
    temperature : float
        What the average is multiplied by.
    belief : float
        The share of the average in the answer, the rest being the class shares.
    loss : float
        The held-out log loss of the average.
    coefficients : ndarray
        Those of the answer.
    mean_intercept : ndarray
        The intercept of the average, before temperature and belief.
    optimality : float
        The worst certificate among the fits that are averaged.
    penalties, degrees : ndarray of shape (n_terms,)
        Of the best trial's fit of all rows.
    """

    best: Trial | None
    shares: list[tuple[float, Trial]]
    temperature: float
    belief: float
    loss: float
    coefficients: Floats
    mean_intercept: Floats
    optimality: float
    n_iter: int
    objective: float
    relevances: Floats
    penalties: Floats
    degrees: Floats


def strengths_after(steps: Steps) -> tuple[float, float, float]:
    """Return the strengths of slopes, main terms and pairs after some steps from the start."""
    of_all = FACTORS[ALL] ** steps[ALL]
    slopes, mains, pairs = (
        STARTS[group] * FACTORS[group] ** steps[group] * of_all for group in (SLOPES, MAINS, PAIRS)
    )
    return slopes, mains, pairs


def cost_of(steps: Steps) -> float:
    """Return minus the log of the prior density of strengths, over that at the start.

    It is flat toward stronger strengths, and falls like a normal density of logarithms toward weaker ones.
    Where all held-out rows are classified rightly, weaker strengths lower the held-out loss without end: no
    held-out row shows how sure is too sure.
    """
    deviates = np.minimum(steps, 0) * np.log(FACTORS) / DEVIATIONS
    return 0.5 * float(deviates @ deviates)


def updated_relevances(relevances: Floats, penalties: Floats, degrees: Floats, groups: Indices) -> Floats:
    """Return relevances after one evidence update, damped and normalised in each group.

    ``w (q + 1/2) / (g + 1/2)``, then divided by the mean of the group in which each term counts by its
    effective degrees of freedom g, and clipped.
    """
    new = relevances * (penalties + DAMPING) / (degrees + DAMPING)
    for group in np.unique(groups).tolist():
        own = groups == group
        total = degrees[own].sum()
        if total > 0:
            new[own] /= (degrees[own] @ new[own]) / total
    return np.clip(new, LEAST_RELEVANCE, MOST_RELEVANCE)


@dataclass
class RelevanceSearch:
    """Coordinate climbs over the strengths of the groups, between updates of the terms' relevances.

    They minimise the held-out loss plus the cost of weaker strengths, which is their only limit.
    Each fold's relevances come from that fold's own fit, so that held-out rows have no part in them.

    Parameters
    ----------
    engine : Engine
    class_weight : ndarray of shape (n_classes,)
        Of all rows of the table, of which the engine may have a sample that lacks a class.
    n_sweeps : int
        Sweeps of the first climb over the groups.
    tol : float
        For the fits of all rows.
    max_iter : int
    p_value : callable
        Returns the p-value of the hypothesis that the labels do not depend on the columns.
    report : callable or None
        Called with a line of text after each trial.
    """

    engine: Engine
    class_weight: Floats
    n_sweeps: int
    tol: float
    max_iter: int
    p_value: Callable[[], float]
    report: Callable[[str], None] | None = None
    trials: list[Trial] = field(default_factory=list)

    def run(self) -> Answer:
        """Return the average over the trials, doubted where it gains little over the class shares."""
        n_terms = self.engine.columns.n_terms
        relevances = np.ones((len(self.engine.splits) + 1, n_terms))
        prepared = self.engine.prepare(relevances)
        best = self._trial((0, 0, 0, 0), 0, prepared, None)
        # Coefficients grow together where classes are separable, while ridges grow one group after the other.
        best = self._climb(self._climb_along(best, ALL, (-1,)), self.n_sweeps)
        if best.loss > loss_of_shares(self._log_shares, self._weight):
            best = self._climb(self._best_of_stronger(best), self.n_sweeps)
        for number in range(1, MOST_ROUNDS + 1):
            relevances = self._updated(best, relevances)
            prepared = self.engine.prepare(relevances)
            new = self._trial(best.steps, number, prepared, best)
            if new.criterion > (1 + HOPELESS) * best.criterion and self._share(new, best) < 0.5:
                break
            new = self._climb(new, 1)
            worth = new.criterion < (1 - WORTH) * best.criterion
            best = min(best, new, key=_criterion)
            if not worth:
                break
        return self._doubted(best)

    def _updated(self, best: Trial, relevances: Floats) -> Floats:
        """Update the relevances of each fold, and those of all rows, from their own fits."""
        engine = self.engine
        fits = [*best.fits, self._fit_all(best)]
        new = np.empty_like(relevances)
        found = engine.evidence(best.prepared, range(len(fits)), best.strengths, fits)
        for which, (penalties, degrees) in enumerate(zip(*found, strict=True)):
            new[which] = updated_relevances(relevances[which], penalties, degrees, engine.columns.groups)
        return new

    # Trials

    def _climb(self, best: Trial, n_sweeps: int) -> Trial:
        """Climb along pairs, main terms and slopes in turn, as long as the criterion falls."""
        present = np.unique(self.engine.columns.groups)
        for _ in range(n_sweeps):
            before = best
            for group in (PAIRS, MAINS, SLOPES):
                if group in present:
                    best = self._climb_along(best, group)
            if best is before:
                break
        return best

    def _best_of_stronger(self, best: Trial) -> Trial:
        """Return the best trial after some with ridges stronger by decades, as many as rows weigh.

        The ridges at the start suit rows that weigh about 1. Rows that weigh thousands each are all but
        separated by them, and held-out losses near separation have local minima in which a climb ends.
        """
        engine = self.engine
        decades = int(np.log10(max(engine.row_weight.sum() / len(engine.labels), 1.0)))
        for step in range(1, decades + 1):
            new = self._trial((0, 0, 0, step), best.number, best.prepared, best)
            best = min(best, new, key=_criterion)
        return best

    def _climb_along(self, best: Trial, group: int, directions: Sequence[int] = (1, -1)) -> Trial:
        for direction in directions:
            moved = False
            while True:
                steps = list(best.steps)
                steps[group] += direction
                there = (steps[SLOPES], steps[MAINS], steps[PAIRS], steps[ALL])
                if self._was_negligible(there, best.number - 1):
                    break
                new = self._trial(there, best.number, best.prepared, best)
                if not new.criterion < (1 - PRECISION) * best.criterion:
                    best = min(best, new, key=_criterion)
                    break
                best, moved = new, True
            if moved:
                break
        return best

    def _was_negligible(self, steps: Steps, number: int) -> bool:
        """Tell whether some strengths were tried in a round and had no share in an average over it."""
        own = [trial for trial in self.trials if trial.number == number]
        tried = [trial for trial in own if trial.steps == steps]
        return bool(tried) and self._share(tried[0], min(own, key=_criterion)) < NEGLIGIBLE

    def _share(self, trial: Trial, best: Trial) -> float:
        """Return the share of a trial in the average, relative to that of the best."""
        return float(np.exp(-self.engine.row_weight.sum() * (trial.criterion - best.criterion)))

    def _trial(self, steps: Steps, number: int, prepared: Any, near: Trial | None) -> Trial:
        """Return the trial of some strengths; a new one starts from another."""
        for trial in self.trials:
            if trial.steps == steps and trial.number == number:
                return trial
        strengths = strengths_after(steps)
        starts = None if near is None else [fit.place for fit in near.fits]
        fits = self.engine.fit_folds(prepared, strengths, starts, TRIAL_TOL, self.max_iter)
        scores = np.concatenate(
            [fit.scores[held] for fit, (_, held) in zip(fits, self.engine.splits, strict=True)]
        )
        log_posterior = self._log_posterior(scores)
        loss = -float(self._weight @ log_posterior)
        criterion = loss + cost_of(steps) / float(self.engine.row_weight.sum())
        trial = Trial(steps, strengths, number, prepared, fits, scores, log_posterior, loss, criterion)
        self.trials.append(trial)
        if self.report is not None:
            shown = ", ".join(f"{own:.3g}" for own in strengths)
            self.report(f"trial {len(self.trials)}: strengths {shown}, log loss {loss:.4f}")
        return trial

    def _fit_all(self, trial: Trial, tol: float = TRIAL_TOL, shift: Any = 0.0) -> Any:
        """Fit all rows, from the mean of the folds plus a shift."""
        start = trial.mean_place + shift
        return self.engine.fit_all(trial.prepared, trial.strengths, start, tol, self.max_iter)

    def _fits_of_all(self, trials: list[Trial]) -> list[Any]:
        """Fit all rows under the strengths of several trials.

        The fit of all rows differs from the mean of the folds' fits by about as much in one trial as in
        another.
        """
        first = self._fit_all(trials[0], self.tol**2)
        shift = first.place - trials[0].mean_place
        return [first, *(self._fit_all(trial, self.tol**2, shift) for trial in trials[1:])]

    @cached_property
    def _held_out(self) -> Indices:
        return np.concatenate([held for _, held in self.engine.splits])

    @cached_property
    def _weight(self) -> Floats:
        """The share of each held-out row in the weight of all of them."""
        weight = self.engine.row_weight[self._held_out]
        return np.asarray(weight / weight.sum())

    def _log_posterior(self, scores: Floats) -> Floats:
        labels = self.engine.labels[self._held_out]
        if scores.shape[1] == 1:
            return np.asarray(-np.logaddexp(0.0, np.where(labels == 1, -scores[:, 0], scores[:, 0])))
        return np.asarray(log_softmax(scores, axis=1)[np.arange(len(labels)), labels])

    # The answer

    @cached_property
    def _log_shares(self) -> Floats:
        """The log posterior that each fold's class shares give to its held-out rows."""
        engine = self.engine
        found = []
        for train, held in engine.splits:
            weight = np.bincount(engine.labels[train], engine.row_weight[train], minlength=engine.n_classes)
            with np.errstate(divide="ignore"):
                found.append(np.log(weight / weight.sum())[engine.labels[held]])
        return np.concatenate(found)

    def _doubted(self, best: Trial) -> Answer:
        """Answer by the average of trials, shrunk to the class shares as far as its gain may be chance."""
        smallest = min(self.trials, key=lambda trial: trial.loss)
        sure = standard_errors_of_gain(smallest.log_posterior, self._log_shares, self._weight)
        believed = belief(sure, self.p_value, float(self.engine.row_weight.sum()))
        return self._average(best, believed) if believed else self._class_shares()

    def _average(self, best: Trial, believed: float) -> Answer:
        total = self.engine.row_weight.sum()
        ranked = sorted(self.trials, key=_criterion)
        shares = np.array([self._share(trial, best) for trial in ranked])
        kept = shares >= NEGLIGIBLE * shares.max()
        shares = np.where(kept, shares, 0.0) / shares[kept].sum()
        parts = [(share, trial) for share, trial in zip(shares.tolist(), ranked, strict=True) if share]
        mean = np.sum([share * trial.scores for share, trial in parts], axis=0)

        def loss(log_temperature: float) -> float:
            held_out = -float(self._weight @ self._log_posterior(np.exp(log_temperature) * mean))
            deviations = (log_temperature - TEMPERATURE_MEAN) / TEMPERATURE_DEVIATION
            return float(total) * held_out + deviations**2 / 2

        found = minimize_scalar(loss, bounds=(-2.0, 2.0), method="bounded", options={"xatol": 1e-4})
        return self._answer(parts, float(np.exp(found.x)), believed)

    def _answer(self, parts: list[tuple[float, Trial]], temperature: float, believed: float) -> Answer:
        engine = self.engine
        fits = self._fits_of_all([trial for _, trial in parts])
        coefficients = engine.coefficients(
            [
                (share, trial.prepared, trial.strengths, fit)
                for (share, trial), fit in zip(parts, fits, strict=True)
            ]
        )
        mean_intercept = coefficients[0].copy()
        coefficients *= temperature * believed
        coefficients[0] += (1 - believed) * self._log_class_shares
        mean = np.sum([share * trial.scores for share, trial in parts], axis=0)
        held_out = temperature * believed * mean + (1 - believed) * self._log_class_shares
        best, of_best = parts[0][1], fits[0]
        penalties, degrees = engine.evidence(best.prepared, [len(engine.splits)], best.strengths, [of_best])
        return Answer(
            best,
            parts,
            temperature,
            believed,
            -float(self._weight @ self._log_posterior(held_out)),
            coefficients,
            mean_intercept,
            max(fit.fit.optimality for fit in fits),
            max(fit.fit.n_iter for fit in fits),
            of_best.fit.objective,
            best.prepared[-1].relevances,
            penalties[0],
            degrees[0],
        )

    @cached_property
    def _log_class_shares(self) -> Floats:
        """The scores of the class shares of all rows, in as many columns as scores have."""
        logs = np.log(self.class_weight / self.class_weight.sum())
        return np.asarray(logs[1:] - logs[0] if len(logs) == 2 else logs - logs.mean())

    def _class_shares(self) -> Answer:
        engine = self.engine
        n_terms, shares = engine.columns.n_terms, self._log_class_shares
        coefficients = np.zeros((1 + int(engine.columns.sizes.sum()), len(shares)))
        coefficients[0] = shares
        loss = loss_of_shares(self._log_shares, self._weight)
        objective = loss * float(engine.row_weight.sum())
        zero = np.zeros(n_terms)
        return Answer(
            None, [], 1.0, 0.0, loss, coefficients, zero[:0], 0.0, 0, objective, np.ones(n_terms), zero, zero
        )


def _criterion(trial: Trial) -> float:
    return trial.criterion
