"""What logistic regressions that shrink toward a target share: coefficients, a frame and curves."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.design.classes import by_class, log_odds
from seminaive.design.reference import (
    AnchoredDesign,
    no_effect,
    reference_codes,
)
from seminaive.errors import InputError
from seminaive.models.base import is_number
from seminaive.models.fitted_shrinkage import FittedShrinkage
from seminaive.models.parameters import (
    VARIANCE_FLOOR,
    check_flag,
    check_number,
    check_variance_floor,
    check_whole,
)
from seminaive.objective.penalties import ElasticNet
from seminaive.scores import generative_scores
from seminaive.solvers import PathOptions, ShrinkagePath, logistic_path, softmax_path
from seminaive.solvers.elastic_net_path import WIDEST
from seminaive.solvers.result import MAX_ITER, TOL

if TYPE_CHECKING:
    from collections.abc import Callable

    from seminaive.arrays import Floats, Integers
    from seminaive.encode import EncodedTable
    from seminaive.models.started import Earlier, RecalibratedModel
    from seminaive.models.training_set import TrainingSet
    from seminaive.scores import AdditiveScores
    from seminaive.statistics import TableStatistics

    Solve = Callable[..., ShrinkagePath]


@dataclass(eq=False, repr=False, kw_only=True)
class ShrunkenClassifier(FittedShrinkage):
    """Logistic regression pulled toward a target; a subclass chooses the strength in ``fit``.

    Parameters
    ----------
    target : {"naive-bayes", "zero"} or array, default="naive-bayes"
        What the coefficients are pulled toward. "zero" is the lasso, with a penalised intercept unless
        ``penalize_intercept=False``. An array holds one value per coefficient, in the order of
        ``coefficient_names_``: last year's coefficients, for instance.
    standardize : bool, default=True
        Whether to penalise as if every column, indicators included, had mean 0 and variance 1, so that units
        do not matter. The coefficients stay on the original scale. False is the paper's penalty, on raw
        coefficients.
    penalize_intercept : bool, default=True
        Whether the intercept is pulled too; only then does a large strength give naive Bayes exactly.
    smoothing : float, default=1.0
        Added to every count of the naive Bayes target, in rows.
    variance_floor : float, default=1e-9
        Smallest variance within a class in the target, as a share of the number's overall variance.
    tol : float, default=1e-3
        Where fits stop: its square is the share of the penalised loss by which a fit may exceed its minimum
        (its duality gap), and the residual of the optimality conditions, relative to ``strength_max``.
    max_steps : int, default=1000
        Newton steps for each strength.
    categorical_features : {"from_dtype", "all"}, names, positions or mask, default="from_dtype"
        Which columns are categories: those that do not hold numbers, all, or those and the listed ones.
        A category enters as an indicator against its column's most frequent one; a column of 0 and 1 enters
        as it is.
    missing : {"value", "neutral"}, default="value"
        Whether a missing category counts as one more value, if training had missing cells in its column,
        or leaves the odds of the classes as they are. A missing number contributes nothing to the target's
        part of the score, and counts as the mean of its column in the rest.
    """

    target: Any = "naive-bayes"
    start: Any = None
    penalty: Any = "l1"
    standardize: bool = True
    penalize_intercept: bool = True
    smoothing: float = 1.0
    variance_floor: float = VARIANCE_FLOOR
    tol: float = TOL
    max_steps: int = MAX_ITER

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.start_model is not None and (not isinstance(self.target, str) or self.target == "zero"):
            raise InputError(
                f"the model to start from takes the place of the target: leave target='naive-bayes', got "
                f"{self.target!r}"
            )
        named = isinstance(self.penalty, str) and self.penalty in ("l1", "l2")
        if not named and not (is_number(self.penalty) and 0 <= self.penalty <= 1):
            raise InputError(
                f"penalty is 'l1', 'l2' or the share of L1 in a mix, between 0 and 1, got {self.penalty!r}"
            )
        if isinstance(self.target, str) and self.target not in ("naive-bayes", "zero"):
            raise InputError(
                f"target is 'naive-bayes', 'zero' or an array of coefficients, got {self.target!r}"
            )
        meaning = "a positive count of rows, without which an unseen combination makes the target infinite"
        check_number("smoothing", self.smoothing, meaning, low=0.0, above=True)
        check_number("tol", self.tol, "a positive share", low=0.0, above=True)
        check_variance_floor(self.variance_floor)
        check_whole("max_steps", self.max_steps, "a whole number, 1 or more", low=1)
        for name in ("standardize", "penalize_intercept"):
            check_flag(name, getattr(self, name))

    @staticmethod
    def _check_share(name: str, value: Any) -> None:
        if not is_number(value) or not 0 <= value <= 1:
            raise InputError(f"{name} is a share of naive Bayes, between 0 and 1, got {value!r}")

    def _options(self, **changes: Any) -> PathOptions:
        # A gap is of the order of the square of its residual, so that one of 1e-9 leaves rounding.
        residual_tol = max(self.tol**2, 1e-9)
        options = PathOptions(gap_tol=self.tol**2, residual_tol=residual_tol, max_steps=self.max_steps)
        return replace(options, **changes)

    def penalty_toward(self, target: Floats) -> ElasticNet:
        """Return the penalty on the distance of coefficients from a target.

        Parameters
        ----------
        target : ndarray of shape (n_coefficients, n_scores)
        """
        named = {"l1": 1.0, "l2": 0.0}
        share = named[self.penalty] if isinstance(self.penalty, str) else self.penalty
        return ElasticNet(
            target=target,
            l1_share=float(share),
            penalize_intercept=bool(self.penalize_intercept),
            standardize=bool(self.standardize),
        )

    def anchored(
        self, table: EncodedTable, statistics: TableStatistics, generative_share: float
    ) -> AnchoredDesign:
        """Return the design of a table, its zeros fixed by a share of naive Bayes or by nothing.

        Parameters
        ----------
        statistics : TableStatistics
            Those that naive Bayes is estimated from, of more rows than the table has perhaps.
        """
        anchor = self._anchor_of(self._naive_bayes(statistics), generative_share)
        return AnchoredDesign.of(table, reference_codes(statistics), anchor)

    def _naive_bayes(self, statistics: TableStatistics) -> AdditiveScores:
        return generative_scores(statistics, smoothing=self.smoothing, variance_floor=self.variance_floor)

    def _anchor_of(self, naive_bayes: AdditiveScores, generative_share: float) -> AdditiveScores:
        """Return a share of naive Bayes, or no effect for another target.

        Beside a share of an earlier model, which is an offset, it is the class shares for the rest.
        """
        if self.start_model is not None:
            silent = naive_bayes.scale(np.zeros(naive_bayes.n_terms))
            return replace(silent, prior=(1.0 - generative_share) * naive_bayes.prior)
        if not isinstance(self.target, str) or self.target != "naive-bayes":
            return no_effect(naive_bayes)
        if generative_share != 1.0:
            return naive_bayes.scale(np.full(naive_bayes.n_terms, generative_share))
        return naive_bayes

    def target_of(self, linear: AnchoredDesign) -> Floats:
        """Return the target of coefficients, one column of log odds for two classes."""
        if isinstance(self.target, str):
            return log_odds(linear.coefficients_of(linear.anchor))
        try:
            given = np.asarray(self.target, dtype=np.float64)
        except (TypeError, ValueError, OverflowError) as error:
            raise InputError(f"an array target holds numbers, got {self.target!r}") from error
        n_coefficients, n_classes = linear.design.n_coefficients, len(self.classes_)
        shape = (n_coefficients,) if n_classes == 2 else (n_coefficients, n_classes)
        if given.shape != shape or not np.isfinite(given).all():
            raise InputError(
                f"an array target holds one finite value per coefficient, shape {shape}, in the order of "
                f"coefficient_names_; got shape {given.shape}"
            )
        return log_odds(by_class(given[:, None])) if n_classes == 2 else given

    def _path(
        self,
        linear: AnchoredDesign,
        labels: Integers,
        row_weight: Floats,
        options: PathOptions,
        **laid: Any,
    ) -> ShrinkagePath:
        """Solve for a path; two classes share one column of log odds."""
        penalty, offset = self.penalty_toward(self.target_of(linear)), log_odds(linear.offset)
        given: dict[str, Any] = {"offset": offset, "row_weight": row_weight, "options": options}
        if offset.shape[1] == 1:
            return logistic_path(linear.design, labels, penalty, **given, **laid)
        return softmax_path(linear.design, labels, offset.shape[1], penalty, **given, **laid)

    def _keep_coefficients(
        self,
        linear: AnchoredDesign,
        cell_weight: Floats,
        path: ShrinkagePath,
        coefficients: Floats,
        target: Floats,
        solve: Solve,
    ) -> None:
        """Keep coefficients and their target, in columns of scores, as the fitted model.

        ``solve(options, strengths=...)`` gives further paths of the same rows; ``cell_weight`` is the weight
        of the rows in each cell of the anchor's terms.
        """
        self.path_ = path
        self.references_ = linear.references
        flat = (slice(None), 0) if len(self.classes_) == 2 else ()
        self.coefficients_ = coefficients[flat]
        self.target_ = target[flat]
        full = by_class(coefficients)
        if len(self.classes_) == 2:
            # What the two classes have in common is the anchor's: it changes no probability.
            full = full + linear.coefficients_of(linear.anchor).mean(axis=1, keepdims=True)
        self.scores_ = linear.to_scores(full, cell_weight)
        self.maximum_likelihood_ = np.full(self.coefficients_.shape, np.nan)
        if self.coefficients_.size <= WIDEST:
            free = solve(self._options(), strengths=[0.0])
            self.maximum_likelihood_ = free.coefficients[0][flat]

    def attenuate(self, rows: TrainingSet, class_weight: Floats | None = None) -> None:
        """Draw answers toward the class shares, unless the model is naive Bayes, of which it is no part."""
        stays = isinstance(self.target, str) and self.target == "naive-bayes"
        stays = stays and "_new_names" not in vars(self)
        if not stays or not np.array_equal(self.coefficients_, self.target_):
            super().attenuate(rows, class_weight)

    def _earlier(self, rows: TrainingSet) -> Earlier | None:
        self.__dict__.pop("_new_names", None)
        return super()._earlier(rows)

    def _complete(self, rows: TrainingSet, base: RecalibratedModel) -> None:
        """Add the earlier scores; the names of the coefficients are those of the new terms."""
        self._new_names = tuple(map(str, self.coefficient_names_))
        super()._complete(rows, base)
