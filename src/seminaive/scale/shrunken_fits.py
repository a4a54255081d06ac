"""Out-of-core fits of logistic regression shrunk toward naive Bayes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.design.reference import means_and_deviations
from seminaive.encode import EncodedTable
from seminaive.scale.reference_blocks import Layout, ReferenceRows, reference_blocks
from seminaive.scale.scratch import scratch_folder
from seminaive.scale.searching import attenuate_by_sample, fitted_to_sample
from seminaive.solvers.blocked_path import blocked_path
from seminaive.statistics import TrainingSummary

if TYPE_CHECKING:
    from collections.abc import Callable

    from seminaive.arrays import Floats
    from seminaive.design.reference import AnchoredDesign
    from seminaive.encode import Schema
    from seminaive.models.naive_bayes_logistic_regression import NaiveBayesLogisticRegression
    from seminaive.models.naive_bayes_logistic_regression_cv import NaiveBayesLogisticRegressionCV
    from seminaive.models.shrunken import ShrunkenClassifier
    from seminaive.scale.coding import Coding
    from seminaive.scale.survey import Survey
    from seminaive.scale.work import Work
    from seminaive.solvers import ShrinkagePath
    from seminaive.solvers.elastic_net_path import PathOptions
    from seminaive.statistics import TableStatistics

    Solve = Callable[..., ShrinkagePath]


def fit_shrunken(model: NaiveBayesLogisticRegression, work: Work) -> None:
    """Solve for a path down to the given strength, and keep its end."""

    def fit(linear: AnchoredDesign, statistics: TableStatistics, solve: Solve) -> None:
        model.fit_path(linear, statistics.counts.counts.sum(axis=1), solve)

    _solve_blocks(model, work, *work.coded(), model.generative_share, fit)


def fit_shrunken_searched(model: NaiveBayesLogisticRegressionCV, work: Work) -> None:
    """Search target and strength on a sample in memory, then solve for a path of all rows."""
    survey, coding = work.coded()
    searched = fitted_to_sample(model, work, coding)
    share = searched.generative_share_
    _solve_blocks(model, work, survey, coding, share, partial(model.fit_searched, searched))


def _solve_blocks(
    model: ShrunkenClassifier,
    work: Work,
    survey: Survey,
    coding: Coding,
    share: float,
    fit: Callable[[AnchoredDesign, TableStatistics, Solve], None],
) -> None:
    """Lay all rows out in blocks, and fit a model given a function that solves paths over them."""
    runner, partitions = work.runner, work.data.partitions
    statistics = work.statistics(survey, coding)
    linear = model.anchored(_no_rows(coding.schema), statistics, share)
    target = model.target_of(linear)
    needed = _bytes_per_row(linear, target) * survey.n_rows if runner.keeps_blocks_here else 0
    with scratch_folder(work.scratch if runner.keeps_blocks_here else None, needed) as folder:
        layout = Layout(linear.references, linear.anchor, target)
        held = runner.hold(reference_blocks, list(enumerate(partitions)), coding, layout, folder)
        try:
            rows = ReferenceRows(
                runner,
                held,
                linear.design,
                means_and_deviations(statistics, linear.references),
                statistics.class_weight,
                survey.n_rows,
            )

            def solve(options: PathOptions, **laid: Any) -> ShrinkagePath:
                return blocked_path(rows, model.penalty_toward(target), options=options, **laid)

            fit(linear, statistics, solve)
        finally:
            runner.release(held)
    attenuate_by_sample(model, work, coding, statistics.class_weight)
    work.keep_summary(
        lambda: TrainingSummary.of_counted(
            statistics, survey.number_sketches(coding.schema, coding.class_factors)
        )
    )


def _no_rows(schema: Schema) -> EncodedTable:
    codes = np.empty((0, len(schema.coded)), dtype=schema.code_type)
    return EncodedTable(codes, np.empty((0, len(schema.numeric))), schema)


def _bytes_per_row(linear: AnchoredDesign, target: Floats) -> int:
    """Return the size of a row in a block: numbers, codes, scores at the target, label and weight."""
    codes = linear.design.places
    size: int = 8 * linear.design.n_numbers + codes.itemsize * codes.shape[1] + 8 * target.shape[1] + 16
    return size
