"""Out-of-core fit of `SemiNaive`: a search on a sample in memory, then a fit of all rows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from seminaive.encode.nodes import with_nodes
from seminaive.models.folded import fold_rows
from seminaive.models.parameters import is_whole
from seminaive.models.semi_naive import pair_cuts
from seminaive.scale.scratch import scratch_folder
from seminaive.scale.smooth_blocks import SmoothBlockedLoss, margin_of, smooth_blocks, smooth_columns
from seminaive.selection.engines import coefficient_engine
from seminaive.solvers.blas import one_blas_thread
from seminaive.statistics import Moments, TableStatistics, TrainingSummary, TupleCounts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from seminaive.design.smooth_columns import SmoothColumns
    from seminaive.models.base import TrainingSet
    from seminaive.models.fit_progress import Steps
    from seminaive.models.folded import FoldedRows
    from seminaive.models.semi_naive import SemiNaive
    from seminaive.scale.coding import Coding
    from seminaive.scale.survey import Survey
    from seminaive.scale.work import Work
    from seminaive.selection.relevance_search import RelevanceAnswer, RelevanceSearch
    from seminaive.statistics import Terms

    Floats = NDArray[np.float64]


def fit_semi_naive(model: SemiNaive, work: Work) -> None:
    """Search strengths and relevances on a sample in memory, then fit all rows."""
    survey = work.survey(values=True, sketches=False)
    if survey.n_rows <= model._most_searched and not survey.has_more_categories(work.max_categories):
        # The search sees all rows: this is the fit in memory.
        features, labels, weight = work.sample(survey.n_rows, None)
        model.fit(features, labels, sample_weight=weight)
        model.columns_read_ = survey.readings_of(work.data.reading.features)
        return
    coding = work.adopt(survey, pair_cuts if model._wants_pairs() else None)
    schema = with_nodes(coding.schema, lambda position: survey.number_weights(position, coding.class_factors))
    model.schema_, coding = schema, replace(coding, schema=schema)
    sample = coding.encode(*work.sample(model._most_searched, model.random_state))
    folded = fold_rows(sample, model._cv(sample), sample.labels, sample.row_weight, model.random_state)
    wanted = model._wanted_pairs(coding.schema)
    with model._progress("trials") as step, one_blas_thread():
        tuples = _search_smooth(model, work, survey, coding, folded, wanted, step)
        if is_whole(model.interactions) and 0 < model.interactions < len(model._pairs):
            wanted = model._most_important()
            tuples = _search_smooth(model, work, survey, coding, folded, wanted, step)
    model._attenuate(sample, _class_weight(survey, coding))
    model._question_shapes()
    work.keep_summary(lambda: _smooth_summary(survey, coding, tuples))


def _search_smooth(
    model: SemiNaive,
    work: Work,
    survey: Survey,
    coding: Coding,
    folded: FoldedRows,
    wanted: Sequence[tuple[int, int]] | None,
    step: Steps,
) -> TupleCounts:
    """Search on the sample, fit all rows and keep the answer; return the weights of its tuples."""
    columns = model._with_shapes(
        smooth_columns(survey, coding), coding.schema, lambda position: margin_of(survey, coding, position)
    )
    by_class = _class_weight(survey, coding)
    columns, search, answer = model._run_search(columns, wanted, folded, survey.n_rows, by_class, step)
    answer = _refit_smooth(model, work, survey, coding, columns, folded.rows, search, answer)
    counted: dict[Terms, TupleCounts] = {}

    def weights_of(terms: Terms) -> Floats:
        if terms not in counted:
            counted[terms] = work.count_tuples(coding, terms)
        return counted[terms].counts[:, 0]

    model._keep(columns, search, answer, coding.schema, weights_of)
    return counted[model.scores_.terms]


def _refit_smooth(
    model: SemiNaive,
    work: Work,
    survey: Survey,
    coding: Coding,
    columns: SmoothColumns,
    sample: TrainingSet,
    search: RelevanceSearch,
    answer: RelevanceAnswer,
) -> RelevanceAnswer:
    """Fit all rows under the strengths and relevances of the best trial on the sample."""
    partitions, runner = work.data.partitions, work.runner
    total = float(_class_weight(survey, coding).sum())
    # The sample, weighted like all rows, is where the fit starts and what preconditions it.
    weights = sample.weights * (total / sample.weights.sum())
    engine = coefficient_engine(columns, sample.table, sample.labels, weights, sample.n_classes, [])
    prepared = engine.prepare(answer.relevances[None])
    strengths, tol = answer.best.strengths, model.tol**2
    start = engine.fit_all(prepared, strengths, None, tol, model.max_iter).coefficients
    # Fused cells, at most one group per pair, and slope, level and place between knots of each number.
    per_row = 4 * len(columns.pairs) + 17 * len(coding.schema.numeric) + 16
    needed = per_row * survey.n_rows if runner.keeps_blocks_here else 0
    with scratch_folder(work.scratch if runner.keeps_blocks_here else None, needed) as folder:
        held = runner.hold(smooth_blocks, list(enumerate(partitions)), coding, columns, folder)
        try:
            loss = SmoothBlockedLoss(runner, held, columns, sample.n_classes)
            result = engine.fit_loss(loss, prepared, strengths, start, tol, model.max_iter)
        finally:
            runner.release(held)
    refitted: RelevanceAnswer = model._refitted(search, answer, result.solution, result)
    return refitted


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
