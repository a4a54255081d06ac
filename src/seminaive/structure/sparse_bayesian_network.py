"""A Bayesian network with few edges, learned from tables with many missing cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from seminaive.encode import NumericColumn, TreeCuts
from seminaive.encode.cuts import cut_rule
from seminaive.errors import ConvergenceWarning, warn_caller
from seminaive.models.base import unchanged_on_failure
from seminaive.models.decided import DECIDED, check_fit_share, generator_of, keep_decision
from seminaive.models.fit_progress import progress_of
from seminaive.models.fitted_checks import check_finite
from seminaive.models.folded import fold_rows, hold_out_share
from seminaive.models.parameters import (
    N_FOLDS,
    N_IMPUTATIONS,
    check_choice,
    check_flag,
    check_number,
    check_numbers,
    check_search,
    check_whole,
    is_number,
    is_whole,
)
from seminaive.selection.folds import check_folds
from seminaive.solvers.blas import one_blas_thread
from seminaive.solvers.elastic_net_path import N_STRENGTHS
from seminaive.solvers.result import TOL
from seminaive.structure import Network, NetworkPath, SparseNetworks
from seminaive.structure.network_folds import PLAN, DecisionOptions, HeldOutNetworks
from seminaive.structure.network_nodes import NetworkNodes, check_name_lists
from seminaive.structure.network_search import NetworkStrengths, NetworkTable, SearchOptions, search_path

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Self

    from seminaive.arrays import Indices
    from seminaive.encode.encoded_table import CutRule
    from seminaive.encode.schema import MissingPolicy
    from seminaive.models.folded import FoldedRows
    from seminaive.models.training_set import TrainingSet
    from seminaive.selection.held_out import HeldOut

    Split = tuple[Indices, Indices]

# The smallest strength of a path, as a share of the one that leaves no edge.
RATIO = 1e-3
# Leaves of the decision tree that cuts a number, as in the chapter.
TREE_BINS = 3


@dataclass(eq=False, repr=False, kw_only=True)
class SparseBayesianNetwork(NetworkNodes):
    """A Bayesian network over the features and the class, with few edges; missing cells are summed out.

    Every node, feature or class, is a logistic regression on its parents. An ordering decides who may be
    whose parent. Given the ordering, each node is a group lasso on those before it: a group has all
    coefficients of one candidate parent, so that a group of zeros is an absent edge. Orderings are searched
    by swapping neighbours while the penalised log loss falls.

    Training cells that are missing are drawn several times; a group has the coefficients of all completed
    tables, which therefore have the same edges, and the coefficients of the network are their means (Rubin).
    When rows are predicted, missing cells are summed over, weighed by what the observed ones say.

    Numbers are cut into bins, so that every node has categories.

    Parameters
    ----------
    strengths : int or list of float, default=25
        Strengths of the penalty, in nats per row: their number, geometrically down to a thousandth of the
        strength that leaves no edge; or the strengths themselves. Stronger penalties leave fewer edges.
    layers : list of list of str, default=None
        Names of the columns, and "class" for the label, in layers of causes: a node's parents come from the
        same layer or from earlier ones. None is one layer.
    order : list of str, default=None
        All names, and "class", in an ordering that is not searched for. None searches.
    searched_layers : list of int, default=None
        In which layers, by position, neighbours are swapped; the order within the others is that of
        ``layers``. None swaps in all.
    n_imputations : int, default=5
        How often missing training cells are drawn; without missing cells the number plays no part.
    selection : {"one-standard-error", "min"}, default="one-standard-error"
        Whether to take the largest strength whose squared error on held-out rows is within one standard error
        of the least, or the least.
    refit : bool or "auto", default="auto"
        Whether the coefficients of the chosen graph are fitted again, to other draws of the missing cells,
        with a ten-thousandth of the strength (the relaxed lasso). The penalty then decides about edges alone
        and no longer shrinks probabilities toward each other. "auto" does so where that lowers the log loss
        of held-out rows, the 95 % interval of the change lying below 0; never without them.
    fit_share : "cv" or float, default="cv"
        The share of the network in the scores of the classes, the rest being the class shares. "cv" finds the
        one that held-out rows support; without them, with a single strength, it is 1.
    cv : int, float, splitter or iterable, default=5
        Folds of the held-out rows; a share between 0 and 1 holds that part of the rows out once. Not used
        with a single strength.
    bins : "mdl", "tree" or int, default="mdl"
        How numbers are cut into bins: where the classes pay for it, into the three leaves of a decision tree,
        or into that many equally frequent ones.
    tabu : int, default=10
        Last swaps that are not swapped back.
    max_levels : int, default=100
        Columns with more values, such as names or numbers of records, are left out of the network with a
        warning.
    tol : float, default=1e-3
        Where the fit of a node stops: its square is the share of the penalised log loss by which it may
        exceed the minimum (its duality gap).
    max_iter : int, default=100
        Newton steps of a node at one strength.
    random_state : int, RandomState or None, default=0
        The draws of missing cells, and the folds.
    missing : {"neutral", "value"}, default="neutral"
        Whether a missing category is drawn in training and summed out in predicting, or is a value like any
        other, where training saw one.

    Attributes
    ----------
    nodes_ : tuple of str
        The nodes of the network by name, "class" last.
    network_ : Network
        The graph and its coefficients.
    parents_ : dict
        The names of each node's parents.
    edges_ : list of (str, str)
        From parent to child.
    markov_boundary_ : list of str
        The features that the class depends on once they are known: its parents, its children and their other
        parents. A row that has them all is predicted from nothing else.
    order_ : list of str
        The ordering of the nodes at the chosen strength.
    strength_ : float
    refitted_ : bool
        Whether the coefficients were fitted again without the penalty's shrinkage.
    fit_share_ : float
        The share of the network in the scores by which classes are predicted. The graph, draws, and
        probabilities of other nodes are the network's alone.
    cv_log_loss_ : float
        What the model is expected to lose on new rows. Absent with a single strength.
    cv_log_loss_interval_ : (float, float)
        Holds that loss with a probability of 95 %. Absent with a single strength.
    class_shares_ : ndarray of shape (n_classes,)
    path_ : frame
        For each strength: ``n_edges``, the ``objective``, and on held-out rows the squared error (``loss``)
        with its ``standard_error``.
    dual_gap_ : float
        The largest duality gap of a node on the path, to be compared with the square of ``tol``.
    n_iter_ : int
        Newton steps of all nodes, strengths and orderings together, without the folds.

    Examples
    --------
    Rain makes the grass wet and the roof wet; the roof tells nothing that a look at the rain would not:

    >>> rng = np.random.default_rng(0)
    >>> rain = rng.random(2000) < 0.3
    >>> grass, roof = (np.where(rng.random(2000) < 0.1, ~rain, rain) for _ in range(2))
    >>> X = np.column_stack([rain, grass, roof])
    >>> play = np.where(rng.random(2000) < 0.2, grass, ~grass)
    >>> model = SparseBayesianNetwork(layers=[["x0"], ["x1", "x2"], ["class"]], strengths=[0.05])
    >>> model.fit(X, play).edges_
    [('x0', 'x1'), ('x0', 'x2'), ('x1', 'class')]
    >>> model.markov_boundary_
    ['x1']
    """

    _fitted: ClassVar[dict[str, Any]] = {
        "nodes_": "tuple[str, ...]",
        "node_columns_": "tuple[int, ...]",
        "network_": Network,
        "search_": NetworkPath,
        "bin_means_": dict,
        "strength_": float,
        "refitted_": bool,
        "dual_gap_": float,
        "n_iter_": int,
        "class_shares_": np.ndarray,
        **DECIDED,
    }

    strengths: Any = N_STRENGTHS
    layers: Any = None
    order: Any = None
    searched_layers: Any = None
    n_imputations: int = N_IMPUTATIONS
    selection: str = "one-standard-error"
    refit: Any = "auto"
    fit_share: Any = "cv"
    cv: Any = N_FOLDS
    bins: Any = "mdl"
    tabu: int = 10
    max_levels: int = 100
    tol: float = TOL
    max_iter: int = 100
    random_state: Any = 0
    missing: MissingPolicy = "neutral"

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Draw the missing cells, search the networks of a path, and choose one by held-out rows."""
        self.check_parameters()
        with unchanged_on_failure(self):
            for name in DECIDED:
                self.__dict__.pop(name, None)
            random = check_random_state(self.random_state)
            rows = self._encode_training(X, y, sample_weight)
            self._name_nodes(rows.table)
            self.bin_means_ = self._means_of_bins(rows)
            self.class_shares_ = np.bincount(rows.labels, rows.weights) / rows.weights.sum()
            folded = self._folded(rows, y, sample_weight, random, groups)
            if not self._network_table(rows).has_missing:
                # Cells that are missing are drawn for each row.
                folded = folded.merged()
            rows, splits = folded.rows, folded.splits
            # Read by the search alone, fold after fold.
            fold_tables = (self._fold_table(rows, train) for train, _ in splits)
            with one_blas_thread():
                generator = np.random.default_rng(random.randint(2**31))
                self._search(self._network_table(rows), fold_tables, splits, folded.held_out, generator)
            self._summarise(rows)
        return self

    def chooses_by_folds(self) -> bool:
        """Return whether folds choose among several strengths."""
        return (self.strengths if is_whole(self.strengths) else len(self.strengths)) > 1

    def binning_rule(self) -> CutRule | None:
        """Return the rule that cuts numbers into bins."""
        return TreeCuts(TREE_BINS) if self.bins == "tree" else cut_rule(self.bins)

    def _search(
        self,
        table: NetworkTable,
        fold_tables: Iterator[NetworkTable],
        splits: list[Split],
        held_out: HeldOut,
        generator: np.random.Generator,
    ) -> None:
        options = self._options()
        completions = table.completed(self.n_imputations, generator)
        networks = SparseNetworks(
            completions, table.cardinalities, table.row_weight, tol=self.tol**2, max_iter=self.max_iter
        )
        strengths = self._strengths(networks, table.layers)
        start = options.order or self._first_order(table.dense_order(completions[0]), table.layers)
        del completions
        folds = None
        if len(strengths.laid) > 1:
            folds = HeldOutNetworks.of(fold_tables, held_out, splits, self.n_imputations, options, generator)
        total = None if strengths.open and folds else len(strengths.laid)
        with progress_of(self, "strengths", total) as step:
            path, found, self.dual_gap_ = search_path(
                networks, strengths, start, table.layers, options, folds, step
            )
        self.n_iter_ = networks.n_iter
        if self.dual_gap_ > self.tol**2:
            warn_caller(
                f"a node stopped at a duality gap of {self.dual_gap_:.2g} of its loss, above the square of "
                f"tol={self.tol:g}, after max_iter={self.max_iter} Newton steps: raise max_iter, or the "
                "smallest strength",
                ConvergenceWarning,
            )
        chosen = path.choose(self.selection)
        self.search_, self.network_ = path, found[chosen]
        self.strength_ = float(path.strengths[chosen])
        self._decide(folds, path, chosen)
        if self.refitted_:
            self.network_ = networks.refitted(self.network_, PLAN.relaxed * self.strength_)

    def _decide(self, folds: HeldOutNetworks | None, path: NetworkPath, chosen: int) -> None:
        """Set whether the chosen network is refitted, and its share in the answer."""
        share = None if self.fit_share == "cv" else float(self.fit_share)
        if folds is None:
            self.refitted_ = self.refit != "auto" and bool(self.refit)
            self.fit_share_ = 1.0 if share is None else share
            return
        refit = self.refit if self.refit == "auto" else bool(self.refit)
        options = DecisionOptions(self.selection, refit, share)
        decision, self.refitted_ = folds.decide(path, chosen, options, generator_of(self.random_state))
        keep_decision(self, decision)

    def _options(self) -> SearchOptions:
        order = None
        if self.order is not None:
            names = self._known(self._check_names("order", [list(self.order)])[0])
            order = tuple(self.nodes_.index(name) for name in names)
        searched = None if self.searched_layers is None else frozenset(int(k) for k in self.searched_layers)
        return SearchOptions(order, searched, int(self.tabu), float(self.tol) ** 2, int(self.max_iter))

    def _first_order(self, dense_order: Sequence[int], layers: tuple[int, ...]) -> tuple[int, ...]:
        """Return the dense network's ordering, or that of the names of a layer that is not searched."""
        place = {node: rank for rank, node in enumerate(dense_order)}
        if self.searched_layers is not None:
            given = [name for names in self._layer_names() for name in names]
            fixed = {
                self.nodes_.index(name): rank
                for rank, name in enumerate(given)
                if layers[self.nodes_.index(name)] not in self.searched_layers
            }
            place |= fixed
        return tuple(sorted(range(len(layers)), key=lambda node: (layers[node], place[node])))

    def _strengths(self, networks: SparseNetworks, layers: tuple[int, ...]) -> NetworkStrengths:
        if not is_whole(self.strengths):
            return NetworkStrengths(np.sort(np.array(self.strengths, dtype=np.float64))[::-1], open=False)
        largest = networks.largest_strength(layers)
        if largest <= 0:
            return NetworkStrengths(np.zeros(1), open=False)
        return NetworkStrengths(np.geomspace(largest, RATIO * largest, int(self.strengths)), open=True)

    def _folded(
        self, rows: TrainingSet, y: Any, sample_weight: Any, random: np.random.RandomState, groups: Any
    ) -> FoldedRows:
        """Return the rows with those that are held out."""
        if is_number(self.cv) and not is_whole(self.cv):
            return hold_out_share(rows, self.cv, sample_weight, random, groups)
        return fold_rows(rows, self.cv, y, sample_weight, random, groups)

    def _check_parameters(self) -> None:
        if is_whole(self.strengths):
            check_whole("strengths", self.strengths, "a number of strengths, 1 or more, or a list", low=1)
        else:
            check_numbers("strengths", self.strengths, "a number of strengths or a list of them, 0 or more")
        check_whole("n_imputations", self.n_imputations, "a number of completed tables, 1 or more", low=1)
        check_choice("selection", self.selection, ("one-standard-error", "min"))
        if not isinstance(self.refit, str) or self.refit != "auto":
            check_flag("refit", self.refit)
        check_fit_share(self.fit_share)
        if is_number(self.cv) and not is_whole(self.cv):
            meaning = "a number of folds, a share of the rows between 0 and 1, a splitter or splits"
            check_number("cv", self.cv, meaning, low=0.0, high=np.nextafter(1.0, 0.0), above=True)
        else:
            check_folds(self.cv)
        if not isinstance(self.bins, str) or self.bins != "tree":
            cut_rule(self.bins)
        check_whole("tabu", self.tabu, "a number of swaps, 0 or more", low=0)
        check_whole("max_levels", self.max_levels, "a number of values, 1 or more", low=1)
        check_search(self.tol, self.max_iter)
        check_name_lists(self.layers, self.order, self.searched_layers)

    def _check_consistent(self) -> None:
        super()._check_consistent()
        coded = self.schema_.cardinalities
        if not all(0 <= j < len(coded) for j in self.node_columns_):
            raise ValueError("a node is no column of the schema")
        if len(self.nodes_) != len(self.node_columns_) + 1 or len(set(self.nodes_)) != len(self.nodes_):
            raise ValueError("the names of the nodes do not fit the columns")
        self.network_.check_fits(self._cardinalities)
        check_finite(self.network_)
        if hasattr(self, "fit_share_"):
            shares = self.class_shares_
            if shares.shape != self.classes_.shape or not ((shares > 0) & (shares <= 1)).all():
                raise ValueError("there is not one positive share for each class")
            if not 0.0 <= self.fit_share_ <= 1.0:
                raise ValueError("the share of the fit is not between 0 and 1")
        self.search_.check_fits(len(self.nodes_))
        for position in self.schema_.coded:
            column = self.schema_.columns[position]
            means = self.bin_means_.get(column.name)
            if isinstance(column, NumericColumn) and (means is None or means.shape != (column.n_present,)):
                raise ValueError("the means of the bins do not fit the schema")
