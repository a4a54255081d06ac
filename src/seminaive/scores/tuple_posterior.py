"""How uncertain generative models over tuples of columns are: the posterior of their counts.

The shares of the combinations of a tuple have a Dirichlet posterior. To first order their logarithms are sums
over cells that vary independently, each with the trigamma variance of its count, so that the variance of any
combination of them is a sum of squares. In a tree, a column's shares given its parent are independent of all
others. Tuples that are averaged overlap: two of them vary together by what the columns that they have in
common vary by. This takes their other columns to be independent given these and the class, as the average
itself does; what is said of more columns together would need counts of these.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from seminaive.encode import NumericColumn
from seminaive.errors import TooLargeError, UnavailableError
from seminaive.scores.additive_scores import AdditiveScores
from seminaive.scores.count_posterior import spread_of_classes
from seminaive.scores.effects import Joints
from seminaive.scores.feature_curve import curve_of_number
from seminaive.scores.generative_terms import share_variances, trigamma
from seminaive.scores.pure import cell_weights, purify
from seminaive.scores.tree_tables import tree_terms
from seminaive.statistics import Terms, TupleCounts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from seminaive.arrays import Floats
    from seminaive.encode import EncodedTable, Schema
    from seminaive.scores.effects import Effects, FeatureEffect, TupleEffect
    from seminaive.scores.probability_intervals import Spread
    from seminaive.statistics import TrainingSummary

# Entries of the largest array that the errors of one pair may take: 512 MB.
MOST_ENTRIES = 1 << 26


@dataclass(frozen=True)
class TupleLogs:
    """Logarithms of shares in one term, as sums over cells that vary independently.

    Parameters
    ----------
    columns : tuple of int
        One or two coded columns.
    counts : ndarray of shape (n_values, ..., n_classes)
        Of combinations of known values, with what is added to them.
    child : int or None
        The axis along which shares add up to 1, given the other; None where those of all combinations do.
    """

    columns: tuple[int, ...]
    counts: Floats
    child: int | None = None

    def places(self, weights: Floats) -> Floats:
        """Return how weighted sums of the logarithms depend on each cell, (n_sums, n_values, ..., n_classes).

        The logarithm of a cell of no evidence is that of the share of the other column; 0 where it is the
        child that is unknown.

        Parameters
        ----------
        weights : ndarray of shape (n_sums, n_codes, ...)
            Of all cells, those of no evidence being the last of each axis.
        """
        counts, known = self.counts, tuple(slice(-1) for _ in self.columns)
        of_known = weights[(slice(None), *known)][..., None]
        axes = tuple(range(1, 1 + len(self.columns)))
        if len(self.columns) == 1:
            return np.asarray(of_known - of_known.sum(axis=axes, keepdims=True) * _shares(counts, (0,)))
        without = [
            weights[:, :-1, -1:, None] * _shares(counts, (1,)),
            weights[:, -1:, :-1, None] * _shares(counts, (0,)),
        ]
        if self.child is None:
            whole = of_known + without[0] + without[1]
            return np.asarray(whole - whole.sum(axis=axes, keepdims=True) * _shares(counts, (0, 1)))
        of_child = without[1 - self.child]
        of_child = of_child - of_child.sum(axis=axes, keepdims=True) * _shares(counts, (0, 1))
        given = of_known.sum(axis=1 + self.child, keepdims=True) * _shares(counts, (self.child,))
        return np.asarray(of_known - given + of_child)

    def variances(self, places: Floats) -> Floats:
        """Return the variances of sums that depend on each cell in this way, (n_sums, n_classes)."""
        n_sums, n_classes = len(places), places.shape[-1]
        of_cells = np.square(places).reshape(n_sums, -1, n_classes)
        return np.asarray(np.einsum("mvc,vc->mc", of_cells, trigamma(self.counts).reshape(-1, n_classes)))


def _shares(counts: Floats, axes: tuple[int, ...]) -> Floats:
    return np.asarray(counts / counts.sum(axis=axes, keepdims=True))


@dataclass(frozen=True)
class TuplePosterior:
    """Variances of the scores of a model over tuples, row by row, and of its effects.

    Parameters
    ----------
    variances : AdditiveScores
        The posterior variance of each class's score: that of its log share plus one table per term.
    logs : tuple of TupleLogs
        Those that add up to the scores.
    overlapping : bool
        Whether terms that share a column vary together.
    factor : float
        By which the logarithms are multiplied.
    """

    variances: AdditiveScores
    logs: tuple[TupleLogs, ...]
    overlapping: bool
    factor: float

    def of_rows(self, table: EncodedTable) -> tuple[Floats, Floats]:
        """Return how far the middle of the posterior is from the scores of each row, and their covariance.

        Both of the log odds of two classes, else of the scores of all; the distance is 0.
        """
        variance = np.maximum(self.variances.sums(table), 0.0)
        n_classes = variance.shape[1]
        if n_classes == 2:
            return np.zeros((len(variance), 1)), variance.sum(axis=1)[:, None, None]
        return np.zeros(variance.shape), variance[:, :, None] * np.eye(n_classes)

    def of_effects(self, effects: Effects, schema: Schema, summary: TrainingSummary) -> TupleErrors:
        """Return the standard errors of the effects."""
        del effects
        if any(len(columns) > 2 for columns in self.variances.terms.features):
            raise UnavailableError(
                "intervals of effects are those of columns and pairs: take order 2 or less, or see how "
                "effects vary over replays by seminaive.evaluate.validate"
            )
        return TupleErrors(self, schema, Joints(summary))


@dataclass(frozen=True)
class TupleErrors:
    """How sure the effects of a model over columns and pairs are, as `Effects` shows them.

    Parameters
    ----------
    joints : Joints
        Training weights of values and of their combinations.
    """

    posterior: TuplePosterior
    schema: Schema
    joints: Joints

    @property
    def of_intercept(self) -> Spread:
        """Return the spread of the intercept, the mean score over the training rows."""
        sums = []
        for logs, by_column, _ in self._taken_apart:
            means = (
                self.joints.shares(j) @ weights.reshape(len(weights), -1) for j, weights in by_column.items()
            )
            total = np.asarray(sum(means)).reshape(1, *(size + 1 for size in logs.counts.shape[:-1]))
            sums.append((logs, logs.places(total)))
        return spread_of_classes(self.posterior.variances.prior + self._variance(sums, 1)[0])

    def of_feature(self, effect: FeatureEffect, numbers: Floats | None = None) -> Spread:
        """Return the spread of a category at each code, or of a number at some numbers."""
        table = self._of_columns[self.schema.coded_index[effect.position]]
        if effect.curve is None:
            return spread_of_classes(table)
        column = self.schema.columns[effect.position]
        assert isinstance(column, NumericColumn)  # noqa: S101 - narrows the type
        number = self.schema.numeric_index[effect.position]
        curve = curve_of_number(self.posterior.variances, column, number, table)
        if numbers is None or curve is None:
            raise ValueError("standard errors of a curve are those at some numbers")
        return spread_of_classes(np.maximum(curve.at(numbers), 0.0))

    def of_tuple(self, effect: TupleEffect) -> Spread:
        """Return the spread of each cell of a pair."""
        for logs, _, pure in self._taken_apart:
            if logs.columns == effect.columns and pure is not None:
                _refuse_too_large(pure.size * logs.counts.shape[-1])
                places = logs.places(pure.reshape(-1, *pure.shape[2:]))
                variance = self.posterior.factor**2 * logs.variances(places)
                return spread_of_classes(variance.reshape(*pure.shape[:2], -1))
        raise UnavailableError(f"the model has no pair {effect.name}")

    @cached_property
    def _taken_apart(self) -> list[tuple[TupleLogs, dict[int, Floats], Floats | None]]:
        """Each term with the weights of its cells in the effects of its columns, and in its pure table.

        Weights in the effect of a column have a row for each code; those in a pure table one for each cell.
        """
        found: list[tuple[TupleLogs, dict[int, Floats], Floats | None]] = []
        for logs in self.posterior.logs:
            shape = tuple(size + 1 for size in logs.counts.shape[:-1])
            if len(shape) == 1:
                found.append((logs, {logs.columns[0]: np.eye(shape[0])}, None))
                continue
            shares = [self.joints.shares(j) for j in logs.columns]
            _refuse_too_large((shape[0] * shape[1]) ** 2)
            weight = cell_weights(self.joints.weight(logs.columns), shares, self.joints.total)
            pure, margins = purify(np.eye(shape[0] * shape[1]).reshape(*shape, -1), weight)
            # The margin without the first axis is a table of the second column.
            by_column = {
                j: margin.reshape(-1, *shape) for j, margin in zip(logs.columns[::-1], margins, strict=True)
            }
            found.append((logs, by_column, pure.reshape(*shape, *shape)))
        return found

    @cached_property
    def _of_columns(self) -> dict[int, Floats]:
        """The variances of the effect of each coded column, (n_codes, n_classes)."""
        sums: dict[int, list[tuple[TupleLogs, Floats]]] = defaultdict(list)
        for logs, by_column, _ in self._taken_apart:
            for j, weights in by_column.items():
                # An effect has the mean 0 over the training rows.
                centred = weights - np.tensordot(self.joints.shares(j), weights, 1)
                sums[j].append((logs, logs.places(centred)))
        return {j: self._variance(found, len(found[0][1])) for j, found in sums.items()}

    def _variance(self, sums: list[tuple[TupleLogs, Floats]], n_sums: int) -> Floats:
        """Return the variances of sums over terms, given how these depend on the cells of each."""
        total = np.zeros((n_sums, self.posterior.variances.n_classes))
        for logs, places in sums:
            total += logs.variances(places)
        if self.posterior.overlapping:
            total += _of_shared_columns(sums)
        return np.asarray(self.posterior.factor**2 * np.maximum(total, 0.0))


def _of_shared_columns(sums: list[tuple[TupleLogs, Floats]]) -> Floats | float:
    """Return twice the covariances of different terms that have a column in common."""
    by_column: dict[int, list[tuple[Floats, Floats]]] = defaultdict(list)
    for logs, places in sums:
        for axis, j in enumerate(logs.columns):
            others = tuple(k for k in range(len(logs.columns)) if k != axis)
            margin = places.sum(axis=tuple(1 + k for k in others))
            by_column[j].append((margin, logs.counts.sum(axis=others)))
    total: Floats | float = 0.0
    for found in by_column.values():
        together = sum(margin for margin, _ in found)
        apart = sum(np.square(margin) for margin, _ in found)
        total = total + np.einsum("mvc,vc->mc", np.square(together) - apart, trigamma(found[0][1]))
    return total


def _refuse_too_large(n_entries: int) -> None:
    if n_entries > MOST_ENTRIES:
        raise TooLargeError(
            f"intervals of the effects of a pair would take {n_entries:,} entries, at most {MOST_ENTRIES:,} "
            "are computed: merge rare categories or have fewer bins"
        )


def tree_posterior(
    counts: TupleCounts, class_weight: Floats, parents: Sequence[int], smoothing: float
) -> TuplePosterior:
    """Return the posterior of the scores that `tree_scores` makes; ``smoothing`` is above 0."""
    position = {columns: term for term, columns in enumerate(counts.terms.features)}
    terms, edges = tree_terms(counts.terms.cardinalities, parents)
    n_single = int(terms.offsets[len(parents)])
    singles = TupleCounts(Terms.singles(terms.cardinalities), counts.counts[:n_single])
    alone = share_variances(singles, lambda n_values: np.full(n_values.shape, smoothing))
    tables = np.zeros((terms.n_cells, len(class_weight)))
    tables[:n_single] = alone
    logs = []
    for j, parent in enumerate(parents):
        if parent < 0:
            logs.append(TupleLogs((j,), counts.joint(position[j,]) + smoothing, 0))
    for term, (i, j, child) in enumerate(edges, start=len(parents)):
        axis = (i, j).index(child)
        joint = counts.joint(position[i, j]) + smoothing
        given = trigamma(joint) - trigamma(joint.sum(axis=axis, keepdims=True))
        of_child = alone[terms.block(child)][:-1]
        block = tables[terms.block(term)].reshape(*terms.shape(term), -1)
        block[:-1, :-1] = given - np.expand_dims(of_child, 1 - axis)
        logs.append(TupleLogs((i, j), joint, axis))
    variances = AdditiveScores.of_tables(trigamma(class_weight), terms, tables)
    return TuplePosterior(variances, tuple(logs), overlapping=False, factor=1.0)


def join_posterior(
    counts: TupleCounts, class_counts: Floats, added: Callable[[Floats], Floats]
) -> TuplePosterior:
    """Return the posterior of the mean of all models that join columns in tuples of one order.

    Parameters
    ----------
    counts : TupleCounts
        Of all tuples of an order.
    class_counts : ndarray of shape (n_classes,)
        With what is added to them.
    added : callable
        What is added to the count of each combination, above 0, given the number of combinations.
    """
    cardinalities = counts.terms.cardinalities
    n_columns, order = len(cardinalities), int(counts.terms.orders.max(initial=1))
    factor = 1 / comb(n_columns - 1, order - 1)
    every = _with_subsets(counts)
    variances = AdditiveScores.of_tables(trigamma(class_counts), every.terms, share_variances(every, added))
    # How many ordered pairs of tuples have exactly these columns in common.
    pairs = [comb(n_columns - s, order - s) * comb(n_columns - order, order - s) for s in every.terms.orders]
    logs = []
    if order <= 2:
        for term, columns in enumerate(counts.terms.features):
            joint = counts.joint(term)
            n_values = np.array(float(np.prod(joint.shape[:-1])))
            logs.append(TupleLogs(columns, joint + added(n_values)))
    return TuplePosterior(
        variances.scale(factor**2 * np.array(pairs, dtype=np.float64)), tuple(logs), order > 1, factor
    )


def _with_subsets(counts: TupleCounts) -> TupleCounts:
    """Return the counts of all nonempty subsets of tuples, too, the small ones first."""
    order = int(counts.terms.orders.max(initial=1))
    terms = Terms.up_to_order(counts.terms.cardinalities, order)
    containing = {columns: term for term, columns in enumerate(counts.terms.features)}
    found = np.zeros((terms.n_cells, counts.counts.shape[1]))
    for term, columns in enumerate(terms.features):
        others = [j for j in range(len(terms.cardinalities)) if j not in columns]
        whole = tuple(sorted((*columns, *others[: order - len(columns)])))
        table = counts.block(containing[whole]).reshape(*counts.terms.shape(containing[whole]), -1)
        apart = tuple(axis for axis, j in enumerate(whole) if j not in columns)
        found[terms.block(term)] = table.sum(axis=apart).reshape(-1, found.shape[1])
    return TupleCounts(terms, found)
