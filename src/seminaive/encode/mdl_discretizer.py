"""Supervised discretisation that cuts only where the classes pay for it."""

from __future__ import annotations

from typing import Any

from seminaive.encode.cuts import mdl_cuts
from seminaive.encode.discretizer import Discretizer
from seminaive.encode.target import encode_target


class MDLDiscretizer(Discretizer):
    """Bins whose borders are cut by Fayyad and Irani's minimum description length.

    A column is cut where its values tell the classes apart, as long as the description of the classes
    shortens by more than the cut costs. A column that says nothing about the classes gets a single bin.

    Attributes
    ----------
    cuts_ : list of ndarray
        Increasing cut points of each column; bin b holds ``cuts[b - 1] < x <= cuts[b]``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> [cuts.round(2).tolist() for cuts in MDLDiscretizer().fit(X, y).cuts_]
    [[5.55, 6.15], [2.95, 3.35], [2.45, 4.75], [0.8, 1.75]]
    """

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that the classes are needed."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> MDLDiscretizer:
        """Find the cut points.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_columns)
            Numbers; a missing one (NaN) is left out of its column.
        y : array-like of shape (n_rows,)
            Class labels.
        sample_weight : array-like of shape (n_rows,), default=None
            How often each row counts.
        """
        self._fit_cuts(X, encode_target(y, type(self).__name__).labels, sample_weight, mdl_cuts)
        return self
