"""What a saved model may consist of: a closed list, so that a file cannot name any other class.

The list is what the fitted attributes of the models are declared to hold, the fields of these parts, and
their subclasses; a test compares the two. A file is imported when a model has such a part, so that a saved
naive Bayes does not load what networks need.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

__all__ = ["STORED_TYPES", "model_class", "stored_type"]

# The names of these classes, and of their fields, are the format of saved models.
STORED_TYPES = {
    "AdditiveScores": "seminaive.scores.additive_scores",
    "AlphaPath": "seminaive.solvers.alpha_path",
    "Assignment": "seminaive.structure.parents_or_children",
    "Attenuation": "seminaive.scores.attenuation",
    "Clip": "seminaive.scores.edits",
    "CurveTerms": "seminaive.scores.curve_terms",
    "Edit": "seminaive.scores.edits",
    "EffectChange": "seminaive.scores.edits",
    "Flatten": "seminaive.scores.edits",
    "FoldLosses": "seminaive.selection.fold_losses",
    "GroupPath": "seminaive.solvers.alpha_path",
    "Moments": "seminaive.statistics.moments",
    "Monotone": "seminaive.scores.edits",
    "Network": "seminaive.structure.bayesian_network",
    "NetworkPath": "seminaive.structure.network_search",
    "NumberSketch": "seminaive.statistics.number_sketch",
    "NumericTerms": "seminaive.scores.numeric_terms",
    "ObservedCounts": "seminaive.statistics.observed_counts",
    "ObservedStatistics": "seminaive.statistics.observed_counts",
    "ObservedTerms": "seminaive.statistics.observed_terms",
    "Partition": "seminaive.structure.parents_or_children",
    "Points": "seminaive.scores.edits",
    "Record": "seminaive.scores.edits",
    "Refit": "seminaive.scores.edits",
    "Schema": "seminaive.encode.schema",
    "ScorePosterior": "seminaive.scores.score_posterior",
    "SetTo": "seminaive.scores.edits",
    "ShrinkagePath": "seminaive.solvers.shrinkage_path",
    "StartedFrom": "seminaive.scores.started_from",
    "TableStatistics": "seminaive.statistics.table_statistics",
    "Terms": "seminaive.statistics.terms",
    "TrainingSummary": "seminaive.statistics.training_summary",
    "TupleCounts": "seminaive.statistics.counts",
}
# Models that are made from others and are no names of the package itself.
MADE_FROM_OTHERS = {"EditedModel": "seminaive.models"}


@cache
def stored_type(name: Any) -> Any:
    """Return the class of a name that is listed, and None for any other name."""
    module = STORED_TYPES.get(name)
    return None if module is None else getattr(import_module(module), name)


def model_class(name: str) -> Any:
    """Return the classifier of this package with a name, and None where there is none."""
    import seminaive
    from seminaive.models.base import TableClassifier

    if name not in dir(seminaive) and name not in MADE_FROM_OTHERS:
        return None
    found = getattr(import_module(MADE_FROM_OTHERS.get(name, "seminaive")), name)
    return found if isinstance(found, type) and issubclass(found, TableClassifier) else None
