"""What the kernels of the path solver take and give: named arrays, laid out once for all of them.

Letters
-------
n, m, k : rows, numeric columns, coded columns
d       : coefficients of one score: the intercept, the m numbers, one per category that is not a reference
K       : scores: 1 for the logistic model, the number of classes for the softmax
D       : d + 1; the last coefficient of a score is the empty slot: it stands for "no column", is always
          zero, and has no derivative
S       : strengths
x       : deviations, coefficients minus target
g       : minus the derivatives of the loss by x

Vectors over the coefficients or the rows of all scores are flat, one score after the other: coefficient j
of score c is at c D + j, row i of score c at c n + i. One index compiles to a fraction of the code that two
take.
"""

from typing import NamedTuple

import numpy as np

CHUNK = 256  # rows whose scores and residuals stay in the first-level cache during a pass
CONVERGED, STALLED, OUT_OF_STEPS, TOO_WIDE, NOT_REACHED = 0, 1, 2, 3, 4
LOSS, ODDS, MARGIN, OBJECTIVE, RESIDUAL, GAP = 0, 1, 2, 3, 4, 5  # positions in PathPoint.facts
STRENGTH_MAX, STEEPEST, START_LOSS = 0, 1, 2  # positions in Path.scales
WIDTH, STALE = 0, 1  # positions in Model.state
# Positions in Run.counts and Run.facts.
PHASE, INDEX, STEPS, FRESH = 0, 1, 2, 3
PREVIOUS, STRENGTH, LENGTH, PREDICTED = 0, 1, 2, 3
RESIDUAL_LIMIT, GAP_SHARE, LOSS_LIMIT, LAST_GAP = 4, 5, 6, 7
# What a path needs next of the rows: a pass at the trial, second derivatives at the point, nothing more.
EVALUATE, CURVATURE, DONE = 0, 1, 2


class PathDesign(NamedTuple):
    """The columns of a linear model: [1, numbers, indicators], minus ``centre``; never stored as such.

    numbers (n, m) float64; places (n, k) uint16 or uint32, the coefficient of each coded cell, d where it has
    none (a reference category, no evidence); first_place (k + 1,) int64: the coefficients of coded column f
    are those from first_place[f] up to first_place[f + 1]; centre (D,) float64. Arrays are C-contiguous.
    """

    numbers: np.ndarray
    places: np.ndarray
    first_place: np.ndarray
    centre: np.ndarray


class Problem(NamedTuple):
    """Rows and penalty of one path.

    offset (K n,) float64, label (n,) int64, row_weight (n,) float64; l1_factor and l2_factor (K D,) float64
    multiply the strength in the L1 and the L2 part of the penalty (0 in both leaves a coefficient free; the
    empty slot has 1 in both); l1_share is the L1 part of the penalty, in [0, 1].
    """

    offset: np.ndarray
    label: np.ndarray
    row_weight: np.ndarray
    l1_factor: np.ndarray
    l2_factor: np.ndarray
    l1_share: float


class Rules(NamedTuple):
    """When to stop.

    gap_tol is relative to the objective, residual_tol to the largest derivative at the target; max_steps
    bounds the steps per strength; the path ends at a loss of least_loss; separated_ratio is the part of
    strength_max below which it ends once the classes are separated; gram_limit is the largest number of
    coefficients for which second derivatives are kept; up to always_whole coefficients the working set is all
    of them; ratio is the last strength over the first where strengths are to be laid, 0 where they are given;
    farthest is the largest centre of a column.
    """

    gap_tol: float
    residual_tol: float
    max_steps: int
    least_loss: float
    separated_ratio: float
    gram_limit: int
    always_whole: int
    ratio: float
    farthest: float


class PathPoint(NamedTuple):
    """Deviations x (K D,), what a pass over the rows finds there, and how good they are at a strength.

    g (K D,). facts (6,): the loss (the weighted negative log-likelihood); the odds (the weighted sum of
    (1 - p) / p, with p the probability of the observed class, which bounds the curvature of the dual); the
    least margin, positive when every row is on its own class's side; the objective, loss plus penalty; the
    residual, the worst violation of optimality; and the duality gap.
    """

    x: np.ndarray
    g: np.ndarray
    facts: np.ndarray


class Penalty(NamedTuple):
    """Penalty at one strength: l1 |x| + l2 x^2 / 2, both (K D,)."""

    l1: np.ndarray
    l2: np.ndarray


class PathWork(NamedTuple):
    """What passes over the rows overwrite.

    probability (K n,), at the point evaluated last; scores (K CHUNK,); exponent and exponential (CHUNK,);
    passes (1,) int64 counts the passes.
    """

    probability: np.ndarray
    scores: np.ndarray
    exponent: np.ndarray
    exponential: np.ndarray
    passes: np.ndarray


class Softmax(NamedTuple):
    """What a pass overwrites where there are several scores: rival, top and others, each (CHUNK,).

    Kernels take None in its place where there is one score, the log odds: the compiler then leaves out what
    only the softmax needs.
    """

    rival: np.ndarray
    top: np.ndarray
    others: np.ndarray


class Model(NamedTuple):
    """A quadratic model of the loss over a working set: s coefficients per score, q = s K, at most Q.

    chosen (D,) bool marks the working set wanted; slot (D,) int64 is the place of each coefficient in the
    one that there is, s for "not there"; position (Q,) int64 gives each of the q entries, the scores of one
    coefficient side by side, its place among the flat coefficients. gram (Q + K, Q + 4 K) are the second
    derivatives, of which the first q rows and columns are in use. x, u, l1, l2, tol, step (Q,), active (Q,)
    int64 and factor (Q, Q) are scratch of its minimisation; block (Q / K + 4, CHUNK), where (1 + m + k,)
    int64 and value (1 + m + k,) of the Gram matrix. state (2,) int64: s, and whether gram must be computed
    anew.
    """

    chosen: np.ndarray
    slot: np.ndarray
    position: np.ndarray
    active: np.ndarray
    state: np.ndarray
    gram: np.ndarray
    factor: np.ndarray
    block: np.ndarray
    where: np.ndarray
    value: np.ndarray
    x: np.ndarray
    u: np.ndarray
    l1: np.ndarray
    l2: np.ndarray
    tol: np.ndarray
    step: np.ndarray


class Run(NamedTuple):
    """How far a path has come.

    counts (4,) int64: the phase, the index of the strength (-1 while what is free is fitted first), the steps
    at this strength, and whether second derivatives are those of the point. facts (8,): the strength before,
    this one, the length of the step that is tried and the change that is predicted for all of it; the limits
    of residual, gap and loss; and the gap.
    """

    counts: np.ndarray
    facts: np.ndarray


class Path(NamedTuple):
    """One entry per strength: strengths (S,), deviations (S, K D), facts (S, 6) as in PathPoint; scales (3,).

    passes and statuses (S,) int64. The scales are strength_max; steepest, the largest derivative at the
    target (after fitting what is free) per unit of factor, which for a pure L1 penalty is strength_max; and
    the loss at the target.
    """

    strengths: np.ndarray
    deviations: np.ndarray
    facts: np.ndarray
    passes: np.ndarray
    statuses: np.ndarray
    scales: np.ndarray


def new_point(size):
    """Return the point at the target, not evaluated; size is K D."""
    return PathPoint(np.zeros(size), np.zeros(size), np.zeros(6))


def new_penalty(size):
    """Return room for a penalty."""
    return Penalty(np.zeros(size), np.zeros(size))


def new_work(n_rows, n_scores):
    """Return room for passes over the rows."""
    return PathWork(
        np.empty(n_scores * n_rows),
        np.empty(n_scores * CHUNK),
        *np.empty((2, CHUNK)),
        np.zeros(1, dtype=np.int64),
    )


def new_softmax(n_scores):
    """Return room for passes of several scores, None for one."""
    return Softmax(*np.empty((3, CHUNK))) if n_scores > 1 else None


def new_model(design, n_scores, gram_limit):
    """Return room for a model of at most gram_limit coefficients; what it does not reach costs nothing."""
    size = len(design.centre)
    widest = min(gram_limit // n_scores, size - 1) * n_scores
    entries = 1 + design.numbers.shape[1] + design.places.shape[1]
    return Model(
        np.zeros(size, dtype=np.bool_),
        np.zeros(size, dtype=np.int64),
        *np.empty((2, widest), dtype=np.int64),
        np.array([0, 1]),
        np.empty((widest + n_scores, widest + 4 * n_scores)),
        np.empty((widest, widest)),
        np.zeros((widest // n_scores + 4, CHUNK)),
        np.empty(entries, dtype=np.int64),
        np.ones(entries),
        *np.empty((6, widest)),
    )


def new_run():
    """Return a path that has not begun."""
    return Run(np.zeros(4, dtype=np.int64), np.zeros(8))


def new_path(strengths, size):
    """Return a path of which nothing is solved yet."""
    count = len(strengths)
    return Path(
        strengths,
        np.zeros((count, size)),
        np.full((count, 6), np.nan),
        np.zeros(count, dtype=np.int64),
        np.full(count, NOT_REACHED, dtype=np.int64),
        np.zeros(3),
    )
