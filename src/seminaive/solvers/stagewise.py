"""Greedy searches on the training error: forward stagewise, forward selection and backward elimination.

Vidaurre, Bielza and Larranaga, "Forward stagewise naive Bayes". A candidate changes one feature's alpha and
costs rows x classes, because the scores of all rows are kept and only that feature's contribution changes.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from seminaive.memory import refuse_beyond_memory
from seminaive.objective.log_loss import log_losses, zero_one_losses
from seminaive.solvers.alpha_path import AlphaPath

if TYPE_CHECKING:
    from seminaive.arrays import Floats, Integers
    from seminaive.encode import EncodedTable
    from seminaive.scores import Interpolation

    Ties = Literal["first", "last"]

# Rows times features from which several threads pay for themselves.
THREADED_CELLS = 100_000


@dataclass(frozen=True)
class GridSettings:
    """How a search moves on the grid of alphas.

    Parameters
    ----------
    n_intervals : int
        Grid positions are 0, 1, ..., n_intervals; alpha is the position over ``n_intervals``.
    order : ndarray of shape (n_features,)
        The features in the order in which ties are broken.
    ties : {"first", "last"}
        Whether the first or the last feature of ``order`` wins a tie. Of equal positions of one feature the
        farthest wins.
    n_threads : int
        Threads that evaluate features side by side; the result does not depend on it.
    """

    n_intervals: int
    order: Integers
    ties: Ties = "first"
    n_threads: int = 1


class GridSearch:
    """Training rows with their current scores, and every feature's contribution at every grid position.

    A feature without information, such as a constant one, stays at 0: no position of it changes any score.

    Parameters
    ----------
    labels : ndarray of shape (n_rows,)
    row_weight : ndarray of shape (n_rows,) or None
    start : int
        Grid position at which features begin.
    """

    def __init__(
        self,
        interpolation: Interpolation,
        table: EncodedTable,
        labels: Integers,
        row_weight: Floats | None,
        settings: GridSettings,
        start: int = 0,
    ) -> None:
        n_classes, n_positions = interpolation.n_classes, settings.n_intervals + 1
        n_cells = interpolation.terms.n_cells
        refuse_beyond_memory(
            {
                f"{n_cells:,} cells by {n_classes} classes at {n_positions} alphas": 24
                * n_cells
                * n_classes
                * n_positions,
                f"{table.numbers.size:,} numbers": 16 * table.numbers.size,
            },
            "merge rare categories or take larger steps",
        )
        self.settings = settings
        self.features = settings.order[interpolation.is_informative[settings.order]]
        by_class = np.argsort(labels, kind="stable")
        self._labels = labels[by_class]
        self._starts = np.searchsorted(self._labels, np.arange(n_classes + 1))
        self._weights = np.ones(len(labels)) if row_weight is None else row_weight[by_class]
        self.total_weight = float(self._weights.sum())
        self._cells = np.ascontiguousarray(table.codes[by_class].T, dtype=np.int32)
        self._offsets = interpolation.terms.offsets
        self._z = np.ascontiguousarray(interpolation.normal.deviations(table.numbers[by_class]).T)
        grid = np.arange(n_positions) / settings.n_intervals
        tables = interpolation.tables_at(np.broadcast_to(grid[:, None], (n_positions, n_cells)))
        self._tables = np.ascontiguousarray(tables.transpose(1, 2, 0))
        n_numbers = len(self._z)
        polynomials = interpolation.polynomials_at(np.broadcast_to(grid[:, None], (n_positions, n_numbers)))
        self._polynomials = np.ascontiguousarray(polynomials.transpose(1, 2, 3, 0))
        n_features = len(self._cells) + n_numbers
        self._scores = np.tile(interpolation.prior, (len(labels), 1))
        self.positions = np.zeros(n_features, dtype=np.int64)
        for feature in self.features.tolist() if start else ():
            self.move(feature, start)
        self.n_evaluations = 0
        self._records: list[tuple[Integers, float, float]] = []
        self.record()

    @property
    def error(self) -> float:
        """Return the share of misclassified weight of the last step that was recorded."""
        return self._records[-1][1]

    def record(self) -> None:
        """Append the present positions to the path."""
        errors = zero_one_losses(self._scores, self._labels)
        losses = log_losses(self._scores, self._labels)
        sums = np.array([self._weights @ errors, 2 * (self._weights @ losses)]) / self.total_weight
        self._records.append((self.positions.copy(), *sums.tolist()))

    def path(self) -> AlphaPath:
        """Return all steps that were recorded."""
        positions, errors, deviances = zip(*self._records, strict=True)
        return AlphaPath(
            np.array(positions) / self.settings.n_intervals,
            np.array(errors),
            np.array(deviances),
            self.total_weight,
            self.n_evaluations,
        )

    def move(self, feature: int, position: int) -> None:
        """Set one feature to a grid position and update the scores."""
        from seminaive.kernels.stagewise_errors import move_number, move_table

        now, n_tables = int(self.positions[feature]), len(self._cells)
        if feature < n_tables:
            cells = slice(self._offsets[feature], self._offsets[feature + 1])
            move_table(self._cells[feature], self._tables[cells], now, position, self._scores)
        else:
            number = feature - n_tables
            move_number(self._z[number], self._polynomials[number], now, position, self._scores)
        self.positions[feature] = position

    def best_candidate(self, first: Integers, last: Integers) -> tuple[int, int, float]:
        """Return feature, grid position and training error of the best candidate.

        Feature j is tried at the positions ``first[j]`` to ``last[j]``, and not at all where that is empty.
        """
        tried = self.features[last[self.features] >= first[self.features]]
        errors = self._errors(tried, first, last)
        self.n_evaluations += int((last - first + 1)[tried].sum())
        least = errors.min()
        candidates = np.flatnonzero((errors == least).any(axis=1))
        chosen = candidates[0 if self.settings.ties == "first" else -1]
        feature = int(tried[chosen])
        farthest = int(np.flatnonzero(errors[chosen] == least)[-1])
        return feature, int(first[feature]) + farthest, float(least) / self.total_weight

    def _errors(self, tried: Integers, first: Integers, last: Integers) -> Floats:
        from seminaive.kernels.stagewise_errors import candidate_errors

        errors = np.empty((len(tried), int((last - first)[tried].max()) + 1))
        now = self.positions

        def evaluate(part: slice) -> None:
            candidate_errors(
                tried[part],
                now,
                first,
                last,
                self._cells,
                self._offsets,
                self._tables,
                self._z,
                self._polynomials,
                self._scores,
                self._starts,
                self._weights,
                errors[part],
            )

        n_threads = min(self.settings.n_threads, len(tried))
        if n_threads > 1 and len(self._scores) * len(tried) >= THREADED_CELLS:
            bounds = np.linspace(0, len(tried), n_threads + 1).astype(int)
            with ThreadPoolExecutor(n_threads) as pool:
                list(pool.map(evaluate, map(slice, bounds[:-1], bounds[1:])))
        else:
            evaluate(slice(None))
        return errors


def stagewise_path(
    interpolation: Interpolation,
    table: EncodedTable,
    labels: Integers,
    row_weight: Floats | None,
    settings: GridSettings,
    *,
    look_ahead: int,
    patience: int | None,
) -> AlphaPath:
    """Return the path of forward stagewise naive Bayes (Algorithm 1), from all alphas at 0.

    Each step raises the alpha of one feature by up to ``look_ahead`` grid positions: the feature and the
    position of least training error, also where the error does not fall. The search ends when all alphas are
    1, or after ``patience`` steps without a training error below all earlier ones.
    """
    search = GridSearch(interpolation, table, labels, row_weight, settings)
    lowest, stale = search.error, 0
    while (search.positions[search.features] < settings.n_intervals).any():
        last = np.minimum(search.positions + look_ahead, settings.n_intervals)
        feature, position, error = search.best_candidate(search.positions + 1, last)
        search.move(feature, position)
        search.record()
        stale = 0 if error < lowest else stale + 1
        lowest = min(lowest, error)
        if patience is not None and stale >= patience:
            break
    return search.path()


def forward_selection(
    interpolation: Interpolation,
    table: EncodedTable,
    labels: Integers,
    row_weight: Floats | None,
    settings: GridSettings,
) -> AlphaPath:
    """Return the path of selective naive Bayes: add the best feature as long as the training error falls."""
    search = GridSearch(interpolation, table, labels, row_weight, settings)
    end = np.full(interpolation.n_features, settings.n_intervals)
    while (search.positions < end)[search.features].any():
        first = np.where(search.positions < end, end, end + 1)
        feature, position, error = search.best_candidate(first, end)
        if error >= search.error:
            break
        search.move(feature, position)
        search.record()
    return search.path()


def backward_elimination(
    interpolation: Interpolation,
    table: EncodedTable,
    labels: Integers,
    row_weight: Floats | None,
    settings: GridSettings,
) -> AlphaPath:
    """Return the path from naive Bayes down: drop the most dispensable feature while no error is added."""
    search = GridSearch(interpolation, table, labels, row_weight, settings, start=settings.n_intervals)
    zero = np.zeros(interpolation.n_features, dtype=np.int64)
    while (search.positions > 0).any():
        feature, position, error = search.best_candidate(np.where(search.positions > 0, 0, 1), zero)
        if error > search.error:
            break
        search.move(feature, position)
        search.record()
    return search.path()
