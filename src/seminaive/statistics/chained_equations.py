"""Multiple imputation by chained equations: each incomplete column is redrawn in turn given the others.

A coded column has a table of probabilities given the class and the columns that tell most about it, chosen
greedily by Akaike's criterion on the rows where it is observed (a missing cell of a candidate being a value
of its own). A parent too many costs some variance; one too few is drawn as if it did not matter, and what is
fitted to the completions then finds associations that are not there. The collection of such tables is a
dependency network, and redrawing is Gibbs sampling in it. A number has a linear regression on the class, the
other numbers and the coded columns. Both are drawn from their posterior before they draw cells: without that,
several completions would agree too well and Rubin's variance would be too small.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.special import xlogy

from seminaive.statistics.drawing import draw_shares, draw_values, value_shares

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from seminaive.statistics.terms import Codes

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]
    Target = tuple[Literal["coded", "number"], int]

# Numbers are parents of coded columns as bins of equal frequency, so many of them.
BINS = 4
# Cells of a table of probabilities, at most.
MOST_CELLS = 2**20
# Coded columns of more values than this take no part in regressions: their indicators would be many.
MOST_INDICATORS = 50
# Added to the diagonal of X'X as a share of it, as in the R package mice, where columns may be collinear.
RIDGE = 1e-5
# Rows of a regression whose indicators are laid out at once.
ROWS_AT_ONCE = 8192


@dataclass(frozen=True)
class Columns:
    """A table by columns, in which missing cells are drawn: coded columns, bins of the numbers, the class.

    Parameters
    ----------
    codes : ndarray of shape (n_coded, n_rows)
        The coded columns, then the bins of the numbers, then the class where there is one.
    cardinalities : tuple of int
        Of the rows of ``codes``; as a code, a missing cell.
    numbers : ndarray of shape (n_numbers, n_rows)
        NaN where missing.
    cuts : tuple of ndarray
        Borders of the bins of each number.
    label : int or None
        Which row of ``codes`` is the class.
    missing : dict
        The rows in which a column is missing: keys ``(kind, position)``.
    """

    codes: Codes
    cardinalities: tuple[int, ...]
    numbers: Floats
    cuts: tuple[Floats, ...]
    label: int | None
    missing: dict[Target, Integers]

    @classmethod
    def of(
        cls,
        codes: Codes,
        cardinalities: Sequence[int],
        numbers: Floats | None = None,
        *,
        labels: Integers | None = None,
        n_classes: int = 0,
        cuts: tuple[Floats, ...] | None = None,
    ) -> Columns:
        """Lay out a table by columns.

        Parameters
        ----------
        codes : ndarray of shape (n_rows, n_coded)
        cardinalities : sequence of int
        numbers : ndarray of shape (n_rows, n_numbers) or None
        labels : ndarray of shape (n_rows,) or None
            The class of each row; ``n_classes`` where it is not known.
        n_classes : int
            0 where the table has no class.
        cuts : tuple of ndarray or None
            Borders of the bins, from an earlier table; None takes the quartiles.
        """
        n_rows = len(codes)
        by_number = np.empty((0, n_rows)) if numbers is None else np.ascontiguousarray(numbers.T)
        if cuts is None:
            cuts = tuple(_quantiles(number) for number in by_number)
        known = [int(cardinality) for cardinality in cardinalities]
        rows: list[NDArray[np.integer]] = [codes[:, j] for j in range(codes.shape[1])]
        rows += [_bins(number, own) for number, own in zip(by_number, cuts, strict=True)]
        known += [len(own) + 1 for own in cuts]
        label = None
        if n_classes:
            label = len(rows)
            rows.append(np.full(n_rows, n_classes) if labels is None else labels)
            known.append(n_classes)
        by_column = np.empty((len(rows), n_rows), dtype=np.min_scalar_type(max(known, default=0)))
        for position, row in enumerate(rows):
            by_column[position] = row
        missing: dict[Target, Integers] = {
            ("number", number): np.flatnonzero(np.isnan(values)) for number, values in enumerate(by_number)
        }
        for column in (*range(codes.shape[1]), *([] if label is None else [label])):
            if known[column]:
                missing["coded", column] = np.flatnonzero(by_column[column] == known[column])
        found = {target: rows for target, rows in missing.items() if len(rows)}
        return cls(by_column, tuple(known), by_number, cuts, label, found)

    @property
    def n_rows(self) -> int:
        """Return the number of rows."""
        return int(self.codes.shape[1])

    @property
    def n_coded(self) -> int:
        """Return the number of coded columns, bins and class left out."""
        return len(self.codes) - len(self.numbers) - (self.label is not None)

    @property
    def coded(self) -> tuple[int, ...]:
        """Return the rows of ``codes`` that are no bins of numbers; the class, where there is one, last."""
        own = range(self.n_coded)
        return (*own,) if self.label is None else (*own, self.label)

    def missing_cells(self) -> int:
        """Return how many cells are missing."""
        return sum(map(len, self.missing.values()))

    def observed(self, target: Target) -> Integers:
        """Return the rows in which a column is not missing."""
        mask = np.ones(self.n_rows, dtype=bool)
        mask[self.missing.get(target, [])] = False
        return np.flatnonzero(mask)

    def copy(self) -> Columns:
        """Return columns whose cells can be drawn without touching these."""
        return Columns(
            self.codes.copy(), self.cardinalities, self.numbers.copy(), self.cuts, self.label, self.missing
        )

    def cells(self, parents: Iterable[int], rows: Integers) -> Integers:
        """Return the combination of the parents' values in some rows, the last parent varying fastest."""
        joint = np.zeros(len(rows), dtype=np.int64)
        for parent in parents:
            joint *= self.cardinalities[parent]
            joint += self.codes[parent, rows]
        return joint

    def set_numbers(self, number: int, rows: Integers, values: Floats) -> None:
        """Write numbers, and their bins."""
        self.numbers[number, rows] = values
        self.codes[self.n_coded + number, rows] = _bins(values, self.cuts[number])


def _quantiles(number: Floats) -> Floats:
    present = number[~np.isnan(number)]
    if not len(present):
        return np.empty(0)
    return np.unique(np.quantile(present, np.arange(1, BINS) / BINS))


def _bins(number: Floats, cuts: Floats) -> Integers:
    bins = np.searchsorted(cuts, number, side="left")
    bins[np.isnan(number)] = len(cuts) + 1
    return bins


@dataclass(frozen=True)
class ConditionalTable:
    """The probabilities of a coded column given its parents.

    Parameters
    ----------
    column : int
    parents : tuple of int
    shares : ndarray of shape (n_combinations, n_values)
    """

    column: int
    parents: tuple[int, ...]
    shares: Floats

    @classmethod
    def draw_posterior(
        cls,
        columns: Columns,
        column: int,
        parents: tuple[int, ...],
        generator: np.random.Generator,
        row_weight: Floats | None,
    ) -> ConditionalTable:
        """Draw the probabilities from their posterior given the rows where the column is observed.

        The prior of a combination of parents is worth one row that has the mean probabilities given all
        parents but the last; without parents, one row spread evenly.
        """
        rows = columns.observed(("coded", column))
        shape = [columns.cardinalities[j] for j in (*parents, column)]
        counts = np.bincount(
            columns.cells((*parents, column), rows),
            None if row_weight is None else row_weight[rows],
            minlength=int(np.prod(shape)),
        ).reshape(shape)
        prior: Floats = np.full(shape[-1], 1.0 / shape[-1])
        for depth in range(len(parents) + 1):
            own = counts.sum(axis=tuple(range(depth, len(parents))))
            posterior = own + (prior if depth == 0 else prior[..., None, :])
            prior = value_shares(posterior, 0.0)
        return cls(column, parents, draw_shares(posterior, generator).reshape(-1, shape[-1]))

    def draw(self, columns: Columns, generator: np.random.Generator) -> None:
        """Draw the column's missing cells."""
        rows = columns.missing["coded", self.column]
        columns.codes[self.column, rows] = draw_values(
            self.shares, columns.cells(self.parents, rows), generator
        )


@dataclass(frozen=True)
class NormalRegression:
    """A number given others: a normal distribution around a linear function of numbers and indicators.

    Parameters
    ----------
    number : int
    coded, others : tuple of int
        Coded columns (all values but the first have an indicator) and numbers that it depends on.
    centre, scale : ndarray of shape (n_others,)
        By which the other numbers are standardised.
    coefficients : ndarray of shape (n_coefficients,)
        Intercept, indicators, numbers.
    deviation : float
        Standard deviation around the linear function.
    """

    number: int
    coded: tuple[int, ...]
    others: tuple[int, ...]
    centre: Floats
    scale: Floats
    coefficients: Floats
    deviation: float

    @classmethod
    def draw_posterior(
        cls,
        columns: Columns,
        number: int,
        coded: tuple[int, ...],
        others: tuple[int, ...],
        generator: np.random.Generator,
        row_weight: Floats | None,
    ) -> NormalRegression:
        """Draw variance and coefficients from their posterior under the uniform prior of log variance."""
        rows = columns.observed(("number", number))
        beside = columns.numbers[list(others)][:, rows]
        centre = beside.mean(axis=1)
        scale = beside.std(axis=1)
        scale[scale == 0] = 1.0
        unknown = cls(number, coded, others, centre, scale, np.empty(0), 0.0)
        weight = np.ones(len(rows)) if row_weight is None else row_weight[rows]
        target = columns.numbers[number, rows]
        level = np.average(target, weights=weight)
        gram, moment, square = unknown._normal_equations(columns, rows, target - level, weight)
        gram[np.diag_indices_from(gram)] *= 1 + RIDGE
        gram[np.diag_indices_from(gram)] += np.finfo(float).tiny ** 0.5  # an indicator without any row
        factor = cholesky(gram, lower=True)
        half = solve_triangular(factor, moment, lower=True)
        freedom = max(weight.sum() - len(moment), 1.0)
        deviation = np.sqrt(max(square - half @ half, 0.0) / generator.chisquare(freedom))
        drawn = half + deviation * generator.standard_normal(len(half))
        coefficients = solve_triangular(factor, drawn, lower=True, trans=1)
        coefficients[0] += level
        return cls(number, coded, others, centre, scale, coefficients, float(deviation))

    def _normal_equations(
        self, columns: Columns, rows: Integers, target: Floats, weight: Floats
    ) -> tuple[Floats, Floats, float]:
        """Return X'WX, X'Wt and t'Wt."""
        width = self._design(columns, rows[:1]).shape[1]
        gram, moment = np.zeros((width, width)), np.zeros(width)
        for start in range(0, len(rows), ROWS_AT_ONCE):
            block = slice(start, start + ROWS_AT_ONCE)
            design = self._design(columns, rows[block])
            weighted = design * weight[block, None]
            gram += weighted.T @ design
            moment += weighted.T @ target[block]
        return gram, moment, float(weight @ target**2)

    def _design(self, columns: Columns, rows: Integers) -> Floats:
        parts: list[Floats] = [np.ones((len(rows), 1))]
        for column in self.coded:
            values = np.arange(1, columns.cardinalities[column])
            parts.append((columns.codes[column, rows][:, None] == values).astype(np.float64))
        parts.append((columns.numbers[list(self.others)][:, rows].T - self.centre) / self.scale)
        return np.concatenate(parts, axis=1)

    def draw(self, columns: Columns, generator: np.random.Generator) -> None:
        """Draw the missing numbers."""
        rows = columns.missing["number", self.number]
        mean = np.concatenate(
            [
                self._design(columns, rows[start : start + ROWS_AT_ONCE]) @ self.coefficients
                for start in range(0, len(rows), ROWS_AT_ONCE)
            ]
        )
        columns.set_numbers(self.number, rows, generator.normal(mean, self.deviation))


Conditional = ConditionalTable | NormalRegression


@dataclass(frozen=True)
class FittedChain:
    """The conditionals of one chain at its end, with which other rows are drawn.

    Parameters
    ----------
    start : tuple
        Conditionals given the class alone, in the order in which they are drawn: the class first.
    sweep : tuple
        Conditionals given other columns, in the order of a sweep.
    """

    start: tuple[Conditional, ...]
    sweep: tuple[Conditional, ...]

    def draw(self, columns: Columns, n_sweeps: int, generator: np.random.Generator) -> None:
        """Draw the missing cells of a table, its own conditionals being as they are."""
        for conditional in (*self.start, *(self.sweep * n_sweeps)):
            if _target(conditional) in columns.missing:
                conditional.draw(columns, generator)


def _target(conditional: Conditional) -> Target:
    if isinstance(conditional, ConditionalTable):
        return "coded", conditional.column
    return "number", conditional.number


@dataclass(frozen=True)
class Chain:
    """Which columns each column is drawn from.

    Parameters
    ----------
    parents : dict
        The parents of each coded column, the class first.
    regressors : tuple of int
        The coded columns that numbers are drawn from.
    """

    parents: dict[int, tuple[int, ...]]
    regressors: tuple[int, ...]

    def run(
        self,
        columns: Columns,
        n_sweeps: int,
        generator: np.random.Generator,
        row_weight: Floats | None = None,
    ) -> FittedChain:
        """Draw the missing cells of a training table in place, and return the last conditionals.

        Columns are drawn in the order of their missing cells, the fewest first.
        """
        targets = self._targets(columns)
        # Before the first sweep others may be missing: only the class is known to be there, or drawn first.
        known = () if columns.label is None else (columns.label,)
        start = []
        for target in sorted(targets, key=lambda target: target != ("coded", columns.label)):
            conditional = self._given(columns, target, known, generator, row_weight)
            start.append(conditional)
            if target in columns.missing:
                conditional.draw(columns, generator)
        for _ in range(n_sweeps):
            for target in targets:
                if target in columns.missing:
                    self._given(columns, target, None, generator, row_weight).draw(columns, generator)
        sweep = [self._given(columns, target, None, generator, row_weight) for target in targets]
        return FittedChain(tuple(start), tuple(sweep))

    def _targets(self, columns: Columns) -> list[Target]:
        targets: list[Target] = [
            ("coded", column) for column in columns.coded if columns.cardinalities[column]
        ]
        targets += [
            ("number", number)
            for number in range(len(columns.numbers))
            if len(columns.missing.get(("number", number), ())) < columns.n_rows
        ]
        return sorted(targets, key=lambda target: len(columns.missing.get(target, ())))

    def _given(
        self,
        columns: Columns,
        target: Target,
        known: tuple[int, ...] | None,
        generator: np.random.Generator,
        row_weight: Floats | None,
    ) -> Conditional:
        """Draw the conditional of a column given the columns ``known``, or its parents where that is None."""
        kind, position = target
        if kind == "coded":
            parents = self.parents[position] if known is None else tuple(j for j in known if j != position)
            return ConditionalTable.draw_posterior(columns, position, parents, generator, row_weight)
        coded = self.regressors if known is None else known
        whole = (
            number
            for number in range(len(columns.numbers))
            if number != position and len(columns.cuts[number])
        )
        others = tuple(whole) if known is None else ()
        return NormalRegression.draw_posterior(columns, position, coded, others, generator, row_weight)


def learn_chain(columns: Columns, row_weight: Floats | None = None) -> Chain:
    """Choose the parents of every coded column, and the columns that numbers depend on."""
    parents = {
        column: learn_parents(columns, column, row_weight)
        for column in columns.coded
        if columns.cardinalities[column]
    }
    regressors = [column for column in parents if columns.cardinalities[column] <= MOST_INDICATORS]
    return Chain(parents, tuple(regressors))


def learn_parents(columns: Columns, column: int, row_weight: Floats | None = None) -> tuple[int, ...]:
    """Choose the parents of a column greedily by Akaike's criterion; the class always comes first.

    Rows where the column is missing do not count. Here a missing cell of a candidate is a value of its own,
    so that what the observed ones tell is not diluted.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.integers(0, 2, (2, 500))
    >>> table = Columns.of(np.column_stack([a, b, a ^ (rng.random(500) < 0.1)]).astype(np.uint8), (2, 2, 2))
    >>> learn_parents(table, 2)
    (0,)
    """
    rows = columns.observed(("coded", column))
    forced = [] if columns.label in (None, column) else [columns.label]
    if not len(rows):
        return tuple(forced)
    weight = None if row_weight is None else row_weight[rows]
    candidates = _Candidates(
        np.ascontiguousarray(columns.codes[:, rows]), columns.cardinalities, column, weight
    )
    parents = list(forced)
    score = candidates.criterion(candidates.counts(parents))
    while True:
        gains = {
            other: candidates.criterion(counts) - score
            for other, counts in candidates.counts_beside(
                parents, [j for j in range(len(columns.codes)) if j not in (column, *parents)]
            ).items()
        }
        best = max(gains, key=gains.__getitem__, default=None)
        if best is None or gains[best] <= 0:
            return tuple(parents)
        parents.append(best)
        score += gains[best]


@dataclass(frozen=True)
class _Candidates:
    """The rows where a column is observed, and how well others predict it there.

    Parameters
    ----------
    codes : ndarray of shape (n_columns, n_rows)
    cardinalities : tuple of int
    column : int
        The column to be predicted.
    weight : ndarray of shape (n_rows,) or None
    """

    codes: Codes
    cardinalities: tuple[int, ...]
    column: int
    weight: Floats | None

    def _lead(self, parents: list[int]) -> tuple[NDArray[np.uint32], int]:
        """Return each row's combination of parents and value, and how many there are."""
        n_values = self.cardinalities[self.column]
        lead = np.zeros(self.codes.shape[1], dtype=np.uint32)
        width = 1
        for j in parents:
            lead *= np.uint32(self.cardinalities[j] + 1)
            lead += self.codes[j]
            width *= self.cardinalities[j] + 1
        lead *= np.uint32(n_values)
        lead += self.codes[self.column]
        return lead, width * n_values

    def counts(self, parents: list[int]) -> Floats:
        """Return counts of shape (combinations of parents, values)."""
        lead, width = self._lead(parents)
        counts = np.bincount(lead, self.weight, minlength=width).astype(np.float64)
        return counts.reshape(-1, self.cardinalities[self.column])

    def counts_beside(self, parents: list[int], others: list[int]) -> dict[int, Floats]:
        """Return counts of shape (codes of another column, combinations of parents, values), by column.

        Columns that would make a table too large are left out.
        """
        from seminaive.kernels.counting import count_last_columns, count_last_columns_weighted

        lead, width = self._lead(parents)
        n_codes = {j: self.cardinalities[j] + 1 for j in others}
        others = [j for j in others if n_codes[j] * width <= MOST_CELLS]
        if not others:
            return {}
        offsets = np.concatenate([[0], np.cumsum([n_codes[j] * width for j in others])]).astype(np.int64)
        columns = np.ascontiguousarray(self.codes[others])
        if self.weight is None:
            whole = np.zeros(offsets[-1], dtype=np.int64)
            count_last_columns(columns, lead, width, 0, offsets, whole)
            cells = whole.astype(np.float64)
        else:
            cells = np.zeros(offsets[-1])
            count_last_columns_weighted(columns, lead, self.weight, width, 0, offsets, cells)
        blocks = np.split(cells, offsets[1:-1])
        n_values = self.cardinalities[self.column]
        return {j: block.reshape(n_codes[j], -1, n_values) for j, block in zip(others, blocks, strict=True)}

    def criterion(self, counts: Floats) -> float:
        """Return the log likelihood less one for every free probability (Akaike)."""
        totals = counts.sum(axis=-1)
        likelihood = xlogy(counts, counts).sum() - xlogy(totals, totals).sum()
        return float(likelihood - np.count_nonzero(totals) * (counts.shape[-1] - 1))
