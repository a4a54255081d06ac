"""Multinomial group lasso on category codes, for several completed tables at once.

A label given the columns of a table is a softmax regression; the coefficients of one column, over its levels,
the labels and all tables, are one group. For D tables of weight N each the objective is

    NLL / (N D) + strength / D * sum_j sqrt(df_j D) |B_j|,   df_j = (levels_j - 1) (labels - 1),

so that D copies of one table have the solution of one. Intercepts are free. Every level and every label has a
coefficient: at the minimum those of a group add up to zero over its levels and over the labels (symmetric
coding). Columns are category codes throughout; rows with equal codes are one row with a weight per label.

Proximal Newton steps: the quadratic model takes the Hessian of the log loss of each table, and is minimised
group by group over the active groups. Its coordinates are K - 1 orthogonal directions of the label space;
where there are many, second derivatives between two of them are left out. A line search on the objective
makes each step a descent, and a duality gap tells when to stop.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from seminaive.design.rounding import ROUNDING
from seminaive.memory import refuse_beyond_memory
from seminaive.solvers.line_search import backtrack
from seminaive.solvers.result import MAX_ITER, TOL
from seminaive.statistics.distinct import distinct_rows
from seminaive.structure.group_norm import GroupNorm
from seminaive.structure.label_directions import block_eigenvalues, from_blocks, label_directions, to_blocks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from seminaive.arrays import Codes, Floats, Integers


# Decrease of the quadratic model in one sweep over the groups, as a share of the first sweep's, at which the
# next Newton step pays more; and the sweeps after which it is taken in any case.
SWEEP_TOL, MOST_SWEEPS = 1e-4, 500
# Coordinates up to which the model has second derivatives between the directions of the label space, of all
# groups and of one, whose block of second derivatives is decomposed in every step. Both models have the same
# minimum.
MOST_JOINT, MOST_BLOCK = 600, 40


@dataclass(frozen=True)
class LabelCounts:
    """One table: its distinct rows of codes, with the weight of each label.

    Parameters
    ----------
    cells : ndarray of shape (n_distinct, n_columns), int32
        Each code as a position in the stacked levels of all columns.
    counts : ndarray of shape (n_distinct, n_labels)
    """

    cells: NDArray[np.int32]
    counts: Floats

    @classmethod
    def of(
        cls,
        codes: Codes,
        labels: NDArray[np.integer],
        cardinalities: Sequence[int],
        n_labels: int,
        row_weight: Floats | None = None,
    ) -> LabelCounts:
        """Merge rows of equal codes; no code is missing."""
        distinct, inverse = distinct_rows(codes, cardinalities)
        cell = inverse * n_labels + labels
        counts = np.bincount(cell, row_weight, minlength=len(distinct) * n_labels).astype(np.float64)
        offsets = np.concatenate([[0], np.cumsum(cardinalities)[:-1]]) if len(cardinalities) else np.zeros(0)
        cells = np.ascontiguousarray(distinct + offsets.astype(np.int64), dtype=np.int32)
        return cls(cells, counts.reshape(-1, n_labels))

    @property
    def n_bytes(self) -> int:
        """Return the memory that it takes."""
        return self.cells.nbytes + self.counts.nbytes


@dataclass(frozen=True)
class GroupSolution:
    """A solution at one strength.

    Parameters
    ----------
    coefficients : ndarray of shape (n_tables, n_cells, n_labels)
        Those of each table; a row per level, the levels of all columns stacked.
    intercepts : ndarray of shape (n_tables, n_labels)
    gap : float
        Duality gap, as a share of the objective.
    n_iter : int
        Newton steps.
    """

    strength: float
    coefficients: Floats
    intercepts: Floats
    objective: float
    gap: float
    n_iter: int


class GroupLassoProblem:
    """The group lasso of a label on the columns of one or several completed tables.

    Parameters
    ----------
    tables : sequence of LabelCounts
        Of equal total weight. Every label occurs in every table.
    cardinalities : sequence of int
        Levels of each column.

    Examples
    --------
    A column that says nothing about the label has no coefficient:

    >>> codes = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 10)
    >>> labels = np.array([0, 0, 0, 1] * 5 + [0, 1, 1, 1] * 5)
    >>> table = LabelCounts.of(codes[:, :1], labels, (2,), 2)
    >>> problem = GroupLassoProblem([table], (2,))
    >>> problem.solve(problem.largest_strength).coefficients.any()
    np.False_
    """

    def __init__(self, tables: Sequence[LabelCounts], cardinalities: Sequence[int]) -> None:
        self.tables = tuple(tables)
        self.n_labels = self.tables[0].counts.shape[1]
        self.starts = np.concatenate([[0], np.cumsum(np.asarray(cardinalities, dtype=np.int64))])
        self.weight = float(self.tables[0].counts.sum())
        degrees = (np.diff(self.starts) - 1) * (self.n_labels - 1)
        # A column of one level has none, and no gradient but rounding either.
        self.factors = np.sqrt(np.maximum(degrees, 1) / len(self.tables))
        shares = np.array([table.counts.sum(axis=0) for table in self.tables]) / self.weight
        self.null_intercepts = np.log(shares)
        self.null_loss = float(-np.sum(shares * self.null_intercepts) / len(self.tables))
        self.basis = label_directions(shares.mean(axis=0))
        zero = np.zeros((len(self.tables), int(self.starts[-1]), self.n_labels))
        self.null = GroupSolution(np.inf, zero, self.null_intercepts, self.null_loss, 0.0, 0)
        derivatives = self._loss_and_gradient(zero, self.null_intercepts)[1]
        entry = GroupNorm(self.starts, self.factors).norms(derivatives) / self.factors
        # Columns that are independent of the label in the table have no derivative but rounding.
        self.entry_strengths = np.where(entry > ROUNDING, entry, 0.0)

    @property
    def largest_strength(self) -> float:
        """Return the strength from which on no column has a coefficient."""
        return float(self.entry_strengths.max(initial=0.0))

    def norm_at(self, strength: float) -> GroupNorm:
        """Return the penalty at one strength."""
        return GroupNorm(self.starts, strength * self.factors)

    def path(
        self, strengths: Sequence[float] | Floats, *, tol: float = TOL**2, max_iter: int = MAX_ITER
    ) -> list[GroupSolution]:
        """Return the solutions at some strengths, each started from the one before."""
        found, start = [], self.null
        for strength in strengths:
            start = self.solve(float(strength), start, tol=tol, max_iter=max_iter)
            found.append(start)
        return found

    def solve(
        self,
        strength: float,
        start: GroupSolution | None = None,
        *,
        tol: float = TOL**2,
        max_iter: int = MAX_ITER,
    ) -> GroupSolution:
        """Return the solution at one strength.

        Parameters
        ----------
        start : GroupSolution, default=None
            Where to start; the intercepts alone by default.
        tol : float, default=1e-6
            Duality gap at which to stop, as a share of the objective.
        max_iter : int, default=1000
            Newton steps.
        """
        norm = self.norm_at(strength)
        if strength >= self.largest_strength:
            return GroupSolution(
                strength, self.null.coefficients, self.null_intercepts, self.null_loss, 0.0, 0
            )
        start = start or self.null
        state = self._state(start.coefficients, start.intercepts, norm)
        gap = self._gap(state, norm)
        n_iter = 0
        while gap > (target := max(tol * state.objective, ROUNDING * self.null_loss)) and n_iter < max_iter:
            n_iter += 1
            moved, promised = self._newton_step(state, norm)
            if moved is None:
                gap = self._gap(state, norm)
                break
            state = moved
            if promised <= target or n_iter == max_iter:
                gap = self._gap(state, norm)
        return GroupSolution(
            strength,
            state.coefficients,
            state.intercepts,
            state.objective,
            gap / max(state.objective, np.finfo(float).tiny),
            n_iter,
        )

    # One state and its certificate

    def _state(self, coefficients: Floats, intercepts: Floats, norm: GroupNorm) -> _State:
        loss, gradient, at_intercepts = self._loss_and_gradient(coefficients, intercepts)
        objective = loss + norm.value(coefficients)
        return _State(coefficients, intercepts, loss, objective, gradient, at_intercepts)

    def _loss_and_gradient(self, coefficients: Floats, intercepts: Floats) -> tuple[float, Floats, Floats]:
        from seminaive.structure.kernels.group_lasso import log_loss_gradient

        gradient, at_intercepts = np.zeros_like(coefficients), np.zeros_like(intercepts)
        loss, p = 0.0, np.empty(self.n_labels)
        for d, table in enumerate(self.tables):
            loss += log_loss_gradient(
                table.cells, table.counts, coefficients[d], intercepts[d], gradient[d], at_intercepts[d], p
            )
        scale = 1.0 / (self.weight * len(self.tables))
        return loss * scale, gradient * scale, at_intercepts * scale

    def _gap(self, state: _State, norm: GroupNorm) -> float:
        """Return the objective less the dual objective at the scaled residuals.

        The derivative g by a free intercept b is 0 in the dual's domain. While it is not quite, the bound on
        the optimum contains <g, b*> for the intercept b* of the solution; b - g / shares stands for it, which
        is exact to first order in g.
        """
        from seminaive.structure.kernels.group_lasso import negative_entropy

        scale = norm.dual_scale(state.gradient)
        p = np.empty(self.n_labels)
        conjugate = sum(
            negative_entropy(table.cells, table.counts, coefficients, intercept, scale, p)
            for table, coefficients, intercept in zip(
                self.tables, state.coefficients, state.intercepts, strict=True
            )
        )
        shares = np.exp(self.null_intercepts) / len(self.tables)
        left = scale * float(np.sum(state.at_intercepts * (state.intercepts - state.at_intercepts / shares)))
        return float(state.objective + conjugate / (self.weight * len(self.tables)) - left)

    # Newton steps

    def _newton_step(self, state: _State, norm: GroupNorm) -> tuple[_State | None, float]:
        """Return the state after a step, None where none descends, and the decrease that was promised."""
        active = np.flatnonzero(
            (norm.norms(state.coefficients) > 0) | (norm.norms(state.gradient) > norm.penalties)
        )
        levels = np.diff(self.starts)
        cells = np.flatnonzero(np.repeat(np.isin(np.arange(len(levels)), active), levels))
        new, new_intercepts = self._minimise_model(state, norm, active, cells)
        step, step0 = new - state.coefficients, new_intercepts - state.intercepts
        promised = -(
            float(np.sum(state.gradient * step) + np.sum(state.at_intercepts * step0))
            + norm.value(new)
            - norm.value(state.coefficients)
        )

        def attempt(length: float) -> tuple[float, float, _State]:
            moved = self._state(state.coefficients + length * step, state.intercepts + length * step0, norm)
            return moved.objective, length * promised, moved

        return backtrack(attempt, state.objective, ROUNDING * self.null_loss)[0], promised

    def _minimise_model(
        self, state: _State, norm: GroupNorm, active: Integers, cells: Integers
    ) -> tuple[Floats, Floats]:
        """Return the coefficients and intercepts that minimise the quadratic model plus the penalty.

        The coordinates of the model are (n_blocks, n_coordinates): for each table one block of all directions
        of the label space, those of a cell side by side, or a block per direction where that were too many.
        """
        from seminaive.structure.kernels.group_lasso import descend

        n_directions = self.basis.shape[1]
        widest = int(np.diff(self.starts)[active].max(initial=1))
        joint = n_directions * (len(cells) + 1) <= MOST_JOINT and n_directions * widest <= MOST_BLOCK
        width = n_directions if joint else 1
        gram, at_cells, at_intercept = self._curvature(state, active, cells, width)
        starts = width * np.concatenate([[0], np.cumsum(np.diff(self.starts)[active])])
        values, vectors, offsets = block_eigenvalues(gram, starts)
        z = to_blocks(state.coefficients[:, cells] @ self.basis, width)
        slopes = to_blocks(state.gradient[:, cells] @ self.basis, width)
        slopes0 = to_blocks(state.at_intercepts[:, None] @ self.basis, width)
        slopes -= np.einsum("bi,bia->ba", slopes0, np.linalg.solve(at_intercept, at_cells))
        before = z.copy()
        penalties = norm.penalties[active]
        turned, solved = (np.empty((len(z) + more, width * widest)) for more in (0, 1))
        steps = (SWEEP_TOL, MOST_SWEEPS, turned, solved)
        descend(gram, slopes, starts, values, vectors, offsets, penalties, *steps, z)
        moved = slopes0 + np.einsum("bia,ba->bi", at_cells, z - before)
        step0 = -np.linalg.solve(at_intercept, moved[:, :, None])[:, :, 0]
        new = np.zeros_like(state.coefficients)
        new[:, cells] = from_blocks(z, len(self.tables), width) @ self.basis.T
        return new, state.intercepts + from_blocks(step0, len(self.tables), width)[:, 0] @ self.basis.T

    def _curvature(
        self, state: _State, active: Integers, cells: Integers, width: int
    ) -> tuple[Floats, Floats, Floats]:
        """Return the Hessian of the active coordinates with the intercept profiled out, and its parts.

        Returns
        -------
        gram : ndarray of shape (n_blocks, n_coordinates, n_coordinates)
        at_cells : ndarray of shape (n_blocks, width, n_coordinates)
            Second derivatives by the intercept and a coordinate.
        at_intercept : ndarray of shape (n_blocks, width, width)
        """
        from seminaive.kernels.hessian import count_pairs
        from seminaive.structure.kernels.group_lasso import row_curvature

        n_directions, n_active, n_tables = self.basis.shape[1], len(cells), len(self.tables)
        n_blocks, size = n_directions // width, n_active + 1
        refuse_beyond_memory(
            {f"the Hessian of {n_active} levels": 24 * n_tables * n_blocks * (width * size) ** 2},
            "merge rare categories, drop columns or raise the smallest strength",
        )
        number = np.zeros(int(self.starts[-1]), dtype=np.int32)
        number[cells] = np.arange(n_active, dtype=np.int32)
        # Directions of a block beside each other: cell and direction, then cell and direction.
        gram = np.zeros((n_tables, n_blocks, size, width, size, width))
        for d, table in enumerate(self.tables):
            of_table = np.ascontiguousarray(number[table.cells[:, active]])
            weights = np.empty((n_directions, width, len(of_table)))
            row_curvature(
                of_table,
                table.counts,
                state.coefficients[d][cells],
                state.intercepts[d],
                self.basis,
                width,
                np.empty(self.n_labels),
                weights,
            )
            # The intercept is a last cell that every row has.
            positions = np.column_stack([of_table, np.full(len(of_table), n_active)]).astype(np.uint32)
            for m in range(n_directions):
                for o in range(m % width + 1):
                    lower = np.zeros((size, size))
                    count_pairs(positions, weights[m, o], lower)
                    whole = lower + np.tril(lower, -1).T
                    gram[d, m // width, :, m % width, :, o] = whole
                    gram[d, m // width, :, o, :, m % width] = whole
        gram = gram.reshape(-1, size * width, size * width) / (self.weight * n_tables)
        at_cells, at_intercept = gram[:, -width:, :-width], gram[:, -width:, -width:]
        profiled = gram[:, :-width, :-width] - at_cells.transpose(0, 2, 1) @ np.linalg.solve(
            at_intercept, at_cells
        )
        return np.ascontiguousarray(profiled), at_cells, at_intercept


@dataclass(frozen=True)
class _State:
    """Coefficients, with the loss, the objective and the derivatives of the loss there."""

    coefficients: Floats
    intercepts: Floats
    loss: float
    objective: float
    gradient: Floats
    at_intercepts: Floats
