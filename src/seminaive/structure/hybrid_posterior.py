"""How uncertain the two parts of a hybrid model are.

The likelihood is that of the classes given the logistic features times that of the other features given the
class, so that both parts are independent to first order: the one has the inverse of its Hessian, the other
the posterior of its counts and moments. The partition is taken as it is: intervals of 95 % held 96 and 93 %
of the probabilities of two and four classes where it was given, and 89 and 92 % where the rows chose it (60
tables of 300 rows each), so that these have none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from seminaive.models.term_fit_posterior import MOST_COEFFICIENTS, MOST_ENTRIES, posterior_of_terms
from seminaive.scores import log_priors
from seminaive.scores.generative_terms import NormalParameters, trigamma
from seminaive.scores.score_posterior import ScorePosterior
from seminaive.solvers.laplace import as_contrasts

if TYPE_CHECKING:
    from seminaive.arrays import Floats
    from seminaive.scores import AdditiveScores
    from seminaive.statistics import TableStatistics
    from seminaive.structure import Partition
    from seminaive.structure.hybrid_problem import HybridProblem

# Why a hybrid has no intervals.
NO_HYBRID_POSTERIOR = (
    "no formula counts what the choice of a partition or of a blanket by the same rows adds. Intervals are "
    "those of a given partition: name the logistic features, with joint=False, generative='naive-bayes', "
    "variances='pooled', a smoothing above 0 and few categories, or see how the fit varies over replays by "
    "seminaive.evaluate.validate"
)


@dataclass(frozen=True)
class Places:
    """What some contributions vary by, in directions of their own, by contrasts of classes.

    Parameters
    ----------
    intercept : ndarray of shape (n_directions, n_contrasts)
    cells : ndarray of shape (n_cells, n_directions, n_contrasts)
        Of the terms that are tables, less their mean over the training rows, which is the intercept's.
    lines : ndarray of shape (n_numbers, n_directions, n_contrasts)
        Slopes of numbers.
    """

    intercept: Floats
    cells: Floats
    lines: Floats

    def beside(self, other: Places) -> Places:
        """Return those of other contributions, which vary in other directions, after these."""
        n = len(self.intercept)
        widths = [(0, 0), (0, len(other.intercept)), (0, 0)], [(0, 0), (n, 0), (0, 0)]
        parts = (self.cells, other.cells), (self.lines, other.lines)
        return Places(
            np.concatenate([self.intercept, other.intercept]),
            *(
                np.concatenate([np.pad(first, widths[0]), np.pad(second, widths[1])])
                for first, second in parts
            ),
        )


def hybrid_posterior(
    problem: HybridProblem,
    solution: Floats | None,
    partition: Partition,
    ridge: float,
    scores: AdditiveScores,
    fit_share: float,
) -> ScorePosterior | None:
    """Return the posterior of the scores of both parts; None where it would be too large.

    Parameters
    ----------
    problem : HybridProblem
        Whose generative part is naive Bayes.
    solution : ndarray of shape (n_coefficients, n_columns) or None
        Of the logistic part; None where it has no features.
    partition : Partition
    ridge : float
        Of the logistic part.
    scores : AdditiveScores
        Of both parts, before they are drawn toward the class shares.
    fit_share : float
        Their share in the answer.
    """
    statistics = problem.generative.statistics
    if statistics is None or problem.options.smoothing == 0 or not problem.options.pooled:
        return None
    logistic = _of_classes(problem) if solution is None else _of_logistic(problem, solution, partition, ridge)
    if logistic is None:
        return None
    both = logistic.beside(_of_counts(problem, statistics, partition))
    n_directions, n_contrasts = both.intercept.shape
    if n_directions > MOST_COEFFICIENTS or n_directions * n_contrasts * scores.terms.n_cells > MOST_ENTRIES:
        return None
    away = _toward_fit(problem, scores, 1.0 - fit_share)
    intercept, cells, lines = (
        np.concatenate([np.zeros_like(of_fit[:, None]), places, of_fit[:, None]], axis=1)
        for places, of_fit in zip(
            (both.intercept[None], both.cells, both.lines), (away[0][None], *away[1:]), strict=True
        )
    )
    none = np.zeros((0, *intercept.shape[1:]), dtype=np.float32)
    functions = tuple(np.zeros((size + 1, 0), dtype=np.float32) for size in scores.terms.cardinalities)
    signs = np.append(np.ones(n_directions), 0.0)
    return ScorePosterior(signs, intercept[0], cells.astype(np.float32), none, lines, none, functions)


def _toward_fit(
    problem: HybridProblem, scores: AdditiveScores, share: float
) -> tuple[Floats, Floats, Floats]:
    """Return the direction from the answer to the scores before they were shrunk: intercept, cells, slopes.

    The middle of the posterior are these scores; ``share`` is that of the classes alone in the answer.
    """
    rows = problem.rows
    intercept = share * _contrasts_of(scores.prior - log_priors(problem.generative.class_weight))
    cells = share * _contrasts_of(scores.tables)
    for term, (column,) in enumerate(scores.terms.features):
        block = scores.terms.block(term)
        weight = np.bincount(rows.table.codes[:, column], rows.weights, block.stop - block.start)
        mean = (weight / weight.sum()) @ cells[block]
        cells[block] -= mean
        cells[block.stop - 1] = 0.0
        intercept = intercept + mean
    polynomials = share * _contrasts_of(scores.numeric.coefficients)
    return intercept + polynomials[:, 1].sum(axis=0), cells, polynomials[:, 2]


def _contrasts_of(by_class: Floats) -> Floats:
    """Return values of all classes, on the last axis, as log odds of two or contrasts of more."""
    if by_class.shape[-1] == 2:
        return np.asarray(by_class[..., 1:] - by_class[..., :1])
    return as_contrasts(by_class)


def _of_classes(problem: HybridProblem) -> Places:
    """Return those of the shares of the classes, which are the logistic part without features."""
    errors = np.sqrt(trigamma(problem.generative.class_weight))
    intercept = _contrasts_of(np.diag(errors))
    return Places(intercept, np.zeros((0, *intercept.shape)), np.zeros((0, *intercept.shape)))


def _of_logistic(
    problem: HybridProblem, solution: Floats, partition: Partition, ridge: float
) -> Places | None:
    """Return those of a logistic part, by the inverse of its Hessian."""
    design = problem.design
    terms = sorted(problem.plain_terms.logistic[j] for j in partition.logistic)
    listed = design.coefficients
    n_tables = len(listed.terms.features)
    term_of = np.concatenate([[-1], listed.term_of_cell, n_tables + np.arange(listed.n_numbers)])
    moved = np.isin(term_of, [-1, *terms]) & ~listed.fixed
    if moved.sum() * solution.shape[1] > MOST_COEFFICIENTS:
        return None
    strength = np.full((len(solution), 1), ridge)
    found = posterior_of_terms(design, strength, solution, problem.rows.weights, moved=moved)
    blocks = [found.tables[listed.terms.block(term)][:, 1:] for term in terms if term < n_tables]
    lines = found.lines[[term - n_tables for term in terms if term >= n_tables]][:, 1:]
    cells = np.concatenate([np.zeros((0, *found.intercept[1:].shape)), *blocks])
    return Places(found.intercept[1:], cells, lines)


def _of_counts(problem: HybridProblem, statistics: TableStatistics, partition: Partition) -> Places:
    """Return those of naive Bayes: logarithms of shares, and means and variances of numbers."""
    counts, n_classes = statistics.counts, len(statistics.class_weight)
    n_tables = len(counts.terms.features)
    terms = sorted(problem.features.generative[j] for j in partition.generative)
    n_contrasts = _contrasts_of(np.eye(n_classes)).shape[1]
    empty = np.zeros((0, n_contrasts))
    found = Places(empty, np.zeros((0, *empty.shape)), np.zeros((0, *empty.shape)))
    for term in terms:
        if term < n_tables:
            of_term = _of_shares(counts.joint(term) + problem.options.smoothing, counts.block(term))
        else:
            of_term = _of_number(statistics, term - n_tables, problem.options.variance_floor)
        found = found.beside(of_term)
    return found


def _of_shares(smoothed: Floats, weight: Floats) -> Places:
    """Return those of the shares of one column: (n_values, n_classes), and weights with no evidence last."""
    n_values, n_classes = smoothed.shape
    errors, given = np.sqrt(trigamma(smoothed)), smoothed / smoothed.sum(axis=0)
    # The logarithm of a share moves with that of its count, less the mean over the shares of its class.
    moves = np.zeros((n_values + 1, n_values, n_classes, n_classes))
    for c in range(n_classes):
        moves[:-1, :, c, c] = (np.eye(n_values) - given[:, c]) * errors[:, c]
    of_rows = weight.sum(axis=1)
    cells = _contrasts_of(moves).reshape(n_values + 1, n_values * n_classes, -1)
    mean = np.tensordot(of_rows / max(of_rows.sum(), 1e-300), cells, 1)
    cells -= mean
    cells[-1] = 0.0
    return Places(mean, cells, np.zeros((0, *mean.shape)))


def _of_number(statistics: TableStatistics, number: int, floor: float) -> Places:
    """Return those of the means of one number in the classes, and of the variance within them."""
    normal = NormalParameters.of(statistics.moments, pooled=True, variance_floor=floor)
    weight = np.maximum(statistics.moments.weight[number], 1.0)
    shift, variance = normal.shift[number], normal.class_variance[number]
    along = np.sqrt(variance / weight) / variance
    wider = np.sqrt(2.0 / weight.sum())
    slopes = np.vstack([np.diag(along), -wider * shift / variance])
    constants = np.vstack([np.diag(-shift * along), wider * np.square(shift) / (2.0 * variance)])
    varies = float(normal.varies[number])
    lines = varies * _contrasts_of(slopes)
    return Places(varies * _contrasts_of(constants), np.zeros((0, *lines.shape)), lines[None])
