"""Logistic regression on the features that depend on each other, naive Bayes on the rest."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from seminaive.encode.cuts import cut_rule
from seminaive.models.base import unchanged_on_failure
from seminaive.models.decided import DECIDED, generator_of, keep_decision
from seminaive.models.fit_progress import progress_of
from seminaive.models.folded import fold_rows
from seminaive.models.parameters import VARIANCE_FLOOR, refuse_groups
from seminaive.scores import log_priors
from seminaive.scores.unknown_variance import with_means
from seminaive.selection import FoldLosses
from seminaive.solvers.result import MAX_ITER, TOL
from seminaive.structure import (
    Partition,
    bias_variance_partition,
    dependence_partition,
    mean_dependence,
)
from seminaive.structure.fitted_hybrid import FittedHybrid
from seminaive.structure.hybrid_parameters import PAIR_TESTS, check_hybrid_parameters
from seminaive.structure.hybrid_posterior import NO_HYBRID_POSTERIOR, hybrid_posterior
from seminaive.structure.hybrid_problem import FixedParts, HybridProblem
from seminaive.structure.markov_blanket_selector import MarkovBlanketSelector
from seminaive.structure.parents_or_children import CUTOFF
from seminaive.structure.rate_search import RateSearch
from seminaive.structure.results import LEVEL

if TYPE_CHECKING:
    from typing import Self

    from seminaive.encode.encoded_table import CutRule
    from seminaive.models.fit_progress import Steps
    from seminaive.models.folded import FoldedRows
    from seminaive.models.training_set import TrainingSet


@dataclass(eq=False, repr=False, kw_only=True)
class HybridLogisticNaiveBayes(FittedHybrid):
    """Some features in a logistic regression, the others in naive Bayes, their scores added.

    The score of class c is ``log P(c | logistic features) + sum_j log P(x_j | c)``, the sum over the features
    of the generative part. In terms of graphs, the logistic features are parents of the class and the others
    its children. Logistic regression copes with features that repeat each other, but needs rows for every
    coefficient; naive Bayes needs few rows, but counts repeated information twice. The *partition* says which
    feature goes where.

    The logistic part is fitted alone, by maximum likelihood with a tiny ridge; then the log likelihoods of
    the generative part are added.

    Parameters
    ----------
    partition : {"bias-variance", "dependence", "greedy"} or list of names, default="bias-variance"
        Which features are in the logistic part. "bias-variance": those whose mean dependence on the others,
        the normalised mutual information given the class, is at least ``exp(-rate * n_rows)``. "dependence":
        of the two features that depend on each other most, the one that depends more on a third feature goes
        to the logistic part, until no pair of the rest depends by more than ``cutoff``. "greedy": the feature
        goes there that raises the accuracy on the training rows most, until none does. A list names the
        features of the logistic part.
    rate : "cv" or float, default="cv"
        The rate of the rule "bias-variance", per row: with 0 all features are in naive Bayes, with infinity
        none. "cv" takes the rate with the least loss in cross-validation, the largest of equally good ones;
        dependences, cut points and number of rows are those of each fold.
    fit_share : "cv" or float, default="cv"
        The share of both parts in the scores, the rest being the class shares, where the rate is
        cross-validated. "cv" finds the one that held-out rows support, since neither part has a penalty; 1
        takes the parts as they are, as in the papers. With a given rate or another rule no rows are held out,
        and the share is 1 unless a number is given.
    cutoff : float, "mi" or "chi-square", default=0.05
        The rule "dependence" separates two features whose dependence is at least this; with "mi" or
        "chi-square", it separates those whose independence given the class is rejected at level ``alpha``, by
        a G test or by Pearson's.
    alpha : float, default=0.05
        Level of that test.
    generative : {"naive-bayes", "tan"}, default="naive-bayes"
        Whether the features of the generative part are independent given the class, or each may depend on
        one other of them. The tree is learned for each generative part.
    numbers : {"normal", "bins"}, default="normal"
        Whether numbers have normal densities in the generative part, or are cut into bins, as they are for a
        tree in any case. In the logistic part they are numbers.
    joint : bool, default=False
        Whether the logistic part is fitted with the scores of the generative part as an offset, which is
        another model.
    missing_to_generative : bool, default=False
        Whether features with missing cells are kept in the generative part.
    numbers_to_logistic : bool, default=False
        Whether numbers are kept in the logistic part, unless they have missing cells and
        ``missing_to_generative`` holds. A list of names is taken as it is.
    blanket : bool or dict, default=False
        Whether the model is restricted to the Markov blanket of the class, which is searched for before all
        else by a `MarkovBlanketSelector`; a dict has its parameters. With ``partition="dependence"`` that is
        Algorithm 1 of the hybrid paper.
    scoring : {"log-loss", "brier", "zero-one", "auc"}, default="log-loss"
        Loss by which cross-validation chooses the rate: minus the log likelihood, squared error (as in the
        papers), 0-1 loss, or 1 less the area under the ROC curve (each class against the others).
    cv : int, splitter or iterable, default=10
        Folds of the cross-validation; a number splits every class evenly.
    smoothing : float, default=1.0
        Added to every count of the generative part, in rows.
    variances : {"pooled", "class"}, default="pooled"
        Whether all classes share one variance per number, or each has another.
    variance_floor : float, default=1e-9
        Smallest variance within a class, as a share of the number's overall variance.
    bins : "mdl" or int, default="mdl"
        How numbers are cut into bins to measure dependence, and where ``numbers="bins"``.
    ridge : float, default=1e-6
        Half of it times the squared coefficients of the logistic part (of standardised numbers and of
        indicators) is added to the log loss, a sum over rows. So small a ridge only matters if the classes
        can be separated without error: then there is no optimum without it.
    tol : float, default=1e-3
        Where logistic parts stop: its square is the share of the penalised loss by which one may exceed its
        minimum.
    max_iter : int, default=1000
        Newton steps of a logistic fit.
    random_state : int, RandomState or None, default=0
        The folds, and ties of the rule "dependence".
    missing : {"value", "neutral"}, default="value"
        Whether a missing category counts as one more value, if training had missing cells in its column,
        or leaves the odds of the classes as they are. A missing number leaves them as they are; in the
        logistic part it counts as the mean of its column.

    Attributes
    ----------
    features_ : tuple of str
        The features of the model: those with values, in the blanket if there is one.
    logistic_features_, generative_features_ : list of str
    partition_ : Partition
        The parts, by position in ``features_``, and each decision; ``describe(features_)`` tells them.
    dependence_ : frame
        Normalised mutual information of each pair of features given the class, led by the column ``feature``.
    parents_ : dict
        The name of the parent of each generative feature in a tree-augmented part; None for a root. Absent
        without a tree.
    rate_ : float
        The rate of the rule "bias-variance"; absent with others.
    rate_curve_ : frame
        The rates tried, decreasing, each with the cross-validated ``loss``, its ``standard_error`` and the
        mean number of features in the folds' logistic parts (``n_logistic``). Absent without folds.
    fit_share_ : float
        The share of both parts in the scores.
    cv_log_loss_ : float
        What the model is expected to lose on new rows. Absent without folds.
    cv_log_loss_interval_ : (float, float)
        Holds that loss with a probability of 95 %. Absent without folds.
    blanket_ : MarkovBlanketSelector
        Fitted; absent without one, and in a model that was read from a file.
    n_logistic_fits_ : int
        Logistic problems solved; the folds of one partition are solved side by side and count once.
    n_iter_ : int
        Newton steps of the last one.
    optimality_ : float
        Its certificate, to be compared with ``tol``.
    scores_ : AdditiveScores
        The terms of the logistic part, then those of the generative part.

    Examples
    --------
    Three copies of a feature go to logistic regression, where they count once; a fourth feature, which is
    independent of them, stays in naive Bayes:

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 500)
    >>> copied, other = y ^ (rng.random(500) < 0.3), y ^ (rng.random(500) < 0.3)
    >>> X = np.column_stack([copied, copied, copied, other])
    >>> model = HybridLogisticNaiveBayes(categorical_features="all").fit(X, y)
    >>> model.logistic_features_, model.generative_features_
    (['x0', 'x1', 'x2'], ['x3'])
    """

    _fitted: ClassVar[dict[str, Any]] = {
        "features_": "tuple[str, ...]",
        "partition_": Partition,
        "normalized_information_": np.ndarray,
        "tree_parents_": "tuple[int, ...]",
        "rate_": float,
        "fold_losses_": FoldLosses,
        "fold_sizes_": np.ndarray,
        "n_logistic_fits_": int,
        "n_iter_": int,
        "optimality_": float,
        **DECIDED,
    }
    _derived: ClassVar[tuple[str, ...]] = ("blanket_",)
    _no_posterior: ClassVar[str] = NO_HYBRID_POSTERIOR
    # Where the greedy rule starts; `seminaive_experiments.papers.variants` has the other end.
    greedy_grows_generative: ClassVar[bool] = False

    partition: Any = "bias-variance"
    rate: Any = "cv"
    fit_share: Any = "cv"
    cutoff: Any = CUTOFF
    alpha: float = LEVEL
    generative: str = "naive-bayes"
    numbers: str = "normal"
    joint: bool = False
    missing_to_generative: bool = False
    numbers_to_logistic: bool = False
    blanket: Any = False
    scoring: str = "log-loss"
    cv: Any = 10
    smoothing: float = 1.0
    variances: str = "pooled"
    variance_floor: float = VARIANCE_FLOOR
    bins: Any = "mdl"
    ridge: float = 1e-6
    tol: float = TOL
    max_iter: int = MAX_ITER
    random_state: Any = 0

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Divide the features, then fit both parts."""
        self.check_parameters()
        with unchanged_on_failure(self):
            for name in ("rate_", "fold_losses_", "fold_sizes_", "blanket_", "tree_parents_", *DECIDED):
                self.__dict__.pop(name, None)
            self.n_logistic_fits_ = 0
            self.fit_share_ = 1.0 if self.fit_share == "cv" else float(self.fit_share)
            random = check_random_state(self.random_state)
            rows = self._encode_training(X, y, sample_weight)
            kept, folded = self._kept(X, y, sample_weight, rows), None
            if self._searches_rate:
                folded = fold_rows(rows, self.cv, y, sample_weight, random, groups).merged()
                rows = folded.rows
            else:
                refuse_groups(groups, "only partition='bias-variance' with rate='cv' makes some")
            problem = HybridProblem.of(self, rows, kept)
            self.schema_ = problem.rows.table.schema
            self.features_ = problem.features.names
            self.normalized_information_ = problem.dependence
            fixed = FixedParts.of(self, self.schema_, problem.features)
            with progress_of(self, "partitions") as step:
                if folded is not None:
                    self._choose_rate(problem, fixed, folded, step)
                self.partition_ = self._divide(problem, fixed, random, step)
            self._fit_parts(problem)
            self._attenuate_parts(problem)
            self._summarise(problem.rows)
        return self

    def binning_rule(self) -> CutRule | None:
        """Return the rule that cuts numbers into bins."""
        return cut_rule(self.bins)

    def _kept(self, X: Any, y: Any, sample_weight: Any, rows: TrainingSet) -> set[int]:
        """Return the positions of the columns that may enter the model."""
        schema = rows.table.schema
        if not self.blanket and not isinstance(self.blanket, dict):
            return set(schema.coded)
        selector = MarkovBlanketSelector(categorical_features=self.categorical_features)
        selector.set_params(**({} if self.blanket is True else self.blanket))
        weight = rows.row_weight
        if weight is not None and sample_weight is not None:
            given = np.asarray(sample_weight, dtype=np.float64)
            weight = np.zeros(len(given))
            weight[given > 0] = rows.row_weight
        self.blanket_ = selector.fit(X, y, sample_weight=weight)
        return set(schema.coded) & set(np.flatnonzero(selector.support_).tolist())

    def chooses_by_folds(self) -> bool:
        """Return whether folds choose the rate."""
        return self._searches_rate

    # The partition

    @property
    def _searches_rate(self) -> bool:
        return bool(
            isinstance(self.partition, str) and self.partition == "bias-variance" and self.rate == "cv"
        )

    def _divide(
        self, problem: HybridProblem, fixed: FixedParts, random: np.random.RandomState, step: Steps
    ) -> Partition:
        """Return the partition that the rule gives."""
        if not isinstance(self.partition, str):
            named = [self.features_.index(name) for name in self.partition]
            return Partition.of_logistic(named, problem.n_features)
        if self.partition == "greedy":
            found, self.n_logistic_fits_ = problem.divided_greedily(self, fixed, step)
            return found
        if self.partition == "dependence":
            test = PAIR_TESTS.get(self.cutoff)
            related = None if test is None else problem.related(test, self.alpha)
            cutoff = 0.0 if related is not None else self.cutoff
            by_rule = dependence_partition(
                problem.dependence, random, cutoff=cutoff, related=related, logistic=fixed.logistic
            )
            return fixed.applied_to(by_rule)
        if not self._searches_rate:
            self.rate_ = float(self.rate)
        product = 0.0 if self.rate_ == 0 else self.rate_ * problem.total
        return fixed.applied_to(bias_variance_partition(mean_dependence(problem.dependence), product))

    def _choose_rate(
        self, problem: HybridProblem, fixed: FixedParts, folded: FoldedRows, step: Steps
    ) -> None:
        """Set the rate of least cross-validated loss; keep the curve and the decision."""
        rows, splits = problem.rows, folded.splits
        row_weights = np.zeros((len(splits), len(rows.labels)))
        for of_fold, (train, _) in zip(row_weights, splits, strict=True):
            of_fold[train] = rows.weights[train]
        logistic = problem.logistic_fits(self, row_weights)
        held_out = folded.held_out
        folds = [problem.fold(train, fixed) for train, _ in splits]
        search = RateSearch(folds, logistic, held_out, self.joint)
        scores, results = search.scores_by_step(step)
        worst = max(results, key=lambda result: result.optimality)
        worst.warn_unless_converged(self.tol, "in the folds; raise max_iter, ridge or tol")
        given = None if self.fit_share == "cv" else self.fit_share_
        choice = search.choose(scores, self.scoring, given, generator_of(self.random_state))
        keep_decision(self, choice.decision)
        self.rate_, self.fold_losses_, self.fold_sizes_ = choice.rate, choice.losses, choice.sizes
        self.n_logistic_fits_ = logistic.n_solved

    # The model

    def _fit_parts(self, problem: HybridProblem) -> None:
        """Fit both parts of the chosen partition, and add them."""
        partition = self.partition_
        generative = problem.generative.without_prior(partition.generative)
        logistic = problem.logistic_fits(self, problem.rows.weights[None])
        if partition.logistic or self.joint:
            result = problem.solve(logistic, partition, joint=self.joint)
            result.warn_unless_converged(self.tol, "raise max_iter, ridge or tol")
            self.n_iter_, self.optimality_ = result.n_iter, result.optimality
            solution = result.solution[:, 0]
            scores = problem.logistic_scores(logistic, solution, partition.logistic)
        else:
            # Without features the most likely intercepts are the log shares of the classes.
            self.n_iter_, self.optimality_, solution = 0, 0.0, None
            scores = problem.generative.scores(())
        self.n_logistic_fits_ += logistic.n_solved
        shares = log_priors(problem.generative.class_weight)
        whole = scores + generative
        self.scores_ = whole.toward_class_shares(self.fit_share_, shares)
        if not (isinstance(self.partition, str) or self.blanket or self.joint):
            posterior = hybrid_posterior(problem, solution, partition, self.ridge, whole, self.fit_share_)
            self.scores_ = replace(self.scores_, posterior=posterior)
        if self.generative == "tan":
            self.tree_parents_ = tuple(problem.generative.parents(partition.generative))

    def _attenuate_parts(self, problem: HybridProblem) -> None:
        """Attenuate the sum of both parts, an unknown cell of which contributes its mean in either.

        The generative part alone is exact without: there an unknown cell leaves the odds as they are.
        """
        if self.partition_.logistic:
            rows = problem.rows
            self.scores_ = with_means(self.scores_, rows.table, rows.row_weight)
            self.attenuate(rows)

    def _check_parameters(self) -> None:
        check_hybrid_parameters(self)
