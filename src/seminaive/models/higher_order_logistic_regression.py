"""Logistic regression whose features are all tuples of n columns."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any

from seminaive.errors import InputError
from seminaive.models.higher_order_base import SMOOTH_TOL
from seminaive.models.parameters import check_number
from seminaive.models.streaming import StreamingClassifier
from seminaive.objective.ridge import Ridge
from seminaive.solvers.result import MAX_ITER

if TYPE_CHECKING:
    from seminaive.design.coefficients import GenerativeEstimate
    from seminaive.encode.schema import MissingPolicy


@dataclass(eq=False, repr=False)
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
    solver : {"lbfgs", "newton", "sgd"}, default="lbfgs"
        Quasi-Newton, Newton (a few thousand coefficients at most, then by far the fastest), or stochastic
        gradient descent in epochs.
    bins : "mdl" or int, default="mdl"
        How numbers are cut into intervals: where the classes change, by minimum description length, or
        into that number of intervals with equally many rows.
    tol : float, default=1e-4
        Norm of the gradient at which to stop, relative to that at the start.
    max_iter : int, default=1000
        Iterations, or epochs of stochastic descent.
    n_jobs : int, default=None
        Threads; results do not depend on it.
    random_state : int, RandomState or None, default=None
        The order of rows in stochastic descent; nothing else is random.
    categorical_features : {"from_dtype", "all"}, names, positions or mask, default="from_dtype"
        Which columns are categories: those that do not hold numbers, all, or those and the listed ones.
    missing : {"value", "neutral"}, default="value"
        Whether a missing cell counts as one more value, if training had missing cells in its column, or
        leaves the odds of the classes as they are.
    class_weight : None, "balanced" or mapping, default=None
        Weights of the classes, which multiply the weights of their rows; "balanced" gives every
        class the same total. Classes that a mapping leaves out weigh 1.
    merge_spellings : bool, default=False
        Whether capitals and spaces around a category do not matter: "Yes", "yes" and "yes " are one.
    keep_summary : bool, default=True
        Whether to keep a summary of the training table for pictures and reports: how often each value
        occurred, and quantiles of numbers; no row is kept.
    verbose : bool or int, default=False
        Whether to show progress on standard error.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    columns_report_ : frame
        How each column was read: kind, levels, missing cells, type.
    schema_ : Schema
        Names, kinds, categories and cut points of the columns.
    scores_ : AdditiveScores
        The intercept, one table per term, and one slope per number if hierarchical.
    started_from_ : tuple of StartedFrom
        With a model to start from: the earlier models that this one goes back to, the first one first, each
        with its ``slope``.
    objective_ : float
        The penalised loss at the solution.
    gradient_norm_ : float
        How close to the optimum the fit ended (its certificate): the norm of the gradient, relative to that
        at the start.
    n_iter_ : int
    passes_ : int
        Passes over all rows; counting pairs for the scaling is one of them.
    history_ : ndarray of shape (passes_,)
        Lowest objective after each pass.

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

    order: int = 2
    _: KW_ONLY
    ridge: Any = 1.0
    number_ridge: float | None = None
    generative_share: float = 0.0
    hierarchical: bool = False
    scaling: str = "curvature"
    start: Any = "zero"
    solver: str = "lbfgs"
    bins: Any = "mdl"
    tol: float = SMOOTH_TOL
    max_iter: int = MAX_ITER
    n_jobs: int | None = None
    random_state: Any = None
    categorical_features: Any = "from_dtype"
    missing: MissingPolicy = "value"
    class_weight: Any = None
    merge_spellings: bool = False
    keep_summary: bool = True
    verbose: int = False

    def ridge_penalty(self, estimate: GenerativeEstimate) -> Ridge:
        """Return the ridge toward a share of the generative estimate.

        Parameters
        ----------
        estimate : GenerativeEstimate
            Of the rows of a fit.
        """
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
