"""A Bayesian network with few edges, learned from tables with many missing cells."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from seminaive.encode import (
    CategoricalColumn,
    NumericColumn,
    TableEncoder,
    TreeCuts,
    encode_target,
    frame_like,
    open_table,
)
from seminaive.errors import ColumnsWarning, ConvergenceWarning, InputError
from seminaive.models.base import TableClassifier, unchanged_on_failure
from seminaive.models.fitted_state import check_finite
from seminaive.models.higher_order_base import cut_rule
from seminaive.models.parameters import (
    check_choice,
    check_flag,
    check_number,
    check_numbers,
    check_search,
    check_whole,
    is_number,
    is_whole,
)
from seminaive.scores import Network
from seminaive.selection import NetworkPath
from seminaive.selection.folds import check_folds, split_rows
from seminaive.selection.network_search import (
    HeldOutRows,
    NetworkTable,
    SearchOptions,
    Strengths,
    search_path,
)
from seminaive.structure import SparseNetworks

# What the node of the class is called, and a feature of that name.
CLASS, FEATURE_CLASS = "class", "feature class"
# The smallest strength of a path, as a share of the one that leaves no edge.
RATIO = 1e-3
# The strength of a refit, as a share of the one that chose the graph.
RELAXED = 1e-4
# Leaves of the decision tree that cuts a number, as in the chapter.
TREE_BINS = 3


class SparseBayesianNetwork(TableClassifier):
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
    strengths : int or list of float, default=20
        Strengths of the penalty, in nats per row: so many, geometrically down to a thousandth of the strength
        that leaves no edge; or the strengths themselves. Stronger penalties leave fewer edges.
    layers : list of list of str, default=None
        Names of the columns, and "class" for the label, in layers of causes: a node's parents come from its
        own or from earlier layers. None is one layer.
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
    refit : bool, default=False
        Whether the coefficients of the chosen graph are fitted again, to other draws of the missing cells,
        with a ten-thousandth of the strength (the relaxed lasso). The penalty then decides about edges alone
        and no longer shrinks probabilities toward each other.
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
    tol : float, default=1e-6
        Duality gap at which the fit of a node stops, as a share of its log loss without parents.
    max_iter : int, default=100
        Newton steps of a node at one strength.
    random_state : int, RandomState or None, default=0
        The draws of missing cells, and the folds.
    categorical_features : {"from_dtype", "all"}, names, positions or mask, default="from_dtype"
        Which columns are categories; by default those that do not hold numbers.
    missing : {"neutral", "value"}, default="neutral"
        Whether a missing category is drawn in training and summed out in predicting, or is a value like any
        other, where training saw one.
    class_weight : None, "balanced" or mapping, default=None
        Weights of the classes, which multiply the weights of their rows; "balanced" gives every class the
        same total. Classes that a mapping leaves out weigh 1.
    keep_summary : bool, default=True
        Whether to keep a summary of the training table: weights of cells and quantiles of numbers, no row.
    verbose : bool or int, default=False
        Whether to show progress on standard error.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    columns_report_ : frame
        How each column was read: kind, levels, missing cells, type.
    schema_ : Schema
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
    path_ : frame
        For each strength: ``n_edges``, the ``objective``, and on held-out rows the squared error (``loss``)
        with its ``standard_error``.
    dual_gap_ : float
        The largest duality gap of a node on the path, to be compared with ``tol``.
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
        "dual_gap_": float,
        "n_iter_": int,
    }

    def __init__(
        self,
        *,
        strengths=20,
        layers=None,
        order=None,
        searched_layers=None,
        n_imputations=5,
        selection="one-standard-error",
        refit=False,
        cv=5,
        bins="mdl",
        tabu=10,
        max_levels=100,
        tol=1e-6,
        max_iter=100,
        random_state=0,
        categorical_features="from_dtype",
        missing="neutral",
        class_weight=None,
        keep_summary=True,
        verbose=False,
    ):
        self.strengths = strengths
        self.layers = layers
        self.order = order
        self.searched_layers = searched_layers
        self.n_imputations = n_imputations
        self.selection = selection
        self.refit = refit
        self.cv = cv
        self.bins = bins
        self.tabu = tabu
        self.max_levels = max_levels
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.categorical_features = categorical_features
        self.missing = missing
        self.class_weight = class_weight
        self.keep_summary = keep_summary
        self.verbose = verbose

    def fit(self, X, y, sample_weight=None):
        """Draw the missing cells, search the networks of a path, and choose one by held-out rows.

        Parameters
        ----------
        X : frame, array or list of rows
        y : array-like of shape (n_rows,)
            Class labels: text, whole numbers or booleans.
        sample_weight : array-like of shape (n_rows,), default=None
            How often each row counts.
        """
        self._check_parameters()
        with unchanged_on_failure(self):
            random = check_random_state(self.random_state)
            rule = TreeCuts(TREE_BINS) if self.bins == "tree" else cut_rule(self.bins)
            rows = self._encode_training(X, y, sample_weight, cut_rule=rule)
            self._name_nodes(rows.table)
            self.bin_means_ = self._means_of_bins(rows)
            table = self._network_table(rows)
            splits = self._splits(rows, y, sample_weight, random)
            self._search(table, splits, np.random.default_rng(random.randint(2**31)))
            self._summarise(rows)
        return self

    # Nodes

    def _name_nodes(self, table):
        """Set the nodes: columns by name, so that their order in the table plays no part, then the class."""
        cardinalities = table.cardinalities
        wide = [j for j, k in enumerate(cardinalities) if k > self.max_levels]
        names = self.schema_.coded_names
        if wide:
            warnings.warn(
                f"columns with more than max_levels={self.max_levels} values are left out of the network: "
                f"{', '.join(f'{names[j]!r} ({cardinalities[j]} values)' for j in wide)}",
                ColumnsWarning,
                stacklevel=3,
            )
        kept = [j for j in range(len(cardinalities)) if j not in wide]
        self.node_columns_ = tuple(sorted(kept, key=lambda j: names[j]))
        self.nodes_ = (
            *(FEATURE_CLASS if names[j] == CLASS else names[j] for j in self.node_columns_),
            CLASS,
        )

    def _node_codes(self, table):
        """Return the codes of the nodes, those of the class missing, in the nodes' order."""
        codes = table.codes[:, list(self.node_columns_)]
        wide = np.promote_types(codes.dtype, np.min_scalar_type(len(self.classes_)))
        return np.column_stack([codes, np.full(len(codes), len(self.classes_))]).astype(wide)

    @property
    def _cardinalities(self):
        own = self.schema_.cardinalities
        return (*(own[j] for j in self.node_columns_), len(self.classes_))

    def _network_table(self, rows):
        codes = self._node_codes(rows.table)
        codes[:, -1] = rows.labels
        layer = {name: place for place, names in enumerate(self._layer_names()) for name in names}
        return NetworkTable(
            codes, self._cardinalities, rows.row_weight, tuple(layer[name] for name in self.nodes_)
        )

    def _layer_names(self):
        """Return the names of each layer, checked against the nodes."""
        if self.layers is None:
            return [list(self.nodes_)]
        return [self._known(names) for names in self._check_names("layers", self.layers)]

    def _known(self, names):
        return [name for name in names if name in self.nodes_]

    def _check_names(self, parameter, groups):
        """Return lists of names that hold every node once; columns that are no nodes are allowed."""
        flat = [name for names in groups for name in names]
        ours = {*self.schema_.names, *self.nodes_}
        strangers = [name for name in flat if name not in ours]
        absent = [name for name in self.nodes_ if name not in flat]
        twice = sorted({name for name in flat if flat.count(name) > 1})
        for what, found in (("unknown", strangers), ("absent", absent), ("named twice", twice)):
            if found:
                raise InputError(
                    f"{parameter} names every column and the label as 'class' once: {what} are {found}"
                )
        return groups

    def _means_of_bins(self, rows):
        """Return the mean number of each bin: what a drawn bin is written as."""
        schema, means = rows.table.schema, {}
        for column, position in enumerate(schema.coded):
            own = schema.columns[position]
            if isinstance(own, NumericColumn):
                codes = rows.table.codes[:, column].astype(np.int64)
                numbers = rows.table.numbers[:, schema.numeric.index(position)]
                known = codes < own.n_present
                weight = rows.weights[known]
                sums = np.bincount(codes[known], weight * numbers[known], minlength=own.n_present)
                means[own.name] = sums / np.bincount(codes[known], weight, minlength=own.n_present)
        return means

    # The search

    def _search(self, table, splits, generator):
        options = self._options()
        completions = table.completed(self.n_imputations, generator)
        networks = SparseNetworks(
            completions, table.cardinalities, table.row_weight, tol=self.tol, max_iter=self.max_iter
        )
        strengths = self._strengths(networks, table.layers)
        start = options.order or self._first_order(table.dense_order(completions[0]), table.layers)
        del completions
        if len(strengths.laid) == 1:
            splits = []
        held_out = [HeldOutRows(table, own, self.n_imputations, options, generator) for own in splits]
        total = None if strengths.open and splits else len(strengths.laid)
        with self._progress("strengths", total) as step:
            path, found, self.dual_gap_ = search_path(
                networks, strengths, start, table.layers, options, held_out, step
            )
        self.n_iter_ = networks.n_iter
        if self.dual_gap_ > self.tol:
            warnings.warn(
                f"a node stopped at a duality gap of {self.dual_gap_:.2g}, above tol={self.tol:g}, after "
                f"max_iter={self.max_iter} Newton steps: raise max_iter, or the smallest strength",
                ConvergenceWarning,
                stacklevel=3,
            )
        chosen = path.choose(self.selection)
        self.search_, self.network_ = path, found[chosen]
        self.strength_ = float(path.strengths[chosen])
        if self.refit:
            networks = table.sparse_networks(self.n_imputations, generator, options)
            self.network_ = networks.refitted(self.network_, RELAXED * self.strength_)

    def _options(self):
        order = None
        if self.order is not None:
            names = self._known(self._check_names("order", [list(self.order)])[0])
            order = tuple(self.nodes_.index(name) for name in names)
        searched = None if self.searched_layers is None else frozenset(int(k) for k in self.searched_layers)
        return SearchOptions(order, searched, int(self.tabu), float(self.tol), int(self.max_iter))

    def _first_order(self, dense_order, layers):
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

    def _strengths(self, networks, layers):
        if not is_whole(self.strengths):
            return Strengths(np.sort(np.array(self.strengths, dtype=np.float64))[::-1], open=False)
        largest = networks.largest_strength(layers)
        if largest <= 0:
            return Strengths(np.zeros(1), open=False)
        return Strengths(np.geomspace(largest, RATIO * largest, int(self.strengths)), open=True)

    def _splits(self, rows, y, sample_weight, random):
        if is_number(self.cv) and not is_whole(self.cv):
            order = random.permutation(len(rows.labels))
            count = min(max(1, round(self.cv * len(order))), len(order) - 1)
            return [(np.sort(order[count:]), np.sort(order[:count]))]
        return split_rows(self.cv, rows.labels, y, sample_weight, random)

    def _check_parameters(self):
        if is_whole(self.strengths):
            check_whole("strengths", self.strengths, "a number of strengths, 1 or more, or a list", low=1)
        else:
            check_numbers("strengths", self.strengths, "a number of strengths or a list of them, 0 or more")
        check_whole("n_imputations", self.n_imputations, "a number of completed tables, 1 or more", low=1)
        check_choice("selection", self.selection, ("one-standard-error", "min"))
        check_flag("refit", self.refit)
        if is_number(self.cv) and not is_whole(self.cv):
            meaning = "a number of folds, a share of the rows between 0 and 1, a splitter or splits"
            check_number("cv", self.cv, meaning, low=0.0, high=1.0 - 1e-9, above=True)
        else:
            check_folds(self.cv)
        if self.bins != "tree":
            cut_rule(self.bins)
        check_whole("tabu", self.tabu, "a number of swaps, 0 or more", low=0)
        check_whole("max_levels", self.max_levels, "a number of values, 1 or more", low=1)
        check_search(self.tol, self.max_iter)
        _check_name_lists(self.layers, self.order, self.searched_layers)

    def _check_consistent(self):
        super()._check_consistent()
        coded = self.schema_.cardinalities
        if not all(0 <= j < len(coded) for j in self.node_columns_):
            raise ValueError("a node is no column of the schema")
        if len(self.nodes_) != len(self.node_columns_) + 1 or len(set(self.nodes_)) != len(self.nodes_):
            raise ValueError("the names of the nodes do not fit the columns")
        self.network_.check_fits(self._cardinalities)
        check_finite(self.network_)
        self.search_.check_fits(len(self.nodes_))
        for position in self.schema_.coded:
            column = self.schema_.columns[position]
            means = self.bin_means_.get(column.name)
            if isinstance(column, NumericColumn) and (means is None or means.shape != (column.n_present,)):
                raise ValueError("the means of the bins do not fit the schema")

    # Predicting

    def _joint_log_scores(self, table):
        return self.network_.joint_log_scores(self._node_codes(table), len(self.nodes_) - 1)

    # Reading

    @property
    def parents_(self):
        """The names of each node's parents."""
        check_is_fitted(self)
        return {
            name: [self.nodes_[j] for j in own]
            for name, own in zip(self.nodes_, self.network_.parents, strict=True)
        }

    @property
    def edges_(self):
        """Pairs of parent and child, in the ordering of the children."""
        return [(parent, child) for child in self.order_ for parent in self.parents_[child]]

    @property
    def markov_boundary_(self):
        """The features that the class depends on once they are known."""
        check_is_fitted(self)
        return [self.nodes_[j] for j in self.network_.markov_boundary(len(self.nodes_) - 1)]

    @property
    def order_(self):
        """The ordering of the nodes, parents before children."""
        check_is_fitted(self)
        return [self.nodes_[j] for j in self.network_.order]

    @property
    def path_(self):
        """A frame of all strengths: strength, n_edges, objective, loss and standard_error."""
        check_is_fitted(self)
        path = self.search_
        columns = {
            "strength": path.strengths,
            "n_edges": path.n_edges,
            "objective": path.objectives,
            "loss": path.loss,
            "standard_error": path.standard_error,
        }
        return frame_like(None, columns)

    def to_networkx(self):
        """Return the graph as a `networkx.DiGraph`; the nodes' attribute ``values`` has their values."""
        check_is_fitted(self)
        try:
            import networkx as nx
        except ImportError as error:
            raise ImportError(
                "to_networkx needs networkx, which is not installed: pip install 'seminaive[graph]'. The "
                "edges are in edges_"
            ) from error
        graph = nx.DiGraph()
        for name in self.order_:
            graph.add_node(name, values=self._values_of(name))
        graph.add_edges_from(self.edges_)
        return graph

    def probabilities(self, node, given=None):
        """Return the probability of each value of a node, given the values of some others.

        Parameters
        ----------
        node : str
            A column, or "class".
        given : dict, default=None
            Values by node: categories, numbers (which stand for their bin) or a class. A value that training
            never saw is no evidence.

        Returns
        -------
        dict
            Probabilities by value; numbers by the interval of their bin, as text.
        """
        check_is_fitted(self)
        given = dict(given or {})
        for name in (node, *given):
            if name not in self.nodes_:
                raise InputError(f"{name!r} is not a node of the network: {list(self.nodes_)}")
        known = self._codes_of(given)
        shares = self.network_.probabilities(self.nodes_.index(node), known)
        return dict(zip(self._values_of(node), shares.tolist(), strict=True))

    def _codes_of(self, given):
        """Return the codes of values by node, without those that are no evidence."""
        columns = dict.fromkeys(self.schema_.names)
        names = self.schema_.coded_names
        for name, value in given.items():
            if name != CLASS:
                columns[names[self.node_columns_[self.nodes_.index(name)]]] = value
        table = TableEncoder(self.schema_).encode([list(columns.values())])
        codes = self._node_codes(table)[0]
        if CLASS in given:
            labels = self.classes_.tolist()
            if given[CLASS] not in labels:
                raise InputError(f"{given[CLASS]!r} is not a class: {labels}")
            codes[-1] = labels.index(given[CLASS])
        asked = {self.nodes_.index(name) for name in given}
        return {j: int(k) for j, k in enumerate(codes) if j in asked and k < self._cardinalities[j]}

    def _values_of(self, node):
        """Return the values of a node: categories, intervals as text, or classes."""
        if node == CLASS:
            return self.classes_.tolist()
        position = self.schema_.coded[self.node_columns_[self.nodes_.index(node)]]
        column = self.schema_.columns[position]
        if isinstance(column, CategoricalColumn):
            values = [*column.categories]
            return [*values, None] if self.schema_.n_values(column) > len(values) else values
        return list(self.schema_.labels(position))

    # Drawing

    def sample(self, n_rows=1, random_state=None):
        """Return rows drawn from the network.

        Parameters
        ----------
        n_rows : int, default=1
        random_state : int, RandomState or None, default=None

        Returns
        -------
        X : frame
            The training columns; a number is the mean of its bin in training. Columns that are no nodes are
            missing.
        y : ndarray of shape (n_rows,)
        """
        check_is_fitted(self)
        check_whole("n_rows", n_rows, "a number of rows, 1 or more", low=1)
        codes = self.network_.sample(n_rows, self._generator(random_state)).astype(np.int64)
        columns = {name: np.full(n_rows, None, dtype=object) for name in self.schema_.names}
        for node, column in enumerate(self.node_columns_):
            position = self.schema_.coded[column]
            own = self.schema_.columns[position]
            columns[own.name] = self._written_values(own)[codes[:, node]]
        return frame_like(None, columns), self.classes_[codes[:, -1]]

    def draw_missing_cells(self, X, n_draws=1, random_state=None, y=None):
        """Return copies of a table in which the missing cells are drawn given the observed ones.

        Parameters
        ----------
        X : frame, array or list of rows
            The training columns, in the training order.
        n_draws : int, default=1
        random_state : int, RandomState or None, default=None
        y : array-like of shape (n_rows,), default=None
            Classes, where they are known; else they are drawn, too, and dropped.

        Returns
        -------
        list of tables like X
            A missing number is written as the mean of the bin that was drawn.
        """
        from seminaive.encode.filling import filled, missing_rows

        check_whole("n_draws", n_draws, "a number of tables, 1 or more", low=1)
        codes = self._node_codes(self._encode(X))
        if y is not None:
            codes[:, -1] = self._label_codes(y, len(codes))
        if self.missing == "value":
            codes = self._unknown_where_missing(codes)
        drawn = self.network_.draw_missing(codes, n_draws, self._generator(random_state))
        node_of = {self.schema_.coded[column]: node for node, column in enumerate(self.node_columns_)}
        found = missing_rows(open_table(X), self.schema_)
        rows = {position: own for position, own in found.items() if position in node_of}
        return [
            filled(
                X,
                rows,
                {
                    position: self._written_values(self.schema_.columns[position])[
                        table[own, node_of[position]].astype(np.int64)
                    ]
                    for position, own in rows.items()
                },
            )
            for table in drawn
        ]

    def _label_codes(self, y, n_rows):
        target = encode_target(y, type(self).__name__)
        if len(target.labels) != n_rows:
            raise InputError(f"X has {n_rows} rows and y has {len(target.labels)} labels")
        place = {label: code for code, label in enumerate(self.classes_.tolist())}
        return np.array([place.get(label, len(place)) for label in target.classes.tolist()])[target.labels]

    def _unknown_where_missing(self, codes):
        """Return codes in which the value "missing" is a missing cell."""
        present = [
            self.schema_.columns[self.schema_.coded[column]].n_present for column in self.node_columns_
        ]
        features = np.where(codes[:, :-1] >= np.array(present), self._cardinalities[:-1], codes[:, :-1])
        return np.column_stack([features, codes[:, -1]])

    def _written_values(self, column):
        """Return what is written for each code of a column: a category, or the mean number of a bin."""
        if isinstance(column, NumericColumn):
            return np.append(self.bin_means_[column.name], np.nan)
        values = np.empty(len(column.categories) + 1, dtype=object)
        values[:-1] = column.categories
        values[-1] = None
        return values

    @staticmethod
    def _generator(random_state):
        return np.random.default_rng(check_random_state(random_state).randint(2**31))


def _check_name_lists(layers, order, searched_layers):
    """Refuse layers that are no lists of names, an order that is none, and layers to search among none."""

    def is_names(value):
        return isinstance(value, list | tuple) and all(isinstance(name, str) for name in value)

    if layers is not None and not (
        isinstance(layers, list | tuple) and layers and all(is_names(names) for names in layers)
    ):
        raise InputError(f"layers is a list of lists of column names, got {layers!r}")
    if order is not None and not is_names(order):
        raise InputError(f"order is a list of column names, got {order!r}")
    if searched_layers is None:
        return
    count = 0 if layers is None else len(layers)
    if not isinstance(searched_layers, list | tuple) or not all(
        is_whole(k) and 0 <= k < count for k in searched_layers
    ):
        raise InputError(
            f"searched_layers is a list of positions among the {count} layers, got {searched_layers!r}"
        )
