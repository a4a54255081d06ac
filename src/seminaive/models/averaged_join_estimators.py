"""The geometric mean of all models that join the features in groups of n."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from math import comb
from typing import TYPE_CHECKING, Any

from seminaive.models.additive_classifier import AdditiveClassifier
from seminaive.models.tuple_statistics import TupleClassifier
from seminaive.scores import AdditiveScores, laplace_tables, m_estimate_tables
from seminaive.statistics import log_shares

if TYPE_CHECKING:
    from seminaive.encode.schema import MissingPolicy


@dataclass(eq=False, repr=False)
class AveragedJoinEstimators(TupleClassifier, AdditiveClassifier):
    """Naive Bayes over groups of n features, averaged over all ways to group them (AnJE).

    The score of class c is ``log pi_c + g sum_t log theta_{x_t | c}``, where t runs over all sets of
    ``order`` columns. A column is in ``binomial(a - 1, n - 1)`` of these sets, a being the number of columns
    and n the order; ``g`` is one over that number, so that each column counts once in all. Order 1 is naive
    Bayes. Nothing but counts is needed. `AcceleratedLogisticRegression` starts from these estimates.

    Parameters
    ----------
    order : int, default=2
        Number of features in a group. More than there are columns means all of them together.
    smoothing : float, default=1.0
        Weight, in rows, of the uniform distribution in each estimate, see ``estimates``.
    estimates : {"m-estimate", "laplace"}, default="m-estimate"
        Whether a term's combinations share ``smoothing`` rows, or get as many each.
    bins : "mdl" or int, default="mdl"
        How numbers are cut into intervals: where the classes change, by minimum description length, or
        into that number of intervals with equally many rows.
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
    classes_declared_ : bool
        Whether ``partial_fit`` was given all classes, and refuses others.
    columns_report_ : frame
        How each column was read: kind, levels, missing cells, type.
    schema_ : Schema
        Names, kinds, categories and cut points of the columns.
    statistics_ : TableStatistics
        Raw counts; they can be merged.
    scores_ : AdditiveScores
        The log prior, and one table per set of columns.

    Examples
    --------
    Two copies of a feature, joined, count as one:

    >>> X = [["wet", "wet"]] * 30 + [["dry", "dry"]] * 30
    >>> y = ["rain"] * 20 + ["sun"] * 10 + ["rain"] * 10 + ["sun"] * 20
    >>> AveragedJoinEstimators(order=2).fit(X, y).predict_proba([["dry", "dry"]]).round(2)
    array([[0.34, 0.66]])
    >>> AveragedJoinEstimators(order=1).fit(X, y).predict_proba([["dry", "dry"]]).round(2)
    array([[0.21, 0.79]])
    """

    order: int = 2
    _: KW_ONLY
    smoothing: float = 1.0
    estimates: str = "m-estimate"
    bins: Any = "mdl"
    categorical_features: Any = "from_dtype"
    missing: MissingPolicy = "value"
    class_weight: Any = None
    merge_spellings: bool = False
    keep_summary: bool = True
    verbose: int = False

    def _counted_orders(self) -> tuple[int, bool]:
        return self.order, False

    def _derive(self) -> None:
        statistics = self.statistics_
        n_columns = len(statistics.counts.terms.cardinalities)
        order = min(self.order, n_columns)
        tables = (m_estimate_tables if self.estimates == "m-estimate" else laplace_tables)(
            statistics.counts, self.smoothing
        )
        weight = statistics.class_weight
        added = self.smoothing / len(weight) if self.estimates == "m-estimate" else self.smoothing
        prior = log_shares(weight, weight.sum(), len(weight), added)
        share = 1 / comb(n_columns - 1, order - 1)
        self.scores_ = AdditiveScores.of_tables(prior, statistics.counts.terms, tables * share)
