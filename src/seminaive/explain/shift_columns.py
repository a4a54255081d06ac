"""How each column is distributed in some rows, and how far two distributions are apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from seminaive.encode import keep_rows, open_table
from seminaive.encode.frames import dictionary
from seminaive.explain.reading import MISSING, UNSEEN
from seminaive.statistics import Terms, TupleCounts
from seminaive.statistics.cell_weights import weigh_cells

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seminaive.arrays import Floats
    from seminaive.encode import CategoricalColumn, EncodedTable
    from seminaive.scores import Effects, FeatureCurve
    from seminaive.statistics.number_sketch import NumberSketch

# Quantile bins of a number.
QUANTILE_BINS = 10
# Rows that a cell must have in expectation, on the side with fewer rows, to be compared by itself: the usual
# rule under which the statistic has a chi-squared distribution.
FEWEST_EXPECTED = 5.0
# Levels never seen in training that are listed.
MOST_LEVELS = 5


@dataclass(frozen=True)
class ColumnShift:
    """One column before and now.

    Parameters
    ----------
    position : int
        In the schema.
    labels : tuple of str
        Of the levels, or of the ranges between quantiles; then of missing and of unseen cells.
    before, now : ndarray of shape (n_labels,)
        The weight of each.
    unseen_levels : tuple of str
        Levels that training never had, the most frequent first.
    """

    name: str
    position: int
    labels: tuple[str, ...]
    before: Floats
    now: Floats
    unseen_levels: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        name: str,
        position: int,
        labels: Sequence[str],
        before: Floats,
        now: Floats,
        levels: tuple[str, ...] = (),
    ) -> ColumnShift:
        """Return a column whose last two cells, missing and unseen ones, have no label yet."""
        marks = [f"({mark})" if mark in labels else mark for mark in (MISSING, UNSEEN)]
        return cls(name, position, (*labels, *marks), before, now, levels)

    @property
    def missing(self) -> tuple[float, float]:
        """Return the share of missing cells before and now."""
        return _share(self.before, -2), _share(self.now, -2)

    @property
    def unseen(self) -> float:
        """Return the share of cells now that hold a level that training never had."""
        return _share(self.now, -1)

    @property
    def psi(self) -> float:
        """Return the population stability index: the symmetric Kullback-Leibler divergence of the shares.

        Half a row is added to each cell, so that a level that one side lacks does not make it infinite.
        """
        before, now = ((counts + 0.5) / (counts + 0.5).sum() for counts in (self.before, self.now))
        return float(np.sum((now - before) * np.log(now / before)))

    @property
    def log_p_value(self) -> float:
        """Return the log of the p-value of the test that both sides have one distribution.

        The test is Pearson's chi-squared test of homogeneity; cells of fewer than 5 expected rows count as
        one.
        """
        statistic, freedom = homogeneity(self.before, self.now)
        return float(stats.chi2.logsf(statistic, freedom)) if freedom else 0.0

    @property
    def p_value(self) -> float:
        """Return the p-value of the test that both sides have one distribution."""
        return float(np.exp(self.log_p_value))


def _share(side: Floats, code: int) -> float:
    total = side.sum()
    return float(side[code] / total) if total else 0.0


def homogeneity(before: Floats, now: Floats) -> tuple[float, int]:
    """Return Pearson's statistic of the test that two counts have one distribution, and degrees of freedom.

    Small cells are merged: those of fewer than 5 expected rows on either side together, and with the smallest
    other one where they still have fewer.

    >>> homogeneity(np.array([50.0, 50.0]), np.array([30.0, 70.0]))[1]
    1
    """
    sides = np.array([before, now])
    sides = sides[:, sides.sum(axis=0) > 0]
    totals = sides.sum(axis=1)
    if not totals.all():
        return 0.0, 0
    order = np.argsort(sides.sum(axis=0), kind="stable")
    sides = sides[:, order]
    expected = sides.sum(axis=0) * totals.min() / totals.sum()
    small = int(np.searchsorted(expected, FEWEST_EXPECTED))
    while small < len(expected) and 0 < expected[:small].sum() < FEWEST_EXPECTED:
        small += 1
    if small:
        sides = np.column_stack([sides[:, :small].sum(axis=1), sides[:, small:]])
    if sides.shape[1] < 2:
        return 0.0, 0
    fitted = np.outer(totals, sides.sum(axis=0)) / totals.sum()
    return float(((sides - fitted) ** 2 / fitted).sum()), sides.shape[1] - 1


def count_cells(table: EncodedTable, effects: Effects) -> dict[tuple[int, ...], Floats]:
    """Return the rows of each code, and of each combination of codes that some effect looks at.

    Rows between nodes count at both in combinations, as `weigh_cells` says, and in their bin as single codes.
    """
    singles = Terms.singles(table.cardinalities)
    tuples = Terms(tuple(effect.columns for effect in effects.tuples), table.cardinalities)
    by_code = TupleCounts.of(table.codes, np.zeros(len(table), dtype=np.int64), singles, 1).counts[:, 0]
    found = {}
    for terms, weights in ((singles, by_code), (tuples, weigh_cells(tuples, table))):
        for term, columns in enumerate(terms.features):
            found[columns] = weights[terms.block(term)].reshape(terms.shape(term))
    return found


@dataclass(frozen=True)
class QuantileBins:
    """The ranges between quantiles of one side's numbers, whose edges are those of its histogram.

    Parameters
    ----------
    edges : ndarray of shape (n_bins - 1,)
        The largest number of each bin but the last.
    weights : ndarray of shape (n_bins + 2,)
        Of each bin, of missing numbers and, last, 0: no number is unseen.
    """

    edges: Floats
    weights: Floats

    @classmethod
    def of(cls, sketch: NumberSketch) -> QuantileBins:
        """Cut a histogram into bins of about equal weights, never within a bin of the histogram."""
        if not len(sketch.weights):
            return cls(np.empty(0), np.array([0.0, sketch.missing, 0.0]))
        ends = np.cumsum(sketch.weights)
        rank = (ends - sketch.weights / 2) / ends[-1]
        group = np.minimum((QUANTILE_BINS * rank).astype(np.int64), QUANTILE_BINS - 1)
        last = np.flatnonzero(np.diff(group, append=QUANTILE_BINS))
        weights = np.diff(ends[last], prepend=0.0)
        return cls(sketch.largest_numbers()[last[:-1]], np.append(weights, [sketch.missing, 0.0]))

    def count(self, numbers: Floats, curve: FeatureCurve | None) -> tuple[Floats, Floats | None]:
        """Return the rows of each bin as in ``weights``, and the sum of a curve over all rows.

        Rows are sorted into the pieces of the curve and the bins at once; within a piece the curve is summed
        by the sums of its powers.
        """
        present = numbers[~np.isnan(numbers)]
        n_missing = len(numbers) - len(present)
        edges = np.unique(np.concatenate([self.edges, () if curve is None else curve.edges]))
        interval = np.searchsorted(edges, present, side="left")
        counts = np.bincount(interval, minlength=len(edges) + 1).astype(np.float64)
        upper = np.append(edges, np.inf)
        bins = np.bincount(np.searchsorted(self.edges, upper, side="left"), counts, len(self.edges) + 1)
        weights = np.append(bins, [float(n_missing), 0.0])
        if curve is None:
            return weights, None
        piece = np.searchsorted(curve.edges, upper, side="left")
        total = counts @ curve.coefficients[piece, 0] + n_missing * curve.missing
        if curve.coefficients[:, 1:].any():
            z = (present - curve.anchors[piece][interval]) * curve.scale
            for power in (1, 2):
                sums = np.bincount(interval, z**power, minlength=len(edges) + 1)
                total = total + sums @ curve.coefficients[piece, power]
        return weights, total


@dataclass(frozen=True)
class NoEvidence:
    """The cells of one column whose code is that of no evidence: missing ones and unseen ones.

    Parameters
    ----------
    missing, unseen : int
        How many cells are missing, and how many hold a level that training never had.
    levels : tuple of str
        Such levels, the most frequent first.
    """

    missing: int = 0
    unseen: int = 0
    levels: tuple[str, ...] = ()

    @classmethod
    def of(cls, X: Any, table: EncodedTable, position: int) -> NoEvidence:
        """Look at the cells of an encoded table that have the code of no evidence."""
        schema = table.schema
        column = schema.columns[position]
        rows = table.codes[:, schema.coded_index[position]] == schema.n_values(column)
        if not rows.any():
            return cls()
        codes, values = dictionary(column.name, open_table(keep_rows(X, rows)).columns[position])
        counts = np.bincount(codes[codes >= 0], minlength=len(values))
        order = np.argsort(-counts, kind="stable")[:MOST_LEVELS]
        levels = tuple(str(values[k]) for k in order.tolist() if counts[k])
        return cls(int((codes < 0).sum()), int(counts.sum()), levels)


def category_weights(column: CategoricalColumn, weights: Floats, found: NoEvidence | None) -> Floats:
    """Return the weights of categories, of missing and of unseen cells.

    Parameters
    ----------
    weights : ndarray of shape (n_codes,)
        By code: categories, missing cells where they are a value, and no evidence.
    found : NoEvidence or None
        What has the last code; None for a training table, which has no unseen levels.
    """
    known = column.n_present
    if found is None:
        return np.append(weights[:known], [weights[known:].sum(), 0.0])
    return np.append(weights[:known], [weights[known:-1].sum() + found.missing, found.unseen])
