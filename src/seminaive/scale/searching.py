"""Searches over strengths on a sample of the rows, in memory."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, TypeVar

from sklearn.base import clone

from seminaive.errors import ColumnsWarning, ConvergenceWarning, InputError, TargetWarning
from seminaive.scores.unknown_variance import MOST_ROWS

if TYPE_CHECKING:
    from seminaive.arrays import Floats
    from seminaive.models.additive_classifier import AdditiveClassifier
    from seminaive.models.base import TableClassifier
    from seminaive.scale.coding import Coding
    from seminaive.scale.work import Work


Searching = TypeVar("Searching", bound="TableClassifier")

# Rows of the sample on which strengths are searched.
MOST_SEARCHED = 50_000


def attenuate_by_sample(model: AdditiveClassifier, work: Work, coding: Coding, class_weight: Floats) -> None:
    """Attenuate fitted scores by as many rows as a fit in memory looks at."""
    model.attenuate(coding.encode(*work.sample(MOST_ROWS, 0)), class_weight)


def fitted_to_sample(model: Searching, work: Work, coding: Coding) -> Searching:
    """Return a copy of a model that searches its strengths, fitted to a sample of the rows."""
    features, labels, weight = work.sample(MOST_SEARCHED, model.random_state)
    if len(labels.unique()) < 2:
        raise InputError(
            f"strengths are searched on a sample, and its {len(labels):,} rows are all of one class, since "
            f"the others are rare: take {type(model).__name__.removesuffix('CV')} with a strength you give"
        )
    searched = clone(work.plain_model).set_params(keep_summary=False)
    if coding.class_factors is not None:
        factors = zip(coding.classes.tolist(), coding.class_factors.tolist(), strict=True)
        present = set(labels.unique().to_pylist())
        searched.set_params(class_weight={label: factor for label, factor in factors if label in present})
    with warnings.catch_warnings():
        # What is probably a mistake has been said about all rows; the fit to the sample is thrown away.
        warnings.simplefilter("ignore", ColumnsWarning)
        warnings.simplefilter("ignore", TargetWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        fitted: Searching = searched.fit(features, labels, sample_weight=weight)
    return fitted
