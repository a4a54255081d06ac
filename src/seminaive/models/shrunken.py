"""What logistic regressions that shrink toward a target share: coefficients, a frame and a picture."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np

from seminaive.design.classes import by_class, log_odds
from seminaive.design.reference import AnchoredDesign, coefficient_names, no_effect, reference_codes
from seminaive.encode import frame_like
from seminaive.errors import InputError
from seminaive.models.additive import AdditiveClassifier
from seminaive.models.base import is_number
from seminaive.objective.penalties import ElasticNet
from seminaive.scores import generative_scores
from seminaive.solvers import PathOptions, logistic_path, softmax_path
from seminaive.statistics import TableStatistics

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from seminaive.encode import EncodedTable
    from seminaive.models.base import TrainingSet
    from seminaive.solvers import ShrinkagePath

    Floats = NDArray[np.float64]

# Coefficients, all classes together, up to which the unpenalised fit is made for comparison.
MOST_COEFFICIENTS_COMPARED = 1000


class ShrunkenClassifier(AdditiveClassifier):
    """Logistic regression pulled toward a target; a subclass chooses the strength in ``fit``."""

    def _check_parameters(self):
        named = isinstance(self.penalty, str) and self.penalty in ("l1", "l2")
        if not named and not (is_number(self.penalty) and 0 <= self.penalty <= 1):
            raise InputError(
                f"penalty is 'l1', 'l2' or the share of L1 in a mix, between 0 and 1, got {self.penalty!r}"
            )
        if isinstance(self.target, str) and self.target not in ("naive-bayes", "zero"):
            raise InputError(
                f"target is 'naive-bayes', 'zero' or an array of coefficients, got {self.target!r}"
            )
        if not is_number(self.smoothing) or self.smoothing <= 0:
            raise InputError(
                f"smoothing is a positive count of rows, got {self.smoothing!r}: without it an unseen "
                "combination would make the target infinite"
            )
        if not is_number(self.tol) or self.tol <= 0:
            raise InputError(f"tol is a positive share, got {self.tol!r}")
        if not is_number(self.variance_floor) or not 0 < self.variance_floor <= 1:
            raise InputError(
                f"variance_floor is a share, more than 0, at most 1, got {self.variance_floor!r}"
            )
        if not isinstance(self.max_steps, Integral) or self.max_steps < 1:
            raise InputError(f"max_steps is a whole number, 1 or more, got {self.max_steps!r}")
        for name in ("standardize", "penalize_intercept"):
            if not isinstance(getattr(self, name), bool | np.bool_):
                raise InputError(f"{name} is True or False, got {getattr(self, name)!r}")

    def _options(self, **changes) -> PathOptions:
        options = PathOptions(gap_tol=self.tol, residual_tol=self.tol, max_steps=self.max_steps)
        return replace(options, **changes)

    def _penalty_toward(self, target: Floats) -> ElasticNet:
        named = {"l1": 1.0, "l2": 0.0}
        share = named[self.penalty] if isinstance(self.penalty, str) else self.penalty
        return ElasticNet(
            target=target,
            l1_share=float(share),
            penalize_intercept=bool(self.penalize_intercept),
            standardize=bool(self.standardize),
        )

    def _lay_out(
        self,
        table: EncodedTable,
        labels: NDArray[np.int64],
        row_weight: Floats,
        references: tuple[int, ...] | None = None,
    ) -> AnchoredDesign:
        """Anchor a table in the naive Bayes of its own rows, or in nothing."""
        statistics = TableStatistics.of(table, labels, len(self.classes_), row_weight)
        anchor = generative_scores(statistics, smoothing=self.smoothing, variance_floor=self.variance_floor)
        if not isinstance(self.target, str) or self.target != "naive-bayes":
            anchor = no_effect(anchor)
        return AnchoredDesign.of(table, references or reference_codes(statistics), anchor)

    def _target_of(self, linear: AnchoredDesign) -> Floats:
        """Return the target, (n_coefficients, n_classes)."""
        if isinstance(self.target, str):
            return linear.coefficients_of(linear.anchor)
        try:
            given = np.asarray(self.target, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(f"an array target holds numbers, got {self.target!r}") from error
        n_coefficients, n_classes = linear.design.n_coefficients, len(self.classes_)
        shape = (n_coefficients,) if n_classes == 2 else (n_coefficients, n_classes)
        if given.shape != shape or not np.isfinite(given).all():
            raise InputError(
                f"an array target holds one finite value per coefficient, shape {shape}, in the order of "
                f"coefficient_names_; got shape {given.shape}"
            )
        return by_class(given[:, None]) if n_classes == 2 else given

    def _path(
        self, linear: AnchoredDesign, labels: NDArray[np.int64], row_weight: Floats, options, **laid
    ) -> ShrinkagePath:
        """Solve for a path; two classes share one column of log odds."""
        target, offset = log_odds(self._target_of(linear)), log_odds(linear.offset)
        penalty = self._penalty_toward(target)
        given = {"offset": offset, "row_weight": row_weight, "options": options}
        if target.shape[1] == 1:
            return logistic_path(linear.design, labels, penalty, **given, **laid)
        return softmax_path(linear.design, labels, target.shape[1], penalty, **given, **laid)

    def _settle(
        self,
        training: TrainingSet,
        linear: AnchoredDesign,
        row_weight: Floats,
        path: ShrinkagePath,
        chosen: int,
    ) -> None:
        """Keep one solution of a path as the fitted model."""
        self.path_ = path
        self.references_ = linear.references
        flat = (slice(None), 0) if len(self.classes_) == 2 else ()
        self.coefficients_ = path.coefficients[chosen][flat]
        self.target_ = path.target[flat]
        full = by_class(path.coefficients[chosen])
        if len(self.classes_) == 2:
            # What the two classes have in common is the anchor's: it changes no probability.
            full = full + linear.coefficients_of(linear.anchor).mean(axis=1, keepdims=True)
        self.scores_ = linear.to_scores(full, row_weight)
        self.maximum_likelihood_ = np.full(self.coefficients_.shape, np.nan)
        if self.coefficients_.size <= MOST_COEFFICIENTS_COMPARED:
            free = self._path(linear, training.labels, row_weight, self._options(), strengths=[0.0])
            self.maximum_likelihood_ = free.coefficients[0][flat]

    @property
    def coefficient_names_(self):
        """Names of the coefficients: ``intercept``, the numbers, then ``column=category``."""
        return coefficient_names(self.schema_, self.references_)

    @property
    def shrinkage_(self):
        """A frame that shows how far each coefficient stands between its target and maximum likelihood.

        Columns: ``coefficient``, ``class`` where there are more than two, ``target``, ``fitted``,
        ``maximum_likelihood`` and ``share``, the part of the way from the target (0) to maximum likelihood
        (1). Where the classes can be separated, maximum likelihood is as far as the solver followed it.
        Beyond 1000 coefficients it is missing: without a penalty every coefficient moves, second
        derivatives are too many to keep, and the fit for comparison would cost more than the path.
        """
        names, target, fitted = self.coefficient_names_, self.target_, self.coefficients_
        free = self.maximum_likelihood_
        columns = {"coefficient": names}
        if fitted.ndim == 2:
            columns = {
                "coefficient": np.repeat(names, len(self.classes_)),
                "class": np.tile(self.classes_, len(names)),
            }
        way = (free - target).ravel()
        done = (fitted - target).ravel()
        # Where the target is the maximum-likelihood value, there is no way to go.
        moves = np.abs(way) > 1e-9 * (1.0 + np.abs(target.ravel()))
        share = np.divide(done, way, out=np.full(way.shape, np.nan), where=moves)
        values = {
            "target": target.ravel(),
            "fitted": fitted.ravel(),
            "maximum_likelihood": free.ravel(),
            "share": share,
        }
        return frame_like(None, columns | values)

    def plot_path(self, ax=None):
        """Draw the coefficients along the path, from the target on the left to the chosen strength.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure. With more than two classes the last class is drawn.

        Returns
        -------
        matplotlib Axes
        """
        ax = ax or new_axes()
        path = self.path_
        positive = path.strengths > 0
        if not positive.any():
            raise InputError("there is no path to draw: the target fits the rows as well as anything else")
        lines = path.coefficients[positive, :, -1]
        ax.plot(path.strengths[positive], lines, linewidth=1)
        ax.set_xscale("log")
        ax.invert_xaxis()
        ax.axvline(max(self.strength_, path.strengths[positive].min()), color="0.5", linestyle=":")
        ax.set_xlabel("strength (left: target, right: maximum likelihood)")
        ax.set_ylabel(f"coefficient of the evidence for {self.classes_[-1]}")
        return ax


def new_axes():
    """Return the axes of a new figure; say what to install where matplotlib is missing."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install 'seminaive[plot]'") from error
    return plt.subplots()[1]
