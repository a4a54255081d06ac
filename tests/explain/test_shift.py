"""Parts of a shift add up, a planted shift is named first, and alarms come as often as their level says."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from seminaive import HigherOrderLogisticRegression, NaiveBayes, SemiNaive, explain, save_model
from seminaive.errors import InputError
from seminaive.explain import shift
from seminaive.explain.shift_columns import homogeneity

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
DRAWS = 100


def draw(rng, n_rows, n_classes=2):
    """Return rows whose columns are independent given the class, and their classes."""
    y = rng.integers(0, n_classes, n_rows)
    X = pd.DataFrame(
        {
            "sky": np.array(["dry", "wet", "snow"], object)[(y + rng.integers(0, 2, n_rows)) % 3],
            "wind": rng.choice(["low", "high", "none", "storm"], n_rows, p=[0.5, 0.3, 0.15, 0.05]),
            "speed": rng.normal(y, 1.0, n_rows),
            "age": rng.integers(18, 90, n_rows).astype(float),
            "load": rng.lognormal(0.2 * y, 1.0, n_rows),
        }
    )
    X.loc[rng.random(n_rows) < 0.1, "wind"] = None
    X.loc[rng.random(n_rows) < 0.05, "load"] = np.nan
    return X, y


MODELS = {
    "naive Bayes, 2": (NaiveBayes(), 2),
    "neutral, 3": (NaiveBayes(missing="neutral"), 3),
    "pairs, 2": (HigherOrderLogisticRegression(order=2, hierarchical=True), 2),
    "pairs, 3": (HigherOrderLogisticRegression(order=2, hierarchical=True), 3),
    "curves and pairs": (SemiNaive(random_state=0), 2),
}


@pytest.fixture(scope="module", params=MODELS)
def fitted(request):
    model, n_classes = MODELS[request.param]
    X, y = draw(np.random.default_rng(0), 800, n_classes)
    return model.fit(X, y), X


def moved(n_rows=500):
    X, y = draw(np.random.default_rng(1), n_rows)
    X["speed"] += 1.7
    X.loc[::4, "sky"] = "hail"
    X.loc[::3, "wind"] = None
    X.loc[::5, "age"] = np.nan
    return X, y


def mean_score(model, X):
    """Return the mean of the sums of contributions to the log odds, or to the score, of the last class."""
    sums = model.scores_.sums(model.encode(X))
    return (sums[:, 1] - sums[:, 0] if sums.shape[1] == 2 else sums[:, -1] - sums.mean(axis=1)).mean()


def test_parts_add_up_to_the_change_of_the_mean_score(fitted):
    model, X = fitted
    rows, _ = moved()
    between = shift(model, rows, since=X.iloc[:300])
    expected = mean_score(model, rows) - mean_score(model, X.iloc[:300])
    assert abs(sum(between.terms.values()) - expected) < 1e-12
    assert abs(between.change - expected) < 1e-12
    trained = shift(model, rows)
    assert abs(sum(trained.terms.values()) - trained.change) < 1e-12
    assert abs(trained.now - mean_score(model, rows)) < 1e-12
    # Of numbers, training's histogram has at most one bin per ten rows.
    assert abs(trained.before - mean_score(model, X)) < 0.05
    assert trained.frame()["change"].sum() == pytest.approx(trained.change, abs=1e-12)


def test_a_part_is_the_change_of_the_mean_effect():
    X, y = draw(np.random.default_rng(0), 800)
    model = NaiveBayes().fit(X, y)
    rows, _ = moved()
    parts = model.contributions(rows).mean() - model.contributions(X).mean()
    found = shift(model, rows, since=X)
    for name, part in found.terms.items():
        assert part == pytest.approx(parts[name], abs=1e-12)


def test_missing_unseen_and_changed_columns_are_told(fitted):
    model, _ = fitted
    found = shift(model, moved()[0])
    lines = found.frame().set_index("term")
    assert set(found.alarms) == {"sky", "wind", "speed", "age"}
    assert lines.loc["sky", "unseen"] == pytest.approx(0.25)
    assert lines.loc["sky", "unseen_levels"] == "hail"
    assert lines.loc["wind", "missing_now"] == pytest.approx(moved()[0]["wind"].isna().mean())
    assert lines.loc["wind", "missing_before"] == pytest.approx(0.1, abs=0.03)
    assert lines.loc["age", "missing_now"] == pytest.approx(0.2)
    assert lines.loc["load", "unseen"] == 0
    assert found.action == "collect labels"
    assert "sky" in found.advice


@pytest.mark.slow
@pytest.mark.parametrize("column", ["sky", "wind", "speed", "age", "load"])
def test_a_planted_shift_of_one_column_is_named_first(column):
    first = 0
    for seed in range(DRAWS):
        rng = np.random.default_rng(seed)
        X, y = draw(rng, 600)
        model = NaiveBayes().fit(X, y)
        rows, _ = draw(rng, 400)
        planted = rng.random(400) < 0.25
        if column in ("sky", "wind"):
            rows.loc[planted, column] = {"sky": "snow", "wind": "storm"}[column]
        else:
            rows[column] += 0.6 * X[column].std()
        first += shift(model, rows).columns[0].name == column
    assert first >= 95


@pytest.mark.slow
def test_without_a_shift_the_alarm_comes_as_often_as_its_level_says():
    level, alarms, draws = 0.1, 0, 600
    for seed in range(draws):
        rng = np.random.default_rng(seed)
        X, y = draw(rng, 500)
        alarms += bool(shift(NaiveBayes().fit(X, y), draw(rng, 400)[0], level=level).alarms)
    low, high = stats.binom.ppf([0.001, 0.999], draws, level)
    assert low <= alarms <= high


@pytest.mark.slow
def test_with_labels_nothing_is_done_as_often_as_the_level_says():
    level, alarms, draws = 0.1, 0, 400
    rng = np.random.default_rng(0)
    X, y = draw(rng, 20_000)
    model = NaiveBayes().fit(X, y)
    for seed in range(draws):
        rows, _ = draw(np.random.default_rng(seed), 500)
        drawn = np.random.default_rng(seed + 10_000).random(500) < model.predict_proba(rows)[:, 1]
        alarms += shift(model, rows, drawn.astype(int), level=level).action != "nothing"
    # The two tests, at half of the level each, may overlap and are conservative: at most the level.
    assert alarms <= stats.binom.ppf(0.999, draws, level)
    assert alarms >= stats.binom.ppf(0.001, draws, level / 2)


def labelled(X, log_odds, seed=0):
    """Return labels drawn by log odds."""
    return (np.random.default_rng(seed).random(len(X)) < 1 / (1 + np.exp(-log_odds))).astype(int)


def test_labels_tell_whether_to_recalibrate_or_to_update():
    X, y = draw(np.random.default_rng(0), 5000)
    model = NaiveBayes().fit(X, y)
    rows, _ = draw(np.random.default_rng(1), 4000)
    score = model.decision_function(rows)
    holds = shift(model, rows, labelled(rows, score))
    assert holds.action == "nothing"
    assert "hold" in holds.advice
    off = shift(model, rows, labelled(rows, 1.0 + 0.5 * score))
    assert off.action == "recalibrate"
    assert off.calibration.slope == pytest.approx(0.5, abs=0.1)
    assert off.calibration.intercept == pytest.approx(1.0, abs=0.15)
    changed = shift(model, rows, labelled(rows, score + 1.5 * (rows["wind"] == "high")))
    assert changed.action == "update"
    assert changed.misfits[0] == "wind"
    assert changed.frame().set_index("term").loc["wind", "p_calibration"] < 1e-6


def test_recalibration_is_that_of_statsmodels():
    sm = pytest.importorskip("statsmodels.api")
    X, y = draw(np.random.default_rng(0), 2000)
    model = NaiveBayes().fit(X, y)
    rows, labels = draw(np.random.default_rng(5), 700)
    score = model.decision_function(rows)
    found = shift(model, rows, labels).calibration
    expected = sm.Logit(labels, sm.add_constant(score)).fit(disp=0).params
    np.testing.assert_allclose([found.intercept, found.slope], expected, atol=1e-6)


def test_homogeneity_is_scipys_where_no_cell_is_small():
    before, now = np.array([40.0, 60.0, 35.0]), np.array([30.0, 25.0, 45.0])
    expected = stats.chi2_contingency([before, now], correction=False)
    statistic, freedom = homogeneity(before, now)
    assert statistic == pytest.approx(expected.statistic)
    assert freedom == expected.dof
    assert homogeneity(np.array([100.0, 1.0, 1.0, 2.0]), np.array([90.0, 0.0, 1.0, 1.0])) == (0.0, 0)
    assert homogeneity(np.zeros(3), np.ones(3)) == (0.0, 0)


def test_levels_called_missing_or_unseen_stay_levels():
    X = pd.DataFrame({"x": ["missing", "unseen", "other"] * 40})
    model = NaiveBayes().fit(X, [0, 1, 1] * 40)
    (column,) = shift(model, X.assign(x=[None, "new", "missing"] * 40)).columns
    assert column.labels == ("missing", "other", "unseen", "(missing)", "(unseen)")
    assert column.now.tolist() == [40, 0, 0, 40, 40]


def test_what_cannot_be_compared_is_refused():
    X, y = draw(np.random.default_rng(0), 200)
    model = NaiveBayes().fit(X, y)
    with pytest.raises(InputError, match="level is above 0"):
        shift(model, X, level=0)
    with pytest.raises(InputError, match="give one per row"):
        shift(model, X, y[:10])
    with pytest.raises(InputError, match="there is no class '7'"):
        shift(model, X, np.where(y == 0, 7, y))
    with pytest.raises(InputError, match="keep_summary=True"):
        shift(NaiveBayes(keep_summary=False).fit(X, y), X)


# Pictures, the page and the command line

HOSTILE = "</title><script>document.title = 'broken'</script><img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def hostile():
    """Return a comparison whose names, levels, new levels and classes are markup."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({HOSTILE: rng.choice(["a", HOSTILE], 400), "$x$": rng.normal(size=400)})
    model = NaiveBayes().fit(X, np.where(X["$x$"] > 0, HOSTILE, "other"))
    rows = X.assign(**{HOSTILE: ["new" + HOSTILE, "a"] * 200})
    return shift(model, rows, np.where(X["$x$"] > 0, HOSTILE, "other"))


def test_hostile_names_and_levels_are_text_on_the_page(hostile, browser, tmp_path):
    opened = explain.shift_page(hostile, tmp_path / "page.html", title=HOSTILE)
    text = opened.read_text(encoding="utf-8")
    assert "<script" not in text
    assert "<img src=x" not in text
    assert "default-src 'none'" in text
    document = browser(opened)
    assert "<title>broken" not in document
    assert "never seen" in document
    assert "onerror=alert(1)&gt;" in document


def test_bars_go_from_the_mean_before_to_the_mean_now():
    X, y = draw(np.random.default_rng(0), 800)
    model = HigherOrderLogisticRegression(order=2, hierarchical=True).fit(X, y)
    display = explain.ShiftDisplay.from_estimator(model, moved()[0], max_terms=3)
    assert display.names[-1] == f"{len(display.found.terms) - 3} smaller parts"
    assert display.found.before + display.values.sum() == pytest.approx(display.found.now, abs=1e-12)
    assert (np.diff(np.abs(display.values[:3])) <= 0).all()
    labels = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert labels[0].startswith("before")
    assert any("(alarm)" in label for label in labels)


def test_shares_of_a_column_add_up_to_one_on_either_side():
    X, y = draw(np.random.default_rng(0), 800)
    model = NaiveBayes().fit(X, y)
    for name in X:
        display = explain.ColumnShiftDisplay.from_estimator(model, moved()[0], name)
        widths = [bar.get_width() for bar in display.ax_.patches]
        assert sum(widths) == pytest.approx(2.0)
    with pytest.raises(InputError, match="there is no column 'tide'"):
        explain.ColumnShiftDisplay.from_estimator(model, X, "tide")


def test_the_command_line_compares_and_writes_a_page(seminaive, tmp_path):
    X, y = draw(np.random.default_rng(0), 800)
    save_model(NaiveBayes().fit(X, np.where(y == 1, "slip", "hold")), tmp_path / "model")
    rows, labels = moved()
    rows.assign(truth=np.where(labels == 1, "slip", "hold")).to_csv(tmp_path / "new.csv", index=False)
    X.to_parquet(tmp_path / "old.parquet")
    code, out, _ = seminaive(
        "shift", tmp_path / "model", tmp_path / "new.csv", "--page", tmp_path / "page.html"
    )
    assert code == 0
    assert out.startswith("Collect labels: ")
    assert "hail" in out
    assert "mean log odds of slip" in out
    assert "<h1>What has changed</h1>" in (tmp_path / "page.html").read_text(encoding="utf-8")
    since = ("--since", tmp_path / "old.parquet")
    labelled_rows = ("shift", tmp_path / "model", tmp_path / "new.csv", "--truth", "truth")
    code, out, _ = seminaive(*labelled_rows, *since, "--target", "hold")
    assert code == 0
    assert out.startswith("Recalibrate: +1.65 plus")  # a constant was added to a number of linear effect
    assert "p_cal" in out
    assert "unseen" not in seminaive("shift", tmp_path / "model", tmp_path / "old.parquet")[1]
    for wrong, sentence in (("--level=2", "--level is above 0"), ("--truth=tide", "no column 'tide'")):
        code, _, errors = seminaive("shift", tmp_path / "model", tmp_path / "new.csv", wrong)
        assert code == 1
        assert sentence in errors
