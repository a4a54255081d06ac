"""What selectors of columns share: which tables they take, and the columns that they give back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from seminaive.encode import keep_columns, open_table
from seminaive.encode.table_tags import by_name, check_columns
from seminaive.errors import InputError
from seminaive.models.table_estimator import TableEstimator

if TYPE_CHECKING:
    from seminaive.arrays import Booleans


class TableSelector(SelectorMixin, TableEstimator):
    """A selector of columns of ordinary tables; a subclass sets ``support_``, a mask, in ``fit``."""

    support_: Booleans

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that classes are needed, and sparse indicators are welcome."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        return tags

    def _get_support_mask(self) -> Booleans:
        check_is_fitted(self)
        return self.support_

    def transform(self, X: Any) -> Any:
        """Return the selected columns: of a frame as a frame of the same library, else as an array.

        Parameters
        ----------
        X : frame, array or list of rows
            The training columns: by name, or in the training order where there are no names.
        """
        check_is_fitted(self)
        X = by_name(self, X)
        opened = open_table(X)
        check_columns(self, X, reset=False)
        if len(opened.names) != len(self.support_):
            raise InputError(
                f"fitted on {len(self.support_)} columns, got {len(opened.names)}: pass the training columns"
            )
        return keep_columns(X, self.support_)
