"""Counting of tuples for the generative models, whole tables or chunk by chunk."""

from __future__ import annotations

import numpy as np

from seminaive.errors import InputError
from seminaive.models.base import unchanged_on_failure
from seminaive.models.higher_order_base import check_order, cut_rule
from seminaive.models.higher_order_problem import terms_of_order
from seminaive.models.memory import refuse_beyond_memory
from seminaive.statistics import Moments, TableStatistics, TupleCounts, class_weights

ESTIMATES = ("m-estimate", "laplace")


class TupleCountingMixin:
    """``fit`` and ``partial_fit`` of a model that needs nothing but counts of tuples.

    The model says which orders it counts (``_counted_orders``) and what follows (``_derive``).
    """

    def fit(self, X, y, sample_weight=None):
        """Count the combinations of values in each class.

        Parameters
        ----------
        X : frame, array or list of rows
        y : array-like of shape (n_rows,)
            Class labels: text, whole numbers or booleans.
        sample_weight : array-like of shape (n_rows,), default=None
            How often each row counts.
        """
        self._check_parameters()
        with unchanged_on_failure(self):
            rows = self._encode_training(X, y, sample_weight, cut_rule=cut_rule(self.bins))
            self.classes_declared_ = False
            self.statistics_ = self._count(rows)
            self._derive()
        return self

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        """Add the rows of one chunk; chunks of categories equal one ``fit`` on all rows.

        Cut points of numbers are learned from the first chunk and kept. Later chunks may bring new
        categories, and new classes unless ``classes`` was given. A chunk that is refused leaves the model as
        it was.

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
            rows = self._encode_rows(
                X,
                y,
                sample_weight,
                cut_rule=cut_rule(self.bins),
                known=None if old is None else self.schema_,
                chunk=True,
            )
            if old is None:
                self.classes_declared_ = classes is not None
                self.classes_ = rows.classes if classes is None else np.unique(np.asarray(classes))
            every = self._all_classes(rows.classes)
            new = self._count(rows).with_classes(np.searchsorted(every, rows.classes), len(every))
            if old is not None:
                new = old.with_classes(np.searchsorted(every, self.classes_), len(every)) + new
            self.classes_, self.statistics_, self.schema_ = every, new, new.schema
            self._derive()
        return self

    def _count(self, rows):
        order, hierarchical = self._counted_orders()
        terms = terms_of_order(rows.table.cardinalities, order, hierarchical=hierarchical)
        refuse_beyond_memory(
            {
                f"{terms.n_cells:,} cells by {rows.n_classes} classes, counts and tables": 24
                * terms.n_cells
                * rows.n_classes
            },
            "lower the order, merge rare categories or drop columns",
        )
        return TableStatistics(
            rows.table.schema,
            class_weights(rows.labels, rows.n_classes, rows.row_weight),
            TupleCounts.of(rows.table.codes, rows.labels, terms, rows.n_classes, rows.row_weight),
            Moments.none(rows.table.numbers.shape[1], rows.n_classes),
        )

    def _all_classes(self, chunk_classes):
        """Return the classes of all chunks so far, sorted; refuse one that was not declared."""
        foreign = np.setdiff1d(chunk_classes, self.classes_)
        if self.classes_declared_ and len(foreign):
            raise InputError(
                f"y contains {foreign.tolist()}, not among the declared classes {self.classes_.tolist()}: "
                "declare all classes in the first call, or leave classes out"
            )
        return np.union1d(self.classes_, chunk_classes)

    def _check_parameters(self):
        check_order(self.order)
        if self.estimates not in ESTIMATES:
            raise InputError(f"estimates is one of {', '.join(ESTIMATES)}, got {self.estimates!r}")
        if not self.smoothing >= 0:
            raise InputError(f"smoothing is a count of rows, 0 or more, got {self.smoothing!r}")
