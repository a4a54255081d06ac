"""How uncertain the effects of features and pairs are, as `Effects` shows them.

What a pair says about one of its columns alone belongs to that column's effect, so that products of functions
are made pure first, and their margins count among the functions of the columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from seminaive.encode import CategoricalColumn, NumericColumn
from seminaive.scores.effects import Joints
from seminaive.scores.feature_curve import curve_of_number
from seminaive.scores.pure import cell_weights, purify
from seminaive.scores.score_posterior import through

if TYPE_CHECKING:
    from seminaive.arrays import Floats
    from seminaive.encode import EncodedTable, Schema
    from seminaive.scores.additive_scores import AdditiveScores
    from seminaive.scores.effects import Effects, FeatureEffect, TupleEffect
    from seminaive.scores.feature_curve import FeatureCurve
    from seminaive.scores.probability_intervals import Spread
    from seminaive.scores.score_posterior import ScorePosterior
    from seminaive.statistics import TrainingSummary


class EffectErrors(Protocol):
    """How sure the effects of a model are, as `Effects` shows them.

    They are those of the log odds of two classes, with a last axis of 1, or of each class's centred score.
    """

    @property
    def of_intercept(self) -> Spread:
        """Return the spread of the intercept."""

    def of_feature(self, effect: FeatureEffect, numbers: Floats | None = None) -> Spread:
        """Return the spread of a category at each code, or of a number at some numbers."""

    def of_tuple(self, effect: TupleEffect) -> Spread:
        """Return the spread of each cell of a pair."""


class Uncertainty(Protocol):
    """How uncertain the scores of a model are: in rows, and effect by effect."""

    def of_rows(self, table: EncodedTable) -> tuple[Floats, Floats]:
        """Return how far the middle of the posterior is from the scores of each row, and their covariance.

        Both of the log odds of two classes, else of the scores of all.
        """

    def of_effects(self, effects: Effects, schema: Schema, summary: TrainingSummary) -> EffectErrors:
        """Return the standard errors of the effects."""


@dataclass(frozen=True)
class PosteriorOfScores:
    """The uncertainty that scores bring with them.

    Parameters
    ----------
    scores : AdditiveScores
        With a posterior.
    """

    scores: AdditiveScores

    def of_rows(self, table: EncodedTable) -> tuple[Floats, Floats]:
        """Return how far the middle of the posterior is from the scores of each row, and their covariance."""
        return self.scores.posterior_of_rows(table)

    def of_effects(self, effects: Effects, schema: Schema, summary: TrainingSummary) -> EffectErrors:
        """Return the standard errors of the effects."""
        del effects
        return EffectPosterior.of(self.scores, schema, summary)


@dataclass(frozen=True)
class EffectPosterior:
    """How sure effects are, from the posterior of scores.

    Parameters
    ----------
    tables : dict of int to ndarray of shape (n_codes, n_entries)
        The entries of each category, by its position in the schema.
    curves : dict of int to FeatureCurve
        Those of each number.
    tuples : dict of tuple of int to ndarray of shape (n_codes, ..., n_entries)
        Those of each pair, by its coded columns.
    """

    posterior: ScorePosterior
    tables: dict[int, Floats]
    curves: dict[int, FeatureCurve]
    tuples: dict[tuple[int, ...], Floats]

    @classmethod
    def of(cls, scores: AdditiveScores, schema: Schema, summary: TrainingSummary) -> EffectPosterior:
        """Take the posterior of scores apart, which must have one."""
        posterior = scores.posterior
        if posterior is None:
            raise ValueError("the scores have no posterior")
        width = posterior.intercept.size
        joints = Joints(summary)
        by_column: dict[int, Floats] = {}
        for term, columns in enumerate(scores.terms.features):
            if len(columns) == 1:
                block = scores.terms.block(term)
                by_column[columns[0]] = posterior.tables[block].reshape(-1, width).astype(np.float64)
        tuples: dict[tuple[int, ...], Floats] = {}
        pairs = [(columns[0], columns[1]) for columns in scores.terms.features if len(columns) == 2]
        for columns, (products, entries) in zip(pairs, posterior.products(pairs), strict=True):
            shares = [joints.shares(j) for j in columns]
            weight = cell_weights(joints.weight(columns), shares, joints.total)
            pure, margins = purify(products, weight)
            tuples[columns] = through(pure, entries).reshape(*weight.shape, width)
            # The margin without the first axis is a table of the second column.
            for j, margin in zip(columns[::-1], margins, strict=True):
                # An effect has the mean 0; what a pair says in the mean belongs to the intercept.
                of_margin = through(margin - joints.shares(j) @ margin, entries).reshape(-1, width)
                by_column[j] = by_column[j] + of_margin if j in by_column else of_margin
        tables, curves = _of_columns(posterior.as_scores(scores), schema, by_column)
        return cls(posterior, tables, curves, tuples)

    @property
    def of_intercept(self) -> Spread:
        """Return the spread of the intercept."""
        return self._spread(self.posterior.intercept.ravel())

    def of_feature(self, effect: FeatureEffect, numbers: Floats | None = None) -> Spread:
        """Return the spread of a category at each code, or of a number at some numbers."""
        if effect.position in self.tables:
            return self._spread(self.tables[effect.position])
        if numbers is None:
            raise ValueError("standard errors of a curve are those at some numbers")
        return self._spread(self.curves[effect.position].at(numbers))

    def of_tuple(self, effect: TupleEffect) -> Spread:
        """Return the spread of each cell of a pair."""
        return self._spread(self.tuples[effect.columns])

    def _spread(self, entries: Floats) -> Spread:
        shape = (*entries.shape[:-1], *self.posterior.intercept.shape)
        return self.posterior.spread(entries.reshape(shape))


def _of_columns(
    cells: AdditiveScores, schema: Schema, by_column: dict[int, Floats]
) -> tuple[dict[int, Floats], dict[int, FeatureCurve]]:
    """Return the entries of categories and, as curves, those of numbers, by position in the schema."""
    tables: dict[int, Floats] = {}
    curves: dict[int, FeatureCurve] = {}
    coded = {position: j for j, position in enumerate(schema.coded)}
    for position, column in enumerate(schema.columns):
        entries = by_column.get(coded.get(position, -1))
        if isinstance(column, CategoricalColumn) and entries is not None:
            tables[position] = entries
        elif isinstance(column, NumericColumn):
            curve = curve_of_number(cells, column, schema.numeric.index(position), entries)
            if curve is not None:
                curves[position] = curve
    return tables, curves
