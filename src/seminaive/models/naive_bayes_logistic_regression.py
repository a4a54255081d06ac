"""Logistic regression that shrinks toward naive Bayes instead of toward zero."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.design.classes import by_class
from seminaive.errors import InputError
from seminaive.models.base import is_number, unchanged_on_failure
from seminaive.models.shrunken import ShrunkenClassifier
from seminaive.solvers.elastic_net_path import N_STRENGTHS, RATIO
from seminaive.statistics import TableStatistics

if TYPE_CHECKING:
    from typing import Self

    from seminaive.arrays import Floats
    from seminaive.design.reference import AnchoredDesign
    from seminaive.models.shrunken import Solve
    from seminaive.solvers import PathOptions, ShrinkagePath


@dataclass(eq=False, repr=False, kw_only=True)
class NaiveBayesLogisticRegression(ShrunkenClassifier):
    """Logistic regression whose coefficients are pulled toward those of naive Bayes.

    Minimises ``-log likelihood + strength * sum_j s_j |b_j - t_j|``, intercept included, where ``t`` are the
    coefficients that naive Bayes gives to the same table and ``s`` the columns' standard deviations. Strength
    0 is logistic regression; from ``path_.strength_max`` on the model is naive Bayes. In between, a
    coefficient leaves its naive Bayes value only if that raises the likelihood by more than the penalty.

    Parameters
    ----------
    strength : float, default=1.0
        How strongly to pull, in units of the log likelihood, which is a sum over rows.
    start : fitted additive model or None, default=None
        An earlier model, fitted to other rows, that takes the place of naive Bayes as the target: it is
        recalibrated on these rows (an intercept per class, a slope for all), and coefficients are those of
        new terms, which are pulled to 0. ``generative_share`` is then the share of the earlier score.
        Classes must be the same. A column that the earlier model lacks is new; one that the table lacks
        carries no evidence. Clones start from the same fitted model; in a grid of parameters, wrap it in
        `FrozenEstimator`.
    generative_share : float, default=1.0
        The evidence of naive Bayes is multiplied by this share before it becomes the target: 0 leaves the
        class shares, 1 is naive Bayes. Other targets ignore it.
    penalty : {"l1", "l2"} or float, default="l1"
        L1 lets coefficients stay exactly at the target; L2 pulls all of them a little; a number between
        0 and 1 is the share of L1 in a mix.

    Attributes
    ----------
    strength_ : float
    path_ : ShrinkagePath
        Solutions from ``strength_max`` to ``strength``, with duality gaps and deviances.

    Examples
    --------
    Two copies of a column count twice in naive Bayes; a small strength corrects that:

    >>> X = [["wet", "wet"]] * 30 + [["dry", "dry"]] * 31
    >>> y = ["rain"] * 20 + ["sun"] * 10 + ["rain"] * 10 + ["sun"] * 21
    >>> for strength in (100.0, 0.1):
    ...     model = NaiveBayesLogisticRegression(strength=strength).fit(X, y)
    ...     print(model.predict_proba([["wet", "wet"]])[0, 0].round(2))
    0.79
    0.67
    """

    strength: float = 1.0
    generative_share: float = 1.0

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Compute naive Bayes, then move its coefficients where that lowers the penalised loss."""
        self.check_parameters()
        with unchanged_on_failure(self):
            training = self._encode_training(X, y, sample_weight)
            row_weight = training.weights
            statistics = TableStatistics.of(training.table, training.labels, training.n_classes, row_weight)
            linear = self.anchored(training.table, statistics, self.generative_share)
            base = self._baseline(training)
            if base is not None:
                base = base.times(self.generative_share)
                linear = replace(linear, offset=linear.offset + by_class(base.offset))
            solve = partial(self._path, linear, training.labels, row_weight)
            self.fit_path(linear, linear.cell_weight(row_weight), solve)
            if base is None:
                self.attenuate(training)
                self._summarise(training)
            else:
                self._complete(training, base)
        return self

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not is_number(self.strength) or self.strength < 0:
            raise InputError(f"strength is a finite number, 0 or more, got {self.strength!r}")
        self._check_share("generative_share", self.generative_share)

    def fit_path(self, linear: AnchoredDesign, cell_weight: Floats, solve: Solve) -> None:
        """Fit by a function that solves paths: from the target to ``strength``; keep the last solution.

        Parameters
        ----------
        linear : AnchoredDesign
        cell_weight : ndarray
            The weight of the rows in each cell of the anchor's terms.
        solve : callable
            Returns a path, given options and strengths; of rows in memory or in blocks.
        """
        path = path_to([float(self.strength)], solve, self._options(), self._options(stop_early=False))
        path.warn_unless_converged()
        self.strength_ = float(path.strengths[-1])  # larger than `strength` where the path broke off
        self._keep_coefficients(linear, cell_weight, path, path.coefficients[-1], path.target, solve)


def path_to(strengths: list[float], solve: Solve, options: PathOptions, whole: PathOptions) -> ShrinkagePath:
    """Return the path from the target to the least of some strengths, with the others on it.

    ``whole`` are the options of a path that never ends early.
    """
    top, least = solve(whole, n_strengths=1).strength_max, min(strengths)
    if least >= top:
        return solve(whole, strengths=np.unique(strengths))
    way = np.geomspace(top, max(least, RATIO * top), N_STRENGTHS)
    others = [strength for strength in strengths if strength > least]
    if least > 0:
        way[-1] = least
        return solve(whole, strengths=np.unique([*way, *others]))
    # The end is solved alone: without a penalty the solver may centre the columns.
    end = solve(whole, strengths=[0.0])
    return solve(options, strengths=np.unique([*way, *others])).then(end)
