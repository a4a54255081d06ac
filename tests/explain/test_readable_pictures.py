"""Pictures that a reader accepts: what matters is shown, on one page, with numbers as people write them."""

import re

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

from seminaive import HigherOrderLogisticRegression, NaiveBayes, SemiNaive, load_model, save_model
from seminaive.explain import (
    EffectDisplay,
    ImportanceDisplay,
    NomogramDisplay,
    PairDisplay,
    WaterfallDisplay,
    summary,
)
from seminaive.explain.effect_display import linear_width
from seminaive.explain.nomogram_sheet import PAGE
from seminaive.explain.reading import axis_labels, effects_of, feature_named
from seminaive.explain.waterfall_display import probability_ticks
from seminaive.explain.what_matters import column_importances, joint_sentence, tuples_that_matter
from seminaive.export import page
from seminaive.scores import Effects, importance
from seminaive_experiments import load_dataset

mpl.use("Agg")
pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::seminaive.errors.ColumnsWarning"),
]


@pytest.fixture(scope="module")
def rows():
    """Return a table with whole numbers, a curve that turns, a skewed column and one strong pair."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "instalments": rng.integers(1, 5, 800),
            "age": rng.integers(18, 80, 800),
            "gain": np.where(rng.random(800) < 0.92, 0.0, np.exp(rng.normal(8, 1, 800))),
            "amount": rng.normal(3000, 1000, 800),
            "sky": rng.choice(["a sky with a very long name indeed", "blue"], 800),
            "wind": rng.choice(["north", "south"], 800),
        }
    )
    log_odds = 0.5 * X["instalments"] - 1 - ((X["amount"] - 3000) / 1000) ** 2 + (X["gain"] > 0)
    log_odds += np.where((X["sky"] == "blue") == (X["wind"] == "north"), 1.5, -1.5)
    return X, np.where(rng.random(800) < 1 / (1 + np.exp(-log_odds)), "yes", "no")


@pytest.fixture(scope="module")
def model(rows):
    return HigherOrderLogisticRegression(order=2, hierarchical=True).fit(*rows)


@pytest.fixture(scope="module")
def effects(model):
    return effects_of(model)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


def texts(figure):
    return [text.get_text() for text in figure.findobj(mpl.text.Text) if text.get_text().strip()]


def test_pairs_below_a_hundredth_of_the_score_have_no_line(model, effects):
    whole = np.sqrt(sum(importance(effect.deviation) ** 2 for effect in (*effects.features, *effects.tuples)))
    expected = {effect.name for effect in effects.tuples if importance(effect.deviation) > 0.01 * whole}
    assert {effect.name for effect in tuples_that_matter(effects)} == expected
    frame = summary(model)
    assert set(frame["term"][frame["columns"] > 1]) == expected
    assert "sky × wind" in expected


def test_many_weak_pairs_are_one_line_with_the_strongest_named(model, effects):
    sentence = joint_sentence(effects.tuples, "log odds")
    first = max(effects.tuples, key=lambda effect: importance(effect.deviation))
    assert sentence.startswith(f"{len(effects.tuples)} pairs move the log odds by ")
    assert first.name in sentence
    title = ImportanceDisplay.from_estimator(model, effects=effects).ax_.get_title(loc="left")
    assert first.name in title.replace("\n", " ")


def test_columns_are_ranked_with_their_share_of_pairs(model, effects):
    display = ImportanceDisplay.from_estimator(model, effects=effects)
    sums = display.alone + display.shared
    assert (np.diff(sums) <= 0).all()
    np.testing.assert_allclose(sums / sums.sum(), np.sort(effects.column_shares())[::-1])
    assert np.sum(column_importances(effects)) == pytest.approx(
        sum(importance(effect.deviation) for effect in (*effects.features, *effects.tuples))
    )


def test_a_whole_number_has_whole_ticks_in_a_nomogram(model, effects, rows):
    display = NomogramDisplay.from_estimator(model, effects=effects, row=rows[0].iloc[[0]])
    lane = next(lane_ for lane_ in display.lanes if lane_.name == "instalments")
    assert [text for text, _, kind in lane.marks if kind == "value"] == ["1", "2", "3", "4"]
    assert not [text for text in texts(display.figure_) if re.fullmatch(r"-?\d+\.\d{3,}", text)]


def test_a_curve_that_turns_is_one_picture_and_reads_back(model, effects, rows):
    display = NomogramDisplay.from_estimator(model, effects=effects)
    lane = next(lane_ for lane_ in display.lanes if lane_.name == "amount")
    assert not lane.is_ruler
    effect = feature_named(effects, "amount")
    numbers = rows[0]["amount"].clip(*effect.range_seen())
    exact = effect.curve.at(numbers.to_numpy())
    read = np.array([lane.points_of(None, number) for number in numbers]) / display.factor
    difference = read - (exact[:, 1] - exact[:, 0])
    np.testing.assert_allclose(difference, difference[0], atol=0.02 * np.ptp(read))


@pytest.mark.parametrize("features", [None, 2])
def test_this_row_has_the_probability_of_the_model_whatever_is_left_out(model, effects, rows, features):
    for place in range(3):
        row = rows[0].iloc[[place]]
        display = NomogramDisplay.from_estimator(model, effects=effects, row=row, features=features, pairs=0)
        probability = model.predict_proba(row)[0]
        shown = next(text for text in texts(display.figure_) if text.startswith("This row"))
        assert shown == f"This row: no {probability[0]:.3f}, yes {probability[1]:.3f}"
        total = display._row_totals()[0]
        drawn = sum(display._row_on(lane)[1] for lane in display.lanes)
        assert display._row_others(0) + drawn == pytest.approx(total)
        log_odds = np.log(probability[1] / probability[0])
        assert display.start[0] + total / display.factor == pytest.approx(log_odds)


def test_a_sheet_of_many_features_is_a_page_with_one_line_for_the_rest():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(300, 40)), columns=[f"x{k}" for k in range(40)])
    y = np.digitize(X.sum(axis=1) + rng.normal(size=300), [-3.0, 3.0])
    many = NaiveBayes().fit(X, y)
    display = NomogramDisplay.from_estimator(many, row=X.iloc[[0]])
    assert display.figure_.get_size_inches()[1] <= PAGE
    rest = 40 - len({lane.name for lane in display.lanes})
    assert len(display.selection.rest) == rest > 0
    assert any(text.startswith(f"{rest} others") for text in texts(display.figure_))


def test_whole_numbers_have_whole_ticks_on_every_axis(model, effects):
    display = EffectDisplay.from_estimator(model, "instalments", effects=effects)
    display.figure_.canvas.draw()
    assert all(tick == round(tick) for tick in display.ax_.get_xticks())
    for name in ("instalments", "age"):
        labels = axis_labels(effects, list(effects.schema.names).index(name))
        assert not any("." in text for text in labels)


def test_rows_beyond_the_curve_are_counted_at_its_edge(model, effects):
    effect = feature_named(effects, "amount")
    _, high = effect.range_seen()
    share = effect.weight[effect.seen > high].sum() / effect.weight.sum()
    shown = texts(EffectDisplay.from_estimator(model, "amount", effects=effects).figure_)
    assert any(text == f"{max(share, 0.001):.1%} →" for text in shown) == (share > 0)


def test_a_skewed_column_has_a_scale_on_which_it_can_be_seen(model, effects):
    assert linear_width(feature_named(effects, "amount")) is None
    assert linear_width(feature_named(effects, "gain")) > 0
    display = EffectDisplay.from_estimator(model, "gain", effects=effects)
    assert display.ax_.get_xscale() == "asinh"
    display.figure_.canvas.draw()
    bars = [bar.get_window_extent() for bar in display.ax_.patches if bar.get_height() > 0]
    assert len(bars) > 3  # not one bar at 0
    ticks = display.ax_.get_xticks()
    assert ticks[0] == 0
    assert len(ticks) >= 3


def test_several_classes_are_named_on_axis_and_legend(rows):
    X, _ = rows
    several = HigherOrderLogisticRegression(order=1).fit(X[["amount", "sky"]], X["instalments"].to_numpy())
    for name in ("amount", "sky"):
        display = EffectDisplay.from_estimator(several, name)
        legend = display.ax_.get_legend()
        assert legend.get_title().get_text() == "class"
        assert [text.get_text() for text in legend.get_texts()] == ["1", "2", "3", "4"]
        assert "score of each class" in (display.ax_.get_xlabel(), display.ax_.get_ylabel())


def test_the_ticks_of_a_pair_are_whole_and_short_and_grey_has_a_key(model, effects):
    display = PairDisplay.from_estimator(model, ("age", "sky"), effects=effects)
    labels = [label.get_text() for label in (*display.ax_.get_yticklabels(), *display.ax_.get_xticklabels())]
    assert not any("…" in text for text in labels)
    assert {"a sky with a very long\nname indeed", "blue"} <= set(labels)
    thin = HigherOrderLogisticRegression(order=2).fit(
        [["a", "x"]] * 30 + [["b", "x"]] * 5 + [["a", "y"]] * 30, [0, 1] * 32 + [0]
    )
    key = PairDisplay.from_estimator(thin).ax_.get_legend()
    assert [text.get_text() for text in key.get_texts()] == ["no training rows", "pale: fewer than 20 rows"]


def test_a_whole_number_that_is_read_between_nodes_has_whole_ticks(rows):
    X, y = rows
    fitted = SemiNaive(interactions=[("instalments", "wind")], random_state=0).fit(
        X[["instalments", "wind"]], y
    )
    display = PairDisplay.from_estimator(fitted, ("instalments", "wind"))
    display.figure_.canvas.draw()
    axis = display.ax_.yaxis if display.ax_.get_ylabel() == "instalments" else display.ax_.xaxis
    assert all(tick == round(tick) for tick in axis.get_majorticklocs())


@pytest.mark.parametrize(("low", "high"), [(-5.0, 5.0), (1.0, 2.0), (-0.01, 0.01), (4.0, 5.0), (-9.0, -8.5)])
def test_the_probability_axis_has_at_least_three_ticks(low, high):
    ticks = probability_ticks(low, high)
    assert len(ticks) >= 3
    log_odds = np.log(ticks / (1 - ticks))
    assert ((log_odds >= low) & (log_odds <= high)).all()
    assert np.diff(log_odds).min() > 0.05 * (high - low)


def test_a_waterfall_is_ordered_by_size_and_names_the_strongest_of_the_rest(model, effects, rows):
    display = WaterfallDisplay.from_estimator(model, rows[0].iloc[[0]], max_effects=4, effects=effects)
    sizes = np.abs(display.values[:-1])
    assert (np.diff(sizes) <= 0).all()
    assert display.names[-1] == f"{len(effects.names) - 4} others"
    assert display.note.count("+") + display.note.count("-") >= 2


def test_all_pictures_of_a_page_share_one_set_of_effects_and_one_colour_scale(
    model, rows, tmp_path, monkeypatch
):
    made, limits = [], []
    of, draw = Effects.of.__func__, PairDisplay._draw
    monkeypatch.setattr(Effects, "of", classmethod(lambda cls, *given: made.append(1) or of(cls, *given)))
    monkeypatch.setattr(PairDisplay, "_draw", lambda self: limits.append(self.limit) or draw(self))
    text = page(model, tmp_path / "page.html", row=rows[0].iloc[[0]]).read_text(encoding="utf-8")
    assert len(made) == 1
    assert len(set(limits)) == 1
    order = [
        "A HigherOrderLogisticRegression of 800 rows", ">What matters<", ">The strongest effects<",
        ">Pairs, beyond what their features say<", ">What is known<", "<details>",
    ]  # fmt: skip
    places = [text.index(part) for part in order]
    assert places == sorted(places)
    assert text.index("Nomogram: add") > places[-1]


TABLES = ("heart-cleveland", "german-credit", "cmc", "sonar")


@pytest.mark.slow
@pytest.mark.real_data
@pytest.mark.parametrize("name", TABLES)
def test_the_nomogram_of_a_real_table_is_a_page_with_whole_ticks(name, real_data, monkeypatch):
    monkeypatch.setenv("SEMINAIVE_DATA", str(real_data))
    data = load_dataset(name)
    fitted = HigherOrderLogisticRegression(order=2, hierarchical=True).fit(data.X, data.y)
    row = data.X.iloc[[0]]
    display = NomogramDisplay.from_estimator(fitted, row=row)
    assert display.figure_.get_size_inches()[1] <= PAGE
    whole = {name for name in data.X.select_dtypes("number") if (data.X[name].dropna() % 1 == 0).all()}
    for lane in display.lanes:
        if lane.name in whole and lane.edges is not None:
            assert all(re.fullmatch(r"-?\d+", text) for text, _, kind in lane.marks if kind == "value")


def test_the_target_is_named_in_legend_and_axis_and_kept_in_the_file(tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"age": rng.normal(size=150), "town": rng.choice(["a", "b"], 150)})
    y = pd.Series(rng.integers(1, 4, 150), name="method")
    model = NaiveBayes().fit(X, y)
    save_model(model, tmp_path / "model")
    for fitted in (model, load_model(tmp_path / "model")):
        several = EffectDisplay.from_estimator(fitted, "age").ax_
        assert several.get_legend().get_title().get_text() == "method"
        assert [text.get_text() for text in several.get_legend().get_texts()] == ["1", "2", "3"]
        assert several.get_ylabel() == "score of each class of method"
        assert (
            EffectDisplay.from_estimator(fitted, "town", target=2).ax_.get_xlabel() == "score of method = 2"
        )
    unnamed = EffectDisplay.from_estimator(NaiveBayes().fit(X, y.to_numpy()), "age").ax_
    assert unnamed.get_legend().get_title().get_text() == "class"
    assert not hasattr(model.fit(X, y.to_numpy()), "target_name_")
