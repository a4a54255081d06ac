import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    PredefinedSplit,
    TimeSeriesSplit,
    check_cv,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from seminaive import NaiveBayes
from seminaive.errors import InputError
from seminaive.evaluate import (
    CalibrationDisplay,
    ColumnEffectsDisplay,
    DecisionCurveDisplay,
    InstabilityDisplay,
    validate,
)
from seminaive.evaluate.metrics import area_under_curve, log_loss, squared_error
from seminaive.evaluate.optimism import METHODS, Correction, plus_weight
from seminaive.evaluate.replay_folds import ReplayFolds
from seminaive.evaluate.validation_measures import measures_for

N_ROWS = 120


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.normal(size=(N_ROWS, 3)), columns=["slope", "noise", "other"])
    X["kind"] = rng.choice(["a", "b", "c"], N_ROWS)
    y = np.where(rng.random(N_ROWS) < expit(1.5 * X["slope"] + (X["kind"] == "b")), "yes", "no")
    return X, y


@pytest.fixture(scope="module")
def found(table):
    return validate(NaiveBayes(), *table, n_replays=30, n_repeats=1, progress=False)


def of(validation, measure):
    return validation.summary.set_index("measure").loc[measure]


# What is replayed.


class Remembering(ClassifierMixin, BaseEstimator):
    """Writes down the rows that it is fitted to; knows nothing."""

    seen: list = []  # noqa: RUF012 - shared by clones on purpose

    def fit(self, X, y):
        self.seen.append(np.asarray(X)[:, 0].astype(int))
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        return np.full((len(X), len(self.classes_)), 1 / len(self.classes_))


def test_groups_are_drawn_and_held_out_as_a_whole():
    Remembering.seen.clear()
    groups = np.repeat(np.arange(20), 3)
    X = np.column_stack([np.arange(60), np.zeros(60)])
    validate(Remembering(), X, groups % 2, groups=groups, n_replays=10, n_folds=5, progress=False)
    first, *others = Remembering.seen
    assert sorted(first) == list(range(60))
    for rows in others:
        counts = np.bincount(rows, minlength=60).reshape(20, 3)
        assert (counts == counts[:, :1]).all()


SPLITS_OF_ALL = [(np.arange(25), np.arange(25, 50)), (np.arange(25, 50), np.arange(25))]


@pytest.mark.parametrize(
    "rule",
    [5, None, KFold(3), TimeSeriesSplit(3), GroupKFold(4), SPLITS_OF_ALL, PredefinedSplit(np.arange(50) % 3)],
)
def test_folds_of_a_replay_are_those_of_the_rule_with_copies_where_the_row_goes(rule):
    origin = np.random.default_rng(0).integers(0, 50, 50)
    y, groups = origin % 2, origin // 5
    splits = list(ReplayFolds(rule, origin, groups).split(None, y))
    assert splits
    rows = np.unique(origin)
    by_hand = check_cv(rule, rows % 2, classifier=True)
    if rule is SPLITS_OF_ALL or isinstance(rule, PredefinedSplit):
        expected = list(by_hand.split())
    else:
        parts = by_hand.split(rows[:, None], rows % 2, rows // 5 if isinstance(rule, GroupKFold) else None)
        expected = [(rows[train], rows[test]) for train, test in parts]
    for found, wanted in zip(splits, expected, strict=True):
        for part, whole in zip(found, wanted, strict=True):
            assert set(origin[part]) == set(whole) & set(origin)
            assert len(part) == np.isin(origin, whole).sum()


def test_a_search_that_is_replayed_does_not_test_on_copies_of_its_training_rows():
    # Dealt to folds one by one, copies make the weakest penalty look best, and replays nearly separate the
    # classes.
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 12)), rng.integers(0, 2, 60)
    search = GridSearchCV(LogisticRegression(max_iter=500), {"C": [1e-4, 1e4]}, scoring="neg_log_loss")
    found = validate(search, X, y, n_replays=10, n_folds=5, n_repeats=1, progress=False)
    at_rest = np.abs(
        found.replays.probabilities - found.replays.probabilities.mean(axis=1, keepdims=True)
    ).max((1, 2))
    assert np.mean(at_rest < 0.05) > 0.5


def test_a_pipeline_with_imputation_inside_is_replayed_whole(table):
    X = table[0][["slope", "noise"]].to_numpy().copy()
    X[::4, 0] = np.nan
    model = make_pipeline(SimpleImputer(), LogisticRegression())
    found = validate(model, X, table[1], n_replays=10, n_folds=5, n_repeats=1, progress=False)
    replays = found.replays
    drawn = np.repeat(np.arange(N_ROWS), replays.counts[0])
    by_hand = (
        make_pipeline(SimpleImputer(), LogisticRegression()).fit(X[drawn], table[1][drawn]).predict_proba(X)
    )
    assert np.abs(by_hand - replays.probabilities[0]).max() < 1e-6  # single precision


def test_the_same_seed_gives_the_same_answer_in_one_process_in_two_and_from_a_file(table, tmp_path):
    given = {"n_replays": 10, "n_folds": 4, "n_repeats": 1, "progress": False}
    alone = validate(GaussianNB(), table[0][["slope"]], table[1], **given)
    path = tmp_path / "replays.jsonl"
    together = validate(GaussianNB(), table[0][["slope"]], table[1], n_jobs=2, path=path, **given)
    lines = path.read_text().splitlines(keepends=True)
    assert len(lines) == 14
    path.write_text("".join(lines[:5]))
    resumed = validate(GaussianNB(), table[0][["slope"]], table[1], path=path, **given)
    for other in (together, resumed):
        pd.testing.assert_frame_equal(alone.summary, other.summary)
    assert path.read_text() == "".join(lines)


def test_weights_enter_fits_and_measures(table):
    weight = np.where(table[1] == "yes", 3.0, 1.0)
    found = validate(
        LogisticRegression(),
        table[0][["slope"]],
        table[1],
        sample_weight=weight,
        n_replays=10,
        progress=False,
    )
    heavier = LogisticRegression().fit(table[0][["slope"]], table[1], sample_weight=weight)
    by_hand = log_loss((table[1] == "yes").astype(int), heavier.predict_proba(table[0][["slope"]]), weight)
    assert of(found, "log_loss")["apparent"] == pytest.approx(by_hand, abs=1e-6)


# What is measured.


def test_measures_are_those_of_the_metrics(found):
    truth, said = found.replays.rows.truth, found.replays.apparent
    weight = np.random.default_rng(0).uniform(0.5, 2, len(truth))
    by_name = {measure.name: measure.statistic for measure in measures_for(2)}
    for name, metric in (("log_loss", log_loss), ("brier", squared_error), ("auc", area_under_curve)):
        assert by_name[name](truth, said, weight) == pytest.approx(metric(truth, said, weight), abs=1e-9)


def test_without_information_means_that_answers_are_dealt_to_rows_at_random(found):
    truth, said = found.replays.rows.truth, found.replays.apparent
    ones = np.ones(len(truth))
    rng = np.random.default_rng(0)
    for measure in measures_for(2)[:2]:
        dealt = [measure.statistic(truth, said[rng.permutation(len(said))], ones) for _ in range(2000)]
        assert measure.no_information(truth, said, ones) == pytest.approx(np.mean(dealt), rel=0.01)


def test_held_out_rows_give_the_loss_of_cross_validation(found):
    truth = found.replays.rows.truth
    assert of(found, "log_loss")["corrected"] == pytest.approx(
        log_loss(truth, found.replays.held_out[0]), abs=1e-9
    )


def test_the_weight_of_left_out_rows_is_that_of_efron_and_tibshirani():
    assert plus_weight(0.1, 0.1, 0.5) == pytest.approx(0.632)
    assert plus_weight(0.1, 0.5, 0.5) == pytest.approx(1.0)
    assert plus_weight(0.1, 0.3, 0.5) == pytest.approx(0.632 / (1 - 0.368 * 0.5))
    assert plus_weight(0.9, 0.7, 0.5) == pytest.approx(0.632 / (1 - 0.368 * 0.5))  # more is better


def test_a_model_that_memorises_is_corrected_all_the_way_but_by_harrell():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(150, 4)), rng.integers(0, 2, 150)
    found = validate(KNeighborsClassifier(1), X, y, n_replays=20, n_repeats=1, progress=False)
    squared = measures_for(2)[1]
    corrected = {
        method: Correction(found.replays, method, 0.95)(squared.statistic, squared.no_information).corrected
        for method in METHODS
    }
    assert of(found, "brier")["apparent"] == 0.0
    assert corrected["cross-validation"] == pytest.approx(0.5, abs=0.1)  # coin flips, said with certainty
    assert corrected[".632+"] == pytest.approx(0.5, abs=0.1)
    assert corrected["harrell"] < 0.3


def test_intervals_surround_and_widen_with_coverage(found):
    wide = type(found)(found.replays, coverage=0.99).summary
    assert (found.summary["low"] < found.summary["high"]).all()
    assert (wide["high"] - wide["low"] > found.summary["high"] - found.summary["low"]).all()


def test_several_classes_have_one_slope_and_curves_of_their_own():
    rng = np.random.default_rng(0)
    y = np.repeat(["u", "v", "w"], 40)
    X = rng.normal(size=(120, 2)) + np.repeat([[0, 0], [1, 0], [0, 1.5]], 40, axis=0)
    found = validate(GaussianNB(), X, y, n_replays=15, n_folds=6, n_repeats=1, progress=False)
    assert found.summary["measure"].tolist() == ["log_loss", "brier", "auc", "calibration_slope"]
    assert np.isfinite(found.summary[["apparent", "corrected", "low", "high"]]).all(axis=None)
    assert len(found.instability) == 360
    assert np.isfinite(found.calibration("v")["corrected"]).all()


# What it tells about the model.


def test_a_term_that_matters_is_kept_always_and_noise_less_often(found):
    share = found.kept.set_index("term")["share"]
    assert share["slope"] == 1.0
    assert set(share.index) == {"slope", "noise", "other", "kind"}


def test_a_selector_in_a_pipeline_tells_what_it_kept(table):
    model = make_pipeline(SelectKBest(k=1), LogisticRegression())
    X = table[0][["slope", "noise", "other"]]
    found = validate(model, X, table[1], n_replays=10, n_folds=4, n_repeats=1, progress=False)
    assert found.kept.iloc[0][["term", "kept"]].tolist() == ["slope", True]
    assert found.kept["share"].sum() == pytest.approx(1.0)


def test_effects_of_replays_surround_those_of_the_model(found, table):
    effects = found.effects
    model = NaiveBayes().fit(*table)
    rows = found.replays.rows
    by_hand = model.column_effects(rows.X.iloc[rows.grid.rows])[np.arange(len(effects)), rows.grid.columns]
    assert np.abs(effects["effect"] - (by_hand[:, 1] - by_hand[:, 0])).max() < 1e-5
    slope = effects[effects["column"] == "slope"]
    assert (slope["low"] <= slope["high"]).all()
    assert slope["low"].iloc[-1] > 0 > slope["high"].iloc[0]


def test_column_effects_and_pairs_add_up_to_the_log_odds(table):
    X, y = table
    model = NaiveBayes().fit(X, y)
    total = model.column_effects(X).sum(axis=1)
    difference = model.decision_function(X) - (total[:, 1] - total[:, 0])
    assert np.ptp(difference) < 1e-9  # the intercept


def test_subgroups_are_measured_on_their_rows(found):
    parts = found.subgroups("kind")
    assert set(parts["part"]) == {"a", "b", "c"}
    one = parts[(parts["part"] == "a") & (parts["measure"] == "log_loss")].iloc[0]
    rows = found.replays.rows
    among = (rows.X["kind"] == "a").to_numpy()
    assert one["rows"] == among.sum()
    assert one["apparent"] == pytest.approx(
        log_loss(rows.truth[among], found.replays.apparent[among]), abs=1e-9
    )
    assert len(found.subgroups("slope")["part"].unique()) == 4


def test_instability_is_the_spread_over_the_replays(found):
    said = found.replays.probabilities[:, :, 1]
    rows = found.instability
    assert rows["mean_change"].to_numpy() == pytest.approx(
        np.abs(said - found.replays.apparent[:, 1]).mean(axis=0)
    )
    assert (rows["low"] <= rows["high"]).all()


# Pictures and the page.


def test_pictures_draw_what_was_found(found):
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    assert (
        CalibrationDisplay.from_validation(found).ax_.get_xlabel()
        == "probability of yes that the model gives"
    )
    assert "no" in InstabilityDisplay.from_validation(found, "no").ax_.get_xlabel()
    assert DecisionCurveDisplay.from_validation(found, thresholds=[0.2, 0.5]).curve["threshold"].tolist() == [
        0.2,
        0.5,
    ]
    assert ColumnEffectsDisplay.from_validation(found, "kind").column == "kind"
    with pytest.raises(InputError, match="no effects of 'age'"):
        ColumnEffectsDisplay.from_validation(found, "age")
    plt.close("all")


def test_the_page_says_what_the_summary_says(found, tmp_path):
    page = found.page(tmp_path / "page.html").read_text(encoding="utf-8")
    assert f"{of(found, 'log_loss')['corrected']:.3f}" in page
    assert "<script" not in page
    assert page.count("<figure>") == 3 + 4
    assert page == found.page(tmp_path / "again.html").read_text(encoding="utf-8")


def test_acting_on_every_row_is_the_net_benefit_at_a_threshold_below_all_probabilities(found):
    curve = found.net_benefit(thresholds=[1e-9, 0.5])
    assert curve["apparent"].iloc[0] == pytest.approx(curve["all"].iloc[0])


# What is refused.


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"n_replays": 5}, "n_replays is a number of 10 or more"),
        ({"n_folds": 1}, "n_folds"),
        ({"method": "guess"}, "method is"),
        ({"coverage": 1.0}, "coverage"),
        ({"groups": [0] * 61 + list(range(1, 60))}, "has 61 of 120 rows"),
        ({"groups": [0, 1]}, "one group per row"),
        ({"sample_weight": [0.0] * 120}, "positive"),
        ({"random_state": None}, "random_state"),
    ],
)
def test_what_cannot_be_replayed_is_refused(table, given, match):
    with pytest.raises(InputError, match=match):
        validate(GaussianNB(), table[0][["slope"]], table[1], **{"n_replays": 10, "progress": False, **given})


def test_too_few_rows_and_classes_of_one_row_are_refused(table):
    X, y = table[0][["slope"]], table[1]
    with pytest.raises(InputError, match="9 rows are too few"):
        validate(GaussianNB(), X[:9], y[:9])
    with pytest.raises(InputError, match="every row is of the class"):
        validate(GaussianNB(), X, np.zeros(N_ROWS))
    with pytest.raises(InputError, match="one row only has the class 'rare'"):
        validate(GaussianNB(), X, np.where(np.arange(N_ROWS) == 0, "rare", y))


def test_rows_without_a_label_are_refused(table):
    y = np.where(np.arange(N_ROWS) < 2, None, table[1].astype(object))
    with pytest.raises(InputError, match="2 rows have no label"):
        validate(GaussianNB(), table[0][["slope"]], y)


def test_a_validation_shows_its_measures_and_not_its_rows(found):
    first, *lines = repr(found).splitlines()
    assert first.startswith(f"Validation of {N_ROWS} rows")
    assert len(lines) == 1 + len(found.summary)


def test_splits_of_all_rows_are_replayed(table):
    splits = [(np.arange(60), np.arange(60, 120)), (np.arange(60, 120), np.arange(60))]
    model = GridSearchCV(LogisticRegression(), {"C": [1.0]}, cv=splits)
    found = validate(
        model, table[0][["slope"]], table[1], n_replays=10, n_folds=5, n_repeats=1, progress=False
    )
    assert not found.replays.failures


class Failing(GaussianNB):
    def fit(self, X, y):
        if len(np.unique(X, axis=0)) < len(X):
            raise ValueError("copies")
        return super().fit(X, y)


def test_a_model_that_fails_in_replays_is_refused_with_what_it_said(table):
    with pytest.raises(InputError, match=r"replays failed.*ValueError: copies"):
        validate(
            Failing(), table[0][["slope"]], table[1], n_replays=20, n_folds=4, n_repeats=1, progress=False
        )
