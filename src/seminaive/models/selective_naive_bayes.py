"""Naive Bayes on the features that a greedy search on the training error keeps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from joblib import effective_n_jobs

from seminaive.encode.cuts import cut_rule
from seminaive.errors import InputError
from seminaive.models.interpolated import InterpolatedClassifier
from seminaive.solvers.stagewise import GridSettings, backward_elimination, forward_selection

if TYPE_CHECKING:
    from seminaive.encode.encoded_table import CutRule
    from seminaive.models.training_set import TrainingSet
    from seminaive.scores import Interpolation
    from seminaive.solvers import AlphaPath

SEARCHES = {"forward": forward_selection, "backward": backward_elimination}


@dataclass(eq=False, repr=False, kw_only=True)
class SelectiveNaiveBayes(InterpolatedClassifier):
    """Naive Bayes on a subset of the features, found by greedy search (Langley and Sage).

    Forward, the feature that lowers the training error most is added as long as the error falls. Backward,
    the feature whose loss costs least is dropped as long as the error does not rise. Held-out rows then say
    how many of these steps to go, and how far to believe them.

    Parameters
    ----------
    direction : {"forward", "backward"}, default="forward"
        Start from no feature, or from all. Forward keeps fewer.
    criterion : {"cv", "training-error"}, default="cv"
        How many steps of the search to go. "cv": those of least log loss on held-out rows, folds being
        compared at equal numbers of steps; then the scores are multiplied by the share ``fit_share_`` that
        those rows support. "training-error": all of them, as in the paper; on few rows that lets noise in.
    bins : {"mdl"}, int or None, default=None
        How numbers are cut into categories: by description length, or into bins of equal frequency. None
        gives numbers normal densities, as in the paper: a poor choice for numbers that span many magnitudes,
        whose extreme values then outweigh everything else.

    Attributes
    ----------
    alphas_ : ndarray of shape (n_features,)
        1 for a feature that is used, 0 for one that is not.
    n_evaluations_ : int
        Subsets whose training error was computed, on all rows.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = SelectiveNaiveBayes().fit(X, y)
    >>> model.selected_features_, model.n_evaluations_
    (['petal width (cm)'], 7)
    """

    direction: str = "forward"
    bins: Any = None
    n_jobs: int | None = None

    def binning_rule(self) -> CutRule | None:
        """Return the rule that cuts numbers into bins, or None where they stay numbers."""
        return None if self.bins is None else cut_rule(self.bins)

    def _find_path(
        self, interpolation: Interpolation, rows: TrainingSet, whole: AlphaPath | None = None
    ) -> AlphaPath:
        del whole  # the path of a fold does not depend on that of all rows
        settings = GridSettings(1, self._tie_order(interpolation), n_threads=effective_n_jobs(self.n_jobs))
        return SEARCHES[self.direction](interpolation, rows.table, rows.labels, rows.row_weight, settings)

    def _step_of_training_rows(self, path: AlphaPath) -> int:
        """Return the last step: the search ends where the training error does."""
        return len(path) - 1

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._check_criterion(("cv", "training-error"))
        self.binning_rule()
        if not isinstance(self.direction, str) or self.direction not in SEARCHES:
            raise InputError(f"direction is one of {', '.join(SEARCHES)}, got {self.direction!r}")
