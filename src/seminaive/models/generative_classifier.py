"""Models that need nothing but statistics: one pass over a table, or chunk by chunk."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from seminaive.encode import encode_target
from seminaive.errors import InputError, UnavailableError
from seminaive.models.base import TableClassifier, unchanged_on_failure
from seminaive.models.fit_progress import progress_of
from seminaive.models.fitted_checks import check_statistics
from seminaive.models.parameters import check_choice, check_number, check_variance_floor
from seminaive.statistics import TableStatistics, Terms, TrainingSummary
from seminaive.statistics.number_sketch import sketch_columns
from seminaive.statistics.sizes import table_parts

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import NDArray

    from seminaive.models.training_set import TrainingSet
    from seminaive.statistics.number_sketch import NumberSketch


def check_generative_parameters(model: Any) -> None:
    """Refuse a smoothing, a floor of the variances or a kind of variances that naive Bayes cannot use."""
    check_number("smoothing", model.smoothing, "a number of rows, 0 or more", low=0)
    check_variance_floor(model.variance_floor)
    check_choice("variances", model.variances, ("pooled", "class"))


def refuse_no_smoothing(smoothing: float) -> None:
    """Refuse intervals of counts to which nothing is added."""
    if smoothing == 0:
        raise UnavailableError(
            "intervals are those of the posterior of the counts, which has no prior where smoothing is 0: "
            "fit with a smoothing above 0"
        )


class GenerativeClassifier(TableClassifier):
    """``fit`` and ``partial_fit`` of a purely generative model.

    A subclass sums up rows (``count_rows``, into ``statistics_``), and derives from them what it predicts by
    (``_derive``). A model file holds the statistics, of which the rest is derived again.

    Attributes
    ----------
    classes_declared_ : bool
        Whether ``partial_fit`` was given all classes, and refuses others.
    statistics_ : TableStatistics
        Raw counts and moments; they can be merged.
    """

    statistics_: TableStatistics
    classes_declared_: bool

    _fitted: ClassVar[dict[str, Any]] = {"classes_declared_": bool, "statistics_": TableStatistics}
    _derived: ClassVar[tuple[str, ...]] = ("scores_", "tables_")
    _one_pass: ClassVar[bool] = True

    def _derive_within(self, most_bytes: int) -> None:
        """Check the statistics that a file holds, then derive the tables."""
        check_statistics(self.statistics_, self.schema_, len(self.classes_))
        if self.statistics_.classes not in (None, tuple(self.classes_.tolist())):
            raise ValueError("the statistics are of other classes")
        if self.statistics_.counts.terms != self._counted_terms(self.schema_.cardinalities):
            raise ValueError("the statistics count other tuples than the model needs")
        if sum(self._memory_parts(self.schema_.cardinalities, len(self.classes_)).values()) > most_bytes:
            raise ValueError(
                "its tables take more memory than allowed: pass a larger max_bytes to load_model"
            )
        self._derive()

    def count_rows(self, rows: TrainingSet) -> TableStatistics:
        """Return the statistics of some rows."""
        raise NotImplementedError

    def _derive(self) -> None:
        """Set what the model predicts by, from ``statistics_``."""
        raise NotImplementedError

    def _counted_terms(self, cardinalities: tuple[int, ...]) -> Terms:
        """Return the terms that the statistics count: single columns."""
        return Terms.singles(cardinalities)

    def _memory_parts(self, cardinalities: tuple[int, ...], n_classes: int) -> dict[str, int]:
        """Return what the fit takes, in bytes: counts, the work on them, and tables."""
        return table_parts(cardinalities, 1, n_classes, copies=4)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Count the values, and sum up the numbers, of each class."""
        self.check_parameters()
        with unchanged_on_failure(self), progress_of(self, "passes over the rows", 2) as step:
            rows = self._encode_training(X, y, sample_weight)
            step("encoded")
            statistics = self.count_rows(rows)
            step("counted")
            numbers = sketch_columns(rows.table.numbers, rows.row_weight) if self.keep_summary else ()
            self.fit_statistics(statistics, numbers)
        return self

    def fit_statistics(self, statistics: TableStatistics, numbers: tuple[NumberSketch, ...]) -> None:
        """Fit from statistics: set what follows from those of all rows.

        Parameters
        ----------
        numbers : tuple of NumberSketch
            One for each column of numbers, for the summary.
        """
        self.classes_declared_ = False
        self.statistics_ = statistics
        self.__dict__.pop("summary_", None)
        if self.keep_summary:
            self.summary_ = TrainingSummary.of_counted(statistics, numbers)
        self._derive()

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add the rows of one chunk; any number of chunks equals one ``fit`` on all rows.

        Later chunks may bring new categories, and new classes unless ``classes`` was given. Where numbers
        are cut into bins, the first chunk's cut points are kept. A chunk that is refused leaves the model
        as it was.

        Parameters
        ----------
        X : frame, array or list of rows
        y : array-like of shape (n_rows,)
        classes : array-like, default=None
            All classes that will ever come; None lets them be found. Only read by the first call.
        sample_weight : array-like of shape (n_rows,), default=None
        """
        self.check_parameters()
        with unchanged_on_failure(self):
            old = getattr(self, "statistics_", None)
            known = None if old is None else self.schema_
            if known is not None and known.missing != self.missing:
                raise InputError(
                    f"missing was {known.missing!r} in the first chunk and is {self.missing!r} now: all "
                    "chunks need one policy"
                )
            rows = self._encode_rows(X, y, sample_weight, known=known, chunk=True)
            if old is None:
                self.classes_declared_ = classes is not None
                self.classes_ = rows.classes if classes is None else encode_target(classes, "classes").classes
            every = self._all_classes(rows.classes)
            new = self.count_rows(rows).with_classes(np.searchsorted(every, rows.classes), every.tolist())
            if old is not None:
                new = old.with_classes(np.searchsorted(every, self.classes_), every.tolist()) + new
            self.classes_, self.statistics_, self.schema_ = every, new, new.schema
            self._summarise_counted(rows, None if old is None else getattr(self, "summary_", None))
            self._derive()
        return self

    def _summarise_counted(self, rows: TrainingSet, earlier: TrainingSummary | None) -> None:
        """Keep a summary made of the counts of all rows so far and of the numbers of all chunks."""
        self.__dict__.pop("summary_", None)
        if self.keep_summary:
            summary = TrainingSummary.of_statistics(self.statistics_, rows.table.numbers, rows.row_weight)
            if earlier is not None:
                numbers = tuple(a + b for a, b in zip(earlier.numbers, summary.numbers, strict=True))
                summary = replace(summary, numbers=numbers)
            self.summary_ = summary

    def _all_classes(self, chunk_classes: NDArray[Any]) -> NDArray[Any]:
        """Return the classes of all chunks so far, sorted; refuse one that was not declared."""
        if np.array_equal(chunk_classes, self.classes_):
            return self.classes_
        if isinstance(chunk_classes[0], str) != isinstance(self.classes_[0], str):
            raise InputError(
                f"labels were {self.classes_.tolist()} and now are {chunk_classes.tolist()}: numbers and "
                "text are different classes; give every chunk labels of one type"
            )
        foreign = np.setdiff1d(chunk_classes, self.classes_)
        if self.classes_declared_ and len(foreign):
            raise InputError(
                f"y contains {foreign.tolist()}, not among the declared classes {self.classes_.tolist()}: "
                "declare all classes in the first call, or leave classes out"
            )
        return np.union1d(self.classes_, chunk_classes)
