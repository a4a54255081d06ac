"""Harrell's bootstrap of unpenalised logistic regression gives what rms in R gives, but for noise.

The figures were kept by benchmarks/claims/validation_rms.py, from 2,000 samples each.
"""

import runpy
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from seminaive.evaluate.calibration import smooth_frequency
from seminaive.evaluate.validation import validate
from seminaive.evaluate.validation_measures import measures_for

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
KEPT = BENCHMARKS / "results"
N_REPLAYS, N_REPLAYS_OF_RMS = 150, 2000
# Several dozen comparisons of two means of draws: none should be beyond four standard errors.
STANDARD_ERRORS = 4.0
OURS = {"Intercept": "calibration_intercept", "Slope": "calibration_slope", "B": "brier"}


@pytest.fixture(
    scope="module",
    params=[
        pytest.param("breast cancer", marks=pytest.mark.slow),
        pytest.param("diabetes", marks=pytest.mark.slow),
        "iris",
    ],
)
def validated(request):
    X, y = runpy.run_path(str(BENCHMARKS / "claims" / "validation_rms.py"))["tables"]()[request.param]
    model = make_pipeline(StandardScaler(), LogisticRegression(C=np.inf, max_iter=1000, tol=1e-6))
    found = validate(model, X, y.to_numpy(), n_replays=N_REPLAYS, method="harrell", progress=False)
    return request.param, found


def noise_of(values):
    """Return the standard error of the difference of two means over draws, ours and those of rms."""
    return np.nanstd(values, axis=0) * np.sqrt(1 / N_REPLAYS + 1 / N_REPLAYS_OF_RMS)


def optimisms(found, statistic):
    replays = found.replays
    truth, ones = replays.rows.truth, np.ones(len(replays.rows.truth))
    return np.array(
        [
            statistic(truth[n > 0], p[n > 0], n[n > 0].astype(float)) - statistic(truth, p, ones)
            for p, n in zip(replays.probabilities, replays.counts, strict=True)
        ]
    )


def test_measures_equal_those_of_rms_within_the_noise_of_the_draws(validated):
    table, found = validated
    kept = pd.read_csv(KEPT / "validation_rms.csv").set_index("table").loc[table].set_index("measure")
    ours = found.summary.set_index("measure")
    statistics = {measure.name: measure.statistic for measure in measures_for(2)}
    for theirs, name in OURS.items():
        noise = noise_of(optimisms(found, statistics[name]))
        assert ours.loc[name, "apparent"] == pytest.approx(kept.loc[theirs, "apparent"], abs=1e-4), name
        assert abs(ours.loc[name, "corrected"] - kept.loc[theirs, "corrected"]) < STANDARD_ERRORS * noise, (
            name
        )
    # Somers' D is twice the AUC less one.
    noise = 2 * noise_of(optimisms(found, statistics["auc"]))
    assert 2 * ours.loc["auc", "apparent"] - 1 == pytest.approx(kept.loc["Dxy", "apparent"], abs=1e-4)
    assert abs(2 * ours.loc["auc", "corrected"] - 1 - kept.loc["Dxy", "corrected"]) < STANDARD_ERRORS * noise


def test_the_calibration_curve_is_that_of_rms_within_the_noise_of_the_draws(validated):
    table, found = validated
    kept = pd.read_csv(KEPT / "calibration_rms.csv").set_index("table").loc[table]
    theirs = kept[["apparent", "corrected"]].clip(0, 1)
    at = kept["probability"].to_numpy()
    ours = found.calibration(at=at)
    # R interpolates its lowess between points a hundredth of the range apart.
    assert np.nanmax(np.abs(ours["apparent"] - theirs["apparent"].to_numpy())) < 0.005

    def curve(truth, probabilities, weight):
        return smooth_frequency(probabilities[:, 1], (truth == 1).astype(float), weight, at)

    noise = STANDARD_ERRORS * noise_of(optimisms(found, curve)) + 0.005
    assert (np.abs(ours["corrected"].to_numpy() - theirs["corrected"].to_numpy()) < noise).all()
