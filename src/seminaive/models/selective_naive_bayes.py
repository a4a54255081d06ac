"""Naive Bayes on the features that a greedy search on the training error keeps."""

from __future__ import annotations

from joblib import effective_n_jobs

from seminaive.errors import InputError
from seminaive.models.higher_order_base import cut_rule
from seminaive.models.interpolated import InterpolatedClassifier
from seminaive.models.parameters import refuse_groups
from seminaive.solvers.stagewise import GridSettings, backward_elimination, forward_selection

SEARCHES = {"forward": forward_selection, "backward": backward_elimination}


class SelectiveNaiveBayes(InterpolatedClassifier):
    """Naive Bayes on a subset of the features, found by greedy search (Langley and Sage).

    Forward, the feature that lowers the training error most is added as long as the error falls. Backward,
    the feature whose loss costs least is dropped as long as the error does not rise.

    Parameters
    ----------
    direction : {"forward", "backward"}, default="forward"
        Start from no feature, or from all. Forward keeps fewer.
    bins : {"mdl"}, int or None, default=None
        How numbers are cut into categories: by description length, or into bins of equal frequency. None
        gives numbers normal densities, as in the paper: a poor choice for numbers that span many magnitudes,
        whose extreme values then outweigh everything else.
    smoothing, variances, variance_floor, categorical_features, missing, n_jobs
        As in `ForwardStagewiseNaiveBayes`; variances are those of numbers that are not cut.
    random_state : int, RandomState or None, default=0
        Seed of the order that breaks ties, drawn among the names of the features.
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
        Alphas, training error, deviance and AIC of every step; the last one predicts.
    n_evaluations_ : int
        Subsets whose training error was computed.
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

    def __init__(
        self,
        *,
        direction="forward",
        bins=None,
        smoothing=1.0,
        variances="class",
        variance_floor=1e-9,
        categorical_features="from_dtype",
        missing="value",
        n_jobs=None,
        random_state=0,
        class_weight=None,
        merge_spellings=False,
        keep_summary=True,
        verbose=False,
    ):
        self.direction = direction
        self.bins = bins
        self.smoothing = smoothing
        self.variances = variances
        self.variance_floor = variance_floor
        self.categorical_features = categorical_features
        self.missing = missing
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.class_weight = class_weight
        self.merge_spellings = merge_spellings
        self.keep_summary = keep_summary
        self.verbose = verbose

    def _cut_rule(self):
        return None if self.bins is None else cut_rule(self.bins)

    def _find_path(self, interpolation, table, labels, row_weight):
        settings = GridSettings(1, self._tie_order(), n_threads=effective_n_jobs(self.n_jobs))
        return SEARCHES[self.direction](interpolation, table, labels, row_weight, settings)

    def _choose(self, path, rows, y, sample_weight, groups):
        del rows, y, sample_weight
        refuse_groups(groups, "this selection makes none")
        return len(path) - 1

    def _check_parameters(self):
        super()._check_parameters()
        self._cut_rule()
        if self.direction not in SEARCHES:
            raise InputError(f"direction is one of {', '.join(SEARCHES)}, got {self.direction!r}")
