"""Naive Bayes classifiers with one alpha per feature, chosen along a path that starts at the prior."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from seminaive.encode import recut
from seminaive.errors import InputError
from seminaive.models.additive_classifier import AdditiveClassifier
from seminaive.models.base import unchanged_on_failure
from seminaive.models.decided import DECIDED, Undecided, generator_of, keep_decision
from seminaive.models.fit_progress import progress_of
from seminaive.models.fitted_checks import check_finite
from seminaive.models.folded import fold_rows
from seminaive.models.generative_classifier import check_generative_parameters
from seminaive.models.parameters import N_FOLDS, VARIANCE_FLOOR, check_choice, refuse_groups
from seminaive.models.path_curves import PathCurves
from seminaive.objective.log_loss import log_losses
from seminaive.scores import Interpolation
from seminaive.selection.folds import check_folds
from seminaive.selection.step_search import FoldPath, choose_step
from seminaive.solvers import AlphaPath
from seminaive.statistics import TableStatistics

if TYPE_CHECKING:
    from typing import Self

    from seminaive.arrays import Floats, Integers
    from seminaive.models.folded import FoldedRows
    from seminaive.models.training_set import TrainingSet

CRITERIA = ("cv", "aic")
DEGREES = ("count", "sum")
CURVES = ("alphas", "criteria")


@dataclass(eq=False, repr=False, kw_only=True)
class InterpolatedClassifier(AdditiveClassifier):
    """Naive Bayes with every feature's parameters between pooled (alpha = 0) and class-wise (alpha = 1).

    A subclass finds a path of alphas (``_find_path``); a step of it predicts.

    Parameters
    ----------
    cv : int or splitter, default=5
        Stratified folds for ``criterion="cv"``, or a scikit-learn splitter or iterable of splits; one split
        is a validation subset.
    smoothing : float, default=1.0
        Rows that are added to every count. With 0, a value that was never seen with a class excludes it.
    variances : {"class", "pooled"}, default="class"
        Whether a number that is not cut into bins has a variance in each class, or one that all share.
    variance_floor : float, default=1e-9
        Smallest variance within a class, as a share of the number's overall variance.
    n_jobs : int, default=None
        Threads that evaluate features side by side; -1 uses all cores. The result does not depend on it.
    random_state : int, RandomState or None, default=0
        Seed of the order that breaks ties, drawn among the names of the features, and of the folds.

    Attributes
    ----------
    scores_ : AdditiveScores
        The log prior, and a term for each selected feature.
    alphas_ : ndarray of shape (n_features,)
        In the order of the columns.
    selected_features_ : list of str
        Names of the features with alpha above 0.
    path_ : AlphaPath
        Alphas, training error, deviance and AIC of every step.
    chosen_step_ : int
        The step of the path that predicts.
    fold_deviances_ : ndarray of shape (n_folds, n_steps)
        Held-out deviance, only with ``criterion="cv"``.
    fit_share_ : float
        The share of the fit in the scores, the rest being the class shares: 1 unless ``criterion="cv"``.
    cv_log_loss_ : float
        What the model is expected to lose on new rows, only with ``criterion="cv"``.
    cv_log_loss_interval_ : (float, float)
        Holds that loss with a probability of 95 %.
    """

    _fitted: ClassVar[dict[str, Any]] = {
        "path_": AlphaPath,
        "chosen_step_": int,
        "alphas_": np.ndarray,
        "n_evaluations_": int,
        "fold_deviances_": np.ndarray,
        **DECIDED,
    }
    cv_log_loss_, cv_log_loss_interval_ = Undecided("criterion='cv'"), Undecided("criterion='cv'")

    path_: AlphaPath = field(init=False)
    alphas_: Floats = field(init=False)
    chosen_step_: int = field(init=False)
    n_evaluations_: int = field(init=False)
    fold_deviances_: Floats = field(init=False)
    fit_share_: float = field(init=False)

    criterion: str = "cv"
    cv: Any = N_FOLDS
    smoothing: float = 1.0
    variances: str = "class"
    variance_floor: float = VARIANCE_FLOOR
    random_state: Any = 0

    def _check_consistent(self) -> None:
        super()._check_consistent()
        path, n_features = self.path_, len(self.schema_.columns)
        check_finite(path)
        if path.alphas.ndim != 2 or path.alphas.shape[1] != n_features or not len(path):
            raise ValueError("the path does not fit the schema")
        if not 0 <= self.chosen_step_ < len(path) or self.alphas_.shape != (n_features,):
            raise ValueError("the chosen step is not on the path")

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Estimate both ends of every feature, find the path between them and choose a step of it.

        Parameters
        ----------
        sample_weight : array-like of shape (n_rows,), default=None
            How much each row matters, in the estimates and in the errors.
        """
        self.check_parameters()
        with unchanged_on_failure(self):
            for name in (*DECIDED, "fold_deviances_"):
                self.__dict__.pop(name, None)
            rows, folded = self._encode_training(X, y, sample_weight), None
            if self.criterion == "cv":
                folded = fold_rows(rows, self.cv, y, sample_weight, self.random_state, groups).merged()
                rows = folded.rows
            plain = replace(rows, table=rows.table.without_cut_numbers())
            interpolation = self._interpolation(plain)
            path = self._find_path(interpolation, plain)
            if folded is not None:
                chosen = self._held_out_step(path, folded)
            else:
                refuse_groups(groups, f"criterion={self.criterion!r} makes none")
                chosen = self._step_of_training_rows(path)
                self.fit_share_ = 1.0
            self._keep_step(interpolation, path, chosen)
            self._summarise(rows)
        return self

    def chooses_by_folds(self) -> bool:
        """Return whether folds choose the step."""
        return self.criterion == "cv"

    def _find_path(
        self, interpolation: Interpolation, rows: TrainingSet, whole: AlphaPath | None = None
    ) -> AlphaPath:
        """Return a path of alphas, from the prior on; ``whole`` is that of all rows, given to a fold."""
        raise NotImplementedError

    def _interpolation(self, rows: TrainingSet) -> Interpolation:
        return self._interpolation_of(
            TableStatistics.of(rows.table, rows.labels, rows.n_classes, rows.row_weight)
        )

    def _interpolation_of(self, statistics: TableStatistics) -> Interpolation:
        return Interpolation.of(
            statistics,
            smoothing=self.smoothing,
            shared_variance=self.variances == "pooled",
            variance_floor=self.variance_floor,
        )

    def _keep_step(self, interpolation: Interpolation, path: AlphaPath, chosen: int) -> None:
        """Keep the path, with features in the order of the table, and the scores of the chosen step."""
        alphas = path.alphas[chosen]
        scores = interpolation.scores_at(alphas).restrict(np.flatnonzero(alphas > 0).tolist())
        self.scores_ = scores.toward_class_shares(self.fit_share_, interpolation.prior)
        self.path_ = path.laid_out(self.schema_.by_column)
        self.chosen_step_ = int(chosen)
        self.alphas_ = self.path_.alphas[chosen].copy()
        self.n_evaluations_ = path.n_evaluations

    def _step_of_training_rows(self, path: AlphaPath) -> int:
        """Return the step that the training rows alone advise: that of least AIC."""
        return path.least_aic()

    @property
    def selected_features_(self) -> list[str]:
        """Names of the features that the model looks at, those with alpha above 0."""
        return [name for name, alpha in zip(self.schema_.names, self.alphas_, strict=True) if alpha > 0]

    def _tie_order(self, interpolation: Interpolation) -> Integers:
        """Return the features in an order drawn by ``random_state`` among the sorted names.

        Drawn among names, the order follows a column wherever it stands in the table. Features without
        information come last, outside of the draw, so that a constant column changes nothing.
        """
        names = np.array([self.schema_.names[position] for position in self.schema_.features], dtype=object)
        by_name = np.argsort(names, kind="stable")
        informative = interpolation.is_informative[by_name]
        drawn = check_random_state(self.random_state).permutation(by_name[informative])
        return np.concatenate([drawn, by_name[~informative]])

    def _held_out_step(self, path: AlphaPath, folded: FoldedRows) -> int:
        """Return the step of least held-out loss; keep the decision."""
        rows, splits = folded.rows, folded.splits
        held_out = folded.held_out
        with progress_of(self, "folds", len(splits)) as step:
            folds = []
            for train, _ in splits:
                folds.append(self._fold_path(path, rows, train))
                step()
        choice = choose_step(held_out, folds, len(path), generator_of(self.random_state))
        keep_decision(self, choice.decision)
        self.fold_deviances_ = choice.fold_deviances
        return choice.step

    def _fold_path(self, whole: AlphaPath, rows: TrainingSet, train: Integers) -> FoldPath:
        """Return the path of some training rows, whose cut points are theirs alone."""
        table, rule = rows.table, self.binning_rule()
        if rule is not None and table.schema.numeric:
            table = recut(table, rule, rows.labels, rows.row_weight, train)
        table = table.without_cut_numbers()
        training = replace(rows, table=table, row_weight=rows.weights).of_rows(train)
        interpolation = self._interpolation(training)
        path = self._find_path(interpolation, training, whole)
        return FoldPath([interpolation.scores_at(alphas) for alphas in path.alphas], table)

    def _check_parameters(self) -> None:
        check_generative_parameters(self)

    def _check_criterion(self, criteria: tuple[str, ...] = CRITERIA) -> None:
        check_choice("criterion", self.criterion, criteria)
        check_folds(self.cv)

    def path_curves(self, what: str = "alphas") -> PathCurves:
        """Return named curves along the path, for `seminaive.explain.PathDisplay`.

        Parameters
        ----------
        what : {"alphas", "criteria"}, default="alphas"
            One curve per feature that ever leaves 0, or training error, AIC and deviance.

        Returns
        -------
        PathCurves
        """
        if what not in CURVES:
            raise InputError(f"what is one of {', '.join(CURVES)}, got {what!r}")
        path, x = self.path_, self._path_positions()
        common: dict[str, Any] = {"x": x, "x_label": self._path_label, "chosen": float(x[self.chosen_step_])}
        common["logarithmic"] = self._path_label != "step"
        if what == "alphas":
            moved = np.flatnonzero(path.alphas.any(axis=0))
            names = tuple(self.schema_.names[j] for j in moved)
            return PathCurves(curves=path.alphas[:, moved], names=names, y_label="alpha", **common)
        curves = np.column_stack([path.training_error, path.aic, path.deviance])
        names = ("training error", "AIC", "deviance")
        return PathCurves(curves=curves, names=names, y_label="per row", **common)

    _path_label: ClassVar[str] = "step"

    def _path_positions(self) -> Floats:
        return np.arange(len(self.path_), dtype=np.float64)


def deviance(joint: Floats, labels: Integers, weights: Floats) -> float:
    """Return the weighted sum over rows of ``-2 log P(y | x)``, given joint log scores."""
    return float(2.0 * weights @ log_losses(joint, labels))
