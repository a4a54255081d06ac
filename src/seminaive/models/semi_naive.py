"""The classifier that finds its place between naive Bayes and logistic regression with interactions."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils.validation import check_is_fitted

from seminaive.design.smooth_scores import smooth_scores, term_blocks
from seminaive.encode import frame_like
from seminaive.encode.nodes import table_with_nodes
from seminaive.encode.shapes import check_shapes
from seminaive.models import smooth_rows
from seminaive.models.base import unchanged_on_failure
from seminaive.models.decided import DECIDED, generator_of, keep_decision
from seminaive.models.fit_progress import progress_of
from seminaive.models.folded import fold_rows
from seminaive.models.paired import PairedClassifier, pair_importances
from seminaive.models.parameters import MANY_ROWS, check_search, is_whole
from seminaive.models.shaped import obeying
from seminaive.models.smooth_fit_posterior import SmoothFitPosterior
from seminaive.models.smooth_rows import RowsInMemory
from seminaive.selection.fold_solvers import coefficient_solver, has_inequalities, row_space_solver
from seminaive.selection.folds import check_folds
from seminaive.selection.relevance_search import RelevanceSearch
from seminaive.selection.screening import Screen
from seminaive.selection.started_search import StartedAnswer, StartedSearch
from seminaive.solvers.blas import one_blas_thread
from seminaive.solvers.result import MAX_ITER, SolverResult
from seminaive.statistics import TupleCounts

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import NDArray

    from seminaive.arrays import Booleans, Floats
    from seminaive.design.smooth_columns import SmoothColumns
    from seminaive.models.fit_progress import Steps
    from seminaive.models.smooth_rows import Search, SmoothRows
    from seminaive.selection.baselines import Baseline
    from seminaive.selection.relevance_trials import FoldSolver, RelevanceAnswer
    from seminaive.selection.screening import Crossed
    from seminaive.selection.split_rows import SplitRows

# Fits in the row space take about the cube of the rows, passes over the rows about the features times the
# classes. The row space is faster up to this ratio, as measured.
CUBES = 30_000


def faster_in_row_space(n_rows: int, n_features: int, n_classes: int) -> bool:
    """Tell whether fits take less time in the row space than in the coefficients."""
    return n_rows**3 <= CUBES * n_features * n_classes


@dataclass(eq=False, repr=False, kw_only=True)
class SemiNaive(PairedClassifier):
    """Additive logistic regression with smooth curves and pairs, their strengths by cross-validation.

    Every number has a slope and a smooth curve, every category a table, and every pair of columns a smooth
    table of low rank. A ridge holds all coefficients back. Its strengths for slopes, curves and pairs are
    found by cross-validated log loss; and the more a single term explains for its effective degrees of
    freedom, the less it is held back (its relevance). On few rows little more than a few weighted columns is
    left, which resembles naive Bayes; on many rows the model is a logistic regression with interactions. The
    answer is an average over the strengths tried, shrunk toward the class shares as far as its gain over them
    may be chance.

    Parameters
    ----------
    interactions : "all", int or list of pairs, default="all"
        Which pairs of columns have a term. "all": every pair or, where these would have more than 4,000
        features, those of which the residuals of a fit without pairs say that they more probably matter than
        not. A number: that many of the most important ones, which pay most of the penalty in a first fit
        with all pairs; 0 is none. Every fold ranks them by its training rows, so that held-out rows have no
        part in the choice. A list: these pairs only, by names or positions.
    shapes : mapping of columns to shapes or None, default=None
        What is known beforehand about numbers: "increasing", "decreasing", "convex", "concave", "linear" or
        "none". The log odds of the second class then have the shape along the column, whatever the other
        columns hold. With more than two classes a pair such as ``("increasing", "severe")`` names the class:
        its score minus that of every other class increases. Beyond the training range, or 4 standard
        deviations from the mean if that is nearer, a score is constant. A column with a shape has no pairs,
        and the shape does not bind the level of missing cells.
    smoothness : mapping of columns to numbers or None, default=None
        Factor of the ridge of a number's curve: above 1 the curve is smoother than without it, below 1
        rougher.
    start : fitted additive model or None, default=None
        An earlier model, fitted to other rows, from which to start: the score is then an intercept, plus a
        slope times the earlier score, plus terms that are held back toward nothing. Held-out rows say how far
        the answer goes from the earlier model, recalibrated, to a fit of these rows alone. Classes must be
        the same. A column that the earlier model lacks is new; one that the table lacks carries no evidence.
        Clones start from the same fitted model; in a grid of parameters, wrap it in `FrozenEstimator`.
    cv : "auto", int, splitter or iterable of (train, test), default="auto"
        Number of folds, stratified by class, 5 below 3,000 rows and 3 from there on, or scikit-learn's ways
        of saying which rows are held out. Below 2,000 rows folds by number are drawn several times, up to 30
        folds in all, so that an answer hardly depends on the draw.
    tol : float, default=1e-3
        Where final fits stop. Its square is about the share of the penalised loss by which a fit may exceed
        its minimum: a millionth by default.
    max_iter : int, default=1000
        Newton steps per fit.
    n_jobs : int, default=None
        Threads; results do not depend on it.
    random_state : int, RandomState or None, default=0
        The assignment of rows to folds, the rows that the search sees where there are more than 20,000, and
        the draws of held-out rows by which the search is judged.
    missing : {"value", "neutral"}, default="value"
        Whether a missing cell counts as one more value, if training had missing cells in its column, or
        leaves the odds of the classes as they are.

    Attributes
    ----------
    columns_report_ : frame
        How each column was read: kind, levels, missing cells, type; and whether it is used. Where there are
        more columns than rows, and than can all be paired, those with the most evidence are.
    scores_ : AdditiveScores
        The intercept; a piecewise-linear curve of each number, to which its slope, clipped to the training
        range and to 4 deviations, is added; tables of categories and of pairs.
    strengths_ : dict of str to float
        The ridge of slopes, curves (and tables of categories) and pairs in the best trial.
    relevances_ : frame
        One row per term: ``term``, ``relevance`` (what its ridge is divided by; 0 for a term that only some
        folds have), ``degrees_of_freedom`` (how many coefficients the rows determine) and ``evidence`` (its
        share in the penalty of all terms, which is 0 for a term that explains nothing).
    n_pairs_considered_ : int
        How many pairs of columns were compared; those that are not in ``interactions_`` have no term.
    interactions_ : frame
        One row per pair that has a term, most important first: ``first``, ``second`` and ``importance``, the
        standard deviation of its contribution over the training rows. With a number of pairs, these
        are the ones that the fit to all rows has; a ``start`` adds the pairs of the earlier model.
    shapes_ : dict of str to str
        The shape of each column that has one.
    shape_costs_ : frame
        One row per shape: ``column``, ``shape``, ``cost`` (by how much the held-out log loss is lower without
        it, the strengths being the same; negative where the shape helps) and ``standard_error``.
    cv_results_ : dict of ndarray
        For each trial ``slopes``, ``mains`` and ``pairs`` (strengths), ``round`` (of relevance updates) and
        ``log_loss``, the mean over held-out rows and one more of unknown label (Laplace's rule of
        succession), by which the search decides; with a ``start`` also the ``slope`` of the earlier score.
        Trials without a new term have infinite strengths.
    fit_share_ : float
        The share of the fit in the answer, the rest being the class shares, or the recalibrated model that it
        started from. It has the least loss on held-out rows, and is smaller where the gain may be chance; 0
        where nothing is gained.
    started_from_ : tuple of StartedFrom
        With a ``start``: the earlier models that this one goes back to, the first one first, each with its
        ``slope``.
    cv_log_loss_ : float
        The log loss to expect on new rows: that of rows that had no part in a fit nor in the choice among
        fits, by bootstrapping the held-out rows.
    cv_log_loss_interval_ : (float, float)
        Its 95 % interval.
    gradient_norm_ : float
        How close to the optimum the fits ended (their certificate), on the scale of ``tol``: the largest of
        the fits that are averaged.
    n_iter_ : int

    Examples
    --------
    The class depends on the square of one number, and on the product of two others:

    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(600, 3))
    >>> y = X[:, 0] ** 2 + 2 * X[:, 1] * X[:, 2] > 1
    >>> model = SemiNaive().fit(X, y)
    >>> model.interactions_.iloc[0][["first", "second"]].tolist()
    ['x1', 'x2']
    """

    _fitted: ClassVar[dict[str, Any]] = {
        "strengths_": "dict[str, float]",
        **DECIDED,
        "gradient_norm_": float,
        "n_iter_": int,
        "n_pairs_considered_": int,
        "cv_results_": dict,
        "_term_names": "tuple[str, ...]",
        "_evidence": dict,
    }

    _no_posterior: ClassVar[str] = (
        "no formula says how uncertain a fit is that has shapes with inequalities, or that started from an "
        "earlier model: fit without shapes and start, or see how the fit varies over replays by "
        "seminaive.evaluate.validate"
    )

    interactions: Any = "all"
    shapes: Any = None
    smoothness: Any = None
    start: Any = None
    cv: Any = "auto"
    tol: float = 1e-3
    max_iter: int = MAX_ITER
    n_jobs: int | None = None
    random_state: Any = 0

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Find strengths and relevances on folds, then fit all rows."""
        self.check_parameters()
        with unchanged_on_failure(self):
            rows = self._encode_training(X, y, sample_weight)
            rows = replace(rows, table=table_with_nodes(rows.table, rows.weights))
            folded = fold_rows(rows, self.cv, y, sample_weight, self.random_state, groups, n_draws=None)
            earlier, n_threads = self._earlier(rows), effective_n_jobs(self.n_jobs)
            most_searched = self._most_searched()
            in_memory = RowsInMemory.of(rows, folded, earlier, self.random_state, n_threads, most_searched)
            weights = self.fit_rows(in_memory)
            if earlier is None:
                self.attenuate(rows)
                self._summarise(rows, TupleCounts(self.scores_.terms, weights[:, None]))
            else:
                self._finish_started(rows, earlier)
        return self

    def chooses_by_folds(self) -> bool:
        """Return true: strengths are chosen by folds."""
        return True

    def _most_searched(self) -> int:
        """Return how many rows the search sees at most."""
        return smooth_rows.MOST_SEARCHED

    def fit_rows(self, rows: SmoothRows) -> Floats:
        """Fit rows, wherever they are: search strengths and relevances, then fit all of them.

        Parameters
        ----------
        rows : SmoothRows

        Returns
        -------
        ndarray of shape (n_cells,)
            The training weight of each cell of the fitted terms.
        """
        with progress_of(self, "trials") as step, one_blas_thread():
            self.schema_ = rows.schema
            columns = self._with_shapes(rows.columns(), rows.schema, rows.margin)
            columns, search, answer = self._run_search(columns, rows, step)
            answer = rows.refit(columns, search, answer, self.tol, self.max_iter)
            weights = self._keep(columns, search, answer, rows)
            if rows.earlier is not None and isinstance(answer, StartedAnswer):
                self._add_to(rows.earlier, answer.slope)
                weights = rows.earlier.weights_of(self.scores_.terms)
                self._importances = pair_importances(self.scores_, weights)
        self._question_shapes()
        return weights

    def _run_search(
        self, columns: SmoothColumns, rows: SmoothRows, step: Steps
    ) -> tuple[SmoothColumns, Search, RelevanceAnswer]:
        """Search strengths and relevances on the rows that a search sees.

        Returns the columns with the terms of pairs, too. A given number of pairs is chosen, for each training
        set, by the penalties of a first fit with all of them.
        """
        screen = Screen(columns, rows.searched.as_split)
        crossed = screen.crossed_by(self._wanted_pairs(rows.schema), self._solver, self.max_iter)
        if is_whole(self.interactions) and self.interactions < len(crossed.columns.pairs):
            with_all = self._search_over(crossed, screen.rows, rows, step)
            crossed = screen.with_most_important(crossed, self.interactions, with_all.penalties())
        search = self._search_over(crossed, screen.rows, rows, step)
        self.n_pairs_considered_ = int(crossed.n_pairs)
        answer = search.run()
        self._keep_shape_costs(search, answer.best, lambda columns: self._solver(columns, screen.rows))
        return crossed.columns, search, answer

    def _search_over(self, crossed: Crossed, rows: SplitRows, all_rows: SmoothRows, step: Steps) -> Search:
        """Return a search over the strengths and relevances of the terms of some columns."""
        columns, folded, earlier = crossed.columns, all_rows.searched, all_rows.earlier
        n_features = int(columns.sizes.sum())
        step.say(f"{len(folded.rows.labels):,} rows, {columns.n_terms:,} terms, {n_features:,} features")
        solver = self._solver(columns, rows)

        def search_of(solver: FoldSolver, baseline: Baseline | None = None) -> RelevanceSearch:
            return RelevanceSearch(
                solver,
                all_rows.class_weight,
                1 if all_rows.n_rows >= MANY_ROWS else 2,
                self.tol,
                self.max_iter,
                generator_of(self.random_state),
                folded.groups,
                step,
                crossed.kept,
                crossed.narrower,
                baseline,
                only_best=all_rows.is_sample,
            )

        if earlier is None:
            return search_of(solver)
        return StartedSearch(solver, earlier.columns_of(folded.rows.table), search_of)

    def _solver(self, columns: SmoothColumns, rows: SplitRows) -> Any:
        """Return what fits some columns, the faster of two."""
        if faster_in_row_space(rows.n_rows, int(columns.sizes.sum()), rows.n_classes):
            return row_space_solver(columns, rows)
        return coefficient_solver(columns, rows, effective_n_jobs(self.n_jobs))

    def _keep(
        self, columns: SmoothColumns, search: Search, answer: RelevanceAnswer, rows: SmoothRows
    ) -> Floats:
        """Set the fitted attributes and return the training weight of each cell of their terms."""
        result = SolverResult(
            answer.coefficients,
            answer.objective,
            answer.n_iter,
            answer.optimality,
            answer.optimality <= self.tol,
        )
        result.warn_unless_converged(self.tol, "raise max_iter or raise tol")
        names = ("slopes", "mains", "pairs")
        self.strengths_ = dict(zip(names, map(float, answer.best.strengths), strict=True))
        keep_decision(self, answer.decision)
        self.gradient_norm_, self.n_iter_ = float(answer.optimality), int(answer.n_iter)
        self.cv_results_ = {
            **{
                name: np.array([trial.strengths[group] for trial in search.trials])
                for group, name in enumerate(names)
            },
            "round": np.array([trial.number for trial in search.trials]),
            "log_loss": np.array([trial.loss for trial in search.trials]),
        }
        if isinstance(search, StartedSearch):
            self.cv_results_["slope"] = np.array(search.slopes)
        kept = _terms_with_any(columns, answer)
        coefficients = obeying(columns, answer.coefficients)
        coefficients = coefficients[np.append(True, np.repeat(kept, columns.sizes))]
        self.scores_, weights = smooth_scores(
            columns.only(kept), coefficients, rows.schema.cardinalities, rows.weights_of
        )
        total = answer.penalties.sum()
        self._term_names = tuple(map(str, columns.names(rows.schema)))
        self._evidence = {
            "relevance": answer.relevances,
            "degrees_of_freedom": answer.degrees,
            "evidence": answer.penalties / total if total > 0 else answer.penalties,
        }
        if isinstance(search, RelevanceSearch) and not has_inequalities(columns):
            posterior = SmoothFitPosterior(columns, kept, rows, search.solver, answer)
            self.scores_ = replace(self.scores_, posterior=posterior.of_scores())
        self._importances = pair_importances(self.scores_, weights)
        return weights

    strengths_: dict[str, float] = field(init=False)
    gradient_norm_: float = field(init=False)
    n_iter_: int = field(init=False)
    n_pairs_considered_: int = field(init=False)
    cv_results_: dict[str, NDArray[Any]] = field(init=False)
    _term_names: tuple[str, ...] = field(init=False)
    _evidence: dict[str, Floats] = field(init=False)

    def _check_consistent(self) -> None:
        super()._check_consistent()
        n_terms = len(self._term_names)
        check_shapes("the list of terms", [(column, (n_terms,)) for column in self._evidence.values()])

    @property
    def columns_report_(self) -> Any:
        """A frame that tells how each column was read, and whether the model uses it."""
        report = super().columns_report_
        schema, scores = self.schema_, self.scores_
        used = {schema.numeric[k] for k in scores.curves.features}
        used |= {schema.coded[k] for features in scores.terms.features for k in features}
        return frame_like(None, {**report, "used": np.array([k in used for k in range(len(report))])})

    @property
    def relevances_(self) -> Any:
        """A frame with one row per term: term, relevance, degrees_of_freedom, evidence."""
        check_is_fitted(self)
        return frame_like(None, {"term": np.array(self._term_names, dtype=object), **self._evidence})

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_folds(self.cv, "auto")
        check_search(self.tol, self.max_iter)


def _terms_with_any(columns: SmoothColumns, answer: RelevanceAnswer) -> Booleans:
    """Return which terms have relevance or, in another trial of the average, coefficients."""
    moved = [answer.coefficients[block].any() for block in term_blocks(columns)]
    return np.asarray((answer.relevances > 0) | np.array(moved, dtype=bool))
