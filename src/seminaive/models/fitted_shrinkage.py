"""What a logistic regression that was shrunk toward a target says of itself: coefficients and curves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from seminaive.design.reference import ReferenceDesign, coefficient_names
from seminaive.encode import encode_weights, frame_like
from seminaive.encode.shapes import check_shapes
from seminaive.errors import InputError, UnavailableError
from seminaive.models.base import is_number
from seminaive.models.fitted_checks import is_size
from seminaive.models.path_curves import PathCurves
from seminaive.models.started import StartedClassifier
from seminaive.solvers import ShrinkagePath

if TYPE_CHECKING:
    from seminaive.arrays import Floats

# Coefficients that differ from their targets by less than this are taken for equal: paths end that near.
AS_GOOD_AS_EQUAL = 1e-6


class FittedShrinkage(StartedClassifier):
    """Coefficients between a target and maximum likelihood, and the path that led to them.

    Attributes
    ----------
    coefficients_, target_, maximum_likelihood_ : ndarray
        Log odds of the second class, (n_coefficients,); with more classes, (n_coefficients, n_classes).
    coefficient_names_ : list of str
    shrinkage_ : frame
        Where each coefficient lies between its target and its maximum-likelihood value.
    references_ : tuple of int
        The category of each coded column that has no coefficient.
    started_from_ : tuple of StartedFrom
        With a ``start``: the earlier models that this one goes back to, the first one first, each with its
        ``slope``. Coefficients are then those of the new terms, and ``scores_`` those of the sum.
    """

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
        differ = np.abs(length) > AS_GOOD_AS_EQUAL * (1.0 + np.abs(target.ravel()))
        share = np.divide((fitted - target).ravel(), length, out=np.full(length.shape, np.nan), where=differ)
        with np.errstate(invalid="ignore"):
            share[(share < -AS_GOOD_AS_EQUAL) | (share > 1.0 + AS_GOOD_AS_EQUAL)] = np.nan
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
