"""Out-of-core fit of `SemiNaive`: a search on a sample in memory, then a fit of all rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from seminaive.design.classes import n_columns_of
from seminaive.design.table_workspace import padded
from seminaive.encode.nodes import with_nodes
from seminaive.models import smooth_rows
from seminaive.models.folded import fold_rows
from seminaive.models.smooth_rows import refitted, weighted_like
from seminaive.scale.scratch import scratch_folder
from seminaive.scale.smooth_blocks import SmoothBlockedLoss, margin_of, smooth_blocks, smooth_columns
from seminaive.selection.sample_fit import SampleFit
from seminaive.statistics import Moments, TableStatistics, TrainingSummary, TupleCounts

if TYPE_CHECKING:
    from seminaive.arrays import Floats
    from seminaive.design.smooth_columns import SmoothColumns
    from seminaive.encode import EncodedTable, Schema
    from seminaive.models.folded import FoldedRows
    from seminaive.models.semi_naive import SemiNaive
    from seminaive.models.smooth_rows import Search
    from seminaive.scale.coding import Coding
    from seminaive.scale.survey import Survey
    from seminaive.scale.work import Work
    from seminaive.selection.relevance_trials import RelevanceAnswer
    from seminaive.statistics import Terms


def fit_semi_naive(model: SemiNaive, work: Work) -> None:
    """Search strengths and relevances on a sample in memory, then fit all rows."""
    survey = work.survey(values=True, sketches=False)
    if survey.n_rows <= smooth_rows.MOST_SEARCHED and not survey.has_more_categories(work.max_categories):
        # The search sees all rows: this is the fit in memory.
        features, labels, weight = work.sample(survey.n_rows, None)
        model.fit(features, labels, sample_weight=weight)
        model.columns_read_ = survey.readings_of(work.data.reading.features)
        return
    coding = work.adopt(survey)
    schema = with_nodes(coding.schema, lambda position: survey.number_weights(position, coding.class_factors))
    model.schema_, coding = schema, replace(coding, schema=schema)
    sample = coding.encode(*work.sample(smooth_rows.MOST_SEARCHED, model.random_state))
    folded = fold_rows(sample, model.cv, sample.labels, sample.row_weight, model.random_state)
    rows = RowsInPartitions(work, survey, coding, folded)
    weights = model.fit_rows(rows)
    model.attenuate(sample, rows.class_weight)
    tuples = TupleCounts(model.scores_.terms, weights[:, None])
    work.keep_summary(lambda: _smooth_summary(survey, coding, tuples))


@dataclass(frozen=True)
class RowsInPartitions:
    """Rows in partitions, of which a search sees a sample in memory (`SmoothRows`).

    Parameters
    ----------
    searched : FoldedRows
        The sample, with its folds.
    """

    work: Work
    survey: Survey
    coding: Coding
    searched: FoldedRows
    earlier: None = None
    is_sample: bool = True

    @property
    def schema(self) -> Schema:
        """The columns."""
        return self.coding.schema

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self.survey.n_rows

    @property
    def class_weight(self) -> Floats:
        """The weight of each class in all rows."""
        return _class_weight(self.survey, self.coding)

    def columns(self) -> SmoothColumns:
        """Return the smooth functions of each column, learned from the counts of its values."""
        return smooth_columns(self.survey, self.coding)

    def margin(self, position: int) -> tuple[EncodedTable, Floats]:
        """Return one row for each value of a column, with its weight."""
        return margin_of(self.survey, self.coding, position)

    def weights_of(self, terms: Terms) -> Floats:
        """Return the weight of the rows in each cell of some terms, by a pass over the partitions."""
        return self.work.count_tuples(self.coding, terms).counts[:, 0]

    def refit(
        self, columns: SmoothColumns, search: Search, answer: RelevanceAnswer, tol: float, max_iter: int
    ) -> RelevanceAnswer:
        """Fit all rows under the strengths and relevances of the best trial on the sample."""
        work, runner, sample = self.work, self.work.runner, self.searched.rows
        like_all = weighted_like(sample, float(self.class_weight.sum()), self.n_rows)
        fit = SampleFit.of(columns, like_all, answer, tol, max_iter)
        # Fused cells, at most one group per pair; slope, level and place between knots of each number; scores
        # and those that are kept between products.
        n_scores = padded(n_columns_of(sample.n_classes))
        per_row = 4 * len(columns.pairs) + 17 * len(self.schema.numeric) + 16 * n_scores + 16
        needed = per_row * self.n_rows if runner.keeps_blocks_here else 0
        with scratch_folder(work.scratch if runner.keeps_blocks_here else None, needed) as folder:
            partitions = list(enumerate(work.data.partitions))
            held = runner.hold(smooth_blocks, partitions, self.coding, columns, folder)
            try:
                loss = SmoothBlockedLoss(runner, held, columns, sample.n_classes)
                result = fit.extended_to(loss)
            finally:
                runner.release(held)
        return refitted(search, answer, result.solution, result)


def _class_weight(survey: Survey, coding: Coding) -> Floats:
    """Return the weight of each class in all rows."""
    by_class = survey.statistics.class_weight
    return by_class if coding.class_factors is None else by_class * coding.class_factors


def _smooth_summary(survey: Survey, coding: Coding, tuples: TupleCounts) -> TrainingSummary:
    """Return what `SemiNaive` keeps of its training table."""
    schema, n_classes = coding.schema, len(coding.classes)
    factors = np.ones(n_classes) if coding.class_factors is None else coding.class_factors
    cells = TableStatistics(
        schema,
        _class_weight(survey, coding),
        survey.single_columns(schema, factors),
        Moments.none(0, n_classes),
        tuple(coding.classes.tolist()),
    )
    return TrainingSummary(cells, tuples, survey.number_sketches(schema, coding.class_factors))
