"""Fit an ordinary model to a table that need not fit in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from seminaive.errors import InputError
from seminaive.models.base import TableClassifier, unchanged_on_failure
from seminaive.models.generative_classifier import GenerativeClassifier
from seminaive.models.group_regularized_naive_bayes import GroupRegularizedNaiveBayes
from seminaive.models.higher_order_base import HigherOrderClassifier
from seminaive.models.higher_order_logistic_regression_cv import HigherOrderLogisticRegressionCV
from seminaive.models.naive_bayes_logistic_regression import NaiveBayesLogisticRegression
from seminaive.models.naive_bayes_logistic_regression_cv import NaiveBayesLogisticRegressionCV
from seminaive.models.parameters import is_whole
from seminaive.models.semi_naive import SemiNaive
from seminaive.models.started import StartedClassifier
from seminaive.scale.local_runner import checked_runner
from seminaive.scale.pass_fits import fit_by_passes, fit_searched
from seminaive.scale.scratch import check_scratch
from seminaive.scale.shrunken_fits import fit_shrunken, fit_shrunken_searched
from seminaive.scale.smooth_fits import fit_semi_naive
from seminaive.scale.sources import Source
from seminaive.scale.statistics_fits import fit_generative, fit_group_path
from seminaive.scale.work import Work

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from seminaive.scale.local_runner import Runner

Model = TypeVar("Model", bound=TableClassifier)

FITTED_HERE = (
    "NaiveBayes, WeightedNaiveBayes, GroupRegularizedNaiveBayes (criterion='aic'), AveragedJoinEstimators, "
    "AveragedDependenceEstimators, TreeAugmentedNaiveBayes, HigherOrderLogisticRegression, "
    "AcceleratedLogisticRegression, HigherOrderLogisticRegressionCV, NaiveBayesLogisticRegression, "
    "NaiveBayesLogisticRegressionCV, SemiNaive"
)


def fit(
    model: Model,
    data: Source,
    *,
    runner: Runner | None = None,
    scratch: str | Path | None = None,
    max_categories: int | None = None,
) -> Model:
    """Fit a model to all rows of a source, and return the model.

    The fitted model is an ordinary one: it predicts, is saved and is read like any other. Its categories, cut
    points and counts do not depend on how the rows are split into partitions.

    Parameters
    ----------
    model : estimator
        One of this package. It is fitted in place, and left as it was where the fit fails.
    data : Source
        With a target, from `from_parquet`, `from_csv`, `from_batches` or `from_dask`.
    runner : LocalRunner, DaskRunner or None, default=None
        Who does the work; None is one thread of this process.
    scratch : path or None, default=None
        An existing folder in which encoded rows may lie during the fit, in a new folder that is
        removed at the end. None keeps them in memory where they take at most a quarter of it, and in the
        system's folder for temporary files otherwise. A cluster keeps them in its workers.
    max_categories : int or None, default=None
        The number of categories of a column that are kept: the most frequent, ties by value. The others
        count as unseen, which is no evidence. None keeps all, up to a million.
    """
    runner = checked_runner(runner)
    _check_source(data)
    if max_categories is not None and (not is_whole(max_categories) or max_categories < 1):
        raise InputError(f"max_categories is None or a whole number of 1 or more, got {max_categories!r}")
    check_scratch(scratch)
    how = _way_to_fit(model)
    model.check_parameters()
    with unchanged_on_failure(model):
        how(model, Work(model, data, runner, scratch, max_categories))
    return model


def _check_source(data: object) -> None:
    if not isinstance(data, Source):
        raise InputError(
            f"data is what scale.from_parquet, from_batches or from_dask return, got {type(data).__name__}"
        )
    if data.target is None:
        raise InputError("a fit needs to know the column to predict: name it in target")


def _way_to_fit(model: object) -> Callable[[Any, Work], None]:
    if isinstance(model, StartedClassifier) and model.start_model is not None:
        raise InputError(
            "start= needs the rows in memory: fit a sample of them by the model's fit, or all without start"
        )
    if isinstance(model, GenerativeClassifier):
        return fit_generative
    if isinstance(model, GroupRegularizedNaiveBayes):
        if model.criterion != "aic":
            raise InputError(
                "criterion='cv' needs the rows of every fold in memory: take criterion='aic' out of core"
            )
        return fit_group_path
    if isinstance(model, HigherOrderClassifier):
        if model.solver == "sgd":
            raise InputError(
                "solver='sgd' visits single rows in random order: take solver='lbfgs' out of core, or "
                "partial_fit for a stream"
            )
        return fit_by_passes
    if isinstance(model, HigherOrderLogisticRegressionCV):
        return fit_searched
    if isinstance(model, NaiveBayesLogisticRegression):
        return fit_shrunken
    if isinstance(model, NaiveBayesLogisticRegressionCV):
        return fit_shrunken_searched
    if isinstance(model, SemiNaive):
        return fit_semi_naive
    if not isinstance(model, TableClassifier):
        raise InputError(
            f"model is a classifier of this package, got {type(model).__name__}: take one of {FITTED_HERE}"
        )
    raise InputError(
        f"{type(model).__name__} cannot be fitted out of core, since its search needs all rows in memory: "
        f"fit it to a sample, or take one of {FITTED_HERE}"
    )
