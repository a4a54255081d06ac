"""The penalised conditional log-likelihood of additive scores, on fused tables."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import TYPE_CHECKING, Literal, TypeVar

import numpy as np
from scipy.special import expit, softmax

from seminaive.design.gram import PairProducts

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from seminaive.design.fusion import FusedTerms

    Floats = NDArray[np.float64]

    Objective = Literal["log-likelihood", "squared-error"]

Result = TypeVar("Result")

# Rows that stay in the second-level cache from their scores to their residuals. The size is fixed, so that
# sums do not depend on the number of threads.
ROWS_AT_ONCE = 8192
# Groups are scattered to by fours, and by as many fours as stay in the second-level cache.
FOUR = 4
BYTES_AT_ONCE = 1 << 20


class ConditionalLoss:
    """The loss of a training table as a function of coefficients, and its gradient, in one pass.

    Coefficients are an array of one row for the intercept, one for each observed cell and one for each
    number; their columns are the classes or, for two classes, the single log-odds of class 1.

    Parameters
    ----------
    fused : FusedTerms
        The coded columns.
    numbers : ndarray of shape (n_rows, n_numbers)
        Numbers that enter linearly, without missing values.
    labels : ndarray of shape (n_rows,)
    row_weight : ndarray of shape (n_rows,)
    n_classes : int
    objective : {"log-likelihood", "squared-error"}
        The sum over rows of ``-log p_y``, or of half the squared distance of posterior and label.
    n_threads : int
        Threads; the result does not depend on their number.
    offset : ndarray of shape (n_rows, n_columns) or None
        Added to the scores.
    """

    def __init__(
        self,
        fused: FusedTerms,
        numbers: Floats,
        labels: NDArray[np.int64],
        row_weight: Floats,
        n_classes: int,
        *,
        objective: Objective = "log-likelihood",
        n_threads: int = 1,
        offset: Floats | None = None,
    ) -> None:
        self.fused = fused
        self.numbers = numbers
        self.labels = labels
        self.row_weight = row_weight
        self.n_classes = n_classes
        self.objective = objective
        self.n_threads = n_threads
        self.offset = offset
        self._allocate(1 if n_classes == 2 else n_classes)

    def _allocate(self, n_columns: int) -> None:
        """Make room for coefficients and scores of so many columns."""
        self.n_columns = n_columns
        self.shape = (1 + self.fused.n_parameters + self.numbers.shape[1], n_columns)
        padded = 1 if n_columns == 1 else -4 * (-n_columns // 4)
        self._linear = np.zeros((self.numbers.shape[1], padded))
        self._intercept = np.zeros(padded)
        self._parameters = np.zeros((self.fused.n_parameters, padded))
        self._tables = np.zeros((self.fused.n_fused_cells, padded))
        self._scores = np.zeros((len(self.labels), padded))

    def reweighted(self, row_weight: Floats) -> ConditionalLoss:
        """Return the loss of the same rows with other weights."""
        return ConditionalLoss(
            self.fused,
            self.numbers,
            self.labels,
            row_weight,
            self.n_classes,
            objective=self.objective,
            n_threads=self.n_threads,
            offset=self.offset,
        )

    def __call__(self, coefficients: Floats) -> tuple[float, Floats]:
        """Return the loss and its gradient, shaped like the coefficients."""
        self._unpack(coefficients)
        loss = sum(self._in_threads(self._residuals, self._blocks))
        return loss, self._collect(self.numbers)

    @property
    def _blocks(self) -> range:
        """The first rows of the blocks that are worked on at once."""
        return range(0, len(self._scores), ROWS_AT_ONCE)

    @property
    def _groups_at_once(self) -> int:
        """The groups that one call scatters to; the sums do not depend on it."""
        fours = -(-len(self.fused.cells) // FOUR)
        cached = BYTES_AT_ONCE * fours // max(self._tables.nbytes, 1)
        return FOUR * max(1, min(cached, -(-fours // self.n_threads)))

    def _collect(self, numbers: Floats | NDArray[np.float32]) -> Floats:
        """Return the sums of what stands in the scores' place over each coefficient's rows.

        ``numbers`` are those of the loss, perhaps of fewer digits.
        """
        from seminaive.kernels.fusion import scatter

        tables, parameters, scores = self._tables, self._parameters, self._scores
        tables[:] = 0.0
        cells = self.fused.cells
        at_once = self._groups_at_once
        self._in_threads(
            lambda g: scatter(cells, scores, g, min(g + at_once, len(cells)), tables),
            range(0, len(cells), at_once),
        )
        parameters[:] = 0.0
        self.fused.marginalise(tables, parameters)
        k = self.n_columns
        gradient = np.empty(self.shape)
        # Every row lies in one cell of each group, so one group's residuals are all rows'.
        every_row = tables[: self.fused.offsets[1]] if len(cells) else scores
        gradient[0] = (np.ones(len(every_row)) @ every_row)[:k]
        gradient[1 : 1 + len(parameters)] = parameters[:, :k]
        # This way round the product runs along the rows of both.
        gradient[1 + len(parameters) :] = np.matmul(scores.T.astype(numbers.dtype, copy=False), numbers).T[
            :, :k
        ]
        return gradient

    def scores(self, coefficients: Floats) -> Floats:
        """Return each training row's scores, one column per class or the single log-odds."""
        self._unpack(coefficients)
        self._in_threads(self._score, self._blocks)
        return self._scores[:, : self.n_columns].copy()

    def hessian(self, coefficients: Floats) -> Floats:
        """Return the matrix of second derivatives of the log loss, its coefficients flattened by rows.

        Between classes c and d it is a matrix of pair counts in which a row weighs
        ``w p_c (1[c = d] - p_d)``.
        """
        posterior = self.posterior(coefficients)
        products = self._products
        n_rows, k = self.shape
        hessian = np.empty((n_rows, k, n_rows, k))
        for c in range(k):
            for d in range(c + 1):
                curvature = posterior[:, c] * ((c == d) - posterior[:, d]) * self.row_weight
                hessian[:, c, :, d] = hessian[:, d, :, c] = products(curvature)
        return hessian.reshape(n_rows * k, n_rows * k)

    def posterior(self, coefficients: Floats) -> Floats:
        """Return each training row's probability of each class or, of two, of class 1."""
        scores = self.scores(coefficients)
        posterior: Floats = expit(scores) if self.n_columns == 1 else softmax(scores, axis=1)
        return posterior

    @cached_property
    def _products(self) -> PairProducts:
        """The products of all pairs of columns of the design."""
        return PairProducts(self.fused, self.numbers, range(sum(map(len, self.fused.group_terms))))

    def class_weights_of_cells(self) -> Floats:
        """Return the weight of each observed cell and class, (n_parameters, n_classes)."""
        from seminaive.kernels.fusion import scatter_classes

        tables = np.zeros((self.fused.n_fused_cells, -4 * (-self.n_classes // 4)))
        scatter_classes(self.fused.cells, self.labels, self.row_weight, tables)
        sums = np.zeros((self.fused.n_parameters, tables.shape[1]))
        self.fused.marginalise(tables, sums)
        return sums[:, : self.n_classes]

    def sums_of_cells(self, rows: Floats) -> Floats:
        """Return the sum over the rows of each observed cell, (n_parameters, columns of ``rows``)."""
        from seminaive.kernels.fusion import scatter

        k = rows.shape[1]
        padded = np.zeros((len(rows), -4 * (-k // 4)))
        padded[:, :k] = rows
        tables = np.zeros((self.fused.n_fused_cells, padded.shape[1]))
        scatter(self.fused.cells, padded, 0, len(self.fused.cells), tables)
        sums = np.zeros((self.fused.n_parameters, padded.shape[1]))
        self.fused.marginalise(tables, sums)
        return sums[:, :k]

    def _unpack(self, coefficients: Floats) -> None:
        """Fill the fused tables and the other coefficients, padded."""
        k, m = self.n_columns, self.fused.n_parameters
        self._intercept[:k] = coefficients[0]
        self._parameters[:, :k] = coefficients[1 : 1 + m]
        self._linear[:, :k] = coefficients[1 + m :]
        self.fused.expand(self._parameters, self._tables)
        if len(self.fused.cells):
            # Every row lies in one cell of the first group, which so carries the intercept.
            self._tables[: self.fused.offsets[1]] += self._intercept

    def _score(self, start: int) -> float:
        """Fill in the scores of the rows from start on."""
        self._add_up(start, self.numbers)
        if self.offset is not None:
            rows = slice(start, start + ROWS_AT_ONCE)
            self._scores[rows, : self.n_columns] += self.offset[rows]
        return 0.0

    def _add_up(self, start: int, numbers: Floats | NDArray[np.float32]) -> float:
        """Fill in the sums of the coefficients of the rows from start on."""
        from seminaive.kernels.fusion import gather

        stop = min(start + ROWS_AT_ONCE, len(self._scores))
        own = self._scores[start:stop]
        base = np.zeros((1, own.shape[1]))
        if numbers.shape[1]:
            np.matmul(numbers[start:stop], self._linear.astype(numbers.dtype, copy=False), out=own)
            base = self._scores
        if len(self.fused.cells):
            gather(self.fused.cells, self._tables, base, start, stop, self._scores)
        else:
            np.add(base[start:stop] if numbers.shape[1] else base, self._intercept, out=own)
        return 0.0

    def _residuals(self, start: int) -> float:
        """Turn the rows from start on into residuals, and return their loss."""
        self._score(start)
        rows = slice(start, start + ROWS_AT_ONCE)
        return self._replace_by_residuals(self._scores[rows], self.labels[rows], self.row_weight[rows])

    def _replace_by_residuals(self, own: Floats, labels: NDArray[np.int64], weights: Floats) -> float:
        """Turn the scores of some rows into residuals, and return their loss."""
        from seminaive.kernels import losses

        likelihood = self.objective == "log-likelihood"
        if self.n_classes == 2:
            binary = losses.binary_log_loss_residuals if likelihood else losses.binary_squared_error_residuals
            return float(binary(own[:, 0], labels, weights))
        multiclass = losses.log_loss_residuals if likelihood else losses.squared_error_residuals
        return float(multiclass(own, labels, weights, self.n_classes))

    def _in_threads(self, work: Callable[[int], Result], starts: range) -> list[Result]:
        """Do the pieces of work, and return what they return, in order."""
        if self.n_threads == 1 or len(starts) == 1:
            return [work(start) for start in starts]
        with ThreadPoolExecutor(self.n_threads) as pool:
            return list(pool.map(work, starts))
