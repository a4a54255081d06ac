"""The group penalty: entries in closed form, monotone paths, minima of the objective."""

import numpy as np
import pytest
from scipy.special import xlogy
from scipy.stats import chi2_contingency

from seminaive.encode import TableEncoder
from seminaive.scores import Interpolation
from seminaive.solvers.group_path import entry_strengths, geometric_strengths, group_alphas
from seminaive.statistics import TableStatistics


@pytest.fixture
def mixed():
    rng = np.random.default_rng(0)
    labels = rng.choice(3, 200, p=[0.5, 0.3, 0.2])
    sky = (labels + (rng.random(200) < 0.5)) % 3
    wind = rng.integers(0, 4, 200)
    x = rng.normal(labels, 1 + 0.5 * labels)
    noise = rng.normal(size=200)
    return sky, wind, x, noise, labels


def interpolation_of(sky, wind, x, noise, labels, smoothing=0.0):
    X = np.array(list(zip(sky, wind, x, noise, strict=True)), dtype=object)
    table = TableEncoder.learn(X, categorical_features=[0, 1])[1]
    return Interpolation.of(TableStatistics.of(table, labels, 3), smoothing=smoothing)


def entry_of_a_number(x, labels):
    """The spec's closed form: sum_j n_j [(m_j - m)^2 / s^2 + (s_j - s)(s_j^2 + (m_j - m)^2 - s^2) / s^3]."""
    total = 0.0
    for c in range(3):
        of_class = x[labels == c]
        shift, deviation = of_class.mean() - x.mean(), of_class.std()
        bracket = (
            shift**2 / x.var() + (deviation - x.std()) * (deviation**2 + shift**2 - x.var()) / x.std() ** 3
        )
        total += len(of_class) * bracket
    return total


def test_features_enter_at_chi_square_and_at_the_closed_form_of_numbers(mixed):
    sky, wind, x, noise, labels = mixed
    entries = entry_strengths(interpolation_of(*mixed), adaptive=True)
    for entry, column in zip(entries[:2], (sky, wind), strict=True):
        counts = np.zeros((column.max() + 1, 3))
        np.add.at(counts, (column, labels), 1)
        np.testing.assert_allclose(entry, chi2_contingency(counts, correction=False).statistic, rtol=1e-12)
    for entry, column in zip(entries[2:], (x, noise), strict=True):
        np.testing.assert_allclose(entry, entry_of_a_number(column, labels), rtol=1e-10)


@pytest.mark.parametrize("adaptive", [True, False])
def test_a_feature_is_out_at_its_entry_and_in_just_below(mixed, adaptive):
    interpolation = interpolation_of(*mixed)
    entries = entry_strengths(interpolation, adaptive=adaptive)
    for feature, entry in enumerate(entries):
        strengths = np.array([entry * (1 + 1e-6), entry * (1 - 1e-6)])
        above, below = group_alphas(interpolation, strengths, adaptive=adaptive).alphas[:, feature]
        assert above == 0
        assert below > 0


@pytest.mark.parametrize("smoothing", [0.0, 1.0])
@pytest.mark.parametrize("adaptive", [True, False])
def test_alphas_rise_as_the_strength_falls_and_end_at_naive_bayes(mixed, adaptive, smoothing):
    interpolation = interpolation_of(*mixed, smoothing=smoothing)
    largest = entry_strengths(interpolation, adaptive=adaptive).max()
    path = group_alphas(interpolation, geometric_strengths(largest, 60, 1e-9), adaptive=adaptive)
    assert (path.alphas[0] == 0).all()
    assert (np.diff(path.alphas, axis=0) >= -1e-12).all()
    np.testing.assert_allclose(path.alphas[-1], 1, atol=1e-5)


def objective(interpolation, feature, alpha, penalty):
    """Minus the log likelihood of one feature at alpha, up to a constant, plus penalty times alpha."""
    if feature < interpolation.n_tables:
        block = slice(*interpolation.terms.offsets[feature : feature + 2])
        mixed = (1 - alpha) + alpha * interpolation.lift[block]
        return -xlogy(interpolation.counts[block], mixed).sum() + penalty * alpha
    number = feature - interpolation.n_tables
    normal, weight = interpolation.normal, interpolation.weight[number]
    of_classes = np.sqrt(normal.class_variance[number])
    deviation = (1 - alpha) * np.sqrt(normal.variance[number]) + alpha * of_classes
    rest = (1 - alpha) * normal.shift[number]
    return (
        weight * (np.log(deviation) + (of_classes**2 + rest**2) / (2 * deviation**2))
    ).sum() + penalty * alpha


@pytest.mark.parametrize("smoothing", [0.0, 1.0])
def test_alphas_minimise_the_objective_on_the_line(mixed, smoothing):
    interpolation = interpolation_of(*mixed, smoothing=smoothing)
    strengths = geometric_strengths(50.0, 12, 1e-3)
    path = group_alphas(interpolation, strengths, adaptive=False)
    for feature, factor in enumerate(interpolation.distances):
        for strength, alpha in zip(strengths, path.alphas[:, feature], strict=True):
            grid = np.linspace(0, 1, 2001)
            values = [objective(interpolation, feature, a, strength * factor) for a in grid]
            found = objective(interpolation, feature, alpha, strength * factor)
            assert found <= min(values) + 1e-9 * abs(found)


def test_a_narrow_class_makes_a_slope_that_rises_first_and_the_path_stays_monotone():
    rng = np.random.default_rng(3)
    labels = np.repeat([0, 1], [20, 400])
    x = np.where(labels == 0, rng.normal(scale=1e-3, size=420), rng.normal(size=420))
    table = TableEncoder.learn(x[:, None])[1]
    interpolation = Interpolation.of(TableStatistics.of(table, labels, 2))
    largest = float(entry_strengths(interpolation, adaptive=True)[0])
    path = group_alphas(interpolation, geometric_strengths(2 * largest, 200, 1e-6), adaptive=True)
    assert (np.diff(path.alphas[:, 0]) >= 0).all()
    assert (path.alphas[path.strengths > largest] == 0).all()
    assert path.alphas[-1, 0] > 0.99


def test_a_feature_that_says_nothing_never_enters():
    labels = np.tile([0, 1], 20)
    X = np.array([[str(i // 2 % 3), 1.5] for i in range(40)], dtype=object)
    table = TableEncoder.learn(X, categorical_features=[0])[1]
    interpolation = Interpolation.of(TableStatistics.of(table, labels, 2))
    assert (entry_strengths(interpolation, adaptive=True) == 0).all()
    assert (group_alphas(interpolation, np.array([0.0]), adaptive=True).alphas == 0).all()


@pytest.mark.parametrize("adaptive", [True, False])
def test_no_feature_is_in_at_the_largest_entry(adaptive):
    rng = np.random.default_rng(0)
    for _ in range(200):  # the strength times the factor may round below the slope that it was divided from
        labels = rng.integers(0, 2, 40)
        table = TableEncoder.learn(rng.integers(0, 3, (40, 2)), categorical_features="all")[1]
        interpolation = Interpolation.of(TableStatistics.of(table, labels, 2))
        entries = entry_strengths(interpolation, adaptive=adaptive)
        assert (group_alphas(interpolation, entries.max(keepdims=True), adaptive=adaptive).alphas == 0).all()
