"""The generator has the frequencies of Table 3.1 and the Markov boundary that was planted."""

import numpy as np
import pytest
from scipy.stats import chisquare

from seminaive.errors import InputError
from seminaive_experiments.papers import veterans as source
from seminaive_experiments.papers.veterans import LABEL, LAYERS, MARKOV_BOUNDARY, joint_distribution, veterans

ORDER = [name for layer in LAYERS for name in layer]


def test_drawn_frequencies_are_those_of_the_table():
    """Chi-square on 15 variables; one would fail by chance in ten thousand tests."""
    records = veterans(200_000, random_state=3)
    table = {**records.X, LABEL: records.y}
    for name, shares in source._variables().items():
        cells = np.asarray(table[name], dtype=object)
        found = [sum(value != value for value in cells) if v == "NA" else (cells == v).sum() for v in shares]
        expected = np.array(list(shares.values())) * len(cells)
        assert chisquare(found, expected / expected.sum() * len(cells)).pvalue > 1e-4 / len(ORDER), name


def test_given_the_boundary_the_disorder_depends_on_nothing_else():
    joint = joint_distribution()
    label = ORDER.index(LABEL)
    outside = tuple(j for j, name in enumerate(ORDER) if name not in MARKOV_BOUNDARY and name != LABEL)
    shares = joint / joint.sum(axis=label, keepdims=True)
    boundary = joint.sum(axis=outside, keepdims=True)
    np.testing.assert_allclose(
        shares, np.broadcast_to(boundary / boundary.sum(axis=label, keepdims=True), shares.shape), rtol=1e-9
    )


@pytest.mark.parametrize("left_out", sorted(MARKOV_BOUNDARY))
def test_every_variable_of_the_boundary_is_needed(left_out):
    joint = joint_distribution()
    label = ORDER.index(LABEL)
    shares = joint / joint.sum(axis=label, keepdims=True)
    fewer = joint.sum(axis=ORDER.index(left_out), keepdims=True)
    assert np.abs(shares - fewer / fewer.sum(axis=label, keepdims=True)).max() > 0.01


def test_odds_ratios_are_moderate_and_parents_precede():
    for name, parents in source._ODDS_RATIOS.items():
        for parent, ratios in parents.items():
            assert ORDER.index(parent) < ORDER.index(name)
            assert all(1.2 <= max(ratio, 1 / ratio) <= 3 for ratio in ratios.values())
    assert set(source._ODDS_RATIOS[LABEL]) | {"PC-PTSD-5"} == MARKOV_BOUNDARY


def test_the_published_directions_hold():
    """Young and female veterans, combat, trauma, service connection and the screen go with the disorder."""
    joint = joint_distribution()
    for name, value in {
        "Age": "Young",
        "Gender": "F",
        "CombatFlag": "Y",
        "MilitarySexualTrauma": "Y",
        "ServiceConnected": "Y",
        "TBI": "Y",
        "PC-PTSD-5": "High",
    }.items():
        axes = (ORDER.index(name), ORDER.index(LABEL))
        pair = joint.sum(axis=tuple(set(range(joint.ndim)) - set(axes)))
        pair = pair if axes[0] < axes[1] else pair.T
        prevalence = pair[:, 1] / pair.sum(axis=1)
        assert prevalence[source._values(name).index(value)] == prevalence.max()


def test_the_true_posterior_is_calibrated_and_uses_every_observed_cell():
    records = veterans(40_000, random_state=1)
    posterior = source.true_posterior(records.X)
    sick = records.y == "Y"
    for part in (
        records.X["TBI"] == "Y",
        records.X["CombatFlag"].isna(),
        records.X["Gender"] == "F",
        posterior > 0.4,
    ):
        rows = np.asarray(part)
        variance = (posterior * (1 - posterior))[rows].sum()
        assert abs((sick - posterior)[rows].sum()) < 4 * np.sqrt(variance)


def test_the_seed_decides_and_sizes_are_checked():
    assert veterans(500, 4).X.equals(veterans(500, 4).X)
    assert not veterans(500, 4).X.equals(veterans(500, 5).X)
    with pytest.raises(InputError, match="1 to 1,113,676 rows"):
        veterans(2_000_000)
