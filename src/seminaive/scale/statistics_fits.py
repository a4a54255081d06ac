"""Out-of-core fits of the models that need nothing but statistics, or little more."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from seminaive.models.group_regularized_naive_bayes import GroupRegularizedNaiveBayes, judge
from seminaive.statistics import TrainingSummary

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from seminaive.models.generative_classifier import GenerativeMixin
    from seminaive.scale.coding import Coding
    from seminaive.scale.partitions import TablePartition
    from seminaive.scale.work import Work
    from seminaive.scores.alpha_interpolation import Interpolation

    Floats = NDArray[np.float64]


def fit_generative(model: GenerativeMixin, work: Work) -> None:
    """Fit a model of statistics alone."""
    survey, coding = work.coded(model._cut_rule())
    statistics = work.statistics(survey, coding)
    model._fit_statistics(statistics, survey.number_sketches(coding.schema, coding.class_factors))


def fit_group_path(model: GroupRegularizedNaiveBayes, work: Work) -> None:
    """Find the path of group-regularised naive Bayes, and choose its step by AIC."""
    survey, coding = work.coded(None)
    statistics = work.statistics(survey, coding)
    interpolation = model._interpolation_of(statistics)
    solved = model._solve(interpolation)
    judged = np.zeros((len(solved.alphas), 2))
    partitions = work.data.partitions
    with model._progress("partitions judged", len(partitions)) as step:
        for of_partition in work.runner.each(_judge_work, partitions, coding, interpolation, solved.alphas):
            step()
            judged += of_partition
    path = model._path_of(solved, judged, float(statistics.class_weight.sum()))
    model.fit_share_ = 1.0
    model._settle(interpolation, path, path.least_aic())
    work.keep_summary(
        lambda: TrainingSummary.of_counted(
            statistics, survey.number_sketches(coding.schema, coding.class_factors)
        )
    )


def _judge_work(
    partition: TablePartition, coding: Coding, interpolation: Interpolation, alphas: Floats
) -> Floats:
    """Return the misclassified weight and the deviance of a partition at every step of a path."""
    judged = np.zeros((len(alphas), 2))
    for rows in coding.training_sets(partition):
        judged += [
            judge(interpolation.scores_at(alpha), rows.table, rows.labels, rows.row_weight)
            for alpha in alphas
        ]
    return judged
