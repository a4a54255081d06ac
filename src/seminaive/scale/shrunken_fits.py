"""Out-of-core fits of logistic regression shrunk toward naive Bayes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.design.classes import log_odds, toward_class_shares
from seminaive.design.reference import AnchoredDesign, means_and_deviations, reference_codes
from seminaive.encode import EncodedTable
from seminaive.models.decided import DECIDED
from seminaive.models.naive_bayes_logistic_regression import path_to
from seminaive.scale.reference_blocks import Layout, ReferenceRows, reference_blocks
from seminaive.scale.scratch import scratch_folder
from seminaive.scale.searching import attenuate_by_sample, fitted_to_sample
from seminaive.solvers.blocked_path import blocked_path
from seminaive.statistics import TrainingSummary

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from seminaive.encode import Schema
    from seminaive.models.naive_bayes_logistic_regression import NaiveBayesLogisticRegression
    from seminaive.models.naive_bayes_logistic_regression_cv import NaiveBayesLogisticRegressionCV
    from seminaive.models.shrunken import ShrunkenClassifier
    from seminaive.scale.coding import Coding
    from seminaive.scale.survey import Survey
    from seminaive.scale.work import Work
    from seminaive.solvers import ShrinkagePath
    from seminaive.solvers.elastic_net_path import PathOptions

    Floats = NDArray[np.float64]
    Solve = Callable[..., ShrinkagePath]

CHOSEN_STRENGTHS = ("strength_", "best_strength_", "one_standard_error_strength_")


def fit_shrunken(model: NaiveBayesLogisticRegression, work: Work) -> None:
    """Solve for a path down to the given strength, and keep its end."""
    survey, coding = work.coded(None)
    _solve_blocks(model, work, survey, coding, model.generative_share, model._fit_to_strength)


def fit_shrunken_searched(model: NaiveBayesLogisticRegressionCV, work: Work) -> None:
    """Search target and strength on a sample in memory, then solve for a path of all rows.

    Of an average, the trial of most weight is fitted to all rows. A strength is taken over as it is, in units
    of the log likelihood summed over rows: the penalty is a prior whose width does not depend on the number
    of rows. Where the search chose the target itself, so does the fit of all rows.
    """
    survey, coding = work.coded(None)
    searched = fitted_to_sample(model, work, coding)
    for name in ("generative_share_", "fold_losses_", "trials_", *DECIDED):
        setattr(model, name, getattr(searched, name))
    chosen = {name: getattr(searched, name) for name in CHOSEN_STRENGTHS}
    factors = 1.0 if coding.class_factors is None else coding.class_factors
    class_weight = survey.statistics.class_weight * factors
    held = searched.path_.strength_max

    def fit(linear: AnchoredDesign, cell_weight: Floats, solve: Solve) -> None:
        whole = model._options(stop_early=False)
        top = solve(whole, n_strengths=1).strength_max
        wanted = {
            name: max(strength, top) if strength >= held else strength for name, strength in chosen.items()
        }
        path = path_to(list(wanted.values()), solve, model._options(), whole)
        path.warn_unless_converged()
        steps = {name: int(np.abs(path.strengths - strength).argmin()) for name, strength in wanted.items()}
        for name, step in steps.items():
            setattr(model, name, float(path.strengths[step]))
        fitted = path.coefficients[steps["strength_"]]
        coefficients = toward_class_shares(fitted, model.fit_share_, class_weight)
        model._settle(linear, cell_weight, path, coefficients, path.target, solve)

    _solve_blocks(model, work, survey, coding, model.generative_share_, fit)


def _solve_blocks(
    model: ShrunkenClassifier,
    work: Work,
    survey: Survey,
    coding: Coding,
    share: float,
    fit: Callable[[AnchoredDesign, Floats, Solve], None],
) -> None:
    """Lay all rows out in blocks, and fit a model given a function that solves paths over them."""
    runner, partitions = work.runner, work.data.partitions
    statistics = work.statistics(survey, coding)
    anchor = model._anchor_of(model._naive_bayes(statistics), share)
    linear = AnchoredDesign.of(_no_rows(coding.schema), reference_codes(statistics), anchor)
    target = log_odds(model._target_of(linear))
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
            penalty = model._penalty_toward(target)

            def solve(options: PathOptions, **laid: Any) -> ShrinkagePath:
                return blocked_path(rows, penalty, options=options, **laid)

            fit(linear, statistics.counts.counts.sum(axis=1), solve)
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
