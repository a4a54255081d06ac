"""The papers' figures: what is drawn is what the numbers say."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from scipy.stats import gmean

from seminaive.errors import InputError
from seminaive_experiments.papers import box_figures, published_names
from seminaive_experiments.papers.agreement import agreement_of, kept_agreement
from seminaive_experiments.papers.figures import draw_figure, figures, kept_numbers
from seminaive_experiments.papers.miss_reasons import NOT_COUNTED, misses_by_reason
from seminaive_experiments.papers.reproduction import RunOptions
from seminaive_experiments.papers.veterans import prevalence, veterans

mpl.use("Agg")


@pytest.mark.parametrize("name", list(figures()))
def test_every_figure_is_drawn_with_its_numbers_and_their_origin(name):
    drawn = draw_figure(name)
    assert len(drawn.numbers)
    assert drawn.source
    assert any(ax.has_data() for ax in drawn.figure.axes)
    mpl.pyplot.close(drawn.figure)


def test_a_box_has_the_quartiles_of_the_repetitions():
    losses = np.random.default_rng(0).normal(size=101)
    records = pd.DataFrame({"method": "NB", "L01": losses})
    box = box_figures.box_numbers(records, ["method"], ["L01"]).iloc[0]
    np.testing.assert_allclose([box["q1"], box["med"], box["q3"]], np.quantile(losses, [0.25, 0.5, 0.75]))
    assert box["repetitions"] == 101
    assert box["whishi"] == losses[losses <= box["q3"] + 1.5 * (box["q3"] - box["q1"])].max()


def test_a_run_with_repetitions_draws_what_it_ran(monkeypatch):
    ran = []

    def run_cells(settings, cells, options):
        ran.append((settings, options.repetitions))
        keys = [{"setting": settings[0], "n_train": n, "p": p, "r": r} for n, p, r in cells]
        losses = {"method": "NBRLR", "MSE": 0.1, "L01": 0.2, "RSPE": 0.3}
        return pd.DataFrame([{**key, **losses, "repetition": k} for key in keys for k in range(3)])

    monkeypatch.setattr(box_figures, "run_cells", run_cells)
    drawn = draw_figure("nbrlr-supplement4", RunOptions(3, progress=False))
    assert ran == [([4], 3)]
    assert drawn.source == ("seminaive reproduce nbrlr-supplement4 --repetitions 3 --seed 0",)
    assert set(drawn.numbers["repetitions"]) == {3}
    mpl.pyplot.close(drawn.figure)


def test_the_prevalence_is_that_of_generated_records():
    records = veterans(200_000, random_state=1)
    shares = prevalence().set_index(["variable", "category"])["prevalence"]
    ill = records.y == "Y"
    for value in ("Young", "Middle", "Old"):
        rows = (records.X["Age"] == value).to_numpy()
        error = np.sqrt(0.25 / rows.sum())
        assert shares["Age", value] == pytest.approx(ill[rows].mean(), abs=4 * error)


def test_bars_of_losses_are_geometric_means_of_ratios():
    numbers, _ = kept_numbers("alr-losses")
    drawn = draw_figure("alr-figure21")
    little = numbers[~numbers["big"]]
    wide = little.pivot_table(index="dataset", columns="method", values="RMSE")[
        ["ALR2", "ALR3", "RF"]
    ].dropna()
    expected = [gmean(wide[name] / wide["ALR2"]) for name in wide]
    heights = [bar.get_height() for bar in drawn.figure.axes[1].patches][:3]
    np.testing.assert_allclose(heights, expected, rtol=1e-3)
    mpl.pyplot.close(drawn.figure)


def test_every_miss_has_a_reason_and_counts_once():
    cells = pd.DataFrame(
        {
            "dataset": ["Heart Disease (Hungarian)", "Iris", "Iris"],
            "method": ["Lasso", "Lasso", "LR"],
            "cell": "value",
            "difference": [1.0, 1.0, 0.0],
            "agrees": [False, False, True],
        }
    )
    counts = misses_by_reason("dissertation-tableA2", cells)
    assert [(reason.kind, count) for reason, count in counts] == [
        ("data version", 1),
        ("unprinted choice", 1),
    ]
    found = agreement_of("dissertation-tableA2", cells)
    assert (found["cells"], found["agree"], found["explained"]) == (3, 1, 1)
    with pytest.raises(InputError, match="no reason is given for 1 cells"):
        misses_by_reason("dissertation-tableA2", cells.assign(agrees=[True, True, False]))


def test_every_published_table_is_counted_or_has_a_reason():
    assert set(kept_agreement()["table"]) | set(NOT_COUNTED) == set(published_names())
    assert not set(kept_agreement()["table"]) & set(NOT_COUNTED)


def test_the_surface_of_the_fsnb_paper_has_its_least_error_inside_where_predictors_are_redundant():
    drawn = draw_figure("fsnb-figure4")
    crosses = [tuple(line.get_xydata()[0]) for ax in drawn.figure.axes for line in ax.get_lines()]
    apart, together = (errors for _, errors in drawn.numbers.groupby("predictors", sort=False))
    for errors, cross in zip((apart, together), crosses, strict=True):
        at_cross = errors[np.isclose(errors["alpha 3"], cross[0]) & np.isclose(errors["alpha 2"], cross[1])]
        assert at_cross["error"].item() == errors["error"].min()
    assert min(crosses[1]) < 1
    mpl.pyplot.close(drawn.figure)
