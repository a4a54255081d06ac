"""Naive Bayes on the features that a greedy search on the training error keeps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from joblib import effective_n_jobs

from seminaive.encode.cuts import cut_rule
from seminaive.errors import InputError
from seminaive.models.interpolated import InterpolatedClassifier
from seminaive.models.parameters import N_FOLDS, VARIANCE_FLOOR
from seminaive.solvers.stagewise import GridSettings, backward_elimination, forward_selection

if TYPE_CHECKING:
    from seminaive.encode.encoded_table import CutRule
    from seminaive.encode.schema import MissingPolicy
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
    cv : int or splitter, default=5
        Stratified folds for ``criterion="cv"``, or a scikit-learn splitter or iterable of splits.
    bins : {"mdl"}, int or None, default=None
        How numbers are cut into categories: by description length, or into bins of equal frequency. None
        gives numbers normal densities, as in the paper: a poor choice for numbers that span many magnitudes,
        whose extreme values then outweigh everything else.
    smoothing, variances, variance_floor, categorical_features, missing, n_jobs
        As in `ForwardStagewiseNaiveBayes`; variances are those of numbers that are not cut.
    random_state : int, RandomState or None, default=0
        Seed of the order that breaks ties, drawn among the names of the features, and of the folds.
    class_weight : None, "balanced" or mapping, default=None
        Weights of the classes, which multiply the weights of their rows; "balanced" gives every class the
        same total. Classes that a mapping leaves out weigh 1.
    merge_spellings : bool, default=False
        Whether capitals and spaces around a category do not matter: "Yes", "yes" and "yes " are one.
    keep_summary : bool, default=True
        Whether to keep a summary of the training table for pictures and reports: how often each value
        occurred, and quantiles of numbers; no row is kept.
    verbose : bool or int, default=False
        Whether to show progress on standard error.

    Attributes
    ----------
    columns_report_ : frame
        How each column was read: kind, levels, missing cells, type.
    alphas_ : ndarray of shape (n_features,)
        1 for a feature that is used, 0 for one that is not.
    selected_features_ : list of str
    path_ : AlphaPath
        Alphas, training error, deviance and AIC of every step.
    chosen_step_ : int
        The step of the path that predicts.
    n_evaluations_ : int
        Subsets whose training error was computed, on all rows.
    fold_deviances_ : ndarray of shape (n_folds, n_steps)
        Held-out deviance, only with ``criterion="cv"``.
    fit_share_ : float
        The share of the fit in the scores, the rest being the class shares: 1 by the training error.
    cv_log_loss_ : float
        What the model is expected to lose on new rows, only with ``criterion="cv"``.
    cv_log_loss_interval_ : (float, float)
        Holds that loss with a probability of 95 %.
    scores_, schema_, classes_
        As in `NaiveBayes`; the scores have a term for each selected feature.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = SelectiveNaiveBayes().fit(X, y)
    >>> model.selected_features_, model.n_evaluations_
    (['petal width (cm)'], 7)
    """

    direction: str = "forward"
    criterion: str = "cv"
    cv: Any = N_FOLDS
    bins: Any = None
    smoothing: float = 1.0
    variances: str = "class"
    variance_floor: float = VARIANCE_FLOOR
    categorical_features: Any = "from_dtype"
    missing: MissingPolicy = "value"
    n_jobs: int | None = None
    random_state: Any = 0
    class_weight: Any = None
    merge_spellings: bool = False
    keep_summary: bool = True
    verbose: int = False

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
