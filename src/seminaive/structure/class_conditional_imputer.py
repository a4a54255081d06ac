"""Missing cells of training rows drawn from their distribution given the class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from seminaive.encode.table_tags import by_name
from seminaive.models.base import unchanged_on_failure
from seminaive.models.parameters import LARGEST_WHOLE, check_number
from seminaive.scores import generative_scores, log_posterior
from seminaive.statistics import TableStatistics
from seminaive.structure import draw_codes_given_class, draw_numbers_given_class
from seminaive.structure.imputer_base import Imputer
from seminaive.structure.value_draws import draw_values

if TYPE_CHECKING:
    from typing import Self

    from seminaive.arrays import Indices


@dataclass(eq=False, repr=False, kw_only=True)
class ClassConditionalImputer(Imputer):
    """Draws missing cells given the class: categories from ``P(x | class)``, numbers from its normal density.

    **The draws of** ``fit_transform`` **know the labels: they are for training rows only.** A table that is
    completed before it is split has test rows whose cells tell their class, and losses on them are too good.
    In a scikit-learn pipeline that cannot happen: training rows go through ``fit_transform``, and rows to be
    predicted through ``transform``, which does not see labels. There the class is first drawn from the
    posterior of naive Bayes given the observed cells of the row, and the missing cells given that class.

    Columns are drawn independently of each other given the class; `MultipleImputer` keeps their dependence.

    Parameters
    ----------
    smoothing : float, default=0.0
        Added to every count, in rows; 0 draws only values that the class was seen with.
    random_state : int, RandomState or None, default=None
        Decides the draws: after ``fit``, the same table is always completed in the same way.

    Attributes
    ----------
    statistics_ : TableStatistics
        Counts and moments of the observed cells.

    Examples
    --------
    >>> X = [["yes", 1.0], ["yes", 1.0], [None, None], ["no", 3.0], [None, 3.0]]
    >>> imputer = ClassConditionalImputer(random_state=0)
    >>> imputer.fit_transform(X, ["d", "d", "d", "r", "r"]).tolist()
    [['yes', 1.0], ['yes', 1.0], ['yes', 1.0], ['no', 3.0], ['no', 3.0]]
    """

    smoothing: float = 0.0
    random_state: Any = None

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that classes are needed."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Count the observed cells of each class."""
        check_number("smoothing", self.smoothing, "a number of rows, 0 or more", low=0)
        with unchanged_on_failure(self):
            rows = self._encode_training(X, y, sample_weight)
            self.statistics_ = TableStatistics.of(rows.table, rows.labels, rows.n_classes, rows.row_weight)
            self.seed_ = check_random_state(self.random_state).randint(LARGEST_WHOLE)
        return self

    def fit_transform(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Complete training rows, each missing cell given the class of its row.

        Parameters
        ----------
        X : frame, array or list of rows
        y : array-like of shape (n_rows,)
        sample_weight : array-like of shape (n_rows,), default=None
        """
        self.fit(X, y, sample_weight)
        return self._completed(X, self._labels(y))

    def transform(self, X: Any) -> Any:
        """Complete rows whose class is not known: as a frame of the same library, or as an array.

        Parameters
        ----------
        X : frame, array or list of rows
            The training columns.
        """
        check_is_fitted(self)
        return self._completed(by_name(self, X), None)

    def _completed(self, X: Any, labels: Indices | None) -> Any:
        table = self._encode(X)
        generator = np.random.default_rng(self.seed_)
        if labels is None:
            scores = generative_scores(self.statistics_, pooled=False).joint_log_scores(table)
            labels = draw_values(np.exp(log_posterior(scores)), np.arange(len(table)), generator)
        codes = draw_codes_given_class(
            table.codes, labels, self.statistics_.counts, self.smoothing, generator
        )
        numbers = draw_numbers_given_class(table.numbers, labels, self.statistics_.moments, generator)
        return self._as_array(self._written(X, codes, numbers))
