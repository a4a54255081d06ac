"""Pictures keep the data they draw, agree with the model, and no two labels overlap."""

from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pytest

from seminaive import HigherOrderLogisticRegression, NaiveBayes
from seminaive.encode import NumericColumn, Schema
from seminaive.errors import InputError
from seminaive.explain import (
    EffectDisplay,
    ImportanceDisplay,
    NomogramDisplay,
    PairDisplay,
    WaterfallDisplay,
)
from seminaive.explain.nomogram_lanes import lane_of
from seminaive.explain.nomogram_ticks import weight_label
from seminaive.explain.reading import effects_of
from seminaive.scores import FeatureCurve, FeatureEffect
from seminaive_experiments import load_dataset

mpl.use("Agg")
pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::seminaive.errors.ColumnsWarning"),
]


@pytest.fixture
def pairs(weather):
    X, y = weather
    return HigherOrderLogisticRegression(order=2, hierarchical=True).fit(X, y), X


@pytest.fixture
def two(weather):
    X, y = weather
    model = HigherOrderLogisticRegression(order=2, hierarchical=True)
    return model.fit(X, np.where(y == "sun", "sun", "wet")), X


def overlapping(figure):
    """Return pairs of texts that cover each other."""
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    hidden = set()  # matplotlib keeps labels of ticks beyond the limits, and does not draw them
    for ax in figure.axes:
        both = ((ax.get_xticklabels(), ax.get_xlim()), (ax.get_yticklabels(), ax.get_ylim()))
        for axis, (labels, limits) in enumerate(both):
            hidden |= {
                label for label in labels if not min(limits) <= label.get_position()[axis] <= max(limits)
            }
    found = [text for text in figure.findobj(mpl.text.Text) if text.get_text().strip() and text.get_visible()]
    texts = [text for text in found if text not in hidden]
    boxes = [text.get_window_extent(renderer) for text in texts]
    found = []
    for i, a in enumerate(boxes):
        for j in range(i):
            b = boxes[j]
            if min(a.x1, b.x1) - max(a.x0, b.x0) > 0.5 and min(a.y1, b.y1) - max(a.y0, b.y0) > 0.5:
                found.append((texts[i].get_text(), texts[j].get_text()))
    return found


def additive_part(model, table, pairs=()):
    effects = effects_of(model)
    kept = [0, *range(1, 1 + len(effects.features))]
    kept += [1 + effects.names.index(pair.name) for pair in pairs]
    scores = effects.breakdown(table)[:, kept].sum(axis=1)
    weight = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weight / weight.sum(axis=1, keepdims=True)


def test_a_curve_is_drawn_as_the_model_evaluates_it(two):
    model, _ = two
    display = EffectDisplay.from_estimator(model, "temperature")
    x, y = display.ax_.lines[1].get_data()
    values = display.effect.curve.at(np.asarray(x))
    np.testing.assert_allclose(y, values[:, 1] - values[:, 0])


def test_more_than_two_classes_have_a_curve_each_and_categories_a_mark_each(pairs):
    model, _ = pairs
    assert len(EffectDisplay.from_estimator(model, "temperature").targets) == 3
    display = EffectDisplay.from_estimator(model, "sky")
    assert len(display.ax_.collections) == 3
    assert len(EffectDisplay.from_estimator(model, "sky", target="rain").targets) == 1


def test_a_pair_is_drawn_in_its_own_colour_range(two):
    model, _ = two
    display = PairDisplay.from_estimator(model, ("wind", "sky"))
    image = display.ax_.collections[0]
    low, high = image.get_clim()
    assert low == -high
    np.testing.assert_allclose(np.nanmax(np.abs(image.get_array())), high)
    with pytest.raises(InputError, match="no pair"):
        PairDisplay.from_estimator(model, ("wind", "moon"))


def test_a_model_without_pairs_says_so(weather):
    with pytest.raises(InputError, match="no pairs"):
        PairDisplay.from_estimator(NaiveBayes().fit(*weather))


def test_a_waterfall_ends_at_the_log_odds_of_the_row(two, pairs):
    model, X = two
    row = X.iloc[[3]]
    display = WaterfallDisplay.from_estimator(model, row, max_effects=4)
    np.testing.assert_allclose(display.start + display.values.sum(), model.decision_function(row)[0])
    assert len(display.values) == 5
    model, X = pairs
    display = WaterfallDisplay.from_estimator(model, row, target="rain", against="sun")
    log_proba = dict(zip(model.classes_, model.predict_log_proba(row)[0], strict=True))
    np.testing.assert_allclose(display.start + display.values.sum(), log_proba["rain"] - log_proba["sun"])
    by_name = WaterfallDisplay.from_estimator(
        model, dict(zip(X.columns, row.iloc[0], strict=True)), target="rain", against="sun"
    )
    np.testing.assert_allclose(by_name.values, display.values)


def test_importances_decrease(pairs):
    model, _ = pairs
    display = ImportanceDisplay.from_estimator(model, max_columns=3)
    assert (np.diff(display.alone + display.shared) <= 0).all()
    assert display.left_out == len(effects_of(model).features) - 3


@pytest.mark.parametrize("scale", ["hundred", "doubling"])
def test_a_nomogram_read_back_gives_the_drawn_part_of_the_model(two, scale):
    model, X = two
    display = NomogramDisplay.from_estimator(model, scale=scale, pairs=2, row=X.iloc[[0]])
    assert len(display.pairs) == 2
    low, high = X["temperature"].quantile([0.05, 0.95])
    table = model.encode(X.assign(temperature=X["temperature"].clip(low, high)))
    np.testing.assert_allclose(
        display.probabilities(table), additive_part(model, table, display.pairs), atol=0.01
    )
    if scale == "doubling":
        np.testing.assert_allclose(display.factor, 10 / np.log(2))
    else:
        np.testing.assert_allclose(max(lane.reach for lane in display.lanes), 100.0)


def test_lanes_of_several_classes_read_back_exactly(pairs):
    model, X = pairs
    display = NomogramDisplay.from_estimator(model, pairs=10)
    low, high = X["temperature"].quantile([0.05, 0.95])
    table = model.encode(X.assign(temperature=X["temperature"].clip(low, high)))
    np.testing.assert_allclose(
        display.probabilities(table), additive_part(model, table, display.pairs), atol=0.01
    )


def test_the_note_grows_with_what_is_not_drawn(two):
    # Six pairs of four columns; humidity has one level.
    model, _ = two
    assert NomogramDisplay.from_estimator(model, pairs=0).note.startswith("6 effects that are not drawn")
    assert NomogramDisplay.from_estimator(model, pairs=1).note.startswith("5 effects that are not drawn")


def test_weaker_features_may_be_left_out_of_a_nomogram_which_says_so(two):
    model, X = two
    effects = effects_of(model)
    whole = NomogramDisplay.from_estimator(model, pairs=100)
    few = NomogramDisplay.from_estimator(model, features=2, pairs=100)
    strongest = sorted(effects.features, key=lambda effect: -effect.deviation.sum())[:2]
    assert {lane.name for lane in few.lanes} == {effect.name for effect in strongest}
    rest = {effect.name for effect in few.selection.rest}
    assert {effect.name for effect in effects.features} - rest == {effect.name for effect in strongest}
    assert len(whole.selection.rest) < len(few.selection.rest)
    # What is left out has mean zero, so that the rest stands for it.
    table = model.encode(X)
    parts, names = effects.breakdown(table), {lane.name for lane in few.lanes}
    kept = [1 + k for k, effect in enumerate(effects.features) if effect.name in names]
    scores = effects.intercept + parts[:, kept].sum(axis=1)
    expected = 1 / (1 + np.exp(scores[:, 0] - scores[:, 1]))
    np.testing.assert_allclose(few.probabilities(table, pairs=False)[:, 1], expected, atol=0.02)


@pytest.mark.parametrize(("slope", "is_ruler"), [(0.0, False), (-0.005, False), (-0.5, True), (0.5, False)])
def test_a_ruler_is_for_curves_of_one_direction_that_do_not_jump_alone(slope, is_ruler):
    coefficients = np.zeros((2, 3, 2))
    coefficients[:, 0, 1], coefficients[:, 1, 1] = [3.0, 0.0], slope
    curve = FeatureCurve(np.zeros(1), np.zeros(2), 1.0, coefficients, np.zeros(2))
    seen = np.linspace(-2, 2, 401)
    effect = FeatureEffect("x", 0, None, curve, np.append(seen, np.nan), np.append(np.ones(401), 0.0))
    effects = SimpleNamespace(schema=Schema((NumericColumn("x", missing_seen=False),)))
    lane, lowest = lane_of(effects, effect, 1, 0)
    assert lane.is_ruler == is_ruler
    for number in (-1.9, -0.3, 0.0, 0.2, 1.9):
        exact = float(curve.at(np.array([number]))[0, 1])
        np.testing.assert_allclose(lane.points_of(None, number) + lowest, exact, atol=1e-9)


def test_weights_are_written_whole_below_a_million():
    assert [weight_label(2.0**k) for k in (-1, 0, 14, 19)] == ["0.5", "1", "16,384", "524,288"]
    assert weight_label(2.0**20) == "1.0e6"


def test_no_two_labels_of_a_picture_overlap(pairs, two):
    for model, X in (pairs, two):
        row = X.iloc[[0]]
        assert overlapping(NomogramDisplay.from_estimator(model, row=row).figure_) == []
        assert overlapping(WaterfallDisplay.from_estimator(model, row).figure_) == []
        assert overlapping(ImportanceDisplay.from_estimator(model).figure_) == []
        assert overlapping(PairDisplay.from_estimator(model).figure_) == []
        for feature in X:
            assert overlapping(EffectDisplay.from_estimator(model, feature).figure_) == []


REAL = [
    "heart-cleveland",
    "german-credit",
    "cmc",
    "adult",
    "australian-credit",
    "pima-diabetes",
    "iris",
    "wine",
    "hepatitis",
    "car",
    "tic-tac-toe",
    "congressional-voting",
    "mushroom",
    "bank-marketing-small",
    "sick",
    "credit-approval",
    "horse-colic",
    "breast-cancer-ljubljana",
    "haberman",
    "ilpd",
    "nursery",
    "lymphography",
    "vehicle",
    "balance-scale",
    "spect-heart",
    "autos",
    "post-operative",
    "teaching-assistant",
    "magic",
    "sonar",
]


@pytest.mark.slow
@pytest.mark.real_data
@pytest.mark.parametrize("name", REAL)
def test_no_two_labels_of_a_nomogram_of_a_real_table_overlap(name, real_data, monkeypatch):
    monkeypatch.setenv("SEMINAIVE_DATA", str(real_data))
    data = load_dataset(name)
    model = NaiveBayes().fit(data.X, data.y)
    assert overlapping(NomogramDisplay.from_estimator(model, row=data.X.iloc[[0]]).figure_) == []
