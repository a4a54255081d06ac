"""Higher-order models that learn from a stream, one stochastic gradient step per row."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from seminaive.design.coefficients import Coefficients, GenerativeEstimate
from seminaive.design.table_design import standardised, terms_of_order
from seminaive.encode import EncodedTable
from seminaive.errors import InputError
from seminaive.memory import refuse_beyond_memory
from seminaive.models.base import unchanged_on_failure
from seminaive.models.fitted_checks import check_finite, check_observed_statistics
from seminaive.models.higher_order_base import CERTIFICATES, HigherOrderClassifier
from seminaive.solvers.result import MAX_ITER, TOL
from seminaive.solvers.search_coordinates import scale_of
from seminaive.solvers.stochastic_gradient import RowSteps, relative_scale
from seminaive.statistics import ObservedCounts, ObservedStatistics, TrainingSummary, class_weights
from seminaive.statistics.sizes import stream_parts

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import NDArray

    from seminaive.arrays import Floats, Indices
    from seminaive.encode import Schema
    from seminaive.models.training_set import TrainingSet


@dataclass(eq=False, repr=False)
class StreamingClassifier(HigherOrderClassifier):
    """``partial_fit`` of a model over tuples, by stochastic gradient descent in its scaled search space.

    The counts of all rows so far give the generative estimate, and with it the scale of the search and the
    penalty with its target, as in ``fit``. The penalty of a coefficient is spread over the rows that visit
    it.

    Parameters
    ----------
    solver : {"lbfgs", "newton", "sgd"}, default="lbfgs"
        Quasi-Newton, Newton (a few thousand coefficients at most, then by far the fastest), or stochastic
        gradient descent in epochs.
    bins : "mdl" or int, default="mdl"
        How numbers are cut into intervals: where the classes change, by minimum description length, or
        into that number of intervals with equally many rows.
    tol : float, default=1e-3
        Where the fit stops: its square is the share of the penalised loss by which it may exceed its minimum,
        a millionth by default. For another loss than the log likelihood, and with ``solver="sgd"``, the norm
        of the gradient at which to stop, relative to that at the start.
    max_iter : int, default=1000
        Iterations, or epochs of stochastic descent.
    n_jobs : int, default=None
        Threads; results do not depend on it.
    random_state : int, RandomState or None, default=None
        The order of rows in stochastic descent; nothing else is random.

    Attributes
    ----------
    objective_ : float
        The penalised loss at the solution.
    gradient_norm_ : float
        How close to the optimum the fit ended (its certificate), on the scale of ``tol``.
    n_iter_ : int
    passes_ : int
        Passes over all rows; counting pairs for the scaling is one of them.
    history_ : ndarray of shape (passes_,)
        Lowest objective after each pass.
    """

    statistics_: ObservedStatistics = field(init=False)
    coefficients_: Floats = field(init=False)
    squares_: Floats = field(init=False)
    centres_: Floats = field(init=False)
    spreads_: Floats = field(init=False)

    order: int = 2
    _: KW_ONLY
    ridge: Any = 1.0
    hierarchical: bool = False
    scaling: str = "curvature"
    start: Any = "zero"
    solver: str = "lbfgs"
    bins: Any = "mdl"
    tol: float = TOL
    max_iter: int = MAX_ITER
    n_jobs: int | None = None
    random_state: Any = None

    _fitted: ClassVar[dict[str, Any]] = {
        "statistics_": ObservedStatistics,
        "coefficients_": np.ndarray,
        "squares_": np.ndarray,
        "centres_": np.ndarray,
        "spreads_": np.ndarray,
    }

    def _check_consistent(self) -> None:
        """Refuse the state of a stream, read from a file, that the next chunk could not continue."""
        super()._check_consistent()
        if not hasattr(self, "statistics_"):
            return
        check_observed_statistics(self.statistics_, self.schema_, len(self.classes_))
        terms = self.statistics_.counts.terms
        expected = terms_of_order(self.schema_.cardinalities, self.order, hierarchical=self.hierarchical)
        n_numbers = len(self.schema_.numeric) if self.hierarchical else 0
        n_columns = 1 if len(self.classes_) == 2 else len(self.classes_)
        shape = (1 + len(self.statistics_.counts.cells) + n_numbers, n_columns)
        for array, expected_shape in (
            (self.coefficients_, shape),
            (self.squares_, shape),
            (self.centres_, (n_numbers,)),
            (self.spreads_, (n_numbers,)),
        ):
            if array.shape != expected_shape or array.dtype != np.float64 or terms != expected:
                raise ValueError("the state of the stream does not fit the schema")
            check_finite(array, "the state of the stream")
        if (self.squares_ < 0).any() or (self.spreads_ <= 0).any():
            raise ValueError("a squared gradient is negative, or a spread is not positive")

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Take one stochastic gradient step for each row of a chunk, in the order of the rows.

        Cut points of numbers, and their mean and spread, are learned from the first chunk and kept. Later
        chunks may bring new categories.

        Parameters
        ----------
        X : frame, array or list of rows
        y : array-like of shape (n_rows,)
        classes : array-like, default=None
            All classes that will ever come; required in the first call, and only read there. After a
            ``fit``, from which a stream begins anew, they are its classes.
        sample_weight : array-like of shape (n_rows,), default=None
        """
        self.check_parameters()
        if self.row_loss != "log-likelihood":
            raise InputError(
                f"partial_fit minimises the log loss, which {type(self).__name__} does not: call fit"
            )
        if self.start != "zero":
            raise InputError(
                "a stream starts from zero, since there are no counts before its first row: set start='zero'"
            )
        with unchanged_on_failure(self):
            old = getattr(self, "statistics_", None)
            known = None if old is None else self.schema_
            rows = self._encode_rows(X, y, sample_weight, known=known, chunk=True)
            if old is None:
                self._begin_stream(rows, classes)
            foreign = np.setdiff1d(rows.classes, self.classes_)
            if len(foreign):
                raise InputError(
                    f"y contains {foreign.tolist()}, not among the classes {self.classes_.tolist()} of the "
                    "first call: name all classes there"
                )
            labels = np.searchsorted(self.classes_, rows.classes)[rows.labels]
            self._take_chunk(rows, labels, old)
        return self

    def _begin_stream(self, rows: TrainingSet, classes: Any) -> None:
        if classes is None and hasattr(self, "classes_"):
            classes = self.classes_
        if classes is None:
            raise InputError("the first call of partial_fit needs classes, all labels that will ever come")
        self.classes_ = np.unique(np.asarray(classes))
        if len(self.classes_) < 2:
            raise InputError(f"one class only: {self.classes_.tolist()}. A classifier needs at least two")
        self._forget(CERTIFICATES)
        _, self.centres_, self.spreads_ = standardised(
            rows.table.numbers, rows.weights, wanted=self.hierarchical
        )

    def _take_chunk(self, rows: TrainingSet, labels: Indices, old: ObservedStatistics | None) -> None:
        n_classes = len(self.classes_)
        table, weights = rows.table, rows.row_weight
        terms = terms_of_order(table.cardinalities, self.order, hierarchical=self.hierarchical)
        known = 0 if old is None else len(old.counts.cells)
        refuse_beyond_memory(
            stream_parts(terms, known, len(labels), n_classes),
            "lower the order, merge rare categories, drop columns or take smaller chunks",
        )
        new = ObservedStatistics(
            table.schema,
            class_weights(labels, n_classes, weights),
            ObservedCounts.of(table.codes, labels, terms, n_classes, weights),
        )
        total = new if old is None else old + new
        observed = Coefficients(
            total.counts.terms, total.counts.cells, self.centres_, self.spreads_, n_classes
        )
        estimate = GenerativeEstimate(observed, total.counts.counts, total.class_weight)
        self.coefficients_, self.squares_ = self._coefficients_under(total, old, len(observed))
        codes = _recoded(table.codes, table.schema, total.schema)
        numbers = np.empty((len(labels), 0))
        if len(self.centres_):
            numbers = np.nan_to_num((table.numbers - self.centres_) / self.spreads_)
        self._row_steps(estimate).take(codes, numbers, labels, rows.weights)
        self.statistics_, self.schema_ = total, total.schema
        self._read(estimate, self.coefficients_)
        recoded = EncodedTable(codes, table.numbers, total.schema)
        # A class that is still to come counts as one row: its share is not yet known, and is not 0.
        self.attenuate(replace(rows, table=recoded), np.maximum(total.class_weight, total.class_weight == 0))
        self._summarise_chunk(rows, labels, estimate, first=old is None)

    def _summarise_chunk(
        self, rows: TrainingSet, labels: Indices, estimate: GenerativeEstimate, *, first: bool
    ) -> None:
        """Keep a summary of all chunks so far."""
        earlier = None if first else getattr(self, "summary_", None)
        self.__dict__.pop("summary_", None)
        if self.keep_summary:
            summary = TrainingSummary.of(
                rows.table, labels, len(self.classes_), rows.row_weight, classes=self.classes_.tolist()
            )
            if earlier is not None:
                summary = replace(earlier, tuples=None) + summary
            self.summary_ = replace(summary, tuples=estimate.tuple_weights())

    def _coefficients_under(
        self, total: ObservedStatistics, old: ObservedStatistics | None, n_coefficients: int
    ) -> Floats:
        """Return the coefficients and their squared gradients under the codes of all chunks so far."""
        n_columns = 1 if len(self.classes_) == 2 else len(self.classes_)
        if old is None:
            return np.zeros((2, n_coefficients, n_columns))
        cells = old.counts.recoded(old.schema.moves_to(total.schema), total.schema.cardinalities).cells
        numbers = np.arange(n_coefficients - len(self.centres_), n_coefficients)
        places = np.concatenate([[0], 1 + np.searchsorted(total.counts.cells, cells), numbers])
        moved = np.zeros((2, n_coefficients, n_columns))
        moved[:, places] = self.coefficients_, self.squares_
        return moved

    def _row_steps(self, estimate: GenerativeEstimate) -> RowSteps:
        """Return the stochastic search: scale, penalty and target from the counts so far."""
        ridge, visits = self.ridge_penalty(estimate), estimate.visits[:, None]
        variance = (1 - 1 / len(self.classes_)) / len(self.classes_)
        scale = scale_of(self.scaling, variance * visits, ridge.strength, estimate)
        scale[visits[:, 0] == 0] = 0.0
        shape = self.coefficients_.shape
        return RowSteps(
            estimate.coefficients,
            np.broadcast_to(ridge.strength / np.maximum(visits, 1.0), shape).copy(),
            np.broadcast_to(ridge.target, shape).copy(),
            relative_scale(scale),
            self.coefficients_,
            self.squares_,
        )


def _recoded(codes: NDArray[Any], schema: Schema, larger: Schema) -> NDArray[Any]:
    """Return codes of one schema as codes of a larger one."""
    if schema == larger:
        return codes
    recoded = np.empty(codes.shape, dtype=larger.code_type)
    moves = schema.moves_to(larger)
    for j, (move, cardinality) in enumerate(zip(moves, larger.cardinalities, strict=True)):
        recoded[:, j] = np.append(move, cardinality)[codes[:, j]]
    return recoded
