"""Models that need nothing but statistics: one pass over a table, or chunk by chunk."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np

from seminaive.encode import encode_target
from seminaive.errors import InputError
from seminaive.models.base import unchanged_on_failure
from seminaive.models.fitted_checks import check_statistics
from seminaive.models.parameters import check_choice, check_number
from seminaive.statistics import TableStatistics, Terms, TrainingSummary
from seminaive.statistics.number_sketch import sketch_columns
from seminaive.statistics.sizes import table_parts


def check_generative_parameters(model):
    """Refuse a smoothing, a floor of the variances or a kind of variances that naive Bayes cannot use."""
    check_number("smoothing", model.smoothing, "a number of rows, 0 or more", low=0)
    meaning = "a share, more than 0, at most 1"
    check_number("variance_floor", model.variance_floor, meaning, low=0, high=1, above=True)
    check_choice("variances", model.variances, ("pooled", "class"))


class GenerativeMixin:
    """``fit`` and ``partial_fit`` of a purely generative model.

    The model checks its parameters (``_check_parameters``), sums up rows (``_count``, into
    ``statistics_``), derives from them what it predicts by (``_derive``), and may cut numbers into bins
    (``_cut_rule``). A model file holds the statistics, of which the rest is derived again.
    """

    _fitted: ClassVar[dict[str, type]] = {"classes_declared_": bool, "statistics_": TableStatistics}
    _derived: ClassVar[tuple[str, ...]] = ("scores_", "tables_")
    _one_pass: ClassVar[bool] = True

    def _restore(self, most_bytes):
        """Check the statistics that a file holds, then derive the tables."""
        self._check_shared_parameters()
        self._check_parameters()
        check_statistics(self.statistics_, self.schema_, len(self.classes_))
        if self.statistics_.classes not in (None, tuple(self.classes_.tolist())):
            raise ValueError("the statistics are of other classes")
        if self.statistics_.counts.terms != self._counted_terms():
            raise ValueError("the statistics count other tuples than the model needs")
        if sum(self._memory_parts(self.schema_.cardinalities, len(self.classes_)).values()) > most_bytes:
            raise ValueError(
                "its tables take more memory than allowed: pass a larger max_bytes to load_model"
            )
        self._derive()
        self._check_consistent()

    def _counted_terms(self):
        """Return the terms that the statistics count: single columns."""
        return Terms.singles(self.schema_.cardinalities)

    def _memory_parts(self, cardinalities, n_classes):
        """Return what the fit takes, in bytes: counts, the work on them, and tables."""
        return table_parts(cardinalities, 1, n_classes, copies=4)

    def _cut_rule(self):
        """Return the rule that cuts numbers, or None where they stay numbers."""
        return

    def fit(self, X, y, sample_weight=None):
        """Count the values, and sum up the numbers, of each class.

        Parameters
        ----------
        X : frame, array or list of rows
        y : array-like of shape (n_rows,)
            Class labels: text, whole numbers or booleans.
        sample_weight : array-like of shape (n_rows,), default=None
            How often each row counts.
        """
        self._check_shared_parameters()
        self._check_parameters()
        with unchanged_on_failure(self), self._progress("passes over the rows", 2) as step:
            rows = self._encode_training(X, y, sample_weight, cut_rule=self._cut_rule())
            step("encoded")
            statistics = self._count(rows)
            step("counted")
            numbers = sketch_columns(rows.table.numbers, rows.row_weight) if self.keep_summary else ()
            self._fit_statistics(statistics, numbers)
        return self

    def _fit_statistics(self, statistics, numbers):
        """Set what follows from the statistics of all rows, and from sketches of their numbers."""
        self.classes_declared_ = False
        self.statistics_ = statistics
        vars(self).pop("summary_", None)
        if self.keep_summary:
            self.summary_ = TrainingSummary.of_counted(statistics, numbers)
        self._derive()

    def partial_fit(self, X, y, classes=None, sample_weight=None):
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
        self._check_parameters()
        with unchanged_on_failure(self):
            old = getattr(self, "statistics_", None)
            known = None if old is None else self.schema_
            if known is not None and known.missing != self.missing:
                raise InputError(
                    f"missing was {known.missing!r} in the first chunk and is {self.missing!r} now: all "
                    "chunks need one policy"
                )
            rows = self._encode_rows(X, y, sample_weight, cut_rule=self._cut_rule(), known=known, chunk=True)
            if old is None:
                self.classes_declared_ = classes is not None
                self.classes_ = rows.classes if classes is None else encode_target(classes, "classes").classes
            every = self._all_classes(rows.classes)
            new = self._count(rows).with_classes(np.searchsorted(every, rows.classes), every.tolist())
            if old is not None:
                new = old.with_classes(np.searchsorted(every, self.classes_), every.tolist()) + new
            self.classes_, self.statistics_, self.schema_ = every, new, new.schema
            self._summarise_counted(rows, None if old is None else getattr(self, "summary_", None))
            self._derive()
        return self

    def _summarise_counted(self, rows, earlier):
        """Keep a summary made of the counts of all rows so far and of the numbers of all chunks."""
        vars(self).pop("summary_", None)
        if self.keep_summary:
            summary = TrainingSummary.of_statistics(self.statistics_, rows.table.numbers, rows.row_weight)
            if earlier is not None:
                numbers = tuple(a + b for a, b in zip(earlier.numbers, summary.numbers, strict=True))
                summary = replace(summary, numbers=numbers)
            self.summary_ = summary

    def _all_classes(self, chunk_classes):
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
