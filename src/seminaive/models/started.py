"""Models that start from an earlier one: a fit is the earlier score, recalibrated, plus new terms."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from seminaive.design.classes import by_class, log_odds
from seminaive.encode import EmptyColumn
from seminaive.encode.joined_schema import joined_schema, recoded_table
from seminaive.errors import InputError
from seminaive.models.additive_classifier import AdditiveClassifier
from seminaive.scores import AdditiveScores, StartedFrom
from seminaive.scores.joined_scores import recoded_scores, summed_terms
from seminaive.selection.recalibration import recalibrate
from seminaive.statistics import TupleCounts
from seminaive.statistics.cell_weights import weigh_cells

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import NDArray

    from seminaive.arrays import Floats
    from seminaive.encode import EncodedTable, Schema
    from seminaive.models.training_set import TrainingSet
    from seminaive.selection.recalibration import Recalibration
    from seminaive.statistics import Terms


class StartedClassifier(AdditiveClassifier):
    """An additive classifier with the parameter ``start``: None, or a fitted additive model.

    A clone keeps the fitted model to start from, as it is: a clone of that would have forgotten what it
    knows. Searches over parameters clone the values that they try; a fitted model among these is wrapped in
    scikit-learn's `FrozenEstimator`.
    """

    _fitted: ClassVar[dict[str, Any]] = {"started_from_": "tuple[StartedFrom, ...]"}

    def __sklearn_clone__(self) -> Self:
        """Return an unfitted copy that starts from the same earlier model."""
        made: Self = super().__sklearn_clone__()
        made.start = self.start
        return made

    @property
    def start_model(self) -> Any:
        """The earlier model that ``start`` names, or None."""
        return self.start.estimator if isinstance(self.start, FrozenEstimator) else self.start

    def _check_start(self) -> None:
        model = self.start_model
        if model is None:
            return
        if not isinstance(model, AdditiveClassifier):
            raise InputError(f"start is a fitted additive model of this package or None, got {self.start!r}")
        check_is_fitted(model)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._check_start()

    def _earlier(self, rows: TrainingSet) -> Earlier | None:
        """Return the earlier model in the coding of the training rows, or None without one."""
        self.__dict__.pop("started_from_", None)
        return None if self.start_model is None else Earlier.of(self.start_model, rows)

    started_from_: tuple[StartedFrom, ...]

    def _baseline(self, rows: TrainingSet) -> RecalibratedModel | None:
        """Return the earlier model recalibrated on the training rows, or None without one."""
        earlier = self._earlier(rows)
        if earlier is None:
            return None
        return RecalibratedModel(
            earlier, recalibrate(earlier.columns_of(rows.table), rows.labels, rows.weights, rows.n_classes)
        )

    def _add_to(self, earlier: Earlier, slope: float, intercept: Floats | None = None) -> None:
        """Add the fitted scores, and an intercept, to the earlier ones; schema and record follow."""
        new = self.scores_
        if intercept is not None:
            new = replace(new, prior=new.prior + by_class(intercept[None])[0])
        self.scores_ = earlier.plus(slope, new, self.schema_)
        self.schema_ = earlier.table.schema
        self.started_from_ = earlier.history(slope)

    def _complete(self, rows: TrainingSet, base: RecalibratedModel) -> None:
        """Add the fitted scores to the recalibrated earlier ones, and keep the summary."""
        self._add_to(base.earlier, base.recalibration.slope, base.recalibration.intercept)
        self._finish_started(rows, base.earlier)

    def _finish_started(self, rows: TrainingSet, earlier: Earlier) -> None:
        """Attenuate the sum, and keep a summary of the training rows under its schema."""
        rows = replace(rows, table=earlier.table)
        self.attenuate(rows)
        terms = self.scores_.terms
        self._summarise(rows, TupleCounts(terms, earlier.weights_of(terms)[:, None]))

    def _check_consistent(self) -> None:
        super()._check_consistent()
        if self.start_model is not None and "started_from_" not in vars(self):
            raise ValueError("the record of the model that it started from is missing")


@dataclass(frozen=True)
class Earlier:
    """An earlier additive model, and training rows, under one schema.

    Parameters
    ----------
    scores : AdditiveScores
        Those of the earlier model, centred over the classes, in the schema of the table.
    table : EncodedTable
        The training rows, under a schema that knows the values of the earlier model, too.
    row_weight : ndarray of shape (n_rows,)
    """

    model: AdditiveClassifier
    scores: AdditiveScores
    table: EncodedTable
    row_weight: Floats

    @classmethod
    def of(cls, model: AdditiveClassifier, rows: TrainingSet) -> Earlier:
        """Bring both under one schema; refuse other classes."""
        if model.classes_.tolist() != rows.classes.tolist():
            raise InputError(
                f"the model to start from knows the classes {_shown(model.classes_)} and the rows have "
                f"{_shown(rows.classes)}: both must have the same classes"
            )
        joined = joined_schema(rows.table.schema, model.schema_)
        scores = recoded_scores(model.scores_.centre(), model.schema_, joined)
        return cls(model, summed_terms(scores), recoded_table(rows.table, joined), rows.weights)

    def weights_of(self, terms: Terms) -> Floats:
        """Return the weight of the training rows in each cell of some terms under the schema of both."""
        return weigh_cells(terms, self.table, self.row_weight)

    def columns_of(self, table: EncodedTable) -> Floats:
        """Return the earlier score of some rows: one log odds of two classes, else centred scores."""
        return log_odds(self.scores.joint_log_scores(recoded_table(table, self.table.schema)))

    def plus(self, slope: float, new: AdditiveScores, schema: Schema) -> AdditiveScores:
        """Return ``slope`` times the earlier scores plus new ones, with one table or curve per term.

        ``schema`` is the coding of the new ones.
        """
        scaled = self.scores.scale(np.full(self.scores.n_terms, slope))
        scaled = replace(scaled, prior=slope * self.scores.prior)
        return summed_terms(recoded_scores(new, schema, self.table.schema) + scaled)

    def history(self, slope: float) -> tuple[StartedFrom, ...]:
        """Return the earlier models that a fit goes back to, the first one first."""
        known = {column.name for column in self.table.schema.columns if not isinstance(column, EmptyColumn)}
        columns = self.model.schema_.names
        record = StartedFrom(
            getattr(self.model, "made_of_", type(self.model).__name__),
            float(slope),
            columns,
            tuple(name for name in columns if name not in known),
            len(self.table),
        )
        return (*getattr(self.model, "started_from_", ()), record)


@dataclass(frozen=True)
class RecalibratedModel:
    """An earlier model with the intercept and slope of its recalibration."""

    earlier: Earlier
    recalibration: Recalibration

    @property
    def offset(self) -> Floats:
        """Return the recalibrated score of each row, one log odds of two classes."""
        return self.recalibration.scores(self.earlier.columns_of(self.earlier.table))

    def times(self, share: float) -> RecalibratedModel:
        """Return a share of its scores."""
        whole = self.recalibration
        return replace(
            self, recalibration=replace(whole, intercept=share * whole.intercept, slope=share * whole.slope)
        )


def _shown(classes: NDArray[Any]) -> str:
    return ", ".join(repr(label) for label in classes.tolist())
