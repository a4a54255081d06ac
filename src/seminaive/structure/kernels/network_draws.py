"""Draws of missing cells from Bayesian networks, exact or by Gibbs sampling, and posteriors by such draws.

Legend: as in ``network_sums``; d draw, D draws.
"""

import numpy as np

from seminaive.kernels.compile_options import kernel, part
from seminaive.structure.kernels.network_sums import (
    MISSING,
    count_configurations,
    log_conditional,
    mark_needed,
    next_configuration,
    read_row,
    start_enumeration,
    visited_nodes,
)


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
