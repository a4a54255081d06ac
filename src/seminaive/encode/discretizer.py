"""What the discretisers share as scikit-learn transformers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from seminaive.encode.table_tags import by_name
from seminaive.encode.target import encode_weights
from seminaive.errors import InputError, TableTypeError

if TYPE_CHECKING:
    from seminaive.arrays import Floats, Integers
    from seminaive.encode.encoded_table import CutRule


class Discretizer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Replaces numbers by the number of their bin, column by column; a missing cell stays missing."""

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that missing cells are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _fit_cuts(self, X: Any, labels: Integers, sample_weight: Any, rule: CutRule) -> None:
        numbers = self._numbers(X, reset=True)
        if len(labels) != len(numbers):
            raise InputError(f"X has {len(numbers)} rows and y has {len(labels)} labels: pass one per row")
        weight = encode_weights(sample_weight, len(numbers))
        self.cuts_ = []
        for column in numbers.T:
            kept = ~np.isnan(column) if weight is None else ~np.isnan(column) & (weight > 0)
            self.cuts_.append(rule(column[kept], labels[kept], None if weight is None else weight[kept]))

    def _numbers(self, X: Any, *, reset: bool) -> Floats:
        try:
            with np.errstate(invalid="ignore"):  # infinities are refused
                numbers: Floats = validate_data(
                    self, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=reset
                )
        except (TypeError, ValueError, ArithmeticError, NotImplementedError) as error:
            kind = TableTypeError if isinstance(error, TypeError) else InputError
            raise kind(
                f"{type(self).__name__} cuts columns of numbers, and this table has others: {error}"
            ) from error
        return numbers

    def transform(self, X: Any) -> Floats:
        """Return the bin of each number, counted from 0, as a double so that missing cells stay NaN.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_columns)
        """
        check_is_fitted(self)
        numbers = self._numbers(by_name(self, X), reset=False)
        bins = np.empty_like(numbers)
        for j, cuts in enumerate(self.cuts_):
            bins[:, j] = np.searchsorted(cuts, numbers[:, j], side="left")
        bins[np.isnan(numbers)] = np.nan
        return bins
