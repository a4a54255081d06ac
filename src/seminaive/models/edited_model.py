"""A fitted additive model that somebody changed, with the history of its changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from seminaive.errors import InputError
from seminaive.models.additive_classifier import AdditiveClassifier
from seminaive.scores import Edit, Refit

if TYPE_CHECKING:
    from typing import Self

    from seminaive.scores import AdditiveScores, Record

# What an edited model has from the model that it was made of.
COPIED = (
    "classes_",
    "schema_",
    "columns_read_",
    "n_features_in_",
    "feature_names_in_",
    "summary_",
    "started_from_",
    "target_name_",
)


class EditedModel(AdditiveClassifier):
    """An additive model that was edited, or read from a document: it predicts, and cannot be fitted.

    It is explained, exported and saved like the model that it was made of. `seminaive.edits.edit` and
    `seminaive.export.from_json` make it.

    Parameters
    ----------
    keep_summary : bool, default=True
        Whether the summary of the training table of the first model was kept.
    verbose : bool or int, default=False
        Nothing is shown: nothing is fitted.

    Attributes
    ----------
    edits_ : tuple of Edit or Refit
        What was done to it, the first one first.
    made_of_ : str
        The name of the class of the first model.
    started_from_ : tuple of StartedFrom
        The earlier models that the first one started from, where it did.
    """

    _fitted: ClassVar[dict[str, Any]] = {
        "edits_": "tuple[Record, ...]",
        "made_of_": str,
        "started_from_": "tuple[StartedFrom, ...]",
    }

    _no_posterior: ClassVar[str] = (
        "a model that was edited, or read from a document, does not say how uncertain it is: ask the fitted "
        "model that it was made of"
    )

    def __init__(self, *, keep_summary: bool = True, verbose: int = False) -> None:
        self.keep_summary = keep_summary
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:  # noqa: ARG002 - the signature of every model
        """Refuse: fit a model, and edit it.

        Parameters
        ----------
        X, y, sample_weight
            Not looked at.
        """
        raise InputError(
            "an edited model is not fitted again, since that would lose its edits: fit a model, and edit it"
        )

    def _check_consistent(self) -> None:
        super()._check_consistent()
        for record in self.edits_:
            columns = record.held if isinstance(record, Refit) else (record.column,)
            if not set(columns) <= set(self.schema_.names):
                raise ValueError(f"the history names {columns}, which are not columns")
            if isinstance(record, Edit) and record.target not in self.classes_.tolist():
                raise ValueError(f"the history names {record.target!r}, which is not a class")

    @classmethod
    def of(cls, model: AdditiveClassifier, scores: AdditiveScores, record: Record) -> Self:
        """Return a fitted additive model with other scores, and with one more line in its history.

        Parameters
        ----------
        model : a fitted additive model
        scores : AdditiveScores
        record : Edit or Refit
        """
        made = cls(keep_summary="summary_" in vars(model))
        for name in COPIED:
            if name in vars(model):
                setattr(made, name, getattr(model, name))
        made.scores_ = scores
        made.made_of_ = getattr(model, "made_of_", type(model).__name__)
        made.edits_ = (*getattr(model, "edits_", ()), record)
        return made
