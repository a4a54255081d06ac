"""Greedy searches against plain NumPy that computes every score anew."""

import numpy as np
import pytest
from scipy.special import log_softmax

from seminaive.encode import TableEncoder
from seminaive.scores import Interpolation
from seminaive.solvers.stagewise import (
    GridSearch,
    GridSettings,
    backward_elimination,
    forward_selection,
    stagewise_path,
)
from seminaive.statistics import TableStatistics


class PlainReference:
    """Training errors and deviances by Eqs. 2 to 5 and 13, feature by feature, from the raw table."""

    def __init__(self, columns, labels, weights, smoothing=1.0):
        self.labels, self.weights = labels, weights
        self.n_classes = int(labels.max()) + 1
        self.prior = np.log(np.bincount(labels, weights) / weights.sum())
        self.likelihoods = [
            self._category(column, smoothing) if column.dtype.kind == "i" else self._number(column)
            for column in columns
        ]

    def _category(self, column, smoothing):
        n_values = column.max() + 1
        joint = np.zeros((n_values, self.n_classes))
        np.add.at(joint, (column, self.labels), self.weights)
        joint += smoothing
        by_class, pooled = joint / joint.sum(axis=0), joint.sum(axis=1) / joint.sum()

        def at(alpha):
            return np.log(alpha * by_class + (1 - alpha) * pooled[:, None])[column]

        return at

    def _number(self, column):
        present = ~np.isnan(column)

        def moments(rows):
            mean = np.average(column[rows], weights=self.weights[rows])
            return mean, np.sqrt(np.average((column[rows] - mean) ** 2, weights=self.weights[rows]))

        overall = np.array(moments(present))
        of_classes = np.array([moments(present & (self.labels == c)) for c in range(self.n_classes)])

        def at(alpha):
            mean, deviation = (alpha * of_classes + (1 - alpha) * overall).T
            logs = -np.log(deviation) - (column[:, None] - mean) ** 2 / (2 * deviation**2)
            return np.where(present[:, None], logs, 0.0)

        return at

    def scores(self, alphas):
        return self.prior + sum(at(alpha) for at, alpha in zip(self.likelihoods, alphas, strict=True))

    def error(self, alphas):
        return self.weights[self.scores(alphas).argmax(axis=1) != self.labels].sum() / self.weights.sum()

    def deviance(self, alphas):
        logs = log_softmax(self.scores(alphas), axis=1)[np.arange(len(self.labels)), self.labels]
        return -2 * self.weights @ logs / self.weights.sum()


def stagewise_reference(plain, n_features, n_intervals, look_ahead, patience, order, ties):
    """Algorithm 1, loop by loop."""
    positions = np.zeros(n_features, dtype=int)
    path, evaluations = [positions.copy()], 0
    lowest, stale = plain.error(positions), 0
    while (positions < n_intervals).any() and (patience is None or stale < patience):
        best, chosen = np.inf, None
        for feature in order:
            within, to = np.inf, None
            for position in range(
                positions[feature] + 1, min(positions[feature] + look_ahead, n_intervals) + 1
            ):
                trial = positions.copy()
                trial[feature] = position
                error = plain.error(trial / n_intervals)
                evaluations += 1
                if error <= within:
                    within, to = error, position
            if to is not None and (within <= best if ties == "last" else within < best):
                best, chosen = within, (feature, to)
        positions[chosen[0]] = chosen[1]
        path.append(positions.copy())
        stale = 0 if best < lowest else stale + 1
        lowest = min(lowest, best)
    return np.array(path) / n_intervals, evaluations


def mixed_table(seed, n_rows=80, n_classes=3):
    rng = np.random.default_rng(seed)
    labels = np.sort(rng.choice(n_classes, n_rows, p=[0.5, 0.3, 0.2]))[rng.permutation(n_rows)]
    columns = [
        (labels + (rng.random(n_rows) < 0.5)) % 3,
        rng.integers(0, 4, n_rows),
        rng.normal(labels),
        rng.normal(0.7 * labels, 1 + labels),
        (labels + (rng.random(n_rows) < 0.6)) % 3,
    ]
    columns[3][rng.random(n_rows) < 0.2] = np.nan
    return columns, labels, rng.integers(1, 4, n_rows).astype(float)


def problem(columns, labels, weights):
    """The encoded table, the interpolation, and the columns in the order of terms: categories first."""
    in_order = [column for column in columns if column.dtype.kind == "i"]
    in_order += [column for column in columns if column.dtype.kind != "i"]
    X = np.array(list(zip(*in_order, strict=True)), dtype=object)
    kinds = [column.dtype.kind == "i" for column in in_order]
    table = TableEncoder.learn(X, categorical_features=kinds)[1]
    statistics = TableStatistics.of(table, labels, int(labels.max()) + 1, weights)
    return in_order, table, Interpolation.of(statistics)


@pytest.mark.parametrize("ties", ["first", "last"])
@pytest.mark.parametrize("patience", [1, 5, None])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_stagewise_path_equals_plain_numpy_step_by_step(seed, patience, ties):
    columns, labels, weights = mixed_table(seed)
    in_order, table, interpolation = problem(columns, labels, weights)
    order = np.random.default_rng(seed).permutation(len(columns))
    path = stagewise_path(
        interpolation, table, labels, weights, GridSettings(10, order, ties), look_ahead=4, patience=patience
    )
    plain = PlainReference(in_order, labels, weights)
    expected, evaluations = stagewise_reference(plain, len(columns), 10, 4, patience, order, ties)
    np.testing.assert_array_equal(path.alphas, expected)
    assert path.n_evaluations == evaluations
    np.testing.assert_allclose(path.training_error, [plain.error(a) for a in expected], rtol=1e-12)
    np.testing.assert_allclose(path.deviance, [plain.deviance(a) for a in expected], rtol=1e-10)


def test_without_an_end_to_patience_every_alpha_reaches_one():
    columns, labels, weights = mixed_table(3)
    _, table, interpolation = problem(columns, labels, weights)
    path = stagewise_path(
        interpolation, table, labels, weights, GridSettings(5, np.arange(5)), look_ahead=2, patience=None
    )
    assert (path.alphas[-1] == 1).all()
    steps = np.diff(path.alphas, axis=0)
    assert ((steps > 0).sum(axis=1) == 1).all()
    assert (steps >= 0).all()


def forward_reference(plain, n_features, order):
    chosen, evaluations = np.zeros(n_features), 0
    while not chosen.all():
        trials = [(plain.error(np.maximum(chosen, np.eye(n_features)[j])), j) for j in order if not chosen[j]]
        evaluations += len(trials)
        least = min(error for error, _ in trials)
        if least >= plain.error(chosen):
            break
        chosen[next(j for error, j in trials if error == least)] = 1
    return chosen, evaluations


def backward_reference(plain, n_features, order):
    chosen, evaluations = np.ones(n_features), 0
    while chosen.any():
        trials = [(plain.error(np.minimum(chosen, 1 - np.eye(n_features)[j])), j) for j in order if chosen[j]]
        evaluations += len(trials)
        least = min(error for error, _ in trials)
        if least > plain.error(chosen):
            break
        chosen[next(j for error, j in trials if error == least)] = 0
    return chosen, evaluations


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    ("search", "reference"),
    [(forward_selection, forward_reference), (backward_elimination, backward_reference)],
)
def test_selections_equal_brute_force(seed, search, reference):
    columns, labels, weights = mixed_table(seed)
    in_order, table, interpolation = problem(columns, labels, weights)
    order = np.random.default_rng(seed).permutation(len(columns))
    path = search(interpolation, table, labels, weights, GridSettings(1, order))
    expected, evaluations = reference(PlainReference(in_order, labels, weights), len(columns), order)
    np.testing.assert_array_equal(path.alphas[-1], expected)
    assert path.n_evaluations == evaluations


def test_threads_do_not_change_the_path(monkeypatch):
    monkeypatch.setattr("seminaive.solvers.stagewise.THREADED_CELLS", 1)
    columns, labels, weights = mixed_table(4)
    _, table, interpolation = problem(columns, labels, weights)
    paths = [
        stagewise_path(
            interpolation,
            table,
            labels,
            weights,
            GridSettings(20, np.arange(5), n_threads=n_threads),
            look_ahead=10,
            patience=None,
        )
        for n_threads in (1, 3)
    ]
    np.testing.assert_array_equal(paths[0].alphas, paths[1].alphas)


def test_scores_kept_along_a_search_stay_those_of_the_positions():
    columns, labels, weights = mixed_table(5)
    _, table, interpolation = problem(columns, labels, weights)
    search = GridSearch(interpolation, table, labels, weights, GridSettings(40, np.arange(5)))
    rng = np.random.default_rng(0)
    for _ in range(500):  # there and back again: rounding must not build up
        search.move(int(rng.integers(5)), int(rng.integers(41)))
    sorted_rows = np.argsort(labels, kind="stable")
    expected = interpolation.scores_at(search.positions / 40).joint_log_scores(table)[sorted_rows]
    np.testing.assert_allclose(search._scores, expected, atol=1e-11)


@pytest.mark.parametrize("search", [forward_selection, backward_elimination])
def test_a_feature_that_says_nothing_is_never_taken(search):
    columns, labels, weights = mixed_table(6)
    columns += [np.zeros(len(labels), dtype=int), np.full(len(labels), 2.5)]
    in_order, table, interpolation = problem(columns, labels, weights)
    silent = np.array([len(np.unique(column)) == 1 for column in in_order])
    settings = GridSettings(1, np.arange(len(columns))[::-1].copy())
    path = search(interpolation, table, labels, weights, settings)
    assert (path.alphas[:, silent] == 0).all()
    whole = stagewise_path(interpolation, table, labels, weights, settings, look_ahead=1, patience=None)
    np.testing.assert_array_equal(whole.alphas[-1], ~silent)
