"""Higher-order logistic regression whose strengths are chosen by cross-validation."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from seminaive.design.classes import by_class, class_share_scores
from seminaive.encode import EqualFrequencyCuts, mdl_cuts, recut
from seminaive.encode.cuts import cut_rule
from seminaive.models.base import unchanged_on_failure
from seminaive.models.decided import DECIDED, generator_of, keep_decision
from seminaive.models.fit_progress import progress_of
from seminaive.models.folded import fold_rows
from seminaive.models.parameters import check_flag, check_numbers, check_order, check_search
from seminaive.models.started import StartedClassifier
from seminaive.models.term_fit_posterior import NO_TERM_POSTERIOR, has_posterior, posterior_of_terms
from seminaive.models.term_layout import lay_out_terms
from seminaive.selection.fold_table import FoldTable
from seminaive.selection.folds import check_folds
from seminaive.selection.started_strength_search import StartedAverage, StartedStrengthSearch
from seminaive.selection.strength_grid import Grid
from seminaive.selection.strength_search import StrengthSearch
from seminaive.solvers.result import MAX_ITER, TOL

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from seminaive.arrays import Floats, Indices
    from seminaive.design.coefficients import GenerativeEstimate
    from seminaive.encode import EncodedTable
    from seminaive.encode.encoded_table import CutRule
    from seminaive.models.fit_progress import Steps
    from seminaive.models.folded import FoldedRows
    from seminaive.models.started import Earlier
    from seminaive.models.training_set import TrainingSet
    from seminaive.selection.baselines import Baseline
    from seminaive.selection.strength_search import Average

    Split = tuple[Indices, Indices]

FEW_ROWS = 500


def cuts_by_size(values: Floats, labels: Indices, row_weight: Floats | None = None) -> Floats:
    """Cut into 6 equally frequent bins below 500 rows, into 10 from there on."""
    n_rows = len(values) if row_weight is None else row_weight.sum()
    return EqualFrequencyCuts(6 if n_rows < FEW_ROWS else 10)(values, labels, row_weight)


@dataclass(eq=False, repr=False)
class HigherOrderLogisticRegressionCV(StartedClassifier):
    """Logistic regression over single features and tuples together, with a strength per order.

    Every single feature and every tuple of up to ``order`` features has a table of coefficients; numbers
    enter as numbers and as intervals. Higher orders have more coefficients, and need a stronger ridge. So
    there is one strength for single features, one for tuples and one for numbers, chosen by cross-validated
    log loss. Coefficients may be pulled toward a share of the generative estimate instead of toward 0; the
    share is chosen in the same way. On few rows the strengths come out large and the probabilities stay
    moderate; on many rows the model picks up interactions.

    Parameters
    ----------
    order : int, default=2
        Largest number of features in a term.
    hierarchical : bool, default=True
        Whether every lower order has terms too, and numbers enter as such. If False, only tuples of
        exactly ``order`` features have terms, with a single strength.
    first_ridges : sequence of float, default=(0.1, 1.0, 10.0)
        Strengths that are tried for single features. A single one is taken as given; of several, the search
        goes on by factors of ten where the first or the last is the best, down to no penalty and up to the
        class shares alone.
    ridges : sequence of float, default=(0.04, 0.2, 1.0, 5.0, 25.0, 125.0, 625.0)
        Strengths that are tried for tuples, from the middle on in the direction in which the log loss falls,
        and beyond either end as above. All orders from 2 on share one.
    number_shares : sequence of float, default=(0.1, 1.0)
        The strength of numbers that enter as such, as shares of that of single features, from the largest
        down as long as each lowers the log loss by 3 %. Numbers that must be combined with large opposite
        coefficients need a small one.
    generative_shares : sequence of float, default=(0.0, 0.25, 0.5)
        Shares of the generative estimate that are tried as the target of the ridge.
    start : fitted additive model or None, default=None
        An earlier model, fitted to other rows, from which to start: the score is then an intercept, plus a
        slope times the earlier score, plus terms that are held back toward nothing. Held-out rows say how far
        the answer goes from the earlier model, recalibrated, to a fit of these rows alone. Classes must be
        the same. A column that the earlier model lacks is new; one that the table lacks carries no evidence.
        Clones start from the same fitted model; in a grid of parameters, wrap it in `FrozenEstimator`.
    cv : "auto", int, splitter or iterable of (train, test), default="auto"
        Number of folds, stratified by class, 5 below 3,000 rows and 3 from there on, or
        scikit-learn's ways of saying which rows are held out. Below 2,000 rows folds by number are drawn
        several times, up to 30 folds in all, so that an answer hardly depends on the draw.
    bins : "auto", "mdl" or int, default="auto"
        How numbers are cut: into 6 equally frequent bins below 500 rows and 10 above; by description
        length; or into that number of equally frequent bins.
    tol : float, default=1e-3
        Where final fits stop: its square is the share of the penalised loss by which a fit may exceed its
        minimum, a millionth by default.
    max_iter : int, default=1000
        Newton steps per fit.
    n_jobs : int, default=None
        Threads; results do not depend on it.
    random_state : int, RandomState or None, default=0
        The assignment of rows to folds.

    Attributes
    ----------
    scores_ : AdditiveScores
        The intercept, one table per term, and one slope per number if hierarchical.
    ridge_ : tuple of float
        The strengths of the best trial, one per order. The answer is an average over trials.
    number_ridge_ : float
        Its strength for numbers.
    generative_share_ : float
        Its share of the generative estimate.
    fit_share_ : float
        The share of the average in the answer, the rest being the class shares, or the recalibrated model
        that it started from. It has the least loss on held-out rows, and is smaller where the gain may be
        chance; 0 where nothing is gained.
    started_from_ : tuple of StartedFrom
        With a ``start``: the earlier models that this one goes back to, the first one first, each with its
        ``slope``.
    cv_log_loss_ : float
        The log loss to expect on new rows: that of rows that had no part in a fit nor in the choice among
        fits, by bootstrapping the held-out rows.
    cv_log_loss_interval_ : (float, float)
        Its 95 % interval.
    cv_results_ : dict of ndarray
        ``ridge`` (one row per trial), ``number_ridge``, ``generative_share`` and ``log_loss``, the mean over
        held-out rows and one more of unknown label, by which the search decides. With a ``start`` also the
        ``slope`` of the earlier score.
    objective_ : float
        The penalised loss of the final fit.
    gradient_norm_ : float
        How close to the optimum the fits ended (their certificate), on the scale of ``tol``: the largest of
        the fits that are averaged.
    n_iter_ : int
    passes_ : int
        Passes over all rows of the final fit, for gradients and for products with second derivatives.

    Examples
    --------
    In pure noise there is nothing to learn, and the answer is the class shares:

    >>> import numpy as np
    >>> X = np.random.default_rng(0).integers(0, 3, (200, 4))
    >>> y = np.arange(200) % 4 == 0
    >>> model = HigherOrderLogisticRegressionCV(categorical_features="all").fit(X, y)
    >>> bool(abs(model.predict_proba(X)[:, 1] - 0.25).max() < 0.01)
    True
    """

    _fitted: ClassVar = {
        **DECIDED,
        "ridge_": tuple,
        "number_ridge_": float,
        "generative_share_": float,
        "cv_results_": dict,
        "n_iter_": int,
        "passes_": int,
        "objective_": float,
        "gradient_norm_": float,
    }

    order: int = 2
    _: KW_ONLY
    hierarchical: bool = True
    first_ridges: Sequence[float] = (0.1, 1.0, 10.0)
    ridges: Sequence[float] = (0.04, 0.2, 1.0, 5.0, 25.0, 125.0, 625.0)
    number_shares: Sequence[float] = (0.1, 1.0)
    generative_shares: Sequence[float] = (0.0, 0.25, 0.5)
    start: Any = None
    cv: Any = "auto"
    bins: Any = "auto"
    tol: float = TOL
    max_iter: int = MAX_ITER
    n_jobs: int | None = None
    random_state: Any = 0

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Choose the strengths on folds, then fit all rows."""
        self.check_parameters()
        with unchanged_on_failure(self):
            training = self._encode_training(X, y, sample_weight)
            folded = fold_rows(training, self.cv, y, sample_weight, self.random_state, groups, n_draws=None)
            folded = folded.merged()
            rows = folded.rows
            whole, tables = self._fold_tables(folded)
            earlier = self._earlier(training)
            with progress_of(self, "trials") as step:
                step.say(whole.design.describe())
                search = self._search(whole, tables, folded, earlier, step)
                search.run(self._grid())
                found = search.fit_average(self.tol, generator_of(self.random_state))
            self.cv_results_ = search.results()
            self._keep(found)
            estimate = whole.design.generative_estimate(rows.labels, rows.weights)
            cell_weight = estimate.cell_weight.sum(axis=1)
            self.scores_ = estimate.coefficients.to_scores(by_class(found.result.solution), cell_weight)
            if earlier is not None and isinstance(found, StartedAverage):
                self._add_to(earlier, found.slope)
                self._finish_started(training, earlier)
            else:
                self.attenuate(rows)
                self._keep_posterior(whole, estimate, found)
                self._summarise(rows, estimate.tuple_weights())
        return self

    def chooses_by_folds(self) -> bool:
        """Return true: strengths are chosen by folds."""
        return True

    def binning_rule(self) -> CutRule | None:
        """Return the rule that cuts numbers into bins."""
        return cuts_by_size if isinstance(self.bins, str) and self.bins == "auto" else cut_rule(self.bins)

    def _fold_tables(self, folded: FoldedRows) -> tuple[FoldTable, list[FoldTable]]:
        """Return all rows under one coding, and the tables of the folds."""
        rows, rule = folded.rows, self.binning_rule()
        whole = self._fold_table(rows, rows.table, tuple(folded.splits))
        if rule is not mdl_cuts or not rows.table.numbers.shape[1]:
            return whole, [whole]
        # These cut points look at labels, so that each fold learns them from its training rows.
        return whole, [
            self._fold_table(rows, recut(rows.table, rule, rows.labels, rows.row_weight, split[0]), (split,))
            for split in folded.splits
        ]

    def _search(
        self,
        whole: FoldTable,
        tables: list[FoldTable],
        folded: FoldedRows,
        earlier: Earlier | None,
        step: Steps,
    ) -> StrengthSearch | StartedStrengthSearch:
        """Return the search over strengths, around an earlier model where there is one."""

        def search_of(
            whole: FoldTable, tables: list[FoldTable], baseline: Baseline | None = None
        ) -> StrengthSearch:
            return StrengthSearch(whole, tables, self.max_iter, folded.groups, step, baseline, folded.copies)

        if earlier is None:
            return search_of(whole, tables)
        return StartedStrengthSearch(whole, tables, earlier.columns_of(folded.rows.table), search_of)

    def _keep(self, found: Any) -> None:
        """Set the attributes of the average that a search found."""
        best, result = found.best, found.result
        keep_decision(self, found.decision)
        result.warn_unless_converged(self.tol, "raise max_iter, raise the ridges or raise tol")
        self.ridge_, self.number_ridge_ = best.ridge, best.number_ridge
        self.generative_share_ = best.share
        self.n_iter_, self.passes_ = result.n_iter, result.passes
        self.objective_, self.gradient_norm_ = result.objective, result.optimality

    def _keep_posterior(self, whole: FoldTable, estimate: GenerativeEstimate, found: Average) -> None:
        """Keep how uncertain the scores are: the posterior under the strengths of most weight.

        It is about the fit, of which the answer is a share.
        """
        if not has_posterior(whole.design):
            return
        strength = estimate.coefficients.strengths(np.asarray(found.best.ridge), found.best.number_ridge)
        answer, share = found.result.solution, found.decision.fit_share
        fit = answer.copy()
        if share > 0:
            fit[0] -= (1.0 - share) * class_share_scores(estimate.class_weight)
            fit /= share
        posterior = posterior_of_terms(whole.design, strength, fit, whole.row_weight, fit - answer)
        self.scores_ = replace(self.scores_, posterior=posterior)

    _no_posterior: ClassVar[str] = NO_TERM_POSTERIOR

    def _fold_table(self, rows: TrainingSet, table: EncodedTable, splits: tuple[Split, ...]) -> FoldTable:
        design = lay_out_terms(self, table, rows)
        return FoldTable.of(design, table.codes, rows.labels, rows.weights, rows.n_classes, splits)

    def _grid(self) -> Grid:
        lists = (self.first_ridges, self.ridges, self.number_shares, self.generative_shares)
        return Grid.of(*lists, self.order, hierarchical=self.hierarchical)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_order(self.order)
        check_flag("hierarchical", self.hierarchical)
        check_folds(self.cv, "auto")
        for name in ("first_ridges", "ridges", "number_shares", "generative_shares"):
            check_numbers(name, getattr(self, name), "a list of numbers of 0 or more")
        check_search(self.tol, self.max_iter)
