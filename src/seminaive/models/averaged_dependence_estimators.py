"""The mean of all models in which every feature depends on the class and on the same n others."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

from joblib import effective_n_jobs

from seminaive.models.fitted_checks import check_finite
from seminaive.models.parameters import check_jobs, check_number
from seminaive.models.tuple_statistics import TupleClassifier
from seminaive.scores import DependenceTables
from seminaive.statistics.sizes import dependence_parts

if TYPE_CHECKING:
    from seminaive.arrays import Floats
    from seminaive.encode import EncodedTable


@dataclass(eq=False, repr=False)
class AveragedDependenceEstimators(TupleClassifier):
    """Naive Bayes given n parent features, averaged over all choices of parents (AnDE).

    The score of class c is the log of the mean, over all sets s of ``order`` columns, of
    ``P(c, x_s) prod_j P(x_j | c, x_s)``. Order 1 is AODE. A set of parents takes part where its values have
    occurred often enough; where none has, naive Bayes answers. A mean of products is not additive, so
    there are no contributions.

    Parameters
    ----------
    order : int, default=1
        Number of parents; 0 is not among them: that is `NaiveBayes`.
    min_count : float, default=1.0
        How often, in rows, the values of the parents must have occurred.
    n_jobs : int, default=None
        Threads for predicting; results do not depend on it.

    Attributes
    ----------
    statistics_ : TableStatistics
        Raw counts of all tuples up to ``order + 1`` columns; they can be merged.
    tables_ : DependenceTables
        The log probabilities that predicting reads.

    Examples
    --------
    Exclusive or: one parent is enough.

    >>> X = [["a", "c"], ["a", "d"], ["b", "c"], ["b", "d"]] * 25
    >>> AveragedDependenceEstimators().fit(X, [0, 1, 1, 0] * 25).predict([["a", "d"], ["b", "d"]])
    array([1, 0])
    """

    order: int = 1
    _: KW_ONLY
    min_count: float = 1.0
    n_jobs: int | None = None

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number("min_count", self.min_count, "a number of rows, 0 or more", low=0)
        check_jobs(self.n_jobs)

    def _counted_orders(self) -> tuple[int, bool]:
        return self.order + 1, True

    def _memory_parts(self, cardinalities: tuple[int, ...], n_classes: int) -> dict[str, int]:
        return dependence_parts(cardinalities, self.order, n_classes)

    def _derive(self) -> None:
        self.tables_ = DependenceTables.of(
            self.statistics_, self.order, smoothing=self.smoothing, shared=self.estimates == "m-estimate"
        )

    def _check_consistent(self) -> None:
        super()._check_consistent()
        self.tables_.check_fits(self.schema_.cardinalities, self.order, len(self.classes_))
        check_finite(self.tables_)

    def _joint_log_scores(self, table: EncodedTable) -> Floats:
        return self.tables_.joint_log_scores(table.codes, self.min_count, effective_n_jobs(self.n_jobs))
