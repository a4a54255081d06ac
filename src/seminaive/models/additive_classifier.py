"""Classifiers whose fitted state is one set of additive scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from seminaive.encode import frame_like
from seminaive.errors import InputError, UnavailableError
from seminaive.models.base import TableClassifier
from seminaive.models.fitted_checks import check_finite
from seminaive.models.parameters import check_number
from seminaive.scores import AdditiveScores
from seminaive.statistics import class_weights

if TYPE_CHECKING:
    from seminaive.arrays import Floats
    from seminaive.encode import EncodedTable
    from seminaive.models.training_set import TrainingSet
    from seminaive.scores import EffectErrors, Effects, Uncertainty

# Columns of ``contributions`` that are not features.
RESERVED = ("prior", "row", "class")
# Why a model has no intervals by formula, and what to do.
NO_FORMULA = (
    "no formula says how uncertain this fit is. seminaive.evaluate.validate replays it on resampled rows, "
    "and shows how its probabilities and effects vary"
)
# Terms that move the scores by less than this share of their deviation would be written 0.0.
LEAST_KEPT = 0.01


class AdditiveClassifier(TableClassifier):
    """A classifier that scores each class by a prior plus one contribution per term.

    A subclass sets ``scores_`` in ``fit``; predicting and explaining read nothing else.

    Attributes
    ----------
    scores_ : AdditiveScores
        The prior and the terms.
    """

    scores_: AdditiveScores

    _fitted: ClassVar[dict[str, Any]] = {"scores_": AdditiveScores}

    def _check_consistent(self) -> None:
        super()._check_consistent()
        schema, attenuation = self.schema_, self.scores_.attenuation
        self.scores_.check_fits(schema.cardinalities, len(schema.numeric), len(self.classes_))
        if attenuation is not None and not attenuation.fits(len(schema.features), len(self.classes_)):
            raise ValueError("the attenuation does not fit the schema")
        check_finite(self.scores_)

    def _joint_log_scores(self, table: EncodedTable) -> Floats:
        return self.scores_.joint_log_scores(table)

    def predict_interval(self, X: Any, coverage: float = 0.95) -> tuple[Floats, Floats]:
        """Return bounds between which the probability of each class lies.

        They say how far the training rows leave the probability undecided, the choice of strengths included,
        if the model is right: if some sum of its terms is the truth. In a row with unknown cells they are
        bounds of the mean answer over what the cells may hold. Half of what is outside lies on either side.
        An answer that was shrunk is not the middle of its interval, and may be an end of it.

        Parameters
        ----------
        X : frame, array or list of rows
            The training columns: by name, or in the training order where there are no names.
        coverage : float, default=0.95
            The probability, between 0 and 1, that an interval holds the probability of its class.

        Returns
        -------
        lower, upper : ndarray of shape (n_rows, n_classes)
        """
        from seminaive.scores import log_posterior, probability_bounds

        check_is_fitted(self)
        check_number("coverage", coverage, "a probability between 0 and 1", low=0, high=1, above=True)
        if coverage == 1:
            raise InputError("coverage is a probability between 0 and 1: with 1, an interval is 0 to 1")
        table = self.encode(X)
        distances, covariances = self.score_posterior(table)
        logs = log_posterior(self._joint_log_scores(table))
        return probability_bounds(logs, distances, covariances, coverage)

    def effect_errors(self) -> EffectErrors:
        """Return how sure the effects are, for bands around them."""
        check_is_fitted(self)
        uncertainty = self._uncertainty()
        return uncertainty.of_effects(self._effects(), self.schema_, self.summary_)

    def score_posterior(self, table: EncodedTable) -> tuple[Floats, Floats]:
        """Return how far the middle of the posterior is from each row's answer, and the covariance about it.

        Those of the log odds of two classes, else of all scores.

        Returns
        -------
        distances : ndarray of shape (n_rows, 1) or (n_rows, n_classes)
        covariances : ndarray of shape (n_rows, 1, 1) or (n_rows, n_classes, n_classes)
        """
        return self._uncertainty().of_rows(table)

    def _uncertainty(self) -> Uncertainty:
        """Return how uncertain the scores are; refuse a fit that does not say so."""
        from seminaive.scores import PosteriorOfScores

        if self.scores_.posterior is None:
            raise UnavailableError(f"{type(self).__name__}: {self._no_posterior}")
        return PosteriorOfScores(self.scores_)

    # Why a fit has no intervals.
    _no_posterior: ClassVar[str] = NO_FORMULA

    def attenuate(self, rows: TrainingSet, class_weight: Floats | None = None) -> None:
        """Draw the answers for rows with unknown cells toward the class shares.

        The last step of a fit of models that learn the class given the row; in others an unknown cell leaves
        the odds as they are.

        Parameters
        ----------
        rows : TrainingSet
            Training rows under the schema of the scores: all, or a sample.
        class_weight : ndarray of shape (n_classes,) or None
            The weight of each class, by default in these rows.
        """
        if class_weight is None:
            class_weight = class_weights(rows.labels, len(self.classes_), rows.row_weight)
        self.scores_ = self.scores_.attenuate(rows.table, rows.row_weight, class_weight)

    @property
    def term_names_(self) -> list[str]:
        """Names of the terms: a column, or the columns of a tuple joined by a cross."""
        scores, coded, numeric = self.scores_, self.schema_.coded_names, self.schema_.numeric_names
        return [
            *(" × ".join(coded[j] for j in term) for term in scores.terms.features),
            *(numeric[j] for j in (*scores.numeric.features, *scores.curves.features)),
        ]

    @property
    def feature_importances_(self) -> Floats:
        """Share of each column in the deviation of the scores over the training rows, one number each.

        The standard deviation of what a column says: of the log odds with two classes, of the centred scores,
        root mean square over the classes, with more. What a pair says beyond its columns is divided equally
        between them. Shares add up to 1; all are 0 where every row gets the same score.
        """
        return self._effects().column_shares()

    @property
    def interactions_(self) -> Any:
        """A frame with one row per pair, most important first: first, second, importance.

        The importance is the standard deviation over the training rows of what both columns say beyond each
        alone, on the scale of ``feature_importances_`` before shares are taken.
        """
        from seminaive.scores import importance

        every = ((effect.names, importance(effect.deviation)) for effect in self._effects().tuples)
        pairs = [pair for pair in every if len(pair[0]) == 2]
        pairs.sort(key=lambda pair: -pair[1])
        return frame_like(
            None,
            {
                "first": [first for (first, _), _ in pairs],
                "second": [second for (_, second), _ in pairs],
                "importance": [strength for _, strength in pairs],
            },
        )

    def kept_terms(self) -> list[str]:
        """Return the names of the columns, and of tuples beyond their columns, that move the scores.

        Their contribution deviates over the training rows by more than a hundredth of what all contributions
        do together, taken as uncorrelated.
        """
        from seminaive.scores import importance

        effects = self._effects()
        parts = [(effect.name, importance(effect.deviation)) for effect in effects.features]
        parts += [(effect.name, importance(effect.deviation)) for effect in effects.tuples]
        least = LEAST_KEPT * np.sqrt(sum(strength**2 for _, strength in parts))
        return [name for name, strength in parts if strength > max(least, 1e-9)]

    def column_effects(self, X: Any) -> Floats:
        """Return what each column alone says in each row, an array of shape (n_rows, n_columns, n_classes).

        Effects have mean zero over the training rows and over the classes; what pairs say beyond their
        columns is left out.

        Parameters
        ----------
        X : frame, array or list of rows
            The training columns: by name, or in the training order where there are no names.
        """
        effects, table = self._effects(), self.encode(X)
        found = np.zeros((len(table), len(self.schema_.columns), len(self.classes_)))
        for effect, values in zip(effects.features, effects.feature_parts(table), strict=True):
            found[:, effect.position] = values
        return found

    def _effects(self) -> Effects:
        """Return what each column and each tuple says."""
        from seminaive.scores import Effects

        check_is_fitted(self)
        if "summary_" not in vars(self):
            raise UnavailableError(
                "importances are read with the summary of the training table, which this model did not keep: "
                "fit it with keep_summary=True"
            )
        return Effects.of(self.scores_, self.schema_, self.summary_)

    @property
    def coef_(self) -> Floats:
        """One coefficient per column, of the log odds or of each class's centred score.

        Of shape (1, columns) with two classes and (classes, columns) with more, as in
        scikit-learn: ``decision_function(X)`` is ``X @ coef_.T + intercept_`` in rows without a missing cell.
        Only models whose columns are all numbers and enter as lines have it.
        """
        return self._lines()[0]

    @property
    def intercept_(self) -> Floats:
        """The log odds, or each class's centred score, where all numbers are 0; beside ``coef_``."""
        return self._lines()[1]

    def _lines(self) -> tuple[Floats, Floats]:
        from seminaive.scores import linear_coefficients

        check_is_fitted(self)
        schema, found = self.schema_, None
        if not schema.coded and len(schema.numeric) == len(schema.columns):
            found = linear_coefficients(self.scores_, len(schema.columns))
        if found is None:
            raise UnavailableError(
                "coef_ has one coefficient per column, and some column of this model is no line: "
                "feature_importances_ has one number per column, seminaive.explain.effects_table all effects"
            )
        coefficients, intercept = found
        if len(intercept) == 2:
            return coefficients[1:] - coefficients[:1], intercept[1:] - intercept[:1]
        return coefficients, intercept

    def contributions(self, X: Any) -> Any:
        """Return what the prior and each term contribute to each row's score.

        Parameters
        ----------
        X : frame, array or list of rows
            The training columns: by name, or in the training order where there are no names.

        Returns
        -------
        frame
            In the library of ``X`` (pandas for arrays). With two classes: one row per row of ``X``, the
            column ``prior`` and one column per term, adding up to ``decision_function(X)``, the log
            odds of the second class. With more: one row per row of ``X`` and class, led by the columns
            ``row`` and ``class``, adding up to the centred scores. In models that learn the class given the
            row, the answer for a row with unknown cells is drawn from this sum toward the class shares, and
            contributions add up to the score before. A feature that has several terms, a
            number and its bins for instance, has one column with their sum; a feature that is itself
            called ``prior``, ``row`` or ``class`` is called ``feature prior`` and so on.
        """
        table = self.encode(X)
        parts = self.scores_.breakdown(table)
        n_rows, n_parts, n_classes = parts.shape
        if n_classes == 2:
            evidence = parts[:, :, 1] - parts[:, :, 0]
            columns: dict[str, Any] = {}
        else:
            centred = parts - parts.mean(axis=2, keepdims=True)
            evidence = centred.transpose(0, 2, 1).reshape(n_rows * n_classes, n_parts)
            columns = {
                "row": np.repeat(np.arange(n_rows), n_classes),
                "class": np.tile(self.classes_, n_rows),
            }
        columns["prior"] = evidence[:, 0]
        by_name: dict[str, Floats] = {}
        for name, values in zip(self.term_names_, evidence.T[1:], strict=True):
            by_name[name] = by_name[name] + values if name in by_name else values
        in_order = [name for name in self.schema_.names if name in by_name]
        for name in [*in_order, *by_name]:
            columns[f"feature {name}" if name in RESERVED else name] = by_name[name]
        return frame_like(X, columns)
