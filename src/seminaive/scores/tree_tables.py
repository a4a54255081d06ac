"""Tree-augmented naive Bayes: every feature has one parent among the features besides the class."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from seminaive.scores.additive_scores import AdditiveScores
from seminaive.scores.generative_terms import log_priors
from seminaive.statistics import Terms, log_shares

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seminaive.arrays import Floats
    from seminaive.statistics import TupleCounts


def tree_scores(
    counts: TupleCounts, class_weight: Floats, parents: Sequence[int], smoothing: float
) -> AdditiveScores:
    """Return ``log P(c) + sum_j log P(x_j | c) + sum_j log(P(x_j | x_parent, c) / P(x_j | c))``.

    The second sum has one term per edge of the tree. A parent that is unseen or missing makes its term 0, so
    that ``log P(x_j | c)`` is left; an unseen or missing child contributes nothing at all.

    Parameters
    ----------
    counts : TupleCounts
        Of all single columns, and of all pairs that are edges of the tree.
    class_weight : ndarray of shape (n_classes,)
    parents : sequence of int
        The parent of each column; -1 for none.
    smoothing : float
        Added to every count, in rows.
    """
    position = {columns: term for term, columns in enumerate(counts.terms.features)}
    terms, edges = tree_terms(counts.terms.cardinalities, parents)
    singles = terms.features[: len(parents)]
    tables = np.zeros((terms.n_cells, len(class_weight)))
    alone = [_given_others(counts.joint(position[single]), 0, smoothing) for single in singles]
    for term, table in enumerate(alone):
        _put(tables, terms, term, table)
    for term, (i, j, child) in enumerate(edges, start=len(singles)):
        axis = (i, j).index(child)
        given_parent = _given_others(counts.joint(position[i, j]), axis, smoothing)
        _put(tables, terms, term, given_parent - np.expand_dims(alone[child], 1 - axis))
    return AdditiveScores.of_tables(log_priors(class_weight), terms, tables)


def tree_terms(
    cardinalities: tuple[int, ...], parents: Sequence[int]
) -> tuple[Terms, list[tuple[int, int, int]]]:
    """Return the terms of a tree, single columns first, and its edges: both columns, then the child."""
    edges = [
        (min(child, parent), max(child, parent), child) for child, parent in enumerate(parents) if parent >= 0
    ]
    singles = tuple((j,) for j in range(len(parents)))
    return Terms((*singles, *((i, j) for i, j, _ in edges)), cardinalities), edges


def _given_others(counts: Floats, axis: int, added: float) -> Floats:
    """Return the smoothed log share of each value along one axis, given those along the others."""
    return log_shares(counts, counts.sum(axis=axis, keepdims=True), counts.shape[axis], added)


def _put(tables: Floats, terms: Terms, term: int, values: Floats) -> None:
    """Write one term's contributions of known values, an axis per column and the classes last."""
    block = tables[terms.block(term)].reshape(*terms.shape(term), tables.shape[1])
    block[tuple(slice(size) for size in values.shape[:-1])] = values
