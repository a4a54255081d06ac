"""Logistic regression over tuples of columns, whose unknowns are weights on a generative model."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from seminaive.design.classes import log_odds
from seminaive.models.higher_order_base import STARTS
from seminaive.models.parameters import check_choice, check_number
from seminaive.models.streaming import StreamingClassifier
from seminaive.objective.ridge import Ridge

if TYPE_CHECKING:
    from seminaive.arrays import Floats
    from seminaive.design.coefficients import GenerativeEstimate


@dataclass(eq=False, repr=False, kw_only=True)
class AcceleratedLogisticRegression(StreamingClassifier):
    """Logistic regression over tuples of n features, as weights on generative estimates (ALR^n).

    The score of class c is ``w_c log pi_c + sum_t w_{c, t, x_t} log theta_{x_t | c}``. The probabilities
    come from counts, ``theta = (count + 1/combinations) / (class count + 1)``, and the weights from the
    conditional likelihood. The models are those of `HigherOrderLogisticRegression`; without a penalty the
    search is about twice as short, and a penalty on the weights pulls toward the generative model. Order 1
    is WANBIA-C. ``partial_fit`` learns from streams by stochastic descent, one step per row, and sets
    ``scores_`` only.

    Parameters
    ----------
    order : int, default=2
        Number of features in a term. More than there are columns means all of them together.
    ridge : float or sequence of float, default=1.0
        Strength, in rows, of the pull of ``beta = w log theta`` toward 0, one number or one per order.
    pull_to_generative : float, default=0.0
        Strength, in rows, of the pull of the weights w toward ``generative_weight``; set ``ridge=0`` for it
        to be the only one. A large one leaves the generative model.
    generative_weight : {"one", "average"}, default="one"
        The weight that ``pull_to_generative`` pulls to: 1 on every term, or that of
        `AveragedJoinEstimators`, with which each column counts once in all.
    hierarchical : bool, default=False
        Whether every lower order has terms too, and numbers enter as such as well as in bins.
    scaling : {"curvature", "generative", "none"}, default="curvature"
        The scaling of the search space: by the curvature of the loss at zero (the whole matrix at order 1
        with up to 800 coefficients, else its diagonal); by log theta, which makes the weights the unknowns as
        in the paper, faster than none without a ridge and slow with one; or none (LR^n).
    start : {"zero", "generative"}, default="zero"
        Where the search starts: from coefficients of 0, or from those of AnJE.

    Attributes
    ----------
    scores_ : AdditiveScores
        ``beta``: the intercept, one table per term, and one slope per number if hierarchical.
    weights_ : ndarray of shape (n_cells, n_classes)
        The paper's w, cell by cell as in ``scores_.tables``; 0 where log theta is 0 or nothing was seen.
    prior_weights_ : ndarray of shape (n_classes,)
        The weights of the log priors.

    Examples
    --------
    A copy of a feature adds nothing, so both share the weight that one would have:

    >>> X = [["wet", "wet"]] * 300 + [["dry", "dry"]] * 300
    >>> y = ["rain"] * 200 + ["sun"] * 100 + ["rain"] * 100 + ["sun"] * 200
    >>> model = AcceleratedLogisticRegression(order=1, ridge=0).fit(X, y)
    >>> bool(np.allclose(model.weights_[:2], model.weights_[3:5]))
    True
    """

    weights_: Floats = field(init=False)
    prior_weights_: Floats = field(init=False)

    _fitted: ClassVar[dict[str, Any]] = {"weights_": np.ndarray, "prior_weights_": np.ndarray}

    pull_to_generative: float = 0.0
    generative_weight: str = "one"

    def ridge_penalty(self, estimate: GenerativeEstimate) -> Ridge:
        """Return the ridge toward 0 and the pull of the weights toward w0, together one ridge.

        Given beta, the nearest weights to w0 are at a squared distance of ``(beta - w0 log theta)**2`` over
        ``log(theta)**2``, with two classes over the sum of both squares.
        """
        strength = estimate.coefficients.strengths(self._ridges())
        if self.pull_to_generative == 0:
            return Ridge(strength)
        lengths = estimate.lengths
        pull = np.divide(self.pull_to_generative, lengths**2, out=np.zeros_like(lengths), where=lengths > 0)
        target = log_odds(estimate.logs * self._pulled_to(estimate)[:, None])
        total = strength + pull
        return Ridge(total, np.divide(pull * target, total, out=np.zeros_like(target), where=total > 0))

    def _pulled_to(self, estimate: GenerativeEstimate) -> Floats:
        """Return the weight w0 of each coefficient."""
        weights = estimate.coefficients.join_weights
        return np.ones_like(weights) if self.generative_weight == "one" else weights

    def _by_class(self, estimate: GenerativeEstimate, solution: Floats) -> Floats:
        """Return ``beta = w log theta``; of two classes, the weights nearest to those pulled to."""
        if solution.shape[1] > 1:
            return solution
        logs = estimate.logs
        base = np.zeros_like(logs)
        if self.pull_to_generative > 0:
            base = self._pulled_to(estimate)[:, None] * logs
        rest = solution - log_odds(base)
        squares = logs**2
        total = squares.sum(axis=1, keepdims=True)
        shares = np.divide(squares, total, out=np.full_like(logs, 0.5), where=total > 0)
        return np.asarray(base + rest * shares * np.array([-1.0, 1.0]))

    def _read(self, estimate: GenerativeEstimate, solution: Floats) -> None:
        super()._read(estimate, solution)
        logs = estimate.logs
        self.prior_weights_ = self.scores_.prior / logs[0]
        _, places = estimate.coefficients.layout
        of_cells = logs[1 : 1 + len(places)]
        self.weights_ = np.zeros_like(self.scores_.tables)
        self.weights_[places] = np.divide(
            self.scores_.tables[places], of_cells, out=np.zeros_like(of_cells), where=of_cells != 0
        )

    def _check_start(self) -> None:
        check_choice("start", self.start, STARTS)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number("pull_to_generative", self.pull_to_generative, "a number of 0 or more", low=0.0)
        check_choice("generative_weight", self.generative_weight, ("one", "average"))
