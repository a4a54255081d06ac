"""The passes over partitions that fits out of core begin with, and their tasks."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from seminaive.encode import open_table
from seminaive.encode.column_kinds import ColumnKinds, listed_columns
from seminaive.errors import InputError
from seminaive.models.fit_progress import progress_of
from seminaive.models.generative_classifier import GenerativeClassifier
from seminaive.scale.coding import Coding
from seminaive.scale.sources import plain_type
from seminaive.scale.survey import Survey, survey_partition, training_pieces
from seminaive.statistics import TableStatistics, TupleCounts
from seminaive.statistics.cell_weights import weigh_cells

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    from seminaive.arrays import Integers
    from seminaive.encode.column_types import Format
    from seminaive.models.base import TableClassifier
    from seminaive.models.training_set import TrainingSet
    from seminaive.scale.local_runner import Runner
    from seminaive.scale.partitions import TablePartition
    from seminaive.scale.sources import Reading, Source
    from seminaive.scale.survey import TrainingPiece
    from seminaive.statistics import Terms, TrainingSummary

    Seed = int | np.random.RandomState | None


class Work:
    """A fit out of core: the model, its rows, who works, and the passes that most fits begin with.

    Parameters
    ----------
    scratch : path or None
    """

    def __init__(
        self,
        model: TableClassifier,
        data: Source,
        runner: Runner,
        scratch: str | Path | None,
        max_categories: int | None,
    ) -> None:
        self.model = model
        self.data = data
        self.runner = runner
        self.scratch = scratch
        self.max_categories = max_categories
        self.rows_of_partitions: list[int] = []
        # Class weights are applied once the classes of all rows are known.
        self.plain_model = clone(model).set_params(class_weight=None)

    def survey(self, *, values: bool, sketches: bool) -> Survey:
        """Pass over all rows once."""
        partitions = self.data.partitions
        found: Survey | None = None
        self.rows_of_partitions = []
        with progress_of(self.model, "partitions surveyed", len(partitions)) as step:
            options = {"values": values, "sketches": sketches, "formats": self._formats()}
            for surveyed in self.runner.each(
                _survey_work, partitions, self.data.reading, self.plain_model, options
            ):
                step()
                self.rows_of_partitions.append(0 if surveyed is None else surveyed.n_rows)
                if surveyed is not None:
                    found = surveyed if found is None else found + surveyed
        if found is None:
            raise InputError("no partition has any row of positive weight: pass at least one row")
        if len(found.classes) < 2:
            raise InputError(
                f"one class only: every training row is {found.classes[0]!r}. A classifier needs rows of at "
                "least two classes"
            )
        return found

    def _formats(self) -> dict[int, Format]:
        """Return how columns of text write numbers or dates: as in the first rows, in all partitions."""
        types = [plain_type(field.type) for field in self.data.reading.features]
        if pa.string() not in types:
            return {}
        pieces = (
            piece for part in self.data.partitions for piece in training_pieces(part, self.data.reading)
        )
        first = next(pieces, None)
        if first is None:
            return {}
        return dict(ColumnKinds.find(open_table(first[0]), self.model.categorical_features, None).formats)

    def adopt(self, survey: Survey) -> Coding:
        """Set classes and columns of the model; return how rows are encoded from now on."""
        model, reading = self.model, self.data.reading
        factors = survey.class_factors(model.class_weight, relative=model.chooses_by_folds())
        listed = listed_columns(reading.features.names, model.categorical_features)
        schema = survey.schema(model.binning_rule(), factors, self.max_categories, listed)
        validate_data(model, reading.features.empty_table(), skip_check_array=True, reset=True)
        readings, opened = survey.readings_of(reading.features), survey.opened(reading.features)
        model.adopt_columns(readings, opened, schema, _class_array(survey.classes), reading.target)
        return Coding(reading, schema, model.classes_, factors)

    def sample(self, n_rows: int, random_state: Seed) -> TrainingPiece:
        """Return features, labels and weights of rows drawn at random, or of all; after a survey.

        Rows are drawn by their position among all rows, so that partitions of the same rows in the same order
        give the same sample.
        """
        ends = np.cumsum(self.rows_of_partitions)
        total = int(ends[-1])
        drawn = np.arange(total)
        if total > n_rows:
            drawn = np.sort(check_random_state(random_state).choice(total, n_rows, replace=False))
        wanted = np.split(drawn, np.searchsorted(drawn, ends[:-1]))
        positions = [
            rows - (end - size) for rows, end, size in zip(wanted, ends, self.rows_of_partitions, strict=True)
        ]
        numbered = list(enumerate(self.data.partitions))
        pieces = [
            piece
            for sampled in self.runner.each(_sample_work, numbered, self.data.reading, positions)
            for piece in sampled
        ]
        features, labels, weights = zip(*pieces, strict=True)
        weight = None if weights[0] is None else np.concatenate(weights)
        every_label = pa.chunked_array([chunk for piece in labels for chunk in piece.chunks])
        return pa.concat_tables(features).unify_dictionaries(), every_label.unify_dictionaries(), weight

    def coded(self) -> tuple[Survey, Coding]:
        """Survey all rows; with factors of classes the summary needs counts of values, as cut points do."""
        weighed = self.model.chooses_by_folds() and self.data.reading.weight is not None
        values = self.model.binning_rule() is not None or self.model.class_weight is not None or weighed
        survey = self.survey(values=values, sketches=not values and self.model.keep_summary)
        return survey, self.adopt(survey)

    def statistics(self, survey: Survey, coding: Coding) -> TableStatistics:
        """Return the statistics of all rows: those of the survey, unless rows are encoded otherwise."""
        uncut = all(getattr(column, "cuts", None) is None for column in coding.schema.columns)
        if uncut and coding.class_factors is None and self.max_categories is None:
            return survey.statistics_under(coding.schema)
        return self.count(coding)

    def count(self, coding: Coding) -> TableStatistics:
        """Count all rows by the terms of the model."""
        partitions = self.data.partitions
        found: TableStatistics | None = None
        with progress_of(self.model, "partitions counted", len(partitions)) as step:
            for counted in self.runner.each(_count_work, partitions, coding, self.plain_model):
                step()
                if counted is not None:
                    found = counted if found is None else found + counted
        assert found is not None  # noqa: S101 - the survey found rows
        return found

    def count_tuples(self, coding: Coding, terms: Terms) -> TupleCounts:
        """Return the weight of each cell of some terms, all classes together."""
        found: TupleCounts | None = None
        for counted in self.runner.each(_tuples_work, self.data.partitions, coding, terms):
            if counted is not None:
                found = counted if found is None else found + counted
        assert found is not None  # noqa: S101 - the survey found rows
        return found

    def keep_summary(self, summary: Callable[[], TrainingSummary]) -> None:
        """Keep what a model keeps of its training table, where it does; that of an earlier fit goes."""
        self.model.__dict__.pop("summary_", None)
        if self.model.keep_summary:
            self.model.summary_ = summary()


def _class_array(classes: tuple[Any, ...]) -> NDArray[Any]:
    """Return classes as ``fit`` does: text as objects, numbers and booleans by their type."""
    return np.array(classes, dtype=object if isinstance(classes[0], str) else None)


def _survey_work(
    partition: TablePartition, reading: Reading, model: TableClassifier, options: dict[str, Any]
) -> Survey | None:
    return survey_partition(partition, reading, model, **options)


def _tuples_work(partition: TablePartition, coding: Coding, terms: Terms) -> TupleCounts | None:
    counted = [
        TupleCounts(terms, weigh_cells(terms, rows.table, rows.row_weight)[:, None])
        for rows in coding.training_sets(partition)
    ]
    return reduce(lambda one, other: one + other, counted) if counted else None


def _sample_work(
    numbered: tuple[int, TablePartition], reading: Reading, positions: list[Integers]
) -> list[TrainingPiece]:
    """Return the rows of a partition at some positions, piece by piece."""
    number, partition = numbered
    found, start = [], 0
    for features, labels, weight in training_pieces(partition, reading):
        wanted = positions[number]
        kept = wanted[(wanted >= start) & (wanted < start + features.num_rows)] - start
        start += features.num_rows
        if len(kept):
            taken = features.take(kept)
            alike = pa.table([_stored_alike(column) for column in taken.columns], names=taken.column_names)
            kept_weight = None if weight is None else weight[kept]
            found.append((alike, _stored_alike(labels.take(kept)), kept_weight))
    return found


def _stored_alike(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column by a type that all partitions share, whichever of them store it as a dictionary.

    Text is not a dictionary. Ordered ones and those of other values remain, since they say that the column
    holds categories, and in which order.
    """
    plain = plain_type(column.type)
    if pa.types.is_dictionary(column.type) and (column.type.ordered or not pa.types.is_string(plain)):
        return column.cast(pa.dictionary(pa.int32(), plain, ordered=column.type.ordered))
    return column.cast(plain)


def _count_work(partition: TablePartition, coding: Coding, model: TableClassifier) -> TableStatistics | None:
    counted = [_counted(model, rows) for rows in coding.training_sets(partition)]
    return reduce(lambda one, other: one + other, counted) if counted else None


def _counted(model: TableClassifier, rows: TrainingSet) -> TableStatistics:
    if isinstance(model, GenerativeClassifier):
        return model.count_rows(rows)
    return TableStatistics.of(
        rows.table, rows.labels, rows.n_classes, rows.row_weight, classes=rows.classes.tolist()
    )
