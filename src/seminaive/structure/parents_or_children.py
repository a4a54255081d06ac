"""Which features of a hybrid model are parents of the class (logistic regression), and which its children.

Every rule starts from a matrix of dependences or from a function that judges a partition, and records each
decision in a trace.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from seminaive.arrays import Floats

    Related = NDArray[np.bool_]
    Accuracy = Callable[[tuple[int, ...]], float]

LOGISTIC, GENERATIVE = "logistic", "generative"
# Normalised mutual information given the class from which on two features are separated, as in the paper.
CUTOFF = 0.05


@dataclass(frozen=True)
class Assignment:
    """One decision: which part a feature went to, and why.

    Parameters
    ----------
    part : {"logistic", "generative"}
    reason : str
        The quantities compared, with their values; features are called by ``{number}``.
    value, threshold : float
        What was compared: at or above the threshold a feature is moved.
    """

    feature: int
    part: str
    reason: str
    value: float
    threshold: float

    def describe(self, names: Sequence[str]) -> str:
        """Return one line of text."""
        return f"{names[self.feature]} to the {self.part} part: {self.reason.format(*names)}"


@dataclass(frozen=True)
class Partition:
    """The features of the logistic and of the generative part, increasing.

    Parameters
    ----------
    trace : tuple of Assignment
        The decisions in the order in which they were made.
    """

    logistic: tuple[int, ...]
    generative: tuple[int, ...]
    trace: tuple[Assignment, ...] = ()

    @classmethod
    def of_logistic(
        cls, logistic: Iterable[int], n_features: int, trace: Sequence[Assignment] = ()
    ) -> Partition:
        """Return the partition whose logistic part is given."""
        logistic_features = frozenset(logistic)
        return cls(
            tuple(sorted(logistic_features)),
            tuple(j for j in range(n_features) if j not in logistic_features),
            tuple(trace),
        )

    def describe(self, names: Sequence[str]) -> str:
        """Return both parts and the decisions as text."""
        parts = [
            f"{part}: {', '.join(names[j] for j in numbers) or 'nothing'}"
            for part, numbers in ((LOGISTIC, self.logistic), (GENERATIVE, self.generative))
        ]
        return "\n".join([*parts, *(f"  {decision.describe(names)}" for decision in self.trace)])


def mean_dependence(dependence: Floats) -> Floats:
    """Return each feature's mean dependence on the others, 0 for a single feature.

    Parameters
    ----------
    dependence : ndarray of shape (p, p)
        Such as normalised conditional mutual information; the diagonal is not read.
    """
    n_features = len(dependence)
    if n_features < 2:
        return np.zeros(n_features)
    mean: Floats = (dependence.sum(axis=1) - np.diag(dependence)) / (n_features - 1)
    return mean


def bias_variance_partition(mean: Floats, rate_times_rows: float) -> Partition:
    """Give a feature to the logistic part where ``exp(-rate * n_rows)`` is at most its mean dependence.

    The left side stands for the variance that logistic regression adds, the right one for the bias of naive
    Bayes (dissertation, Eq. 1.8).

    Parameters
    ----------
    mean : ndarray of shape (p,)
        See `mean_dependence`.
    rate_times_rows : float
        0 leaves all features to naive Bayes (but copies of one another), infinity none.

    Examples
    --------
    >>> bias_variance_partition(np.array([0.3, 0.1]), 2.0).logistic
    (0,)
    """
    threshold = float(np.exp(-rate_times_rows))
    return _by_threshold(mean, threshold, mean >= threshold)


def bias_variance_path(mean: Floats) -> tuple[tuple[float, Partition], ...]:
    """Return every partition that some rate gives, each with the smallest ``rate * n_rows`` that gives it.

    There are at most p + 1: a feature joins the logistic part at ``-log(mean dependence)``, one without any
    dependence at infinity.
    """
    with np.errstate(divide="ignore"):
        joins = np.maximum(-np.log(mean), 0.0)
    starts = np.unique(np.concatenate([[0.0], joins])).tolist()
    return tuple((start, _by_threshold(mean, float(np.exp(-start)), joins <= start)) for start in starts)


def _by_threshold(mean: Floats, threshold: float, logistic: Related) -> Partition:
    """Record which features' mean dependence reached the threshold."""
    trace = [
        Assignment(
            j,
            LOGISTIC if logistic[j] else GENERATIVE,
            f"mean dependence {value:.4g}, exp(-rate n) = {threshold:.4g}",
            float(value),
            threshold,
        )
        for j, value in enumerate(mean)
    ]
    return Partition.of_logistic(np.flatnonzero(logistic).tolist(), len(mean), trace)


def dependence_partition(
    dependence: Floats,
    generator: np.random.Generator | np.random.RandomState,
    *,
    cutoff: float = CUTOFF,
    related: Related | None = None,
    logistic: Sequence[int] = (),
) -> Partition:
    """Move features to the logistic part until no pair of the rest depends on each other (hybrid paper).

    Of the pair that depends most, the feature moves whose second-largest dependence, on any other feature of
    the rest, is larger. Where these are equal, or only the pair is left, the generator chooses.

    Parameters
    ----------
    dependence : ndarray of shape (p, p)
        Symmetric; normalised conditional mutual information in the paper.
    generator : numpy random generator
    cutoff : float
        Smallest dependence that separates a pair.
    related : ndarray of shape (p, p) or None
        Which pairs to separate, say those whose independence a G test rejects; None
        separates those at or above the cutoff.
    logistic : sequence of int
        Features that are in the logistic part from the start.
    """
    n_features = len(dependence)
    separate = np.array(dependence >= cutoff if related is None else related, dtype=bool)
    np.fill_diagonal(separate, val=False)
    rest = [j for j in range(n_features) if j not in set(logistic)]
    trace = [Assignment(j, LOGISTIC, "from the start", np.nan, np.nan) for j in logistic]
    while len(rest) > 1:
        among_rest = np.ix_(rest, rest)
        among = np.where(separate[among_rest], dependence[among_rest], -np.inf)
        first, second = np.unravel_index(int(np.argmax(among)), among.shape)
        largest = float(among[first, second])
        if largest == -np.inf:
            break
        i, j = rest[min(first, second)], rest[max(first, second)]
        others = [k for k in rest if k not in (i, j)]
        of_i, of_j = (float(dependence[k, others].max()) if others else np.nan for k in (i, j))
        if not others or of_i == of_j:
            moved = i if generator.uniform() < 0.5 else j
            reason = "one of them at random"
        else:
            moved = i if of_i > of_j else j
            reason = f"next largest of {{{i}}} {of_i:.4g}, of {{{j}}} {of_j:.4g}"
        pair = f"{{{i}}} and {{{j}}} depend by {largest:.4g}; {reason}"
        trace.append(Assignment(moved, LOGISTIC, pair, largest, cutoff if related is None else np.nan))
        rest.remove(moved)
    return Partition.of_logistic([j for j in range(n_features) if j not in rest], n_features, trace)


def greedy_partition(
    n_features: int,
    accuracy: Accuracy,
    *,
    forward: bool = False,
    logistic: Sequence[int] = (),
    generative: Sequence[int] = (),
) -> Partition:
    """Move the feature that raises the accuracy most, until none does (Kang and Tian, 2006).

    Parameters
    ----------
    accuracy : callable
        Accuracy on the training rows of the model with a given logistic part, a tuple of int, increasing.
    forward : bool
        False starts with all features in the generative part and moves them to the logistic one (the
        dissertation's reading). True starts with an empty generative part, which grows (the hybrid
        paper's).
    logistic, generative : sequence of int
        Features that stay in these parts.
    """
    part = GENERATIVE if forward else LOGISTIC
    staying = [j for j in range(n_features) if j not in {*logistic, *generative}]
    free = frozenset(staying)
    moved: list[int] = []

    def logistic_part(moves: list[int]) -> tuple[int, ...]:
        return tuple(sorted({*logistic, *(free - {*moves} if forward else moves)}))

    best = float(accuracy(logistic_part([])))
    trace: list[Assignment] = []
    while staying:
        gained = [float(accuracy(logistic_part([*moved, j]))) for j in staying]
        position = int(np.argmax(gained))
        if not gained[position] > best:
            break
        feature = staying.pop(position)
        reason = f"accuracy {gained[position]:.4g} after {best:.4g}"
        trace.append(Assignment(feature, part, reason, gained[position], best))
        moved.append(feature)
        best = gained[position]
    return Partition.of_logistic(logistic_part(moved), n_features, trace)
