"""Correlation-based feature selection as WEKA runs it: locally predictive features are added at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.encode import mdl_cuts
from seminaive.models import CorrelationFeatureSelector

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

__all__ = ["LocallyPredictiveSelector"]


class LocallyPredictiveSelector(CorrelationFeatureSelector):
    """The subset of most merit, and features that share more with the class than with any feature kept.

    Features are tried in the order of their uncertainty with the class, as Hall's program does by default.
    With k features kept, about one in k irrelevant features comes in by chance.
    """

    def fit(self, X: pd.DataFrame, y: NDArray[Any], sample_weight: Any = None) -> LocallyPredictiveSelector:
        """Find the subset, then add to it."""
        super().fit(X, y, sample_weight)
        shared = self._encoded(X, y, sample_weight, mdl_cuts)
        kept = np.flatnonzero(self.support_).tolist()
        for feature in np.argsort(-shared.with_class, kind="stable").tolist():
            of_class = shared.with_class[feature]
            if feature not in kept and of_class > 0 and (shared.between(feature)[kept] <= of_class).all():
                kept.append(feature)
        self.support_ = np.isin(np.arange(len(self.support_)), kept)
        return self
