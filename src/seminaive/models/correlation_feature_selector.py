"""Selection of features that tell much about the class and do not repeat each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.encode import EncodedTable, TableEncoder
from seminaive.encode.cuts import cut_rule
from seminaive.models.base import unchanged_on_failure
from seminaive.models.parameters import PATIENCE, check_whole
from seminaive.models.table_selector import TableSelector
from seminaive.models.training_set import open_training
from seminaive.selection.correlation_selection import Uncertainties, best_first_search

if TYPE_CHECKING:
    from typing import Self

    from seminaive.encode.encoded_table import CutRule
    from seminaive.encode.schema import MissingPolicy


@dataclass(eq=False, repr=False, kw_only=True)
class CorrelationFeatureSelector(TableSelector):
    """Correlation-based feature selection (CFS), for any classifier behind it.

    A subset of k features has the merit ``k r_cf / sqrt(k + k (k - 1) r_ff)``, with the means of the
    symmetrical uncertainty of feature and class and of two features. Subsets are searched best first, from
    none on. Where no feature tells anything about the class, the best one is kept all the same, so that a
    classifier behind the selector has a column.

    Parameters
    ----------
    bins : {"mdl"} or int, default="mdl"
        How numbers are cut into categories, for the selection only: by description length, or into bins of
        equal frequency.
    patience : int, default=5
        Extensions of a subset in a row without a better one after which the search ends.
    missing : {"value", "neutral"}, default="value"
        Whether a missing cell is a value like any other, where training saw one, or left out.

    Attributes
    ----------
    selected_features_ : list of str
    merit_ : float
        Of the selected subset.
    class_uncertainties_ : ndarray of shape (n_features,)
        Symmetrical uncertainty of each feature and the class.
    n_evaluations_ : int
        Subsets whose merit was computed.

    Examples
    --------
    Of a feature and its copy one is enough:

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 300)
    >>> x = rng.normal(2 * y)
    >>> CorrelationFeatureSelector().fit(np.column_stack([x, x]), y).selected_features_
    ['x0']
    """

    bins: Any = "mdl"
    patience: int = PATIENCE
    missing: MissingPolicy = "value"

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the subset of most merit."""
        check_whole("patience", self.patience, "a number of extensions, 1 or more", low=1)
        rule = cut_rule(self.bins)
        with unchanged_on_failure(self):
            uncertainties = self._encoded(X, y, sample_weight, rule)
            names = self.schema_.names
            order = np.argsort(np.array(names, dtype=object), kind="stable")
            found = best_first_search(uncertainties.merit, order, self.patience)
            kept = found.features or (int(order[np.argmax(uncertainties.with_class[order])]),)
            self.support_ = np.isin(np.arange(len(names)), kept)
            self.merit_, self.n_evaluations_ = found.merit, found.n_evaluations
            self.class_uncertainties_ = uncertainties.with_class
        return self

    def _encoded(self, X: Any, y: Any, sample_weight: Any, rule: CutRule) -> Uncertainties:
        opened, target, row_weight = open_training(self, X, y, sample_weight)
        encoder, table = TableEncoder.learn(
            opened,
            categorical_features=self.categorical_features,
            missing=self.missing,
            cut_rule=rule,
            labels=target.labels,
            row_weight=row_weight,
            allow_empty=True,
        )
        self.schema_ = encoder.schema
        coded = EncodedTable.of_codes(table.codes, table.schema)
        return Uncertainties(coded, target.labels, len(target.classes), row_weight)

    @property
    def selected_features_(self) -> list[str]:
        """Names of the features that are kept."""
        return [name for name, kept in zip(self.schema_.names, self.support_, strict=True) if kept]
