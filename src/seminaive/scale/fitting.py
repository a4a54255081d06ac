"""Fit an ordinary model to a table that need not fit in memory."""

from __future__ import annotations

import warnings
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from seminaive.encode import encode_target
from seminaive.errors import ColumnsWarning, ConvergenceWarning, InputError
from seminaive.models.base import unchanged_on_failure
from seminaive.models.generative import GenerativeMixin
from seminaive.models.group_regularized_naive_bayes import GroupRegularizedNaiveBayes, judge
from seminaive.models.higher_order_base import HigherOrderClassifier, cut_rule
from seminaive.models.higher_order_logistic_regression import HigherOrderLogisticRegression
from seminaive.models.higher_order_logistic_regression_cv import HigherOrderLogisticRegressionCV, cuts_by_size
from seminaive.models.parameters import is_whole
from seminaive.scale.blocks import Blocks, Plan
from seminaive.scale.coding import Coding
from seminaive.scale.local_runner import LocalRunner
from seminaive.scale.scratch import scratch_folder
from seminaive.scale.sources import Source
from seminaive.scale.survey import Survey, survey_partition, training_pieces
from seminaive.statistics import Moments, TableStatistics, TrainingSummary

if TYPE_CHECKING:
    from pathlib import Path

    from seminaive.design.coefficients import GenerativeEstimate
    from seminaive.models.base import TrainingSet
    from seminaive.scale.local_runner import Runner
    from seminaive.scale.partitions import Partition

# Rows of the sample on which strengths are searched.
MOST_SEARCHED = 50_000
FITTED_HERE = (
    "NaiveBayes, WeightedNaiveBayes, GroupRegularizedNaiveBayes (criterion='aic'), AveragedJoinEstimators, "
    "AveragedDependenceEstimators, TreeAugmentedNaiveBayes, HigherOrderLogisticRegression, "
    "AcceleratedLogisticRegression, HigherOrderLogisticRegressionCV"
)


def fit(
    model: Any,
    data: Source,
    *,
    runner: Runner | None = None,
    scratch: str | Path | None = None,
    max_categories: int | None = None,
) -> Any:
    """Fit a model to all rows of a source, and return the model.

    The fitted model is an ordinary one: it predicts, is saved and is read like any other. Its categories, cut
    points and counts do not depend on how the rows are split into partitions.

    Parameters
    ----------
    model : estimator
        One of this package. It is fitted in place, and left as it was where the fit fails.
    data : Source
        With a target, from `from_parquet`, `from_batches` or `from_dask`.
    runner : LocalRunner, DaskRunner or None, default=None
        Who does the work; None is one thread of this process.
    scratch : path or None, default=None
        An existing folder in which encoded rows may lie during the fit, in a folder of their own that is
        removed at the end. None keeps them in memory where they take at most a quarter of it, and in the
        system's folder for temporary files otherwise. A cluster keeps them in its workers.
    max_categories : int or None, default=None
        The number of categories of a column that are kept: the most frequent, ties by value. The others
        count as unseen, which is no evidence. None keeps all, up to a million.
    """
    runner = LocalRunner() if runner is None else runner
    _check_source(data)
    if max_categories is not None and (not is_whole(max_categories) or max_categories < 1):
        raise InputError(f"max_categories is None or a whole number of 1 or more, got {max_categories!r}")
    how = _way_to_fit(model)
    model._check_shared_parameters()
    model._check_parameters()
    with unchanged_on_failure(model):
        how(model, _Work(model, data, runner, scratch, max_categories))
    return model


def _check_source(data: Any) -> None:
    if not isinstance(data, Source):
        raise InputError(
            f"data is what scale.from_parquet, from_batches or from_dask return, got {type(data).__name__}"
        )
    if data.target is None:
        raise InputError("a fit needs to know the column to predict: name it in target")


def _way_to_fit(model: Any) -> Any:
    if isinstance(model, GenerativeMixin):
        return _fit_generative
    if isinstance(model, GroupRegularizedNaiveBayes):
        if model.criterion != "aic":
            raise InputError(
                "criterion='cv' needs the rows of every fold in memory: take criterion='aic' out of core"
            )
        return _fit_group_path
    if isinstance(model, HigherOrderClassifier):
        if model.solver == "sgd":
            raise InputError(
                "solver='sgd' visits single rows in random order: take solver='lbfgs' out of core, or "
                "partial_fit for a stream"
            )
        return _fit_by_passes
    if isinstance(model, HigherOrderLogisticRegressionCV):
        return _fit_searched
    raise InputError(
        f"{type(model).__name__} cannot be fitted out of core, since its search visits all rows many times "
        f"in an order of its own: fit it to a sample in memory, or take one of {FITTED_HERE}"
    )


class _Work:
    """What a fit out of core is about, and the passes that all of them begin with."""

    def __init__(
        self,
        model: Any,
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
        with self.model._progress("partitions surveyed", len(partitions)) as step:
            options = {"values": values, "sketches": sketches}
            for own in self.runner.each(
                _survey_work, partitions, self.data.reading, self.plain_model, options
            ):
                step()
                self.rows_of_partitions.append(0 if own is None else own.n_rows)
                if own is not None:
                    found = own if found is None else found + own
        if found is None:
            raise InputError("no partition has any row of positive weight: pass at least one row")
        if len(found.classes) < 2:
            raise InputError(
                f"one class only: every training row is {found.classes[0]!r}. A classifier needs rows of at "
                "least two classes"
            )
        return found

    def adopt(self, survey: Survey, cut_rule: Any) -> Coding:
        """Tell the model about classes and columns; return how rows are encoded from now on."""
        model, reading = self.model, self.data.reading
        factors = survey.class_factors(model.class_weight)
        schema = survey.schema(cut_rule, factors, self.max_categories)
        validate_data(model, reading.features.empty_table(), skip_check_array=True, reset=True)
        model._keep_readings(survey.readings_of(reading.features), survey.opened(reading.features), schema)
        model.schema_ = schema
        model.classes_ = _class_array(survey.classes)
        return Coding(reading, schema, model.classes_, factors)

    def sample(self, n_rows: int, random_state: Any) -> tuple[Any, Any, Any]:
        """Return features, labels and weights of rows drawn at random, or of all; after a survey.

        Rows are drawn by their place among all rows, so that partitions of the same rows in the same order
        give the same sample.
        """
        ends = np.cumsum(self.rows_of_partitions)
        total = int(ends[-1])
        drawn = np.arange(total)
        if total > n_rows:
            drawn = np.sort(check_random_state(random_state).choice(total, n_rows, replace=False))
        wanted = np.split(drawn, np.searchsorted(drawn, ends[:-1]))
        places = [
            own - (end - size) for own, end, size in zip(wanted, ends, self.rows_of_partitions, strict=True)
        ]
        numbered = list(enumerate(self.data.partitions))
        pieces = [
            piece
            for own in self.runner.each(_sample_work, numbered, self.data.reading, places)
            for piece in own
        ]
        features, labels, weights = zip(*pieces, strict=True)
        weight = None if weights[0] is None else np.concatenate(weights)
        return pa.concat_tables(features).unify_dictionaries(), _joined(labels), weight

    def count(self, coding: Coding) -> TableStatistics:
        """Count all rows by the model's own terms."""
        partitions = self.data.partitions
        found = None
        with self.model._progress("partitions counted", len(partitions)) as step:
            for own in self.runner.each(_count_work, partitions, coding, self.plain_model):
                step()
                if own is not None:
                    found = own if found is None else found + own
        assert found is not None  # noqa: S101 - the survey found rows
        return found


def _class_array(classes: tuple[Any, ...]) -> Any:
    """Return classes as ``fit`` does: text as objects, numbers and booleans by their own type."""
    return np.array(classes, dtype=object if isinstance(classes[0], str) else None)


def _survey_work(partition: Partition, reading: Any, model: Any, options: dict[str, bool]) -> Survey | None:
    return survey_partition(partition, reading, model, **options)


def _sample_work(
    numbered: tuple[int, Partition], reading: Any, places: list[Any]
) -> list[tuple[Any, Any, Any]]:
    """Return the rows of a partition at some places, piece by piece."""
    number, partition = numbered
    found, start = [], 0
    for features, labels, weight in training_pieces(partition, reading):
        own = places[number]
        kept = own[(own >= start) & (own < start + features.num_rows)] - start
        start += features.num_rows
        if len(kept):
            found.append((features.take(kept), labels.take(kept), None if weight is None else weight[kept]))
    return found


def _joined(columns: tuple[Any, ...]) -> Any:
    """Return columns of labels, below each other."""
    chunks = [chunk for column in columns for chunk in column.chunks]
    return pa.chunked_array(chunks).unify_dictionaries()


def _count_work(partition: Partition, coding: Coding, model: Any) -> TableStatistics | None:
    counted = [_counted(model, rows) for rows in coding.training_sets(partition)]
    return reduce(lambda one, other: one + other, counted) if counted else None


def _counted(model: Any, rows: TrainingSet) -> TableStatistics:
    if hasattr(model, "_count"):
        return model._count(rows)
    return TableStatistics.of(
        rows.table, rows.labels, rows.n_classes, rows.row_weight, classes=rows.classes.tolist()
    )


# Models of statistics alone


def _fit_generative(model: Any, work: _Work) -> None:
    survey, coding = _coded(work, model._cut_rule())
    statistics = _statistics(work, survey, coding)
    model._fit_statistics(statistics, survey.number_sketches(coding.schema, coding.class_factors))


def _coded(work: _Work, rule: Any) -> tuple[Survey, Coding]:
    """Survey all rows; with class weights the summary needs counts of values, as cut points do."""
    values = rule is not None or work.model.class_weight is not None
    survey = work.survey(values=values, sketches=not values and work.model.keep_summary)
    return survey, work.adopt(survey, rule)


def _statistics(work: _Work, survey: Survey, coding: Coding) -> TableStatistics:
    """Return the statistics of all rows: those of the survey, unless rows have to be encoded otherwise."""
    uncut = all(getattr(column, "cuts", None) is None for column in coding.schema.columns)
    if uncut and coding.class_factors is None and work.max_categories is None:
        return survey.statistics_under(coding.schema)
    return work.count(coding)


def _fit_group_path(model: Any, work: _Work) -> None:
    survey, coding = _coded(work, None)
    statistics = _statistics(work, survey, coding)
    interpolation = model._interpolation_of(statistics)
    solved = model._solve(interpolation)
    judged = np.zeros((len(solved.alphas), 2))
    partitions = work.data.partitions
    with model._progress("partitions judged", len(partitions)) as step:
        for own in work.runner.each(_judge_work, partitions, coding, interpolation, solved.alphas):
            step()
            judged += own
    path = model._path_of(solved, judged, float(statistics.class_weight.sum()))
    model._settle(interpolation, path, path.least_aic())
    vars(model).pop("summary_", None)
    if model.keep_summary:
        numbers = survey.number_sketches(coding.schema, coding.class_factors)
        model.summary_ = TrainingSummary.of_counted(statistics, numbers)


def _judge_work(partition: Partition, coding: Coding, interpolation: Any, alphas: Any) -> Any:
    """Return the misclassified weight and the deviance of a partition at every step of a path."""
    judged = np.zeros((len(alphas), 2))
    for rows in coding.training_sets(partition):
        judged += [
            judge(interpolation.scores_at(own), rows.table, rows.labels, rows.row_weight) for own in alphas
        ]
    return judged


# Models that minimise a loss by passes over the rows


def _fit_by_passes(model: Any, work: _Work) -> None:
    survey, coding = _coded(work, cut_rule(model.bins))
    _fit_blocks(model, work, survey, coding, model.objective, model._fit_loss)


def _fit_searched(model: Any, work: _Work) -> None:
    """Search the strengths on a sample in memory, then fit all rows."""
    survey, coding = _coded(work, cuts_by_size if model.bins == "auto" else cut_rule(model.bins))
    features, labels, weight = work.sample(MOST_SEARCHED, model.random_state)
    if coding.class_factors is not None:
        target = encode_target(labels, type(model).__name__)
        factors = coding.class_factors[np.searchsorted(coding.classes, target.classes)][target.labels]
        weight = factors if weight is None else weight * factors
    searched = clone(work.plain_model).set_params(keep_summary=False)
    with warnings.catch_warnings():
        # What is probably a mistake has been said about all rows; the sample's own fit is thrown away.
        warnings.simplefilter("ignore", ColumnsWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        searched.fit(features, labels, sample_weight=weight)
    for name in ("ridge_", "number_ridge_", "generative_share_", "cv_results_"):
        setattr(model, name, getattr(searched, name))

    def fit_loss(loss: Any, design: Any, estimate: Any, codes: Any, description: str) -> None:
        if np.isinf(model.ridge_).any():
            _keep_class_shares(model, estimate)
            return
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
        final._fit_loss(loss, design, estimate, codes, description)
        for name in ("n_iter_", "passes_", "objective_", "gradient_norm_", "scores_"):
            setattr(model, name, getattr(final, name))

    _fit_blocks(model, work, survey, coding, "log-likelihood", fit_loss)


def _keep_class_shares(model: Any, estimate: GenerativeEstimate) -> None:
    """Set the answer of infinite strengths: an intercept alone."""
    weight = estimate.class_weight
    logs = np.log(weight / weight.sum())
    solution = np.zeros((len(estimate.coefficients), len(weight)))
    solution[0] = logs - logs.mean()
    model.scores_ = estimate.coefficients.to_scores(solution, estimate.cell_weight.sum(axis=1))
    model.n_iter_, model.passes_ = 0, 0
    model.objective_, model.gradient_norm_ = -float(weight @ logs), 0.0


def _fit_blocks(
    model: Any, work: _Work, survey: Survey, coding: Coding, objective: str, fit_loss: Any
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
        with model._progress("partitions encoded", len(partitions)) as step:
            blocks = Blocks(plan, partitions, runner, folder, step)
        try:
            estimate, squared_columns = blocks.generative_estimate()
            loss = blocks.loss(squared_columns, objective)
            fit_loss(loss, blocks.design, estimate, None, blocks.design.describe(survey.n_rows))
        finally:
            blocks.release()
    vars(model).pop("summary_", None)
    if model.keep_summary:
        model.summary_ = _summary(estimate, survey, coding)


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
