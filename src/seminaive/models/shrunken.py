"""What logistic regressions that shrink toward a target share: coefficients, a frame and curves."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from seminaive.design.classes import by_class, log_odds
from seminaive.design.reference import (
    AnchoredDesign,
    ReferenceDesign,
    coefficient_names,
    no_effect,
    reference_codes,
)
from seminaive.encode import encode_weights, frame_like
from seminaive.encode.shapes import check_shapes
from seminaive.errors import InputError, UnavailableError
from seminaive.models.base import is_number
from seminaive.models.fitted_checks import is_size
from seminaive.models.parameters import check_flag, check_number, check_variance_floor, check_whole
from seminaive.models.path_curves import PathCurves
from seminaive.models.started import StartedClassifier
from seminaive.objective.penalties import ElasticNet
from seminaive.scores import generative_scores
from seminaive.solvers import PathOptions, ShrinkagePath, logistic_path, softmax_path
from seminaive.solvers.elastic_net_path import WIDEST
from seminaive.solvers.result import TOL

if TYPE_CHECKING:
    from collections.abc import Callable

    from seminaive.arrays import Floats, Integers
    from seminaive.encode import EncodedTable
    from seminaive.models.started import Earlier, RecalibratedModel
    from seminaive.models.training_set import TrainingSet
    from seminaive.scores import AdditiveScores
    from seminaive.statistics import TableStatistics

    Solve = Callable[..., ShrinkagePath]


class ShrunkenClassifier(StartedClassifier):
    """Logistic regression pulled toward a target; a subclass chooses the strength in ``fit``."""

    _fitted: ClassVar[dict[str, Any]] = {
        "strength_": float,
        "path_": ShrinkagePath,
        "references_": tuple,
        "coefficients_": np.ndarray,
        "target_": np.ndarray,
        "maximum_likelihood_": np.ndarray,
        "_new_names": "tuple[str, ...]",
    }

    path_: ShrinkagePath
    strength_: float
    references_: tuple[int, ...]
    coefficients_: Floats
    target_: Floats
    maximum_likelihood_: Floats
    _new_names: tuple[str, ...]

    def _check_consistent(self) -> None:
        super()._check_consistent()
        references = self.references_
        started = "_new_names" in vars(self)
        if not all(map(is_size, references)) or not (
            started or len(references) == len(self.schema_.cardinalities)
        ):
            raise ValueError("there is not one reference category for each coded column")
        n_coefficients = len(self.coefficient_names_)
        n_columns = 1 if len(self.classes_) == 2 else len(self.classes_)
        shape = (n_coefficients,) if n_columns == 1 else (n_coefficients, n_columns)
        listed = (self.coefficients_, self.target_, self.maximum_likelihood_)
        check_shapes("the list of coefficients", [(array, shape) for array in listed])
        if not len(self.path_) or self.path_.target.shape != (n_coefficients, n_columns):
            raise ValueError("the path does not fit the coefficients")

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
        options = PathOptions(gap_tol=self.tol, residual_tol=self.tol, max_steps=self.max_steps)
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
        table : EncodedTable
        statistics : TableStatistics
            Those that naive Bayes is estimated from, of more rows than the table has perhaps.
        generative_share : float
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
        """Return the target of coefficients, one column of log odds for two classes.

        Parameters
        ----------
        linear : AnchoredDesign
        """
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
        """Draw answers toward the class shares, unless the model is naive Bayes, of which it is no part.

        Parameters
        ----------
        rows, class_weight
            As in `AdditiveClassifier`.
        """
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

    def coefficients_at(self, strength: float) -> Floats:
        """Return the coefficients of the path at any strength, in the order of ``coefficient_names_``.

        Parameters
        ----------
        strength : float
            Between two strengths of ``path_`` the coefficients are interpolated linearly; beyond the largest
            they are those at the largest, and a strength below the smallest is refused.

        Returns
        -------
        ndarray of shape (n_coefficients,), or (n_coefficients, n_classes) with more than two classes
        """
        path = self.path_
        if not is_number(strength) or strength < path.strengths[-1]:
            raise InputError(
                f"the path goes down to a strength of {path.strengths[-1]:.4g}, got {strength!r}: fit with "
                "smaller strengths to go on"
            )
        position = np.interp(strength, path.strengths[::-1], np.arange(len(path))[::-1])
        lower, upper = int(np.floor(position)), int(np.ceil(position))
        after = position - lower
        found = (1.0 - after) * path.coefficients[lower] + after * path.coefficients[upper]
        return np.asarray(found[:, 0] if len(self.classes_) == 2 else found)

    def coefficient_covariance(self, X: Any, sample_weight: Any = None) -> Floats:
        """Return the covariance of the coefficients of an unpenalised fit of two classes.

        It is the inverse of the information matrix, X'WX with the weights p (1 - p), at the coefficients.

        Parameters
        ----------
        X : frame, array or list of rows
            The training table.
        sample_weight : array-like of shape (n_rows,), default=None
            As in ``fit``.

        Returns
        -------
        ndarray of shape (n_coefficients, n_coefficients)
        """
        check_is_fitted(self)
        if "_new_names" in vars(self):
            raise UnavailableError(
                "standard errors are those of a fit of all coefficients, and this one started from an "
                "earlier model: fit without start"
            )
        if self.strength_ > 0 or len(self.classes_) != 2:
            raise InputError(
                f"standard errors are those of maximum likelihood with two classes, got a strength of "
                f"{self.strength_:g} and {len(self.classes_)} classes: fit with strength=0"
            )
        table = self.encode(X)
        weight = encode_weights(sample_weight, len(table))
        posterior = self.predict_proba(X)[:, 1]
        curvature = posterior * (1 - posterior) * (1.0 if weight is None else weight)
        numbers = np.where(np.isnan(table.numbers), self.scores_.numeric.centres, table.numbers)
        design = ReferenceDesign.of(numbers, table.codes, table.cardinalities, self.references_)
        information = design.gram(curvature)
        # Scaled to a diagonal of ones: units of the columns do not decide which directions count as singular.
        scale = np.sqrt(np.maximum(np.diag(information), np.finfo(float).tiny))
        scales = np.outer(scale, scale)
        return np.asarray(np.linalg.pinv(information / scales, hermitian=True) / scales)

    @property
    def coefficient_names_(self) -> list[str]:
        """Names of the coefficients: ``intercept``, the numbers, then ``column=category``.

        Of a model that started from an earlier one, those of the new terms.
        """
        if "_new_names" in vars(self):
            return list(self._new_names)
        return coefficient_names(self.schema_, self.references_)

    @property
    def shrinkage_(self) -> Any:
        """A frame that shows how far each coefficient is from its target and from maximum likelihood.

        Columns: ``coefficient``, ``class`` where there are more than two, ``target``, ``fitted``,
        ``maximum_likelihood`` and ``share``, how far the fitted value is between the target (0) and maximum
        likelihood (1). The share is missing where the fitted value is not between the two (a coefficient that
        makes up for others that are held at their targets can be beyond either), and where the two are equal.

        Where the classes can be separated, maximum likelihood is as far as the solver followed it. Beyond
        1000 coefficients it is missing: without a penalty every coefficient moves, second derivatives are too
        many to keep, and the fit for comparison would cost more than the path.
        """
        names, target, fitted = self.coefficient_names_, self.target_, self.coefficients_
        free = self.maximum_likelihood_
        columns: dict[str, Any] = {"coefficient": names}
        if fitted.ndim == 2:
            columns = {
                "coefficient": np.repeat(names, len(self.classes_)),
                "class": np.tile(self.classes_, len(names)),
            }
        length = (free - target).ravel()
        differ = np.abs(length) > TOL * (1.0 + np.abs(target.ravel()))
        share = np.divide((fitted - target).ravel(), length, out=np.full(length.shape, np.nan), where=differ)
        with np.errstate(invalid="ignore"):
            share[(share < -TOL) | (share > 1.0 + TOL)] = np.nan
        values = {
            "target": target.ravel(),
            "fitted": fitted.ravel(),
            "maximum_likelihood": free.ravel(),
            "share": share,
        }
        return frame_like(None, columns | values)

    def path_curves(self, what: str = "coefficients") -> PathCurves:
        """Return named curves along the path, for `seminaive.explain.PathDisplay`.

        Parameters
        ----------
        what : {"coefficients"}, default="coefficients"
            One curve per coefficient, from the target on the left to the last strength; with more than two
            classes those of the last class.

        Returns
        -------
        PathCurves
        """
        if what not in self._curves:
            raise InputError(f"what is one of {', '.join(self._curves)}, got {what!r}")
        path = self.path_
        return PathCurves(
            curves=path.coefficients[:, :, -1],
            names=tuple(self.coefficient_names_),
            y_label=f"coefficient of the evidence for {self.classes_[-1]}",
            **self._path_positions(path.strengths),
        ).without(path.strengths <= 0)

    _curves: ClassVar[tuple[str, ...]] = ("coefficients",)

    def _path_positions(self, strengths: Floats) -> dict[str, Any]:
        """Return what all curves over strengths share; strengths of no penalty have no logarithm."""
        positive = strengths[strengths > 0]
        if not len(positive):
            raise InputError("there is no path to draw: the target fits the rows as well as anything else")
        return {
            "x": strengths,
            "x_label": "strength (left: target, right: maximum likelihood)",
            "chosen": float(max(self.strength_, positive.min())),
            "logarithmic": True,
        }
