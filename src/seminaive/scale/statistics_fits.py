"""Out-of-core fits of the models that need nothing but statistics, or little more."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from seminaive.models.fit_progress import progress_of
from seminaive.models.group_regularized_naive_bayes import GroupRegularizedNaiveBayes, judge_steps
from seminaive.statistics import TrainingSummary

if TYPE_CHECKING:
    from seminaive.arrays import Floats
    from seminaive.models.generative_classifier import GenerativeClassifier
    from seminaive.scale.coding import Coding
    from seminaive.scale.partitions import TablePartition
    from seminaive.scale.work import Work
    from seminaive.scores.alpha_interpolation import Interpolation


def fit_generative(model: GenerativeClassifier, work: Work) -> None:
    """Fit a model of statistics alone."""
    survey, coding = work.coded()
    statistics = work.statistics(survey, coding)
    model.fit_statistics(statistics, survey.number_sketches(coding.schema, coding.class_factors))


def fit_group_path(model: GroupRegularizedNaiveBayes, work: Work) -> None:
    """Find the path of group-regularised naive Bayes, and choose its step by AIC."""
    survey, coding = work.coded()
    statistics = work.statistics(survey, coding)
    partitions = work.data.partitions

    def judge(interpolation: Interpolation, alphas: Floats) -> Floats:
        judged = np.zeros((len(alphas), 2))
        with progress_of(model, "partitions judged", len(partitions)) as step:
            for of_partition in work.runner.each(_judge_work, partitions, coding, interpolation, alphas):
                step()
                judged += of_partition
        return judged

    model.fit_statistics(statistics, judge)
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
        judged += judge_steps(interpolation, alphas, rows)
    return judged
