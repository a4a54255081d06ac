"""Logistic regression whose features are all tuples of n columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from seminaive.errors import InputError
from seminaive.models.parameters import check_number
from seminaive.models.streaming import StreamingClassifier
from seminaive.objective.ridge import Ridge

if TYPE_CHECKING:
    from seminaive.design.coefficients import GenerativeEstimate


@dataclass(eq=False, repr=False, kw_only=True)
class HigherOrderLogisticRegression(StreamingClassifier):
    """Logistic regression over all combinations of the values of n features (LR^n).

    The score of class c is ``b_c + sum_t b_{c, t, x_t}``, where t runs over all sets of ``order`` columns:
    one coefficient for every combination of values and class. Order 1 is ordinary logistic regression on
    indicators; order 2 adds every interaction of two features, and so on. Numbers are cut into bins inside
    ``fit``. Combinations that never occur in training have no coefficient and contribute nothing.

    A pass over the rows costs far less than rows times terms: terms that share columns are fused into joint
    tables. Tables are dense up to 64 MB; beyond, only the combinations that occur have cells. ``partial_fit``
    learns from streams by stochastic gradient descent, one step per row: the same model with the same penalty
    and target, less exactly solved and without a certificate.

    Parameters
    ----------
    order : int, default=2
        Number of features in a term. More than there are columns means all of them together.
    ridge : float or sequence of float, default=1.0
        Strength, in rows, of the pull of every coefficient but the intercept: half of it times the squared
        coefficients is added to the log loss, as 1/C in scikit-learn, whose binary model likewise
        penalises the log-odds. One number for each order, 1 to ``order``, where they should differ. 0
        leaves separable classes without an optimum.
    number_ridge : float or None, default=None
        Strength of the penalty on numbers that enter as such; None is that of single features.
    generative_share : float, default=0.0
        The share of the generative estimate (AnJE) that coefficients are pulled to: 0 is the usual ridge, 1
        pulls all the way to it.
    hierarchical : bool, default=False
        Whether every lower order has terms too, so that an unseen combination falls back on what its parts
        say, and numbers enter as such, standardised, as well as in bins.
    scaling : {"curvature", "none", "generative"}, default="curvature"
        The scaling of the search space, which decides how fast the optimum is reached: by the curvature of
        the loss at zero (the whole matrix at order 1 with up to 800 coefficients, else its diagonal), not at
        all, or by the generative log probabilities (ALR^n).
    start : {"zero", "generative"} or fitted additive model, default="zero"
        Where the search starts: from coefficients of 0, or from the generative estimate. Given an earlier
        model, fitted to other rows, the coefficients are those of new terms, added to its score, which is
        first recalibrated on these rows (an intercept per class, a slope for all); the ridge pulls them to 0,
        so that an infinite one leaves the recalibrated model. Classes must be the same. A column that the
        earlier model lacks is new; one that the table lacks carries no evidence. Clones start from the same
        fitted model; in a grid of parameters, wrap it in `FrozenEstimator`.

    Attributes
    ----------
    scores_ : AdditiveScores
        The intercept, one table per term, and one slope per number if hierarchical.
    started_from_ : tuple of StartedFrom
        With a model to start from: the earlier models that this one goes back to, the first one first, each
        with its ``slope``.

    Examples
    --------
    Exclusive or: neither feature tells anything alone, both together tell all.

    >>> X = [["a", "c"], ["a", "d"], ["b", "c"], ["b", "d"]] * 25
    >>> y = [0, 1, 1, 0] * 25
    >>> HigherOrderLogisticRegression(order=1).fit(X, y).predict_proba([["a", "d"]]).round(2)
    array([[0.5, 0.5]])
    >>> HigherOrderLogisticRegression(order=2).fit(X, y).predict_proba([["a", "d"]]).round(2)
    array([[0.09, 0.91]])
    """

    number_ridge: float | None = None
    generative_share: float = 0.0

    def ridge_penalty(self, estimate: GenerativeEstimate) -> Ridge:
        """Return the ridge toward a share of the generative estimate."""
        strength = estimate.coefficients.strengths(self._ridges(), self.number_ridge)
        return Ridge(strength, self.generative_share * estimate.joined(centred=True))

    def _check_start(self) -> None:
        super()._check_start()
        if self.start_model is not None and (self.generative_share or self.solver == "sgd"):
            raise InputError(
                "coefficients that are added to an earlier model are pulled to 0, by a solver of all rows: "
                "with a model as start, set generative_share=0 and another solver than 'sgd'"
            )

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.number_ridge is not None:
            check_number("number_ridge", self.number_ridge, "None or a number of 0 or more", low=0.0)
        check_number("generative_share", self.generative_share, "between 0 and 1", low=0.0, high=1.0)
