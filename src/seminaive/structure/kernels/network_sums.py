"""Bayesian networks of coded columns: posteriors by summing over missing cells.

Legend: i row, v node (a column), x assignment of all nodes, t term, f parent of a term, k value, m visited
nodes; n rows, p nodes, K values of a node. A missing cell has a code of at least the node's cardinality.

A sum over the missing cells is taken depth first in topological order, so that configurations share the
factors of their common beginning. It leaves out barren nodes (missing, with no descendant that is observed or
a target) and factors that no path of missing cells connects with the target: both are constant in it.
"""

from typing import NamedTuple

import numpy as np

from seminaive.kernels.compile_options import kernel, part

MISSING = -1


class NetworkArrays(NamedTuple):
    """A network as arrays.

    order (p,) nodes, parents first; cardinalities (p,); first_term (p + 1,) where each node's terms begin;
    first_feature (T + 1,) where the parents of each term begin; features (F,) parents; strides (F,) of their
    codes in the tables; offsets (T,) where each term's table begins; tables (cells,) float64 scores, the
    values of the child varying fastest. All but the last int64.
    """

    order: np.ndarray
    cardinalities: np.ndarray
    first_term: np.ndarray
    first_feature: np.ndarray
    features: np.ndarray
    strides: np.ndarray
    offsets: np.ndarray
    tables: np.ndarray


class Scratch(NamedTuple):
    """Arrays that the passes over rows overwrite: kernels that allocate nothing are quick to compile.

    x, nodes, state (p,) int64; needed, reached, free (p,) bool; logs (p + 1,); uniforms (p,); scores (p + 1,
    K); all but the first six float64.
    """

    x: np.ndarray
    nodes: np.ndarray
    state: np.ndarray
    needed: np.ndarray
    reached: np.ndarray
    free: np.ndarray
    logs: np.ndarray
    uniforms: np.ndarray
    scores: np.ndarray


def scratch_of(net):
    """Return scratch arrays for one pass at a time over rows of a network."""
    p = len(net.cardinalities)
    whole = [np.zeros(p, np.int64) for _ in range(3)]
    flags = [np.zeros(p, np.bool_) for _ in range(3)]
    return Scratch(
        *whole, *flags, np.zeros(p + 1), np.zeros(p), np.zeros((p + 1, int(net.cardinalities.max(initial=1))))
    )


@kernel
def log_conditional(net, v, x, out):
    """Fill out (>= K,) with log P(v = k | parents), the parents having the values of x (p,) int64."""
    n_values = net.cardinalities[v]
    for k in range(n_values):
        out[k] = 0.0
    for t in range(net.first_term[v], net.first_term[v + 1]):
        cell = net.offsets[t]
        for f in range(net.first_feature[t], net.first_feature[t + 1]):
            cell += x[net.features[f]] * net.strides[f]
        for k in range(n_values):
            out[k] += net.tables[cell + k]
    highest = out[0]
    for k in range(1, n_values):
        highest = out[k] if out[k] > highest else highest
    total = 0.0
    for k in range(n_values):
        total += np.exp(out[k] - highest)
    shift = highest + np.log(total)
    for k in range(n_values):
        out[k] -= shift


@part
def read_row(net, codes, x):
    """Fill x (p,) int64 with one row's codes (p,), MISSING where a code is no value."""
    for v in range(x.shape[0]):
        code = np.int64(codes[v])
        x[v] = code if 0 <= code < net.cardinalities[v] else MISSING


@part
def mark_needed(net, x, needed):
    """Tell in needed (p,) bool, true for targets, which are not barren: observed, or above a needed node."""
    p = x.shape[0]
    for v in range(p):
        needed[v] = needed[v] or x[v] != MISSING
    for i in range(p - 1, -1, -1):
        v = net.order[i]
        if needed[v]:
            for f in range(net.first_feature[net.first_term[v]], net.first_feature[net.first_term[v + 1]]):
                needed[net.features[f]] = True


@part
def visited_nodes(net, x, target, needed, reached, nodes):
    """Fill nodes with those whose factors depend on the target given x, in order; return their number.

    x (p,) has MISSING at the target. needed and reached (p,) bool are scratch: the second tells the missing
    nodes that a path of missing cells connects with the target.
    """
    p = x.shape[0]
    for v in range(p):
        needed[v] = v == target
        reached[v] = v == target
    mark_needed(net, x, needed)
    changed = True
    while changed:
        changed = False
        for v in range(p):
            if not needed[v]:
                continue
            first = net.first_feature[net.first_term[v]]
            last = net.first_feature[net.first_term[v + 1]]
            touched = reached[v]
            for f in range(first, last):
                touched = touched or reached[net.features[f]]
            if not touched:
                continue
            if x[v] == MISSING and not reached[v]:
                reached[v] = changed = True
            for f in range(first, last):
                u = net.features[f]
                if x[u] == MISSING and not reached[u]:
                    reached[u] = changed = True
    m = 0
    for i in range(p):
        v = net.order[i]
        if not needed[v]:
            continue
        touched = reached[v]
        for f in range(net.first_feature[net.first_term[v]], net.first_feature[net.first_term[v + 1]]):
            touched = touched or reached[net.features[f]]
        if touched:
            nodes[m] = v
            m += 1
    return m


@part
def count_configurations(net, x, nodes, m):
    """Return how many values the missing ones of m nodes take together, as a float64."""
    configurations = 1.0
    for i in range(m):
        if x[nodes[i]] == MISSING:
            configurations *= net.cardinalities[nodes[i]]
    return configurations


@part
def start_enumeration(x, nodes, m, free, state):
    """Mark the missing ones of m nodes in free (p,) bool, and set state (p,) int64 to the beginning."""
    for i in range(m):
        free[i] = x[nodes[i]] == MISSING
        state[i] = -1


@part
def next_configuration(net, x, nodes, m, free, state, logs, scores):
    """Move to the next configuration of the missing nodes, depth first; return whether there is one.

    After the call x holds the configuration and logs[m] its log probability, the product over m nodes. logs
    (p + 1,), scores (p, K) and state are kept between calls; state[0] is -1 at the beginning.
    """
    i = 0 if state[0] == -1 else m - 1
    while i >= 0:
        if i == m:
            return True
        v = nodes[i]
        if state[i] == -1:
            log_conditional(net, v, x, scores[i])
            if not free[i]:
                state[i] = 0
                logs[i + 1] = logs[i] + scores[i, x[v]]
                i += 1
                continue
        state[i] += 1
        if not free[i] or state[i] == net.cardinalities[v]:
            state[i] = -1
            i -= 1
        else:
            x[v] = state[i]
            logs[i + 1] = logs[i] + scores[i, state[i]]
            i += 1
    return False


@kernel
def joint_log_scores(net, codes, target, most, scratch, out, beyond):
    """Fill out (n, K) with log P(target = k, observed cells), up to a constant per row.

    codes (n, p) int64; those of the target are not read. Rows whose missing cells take more than ``most``
    values together are left out, and marked in beyond (n,) bool.
    """
    x, nodes, logs = scratch.x, scratch.nodes, scratch.logs
    highest = scratch.scores[x.shape[0]]
    for i in range(codes.shape[0]):
        read_row(net, codes[i], x)
        x[target] = MISSING
        m = visited_nodes(net, x, target, scratch.needed, scratch.reached, nodes)
        beyond[i] = count_configurations(net, x, nodes, m) > most
        if beyond[i]:
            continue
        start_enumeration(x, nodes, m, scratch.free, scratch.state)
        for k in range(out.shape[1]):
            out[i, k] = 0.0
            highest[k] = -np.inf
        while next_configuration(net, x, nodes, m, scratch.free, scratch.state, logs, scratch.scores):
            k = x[target]
            if logs[m] > highest[k]:
                out[i, k] = out[i, k] * np.exp(highest[k] - logs[m]) + 1.0
                highest[k] = logs[m]
            else:
                out[i, k] += np.exp(logs[m] - highest[k])
        for k in range(out.shape[1]):
            out[i, k] = highest[k] + np.log(out[i, k])
