import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from seminaive.errors import InputError
from seminaive.evaluate import rows_needed
from seminaive.evaluate.rows_needed import cox_snell_of_auc


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        # What pmsampsize, by the authors of the criteria, gives for its documented examples.
        ({"n_columns": 24, "prevalence": 0.174, "cox_snell": 0.288}, (623, 662, 221, 662)),
        ({"n_columns": 24, "prevalence": 0.174, "expected_auc": 0.89}, (615, 660, 221, 660)),
    ],
)
def test_criteria_give_the_numbers_of_their_authors(given, expected):
    found = rows_needed(**given)
    assert (found.shrinkage, found.optimism, found.intercept, found.rows) == expected


def test_the_example_of_the_paper_needs_5249_rows():
    # Pre-eclampsia: 30 parameters, one woman in twenty, an R2 of .05 (Riley et al. 2020).
    found = rows_needed(30, 0.05, cox_snell=0.05)
    assert (found.shrinkage, found.intercept) == (5249, 73)


def test_explained_variation_is_that_of_a_simulated_regression():
    rng = np.random.default_rng(0)
    apart, n = np.sqrt(2) * 0.8416212, 200_000  # Phi^-1(.8)
    y = rng.random(n) < 0.2
    x = rng.normal(size=n) + apart * y
    model = LogisticRegression(C=np.inf).fit(x[:, None], y)
    p = np.clip(expit(model.decision_function(x[:, None])), 1e-12, 1 - 1e-12)
    gain = np.mean(np.where(y, np.log(p / y.mean()), np.log((1 - p) / (1 - y.mean()))))
    assert cox_snell_of_auc(0.8, 0.2) == pytest.approx(
        1 - np.exp(-2 * gain), abs=0.005
    )  # noise of 200,000 rows


def test_more_columns_and_weaker_signals_need_more_rows():
    assert rows_needed(20, 0.3, 0.7).rows > rows_needed(10, 0.3, 0.7).rows > rows_needed(10, 0.3, 0.8).rows
    assert rows_needed(10, 0.3, 0.75) == rows_needed(10, 0.3, cox_snell=cox_snell_of_auc(0.75, 0.3))


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ((0, 0.2, 0.8), "n_columns"),
        ((5, 0.0, 0.8), "prevalence"),
        ((5, 0.2, 0.5), "expected_auc"),
        ((5, 0.2), "either expected_auc or cox_snell"),
    ],
)
def test_what_means_nothing_is_refused(given, match):
    with pytest.raises(InputError, match=match):
        rows_needed(*given)


def test_more_than_can_be_explained_is_refused():
    with pytest.raises(InputError, match="its maximum"):
        rows_needed(5, 0.05, cox_snell=0.5)
