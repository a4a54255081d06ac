"""Bayesian networks of coded columns: posteriors by summing over missing cells, draws of missing cells.

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


@kernel
def gibbs_log_scores(net, codes, target, uniforms, scratch, out):
    """Fill out (n, K) with logs of posteriors averaged over Gibbs draws made from uniforms (sweeps, p)."""
    for i in range(codes.shape[0]):
        read_row(net, codes[i], scratch.x)
        scratch.x[target] = MISSING
        m = visited_nodes(net, scratch.x, target, scratch.needed, scratch.reached, scratch.nodes)
        gibbs_posterior(net, target, m, uniforms, scratch, out[i])


@part
def full_conditional(net, x, v, nodes, m, conditional, scores):
    """Fill conditional (>= K,) with P(v = k | all others) up to a factor, from m nodes; return the sum.

    x keeps its value of v; scores (>= K,) is scratch.
    """
    kept = x[v]
    n_values = net.cardinalities[v]
    for k in range(n_values):
        conditional[k] = 0.0
    for i in range(m):
        u = nodes[i]
        if u == v:
            log_conditional(net, v, x, scores)
            for k in range(n_values):
                conditional[k] += scores[k]
            continue
        is_child = False
        for f in range(net.first_feature[net.first_term[u]], net.first_feature[net.first_term[u + 1]]):
            is_child = is_child or net.features[f] == v
        if is_child:
            for k in range(n_values):
                x[v] = k
                log_conditional(net, u, x, scores)
                conditional[k] += scores[x[u]]
            x[v] = kept
    highest = conditional[0]
    for k in range(1, n_values):
        highest = conditional[k] if conditional[k] > highest else highest
    total = 0.0
    for k in range(n_values):
        conditional[k] = np.exp(conditional[k] - highest)
        total += conditional[k]
    return total


@part
def pick(shares, n_values, threshold):
    """Return the first value at which the cumulated shares exceed the threshold."""
    below = 0.0
    for k in range(n_values - 1):
        below += shares[k]
        if below > threshold:
            return k
    return n_values - 1


@part
def draw_forward(net, x, nodes, m, free, thresholds, scores):
    """Draw the free ones of m nodes given their parents alone, by thresholds (>= p,) in [0, 1)."""
    for i in range(m):
        v = nodes[i]
        if free[i]:
            log_conditional(net, v, x, scores)
            for k in range(net.cardinalities[v]):
                scores[k] = np.exp(scores[k])
            x[v] = pick(scores, net.cardinalities[v], thresholds[v])


@part
def gibbs_posterior(net, target, m, uniforms, scratch, out):
    """Fill out (K,) with the log of the mean of P(target | all others) over sweeps of Gibbs draws.

    uniforms (sweeps + 1, p): the first row starts by drawing from the parents, a tenth of the others is left
    out of the mean. scratch has the row and its m nodes; its missing cells are overwritten.
    """
    x, nodes, free = scratch.x, scratch.nodes, scratch.free
    conditional = scratch.scores[x.shape[0]]
    for i in range(m):
        free[i] = x[nodes[i]] == MISSING
    draw_forward(net, x, nodes, m, free, uniforms[0], scratch.scores[0])
    for k in range(out.shape[0]):
        out[k] = 0.0
    for sweep in range(1, uniforms.shape[0]):
        for i in range(m):
            v = nodes[i]
            if not free[i]:
                continue
            total = full_conditional(net, x, v, nodes, m, conditional, scratch.scores[0])
            if v == target and sweep > uniforms.shape[0] // 10:
                for k in range(out.shape[0]):
                    out[k] += conditional[k] / total
            x[v] = pick(conditional, net.cardinalities[v], uniforms[sweep, v] * total)
    for k in range(out.shape[0]):
        out[k] = np.log(out[k]) if out[k] > 0 else -1e300


@kernel
def draw_missing(net, codes, most, sweeps, generator, scratch, thresholds, drawn, out):
    """Fill out (D, n, p) with D draws of the missing cells of each row given its observed ones.

    codes (n, p) int64. Draws are exact where the missing cells above an observed one take at most ``most``
    values together, else they are ``sweeps`` Gibbs sweeps apart. Barren nodes are drawn from their parents.
    thresholds (D,) float64 and drawn (D, p) int64 are overwritten.
    """
    n_draws, n, p = out.shape
    x, nodes, needed, barren = scratch.x, scratch.nodes, scratch.needed, scratch.reached
    for i in range(n):
        read_row(net, codes[i], x)
        for v in range(p):
            needed[v] = False
        mark_needed(net, x, needed)
        m = 0
        for j in range(p):
            barren[j] = not needed[net.order[j]]
            if needed[net.order[j]]:
                nodes[m] = net.order[j]
                m += 1
        configurations = count_configurations(net, x, nodes, m)
        if configurations == 1.0:
            for d in range(n_draws):
                copy_row(x, drawn[d])
        elif configurations <= most:
            enumerate_draws(net, m, scratch, thresholds, generator, drawn)
        else:
            gibbs_draws(net, m, sweeps, scratch, generator, drawn)
        for d in range(n_draws):
            if m < p:
                for v in range(p):
                    scratch.uniforms[v] = generator.random()
                draw_forward(net, drawn[d], net.order, p, barren, scratch.uniforms, scratch.scores[0])
            copy_row(drawn[d], out[d, i])


@part
def copy_row(source, out):
    """Copy one row (p,) to another."""
    for v in range(source.shape[0]):
        out[v] = source[v]


@part
def enumerate_draws(net, m, scratch, thresholds, generator, drawn):
    """Fill drawn (D, p) with exact draws: a first enumeration for the total, a second one to find them."""
    x, nodes, logs = scratch.x, scratch.nodes, scratch.logs
    start_enumeration(x, nodes, m, scratch.free, scratch.state)
    total = 0.0
    highest = -np.inf
    while next_configuration(net, x, nodes, m, scratch.free, scratch.state, logs, scratch.scores):
        if logs[m] > highest:
            total = total * np.exp(highest - logs[m]) + 1.0
            highest = logs[m]
        else:
            total += np.exp(logs[m] - highest)
    for d in range(drawn.shape[0]):
        # Below the total by more than the rounding of the second sum.
        thresholds[d] = generator.random() * total * (1.0 - 1e-12)
    below = 0.0
    while next_configuration(net, x, nodes, m, scratch.free, scratch.state, logs, scratch.scores):
        above = below + np.exp(logs[m] - highest)
        for d in range(drawn.shape[0]):
            if below <= thresholds[d] < above:
                copy_row(x, drawn[d])
        below = above


@part
def gibbs_draws(net, m, sweeps, scratch, generator, drawn):
    """Fill drawn (D, p) with the states of a Gibbs sampler, ``sweeps`` sweeps apart."""
    x, nodes, free, conditional = scratch.x, scratch.nodes, scratch.free, scratch.scores[1]
    for i in range(m):
        free[i] = x[nodes[i]] == MISSING
    for v in range(x.shape[0]):
        scratch.uniforms[v] = generator.random()
    draw_forward(net, x, nodes, m, free, scratch.uniforms, scratch.scores[0])
    for d in range(drawn.shape[0]):
        for _ in range(sweeps):
            for i in range(m):
                if free[i]:
                    total = full_conditional(net, x, nodes[i], nodes, m, conditional, scratch.scores[0])
                    x[nodes[i]] = pick(conditional, net.cardinalities[nodes[i]], generator.random() * total)
        copy_row(x, drawn[d])
