"""The search of SemiNaive over strengths has no edges: a prior, not a limit, ends it."""

from types import SimpleNamespace

import numpy as np
import pytest

from seminaive.selection.decision import SEARCH
from seminaive.selection.relevance_search import RelevanceSearch
from seminaive.selection.relevance_trials import ALL, PLAN, cost_of, strengths_after
from seminaive.selection.split_rows import SplitRows


class SeparableSolver:
    """A solver whose fits are right in every row, and the surer, the weaker the strengths are."""

    def __init__(self, n_rows):
        splits = [(np.flatnonzero(fold), np.flatnonzero(~fold)) for fold in self._halves(n_rows)]
        self.rows = SplitRows(None, np.arange(n_rows) % 2, np.ones(n_rows), 2, splits)
        self.columns = SimpleNamespace(
            n_terms=3, groups=np.arange(3), sizes=np.ones(3, dtype=np.int64), smoothness=np.ones(3)
        )

    def _halves(self, n_rows):
        first = np.arange(n_rows) < n_rows // 2
        return first, ~first

    def prepare(self, relevances):
        return [SimpleNamespace(relevances=of_fold) for of_fold in relevances]

    def _fit(self, strengths):
        sure = np.log1p(1.0 / np.asarray(strengths)).sum()
        scores = np.where(self.rows.labels == 1, sure, -sure)[:, None]
        result = SimpleNamespace(optimality=0.0, n_iter=1, objective=0.0)
        return SimpleNamespace(scores=scores, warm_start=scores, fit=result)

    def fit_folds(self, _prepared, strengths, *_):
        return [self._fit(strengths) for _ in self.rows.splits]

    def fit_all(self, _prepared, strengths, *_):
        return self._fit(strengths)

    def evidence(self, _prepared, _which, _strengths, fits):
        return np.ones((len(fits), 3)), np.ones((len(fits), 3))

    def coefficients(self, _parts):
        return np.zeros((4, 1))


def searched(n_rows, **options):
    generator = np.random.default_rng(0)
    search = RelevanceSearch(SeparableSolver(n_rows), np.ones(2), 2, 1e-3, 100, generator, **options)
    return search, search.run()


@pytest.mark.parametrize("group", range(ALL + 1))
def test_a_step_multiplies_the_strengths_of_its_group_by_its_factor(group):
    steps = tuple(int(other == group) for other in range(ALL + 1))
    times = np.array(strengths_after(steps)) / PLAN.starts
    expected = [PLAN.factors[group] if group in {other, ALL} else 1.0 for other in range(ALL)]
    np.testing.assert_allclose(times, expected)


def test_a_deviation_toward_weaker_strengths_costs_half_a_unit_of_log_likelihood():
    # One step of slopes is a decade, their deviation; so are two of main terms; that of all at once is two.
    for steps in ((-1, 0, 0, 0), (0, -2, 0, 0), (0, 0, 0, -2)):
        assert cost_of(steps) == pytest.approx(0.5)


def test_stronger_strengths_cost_nothing():
    assert cost_of((4, 8, 7, 0)) == 0.0


@pytest.mark.parametrize("n_rows", [40, 1000, 100_000])
def test_the_search_ends_where_no_step_lowers_loss_and_cost(n_rows):
    search, answer = searched(n_rows)
    best = answer.best
    assert best.criterion == min(trial.criterion for trial in search.trials)
    for group in range(ALL):
        for direction in (-1, 1):
            steps = list(best.steps)
            steps[group] += direction
            new = search._trial(tuple(steps), best.number, best.prepared, best)
            assert new.criterion >= (1 - SEARCH.precision) * best.criterion


def test_more_rows_that_are_all_right_allow_weaker_strengths():
    n_rows = np.array([40, 1000, 100_000])
    strengths = np.array([searched(n)[1].best.strengths for n in n_rows])
    assert (np.diff(np.log10(strengths).mean(axis=1)) < 0).all()
    # All n labels are right, and one row's label is unknown: odds of 2 n + 1 lose least, and the prior, which
    # counts the less the more rows there are, holds them back. The strengths of a group go by factors.
    sure = np.log1p(1.0 / strengths).sum(axis=1)
    assert (sure < np.log(2 * n_rows + 1) + np.log(max(PLAN.factors))).all()
    assert sure[-1] > np.log(2 * n_rows[-1] + 1) - np.log(max(PLAN.factors))


class UnsettledSolver(SeparableSolver):
    """A solver for which all strengths but the first are better, by no more than fits end apart."""

    def _fit(self, strengths):
        fit = super()._fit((1.0, 1.0, 1.0))
        if not np.allclose(strengths, PLAN.starts):
            fit.scores = fit.scores * (1 + SEARCH.precision / 100)
        return fit


def test_a_search_stays_where_it_is_as_long_as_trials_differ_by_less_than_its_precision():
    search = RelevanceSearch(UnsettledSolver(1000), np.ones(2), 2, 1e-3, 100, np.random.default_rng(0))
    search.run()
    losses = [trial.loss for trial in search.trials]
    assert min(losses) < losses[0]
    # One step from the start in each direction that a climb looks in, none of them from elsewhere.
    assert all(np.abs(trial.steps).sum() <= 1 for trial in search.trials)


def test_where_rows_are_a_sample_the_best_trial_alone_is_fitted_and_the_decision_is_that_of_the_average():
    _, average = searched(30)
    _, best = searched(30, only_best=True)
    assert len(average.parts) > 1
    assert best.parts == [(1.0, best.best)]
    assert len(best.fits) == 1
    assert best.best.steps == average.best.steps
    assert best.decision.log_loss == average.decision.log_loss
    np.testing.assert_array_equal(best.decision.weights, average.decision.weights)
