"""What each column and each pair of columns has to say beyond a model without it, before it is fitted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import logsumexp

from seminaive.design.classes import by_class
from seminaive.objective.log_loss import posterior_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from seminaive.arrays import Floats
    from seminaive.design.smooth_columns import SmoothColumns
    from seminaive.encode import EncodedTable
    from seminaive.selection.split_rows import SplitRows


def evidence_for(gradient: Floats, curvature: Floats, variances: Sequence[float]) -> Floats:
    """Return the log evidence for each coefficient over that for none, under each of some prior variances.

    Near a coefficient b of 0 the log-likelihood is ``g b - h b^2 / 2``, so that a prior variance v changes
    the log evidence by ``v g^2 / (1 + v h) - log(1 + v h)``, halved. The result has one more axis, first.
    """
    squares = gradient**2
    found = []
    for variance in variances:
        spread = variance * curvature
        found.append(0.5 * (variance * squares / (1 + spread) - np.log1p(spread)))
    return np.stack(found)


class Residuals:
    """What a model leaves unexplained in the training rows of each fold and, last, in all rows.

    A fit leaves less of the rows that it has seen than of others. So the residuals of each training set are
    divided by the root of their dispersion, the sum of their squares over the sum of the variances that the
    model claims.

    Parameters
    ----------
    scores : list of ndarray of shape (n_rows, n_columns) or None
        Of the model fitted to each training set; None is its class shares.
    """

    def __init__(self, rows: SplitRows, scores: Sequence[Floats] | None = None) -> None:
        indicator = np.zeros((rows.n_rows, rows.n_classes))
        indicator[np.arange(rows.n_rows), rows.labels] = 1.0
        # Of two classes the second has the residuals of the first, with the other sign.
        first = rows.n_classes - rows.n_columns
        self._residuals = np.empty((rows.n_rows, rows.n_sets, rows.n_columns))
        self._curvatures = np.empty_like(self._residuals)
        for k in range(rows.n_sets):
            weight = rows.training_weight(k)
            posterior = _shares(indicator, weight) if scores is None else posterior_of(by_class(scores[k]))
            away, variance = indicator - posterior, posterior * (1 - posterior)
            if scores is not None:
                away /= _root_dispersion(away, variance, weight)
            self._residuals[:, k] = (weight[:, None] * away)[:, first:]
            self._curvatures[:, k] = (weight[:, None] * variance)[:, first:]

    @property
    def n_sets(self) -> int:
        """Return the number of training sets."""
        return self._residuals.shape[1]

    def of_products(self, left: Floats, right: Floats, variances: Sequence[float]) -> Floats:
        """Return the evidence for each product of a feature on the left and one on the right.

        Summed over the classes and the features on the left: (variances, training sets, right features).
        """
        total = np.zeros((len(variances), self.n_sets, right.shape[1]))
        squares = right**2
        shape = (*self._residuals.shape[1:], right.shape[1])
        for feature in left.T:
            gradient = (feature[:, None, None] * self._residuals).reshape(len(feature), -1).T @ right
            curvature = (feature[:, None, None] ** 2 * self._curvatures).reshape(len(feature), -1).T @ squares
            found = evidence_for(gradient.reshape(shape), curvature.reshape(shape), variances)
            total += found.sum(axis=2)
        return total


def _root_dispersion(away: Floats, variance: Floats, weight: Floats) -> float:
    """Return the root of the mean square of residuals over the mean variance; 1 where either is nothing."""
    square, claimed = float(weight @ (away**2).sum(axis=1)), float(weight @ variance.sum(axis=1))
    return float(np.sqrt(square / claimed)) if square > 0 and claimed > 0 else 1.0


def _shares(indicator: Floats, weight: Floats) -> Floats:
    """Return the class shares of weighted rows."""
    by_class = weight @ indicator
    return np.asarray(by_class / by_class.sum())


def evidence_for_columns(
    columns: SmoothColumns, table: EncodedTable, residuals: Residuals, variances: Sequence[float]
) -> Floats:
    """Return the evidence for the slope or the main term of each column, whichever has more: (sets, columns).

    It is that under the best of some prior variances.
    """
    ones = np.ones((len(table), 1))
    found = np.zeros((residuals.n_sets, len(columns.columns)))
    for j, blocks in _terms_of_columns(columns, table):
        evidence = sum(residuals.of_products(ones, features, variances).sum(axis=2) for features in blocks)
        np.maximum(found[:, j], np.max(evidence, axis=0), out=found[:, j])
    return found


def _terms_of_columns(columns: SmoothColumns, table: EncodedTable) -> Iterator[tuple[int, Iterator[Floats]]]:
    """Yield the features of all slopes and main terms, a few at a time, each term with its column."""
    column_of = {column.number: j for j, column in enumerate(columns.columns) if column.number is not None}
    for number, features in zip(columns.slopes, columns.slope_features(table.numbers).T, strict=True):
        yield column_of[number], iter([features[:, None]])
    for j in columns.mains:
        yield j, columns.columns[j].main_blocks(table)


def evidence_for_pairs(
    columns: SmoothColumns,
    table: EncodedTable,
    residuals: Residuals,
    pairs: Sequence[tuple[int, int]],
    variances: Sequence[float],
) -> Floats:
    """Return the log evidence for each pair of columns over that for none: (sets, pairs).

    It is that of a prior under which all given variances are equally probable.
    """
    used = sorted({j for pair in pairs for j in pair})
    features = [columns.columns[j].pair_features(table) for j in used]
    every, starts = np.hstack(features), np.cumsum([0, *(feature.shape[1] for feature in features)])
    index = {j: number for number, j in enumerate(used)}
    seconds: dict[int, list[tuple[int, int]]] = {}
    for number, (j, k) in enumerate(pairs):
        seconds.setdefault(index[j], []).append((number, index[k]))
    found = np.zeros((residuals.n_sets, len(pairs)))
    for j, listed in seconds.items():
        numbers, others = zip(*listed, strict=True)
        # All columns from the first of them to the last, those between that are no pair among them.
        first, last = min(others), max(others) + 1
        evidence = residuals.of_products(features[j], every[:, starts[first] : starts[last]], variances)
        by_column = np.add.reduceat(evidence, starts[first:last] - starts[first], axis=2)
        by_pair = by_column[:, :, np.array(others) - first]
        found[:, list(numbers)] = logsumexp(by_pair, axis=0) - np.log(len(variances))
    return found
