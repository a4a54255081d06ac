"""What every classifier here shares: encoding on the way in, a posterior in log space on the way out."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from seminaive.encode import (
    EncodedTable,
    TableEncoder,
    encode_weights,
    frame_like,
    merge_readings,
    open_table,
    probable_mistakes,
    question_target,
    question_weights,
    question_whole_weights,
    read_columns,
    report_columns,
    training_columns,
)
from seminaive.encode.table_tags import check_columns
from seminaive.encode.target import check_shared_classes
from seminaive.errors import (
    ColumnsWarning,
    InputError,
    TargetWarning,
    TooLargeError,
    WeightsWarning,
    warn_caller,
)
from seminaive.models.fitted_checks import check_summary, check_trials
from seminaive.models.long_fits import announce_long_fit
from seminaive.models.parameters import check_flag, check_jobs, is_number, is_whole
from seminaive.models.table_estimator import TableEstimator
from seminaive.models.training_set import TrainingSet, encode_rows
from seminaive.scores import log_posterior
from seminaive.statistics import TrainingSummary

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray
    from sklearn.base import BaseEstimator

    from seminaive.arrays import Floats
    from seminaive.encode import Schema
    from seminaive.encode.columns_report import ColumnReading
    from seminaive.encode.encoded_table import CutRule
    from seminaive.encode.frames import Table
    from seminaive.encode.schema import MissingPolicy
    from seminaive.statistics import TupleCounts

__all__ = ["TableClassifier", "is_number", "unchanged_on_failure"]

# Columns named in one warning.
MOST_MISTAKES = 5


@contextmanager
def unchanged_on_failure(model: BaseEstimator) -> Iterator[None]:
    """Put every attribute of a model back where the block fails, so that no failure leaves half a fit.

    Memory that ran out although it was free a moment before, since others took it meanwhile, is a
    `TooLargeError` too.
    """
    before = dict(vars(model))
    try:
        yield
    except BaseException as error:
        vars(model).clear()
        vars(model).update(before)
        if isinstance(error, MemoryError) and not isinstance(error, TooLargeError):
            raise TooLargeError(
                f"memory ran out ({error or 'an allocation failed'}): use fewer rows or columns, a lower "
                "order, or a machine with more memory"
            ) from error
        raise


@dataclass(eq=False, repr=False, kw_only=True)
class TableClassifier(ClassifierMixin, TableEstimator):
    """A classifier of ordinary tables.

    A subclass calls ``check_parameters`` and ``_encode_training`` in ``fit``, and defines
    ``_joint_log_scores(table)``, from which every way of predicting follows. It may
    check parameters of its kind (``_check_parameters``), cut numbers into bins (``binning_rule``) and check
    what a file holds (``_check_consistent``, ``_derive_within``).

    Parameters
    ----------
    missing : {"value", "neutral"}, default="value"
        Whether a missing cell counts as one more value, if training had missing cells in its column, or
        leaves the odds of the classes as they are. A number that is not cut into bins always leaves them.
    class_weight : None, "balanced" or mapping, default=None
        Weights of the classes, which multiply the weights of their rows, in a search as in a fit; "balanced"
        gives every class the same total. Classes that a mapping leaves out weigh 1.
    merge_spellings : bool, default=False
        Whether capitals and spaces around a category do not matter: "Yes", "yes" and "yes " are one.
    keep_summary : bool, default=True
        Whether to keep a summary of the training table for pictures and reports: how often each value
        occurred, and quantiles of numbers; no row is kept.
    verbose : bool or int, default=False
        Whether to show progress on standard error.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    columns_report_ : frame
        How each column was read: ``column``, ``kind``, ``levels`` (codes of a category or of a number in
        bins, else 0), ``missing`` (cells) and ``read_as`` (the type it came with, and what was made of it).
    """

    classes_: NDArray[Any] = field(init=False)
    schema_: Schema = field(init=False)
    columns_read_: tuple[ColumnReading, ...] = field(init=False)
    summary_: TrainingSummary = field(init=False)
    target_name_: str = field(init=False)

    missing: MissingPolicy = "value"
    class_weight: Any = None
    merge_spellings: bool = False
    keep_summary: bool = True
    verbose: int = False

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that sparse indicators are welcome, too."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _encode_training(self, X: Any, y: Any, sample_weight: Any) -> TrainingSet:
        """Check and encode a whole training table; sets ``classes_`` and ``schema_``."""
        training = self._encode_rows(X, y, sample_weight)
        if training.n_classes < 2:
            raise InputError(
                f"one class only: every training row is {training.classes.tolist()[0]!r}. A classifier needs "
                "rows of at least two classes"
            )
        check_shared_classes(len(training.classes), len(training.labels))
        self._question_target(training.classes)
        if not self._one_pass:
            announce_long_fit(self, X, sample_weight, training, self._most_searched())
        self.classes_ = training.classes
        self.schema_ = training.table.schema
        return training

    def adopt_columns(
        self,
        readings: tuple[ColumnReading, ...],
        opened: Table,
        schema: Schema,
        classes: NDArray[Any],
        target_name: str | None,
    ) -> None:
        """Set schema and classes of rows that were encoded elsewhere; warn of what is probably a mistake.

        Parameters
        ----------
        readings : tuple of ColumnReading
            How each column was read.
        opened : Table
            The columns.
        classes : ndarray of shape (n_classes,)
        target_name : str or None
            What the column of labels is called.
        """
        self._keep_readings(readings, opened, schema)
        self.schema_, self.classes_ = schema, classes
        self._question_target(classes)
        self._keep_target_name(target_name)

    def _most_searched(self) -> int | None:
        """Return how many rows a search sees at most; None where it sees all."""
        return None

    def _question_target(self, classes: NDArray[Any]) -> None:
        """Warn of a target that is probably a quantity or a name."""
        question = question_target(classes)
        if question:
            warn_caller(f"{type(self).__name__}: {question}", TargetWarning)

    def _encode_rows(
        self, X: Any, y: Any, sample_weight: Any, *, known: Schema | None = None, chunk: bool = False
    ) -> TrainingSet:
        """Check and encode training rows: a whole table, or a chunk, perhaps after ``known`` ones."""
        X = X if known is None else training_columns(X, known.names)
        opened = open_table(X)
        n_rows = opened.n_rows
        check_columns(self, X, reset=known is None)
        rule = self.binning_rule()
        opened, training = encode_rows(
            self, X, y, sample_weight, opened=opened, cut_rule=rule, known=known, chunk=chunk
        )
        self._report_columns(opened, training, first=known is None)
        if known is None:
            self._keep_target_name(getattr(y, "name", None))
        question_of = question_whole_weights if self.chooses_by_folds() else question_weights
        question = question_of(encode_weights(sample_weight, n_rows))
        if question:
            warn_caller(f"{type(self).__name__}: {question}", WeightsWarning)
        return training

    def _keep_target_name(self, name: Any) -> None:
        """Keep what the column of labels is called, for pictures and pages."""
        self.__dict__.pop("target_name_", None)
        if isinstance(name, str) and name:
            self.target_name_ = name

    def _report_columns(self, opened: Table, training: TrainingSet, *, first: bool) -> None:
        """Keep how the columns were read, and warn once about what is probably a mistake."""
        readings = read_columns(opened, training.table)
        if first:
            self._keep_readings(readings, opened, training.table.schema)
        else:
            self.columns_read_ = merge_readings(self.columns_read_, readings)

    def _keep_readings(self, readings: tuple[ColumnReading, ...], opened: Table, schema: Schema) -> None:
        self.columns_read_ = readings
        mistakes = probable_mistakes(opened, schema, self.categorical_features)
        if mistakes:
            shown = "; ".join(mistakes[:MOST_MISTAKES])
            more = f"; and {len(mistakes) - MOST_MISTAKES} more" if len(mistakes) > MOST_MISTAKES else ""
            warn_caller(ColumnsWarning(f"{type(self).__name__}: {shown}{more}", mistakes))

    @property
    def columns_report_(self) -> Any:
        """A frame that tells how each column was read: column, kind, levels, missing cells, read_as."""
        check_is_fitted(self)
        return frame_like(None, report_columns(self.columns_read_, self.schema_))

    def _summarise(self, rows: TrainingSet, tuples: TupleCounts | None = None) -> None:
        """Keep a summary of a training table, with the weights of a model's tuples; or none if not wanted."""
        self.__dict__.pop("summary_", None)
        if self.keep_summary:
            classes = rows.classes.tolist()
            summary = TrainingSummary.of(
                rows.table, rows.labels, rows.n_classes, rows.row_weight, classes=classes
            )
            self.summary_ = replace(summary, tuples=tuples)

    def check_parameters(self) -> None:
        """Refuse parameters that cannot be used; `fit` begins with it."""
        check_flag("keep_summary", self.keep_summary)
        check_flag("merge_spellings", self.merge_spellings)
        check_jobs(getattr(self, "n_jobs", None))
        if not isinstance(self.verbose, bool | np.bool_) and not (
            is_whole(self.verbose) and self.verbose >= 0
        ):
            raise InputError(f"verbose is True, False or a number of 0 or more, got {self.verbose!r}")
        self._check_parameters()

    def encode(self, X: Any) -> EncodedTable:
        """Return rows to predict by the codes of training; every way of predicting begins with it.

        Parameters
        ----------
        X : frame, array or list of rows
            The training columns: by name, or in the training order where there are no names.
        """
        if "schema_" not in vars(self):
            check_is_fitted(self)
        encoder = TableEncoder(self.schema_)
        few = encoder.encode_few(X, named="feature_names_in_" in vars(self))
        if few is not None:  # the columns are those of training, so scikit-learn's checks would pass
            return few
        X = training_columns(X, self.schema_.names)
        opened = open_table(X)
        check_columns(self, X, reset=False)
        return encoder.encode(opened)

    # Fitted attributes that a model file holds, with their types; see seminaive.saving.fitted_state. Those of
    # ``_derived`` follow from the others and are not written.
    _fitted: ClassVar[dict[str, Any]] = {"summary_": TrainingSummary, "target_name_": str}
    _derived: ClassVar[tuple[str, ...]] = ()
    # Whether a fit takes one pass over the rows, which is not worth an estimate of its time.
    _one_pass: ClassVar[bool] = False

    def restore(self, most_bytes: int) -> None:
        """Check a fitted state that was read from a file, and derive what the file does not hold.

        Parameters
        ----------
        most_bytes : int
            What derived tables may take.
        """
        self.check_parameters()
        self._derive_within(most_bytes)
        self._check_consistent()

    def _derive_within(self, most_bytes: int) -> None:
        """Derive what a file does not hold; most models are written whole."""

    def _check_consistent(self) -> None:
        """Refuse a fitted state, read from a file, whose parts do not belong together."""
        if "summary_" in vars(self):
            check_summary(self.summary_, self.schema_, len(self.classes_))
            if self.summary_.cells.classes not in (None, tuple(self.classes_.tolist())):
                raise ValueError("the summary is of other classes")
        check_trials(getattr(self, "cv_results_", {}))

    def _check_parameters(self) -> None:
        """Refuse parameters of one kind of model that cannot be used."""

    def binning_rule(self) -> CutRule | None:
        """Return the rule that cuts numbers into bins, or None where they stay numbers."""
        return None

    def chooses_by_folds(self) -> bool:
        """Return whether row weights are divided by their mean, as where folds choose the strengths.

        Held-out rows then find the strength that suits the weights, whatever their unit. A strength that is
        given weighs against the sum of the weights, as in scikit-learn.
        """
        return False

    def _joint_log_scores(self, table: EncodedTable) -> Floats:
        """Return the log posterior of each row and class, up to a constant per row."""
        raise NotImplementedError

    def predict_log_proba(self, X: Any) -> Floats:
        """Return the log posterior probabilities, one row per sample and one column per class.

        Parameters
        ----------
        X : frame, array or list of rows
            The training columns: by name, or in the training order where there are no names.
        """
        return log_posterior(self._joint_log_scores(self.encode(X)))

    def predict_proba(self, X: Any) -> Floats:
        """Return the posterior probabilities; each row sums to 1.

        Parameters
        ----------
        X : frame, array or list of rows
            The training columns: by name, or in the training order where there are no names.
        """
        log_proba = self.predict_log_proba(X)
        return np.exp(log_proba, out=log_proba)

    def decision_function(self, X: Any) -> Floats:
        """Return the log odds of the second class; with more classes, each one's centred score.

        Parameters
        ----------
        X : frame, array or list of rows
            The training columns: by name, or in the training order where there are no names.
        """
        scores = self._joint_log_scores(self.encode(X))
        if scores.shape[1] == 2:
            return np.asarray(scores[:, 1] - scores[:, 0])
        return np.asarray(scores - scores.mean(axis=1, keepdims=True))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each row.

        Parameters
        ----------
        X : frame, array or list of rows
            The training columns: by name, or in the training order where there are no names.
        """
        scores = self._joint_log_scores(self.encode(X))
        return np.asarray(self.classes_[scores.argmax(axis=1)])
