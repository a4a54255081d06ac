"""Out-of-core fits of the models over tuples, which minimise a loss by passes over blocks of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from seminaive.models.decided import DECIDED
from seminaive.models.fit_progress import progress_of
from seminaive.models.higher_order_logistic_regression import HigherOrderLogisticRegression
from seminaive.scale.blocks import Blocks, Plan
from seminaive.scale.scratch import scratch_folder
from seminaive.scale.searching import attenuate_by_sample, fitted_to_sample
from seminaive.statistics import Moments, TableStatistics, TrainingSummary

if TYPE_CHECKING:
    from collections.abc import Callable

    from seminaive.design.coefficients import GenerativeEstimate
    from seminaive.design.table_design import TableDesign
    from seminaive.models.higher_order_base import HigherOrderClassifier
    from seminaive.models.higher_order_logistic_regression_cv import HigherOrderLogisticRegressionCV
    from seminaive.objective.blocked_loss import BlockedLoss
    from seminaive.objective.summed_loss import LossName
    from seminaive.scale.coding import Coding
    from seminaive.scale.survey import Survey
    from seminaive.scale.work import Work

    FitLoss = Callable[[BlockedLoss, TableDesign, GenerativeEstimate, str], object]


def fit_by_passes(model: HigherOrderClassifier, work: Work) -> None:
    """Fit a logistic regression over tuples with given strengths."""
    survey, coding = work.coded()
    _fit_blocks(model, work, survey, coding, model.row_loss, model.fit_loss)


def fit_searched(model: HigherOrderLogisticRegressionCV, work: Work) -> None:
    """Search the strengths on a sample in memory, then fit all rows under those of most weight."""
    survey, coding = work.coded()
    searched = fitted_to_sample(model, work, coding)
    for name in ("ridge_", "number_ridge_", "generative_share_", "cv_results_", *DECIDED):
        setattr(model, name, getattr(searched, name))

    def fit_loss(
        loss: BlockedLoss, design: TableDesign, estimate: GenerativeEstimate, description: str
    ) -> None:
        final = HigherOrderLogisticRegression(
            model.order,
            ridge=list(model.ridge_),
            number_ridge=model.number_ridge_,
            generative_share=model.generative_share_,
            hierarchical=model.hierarchical,
            start="generative" if model.generative_share_ > 0 else "zero",
            tol=model.tol,
            max_iter=model.max_iter,
            verbose=model.verbose,
        )
        final.classes_, final.schema_ = model.classes_, model.schema_
        final.fit_loss(loss, design, estimate, description)
        for name in ("n_iter_", "passes_", "objective_", "gradient_norm_"):
            setattr(model, name, getattr(final, name))
        log_shares = np.log(estimate.class_weight / estimate.class_weight.sum())
        model.scores_ = final.scores_.toward_class_shares(model.fit_share_, log_shares)

    _fit_blocks(model, work, survey, coding, "log-likelihood", fit_loss)


def _fit_blocks(
    model: HigherOrderClassifier | HigherOrderLogisticRegressionCV,
    work: Work,
    survey: Survey,
    coding: Coding,
    objective: LossName,
    fit_loss: FitLoss,
) -> None:
    """Minimise a model's penalised loss over blocks of encoded rows."""
    partitions, runner = work.data.partitions, work.runner
    plan = Plan.of(
        coding,
        partitions,
        runner,
        n_rows=survey.n_rows,
        order=model.order,
        standardisation=survey.standardisation(coding.schema, coding.class_factors)
        if model.hierarchical
        else None,
    )
    needed = plan.bytes_per_row * survey.n_rows if runner.keeps_blocks_here else 0
    with scratch_folder(work.scratch if runner.keeps_blocks_here else None, needed) as folder:
        with progress_of(model, "partitions encoded", len(partitions)) as step:
            blocks = Blocks(plan, partitions, runner, folder, step)
        try:
            estimate, squared_columns = blocks.generative_estimate()
            loss = blocks.loss(squared_columns, objective)
            fit_loss(loss, blocks.design, estimate, blocks.design.describe(survey.n_rows))
        finally:
            blocks.release()
    attenuate_by_sample(model, work, coding, estimate.class_weight)
    work.keep_summary(lambda: _summary(estimate, survey, coding))


def _summary(estimate: GenerativeEstimate, survey: Survey, coding: Coding) -> TrainingSummary:
    """Return what a model over tuples keeps of its training table."""
    cells = TableStatistics(
        coding.schema,
        estimate.class_weight,
        estimate.single_columns(),
        Moments.none(0, len(estimate.class_weight)),
        tuple(coding.classes.tolist()),
    )
    numbers = survey.number_sketches(coding.schema, coding.class_factors)
    return TrainingSummary(cells, estimate.tuple_weights(), numbers)
